#include "baton/tir/transform/lower_intrin.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/intrinsics.h"
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

std::string KindOf(const Target& target) {
  const PrimExpr kind = target->config().Find("kind");
  const auto* text = kind.As<StringImmNode>();
  return text == nullptr ? std::string() : text->value();
}

PrimExpr Real(DType dtype, double value) {
  const PrimExpr scalar = FloatImm(WithLanes(dtype, 1), value);
  return dtype.lanes() == 1 ? scalar
                            : PrimExpr(Broadcast(scalar, dtype.lanes()));
}
PrimExpr Divide(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kDiv, a, b);
}
PrimExpr Apply(absl::string_view name, const PrimExpr& x) {
  return Call(x.dtype(), IntrinsicOp(name), {x});
}

// Intrinsics of LLVM that compute what intrinsics here do. The number of
// operands is that of those whose types choose the instruction.
struct LlvmIntrinsic {
  absl::string_view name;
  absl::string_view llvm_name;
  int64_t num_operands;
};
constexpr LlvmIntrinsic kLlvmIntrinsics[] = {{"exp", "llvm.exp", 1},
                                             {"exp2", "llvm.exp2", 1},
                                             {"fma", "llvm.fmuladd", 3},
                                             {"log", "llvm.log", 1},
                                             {"log2", "llvm.log2", 1},
                                             {"log10", "llvm.log10", 1},
                                             {"sqrt", "llvm.sqrt", 1},
                                             {"floor", "llvm.floor", 1},
                                             {"ceil", "llvm.ceil", 1},
                                             {"trunc", "llvm.trunc", 1},
                                             {"fabs", "llvm.fabs", 1},
                                             {"round", "llvm.round", 1},
                                             {"nearbyint", "llvm.nearbyint", 1},
                                             {"pow", "llvm.pow", 2},
                                             {"popcount", "llvm.ctpop", 1},
                                             {"cos", "llvm.cos", 1},
                                             {"sin", "llvm.sin", 1}};

// Functions of the C library with the names of intrinsics: `expf` of float32.
constexpr absl::string_view kLibraryFunctions[] = {
    "exp",   "erf",   "log",       "log2",      "log10", "log1p",
    "tanh",  "tan",   "atan",      "atanh",     "atan2", "cos",
    "acos",  "cosh",  "acosh",     "sin",       "asin",  "sinh",
    "asinh", "hypot", "nextafter", "copysign",  "ldexp", "sqrt",
    "floor", "ceil",  "round",     "nearbyint", "pow"};

PrimExpr LlvmCall(DType dtype, const LlvmIntrinsic& intrinsic,
                  absl::Span<const PrimExpr> operands) {
  std::vector<PrimExpr> args = {
      StringImm(std::string(intrinsic.llvm_name)),
      IntImm(DType::UInt(32), intrinsic.num_operands)};
  args.insert(args.end(), operands.begin(), operands.end());
  return Call(dtype, BATON_OP("tir.call_llvm_pure_intrin"), std::move(args));
}

// Functions that LLVM has not, by those that it has; null for others.
PrimExpr LlvmFormula(absl::string_view name, const PrimExpr& x) {
  const DType dtype = x.dtype();
  if (!dtype.is_float()) return {};
  if (name == "exp10") return Apply("exp", Mul(x, Real(dtype, 2.302585093)));
  if (name == "tan") return Divide(Apply("sin", x), Apply("cos", x));
  const PrimExpr one = Real(dtype, 1);
  const PrimExpr two = Real(dtype, 2);
  if (name == "tanh") {
    const PrimExpr shrinks = Apply("exp", Mul(Real(dtype, -2), x));
    const PrimExpr grows = Apply("exp", Mul(two, x));
    return Select(MakeBinary(BinaryOp::kGE, x, Real(dtype, 0)),
                  Divide(Sub(one, shrinks), Add(one, shrinks)),
                  Divide(Sub(grows, one), Add(grows, one)));
  }
  if (name == "cosh" || name == "sinh") {
    const PrimExpr shrinks = Apply("exp", Mul(Real(dtype, -1), x));
    const PrimExpr grows = Apply("exp", x);
    return Divide(name == "cosh" ? Add(grows, shrinks) : Sub(grows, shrinks),
                  two);
  }
  return {};
}

