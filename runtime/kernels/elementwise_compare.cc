#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/elementwise_kernels.h"
#include "baton/runtime/kernels/internal/binary.h"
#include "baton/runtime/kernels/internal/binary_dtypes.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels {
namespace {

using internal::kMemoryBound;
using internal::MapBinary;

// Six comparisons are three questions.
enum class Question { kEqual, kLess, kLessOrEqual };

struct Comparison {
  Question question;
  // True if the question is about (y, x), and if the answer is the opposite.
  bool exchanged = false;
  bool negated = false;
};

// Compares tensors stored as T. A question about integers that another type or
// question answers has no loop: equality is that of unsigned ones, and order is
// kLess.
template <typename T>
absl::StatusOr<Tensor> CompareAs(absl::string_view name, Operand a, Operand b,
                                 const Comparison& c) {
  const auto map = [&](const auto& fn) {
    return internal::MapRuns(
        name, a, b, DType::Bool(),
        [fn, exchanged = c.exchanged,
         flip = c.negated ? 1 : 0](internal::BinaryRuns runs) {
          if (exchanged) {
            std::swap(runs.a, runs.b);
            std::swap(runs.a_step, runs.b_step);
            std::swap(runs.a_distance, runs.b_distance);
          }
          internal::ComputeRuns<T, uint8_t, kMemoryBound>(
              runs, [fn, flip](T x, T y) BATON_LOOP -> uint8_t {
                return static_cast<uint8_t>((fn(x, y) ? 1 : 0) ^ flip);
              });
        });
  };
  if constexpr (std::is_unsigned_v<T> || std::is_floating_point_v<T>) {
    if (c.question == Question::kEqual) {
      return map([](T x, T y) BATON_LOOP { return x == y; });
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (c.question == Question::kLessOrEqual) {
      return map([](T x, T y) BATON_LOOP { return x <= y; });
    }
  }
  return map([](T x, T y) BATON_LOOP { return x < y; });
}

// Bytes that stand for bool: c[0] ^ c[1] x ^ c[2] y ^ c[3] x y, each 0 or 1.
absl::StatusOr<Tensor> OfBools(absl::string_view name, Operand a, Operand b,
                               const std::array<uint8_t, 4>& c) {
  return MapBinary<uint8_t, uint8_t, kMemoryBound>(
      name, a, b, DType::Bool(),
      [c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3]](
          uint8_t left, uint8_t right) BATON_LOOP -> uint8_t {
        const uint8_t x = left != 0 ? 1 : 0;
        const uint8_t y = right != 0 ? 1 : 0;
        return static_cast<uint8_t>(c0 ^ (c1 & x) ^ (c2 & y) ^ (c3 & x & y));
      });
}

absl::StatusOr<Tensor> Compare(absl::string_view name, Operand a, Operand b,
                               Comparison c) {
  BATON_RETURN_IF_ERROR(internal::CheckSameDType(name, *a, *b));
  const DType dtype = a->dtype();
  if (dtype.is_bool()) {
    // x == y is 1 ^ x ^ y, x < y is y ^ x y, x <= y is 1 ^ x ^ x y.
    std::array<uint8_t, 4> terms = {1, 1, 1, 0};
    if (c.question == Question::kLess) terms = {0, 0, 1, 1};
    if (c.question == Question::kLessOrEqual) terms = {1, 1, 0, 1};
    if (c.exchanged) std::swap(terms[1], terms[2]);
    if (c.negated) terms[0] ^= 1;
    return OfBools(name, a, b, terms);
  }
  if (dtype.is_half()) {
    BATON_ASSIGN_OR_RETURN(const Tensor x, internal::WidenHalf(name, *a));
    BATON_ASSIGN_OR_RETURN(const Tensor y, internal::WidenHalf(name, *b));
    return CompareAs<float>(name, x, y, c);
  }
  if (!dtype.is_integral()) {
    return internal::VisitFloat(
        name, dtype, [&]<typename T>() { return CompareAs<T>(name, a, b, c); });
  }
  // For integers, x <= y is not y < x.
  if (c.question == Question::kLessOrEqual) {
    c = {Question::kLess, !c.exchanged, !c.negated};
  }
  return internal::VisitSize(name, dtype, [&]<typename U>() {
    if (c.question == Question::kEqual || dtype.is_uint()) {
      return CompareAs<U>(name, a, b, c);
    }
    return CompareAs<std::make_signed_t<U>>(name, a, b, c);
  });
}

absl::StatusOr<Tensor> Logical(absl::string_view name, Operand a, Operand b,
                               const std::array<uint8_t, 4>& c) {
  for (const Tensor* x : {&*a, &*b}) {
    if (!x->dtype().is_bool()) {
      return internal::UnsupportedDType(name, x->dtype());
    }
  }
  return OfBools(name, a, b, c);
}

}  // namespace

absl::StatusOr<Tensor> Equal(Operand a, Operand b) {
  return Compare("equal", a, b, {Question::kEqual});
}

absl::StatusOr<Tensor> NotEqual(Operand a, Operand b) {
  return Compare("not_equal", a, b,
                 {Question::kEqual, /*exchanged=*/false, /*negated=*/true});
}

absl::StatusOr<Tensor> Less(Operand a, Operand b) {
  return Compare("less", a, b, {Question::kLess});
}

absl::StatusOr<Tensor> LessEqual(Operand a, Operand b) {
  return Compare("less_equal", a, b, {Question::kLessOrEqual});
}

absl::StatusOr<Tensor> Greater(Operand a, Operand b) {
  return Compare("greater", a, b, {Question::kLess, /*exchanged=*/true});
}

absl::StatusOr<Tensor> GreaterEqual(Operand a, Operand b) {
  return Compare("greater_equal", a, b,
                 {Question::kLessOrEqual, /*exchanged=*/true});
}

absl::StatusOr<Tensor> LogicalAnd(Operand a, Operand b) {
  return Logical("logical_and", a, b, {0, 0, 0, 1});
}

absl::StatusOr<Tensor> LogicalOr(Operand a, Operand b) {
  return Logical("logical_or", a, b, {0, 1, 1, 1});
}

absl::StatusOr<Tensor> LogicalXor(Operand a, Operand b) {
  return Logical("logical_xor", a, b, {0, 1, 1, 0});
}

}  // namespace baton::kernels
