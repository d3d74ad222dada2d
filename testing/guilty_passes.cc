// Passes that are wrong on purpose, for tests of triage.

#include <cstdlib>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton {
namespace {

using relay::Function;

class ReluDropper final : public relay::ExprMutator {
 protected:
  Expr VisitCall(const relay::CallNode* /*original*/,
                 relay::Call call) override {
    return relay::IsCallTo(call, relu_) ? call->arg(0) : Expr(call);
  }

 private:
  const Op relu_ = Op::Find("nn.relu");
};

Function WithBody(const Function& function, Expr body) {
  return Function({function->params().begin(), function->params().end()},
                  std::move(body));
}

// Negative numbers get through.
Pass DropRelu() {
  return relay::CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return ReluDropper().MutateFunction(function);
      },
      {.name = "DropRelu"});
}
BATON_REGISTER_PASS(DropRelu);

// One part in a thousand, which is more than it promises.
Pass SlightlyOff() {
  return relay::CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return WithBody(function,
                        relay::Call(Op::Find("multiply"),
                                    {function->body(),
                                     relay::Constant(Tensor::Scalar(1.001f))}));
      },
      {.name = "SlightlyOff", .exact = false, .tolerance = 1e-5});
}
BATON_REGISTER_PASS(SlightlyOff);

// The result of `main` is a variable that nothing binds.
Pass LoseVariable() {
  return CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        IRModule result = module;
        result.Set("main", WithBody(module.Find<Function>("main"),
                                    relay::Var("lost", {2})));
        return result;
      },
      {.name = "LoseVariable"});
}
BATON_REGISTER_PASS(LoseVariable);

Pass FailIfTyped() {
  return CreateModulePass(
      [](const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        if (!module.Find<Function>("main")->body()->type().defined())
          return module;
        return absl::InternalError("the module has types");
      },
      {.name = "FailIfTyped"});
}
BATON_REGISTER_PASS(FailIfTyped);

Pass Crash() {
  return CreateModulePass(
      [](const IRModule& /*module*/, const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> { std::abort(); },
      {.name = "Crash"});
}
BATON_REGISTER_PASS(Crash);

}  // namespace
}  // namespace baton
