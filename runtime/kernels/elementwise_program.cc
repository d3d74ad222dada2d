#include "baton/runtime/kernels/elementwise_program.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "baton/base/dtype.h"
#include "baton/runtime/kernels/internal/binary.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/half.h"
#include "baton/runtime/kernels/internal/math.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels {
namespace {

using internal::kMemoryBound;
using internal::Vectors;

// A value of a program, of float or int32_t: n elements, or one that stands for
// all.
struct Run {
  const void* data;
  int64_t step;
};

// Applies `fn` to `n` pairs of operands stored as T, and stores results as R.
template <typename T, typename R, typename Fn>
void Compute(const Run& a, const Run& b, void* out, int64_t n, const Fn& fn) {
  internal::ComputeRuns<T, R, kMemoryBound>({.a = a.data,
                                             .a_step = a.step,
                                             .b = b.data,
                                             .b_step = b.step,
                                             .out = out,
                                             .n = n,
                                             .runs = 1,
                                             .a_distance = 0,
                                             .b_distance = 0},
                                            fn);
}

template <typename Fn>
void Binary(const Run& a, const Run& b, void* out, int64_t n, const Fn& fn) {
  Compute<float, float>(a, b, out, n, fn);
}

template <typename Fn>
void BinaryInt(const Run& a, const Run& b, void* out, int64_t n, const Fn& fn) {
  Compute<int32_t, int32_t>(a, b, out, n, fn);
}

constexpr bool IsComparison(ElementFunction function) {
  return function >= ElementFunction::kLess &&
         function <= ElementFunction::kNotEqual;
}
constexpr bool IsIntComparison(ElementFunction function) {
  return function >= ElementFunction::kLessInt &&
         function <= ElementFunction::kNotEqualInt;
}

// The comparison of floats that is this one of integers.
constexpr ElementFunction OfFloats(ElementFunction function) {
  return static_cast<ElementFunction>(
      static_cast<int>(function) - static_cast<int>(ElementFunction::kLessInt) +
      static_cast<int>(ElementFunction::kLess));
}
static_assert(OfFloats(ElementFunction::kGreaterEqualInt) ==
              ElementFunction::kGreaterEqual);
static_assert(OfFloats(ElementFunction::kNotEqualInt) ==
              ElementFunction::kNotEqual);

// A comparison of elements stored as T, by its name for floats.
template <typename T>
void Compare(ElementFunction comparison, const Run& a, const Run& b, void* out,
             int64_t n) {
  switch (comparison) {
    case ElementFunction::kGreater:
      return Compare<T>(ElementFunction::kLess, b, a, out, n);
    case ElementFunction::kGreaterEqual:
      return Compare<T>(ElementFunction::kLessEqual, b, a, out, n);
    case ElementFunction::kLess:
      return Compute<T, int32_t>(
          a, b, out, n, [](T x, T y) BATON_LOOP { return x < y ? 1 : 0; });
    case ElementFunction::kLessEqual:
      return Compute<T, int32_t>(
          a, b, out, n, [](T x, T y) BATON_LOOP { return x <= y ? 1 : 0; });
    case ElementFunction::kEqual:
      return Compute<T, int32_t>(
          a, b, out, n, [](T x, T y) BATON_LOOP { return x == y ? 1 : 0; });
    default:  // kNotEqual
      return Compute<T, int32_t>(
          a, b, out, n, [](T x, T y) BATON_LOOP { return x == y ? 0 : 1; });
  }
}

// As in elementwise_functions.cc: `fast` in its domain, and blocks of others
// `slow`. `to` is not `from`.
template <typename Fast, typename Slow>
void FastPath(const float* from, int64_t n, float* to, const Fast& fast,
              const Slow& slow) {
  internal::InWholeRuns(from, n, to,
                        [=](const float* in, int64_t m, float* out) {
                          internal::RunFastPath(
                              m, out,
                              [=](int64_t i, bool& in_domain)
                                  BATON_LOOP { return fast(in[i], in_domain); },
                              [=](int64_t begin, int64_t end) {
                                internal::MapRun<kMemoryBound>(
                                    in + begin, end - begin, out + begin, slow);
                              });
                        });
}

void UnaryInt(const ElementInstruction& instruction, const int32_t* from,
              int64_t n, int32_t* to) {
  switch (instruction.function) {
    case ElementFunction::kWrapUint8:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](int32_t v) BATON_LOOP { return v & 0xff; });
    case ElementFunction::kWrapInt8:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](int32_t v) BATON_LOOP {
            return static_cast<int32_t>(static_cast<uint32_t>(v) << 24) >> 24;
          });
    case ElementFunction::kToBool:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](int32_t v) BATON_LOOP { return v != 0 ? 1 : 0; });
    case ElementFunction::kNot:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](int32_t v) BATON_LOOP { return v ^ 1; });
    default: {  // kClipInt
      const int32_t min = static_cast<int32_t>(instruction.p);
      const int32_t max = static_cast<int32_t>(instruction.q);
      return internal::MapRun<kMemoryBound>(
          from, n, to, [min, max](int32_t v) BATON_LOOP {
            const int32_t raised = v < min ? min : v;
            return raised > max ? max : raised;
          });
    }
  }
}

