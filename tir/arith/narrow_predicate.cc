// NarrowPredicateExpression and UnwrapVectorExpr.

#include <utility>

#include "baton/base/dtype.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::tir {
namespace {

// Finds parts that have several values: free variables, loads from memory,
// which may change where the condition is kept, and calls with effects.
class ChangeFinder final : public Visitor {
 public:
  explicit ChangeFinder(const VarRanges& free) : free_(free) {}
  bool found() const { return found_; }

 protected:
  void VisitVar(const VarNode* node) override {
    found_ = found_ || free_.Contains(node);
  }
  void VisitBufferLoad(const BufferLoadNode* /*node*/) override {
    found_ = true;
  }
  void VisitCall(const CallNode* node) override {
    const Intrinsic* intrinsic = IntrinsicOf(node->op());
    found_ =
        found_ || intrinsic == nullptr || intrinsic->effect > CallEffect::kPure;
    if (!found_) Visitor::VisitCall(node);
  }

 private:
  const VarRanges& free_;
  bool found_ = false;
};

// Replaces free variables by those of their bounds that make a condition true
// for all values.
class Narrower final : public Rewriter {
 public:
  explicit Narrower(const VarRanges& free) : free_(free) {}

 protected:
  PrimExpr VisitVar(const VarNode* node) override {
    const Range* range = free_.Find(node);
    if (range == nullptr) return PrimExpr(node);
    if (!maximize_) return range->min;
    const PrimExpr end = Add(range->min, range->extent);
    return Sub(end, MakeConst(end.dtype(), 1));
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    return Unknown(PrimExpr(node));
  }

  PrimExpr VisitNot(const NotNode* node) override {
    maximize_ = !maximize_;
    PrimExpr a = Rewrite(node->a());
    maximize_ = !maximize_;
    return Not(std::move(a));
  }

  PrimExpr VisitBinary(const BinaryNode* node) override {
    const bool maximize = maximize_;
    if (!IsLogical(node->op()) && IsModular(node->dtype())) {
      return NotMonotonic(PrimExpr(node));
    }
    switch (node->op()) {
      case BinaryOp::kGT:
      case BinaryOp::kGE:
        return Monotonic(node, !maximize, maximize);
      case BinaryOp::kLT:
      case BinaryOp::kLE:
      case BinaryOp::kSub:
        return Monotonic(node, maximize, !maximize);
      case BinaryOp::kEQ:
        return Pair(BinaryOp::kAnd, BinaryOp::kLE, node);
      case BinaryOp::kNE:
        return Pair(BinaryOp::kOr, BinaryOp::kLT, node);
      case BinaryOp::kMul:
        return Product(node);
      case BinaryOp::kDiv:
      case BinaryOp::kFloorDiv:
        return Quotient(node);
      case BinaryOp::kMod:
        return NotMonotonic(PrimExpr(node));
      case BinaryOp::kFloorMod:
        return Unknown(PrimExpr(node));
      default:
        return Rewriter::VisitBinary(node);
    }
  }

  PrimExpr VisitSelect(const SelectNode* node) override {
    return NotMonotonic(PrimExpr(node));
  }
  PrimExpr VisitCall(const CallNode* node) override {
    return NotMonotonic(PrimExpr(node));
  }
  PrimExpr VisitLet(const LetNode* node) override {
    return NotMonotonic(PrimExpr(node));
  }
  PrimExpr VisitReduce(const ReduceNode* node) override {
    return NotMonotonic(PrimExpr(node));
  }
  PrimExpr VisitCast(const CastNode* node) override {
    // Conversions between indices keep the order.
    return IsModular(node->dtype()) || IsModular(node->value().dtype())
               ? NotMonotonic(PrimExpr(node))
               : Rewriter::VisitCast(node);
  }

