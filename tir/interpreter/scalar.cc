#include "baton/tir/interpreter/scalar.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/numeric/bits.h"
#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"

namespace baton::tir {
namespace {

double RoundTo(DType dtype, double value) {
  if (dtype.code() == DType::Code::kBFloat) {
    return static_cast<float>(BFloat16(static_cast<float>(value)));
  }
  if (dtype.bits() == 16) {
    return static_cast<float>(Float16(static_cast<float>(value)));
  }
  return dtype.bits() == 32 ? static_cast<float>(value) : value;
}

Scalar Integer(DType dtype, int64_t value) {
  if (dtype.is_bool()) return {.i = value != 0 ? 1 : 0};
  return {.i = WrapToDType(value, dtype)};
}
Scalar Real(DType dtype, double value) { return {.f = RoundTo(dtype, value)}; }

uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }
int64_t FromBits(uint64_t bits) { return static_cast<int64_t>(bits); }

// `a < b` of elements of `dtype`.
bool Less(DType dtype, Scalar a, Scalar b) {
  if (dtype.is_float()) return a.f < b.f;
  return dtype.is_uint() ? Bits(a.i) < Bits(b.i) : a.i < b.i;
}

// Division of integers; `b` is not zero.
int64_t Divide(BinaryOp op, DType dtype, int64_t a, int64_t b) {
  const bool modulo = op == BinaryOp::kMod || op == BinaryOp::kFloorMod;
  if (dtype.is_uint()) {
    return FromBits(modulo ? Bits(a) % Bits(b) : Bits(a) / Bits(b));
  }
  // The only quotient that overflows.
  if (b == -1) return modulo ? 0 : FromBits(0 - Bits(a));
  const int64_t quotient = a / b;
  const int64_t rest = a % b;
  const bool floors = op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod;
  const bool adjust = floors && rest != 0 && (rest < 0) != (b < 0);
  return modulo ? rest + (adjust ? b : 0) : quotient - (adjust ? 1 : 0);
}

double DivideReal(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kMod:
      return std::fmod(a, b);
    case BinaryOp::kFloorDiv:
      return std::floor(a / b);
    case BinaryOp::kFloorMod:
      return a - std::floor(a / b) * b;
    default:
      return a / b;
  }
}

// Functions of one float. Those that kernels compute have the kernels' bits.
struct RealFunction {
  const char* name;
  double (*function)(double) = nullptr;
  absl::StatusOr<Tensor> (*kernel)(const Tensor&) = nullptr;
};
constexpr RealFunction kRealFunctions[] = {
    {.name = "exp", .kernel = kernels::Exp},
    {.name = "exp2", .function = [](double x) { return std::exp2(x); }},
    {.name = "exp10", .function = [](double x) { return std::pow(10.0, x); }},
    {.name = "erf", .kernel = kernels::Erf},
    {.name = "tanh", .kernel = kernels::Tanh},
    {.name = "sigmoid", .kernel = kernels::Sigmoid},
    {.name = "sqrt", .kernel = kernels::Sqrt},
    {.name = "rsqrt", .kernel = kernels::Rsqrt},
    {.name = "log", .kernel = kernels::Log},
    {.name = "log2", .kernel = kernels::Log2},
    {.name = "log1p", .function = [](double x) { return std::log1p(x); }},
    {.name = "log10", .kernel = kernels::Log10},
    {.name = "tan", .kernel = kernels::Tan},
    {.name = "cos", .kernel = kernels::Cos},
    {.name = "cosh", .kernel = kernels::Cosh},
    {.name = "sin", .kernel = kernels::Sin},
    {.name = "sinh", .kernel = kernels::Sinh},
    {.name = "asin", .kernel = kernels::Asin},
    {.name = "acos", .kernel = kernels::Acos},
    {.name = "atan", .kernel = kernels::Atan},
    {.name = "acosh", .kernel = kernels::Acosh},
    {.name = "asinh", .kernel = kernels::Asinh},
    {.name = "atanh", .kernel = kernels::Atanh},
    {.name = "floor", .function = [](double x) { return std::floor(x); }},
    {.name = "ceil", .function = [](double x) { return std::ceil(x); }},
    {.name = "round", .function = [](double x) { return std::round(x); }},
    {.name = "nearbyint",
     .function = [](double x) { return std::nearbyint(x); }},
    {.name = "trunc", .function = [](double x) { return std::trunc(x); }},
    {.name = "fabs", .function = [](double x) { return std::fabs(x); }},
};