// Rounds each element to a half float of `dtype`.
void RoundHalves(DType dtype, const float* from, int64_t n, float* to) {
  uint16_t halves[kElementTile];
  internal::NarrowToHalves(dtype, from, n, halves);
  internal::WidenHalves(dtype, halves, n, to);
}

void Unary(const ElementInstruction& instruction, const float* from, int64_t n,
           float* to) {
  switch (instruction.function) {
    case ElementFunction::kRelu:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return v < 0 ? 0.0f : v; });
    case ElementFunction::kClip: {
      const float min = static_cast<float>(instruction.p);
      const float max = static_cast<float>(instruction.q);
      return internal::MapRun<kMemoryBound>(
          from, n, to, [min, max](float v) BATON_LOOP {
            const float raised = v < min ? min : v;
            return raised > max ? max : raised;
          });
    }
    case ElementFunction::kLeakyRelu: {
      const float alpha = static_cast<float>(instruction.p);
      return internal::MapRun<kMemoryBound>(
          from, n, to,
          [alpha](float v) BATON_LOOP { return v > 0 ? v : alpha * v; });
    }
    case ElementFunction::kNegative:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP {
            return std::bit_cast<float>(std::bit_cast<uint32_t>(v) ^
                                        0x80000000u);
          });
    case ElementFunction::kAbs:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP {
            return std::bit_cast<float>(std::bit_cast<uint32_t>(v) &
                                        0x7fffffffu);
          });
    case ElementFunction::kSqrt:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return std::sqrt(v); });
    case ElementFunction::kRsqrt:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return 1 / std::sqrt(v); });
    case ElementFunction::kExp:
      return FastPath(
          from, n, to,
          [](float v, bool& in_domain) BATON_LOOP {
            in_domain = internal::IsPlainExp(v);
            return internal::PlainExp(v);
          },
          [](float v) BATON_LOOP { return internal::Exp(v); });
    case ElementFunction::kLog:
      return FastPath(
          from, n, to,
          [](float v, bool& in_domain) BATON_LOOP {
            in_domain = internal::IsNormalPositive(v);
            return internal::NormalLog(v, 0.0f);
          },
          [](float v) BATON_LOOP { return internal::Log(v); });
    case ElementFunction::kTanh:
      return internal::MapRun<Vectors::k512>(
          from, n, to, [](float v) BATON_LOOP { return internal::Tanh(v); });
    case ElementFunction::kSigmoid:
      return internal::MapRun<Vectors::k512>(
          from, n, to, [](float v) BATON_LOOP { return internal::Sigmoid(v); });
    case ElementFunction::kErf:
      return internal::MapInterleaved<Vectors::k512>(
          from, n, to, [](float v) BATON_LOOP { return internal::Erf(v); });
    case ElementFunction::kFloor:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return internal::Floor(v); });
    case ElementFunction::kCeil:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return internal::Ceil(v); });
    case ElementFunction::kRound:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](float v) BATON_LOOP { return internal::Round(v); });
    case ElementFunction::kPower: {
      const float y = static_cast<float>(instruction.p);
      return internal::InWholeRuns(
          from, n, to, [y](const float* in, int64_t m, float* out) {
            internal::RunFastPath<uint8_t>(
                m, out,
                [=](int64_t i, bool& in_domain) BATON_LOOP {
                  return internal::PlainPower(in[i], y, in_domain);
                },
                [=](int64_t begin, int64_t end) {
                  internal::RunFastElements(
                      end - begin, out + begin,
                      [=](int64_t i, bool& in_domain) BATON_LOOP {
                        const float base = in[begin + i];
                        in_domain = internal::IsOrdinaryPower(base, y);
                        return internal::Power(base, y);
                      },
                      [=](int64_t i) { return std::pow(in[begin + i], y); });
                });
          });
    }
    case ElementFunction::kRoundToHalf:
      return RoundHalves(DType::Float(16), from, n, to);
    case ElementFunction::kRoundToBFloat:
      return RoundHalves(DType::BFloat(16), from, n, to);
    case ElementFunction::kExpOfHalf:
      return internal::MapRun<Vectors::k512>(
          from, n, to,
          [](float v) BATON_LOOP { return internal::half::Exp(v); });
    case ElementFunction::kLogOfHalf:
      return internal::MapRun<kMemoryBound>(
          from, n, to,
          [](float v) BATON_LOOP { return internal::half::Log(v); });
    case ElementFunction::kTanhOfHalf:
      return internal::MapRun<Vectors::k512>(
          from, n, to,
          [](float v) BATON_LOOP { return internal::half::Tanh(v); });
    default:
      if (from != to) std::copy_n(from, n, to);
  }
}

