#include "baton/tir/transform/narrow_data_type.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/index_dtype_rewriter.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Visits the parts of nodes, and knows the ranges of variables.
class RangeVisitor : public Visitor {
 protected:
  void VisitFor(const ForNode* node) override {
    Bind(node->loop_var(), {node->min(), node->extent()});
    Visitor::VisitFor(node);
  }
  void VisitBlock(const BlockNode* node) override {
    for (const IterVar& iter : node->iter_vars()) {
      Bind(iter->var(), {iter->min(), iter->extent()});
    }
    Visitor::VisitBlock(node);
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* thread = node->node().As<IterVarNode>();
    if (thread != nullptr &&
        (node->key() == "thread_extent" || node->key() == "virtual_thread")) {
      Bind(thread->var(), {MakeConst(node->value().dtype(), 0), node->value()});
    }
    Visitor::VisitAttrStmt(node);
  }
  void VisitReduce(const ReduceNode* node) override {
    for (const IterVar& iter : node->axis()) {
      Bind(iter->var(), {iter->min(), iter->extent()});
    }
    Visitor::VisitReduce(node);
  }

  Analyzer analyzer_;
  NodeMap<DType> extents_;  // the types of the extents of variables

 private:
  void Bind(const Var& var, const Range& range) {
    analyzer_.Bind(var, range);
    extents_[var.get()] = range.extent.dtype();
  }
};

// Finds the bits that variables, integers and casts need.
class BitsFinder final : public RangeVisitor {
 public:
  explicit BitsFinder(int target_bits)
      : target_bits_(target_bits),
        bits_(target_bits),
        limit_(target_bits >= 64 ? ConstIntBound::kPosInf
                                 : (int64_t{1} << (target_bits - 1)) - 1) {}

  // 0 for a node that keeps its type.
  int BitsOf(const PrimExprNode* node) const {
    const int* bits = needed_.Find(node);
    return bits == nullptr || *bits == node->dtype().bits() ? 0 : *bits;
  }

 protected:
#define BATON_TIR_BITS(index, Name, sort)                            \
  void Visit##Name(const Name##Node* node) override {                \
    const PrimExpr e(node);                                          \
    if (!e.dtype().is_int()) return RangeVisitor::Visit##Name(node); \
    const int outer = bits_;                                         \
    bits_ = std::max(bits_, Fits(e) ? target_bits_ : 64);            \
    Note(e);                                                         \
    RangeVisitor::Visit##Name(node);                                 \
    bits_ = outer;                                                   \
  }
  BATON_TIR_EXPRS(BATON_TIR_BITS)
#undef BATON_TIR_BITS

 private:
  bool Fits(const PrimExpr& e) {
    if (e.dtype().bits() <= target_bits_) return true;
    if (!bounds_.Contains(e.get())) {
      bounds_[e.get()] = analyzer_.BoundOf(e, bounds_);
    }
    const ConstIntBound bound = *bounds_.Find(e.get());
    return bound.max <= limit_ && bound.min >= -limit_ - 1;
  }

  void Note(const PrimExpr& e) {
    int bits = e.dtype().bits();
    if (e.As<VarNode>() != nullptr) {
      const DType* extent = extents_.Find(e.get());
      if (extent == nullptr) return;
      bits = extent->bits();
    } else if (e.As<IntImmNode>() == nullptr && e.As<CastNode>() == nullptr) {
      return;
    }
    int& needed = needed_[e.get()];
    needed = std::max(needed, std::min(bits, bits_));
  }

  const int target_bits_;
  int bits_;  // of the expressions around
  const int64_t limit_;
  NodeMap<int> needed_;
  Analyzer::BoundMemo bounds_;
};

class Narrower final : public IndexDTypeRewriter {
 public:
  explicit Narrower(const BitsFinder& finder) : finder_(finder) {}

 protected:
  PrimExpr VisitVar(const VarNode* node) override {
    const int bits = finder_.BitsOf(node);
    if (bits != 0 && !vars_.Contains(node)) {
      vars_[node] =
          Var(node->name(), WithBits(node->dtype(), bits), node->span());
    }
    return IndexDTypeRewriter::VisitVar(node);
  }
  PrimExpr VisitIntImm(const IntImmNode* node) override {
    const int bits = enabled_ ? finder_.BitsOf(node) : 0;
    if (bits == 0) return IntImm(node);
    return IntImm(WithBits(node->dtype(), bits), node->value(), node->span());
  }
  PrimExpr VisitCast(const CastNode* node) override {
    PrimExpr result = IndexDTypeRewriter::VisitCast(node);
    const int bits = enabled_ ? finder_.BitsOf(node) : 0;
    if (bits == 0) return result;
    return Cast(WithBits(node->dtype(), bits), result.As<CastNode>()->value(),
                node->span());
  }
  PrimExpr VisitBinary(const BinaryNode* node) override {
    PrimExpr a = Rewrite(node->a());
    PrimExpr b = Rewrite(node->b());
    if (a.dtype() != b.dtype() && !enabled_ && !IsBoolean(node->op())) {
      // Both have one type if they are rewritten as an index.
      enabled_ = true;
      a = Rewrite(node->a());
      b = Rewrite(node->b());
      enabled_ = false;
    }
    return Rebuilt(node, std::move(a), std::move(b));
  }

 private:
  static bool IsBoolean(BinaryOp op) {
    return op == BinaryOp::kAnd || op == BinaryOp::kOr;
  }
  static DType WithBits(DType dtype, int bits) {
    return DType(dtype.code(), bits, dtype.lanes());
  }

  const BitsFinder& finder_;
};

}  // namespace

Pass NarrowDataType(NarrowDataTypeOptions options) {
  return CreatePrimFuncPass(
      [options](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        const int64_t bits = options.target_bits;
        if (bits != 8 && bits != 16 && bits != 32 && bits != 64) {
          return absl::InvalidArgumentError(absl::StrCat(
              "target_bits is ", bits, ", not one of 8, 16, 32 and 64"));
        }
        BitsFinder finder(static_cast<int>(bits));
        finder.Visit(function->body());
        return Narrower(finder).RewriteBody(function);
      },
      {.name = "tir.NarrowDataType",
       .doc = "Computes indices with fewer bits where they fit.",
       .examples = {"target_bits=32", "target_bits=16"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.NarrowDataType", NarrowDataType);

}  // namespace baton::tir
