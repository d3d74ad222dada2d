#include "baton/tir/arith/pattern.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/hash/hash.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/ir/expr.h"
#include "baton/tir/arith/expr_key.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::tir {
namespace {

bool AllDeepEqual(absl::Span<const PrimExpr> a, absl::Span<const PrimExpr> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!ExprDeepEqual(a[i], b[i])) return false;
  }
  return true;
}

bool SameBuffer(const Buffer& a, const Buffer& b) {
  if (a == b) return true;
  return a->data() == b->data() && a->dtype() == b->dtype() &&
         AllDeepEqual(a->shape(), b->shape()) &&
         AllDeepEqual(a->strides(), b->strides()) &&
         a->elem_offset().defined() == b->elem_offset().defined() &&
         (!a->elem_offset().defined() ||
          ExprDeepEqual(a->elem_offset(), b->elem_offset()));
}

bool SameOp(const Expr& a, const Expr& b) {
  if (a == b) return true;
  const auto* x = a.As<GlobalVarNode>();
  const auto* y = b.As<GlobalVarNode>();
  return x != nullptr && y != nullptr && x->name() == y->name();
}

bool SameNode(const PrimExpr& a, const PrimExpr& b) {
  switch (a->kind().To<TirKind>()) {
    case TirKind::kIntImm:
      return a.As<IntImmNode>()->value() == b.As<IntImmNode>()->value();
    case TirKind::kFloatImm: {
      const double x = a.As<FloatImmNode>()->value();
      const double y = b.As<FloatImmNode>()->value();
      return std::memcmp(&x, &y, sizeof(x)) == 0;
    }
    case TirKind::kStringImm:
      return a.As<StringImmNode>()->value() == b.As<StringImmNode>()->value();
    case TirKind::kCast:
      return ExprDeepEqual(a.As<CastNode>()->value(),
                           b.As<CastNode>()->value());
    case TirKind::kBinary: {
      const auto* x = a.As<BinaryNode>();
      const auto* y = b.As<BinaryNode>();
      return x->op() == y->op() && ExprDeepEqual(x->a(), y->a()) &&
             ExprDeepEqual(x->b(), y->b());
    }
    case TirKind::kNot:
      return ExprDeepEqual(a.As<NotNode>()->a(), b.As<NotNode>()->a());
    case TirKind::kSelect: {
      const auto* x = a.As<SelectNode>();
      const auto* y = b.As<SelectNode>();
      return ExprDeepEqual(x->condition(), y->condition()) &&
             ExprDeepEqual(x->true_value(), y->true_value()) &&
             ExprDeepEqual(x->false_value(), y->false_value());
    }
    case TirKind::kRamp: {
      const auto* x = a.As<RampNode>();
      const auto* y = b.As<RampNode>();
      return ExprDeepEqual(x->base(), y->base()) &&
             ExprDeepEqual(x->stride(), y->stride());
    }
    case TirKind::kBroadcast:
      return ExprDeepEqual(a.As<BroadcastNode>()->value(),
                           b.As<BroadcastNode>()->value());
    case TirKind::kShuffle: {
      const auto* x = a.As<ShuffleNode>();
      const auto* y = b.As<ShuffleNode>();
      return AllDeepEqual(x->vectors(), y->vectors()) &&
             AllDeepEqual(x->indices(), y->indices());
    }
    case TirKind::kBufferLoad: {
      const auto* x = a.As<BufferLoadNode>();
      const auto* y = b.As<BufferLoadNode>();
      return SameBuffer(x->buffer(), y->buffer()) &&
             AllDeepEqual(x->indices(), y->indices());
    }
    case TirKind::kCall: {
      const auto* x = a.As<CallNode>();
      const auto* y = b.As<CallNode>();
      return SameOp(x->op(), y->op()) && AllDeepEqual(x->args(), y->args());
    }
    case TirKind::kLet: {
      const auto* x = a.As<LetNode>();
      const auto* y = b.As<LetNode>();
      return x->var() == y->var() && ExprDeepEqual(x->value(), y->value()) &&
             ExprDeepEqual(x->body(), y->body());
    }
    default:
      return false;
  }
}

// The greatest effect in an expression.
class EffectVisitor final : public Visitor {
 public:
  CallEffect effect = CallEffect::kExprAnnotation;

 protected:
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Raise(CallEffect::kReadState);
    Visitor::VisitBufferLoad(node);
  }
  void VisitCall(const CallNode* node) override {
    const Intrinsic* intrinsic = IntrinsicOf(node->op());
    Raise(intrinsic != nullptr ? intrinsic->effect : CallEffect::kOpaque);
    Visitor::VisitCall(node);
  }

 private:
  void Raise(CallEffect e) {
    if (e > effect) effect = e;
  }
};

bool IsLeaf(const PrimExpr& e) {
  return e.Is<VarNode>() || e.Is<IntImmNode>() || e.Is<FloatImmNode>();
}

}  // namespace