// Words of `b` where `a` is not 0, else of `c`.
template <int64_t kStepB, int64_t kStepC>
void SelectWords(const int32_t* a, const uint32_t* b, const uint32_t* c,
                 int64_t n, uint32_t* to) {
  internal::RunLoop<kMemoryBound>([=]() BATON_LOOP {
    BATON_SAME_INDEX
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t x = b[i * kStepB];
      const uint32_t y = c[i * kStepC];
      to[i] = a[i] != 0 ? x : y;
    }
  });
}

void Select(const Run& a, const Run& b, const Run& c, int64_t n, void* out) {
  const int32_t* const choice = static_cast<const int32_t*>(a.data);
  uint32_t* const to = static_cast<uint32_t*>(out);
  if (a.step == 0) {
    const Run& chosen = *choice != 0 ? b : c;
    const uint32_t* const words = static_cast<const uint32_t*>(chosen.data);
    if (chosen.step == 0) {
      std::fill_n(to, n, *words);
    } else if (words != to) {
      std::memcpy(to, words, static_cast<size_t>(n) * sizeof(uint32_t));
    }
    return;
  }
  // An element that stands for all may be read as long as results are written:
  // it is not among them.
  const uint32_t* const x = static_cast<const uint32_t*>(b.data);
  const uint32_t* const y = static_cast<const uint32_t*>(c.data);
  if (b.step == 0) {
    return c.step == 0 ? SelectWords<0, 0>(choice, x, y, n, to)
                       : SelectWords<0, 1>(choice, x, y, n, to);
  }
  return c.step == 0 ? SelectWords<1, 0>(choice, x, y, n, to)
                     : SelectWords<1, 1>(choice, x, y, n, to);
}

// a b / 2^(base + c), rounded.
template <int64_t kStepB, int64_t kStepC>
void FixedPointLoop(const int32_t* a, const int32_t* b, const int32_t* c,
                    int64_t base, int64_t n, int32_t* to) {
  internal::RunLoop([=]() BATON_LOOP {
    BATON_SAME_INDEX
    for (int64_t i = 0; i < n; ++i) {
      const int64_t shift = base + c[i * kStepC];
      const int64_t product = int64_t{a[i]} * b[i * kStepB];
      to[i] = static_cast<int32_t>((product + (int64_t{1} << (shift - 1))) >>
                                   shift);
    }
  });
}

// `a` has n elements.
void FixedPoint(const Run& a, const Run& b, const Run& c, double base,
                int64_t n, void* out) {
  const auto ints = [](const Run& run) {
    return static_cast<const int32_t*>(run.data);
  };
  int32_t* const to = static_cast<int32_t*>(out);
  const auto shift = static_cast<int64_t>(base);
  if (b.step == 0) {
    return c.step == 0
               ? FixedPointLoop<0, 0>(ints(a), ints(b), ints(c), shift, n, to)
               : FixedPointLoop<0, 1>(ints(a), ints(b), ints(c), shift, n, to);
  }
  return c.step == 0
             ? FixedPointLoop<1, 0>(ints(a), ints(b), ints(c), shift, n, to)
             : FixedPointLoop<1, 1>(ints(a), ints(b), ints(c), shift, n, to);
}

