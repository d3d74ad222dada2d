#include "baton/tir/transform/lower_intrin.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/rewriter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

PrimExpr TruncDiv(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kDiv, a, b);
}
PrimExpr TruncMod(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kMod, a, b);
}
PrimExpr ShiftRight(const PrimExpr& a, int64_t bits) {
  if (bits == 0) return a;
  return Call(a.dtype(), BATON_OP("tir.shift_right"),
              {a, MakeConst(a.dtype(), bits)});
}
PrimExpr BitAnd(const PrimExpr& a, const PrimExpr& b) {
  return Call(a.dtype(), BATON_OP("tir.bitwise_and"), {a, b});
}
PrimExpr ComparedToZero(BinaryOp op, const PrimExpr& e) {
  return MakeBinary(op, e, MakeConst(e.dtype(), 0));
}

// The exponent of `e` if it is a power of two, else -1.
int ShiftOf(const PrimExpr& e) {
  const auto* imm = e.As<IntImmNode>();
  if (imm == nullptr || imm->value() <= 0 ||
      (imm->value() & (imm->value() - 1)) != 0) {
    return -1;
  }
  return __builtin_ctzll(static_cast<uint64_t>(imm->value()));
}

int64_t MaxOf(DType dtype) {
  const int bits = dtype.bits() - (dtype.is_int() ? 1 : 0);
  if (bits >= 63) return std::numeric_limits<int64_t>::max();
  return (int64_t{1} << bits) - 1;
}

class IntrinLowerer final : public AnalyzingRewriter {
 public:
  using AnalyzingRewriter::AnalyzingRewriter;

 protected:
  PrimExpr VisitBinary(const BinaryNode* node) override {
    switch (node->op()) {
      case BinaryOp::kFloorDiv:
        return LowerFloorDiv(node);
      case BinaryOp::kFloorMod:
        return LowerFloorMod(node);
      case BinaryOp::kMax: {
        // max(x // y, c) for c >= 0 and y >= 0: truncation may round up only
        // what is below c.
        const auto* div = AsBinary(node->a(), BinaryOp::kFloorDiv);
        const auto* limit = node->b().As<IntImmNode>();
        if (div != nullptr && limit != nullptr && limit->value() >= 0 &&
            analyzer_.CanProveGreaterEqual(div->b(), 0)) {
          return MakeBinary(BinaryOp::kMax,
                            Rewrite(TruncDiv(div->a(), div->b())), node->b());
        }
        break;
      }
      case BinaryOp::kEQ:
      case BinaryOp::kNE: {
        // Both remainders are zero for the same operands.
        const auto* mod = AsBinary(node->a(), BinaryOp::kFloorMod);
        if (mod != nullptr && IsZero(node->b())) {
          return Rewrite(
              MakeBinary(node->op(), TruncMod(mod->a(), mod->b()), node->b()));
        }
        break;
      }
      default:
        break;
    }
    return AnalyzingRewriter::VisitBinary(node);
  }

 private:
  bool IsNotNegative(const PrimExpr& e) {
    return analyzer_.CanProveGreaterEqual(e, 0);
  }
  // True if a shift by all bits but one gives the sign.
  static bool HasSignShift(DType dtype) {
    return dtype == DType::Int(32) || dtype == DType::Int(64);
  }

  // The quotient by which a multiple of `b` makes `a` not negative; null if the
  // least value of `a` is not known, or so small that the sum may overflow.
  PrimExpr OffsetOf(const PrimExpr& a, const PrimExpr& b) {
    const ConstIntBound bound = analyzer_.BoundOf(a);
    const DType element = WithLanes(a.dtype(), 1);
    const int64_t max = MaxOf(element);
    if (bound.min >= 0 || bound.min <= -max || bound.max > max + bound.min) {
      return {};
    }
    const PrimExpr reach =
        Sub(Sub(b, MakeConst(b.dtype(), 1)), IntImm(element, bound.min));
    return TruncDiv(reach, b);
  }

