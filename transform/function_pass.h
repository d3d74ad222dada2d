// Function passes: passes over the functions of a module, one by one.
//
// A FunctionKind describes the functions of one level of the IR
// (ir/node_kind.h); a function pass is a pass over one kind. Relay's kind, and
// CreateFunctionPass for it, are in relay/transform/function_pass.h.

#ifndef BATON_TRANSFORM_FUNCTION_PASS_H_
#define BATON_TRANSFORM_FUNCTION_PASS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/base/attributes.h"
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

// A kind of functions: the functions of one level of the IR whose node class
// has the handle `F`. An instance is stateless and lives as long as the
// process:
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

  // The reason why passes skip `function`, such as the name of an attribute;
  // empty if they do not skip it.
  virtual absl::string_view SkipReason(const F& /*function*/) const {
    return {};
  }

  // The pass that completes a module after functions have changed, such as type
  // inference. It runs at the end of every function pass, nested in it. Null
  // for none.
  virtual Pass FinishingPass() const { return Pass(); }
};

// `module` is the argument of the pass, the same for every function.
template <typename F>
using FunctionPassBody = std::function<absl::StatusOr<F>(
    F function, const IRModule& module, const PassContext& context)>;

// A pass that replaces each function of the kind `kind` by the result of
// `body`, which returns its argument if nothing changes. Skips functions of
// other kinds, and functions with a SkipReason. All functions are replaced
// together; then the kind's finishing pass runs on the result, nested in this
// pass.
//
// With the `threads` setting, bodies run concurrently: `body` must not write to
// shared state. Results, errors and the events of instruments do not depend on
// the number of threads.
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

// Observes a function pass on each function: for instruments that measure.
class FunctionObserver {
 public:
  virtual ~FunctionObserver() = default;
  // Called around the body for function `i` of the module, on the thread that
  // runs it; for several functions concurrently.
  virtual void Before(size_t i) = 0;
  virtual void After(size_t i) = 0;
  // Called on the thread of the pass, after all bodies. A sequential run would
  // not have run the bodies for functions from `num_functions` on, because an
  // earlier body failed.
  virtual void Done(size_t num_functions) = 0;
};

// Makes the observer of one execution of a pass; null for no observer.
using FunctionWatch =
    std::function<std::unique_ptr<FunctionObserver>(const IRModule& module)>;
// Installs `watch`, which may be null, for the function passes of this thread,
// and returns the previous one. An instrument installs its watch before a pass
// and restores the previous one after it.
const FunctionWatch* SetFunctionWatch(const FunctionWatch* watch);

// Implementation details below.

namespace internal {

// True if a watch or a RewriteGate is installed on this thread.
bool FunctionsAreWatched();

// Replaces each function of `module` by the `result` of `transform`. `result`
// is initially null; if it stays null, the function stays unchanged. Runs on
// the threads of `context`, which must be the current one. `pass` is the name
// in the error of an exception.
using FunctionTransform = absl::Status(const BaseFunc& function,
                                       const IRModule& module,
                                       BaseFunc& result);
template <typename Transform>  // a FunctionTransform
absl::StatusOr<IRModule> TransformFunctions(IRModule module,
                                            const PassContext& context,
                                            const std::string& pass,
                                            const Transform& transform);

// As above, on `num_threads` threads.
absl::StatusOr<IRModule> TransformFunctionsInParallel(
    IRModule module, const PassContext& context, int num_threads,
    const std::string& pass, absl::FunctionRef<FunctionTransform> transform);

// Replaces function i of `module` by results[i] where that is not null.
IRModule ReplaceFunctions(const IRModule& module,
                          std::vector<BaseFunc> results);

// Adds the name of the function with the error to `status`.
absl::Status InFunction(const absl::Status& status,
                        const IRModule::Definition& definition);

template <typename Transform>
absl::StatusOr<IRModule> TransformFunctions(IRModule module,
                                            const PassContext& context,
                                            const std::string& pass,
                                            const Transform& transform) {
  const int num_threads = NumThreads(context, module.size());
  if (num_threads != 1 || FunctionsAreWatched()) {
    return TransformFunctionsInParallel(std::move(module), context, num_threads,
                                        pass, transform);
  }
  const auto definitions = module.functions();
  std::vector<BaseFunc> results;  // empty while nothing has changed
  size_t i = 0;
  const absl::Status status = CatchExceptions(pass, [&] {
    for (; i < definitions.size(); ++i) {
      BaseFunc result;
      absl::Status status = transform(definitions[i].function, module, result);
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
    // Inlined: a module may have many functions that a pass skips.
    const auto transform = [&](const BaseFunc& function, const IRModule& all,
                               BaseFunc& changed) ABSL_ATTRIBUTE_ALWAYS_INLINE {
      return Transform(function, all, context, changed);
    };
    absl::StatusOr<IRModule> result =
        TransformFunctions(std::move(module), context, info().name, transform);
    if (!result.ok()) return result;
    const Pass finish = kind_.FinishingPass();
    if (!finish.defined()) return result;
    return finish.Run(*std::move(result));
  }

  ABSL_ATTRIBUTE_ALWAYS_INLINE absl::Status Transform(
      const BaseFunc& function, const IRModule& module,
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
