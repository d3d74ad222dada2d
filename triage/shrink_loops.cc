#include "baton/triage/shrink_loops.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// Counts the ways to make a function smaller, or takes one of them.
class Cutter final : public Rewriter {
 public:
  explicit Cutter(int way) : left_(way) {}
  // The number of ways that were passed by.
  int passed() const { return passed_; }

 protected:
#define BATON_HOOK(index, Name, sort)                     \
  PrimExpr Visit##Name(const Name##Node* node) override { \
    for (const PrimExpr& way : WaysOf(node)) {            \
      if (IsChosen()) return way;                         \
    }                                                     \
    return Rewriter::Visit##Name(node);                   \
  }
  BATON_TIR_EXPRS(BATON_HOOK)
#undef BATON_HOOK
#define BATON_HOOK(index, Name, sort)                 \
  Stmt Visit##Name(const Name##Node* node) override { \
    for (const Stmt& way : WaysOf(node)) {            \
      if (IsChosen()) return way;                     \
    }                                                 \
    return Rewriter::Visit##Name(node);               \
  }
  BATON_TIR_STMTS(BATON_HOOK)
#undef BATON_HOOK

 private:
  bool IsChosen() {
    ++passed_;
    return left_-- == 0;
  }

  static std::vector<PrimExpr> WaysOf(const PrimExprNode* node) {
    const DType dtype = node->dtype();
    std::vector<PrimExpr> ways;
    if (node->kind().To<TirKind>() == TirKind::kBufferRegion ||
        (!dtype.is_float() && !dtype.is_integral() && !dtype.is_bool())) {
      return ways;
    }
    ForEachReference(node, [&](const Node* part) {
      if (!IsPrimExprKind(part->kind())) return;
      const PrimExpr e(static_cast<const PrimExprNode*>(part));
      if (e.dtype() == dtype && !e.Is<BufferNode>() && !e.Is<IterVarNode>() &&
          !e.Is<CommReducerNode>()) {
        ways.push_back(e);
      }
    });
    const PrimExpr self(node);
    if (!self.Is<IntImmNode>() && !self.Is<FloatImmNode>() &&
        !self.Is<IterVarNode>() && !self.Is<BufferNode>()) {
      if (dtype.lanes() == 1) ways.push_back(MakeConst(dtype, 0));
      if (dtype.is_bool() && dtype.lanes() == 1) {
        ways.push_back(MakeConst(dtype, 1));
      }
    }
    return ways;
  }

  static std::vector<Stmt> WaysOf(const StmtNode* node) {
    const Stmt self(node);
    if (self.Is<EvaluateNode>() || self.Is<BlockNode>()) return {};
    std::vector<Stmt> ways = {Evaluate(IntImm(kInt32, 0))};
    if (const auto* loop = self.As<ForNode>()) {
      ways.push_back(
          Substitute(loop->body(), [loop](const VarNode* var) -> PrimExpr {
            return var == loop->loop_var().get() ? loop->min() : PrimExpr();
          }));
      if (loop->for_kind() != ForKind::kSerial) {
        ForNode::Parts parts = loop->parts();
        parts.kind = ForKind::kSerial;
        parts.thread = {};
        ways.push_back(For(std::move(parts)));
      }
    }
    ForEachReference(node, [&](const Node* part) {
      if (IsStmtKind(part->kind()) && !self.Is<ForNode>() &&
          !self.Is<BlockRealizeNode>()) {
        ways.push_back(Stmt(static_cast<const StmtNode*>(part)));
      }
    });
    if (const auto* seq = self.As<SeqStmtNode>()) {
      // Statements without effect go.
      std::vector<Stmt> flat;
      AppendFlattened(self, flat);
      if (flat.size() < seq->seq().size()) ways = {MakeSeq(std::move(flat))};
    }
    if (const auto* realize = self.As<BlockRealizeNode>()) {
      // The block's body in its place.
      const Block& block = realize->block();
      if (block->alloc_buffers().empty() && block->match_buffers().empty()) {
        NodeMap<PrimExpr> values;
        for (size_t i = 0; i < block->iter_vars().size(); ++i) {
          values[block->iter_vars()[i]->var().get()] =
              realize->iter_values()[i];
        }
        ways.push_back(Substitute(block->body(), values));
      }
    }
    return ways;
  }

  int left_;
  int passed_ = 0;
};

// The weight of an expression: higher for what is harder to understand.
int64_t WeightOf(const PrimExpr& e) {
  if (const auto* imm = e.As<IntImmNode>()) {
    return imm->value() == 0 || imm->value() == 1 ? 25 : 27;
  }
  if (e.Is<FloatImmNode>()) return 27;
  if (e.Is<VarNode>()) return 20;
  return 300;
}

int64_t WeightOf(const Stmt& stmt) {
  if (const auto* evaluate = stmt.As<EvaluateNode>();
      evaluate != nullptr && evaluate->value().Is<IntImmNode>()) {
    return 0;
  }
  const auto* loop = stmt.As<ForNode>();
  return loop != nullptr && loop->for_kind() != ForKind::kSerial ? 1001 : 1000;
}

}  // namespace

std::optional<PrimFunc> SmallerLoops(const PrimFunc& function, int number) {
  Cutter cutter(number);
  PrimFunc smaller = cutter.RewriteBody(function);
  if (cutter.passed() <= number) return std::nullopt;
  return smaller;
}

int NumSmallerLoops(const PrimFunc& function) {
  Cutter cutter(-1);
  cutter.RewriteBody(function);
  return cutter.passed();
}

LoopsSize SizeOfLoops(const PrimFunc& function) {
  LoopsSize size;
  PostOrderVisit(
      function->body(),
      [&size](const PrimExpr& e) { size.weight += WeightOf(e); },
      [&size](const Stmt& stmt) {
        size.weight += WeightOf(stmt);
        if (!stmt.Is<SeqStmtNode>() && !stmt.Is<BlockNode>()) {
          ++size.statements;
        }
      });
  size.weight += static_cast<int64_t>(function->params().size()) +
                 static_cast<int64_t>(function->attrs().entries().size());
  return size;
}

}  // namespace baton::tir
