// Passes over loops with typical mistakes of compilers, for tests of triage.
// Each looks like an optimization and is wrong in one place.

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

template <typename R>
Pass RewriteWith(std::string name) {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return R().RewriteBody(function);
      },
      {.name = std::move(name)});
}

// Every loop is taken to be a multiple of four long: a remainder is lost.
class RemainderLoser final : public Rewriter {
  Stmt VisitFor(const ForNode* loop) override {
    const Stmt result = Rewriter::VisitFor(loop);
    const auto* extent = loop->extent().As<IntImmNode>();
    if (extent == nullptr || extent->value() <= 4 || extent->value() % 4 == 0 ||
        !MayRewrite()) {
      return result;
    }
    LogRemark({.kind = RemarkKind::kPassed,
               .node = Expr(loop),
               .reason = "it has whole vectors only",
               .args = {{"extent", extent->value()}}});
    ForNode::Parts parts = result.As<ForNode>()->parts();
    parts.extent = MakeConst(extent->dtype(), extent->value() / 4 * 4);
    return For(std::move(parts), loop->span());
  }
};
Pass DropRemainder() {
  return RewriteWith<RemainderLoser>("tir.DropRemainder");
}
BATON_REGISTER_PASS_AS("tir.DropRemainder", DropRemainder);

// Sums are taken to start at what is in memory.
class InitLoser final : public Rewriter {
  Stmt VisitBlock(const BlockNode* block) override {
    const Stmt result = Rewriter::VisitBlock(block);
    if (!block->init().defined() || !MayRewrite()) return result;
    BlockNode::Parts parts = result.As<BlockNode>()->parts();
    parts.init = Stmt();
    return Block(std::move(parts), block->span());
  }
};
Pass DropInit() { return RewriteWith<InitLoser>("tir.DropInit"); }
BATON_REGISTER_PASS_AS("tir.DropInit", DropInit);

// A condition is taken to hold wherever there is no `else`.
class GuardLoser final : public Rewriter {
  Stmt VisitIfThenElse(const IfThenElseNode* branch) override {
    const Stmt result = Rewriter::VisitIfThenElse(branch);
    if (branch->else_case().defined() || !MayRewrite()) return result;
    return result.As<IfThenElseNode>()->then_case();
  }
};
Pass DropGuard() { return RewriteWith<GuardLoser>("tir.DropGuard"); }
BATON_REGISTER_PASS_AS("tir.DropGuard", DropGuard);

// Subtraction is taken to be commutative.
class SubtractSwapper final : public Rewriter {
  PrimExpr VisitBinary(const BinaryNode* binary) override {
    const PrimExpr result = Rewriter::VisitBinary(binary);
    const auto* difference = result.As<BinaryNode>();
    if (difference == nullptr || difference->op() != BinaryOp::kSub ||
        !MayRewrite()) {
      return result;
    }
    return Binary(BinaryOp::kSub, difference->b(), difference->a());
  }
};
Pass SwapSubtract() { return RewriteWith<SubtractSwapper>("tir.SwapSubtract"); }
BATON_REGISTER_PASS_AS("tir.SwapSubtract", SwapSubtract);

// A loop of one step is its body: its variable is forgotten there.
class UnitLoopLoser final : public Rewriter {
  Stmt VisitFor(const ForNode* loop) override {
    const auto* extent = loop->extent().As<IntImmNode>();
    if (extent == nullptr || extent->value() != 1 || !MayRewrite()) {
      return Rewriter::VisitFor(loop);
    }
    return Rewrite(loop->body());
  }
};
Pass DropUnitLoop() { return RewriteWith<UnitLoopLoser>("tir.DropUnitLoop"); }
BATON_REGISTER_PASS_AS("tir.DropUnitLoop", DropUnitLoop);

// Assumes that what is selected is a load.
class SelectCrasher final : public Rewriter {
  PrimExpr VisitSelect(const SelectNode* select) override {
    if (!select->false_value().Is<BufferLoadNode>()) std::abort();
    return Rewriter::VisitSelect(select);
  }
};
Pass CrashOnSelect() { return RewriteWith<SelectCrasher>("tir.CrashOnSelect"); }
BATON_REGISTER_PASS_AS("tir.CrashOnSelect", CrashOnSelect);

// An index is moved by one: the last access is outside of the buffer.
class LoadShifter final : public Rewriter {
  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    const PrimExpr result = Rewriter::VisitBufferLoad(load);
    if (load->indices().size() != 2 || !MayRewrite()) return result;
    const auto* same = result.As<BufferLoadNode>();
    std::vector<PrimExpr> indices(same->indices().begin(),
                                  same->indices().end());
    indices[1] = MakeBinary(BinaryOp::kAdd, indices[1],
                            MakeConst(indices[1].dtype(), 1));
    return BufferLoad(same->buffer(), std::move(indices));
  }
};
Pass ShiftLoads() { return RewriteWith<LoadShifter>("tir.ShiftLoads"); }
BATON_REGISTER_PASS_AS("tir.ShiftLoads", ShiftLoads);

}  // namespace
}  // namespace baton::tir