// Functions of two floats.
struct RealFunction2 {
  const char* name;
  double (*function)(double, double) = nullptr;
  absl::StatusOr<Tensor> (*kernel)(const Tensor&, const Tensor&) = nullptr;
};
constexpr RealFunction2 kRealFunctions2[] = {
    {.name = "atan2",
     .function = [](double x, double y) { return std::atan2(x, y); }},
    {.name = "hypot",
     .function = [](double x, double y) { return std::hypot(x, y); }},
    {.name = "copysign",
     .function = [](double x, double y) { return std::copysign(x, y); }},
    {.name = "fmod",
     .function = [](double x, double y) { return std::fmod(x, y); }},
    {.name = "pow", .kernel = kernels::Power},
};

// A tensor of one element.
Tensor TensorOf(DType dtype, Scalar value) {
  absl::StatusOr<MutableTensor> tensor = MutableTensor::Create(dtype, {});
  StoreScalar(dtype, value, static_cast<char*>(tensor->data()));
  return std::move(*tensor).Freeze();
}

// Functions of the C library, of doubles.
constexpr RealFunction kLibraryFunctions[] = {
    {.name = "exp", .function = [](double x) { return std::exp(x); }},
    {.name = "log", .function = [](double x) { return std::log(x); }},
};
constexpr RealFunction2 kLibraryFunctions2[] = {
    {.name = "pow",
     .function = [](double x, double y) { return std::pow(x, y); }},
};

// round(x * y / 2^q), shifted left by `shift`, or right if that is negative.
int64_t MultiplyShift(int64_t x, int64_t y, int64_t q, int64_t shift) {
  const int64_t left = shift > 0 ? shift : 0;
  const int64_t right = shift > 0 ? 0 : -shift;
  const int64_t total = q + right;
  if (total < 1 || total > 100 || left > 62) return 0;
  const absl::int128 product =
      absl::int128(FromBits(Bits(x) << left)) * absl::int128(y);
  const absl::int128 half = absl::int128(1) << static_cast<int>(total - 1);
  return static_cast<int64_t>((product + half) >> static_cast<int>(total));
}