bool ExprDeepEqual(const PrimExpr& a, const PrimExpr& b) {
  if (a == b) return true;
  if (!a.defined() || !b.defined() || a->kind() != b->kind() ||
      a.dtype() != b.dtype()) {
    return false;
  }
  return OnDeepStack([&] { return SameNode(a, b); });
}

namespace {

// A hash of the nodes down to some depth, and of at most so many.
class ShallowHasher {
 public:
  size_t Hash(const PrimExpr& e, int depth = 4) {
    if (!e.defined() || depth == 0 || nodes_ == 0) return 0;
    --nodes_;
    const auto kind = static_cast<size_t>(e->kind().To<TirKind>());
    const auto all = [&](size_t hash, absl::Span<const PrimExpr> list) {
      for (const PrimExpr& part : list) {
        if (nodes_ == 0) break;
        hash = Combine(hash, Hash(part, depth - 1));
      }
      return hash;
    };
    switch (e->kind().To<TirKind>()) {
      case TirKind::kVar:
        return absl::HashOf(e.get());
      case TirKind::kIntImm:
        return Combine(kind, absl::HashOf(e.As<IntImmNode>()->value()));
      case TirKind::kBinary: {
        const auto* node = e.As<BinaryNode>();
        return all(Combine(kind, static_cast<size_t>(node->op())),
                   {node->a(), node->b()});
      }
      case TirKind::kNot:
        return all(kind, {e.As<NotNode>()->a()});
      case TirKind::kCast:
        return all(kind, {e.As<CastNode>()->value()});
      case TirKind::kSelect: {
        const auto* node = e.As<SelectNode>();
        return all(
            kind, {node->condition(), node->true_value(), node->false_value()});
      }
      case TirKind::kRamp:
        return all(kind,
                   {e.As<RampNode>()->base(), e.As<RampNode>()->stride()});
      case TirKind::kBroadcast:
        return all(kind, {e.As<BroadcastNode>()->value()});
      case TirKind::kBufferLoad: {
        const auto* node = e.As<BufferLoadNode>();
        return all(Combine(kind, absl::HashOf(node->buffer()->data().get())),
                   node->indices());
      }
      case TirKind::kCall:
        return all(kind, e.As<CallNode>()->args());
      default:
        return kind;
    }
  }

 private:
  static size_t Combine(size_t a, size_t b) {
    return a * 0x9E3779B97F4A7C15u + b;
  }
  int nodes_ = 24;
};

}  // namespace

size_t ExprShallowHash(const PrimExpr& e) { return ShallowHasher().Hash(e); }

bool IsPure(const PrimExpr& e) {
  if (IsLeaf(e)) return true;
  EffectVisitor visitor;
  visitor.Visit(e);
  return visitor.effect <= CallEffect::kPure;
}

bool IsReadOnly(const PrimExpr& e) {
  if (IsLeaf(e)) return true;
  EffectVisitor visitor;
  visitor.Visit(e);
  return visitor.effect <= CallEffect::kReadState;
}

void UnpackSum(const PrimExpr& e,
               absl::FunctionRef<void(const PrimExpr&, int sign)> fn,
               int sign) {
  OnDeepStack([&] {
    if (const auto* node = AsBinary(e, BinaryOp::kAdd)) {
      UnpackSum(node->a(), fn, sign);
      UnpackSum(node->b(), fn, sign);
    } else if (const auto* difference = AsBinary(e, BinaryOp::kSub)) {
      UnpackSum(difference->a(), fn, sign);
      UnpackSum(difference->b(), fn, -sign);
    } else {
      fn(e, sign);
    }
  });
}

void UnpackReduction(const PrimExpr& e, BinaryOp op,
                     absl::FunctionRef<void(const PrimExpr&)> fn) {
  OnDeepStack([&] {
    if (const auto* node = AsBinary(e, op)) {
      UnpackReduction(node->a(), op, fn);
      UnpackReduction(node->b(), op, fn);
    } else {
      fn(e);
    }
  });
}

namespace {
void AppendConstraints(const PrimExpr& condition, bool keep_composite,
                       std::vector<PrimExpr>& list) {
  OnDeepStack([&] {
    const auto* conjunction = AsBinary(condition, BinaryOp::kAnd);
    if (keep_composite || conjunction == nullptr) list.push_back(condition);
    if (conjunction == nullptr) return;
    AppendConstraints(conjunction->a(), keep_composite, list);
    AppendConstraints(conjunction->b(), keep_composite, list);
  });
}
}  // namespace

std::vector<PrimExpr> ExtractConstraints(const PrimExpr& condition,
                                         bool keep_composite) {
  std::vector<PrimExpr> list;
  AppendConstraints(condition, keep_composite, list);
  return list;
}

std::vector<PrimExpr> ExtractComponents(const PrimExpr& condition) {
  std::vector<PrimExpr> list;
  UnpackReduction(condition, BinaryOp::kOr,
                  [&](const PrimExpr& e) { list.push_back(e); });
  return list;
}

}  // namespace baton::tir
