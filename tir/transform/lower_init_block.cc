#include "baton/tir/transform/lower_init_block.h"

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/te_schedule.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class InitLowerer final : public Rewriter {
 public:
  Stmt VisitBlock(const BlockNode* block) override {
    if (!block->init().defined()) return Rewriter::VisitBlock(block);
    PrimExpr at_start;
    for (const IterVar& var : block->iter_vars()) {
      if (var->iter_type() != IterVarType::kCommReduce) continue;
      PrimExpr first = MakeBinary(BinaryOp::kEQ, var->var(), var->min());
      at_start = at_start.defined()
                     ? MakeBinary(BinaryOp::kAnd, at_start, std::move(first))
                     : std::move(first);
    }
    Stmt init = block->init();
    if (at_start.defined()) {
      init = IfThenElse(std::move(at_start), std::move(init));
    }
    std::vector<Stmt> seq;
    AppendFlattened(init, seq);
    AppendFlattened(Rewrite(block->body()), seq);
    BlockNode::Parts parts = block->parts();
    parts.init = Stmt();
    parts.body = MakeSeq(std::move(seq));
    return Block(std::move(parts), block->span());
  }
};

}  // namespace

Pass LowerInitBlock() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        return InitLowerer().RewriteBody(function);
      },
      {.name = "tir.LowerInitBlock",
       .doc = "Makes the initialization of a reduction a statement of its "
              "block, which runs in the first iteration.",
       .establishes = {"tir.no_initializations"},
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.LowerInitBlock", LowerInitBlock);

}  // namespace baton::tir