bool ComputeInteger(absl::string_view name, DType dtype,
                    absl::Span<const Scalar> args, int64_t& result) {
  const int64_t a = args[0].i;
  if (args.size() == 1) {
    const uint64_t mask =
        dtype.bits() >= 64 ? ~uint64_t{0} : (uint64_t{1} << dtype.bits()) - 1;
    if (name == "bitwise_not") {
      result = ~a;
    } else if (name == "popcount") {
      result = absl::popcount(Bits(a) & mask);
    } else if (name == "clz") {
      result = absl::countl_zero(Bits(a) & mask) - (64 - dtype.bits());
    } else if (name == "fabs") {
      result = a < 0 ? FromBits(0 - Bits(a)) : a;
    } else if (name == "floor" || name == "ceil" || name == "round" ||
               name == "nearbyint" || name == "trunc") {
      result = a;
    } else {
      return false;
    }
    return true;
  }
  if (args.size() == 4 && name == "q_multiply_shift") {
    result = MultiplyShift(a, args[1].i, args[2].i, args[3].i);
    return true;
  }
  if (args.size() != 2) return false;
  const int64_t b = args[1].i;
  if (name == "bitwise_and") {
    result = a & b;
  } else if (name == "bitwise_or") {
    result = a | b;
  } else if (name == "bitwise_xor") {
    result = a ^ b;
  } else if (name == "shift_left") {
    result = b < 0 || b > 63 ? 0 : FromBits(Bits(a) << b);
  } else if (name == "shift_right") {
    const int64_t by = b < 0 || b > 63 ? 63 : b;
    result = dtype.is_uint() ? FromBits(Bits(a) >> by) : a >> by;
  } else if (name == "pow") {
    // Squares, multiplied where the exponent has a bit.
    uint64_t power = 1;
    uint64_t square = Bits(a);
    for (uint64_t rest = b < 0 && !dtype.is_uint() ? 0 : Bits(b); rest != 0;
         rest >>= 1) {
      if ((rest & 1) != 0) power *= square;
      square *= square;
    }
    result = FromBits(power);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Scalar ConvertScalar(Scalar value, DType from, DType dtype) {
  if (dtype.is_float()) {
    if (from.is_float()) return Real(dtype, value.f);
    // Rounded once to float32, from which half floats are rounded.
    if (dtype.bits() == 64) {
      return {.f = from.is_uint() ? static_cast<double>(Bits(value.i))
                                  : static_cast<double>(value.i)};
    }
    return Real(dtype, from.is_uint() ? static_cast<float>(Bits(value.i))
                                      : static_cast<float>(value.i));
  }
  if (!from.is_float()) return Integer(dtype, value.i);
  if (dtype.is_bool()) return {.i = value.f != 0 ? 1 : 0};
  if (std::isnan(value.f)) return {};
  if (dtype.is_uint() && dtype.bits() == 64) {
    if (value.f <= 0) return {};
    if (value.f >= 0x1p64) return {.i = -1};
    return {.i = FromBits(static_cast<uint64_t>(value.f))};
  }
  const int bits = dtype.is_uint() ? dtype.bits() : dtype.bits() - 1;
  const double limit = std::ldexp(1.0, bits);
  const double low = dtype.is_uint() ? 0 : -limit;
  if (value.f < low) return {.i = static_cast<int64_t>(low)};
  if (value.f >= limit) {
    return {.i = bits == 63 ? std::numeric_limits<int64_t>::max()
                            : (int64_t{1} << bits) - 1};
  }
  return {.i = static_cast<int64_t>(value.f)};
}

bool ComputeBinary(BinaryOp op, DType dtype, Scalar a, Scalar b,
                   Scalar& result) {
  const bool is_float = dtype.is_float();
  const auto truth = [&result](bool value) { result = {.i = value ? 1 : 0}; };
  switch (op) {
    case BinaryOp::kAdd:
      result = is_float ? Real(dtype, a.f + b.f)
                        : Integer(dtype, FromBits(Bits(a.i) + Bits(b.i)));
      break;
    case BinaryOp::kSub:
      result = is_float ? Real(dtype, a.f - b.f)
                        : Integer(dtype, FromBits(Bits(a.i) - Bits(b.i)));
      break;
    case BinaryOp::kMul:
      result = is_float ? Real(dtype, a.f * b.f)
                        : Integer(dtype, FromBits(Bits(a.i) * Bits(b.i)));
      break;
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      if (is_float) {
        result = Real(dtype, DivideReal(op, a.f, b.f));
        break;
      }
      if (b.i == 0) return false;
      result = Integer(dtype, Divide(op, dtype, a.i, b.i));
      break;
    case BinaryOp::kMin:
      result = Less(dtype, b, a) ? b : a;
      break;
    case BinaryOp::kMax:
      result = Less(dtype, a, b) ? b : a;
      break;
    case BinaryOp::kEQ:
      truth(is_float ? a.f == b.f : a.i == b.i);
      break;
    case BinaryOp::kNE:
      truth(is_float ? a.f != b.f : a.i != b.i);
      break;
    case BinaryOp::kLT:
      truth(Less(dtype, a, b));
      break;
    case BinaryOp::kLE:
      truth(is_float ? a.f <= b.f : !Less(dtype, b, a));
      break;
    case BinaryOp::kGT:
      truth(Less(dtype, b, a));
      break;
    case BinaryOp::kGE:
      truth(is_float ? a.f >= b.f : !Less(dtype, a, b));
      break;
    case BinaryOp::kAnd:
      truth(a.i != 0 && b.i != 0);
      break;
    case BinaryOp::kOr:
      truth(a.i != 0 || b.i != 0);
      break;
  }
  return true;
}

bool ComputeIntrinsic(absl::string_view name, DType dtype, DType result_dtype,
                      absl::Span<const Scalar> args, Scalar& result) {
  if (args.empty()) return false;
  if (!dtype.is_float()) {
    int64_t integer = 0;
    if (!ComputeInteger(name, dtype, args, integer)) return false;
    result = Integer(result_dtype, integer);
    return true;
  }
  if (name == "isnan") {
    result = {.i = std::isnan(args[0].f) ? 1 : 0};
    return true;
  }
  if (args.size() == 3 && name == "fma") {
    if (dtype.bits() == 64) {
      result = {.f = std::fma(args[0].f, args[1].f, args[2].f)};
    } else {
      result = Real(result_dtype, std::fma(static_cast<float>(args[0].f),
                                           static_cast<float>(args[1].f),
                                           static_cast<float>(args[2].f)));
    }
    return true;
  }
  if (args.size() == 2 && name == "ldexp") {
    result =
        Real(result_dtype, std::ldexp(args[0].f, static_cast<int>(args[1].i)));
    return true;
  }
  if (args.size() == 2 && name == "nextafter") {
    result = dtype.bits() == 32
                 ? Scalar{.f = std::nextafter(static_cast<float>(args[0].f),
                                              static_cast<float>(args[1].f))}
                 : Scalar{.f = std::nextafter(args[0].f, args[1].f)};
    return true;
  }
  for (const RealFunction& known : kRealFunctions) {
    if (args.size() != 1 || name != known.name) continue;
    if (known.function != nullptr) {
      result = Real(result_dtype, known.function(args[0].f));
      return true;
    }
    const absl::StatusOr<Tensor> value = known.kernel(TensorOf(dtype, args[0]));
    if (!value.ok()) return false;
    result = LoadScalar(dtype, static_cast<const char*>(value->data()));
    return true;
  }
  for (const RealFunction2& known : kRealFunctions2) {
    if (args.size() != 2 || name != known.name) continue;
    if (known.function != nullptr) {
      result = Real(result_dtype, known.function(args[0].f, args[1].f));
      return true;
    }
    const absl::StatusOr<Tensor> value =
        known.kernel(TensorOf(dtype, args[0]), TensorOf(dtype, args[1]));
    if (!value.ok()) return false;
    result = LoadScalar(dtype, static_cast<const char*>(value->data()));
    return true;
  }
  return false;
}

bool ComputeExtern(absl::string_view name, absl::Span<const Scalar> args,
                   Scalar& result) {
  for (const RealFunction& known : kLibraryFunctions) {
    if (args.size() != 1 || name != known.name) continue;
    result = {.f = known.function(args[0].f)};
    return true;
  }
  for (const RealFunction2& known : kLibraryFunctions2) {
    if (args.size() != 2 || name != known.name) continue;
    result = {.f = known.function(args[0].f, args[1].f)};
    return true;
  }
  return false;
}

int64_t ElementBytes(DType dtype) { return (dtype.bits() + 7) / 8; }

Scalar LoadScalar(DType dtype, const char* bytes) {
  Scalar result;
  VisitDType(dtype, [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool>) {
      result.i = *bytes != 0 ? 1 : 0;
    } else {
      T value;
      std::memcpy(&value, bytes, sizeof(value));
      if constexpr (std::is_integral_v<T>) {
        result.i = static_cast<int64_t>(value);
      } else {
        result.f = static_cast<double>(value);
      }
    }
  });
  return result;
}

void StoreScalar(DType dtype, Scalar value, char* bytes) {
  VisitDType(dtype, [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool>) {
      *bytes = value.i != 0 ? 1 : 0;
    } else if constexpr (std::is_integral_v<T>) {
      const T stored = static_cast<T>(value.i);
      std::memcpy(bytes, &stored, sizeof(stored));
    } else {
      const T stored = [&value] {
        if constexpr (std::is_same_v<T, double>) {
          return value.f;
        } else {
          return T(static_cast<float>(value.f));
        }
      }();
      std::memcpy(bytes, &stored, sizeof(stored));
    }
  });
}

}  // namespace baton::tir