  PrimExpr LowerFloorDiv(const BinaryNode* node) {
    const PrimExpr result = AnalyzingRewriter::VisitBinary(node);
    const auto* div = AsBinary(result, BinaryOp::kFloorDiv);
    if (div == nullptr || !div->dtype().is_integral()) return result;
    const PrimExpr& a = div->a();
    const PrimExpr& b = div->b();
    const DType dtype = div->dtype();
    const PrimExpr one = MakeConst(dtype, 1);
    const int shift = ShiftOf(b);
    if (shift >= 0) return ShiftRight(a, shift);
    if (IsNotNegative(b)) {
      if (IsNotNegative(a) || IsNotNegative(Binary(node))) {
        return TruncDiv(a, b);
      }
      const PrimExpr offset = OffsetOf(a, b);
      if (offset.defined()) {
        const PrimExpr shifted = analyzer_.Simplify(Add(a, Mul(b, offset)));
        return Sub(TruncDiv(shifted, b), offset);
      }
      const PrimExpr quotient = TruncDiv(a, b);
      const PrimExpr rest = TruncMod(a, b);
      if (HasSignShift(dtype)) {
        return Add(quotient, ShiftRight(rest, dtype.bits() - 1));
      }
      return Select(ComparedToZero(BinaryOp::kGE, rest), quotient,
                    Sub(quotient, one));
    }
    const Var rest("rmod", dtype);
    const Var quotient("rdiv", dtype);
    PrimExpr inner =
        Let(quotient, TruncDiv(a, b),
            Select(HasSignOf(rest, b), quotient, Sub(quotient, one)));
    return Let(rest, TruncMod(a, b), std::move(inner));
  }

  PrimExpr LowerFloorMod(const BinaryNode* node) {
    const PrimExpr result = AnalyzingRewriter::VisitBinary(node);
    const auto* mod = AsBinary(result, BinaryOp::kFloorMod);
    if (mod == nullptr || !mod->dtype().is_integral()) return result;
    const PrimExpr& a = mod->a();
    const PrimExpr& b = mod->b();
    const DType dtype = mod->dtype();
    const int shift = ShiftOf(b);
    if (shift >= 0) {
      return BitAnd(a, MakeConst(dtype, (int64_t{1} << shift) - 1));
    }
    if (IsNotNegative(b)) {
      if (IsNotNegative(a)) return TruncMod(a, b);
      const PrimExpr offset = OffsetOf(a, b);
      if (offset.defined()) {
        return TruncMod(analyzer_.Simplify(Add(a, Mul(b, offset))), b);
      }
      const PrimExpr rest = TruncMod(a, b);
      if (HasSignShift(dtype)) {
        return Add(rest, BitAnd(b, ShiftRight(rest, dtype.bits() - 1)));
      }
      return Select(ComparedToZero(BinaryOp::kGE, rest), rest, Add(rest, b));
    }
    const Var rest("rmod", dtype);
    return Let(rest, TruncMod(a, b),
               Select(HasSignOf(rest, b), rest, Add(rest, b)));
  }

  // True if the truncated remainder is that of the flooring division.
  static PrimExpr HasSignOf(const Var& rest, const PrimExpr& divisor) {
    return MakeBinary(
        BinaryOp::kOr,
        MakeBinary(BinaryOp::kAnd, ComparedToZero(BinaryOp::kGE, divisor),
                   ComparedToZero(BinaryOp::kGE, rest)),
        MakeBinary(BinaryOp::kAnd, ComparedToZero(BinaryOp::kLT, divisor),
                   ComparedToZero(BinaryOp::kLE, rest)));
  }
};

}  // namespace

Pass LowerIntrin() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (!TargetOf(function).defined()) {
          return ErrorAt(function->span(),
                         "the function has no attribute `target`");
        }
        Analyzer analyzer;
        return IntrinLowerer(analyzer).RewriteBody(function);
      },
      {.name = "tir.LowerIntrin",
       .doc = "Computes flooring divisions by truncating ones, shifts and "
              "masks.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.LowerIntrin", LowerIntrin);

}  // namespace baton::tir
