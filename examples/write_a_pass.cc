#include "baton/examples/write_a_pass.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::examples {
namespace {

// [rewriter]
class ReluRemover final : public ExprMutator {
 public:
  explicit ReluRemover(absl::flat_hash_set<Expr> non_negative)
      : non_negative_(std::move(non_negative)) {}

 protected:
  // The arguments of `call` are rewritten already.
  Expr VisitCall(const CallNode* /*original*/, Call call) override {
    if (!IsCallTo(call, relu_)) return call;
    const auto* data = call->arg(0).As<CallNode>();
    const bool redundant =
        data != nullptr && non_negative_.contains(data->op());
    return redundant ? call->arg(0) : Expr(call);
  }

 private:
  const Op relu_ = Op::Find("nn.relu");
  const absl::flat_hash_set<Expr> non_negative_;
};
// [/rewriter]

// [analysis]
// The operators that a program calls or refers to.
class CalledOperators {
 public:
  explicit CalledOperators(const Expr& root) {
    PostOrderVisit(root, [this](const ExprNode* node) {
      if (node->kind() == ExprKind::kOp) operators_.insert(Expr(node));
    });
  }
  bool Contains(const Expr& op) const { return operators_.contains(op); }

  // The memory that this holds, about.
  size_t bytes() const { return operators_.capacity() * sizeof(Expr); }

 private:
  absl::flat_hash_set<Expr> operators_;
};
// [/analysis]

// [body]
absl::StatusOr<Function> RemoveRelus(const Function& function,
                                     const RemoveRedundantReluOptions& options,
                                     const PassContext& context) {
  absl::flat_hash_set<Expr> non_negative;
  for (const std::string& name : options.non_negative) {
    BATON_ASSIGN_OR_RETURN(Expr op, Op::Get(name));
    non_negative.insert(std::move(op));
  }
  const auto called = context.Analyze<CalledOperators>(function);
  if (!called->Contains(Op::Find("nn.relu"))) return function;
  return ReluRemover(std::move(non_negative)).MutateFunction(function);
}
// [/body]

}  // namespace

// [pass]
Pass RemoveRedundantRelu(RemoveRedundantReluOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& context) {
        return RemoveRelus(function, options, context);
      },
      {.name = "RemoveRedundantRelu",
       .opt_level = 1,
       .doc = "Removes nn.relu where its argument is never negative.",
       .idempotent = true},
      options);
}
BATON_REGISTER_PASS(RemoveRedundantRelu);
// [/pass]

}  // namespace baton::examples
