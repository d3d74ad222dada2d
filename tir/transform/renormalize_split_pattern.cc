#include "baton/tir/transform/renormalize_split_pattern.h"

#include <cstdint>
#include <numeric>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
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

// An integer, or a vector of equal ones; null for anything else.
const IntImmNode* ConstantOf(const PrimExpr& e) {
  const auto* broadcast = e.As<BroadcastNode>();
  return (broadcast != nullptr ? broadcast->value() : e).As<IntImmNode>();
}

// `value` as `like` is: an integer or a vector of it.
PrimExpr ConstantLike(const PrimExpr& like, int64_t value) {
  return MakeConst(like.dtype(), value);
}

class Renormalizer final : public Rewriter {
 protected:
  PrimExpr VisitBinary(const BinaryNode* node) override {
    const PrimExpr result = Normalized(node);
    // A comparison that is negated twice may be as it was. Only operands that
    // are new may differ further down.
    const auto* made = result.As<BinaryNode>();
    const bool is_same = made != nullptr && made->op() == node->op() &&
                         Same(made->a(), node->a()) &&
                         Same(made->b(), node->b());
    return is_same ? Binary(node) : result;
  }

  static bool Same(const PrimExpr& made, const PrimExpr& old) {
    return made == old ||
           (ConstantOf(old) != nullptr && ExprDeepEqual(made, old));
  }

  PrimExpr Normalized(const BinaryNode* node) {
    switch (node->op()) {
      case BinaryOp::kFloorDiv:
        return VisitFloorDiv(node);
      case BinaryOp::kLT:
        return VisitLess(node);
      case BinaryOp::kLE:
        return Rewrite(Not(Less(node->b(), node->a()), node->span()));
      case BinaryOp::kGT:
        return Rewrite(Less(node->b(), node->a()));
      case BinaryOp::kGE:
        return Rewrite(Not(Less(node->a(), node->b()), node->span()));
      default:
        return Rewriter::VisitBinary(node);
    }
  }

  PrimExpr VisitNot(const NotNode* node) override {
    PrimExpr result = Rewriter::VisitNot(node);
    const PrimExpr& operand = result.As<NotNode>()->a();
    if (const auto* inner = operand.As<NotNode>()) return inner->a();
    const auto* compare = operand.As<BinaryNode>();
    if (compare == nullptr) return result;
    switch (compare->op()) {
      case BinaryOp::kLE:
        return Less(compare->b(), compare->a());
      case BinaryOp::kGE:
        return Less(compare->a(), compare->b());
      case BinaryOp::kLT:
        return MakeBinary(BinaryOp::kLE, compare->b(), compare->a());
      case BinaryOp::kGT:
        return MakeBinary(BinaryOp::kLE, compare->a(), compare->b());
      default:
        return result;
    }
  }

