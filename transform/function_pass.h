// Passes over the functions of a module, one by one.
//
// What a level of the IR says of its functions is a FunctionKind; passes are
// made over a kind. Relay's kind, and CreateFunctionPass over it, are in
// relay/transform/function_pass.h.

#ifndef BATON_TRANSFORM_FUNCTION_PASS_H_
#define BATON_TRANSFORM_FUNCTION_PASS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"

namespace baton {

// The functions of one level of the IR, as passes over them see them. `F` is
// the handle of their node class: the functions of a module that are such nodes
// are of this kind. An instance is stateless and lives as long as the process:
//
//   class LoopFunctionKind final : public FunctionKind<LoopFunction> { ... };
//
//   const FunctionKind<LoopFunction>& LoopFunctions() {
//     static const auto* const kind = new LoopFunctionKind;
//     return *kind;
//   }
template <typename F>
class FunctionKind {
 public:
  virtual ~FunctionKind() = default;

  // Why passes leave `function` alone, such as the name of the attribute that
  // says so; empty if they do not.
  virtual absl::string_view SkipReason(const F& /*function*/) const {
    return {};
  }

  // The pass that completes a module in which functions have changed, by
  // inference for instance. It runs after every function pass, nested in it.
  // Null for none.
  virtual Pass FinishingPass() const { return Pass(); }
};

// `module` is the module as it was before the pass, for every function.
template <typename F>
using FunctionPassBody = std::function<absl::StatusOr<F>(
    F function, const IRModule& module, const PassContext& context)>;

// A pass that replaces each function of that kind by what `body` makes of it;
// `body` returns the function it was given where there is nothing to do. Left
// alone are the functions of other kinds and those that the kind skips. All
// replacements are made together, and then the kind's finishing pass runs on
// the result, as a pass nested in this one.
//
// With the `threads` setting, bodies run at the same time: `body` must not
// write to anything that they share. Nothing that can be observed depends on
// the number of threads, neither results nor errors nor the events that
// instruments see.
//
//   Pass UnrollLoops(UnrollLoopsOptions options) {
//     return CreateFunctionPass(
//         LoopFunctions(),
//         [options](LoopFunction function, const IRModule& module,
//                   const PassContext& context)
//             -> absl::StatusOr<LoopFunction> {
//           return Unroll(function, options.max_trips);
//         },
//         {.name = "UnrollLoops", .doc = "..."}, options);
//   }
//   BATON_REGISTER_PASS(UnrollLoops);
template <typename F>
Pass CreateFunctionPass(const FunctionKind<F>& kind,
                        std::type_identity_t<FunctionPassBody<F>> body,
                        PassInfo info, PassOptions options = {});

// Implementation details below.

namespace internal {

// `module` with each function replaced by what `transform` puts into `result`,
// which is null before; it is left so where the function stays as it is. On
// `num_threads` threads, which must be more than one. `pass` is whom an
// exception is blamed on.
absl::StatusOr<IRModule> TransformFunctionsInParallel(
    IRModule module, const PassContext& context, int num_threads,
    const std::string& pass,
    absl::FunctionRef<absl::Status(const BaseFunc& function,
                                   const IRModule& module, BaseFunc& result)>
        transform);

// The module in which function i has become results[i] where that is not null.
IRModule ReplaceFunctions(const IRModule& module,
                          std::vector<BaseFunc> results);

// `status` with the function to which it happened.
absl::Status InFunction(const absl::Status& status,
                        const IRModule::Definition& definition);

template <typename F>
class FunctionPass final : public PassImpl {
 public:
  FunctionPass(const FunctionKind<F>& kind, FunctionPassBody<F> body,
               PassInfo info, PassOptions options)
      : PassImpl(std::move(info), std::move(options)),
        kind_(kind),
        body_(std::move(body)) {}

 private:
  using FNode = std::remove_cvref_t<decltype(*std::declval<const F&>())>;

  absl::StatusOr<IRModule> RunImpl(IRModule module,
                                   const PassContext& context) const override {
    if (body_ == nullptr) return absl::InternalError("the pass has no body");
    absl::StatusOr<IRModule> result;
    if (const int num_threads = NumThreads(context, module.size());
        num_threads == 1) {
      result = TransformInOrder(module, context);
      module = IRModule();
    } else {
      result = TransformFunctionsInParallel(
          std::move(module), context, num_threads, info().name,
          [&](const BaseFunc& function, const IRModule& all,
              BaseFunc& changed) {
            return Transform(function, all, context, changed);
          });
    }
    if (!result.ok()) return result;
    const Pass finish = kind_.FinishingPass();
    if (!finish.defined()) return result;
    return finish.Run(*std::move(result));
  }

  absl::StatusOr<IRModule> TransformInOrder(const IRModule& module,
                                            const PassContext& context) const {
    const auto definitions = module.functions();
    std::vector<BaseFunc> results;  // empty as long as nothing changes
    size_t i = 0;
    const absl::Status status = CatchExceptions(info().name, [&] {
      for (; i < definitions.size(); ++i) {
        BaseFunc result;
        absl::Status status =
            Transform(definitions[i].function, module, context, result);
        if (!status.ok()) return status;
        if (!result.defined()) continue;
        if (results.empty()) results.resize(definitions.size());
        results[i] = std::move(result);
      }
      return absl::OkStatus();
    });
    if (!status.ok()) return InFunction(status, definitions[i]);
    return ReplaceFunctions(module, std::move(results));
  }

  absl::Status Transform(const BaseFunc& function, const IRModule& module,
                         const PassContext& context, BaseFunc& result) const {
    F before(function.template As<FNode>());
    if (!before.defined() || !kind_.SkipReason(before).empty()) {
      return absl::OkStatus();
    }
    absl::StatusOr<F> after = body_(std::move(before), module, context);
    if (!after.ok()) return std::move(after).status();
    if (*after == function) return absl::OkStatus();
    if (!after->defined()) {
      return absl::InternalError(info().name +
                                 " returned no function (a null handle)");
    }
    result = *std::move(after);
    return absl::OkStatus();
  }

  const FunctionKind<F>& kind_;
  const FunctionPassBody<F> body_;
};

}  // namespace internal

template <typename F>
Pass CreateFunctionPass(const FunctionKind<F>& kind,
                        std::type_identity_t<FunctionPassBody<F>> body,
                        PassInfo info, PassOptions options) {
  info.granularity = PassGranularity::kFunction;
  return Pass(std::make_shared<const internal::FunctionPass<F>>(
      kind, std::move(body), std::move(info), std::move(options)));
}

}  // namespace baton

#endif  // BATON_TRANSFORM_FUNCTION_PASS_H_