// Functions that no target has; null for others.
PrimExpr CommonFormula(absl::string_view name, const PrimExpr& x) {
  if (!x.dtype().is_float()) return {};
  const PrimExpr one = Real(x.dtype(), 1);
  if (name == "rsqrt") return Divide(one, Apply("sqrt", x));
  if (name == "sigmoid") {
    const PrimExpr negated = Sub(Real(x.dtype(), 0), x);
    return Divide(one, Add(one, Apply("exp", negated)));
  }
  return {};
}

class IntrinLowerer final : public AnalyzingRewriter {
 public:
  IntrinLowerer(Analyzer& analyzer, absl::string_view kind)
      : AnalyzingRewriter(analyzer),
        is_llvm_(kind == "llvm"),
        is_known_(is_llvm_ || kind == "c") {}

 protected:
  PrimExpr VisitCall(const CallNode* node) override {
    const auto* op = node->op().As<OpNode>();
    if (is_known_ && op != nullptr && IntrinsicOf(node->op()) != nullptr &&
        !node->args().empty()) {
      const PrimExpr lowered = Lowered(node, ScriptName(*op));
      if (lowered.defined()) return Rewrite(lowered);
    }
    return AnalyzingRewriter::VisitCall(node);
  }

  PrimExpr VisitBinary(const BinaryNode* node) override {
    switch (node->op()) {
      case BinaryOp::kAdd: {
        if (!is_llvm_ || !node->dtype().is_float()) break;
        // One rounding where the processor has it.
        const auto* right = AsBinary(node->b(), BinaryOp::kMul);
        const auto* left = AsBinary(node->a(), BinaryOp::kMul);
        if (right != nullptr) return Fused(right, node->a());
        if (left != nullptr) return Fused(left, node->b());
        break;
      }
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
  PrimExpr Fused(const BinaryNode* product, const PrimExpr& addend) {
    const PrimExpr operands[] = {product->a(), product->b(), addend};
    return Rewrite(LlvmCall(product->dtype(), kFma, operands));
  }

  // The call by the rules of the target; null where there are none.
  PrimExpr Lowered(const CallNode* node, absl::string_view name) const {
    const PrimExpr& x = node->args()[0];
    const DType dtype = node->dtype();
    if (is_llvm_) {
      for (const LlvmIntrinsic& intrinsic : kLlvmIntrinsics) {
        if (name == intrinsic.name) {
          return LlvmCall(dtype, intrinsic, node->args());
        }
      }
      if (node->args().size() == 1) {
        PrimExpr formula = LlvmFormula(name, x);
        if (formula.defined()) return formula;
      }
    }
    const bool is_library =
        std::find(std::begin(kLibraryFunctions), std::end(kLibraryFunctions),
                  name) != std::end(kLibraryFunctions);
    if (is_library &&
        (dtype == DType::Float(32) || dtype == DType::Float(64))) {
      std::vector<PrimExpr> args = {
          StringImm(absl::StrCat(name, dtype == DType::Float(32) ? "f" : ""))};
      args.insert(args.end(), node->args().begin(), node->args().end());
      return Call(dtype, BATON_OP("tir.call_pure_extern"), std::move(args));
    }
    return node->args().size() == 1 ? CommonFormula(name, x) : PrimExpr();
  }

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
    // A constant divisor adds up to itself to that.
    const auto* divisor = b.As<IntImmNode>();
    int64_t last = 0;
    if (divisor != nullptr &&
        (__builtin_add_overflow(bound.max - bound.min, divisor->value() - 1,
                                &last) ||
         last > max)) {
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

  static constexpr LlvmIntrinsic kFma = {"fma", "llvm.fmuladd", 3};
  const bool is_llvm_;
  const bool is_known_;
};

}  // namespace

Pass LowerIntrin() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_ASSIGN_OR_RETURN(const Target target, RequiredTargetOf(function));
        Analyzer analyzer;
        return IntrinLowerer(analyzer, KindOf(target)).RewriteBody(function);
      },
      {.name = "tir.LowerIntrin",
       .doc = "Computes flooring divisions by truncating ones, shifts and "
              "masks, and functions by those of the target.",
       .needs = {"tir.has_targets"},
       .idempotent = true,
       .exact = false,
       .tolerance = 1e-5});
}
BATON_REGISTER_PASS_AS("tir.LowerIntrin", LowerIntrin);

}  // namespace baton::tir