// A division takes as long as ten multiplications. Where the divisor is known,
// its reciprocal and two fused multiplications and additions give the quotient
// that a division gives, rounded once (Markstein), unless one of the steps
// overflows or is smaller than the smallest normal numbers. Quotients from
// kLarge on, infinities and NaN are clamped, or stay NaN, without that. Tiny ones
// are rounded to zero, whose sign is lost in a sum with any zero but -0. So
// adding and subtracting kRounding rounds enough: from 2^22 on the quotient is
// clamped.
constexpr float kLarge = 0x1p30f;
constexpr float kRounding = 0x1.8p23f;
bool DividesByReciprocal(float divisor, float last, float min, float max) {
  constexpr float kMost = 0x1p20f;
  return internal::WidestVectors() != Vectors::k128 && divisor > 0x1p-60f &&
         divisor < 0x1p60f && std::abs(last) <= kMost &&
         (last != 0 || !std::signbit(last)) && min >= -kMost && max <= kMost &&
         min <= max;
}

// kQuantize, kDequantize and kDequantizeInt. `a` has n elements.
void Quantize(const ElementInstruction& instruction, const Run& a, const Run& b,
              const Run& c, int64_t n, float* to) {
  const float last = *static_cast<const float*>(c.data);
  if (instruction.function == ElementFunction::kQuantize) {
    const float divisor = *static_cast<const float*>(b.data);
    const float min = static_cast<float>(instruction.p);
    const float max = static_cast<float>(instruction.q);
    if (DividesByReciprocal(divisor, last, min, max)) {
      return internal::MapRun<Vectors::k512>(
          static_cast<const float*>(a.data), n, to,
          [divisor, reciprocal = 1 / divisor, last, min, max](float v)
              BATON_LOOP {
                const float near = v * reciprocal;
                const float rest = std::fma(-near, divisor, v);
                const float exact = std::fma(rest, reciprocal, near);
                const float quotient = std::abs(near) < kLarge ? exact : near;
                const float whole = (quotient + kRounding) - kRounding;
                const float sum = whole + last;
                const float raised = sum < min ? min : sum;
                return raised > max ? max : raised;
              });
    }
    return internal::MapRun<Vectors::k512>(
        static_cast<const float*>(a.data), n, to,
        [divisor, last, min, max](float v) BATON_LOOP {
          const float sum = internal::Round(v / divisor) + last;
          const float raised = sum < min ? min : sum;
          return raised > max ? max : raised;
        });
  }
  const uint32_t zero = *static_cast<const uint32_t*>(b.data);
  if (instruction.function == ElementFunction::kDequantize) {
    return internal::MapRun<Vectors::k512>(
        static_cast<const float*>(a.data), n, to,
        [zero, last](float v) BATON_LOOP {
          const float number = v == v ? v : 0.0f;
          const auto whole =
              static_cast<uint32_t>(static_cast<int32_t>(number));
          return static_cast<float>(static_cast<int32_t>(whole - zero)) * last;
        });
  }
  internal::MapRun<Vectors::k512>(
      static_cast<const uint32_t*>(a.data), n, to,
      [zero, last](uint32_t v) BATON_LOOP {
        return static_cast<float>(static_cast<int32_t>(v - zero)) * last;
      });
}

