// Computations of operators that compute each element by itself: a table of
// expressions. They mean, under the interpreter, what the kernels compute, bit
// for bit: NaNs and zeros with a sign included.

#include "baton/relay/op/tensor/elementwise.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/lower/computation.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::lower {
namespace {

using tir::BinaryOp;
using tir::CallIntrinsic;
using tir::Not;
using tir::PrimExpr;
using tir::Select;

// `x` has the data type of the operator, but float32 in place of half floats.
using Unary = PrimExpr (*)(const PrimExpr& x);
using Binary = PrimExpr (*)(const PrimExpr& x, const PrimExpr& y);

bool IsFloat(const PrimExpr& x) { return x.dtype().is_float(); }
bool IsBool(const PrimExpr& x) { return x.dtype().is_bool(); }
PrimExpr Zero(const PrimExpr& x) { return Number(x.dtype(), 0); }
PrimExpr IsNan(const PrimExpr& x) { return CallIntrinsic("isnan", {x}); }

// The indices at which an operand of `shape` is read, which is broadcast to
// what `at` is an index of.
Indices BroadcastIndices(const Indices& at, const std::vector<int64_t>& shape) {
  const size_t skipped = at.size() - shape.size();
  Indices result;
  for (size_t i = 0; i < shape.size(); ++i) {
    result.push_back(shape[i] == 1 ? Index(0) : at[skipped + i]);
  }
  return result;
}

PrimExpr LoadBroadcast(const LoopBuilder& loops, int i, const Indices& at) {
  return loops.Load(i, BroadcastIndices(at, loops.shape(i)));
}

// As LoadBroadcast, with half floats as float32.
PrimExpr LoadWide(const LoopBuilder& loops, int i, const Indices& at) {
  return Cast(WideDType(loops.dtype(i)), LoadBroadcast(loops, i, at));
}

// Stores value(x) of the operands, where half floats are float32.
template <typename Fn>
absl::Status Map(LoopBuilder& loops, const Fn& fn) {
  const DType dtype = loops.output().dtype();
  loops.Store(loops.output(),
              [&](const Indices& at) { return Cast(dtype, fn(at)); });
  return absl::OkStatus();
}

template <Unary kFunction>
absl::Status MapUnary(LoopBuilder& loops) {
  return Map(loops, [&](const Indices& at) {
    return kFunction(LoadWide(loops, 0, at));
  });
}

template <Binary kFunction>
absl::Status MapBinary(LoopBuilder& loops) {
  return Map(loops, [&](const Indices& at) {
    return kFunction(LoadWide(loops, 0, at), LoadWide(loops, 1, at));
  });
}

// The larger (or smaller): NaN if one is; of equals the second.
PrimExpr Extremum(BinaryOp better, BinaryOp integer, const PrimExpr& x,
                  const PrimExpr& y) {
  if (!IsFloat(x)) return Op2(integer, x, y);
  return Select(Op2(BinaryOp::kOr, Op2(better, x, y), IsNan(x)), x, y);
}

// The name of an intrinsic as a template argument.
struct Name {
  constexpr Name(const char* text) {  // NOLINT
    for (int i = 0; text[i] != 0; ++i) name[i] = text[i];
  }
  char name[16] = {};
};
template <Name kName>
PrimExpr Call1(const PrimExpr& x) {
  return CallIntrinsic(kName.name, {x});
}
// Functions that leave integers as they are.
template <Name kName>
PrimExpr Round(const PrimExpr& x) {
  return IsFloat(x) ? CallIntrinsic(kName.name, {x}) : x;
}
template <BinaryOp kOp>
PrimExpr Of(const PrimExpr& x, const PrimExpr& y) {
  return Op2(kOp, x, y);
}
template <Name kName>
PrimExpr Bits(const PrimExpr& x, const PrimExpr& y) {
  return CallIntrinsic(kName.name, {x, y});
}

PrimExpr Abs(const PrimExpr& x) {
  if (IsFloat(x)) return CallIntrinsic("fabs", {x});
  if (x.dtype().is_uint()) return x;
  return Select(Op2(BinaryOp::kLT, x, Zero(x)), Op2(BinaryOp::kSub, Zero(x), x),
                x);
}

PrimExpr Negative(const PrimExpr& x) {
  if (IsFloat(x)) return Op2(BinaryOp::kMul, x, Number(x.dtype(), -1));
  return Op2(BinaryOp::kSub, Zero(x), x);
}

PrimExpr Sign(const PrimExpr& x) {
  const PrimExpr zero = Zero(x);
  PrimExpr rest = zero;
  if (IsFloat(x)) rest = Select(IsNan(x), x, zero);
  if (!x.dtype().is_uint()) {
    rest = Select(Op2(BinaryOp::kLT, x, zero), Number(x.dtype(), -1), rest);
  }
  return Select(Op2(BinaryOp::kGT, x, zero), Number(x.dtype(), 1), rest);
}

PrimExpr Relu(const PrimExpr& x) {
  return x.dtype().is_uint() ? x : Op2(BinaryOp::kMax, x, Zero(x));
}

PrimExpr BitwiseNot(const PrimExpr& x) {
  return IsBool(x) ? PrimExpr(Not(x)) : CallIntrinsic("bitwise_not", {x});
}
PrimExpr LogicalNot(const PrimExpr& x) { return Not(x); }

PrimExpr Infinity(const PrimExpr& x) {
  return Number(x.dtype(), std::numeric_limits<double>::infinity());
}
PrimExpr IsNanOf(const PrimExpr& x) {
  return IsFloat(x) ? IsNan(x) : tir::IntImm::Bool(false);
}
PrimExpr IsInf(const PrimExpr& x) {
  if (!IsFloat(x)) return tir::IntImm::Bool(false);
  return Op2(BinaryOp::kEQ, Abs(x), Infinity(x));
}
PrimExpr IsFinite(const PrimExpr& x) {
  if (!IsFloat(x)) return tir::IntImm::Bool(true);
  return Op2(BinaryOp::kLT, Abs(x), Infinity(x));
}

PrimExpr Maximum(const PrimExpr& x, const PrimExpr& y) {
  return Extremum(BinaryOp::kGT, IsBool(x) ? BinaryOp::kOr : BinaryOp::kMax, x,
                  y);
}
PrimExpr Minimum(const PrimExpr& x, const PrimExpr& y) {
  return Extremum(BinaryOp::kLT, IsBool(x) ? BinaryOp::kAnd : BinaryOp::kMin, x,
                  y);
}
PrimExpr FloorDivide(const PrimExpr& x, const PrimExpr& y) {
  if (!IsFloat(x)) return Op2(BinaryOp::kFloorDiv, x, y);
  return CallIntrinsic("floor", {Op2(BinaryOp::kDiv, x, y)});
}
PrimExpr Mod(const PrimExpr& x, const PrimExpr& y) {
  if (!IsFloat(x)) return Op2(BinaryOp::kMod, x, y);
  return CallIntrinsic("fmod", {x, y});
}
PrimExpr FloorMod(const PrimExpr& x, const PrimExpr& y) {
  if (!IsFloat(x)) return Op2(BinaryOp::kFloorMod, x, y);
  const PrimExpr rest = CallIntrinsic("fmod", {x, y});
  const PrimExpr zero = Zero(x);
  // The rest has the other sign than the divisor.
  const PrimExpr moves = Op2(BinaryOp::kOr,
                             Op2(BinaryOp::kAnd, Op2(BinaryOp::kLT, rest, zero),
                                 Op2(BinaryOp::kGE, y, zero)),
                             Op2(BinaryOp::kAnd, Op2(BinaryOp::kGT, rest, zero),
                                 Op2(BinaryOp::kLT, y, zero)));
  return Select(moves, Op2(BinaryOp::kAdd, rest, y), rest);
}
// Bits of bools are logic.
template <BinaryOp kLogic, Name kName>
PrimExpr Bitwise(const PrimExpr& x, const PrimExpr& y) {
  return IsBool(x) ? Op2(kLogic, x, y) : CallIntrinsic(kName.name, {x, y});
}

// The quotient is rounded to the type of the data first.
absl::Status LowerTruncDivide(LoopBuilder& loops) {
  const DType dtype = loops.dtype();
  return Map(loops, [&](const Indices& at) {
    const PrimExpr quotient =
        Op2(BinaryOp::kDiv, LoadWide(loops, 0, at), LoadWide(loops, 1, at));
    if (!dtype.is_float()) return quotient;
    return CallIntrinsic("trunc",
                         {Cast(WideDType(dtype), Cast(dtype, quotient))});
  });
}

absl::Status LowerClip(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::ClipAttrs>();
  const DType dtype = WideDType(loops.dtype());
  // The bounds in the range of an integer, without their fractions.
  const auto bound = [dtype](double value) -> PrimExpr {
    if (dtype == DType::Float(32)) value = static_cast<float>(value);
    if (dtype.is_float()) return Number(dtype, value);
    if (std::isnan(value)) return Number(dtype, 0);
    const int bits = dtype.is_uint() ? dtype.bits() : dtype.bits() - 1;
    const double limit = std::ldexp(1.0, bits);
    if (value <= (dtype.is_uint() ? 0 : -limit)) {
      return tir::IntImm(dtype, dtype.is_uint() ? 0
                                : bits == 63
                                    ? std::numeric_limits<int64_t>::min()
                                    : -(int64_t{1} << bits));
    }
    if (bits < 63 && value >= limit - 1) {
      return tir::IntImm(dtype, (int64_t{1} << bits) - 1);
    }
    if (bits == 63 && value >= limit) {
      return tir::IntImm(dtype, std::numeric_limits<int64_t>::max());
    }
    return tir::IntImm(dtype, static_cast<int64_t>(value));
  };
  if (dtype == DType::UInt(64) &&
      (attrs.a_max >= 0x1p63 || attrs.a_min >= 0x1p63)) {
    return NoLoops("a bound is above the largest int64");
  }
  return Map(loops, [&](const Indices& at) {
    return Op2(BinaryOp::kMin,
               Op2(BinaryOp::kMax, LoadWide(loops, 0, at), bound(attrs.a_min)),
               bound(attrs.a_max));
  });
}

absl::Status LowerConvert(LoopBuilder& loops) {
  const DType dtype = loops.output().dtype();
  loops.Store(loops.output(), [&](const Indices& at) {
    return Convert(dtype, loops.Load(0, at));
  });
  return absl::OkStatus();
}

absl::Status LowerReinterpret(LoopBuilder& loops) {
  const DType dtype = loops.output().dtype();
  if (dtype.is_bool() || loops.dtype().is_bool()) {
    return NoLoops("bits of a bool are not a number");
  }
  loops.Store(loops.output(), [&](const Indices& at) -> PrimExpr {
    return tir::Call(dtype, tir::IntrinsicOp("reinterpret"),
                     {loops.Load(0, at)});
  });
  return absl::OkStatus();
}

absl::Status LowerCopy(LoopBuilder& loops) {
  loops.Store(loops.output(),
              [&](const Indices& at) { return loops.Load(0, at); });
  return absl::OkStatus();
}

absl::Status LowerWhere(LoopBuilder& loops) {
  loops.Store(loops.output(), [&](const Indices& at) -> PrimExpr {
    return Select(Convert(DType::Bool(), LoadBroadcast(loops, 0, at)),
                  LoadBroadcast(loops, 1, at), LoadBroadcast(loops, 2, at));
  });
  return absl::OkStatus();
}

absl::Status LowerFixedPointMultiply(LoopBuilder& loops) {
  const auto& attrs = loops.attrs<relay::FixedPointMultiplyAttrs>();
  if (loops.dtype() != DType::Int(32)) return NoLoops("the data is no int32");
  return Map(loops, [&](const Indices& at) {
    return CallIntrinsic("q_multiply_shift",
                         {loops.Load(0, at), Index(attrs.multiplier), Index(31),
                          Index(attrs.shift)});
  });
}

// Loads the element of vector argument `i` at the index along `axis`; a vector
// of one element is broadcast.
PrimExpr LoadAlong(const LoopBuilder& loops, int i, int64_t axis,
                   const Indices& at) {
  const int normal = NormalAxis(axis, loops.rank());
  return Cast(WideDType(loops.dtype(i)),
              loops.Load(i, {loops.shape(i)[0] == 1
                                 ? Index(0)
                                 : at[static_cast<size_t>(normal)]}));
}

absl::Status LowerBiasAdd(LoopBuilder& loops) {
  const int axis = loops.attrs<relay::BiasAddAttrs>().axis;
  return Map(loops, [&](const Indices& at) {
    return Op2(BinaryOp::kAdd, LoadWide(loops, 0, at),
               LoadAlong(loops, 1, axis, at));
  });
}

absl::Status LowerLeakyRelu(LoopBuilder& loops) {
  const double alpha = loops.attrs<relay::LeakyReluAttrs>().alpha;
  return Map(loops, [&](const Indices& at) -> PrimExpr {
    const PrimExpr x = LoadWide(loops, 0, at);
    const double rounded =
        x.dtype().bits() == 32 ? static_cast<float>(alpha) : alpha;
    return Select(Op2(BinaryOp::kGT, x, Zero(x)), x,
                  Op2(BinaryOp::kMul, Number(x.dtype(), rounded), x));
  });
}

absl::Status LowerPRelu(LoopBuilder& loops) {
  const int axis = loops.attrs<relay::PReluAttrs>().axis;
  return Map(loops, [&](const Indices& at) -> PrimExpr {
    const PrimExpr x = LoadWide(loops, 0, at);
    return Select(Op2(BinaryOp::kGT, x, Zero(x)), x,
                  Op2(BinaryOp::kMul, x, LoadAlong(loops, 1, axis, at)));
  });
}

#define BATON_ROW(name, computation) \
  BATON_EXTEND_OP(name).Set(Computations(), computation)

BATON_ROW("abs", MapUnary<Abs>);
BATON_ROW("acos", MapUnary<Call1<"acos">>);
BATON_ROW("acosh", MapUnary<Call1<"acosh">>);
BATON_ROW("asin", MapUnary<Call1<"asin">>);
BATON_ROW("asinh", MapUnary<Call1<"asinh">>);
BATON_ROW("atan", MapUnary<Call1<"atan">>);
BATON_ROW("atanh", MapUnary<Call1<"atanh">>);
BATON_ROW("bitwise_not", MapUnary<BitwiseNot>);
BATON_ROW("ceil", MapUnary<Round<"ceil">>);
BATON_ROW("cos", MapUnary<Call1<"cos">>);
BATON_ROW("cosh", MapUnary<Call1<"cosh">>);
BATON_ROW("erf", MapUnary<Call1<"erf">>);
BATON_ROW("exp", MapUnary<Call1<"exp">>);
BATON_ROW("fast_erf", MapUnary<Call1<"erf">>);
BATON_ROW("fast_exp", MapUnary<Call1<"exp">>);
BATON_ROW("fast_tanh", MapUnary<Call1<"tanh">>);
BATON_ROW("floor", MapUnary<Round<"floor">>);
BATON_ROW("log", MapUnary<Call1<"log">>);
BATON_ROW("log10", MapUnary<Call1<"log10">>);
BATON_ROW("log2", MapUnary<Call1<"log2">>);
BATON_ROW("logical_not", MapUnary<LogicalNot>);
BATON_ROW("negative", MapUnary<Negative>);
BATON_ROW("round", MapUnary<Round<"nearbyint">>);
BATON_ROW("rsqrt", MapUnary<Call1<"rsqrt">>);
BATON_ROW("sigmoid", MapUnary<Call1<"sigmoid">>);
BATON_ROW("sign", MapUnary<Sign>);
BATON_ROW("sin", MapUnary<Call1<"sin">>);
BATON_ROW("sinh", MapUnary<Call1<"sinh">>);
BATON_ROW("sqrt", MapUnary<Call1<"sqrt">>);
BATON_ROW("tan", MapUnary<Call1<"tan">>);
BATON_ROW("tanh", MapUnary<Call1<"tanh">>);
BATON_ROW("trunc", MapUnary<Round<"trunc">>);
BATON_ROW("isfinite", MapUnary<IsFinite>);
BATON_ROW("isinf", MapUnary<IsInf>);
BATON_ROW("isnan", MapUnary<IsNanOf>);
BATON_ROW("nn.relu", MapUnary<Relu>);

BATON_ROW("add", MapBinary<Of<BinaryOp::kAdd>>);
BATON_ROW("subtract", MapBinary<Of<BinaryOp::kSub>>);
BATON_ROW("multiply", MapBinary<Of<BinaryOp::kMul>>);
BATON_ROW("divide", MapBinary<Of<BinaryOp::kDiv>>);
BATON_ROW("floor_divide", MapBinary<FloorDivide>);
BATON_ROW("trunc_divide", LowerTruncDivide);
BATON_ROW("mod", MapBinary<Mod>);
BATON_ROW("floor_mod", MapBinary<FloorMod>);
BATON_ROW("trunc_mod", MapBinary<Mod>);
BATON_ROW("power", MapBinary<Bits<"pow">>);
BATON_ROW("maximum", MapBinary<Maximum>);
BATON_ROW("minimum", MapBinary<Minimum>);
BATON_ROW("left_shift", MapBinary<Bits<"shift_left">>);
BATON_ROW("right_shift", MapBinary<Bits<"shift_right">>);
BATON_ROW("logical_and", MapBinary<Of<BinaryOp::kAnd>>);
BATON_ROW("logical_or", MapBinary<Of<BinaryOp::kOr>>);
BATON_ROW("logical_xor", MapBinary<Of<BinaryOp::kNE>>);
BATON_ROW("bitwise_and", (MapBinary<Bitwise<BinaryOp::kAnd, "bitwise_and">>));
BATON_ROW("bitwise_or", (MapBinary<Bitwise<BinaryOp::kOr, "bitwise_or">>));
BATON_ROW("bitwise_xor", (MapBinary<Bitwise<BinaryOp::kNE, "bitwise_xor">>));
BATON_ROW("equal", MapBinary<Of<BinaryOp::kEQ>>);
BATON_ROW("not_equal", MapBinary<Of<BinaryOp::kNE>>);
BATON_ROW("less", MapBinary<Of<BinaryOp::kLT>>);
BATON_ROW("less_equal", MapBinary<Of<BinaryOp::kLE>>);
BATON_ROW("greater", MapBinary<Of<BinaryOp::kGT>>);
BATON_ROW("greater_equal", MapBinary<Of<BinaryOp::kGE>>);

BATON_ROW("clip", LowerClip);
BATON_ROW("cast", LowerConvert);
BATON_ROW("cast_like", LowerConvert);
BATON_ROW("reinterpret", LowerReinterpret);
BATON_ROW("copy", LowerCopy);
BATON_ROW("where", LowerWhere);
BATON_ROW("fixed_point_multiply", LowerFixedPointMultiply);
BATON_ROW("nn.bias_add", LowerBiasAdd);
BATON_ROW("nn.leaky_relu", LowerLeakyRelu);
BATON_ROW("nn.prelu", LowerPRelu);

}  // namespace
}  // namespace baton::lower