  PrimExpr VisitSelect(const SelectNode* node) override {
    PrimExpr result = Rewriter::VisitSelect(node);
    const auto* select = result.As<SelectNode>();
    if (IsZero(select->condition())) return select->false_value();
    if (IsOne(select->condition())) return select->true_value();
    return result;
  }
  PrimExpr VisitCall(const CallNode* node) override {
    PrimExpr result = Rewriter::VisitCall(node);
    const auto* call = result.As<CallNode>();
    if (call->op() != BATON_OP("tir.if_then_else") ||
        call->args().size() != 3) {
      return result;
    }
    if (IsZero(call->args()[0])) return call->args()[2];
    if (IsOne(call->args()[0])) return call->args()[1];
    return result;
  }
  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    Stmt result = Rewriter::VisitIfThenElse(node);
    const auto* branch = result.As<IfThenElseNode>();
    PrimExpr condition = branch->condition();
    const auto* call = condition.As<CallNode>();
    if (call != nullptr && call->op() == BATON_OP("tir.likely") &&
        !call->args().empty()) {
      condition = call->args()[0];
    }
    if (IsOne(condition)) return branch->then_case();
    if (!IsZero(condition)) return result;
    if (branch->else_case().defined()) return branch->else_case();
    return Evaluate(IntImm(kInt32, 0));
  }

 private:
  static PrimExpr Less(const PrimExpr& a, const PrimExpr& b) {
    return MakeBinary(BinaryOp::kLT, a, b);
  }
  static PrimExpr FloorDiv(const PrimExpr& a, const PrimExpr& b) {
    return MakeBinary(BinaryOp::kFloorDiv, a, b);
  }

  // Rewrites a result; the number of nested ones is limited.
  PrimExpr Again(const PrimExpr& e) {
    constexpr int kMaxDepth = 5;
    if (depth_ >= kMaxDepth) return e;
    ++depth_;
    PrimExpr result = Rewrite(e);
    --depth_;
    return result;
  }

  PrimExpr VisitFloorDiv(const BinaryNode* node) {
    const PrimExpr a = Rewrite(node->a());
    const PrimExpr b = Rewrite(node->b());
    PrimExpr result = FloorDiv(a, b);
    const auto* div = AsBinary(result, BinaryOp::kFloorDiv);
    if (div == nullptr) return result;
    const IntImmNode* divisor = ConstantOf(b);
    if (divisor != nullptr && divisor->value() != 0) {
      const PrimExpr rewritten = Split(a, b, divisor->value());
      if (rewritten.defined()) return Again(rewritten);
    }
    return a == node->a() && b == node->b() ? Binary(node) : result;
  }

  // `a // b` in the normal form; null if it is in that form.
  static PrimExpr Split(const PrimExpr& a, const PrimExpr& b, int64_t divisor) {
    // Sums that wrap around have other quotients.
    if (IsModular(a.dtype())) return {};
    // x % c3 // c2 is x // c2 % (c3 // c2).
    if (const auto* mod = AsBinary(a, BinaryOp::kFloorMod)) {
      const IntImmNode* modulus = ConstantOf(mod->b());
      if (modulus == nullptr || IsVector(mod->b()) != IsVector(b) ||
          divisor <= 0 || modulus->value() <= 0 ||
          modulus->value() % divisor != 0) {
        return {};
      }
      return MakeBinary(BinaryOp::kFloorMod, FloorDiv(mod->a(), b),
                        FloorDiv(mod->b(), b));
    }
    // (x * c1 + y) // c2 is (x * (c1 / c3) + y // c3) // (c2 / c3); y may be a
    // sum of two.
    const auto* sum = AsBinary(a, BinaryOp::kAdd);
    if (sum == nullptr) return {};
    PrimExpr rest = sum->b();
    const BinaryNode* product = AsBinary(sum->a(), BinaryOp::kMul);
    if (!IsScaled(product, b)) {
      const auto* inner = AsBinary(sum->a(), BinaryOp::kAdd);
      if (inner == nullptr) return {};
      product = AsBinary(inner->a(), BinaryOp::kMul);
      if (!IsScaled(product, b)) return {};
      rest = Add(inner->b(), sum->b());
    }
    const int64_t factor = ConstantOf(product->b())->value();
    if (factor <= 0 || divisor <= 0) return {};
    const int64_t common = std::gcd(factor, divisor);
    if (common <= 1) return {};
    return FloorDiv(
        Add(Mul(product->a(), ConstantLike(product->b(), factor / common)),
            FloorDiv(rest, ConstantLike(rest, common))),
        ConstantLike(b, divisor / common));
  }
  static bool IsVector(const PrimExpr& e) {
    return e.As<BroadcastNode>() != nullptr;
  }
  // A product with a constant that is as `b` is.
  static bool IsScaled(const BinaryNode* product, const PrimExpr& b) {
    return product != nullptr && ConstantOf(product->b()) != nullptr &&
           IsVector(product->b()) == IsVector(b);
  }

  PrimExpr VisitLess(const BinaryNode* node) {
    const PrimExpr a = Rewrite(node->a());
    const PrimExpr b = Rewrite(node->b());
    // x < c2 is x // c2 < 1.
    const auto* bound = b.As<IntImmNode>();
    if (bound != nullptr && bound->value() > 0) {
      return Again(Less(FloorDiv(a, b), MakeConst(a.dtype(), 1)));
    }
    if (a == node->a() && b == node->b()) return Binary(node);
    return Binary(BinaryOp::kLT, a, b, node->span());
  }

  int depth_ = 0;
};

}  // namespace

Pass RenormalizeSplitPattern() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return Renormalizer().RewriteBody(function);
      },
      {.name = "tir.RenormalizeSplitPattern",
       .doc =
           "Brings quotients to the form that nested splits of loops have."});
}
BATON_REGISTER_PASS_AS("tir.RenormalizeSplitPattern", RenormalizeSplitPattern);

}  // namespace baton::tir