void Compute(const ElementInstruction& instruction, const Run& a, const Run& b,
             float* to, int64_t n) {
  const auto wrapping = [](auto fn) {
    return [fn](int32_t x, int32_t y) BATON_LOOP {
      return static_cast<int32_t>(
          fn(static_cast<uint32_t>(x), static_cast<uint32_t>(y)));
    };
  };
  if (IsComparison(instruction.function)) {
    return Compare<float>(instruction.function, a, b, to, n);
  }
  if (IsIntComparison(instruction.function)) {
    return Compare<int32_t>(OfFloats(instruction.function), a, b, to, n);
  }
  switch (instruction.function) {
    case ElementFunction::kAddInt:
      return BinaryInt(
          a, b, to, n,
          wrapping([](uint32_t x, uint32_t y) BATON_LOOP { return x + y; }));
    case ElementFunction::kSubtractInt:
      return BinaryInt(
          a, b, to, n,
          wrapping([](uint32_t x, uint32_t y) BATON_LOOP { return x - y; }));
    case ElementFunction::kMultiplyInt:
      return BinaryInt(
          a, b, to, n,
          wrapping([](uint32_t x, uint32_t y) BATON_LOOP { return x * y; }));
    case ElementFunction::kMaximumInt:
      return BinaryInt(a, b, to, n, [](int32_t x, int32_t y) BATON_LOOP {
        return x > y ? x : y;
      });
    case ElementFunction::kMinimumInt:
      return BinaryInt(a, b, to, n, [](int32_t x, int32_t y) BATON_LOOP {
        return x < y ? x : y;
      });
    case ElementFunction::kAnd:
      return BinaryInt(a, b, to, n,
                       [](int32_t x, int32_t y) BATON_LOOP { return x & y; });
    case ElementFunction::kOr:
      return BinaryInt(a, b, to, n,
                       [](int32_t x, int32_t y) BATON_LOOP { return x | y; });
    case ElementFunction::kFixedPointBy: {
      const int32_t none = 0;
      return FixedPoint(a, b, {&none, 0}, instruction.q, n, to);
    }
    case ElementFunction::kFixedPoint: {
      const int32_t factor = static_cast<int32_t>(instruction.p);
      const int32_t none = 0;
      return FixedPoint(a, {&factor, 0}, {&none, 0}, instruction.q, n, to);
    }
    case ElementFunction::kAdd:
      return Binary(a, b, to, n,
                    [](auto x, auto y) BATON_LOOP { return x + y; });
    case ElementFunction::kSubtract:
      return Binary(a, b, to, n,
                    [](auto x, auto y) BATON_LOOP { return x - y; });
    case ElementFunction::kMultiply:
      return Binary(a, b, to, n,
                    [](auto x, auto y) BATON_LOOP { return x * y; });
    case ElementFunction::kDivide:
      return Binary(a, b, to, n,
                    [](auto x, auto y) BATON_LOOP { return x / y; });
    case ElementFunction::kMaximum:
      return Binary(a, b, to, n, [](float x, float y) BATON_LOOP {
        return x > y || x != x ? x : y;
      });
    case ElementFunction::kMinimum:
      return Binary(a, b, to, n, [](float x, float y) BATON_LOOP {
        return x < y || x != x ? x : y;
      });
    case ElementFunction::kPrelu:
      return Binary(a, b, to, n, [](float value, float slope) BATON_LOOP {
        return value > 0 ? value : value * slope;
      });
    case ElementFunction::kToInt:
      return internal::ConvertRun(static_cast<const float*>(a.data), n,
                                  reinterpret_cast<int32_t*>(to));
    case ElementFunction::kToFloat:
      return internal::ConvertRun(static_cast<const int32_t*>(a.data), n, to);
    case ElementFunction::kWrapUint8:
    case ElementFunction::kWrapInt8:
    case ElementFunction::kToBool:
    case ElementFunction::kNot:
    case ElementFunction::kClipInt:
      return UnaryInt(instruction, static_cast<const int32_t*>(a.data), n,
                      reinterpret_cast<int32_t*>(to));
    default:
      return Unary(instruction, static_cast<const float*>(a.data), n, to);
  }
}

