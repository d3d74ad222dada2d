#include "baton/testing/toy_passes.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pass_registry.h"

namespace baton::toy {
namespace {

using relay::Call;
using relay::Function;

absl::StatusOr<Type> SameType(TypeRelationContext& context) {
  return context.arg(0);
}

BATON_REGISTER_OP("toy.a").Arguments({{"x", ""}}).TypeRelation(SameType);
BATON_REGISTER_OP("toy.b").Arguments({{"x", ""}}).TypeRelation(SameType);
BATON_REGISTER_OP("toy.c").Arguments({{"x", ""}}).TypeRelation(SameType);
BATON_REGISTER_OP("toy.d").Arguments({{"x", ""}}).TypeRelation(SameType);

class Replacer final : public relay::ExprMutator {
 public:
  Replacer(absl::string_view from, absl::string_view to)
      : from_(Op::Find(from)), to_(Op::Find(to)) {}

 protected:
  Expr VisitCall(const relay::CallNode* /*original*/, Call call) override {
    return call->op() == from_ ? Call(to_, call->args()) : call;
  }

 private:
  Op from_;
  Op to_;
};

}  // namespace

IRModule Module(int num_functions) {
  IRModule module;
  for (int i = 0; i < num_functions; ++i) {
    const relay::Var x("x", {2});
    module.Set(i == 0 ? "main" : absl::StrCat("f", i),
               Function({x}, Call(Op::Find("toy.a"), {x})));
  }
  return *relay::InferTypes(module);
}

std::string Ops(const Function& function) {
  std::vector<std::string> names;
  const auto* call = function->body().As<relay::CallNode>();
  for (; call != nullptr; call = call->arg(0).As<relay::CallNode>()) {
    names.push_back(call->op_node()->name().substr(4));
  }
  return absl::StrJoin(names, " ");
}

std::string Ops(const IRModule& module) {
  if (module.size() == 1) return Ops(module.functions<Function>()[0].function);
  std::vector<std::string> all;
  for (const auto& d : module.functions<Function>()) {
    all.push_back(absl::StrCat(d.var->name(), ": ", Ops(d.function)));
  }
  return absl::StrJoin(all, "; ");
}

std::string Text(const IRModule& module) { return AsText(module); }

Pass InferType() {
  return CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        return relay::InferTypes(module);
      },
      {.name = "InferType", .idempotent = true, .always_run = true});
}
BATON_REGISTER_PASS(InferType);

namespace {

class ToyFunctionKind final : public FunctionKind<Function> {
 public:
  absl::string_view SkipReason(const Function& function) const override {
    const DictAttrs& attrs = function->attrs();
    return attrs.defined() && attrs.IsTrue(relay::attr::kSkipOptimization)
               ? relay::attr::kSkipOptimization
               : "";
  }
  Pass FinishingPass() const override { return infer_type_; }

 private:
  const Pass infer_type_ = InferType();
};

}  // namespace

Pass CreateFunctionPass(FunctionPassBody<Function> body, PassInfo info) {
  static const auto* const kind = new ToyFunctionKind;
  return baton::CreateFunctionPass(*kind, std::move(body), std::move(info));
}

Pass Replace(absl::string_view from, absl::string_view to, PassInfo info) {
  return CreateFunctionPass(
      [from = std::string(from), to = std::string(to)](
          const Function& function, const IRModule& /*module*/,
          const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Replacer(from, to).MutateFunction(function);
      },
      std::move(info));
}

Pass AToB() { return Replace("toy.a", "toy.b", {.name = "AToB"}); }
Pass BToA() { return Replace("toy.b", "toy.a", {.name = "BToA"}); }

Pass Nothing(PassInfo info) {
  return CreateFunctionPass(
      [](Function function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return function;
      },
      std::move(info));
}

Pass Liar() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function({function->params().begin(), function->params().end()},
                        function->body(), function->result_type());
      },
      {.name = "Liar"});
}

Function Wrap(const Function& function, absl::string_view op) {
  return Function({function->params().begin(), function->params().end()},
                  Call(Op::Find(op), {function->body()}),
                  function->result_type());
}

Pass Grow() {
  return CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Wrap(function, "toy.a");
      },
      {.name = "Grow"});
}

Pass Fails(std::string message) {
  return CreateModulePass(
      [message = std::move(message)](
          const IRModule& /*module*/,
          const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        return absl::InvalidArgumentError(message);
      },
      {.name = "Fails"});
}

Pass Throws(std::string what) {
  return CreateModulePass(
      [what = std::move(what)](const IRModule& /*module*/,
                               const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> { throw std::runtime_error(what); },
      {.name = "Throws"});
}

absl::Status Log::Say(const std::string& hook, const std::string& rest) {
  lines_->push_back(
      absl::StrCat(name(), " ", hook, rest.empty() ? "" : " ", rest));
  if (fails_in == hook) {
    return absl::InvalidArgumentError(absl::StrCat(name(), " ", hook));
  }
  return absl::OkStatus();
}

namespace {

std::string Describe(const PassExecution& pass) {
  return absl::StrCat("#", pass.number(), " ", pass.name());
}

}  // namespace

absl::Status Log::EnterPassContext() { return Say("enter"); }
absl::Status Log::ExitPassContext() { return Say("exit"); }

absl::StatusOr<bool> Log::ShouldRun(const IRModule& /*module*/,
                                    const PassExecution& pass) {
  if (logs_should_run || fails_in == "should_run") {
    BATON_RETURN_IF_ERROR(Say("should_run", Describe(pass)));
  }
  return std::find(refused.begin(), refused.end(), pass.name()) ==
         refused.end();
}

absl::Status Log::RunBeforePass(const IRModule& /*module*/,
                                const PassExecution& pass) {
  return Say("before", Describe(pass));
}

absl::Status Log::RunAfterPass(const IRModule& /*module*/,
                               const PassExecution& pass) {
  return Say("after",
             absl::StrCat(Describe(pass), pass.changed() ? " (changed)" : ""));
}

void Log::PassFailed(const IRModule& /*module*/, const PassExecution& pass,
                     const absl::Status& /*error*/) {
  Say("failed", Describe(pass)).IgnoreError();
}

absl::Status Tree::RunBeforePass(const IRModule& /*module*/,
                                 const PassExecution& pass) {
  absl::StrAppend(&text_,
                  std::string(static_cast<size_t>(2 * pass.depth()), ' '),
                  pass.number(), " ", pass.name(), "\n");
  return absl::OkStatus();
}

}  // namespace baton::toy