 private:
  // `e`, whose value is not known: the comparison around it is decided by that.
  PrimExpr Unknown(const PrimExpr& e) {
    if (e.dtype().is_bool()) return IntImm::Bool(!maximize_);
    unknown_ = true;
    return e;
  }
  // `e` stays where it has one value, now and later.
  PrimExpr NotMonotonic(const PrimExpr& e) {
    ChangeFinder finder(free_);
    finder.Visit(e);
    return finder.found() ? Unknown(e) : e;
  }

  // A product with a constant factor falls where the factor is negative.
  PrimExpr Product(const BinaryNode* node) {
    const auto* left = node->a().As<IntImmNode>();
    const auto* right = node->b().As<IntImmNode>();
    const IntImmNode* factor = left != nullptr ? left : right;
    if (factor == nullptr) return NotMonotonic(PrimExpr(node));
    const bool maximize = maximize_;
    if (factor->value() < 0) maximize_ = !maximize_;
    PrimExpr result = Rewriter::VisitBinary(node);
    maximize_ = maximize;
    return result;
  }

  // A quotient by a constant, too.
  PrimExpr Quotient(const BinaryNode* node) {
    const auto* divisor = node->b().As<IntImmNode>();
    if (divisor != nullptr && divisor->value() == 0) {
      unknown_ = true;
      return MakeConst(node->dtype(), 0);
    }
    if (divisor == nullptr) return NotMonotonic(PrimExpr(node));
    const bool maximize = maximize_;
    if (divisor->value() < 0) maximize_ = !maximize_;
    PrimExpr a = Rewrite(node->a());
    maximize_ = maximize;
    return MakeBinary(node->op(), a, node->b());
  }

  PrimExpr Monotonic(const BinaryNode* node, bool a_max, bool b_max) {
    const bool maximize = maximize_;
    maximize_ = a_max;
    PrimExpr a = Rewrite(node->a());
    maximize_ = b_max;
    PrimExpr b = Rewrite(node->b());
    maximize_ = maximize;
    if (unknown_ && node->dtype().is_bool()) {
      unknown_ = false;
      return IntImm::Bool(!maximize);
    }
    if (a == node->a() && b == node->b()) return PrimExpr(node);
    return Binary(node->op(), std::move(a), std::move(b));
  }

  PrimExpr Pair(BinaryOp join, BinaryOp compare, const BinaryNode* node) {
    const PrimExpr first = Rewrite(MakeBinary(compare, node->a(), node->b()));
    const PrimExpr second = Rewrite(MakeBinary(compare, node->b(), node->a()));
    return MakeBinary(join, first, second);
  }

  const VarRanges& free_;
  bool maximize_ = true;
  bool unknown_ = false;
};

class Scalarizer final : public Rewriter {
 public:
  explicit Scalarizer(const PrimExpr& lane) : lane_(lane) {}

 protected:
  PrimExpr VisitRamp(const RampNode* node) override {
    return Add(node->base(), Mul(lane_, node->stride()));
  }
  PrimExpr VisitBroadcast(const BroadcastNode* node) override {
    return node->value();
  }
  PrimExpr VisitVar(const VarNode* node) override {
    const Var* scalar = scalars_.Find(node);
    return scalar != nullptr ? PrimExpr(*scalar) : PrimExpr(node);
  }
  PrimExpr VisitLet(const LetNode* node) override {
    if (node->value().dtype().lanes() == 1) return Rewriter::VisitLet(node);
    const Var scalar(node->var()->name() + "_scalar",
                     WithLanes(node->var()->dtype(), 1));
    scalars_[node->var().get()] = scalar;
    PrimExpr value = Rewrite(node->value());
    PrimExpr body = Rewrite(node->body());
    return Let(scalar, std::move(value), std::move(body), node->span());
  }

 private:
  const PrimExpr& lane_;
  NodeMap<Var> scalars_;
};

}  // namespace

PrimExpr NarrowPredicateExpression(const PrimExpr& condition,
                                   const VarRanges& free) {
  return Narrower(free).Rewrite(condition);
}

PrimExpr UnwrapVectorExpr(const PrimExpr& e, const PrimExpr& lane) {
  return Scalarizer(lane).Rewrite(e);
}

}  // namespace baton::tir