// Writes n elements of an operand from element `begin` of the result on.
template <typename T>
void Spread(const ElementProgram& program, const int64_t* strides,
            const T* operand, int64_t begin, int64_t n, T* to) {
  const int32_t last = program.num_dims - 1;
  int64_t index[kMaxElementDims];
  int64_t rest = begin;
  int64_t offset = 0;
  for (int32_t d = last; d >= 0; --d) {
    index[d] = rest % program.dims[d];
    rest /= program.dims[d];
    offset += index[d] * strides[d];
  }
  const int64_t inner = program.dims[last];
  const int64_t step = strides[last];
  while (n > 0) {
    const int64_t count = std::min(n, inner - index[last]);
    if (step == 1 && inner == 16 && index[last] == 0 && last > 0 &&
        strides[last - 1] == 0) {
      // The channels of a block, again for each position.
      const int64_t rows =
          std::min(n / 16, program.dims[last - 1] - index[last - 1]);
      const T* const from = operand + offset;
      for (int64_t r = 0; r < rows; ++r, to += 16) {
        std::memcpy(to, from, 16 * sizeof(T));
      }
      n -= rows * 16;
      if (n == 0) return;
      if (rows > 0) {
        index[last - 1] += rows - 1;
        for (int32_t d = last - 1; d >= 0; --d) {
          offset += strides[d];
          if (++index[d] < program.dims[d]) break;
          offset -= strides[d] * program.dims[d];
          index[d] = 0;
        }
        continue;
      }
    }
    if (step == 0) {
      std::fill_n(to, count, operand[offset]);
    } else if (step == 1) {
      std::memcpy(to, operand + offset, static_cast<size_t>(count) * sizeof(T));
    } else {
      for (int64_t i = 0; i < count; ++i) to[i] = operand[offset + i * step];
    }
    to += count;
    n -= count;
    if (n == 0) return;
    offset -= index[last] * step;
    index[last] = 0;
    for (int32_t d = last - 1; d >= 0; --d) {
      offset += strides[d];
      if (++index[d] < program.dims[d]) break;
      offset -= strides[d] * program.dims[d];
      index[d] = 0;
    }
  }
}

// Converts n elements of an operand from element `first` on.
void ConvertOperand(ElementOperand kind, const void* operand, int64_t first,
                    int64_t n, float* to) {
  switch (kind) {
    case ElementOperand::kInt32:
      return internal::ConvertRun(static_cast<const int32_t*>(operand) + first,
                                  n, to);
    case ElementOperand::kUint8:
      return internal::ConvertRun(static_cast<const uint8_t*>(operand) + first,
                                  n, to);
    case ElementOperand::kInt8:
      return internal::ConvertRun(static_cast<const int8_t*>(operand) + first,
                                  n, to);
    case ElementOperand::kHalf:
      return internal::WidenHalves(
          DType::Float(16), static_cast<const uint16_t*>(operand) + first, n,
          to);
    case ElementOperand::kBFloat:
      return internal::WidenHalves(
          DType::BFloat(16), static_cast<const uint16_t*>(operand) + first, n,
          to);
    default:
      return;
  }
}

// Spreads n bytes of an operand, as int32.
void SpreadBytes(const ElementProgram& program, int32_t i, const void* operand,
                 int64_t begin, int64_t n, uint8_t* bytes, int32_t* to) {
  const int64_t* const strides = program.strides + i * kMaxElementDims;
  const uint8_t* from = static_cast<const uint8_t*>(operand);
  if (program.num_dims == 1 && strides[0] == 1) {
    from += begin;
  } else {
    Spread(program, strides, from, begin, n, bytes);
    from = bytes;
  }
  switch (program.operands[i]) {
    case ElementOperand::kSignedBytes:
      return internal::MapRun<kMemoryBound>(
          reinterpret_cast<const int8_t*>(from), n, to,
          [](int8_t v) BATON_LOOP { return int32_t{v}; });
    case ElementOperand::kBools:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](uint8_t v) BATON_LOOP { return v != 0 ? 1 : 0; });
    default:
      return internal::MapRun<kMemoryBound>(
          from, n, to, [](uint8_t v) BATON_LOOP { return int32_t{v}; });
  }
}

void ConvertResult(ElementResult type, const float* from, int64_t n,
                   void* result, int64_t first) {
  switch (type) {
    case ElementResult::kInt32:
      return internal::ConvertRun(from, n,
                                  static_cast<int32_t*>(result) + first);
    case ElementResult::kUint8:
      return internal::ConvertRun(from, n,
                                  static_cast<uint8_t*>(result) + first);
    case ElementResult::kInt8:
      return internal::ConvertRun(from, n,
                                  static_cast<int8_t*>(result) + first);
    case ElementResult::kHalf:
      return internal::NarrowToHalves(DType::Float(16), from, n,
                                      static_cast<uint16_t*>(result) + first);
    case ElementResult::kBFloat:
      return internal::NarrowToHalves(DType::BFloat(16), from, n,
                                      static_cast<uint16_t*>(result) + first);
    case ElementResult::kLowByte:
      return internal::MapRun<kMemoryBound>(
          reinterpret_cast<const uint32_t*>(from), n,
          static_cast<uint8_t*>(result) + first,
          [](uint32_t v) BATON_LOOP { return static_cast<uint8_t>(v); });
    case ElementResult::kWords:
      return;
  }
}

}  // namespace

