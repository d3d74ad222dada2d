// Checks and small helpers for all kernels.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_UTIL_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_UTIL_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels::internal {

// An InvalidArgumentError that starts with the name of the kernel.
template <typename... Args>
absl::Status Error(absl::string_view kernel, const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(kernel, ": ", args...));
}

absl::Status UnsupportedDType(absl::string_view kernel, DType dtype);

// `(1, 2, 3)`.
std::string ShapeToString(absl::Span<const int64_t> shape);

inline TensorShape ToShape(absl::Span<const int64_t> shape) {
  return TensorShape(shape.begin(), shape.end());
}

// The product of `shape`, which must be the shape (or a part of the shape) of
// an existing tensor, so that it cannot overflow.
int64_t Product(absl::Span<const int64_t> shape);

// Maps an axis in [-rank, rank) to [0, rank).
absl::StatusOr<int> NormalizeAxis(absl::string_view kernel, int64_t axis,
                                  int rank);

absl::Status CheckRank(absl::string_view kernel, absl::string_view what,
                       const Tensor& x, int rank);
absl::Status CheckSameDType(absl::string_view kernel, const Tensor& a,
                            const Tensor& b);

// Sum and product; an error on overflow.
absl::StatusOr<int64_t> CheckedAdd(absl::string_view kernel, int64_t a,
                                   int64_t b);
absl::StatusOr<int64_t> CheckedMul(absl::string_view kernel, int64_t a,
                                   int64_t b);

// A tensor viewed as [outer, extent, inner] around one axis.
struct AxisView {
  int64_t outer;
  int64_t extent;
  int64_t inner;
};
AxisView ViewAround(absl::Span<const int64_t> shape, int axis);

// The unsigned type in which arithmetic on T wraps without promotion to int.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < sizeof(uint32_t)), uint32_t,
                                    std::make_unsigned_t<T>>;

// The C++ type for reading the elements of a tensor of T. A bool may be stored
// as any byte, so it is read as uint8_t.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

template <typename T>
const Stored<T>* Data(const Tensor& x) {
  return static_cast<const Stored<T>*>(x.data());
}

template <typename Fn>
using VisitResult = decltype(std::declval<Fn&>().template operator()<float>());

// Calls `fn.template operator()<T>()` for float32, float64 and integers of 8 to
// 64 bits and returns its result; UnsupportedDType otherwise (half floats and
// bool).
template <typename Fn>
VisitResult<Fn> VisitNumeric(absl::string_view kernel, DType dtype, Fn&& fn) {
  if (!dtype.IsStorable() || dtype.is_bool() || dtype.is_half()) {
    return UnsupportedDType(kernel, dtype);
  }
  switch (dtype.code()) {
    case DType::Code::kFloat:
      if (dtype.bits() == 64) return fn.template operator()<double>();
      return fn.template operator()<float>();
    case DType::Code::kInt:
      if (dtype.bits() == 8) return fn.template operator()<int8_t>();
      if (dtype.bits() == 16) return fn.template operator()<int16_t>();
      if (dtype.bits() == 64) return fn.template operator()<int64_t>();
      return fn.template operator()<int32_t>();
    default:
      if (dtype.bits() == 8) return fn.template operator()<uint8_t>();
      if (dtype.bits() == 16) return fn.template operator()<uint16_t>();
      if (dtype.bits() == 64) return fn.template operator()<uint64_t>();
      return fn.template operator()<uint32_t>();
  }
}

// As VisitNumeric, for float32 and float64 only.
template <typename Fn>
VisitResult<Fn> VisitFloat(absl::string_view kernel, DType dtype, Fn&& fn) {
  if (dtype == DType::Float(32)) return fn.template operator()<float>();
  if (dtype == DType::Float(64)) return fn.template operator()<double>();
  return UnsupportedDType(kernel, dtype);
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_UTIL_H_