void RunElementProgram(const ElementProgram& program,
                       const void* const* operands, void* result,
                       void* workspace, int64_t begin, int64_t end) {
  float* const registers = static_cast<float*>(workspace);
  float* const spare = registers + program.num_registers * kElementTile;
  const int32_t last = program.num_instructions - 1;
  for (int64_t tile = begin; tile < end; ++tile) {
    const int64_t first = tile * kElementTile;
    const int64_t n = std::min(kElementTile, program.num_elements - first);
    const bool is_direct = program.result == ElementResult::kWords;
    float* const out =
        is_direct ? static_cast<float*>(result) + first : spare + kElementTile;
    for (int32_t i = 0; i < program.num_operands; ++i) {
      float* const to = registers + program.operand_registers[i] * kElementTile;
      switch (program.operands[i]) {
        case ElementOperand::kFull:
        case ElementOperand::kScalar:
          break;
        case ElementOperand::kBroadcast:
          Spread(program, program.strides + i * kMaxElementDims,
                 static_cast<const float*>(operands[i]), first, n, to);
          break;
        case ElementOperand::kBytes:
        case ElementOperand::kSignedBytes:
        case ElementOperand::kBools:
          SpreadBytes(program, i, operands[i], first, n,
                      reinterpret_cast<uint8_t*>(spare),
                      reinterpret_cast<int32_t*>(to));
          break;
        default:
          ConvertOperand(program.operands[i], operands[i], first, n, to);
      }
    }
    const auto value = [&](int16_t v) -> Run {
      if (v >= program.num_operands) {
        return {
            registers + program.instructions[v - program.num_operands].target *
                            kElementTile,
            1};
      }
      switch (program.operands[v]) {
        case ElementOperand::kFull:
          return {static_cast<const float*>(operands[v]) + first, 1};
        case ElementOperand::kScalar:
          return {static_cast<const float*>(operands[v]), 0};
        default:
          return {registers + program.operand_registers[v] * kElementTile, 1};
      }
    };
    for (int32_t i = 0; i <= last; ++i) {
      const ElementInstruction& instruction = program.instructions[i];
      float* const to =
          i == last ? out : registers + instruction.target * kElementTile;
      Run a = value(instruction.a);
      const int num_args = NumArgs(instruction.function);
      const Run b = num_args > 1 ? value(instruction.b) : a;
      if (instruction.function == ElementFunction::kSelect) {
        Select(a, b, value(instruction.c), n, to);
        continue;
      }
      const bool is_quantization =
          instruction.function >= ElementFunction::kQuantize &&
          instruction.function <= ElementFunction::kDequantizeInt;
      const bool needs_all =
          num_args == 1 || is_quantization ||
          instruction.function == ElementFunction::kFixedPointBy ||
          instruction.function == ElementFunction::kFixedPointByShift;
      if (needs_all && a.step == 0) {
        // A word of either type.
        std::fill_n(reinterpret_cast<uint32_t*>(spare), n,
                    *static_cast<const uint32_t*>(a.data));
        a = {spare, 1};
      } else if (a.data == to &&
                 (instruction.function == ElementFunction::kExp ||
                  instruction.function == ElementFunction::kLog ||
                  instruction.function == ElementFunction::kPower)) {
        std::memcpy(spare, a.data, static_cast<size_t>(n) * sizeof(float));
        a.data = spare;
      }
      if (is_quantization) {
        Quantize(instruction, a, b, value(instruction.c), n, to);
      } else if (instruction.function == ElementFunction::kFixedPointByShift) {
        FixedPoint(a, b, value(instruction.c), instruction.q, n, to);
      } else {
        Compute(instruction, a, b, to, n);
      }
    }
    if (!is_direct) ConvertResult(program.result, out, n, result, first);
  }
}

}  // namespace baton::kernels
