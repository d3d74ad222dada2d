// Selects the loops of internal/binary.h by element type.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_BINARY_DTYPES_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_BINARY_DTYPES_H_

#include <cstdint>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/binary.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels::internal {

// The widest clone of a cheap loop over elements of T. AVX2 has no instruction
// for most of what is computed with integers of 64 bits. Unsigned integers and
// int16_t are rare.
template <typename T>
constexpr Vectors kWidestFor =
    std::is_floating_point_v<T> || std::is_same_v<T, int8_t> ||
            std::is_same_v<T, int32_t>
        ? kMemoryBound
    : std::is_same_v<T, int64_t> ? Vectors::k512
                                 : Vectors::k128;

// The result of fn(a, b). Half floats are converted to float32 for `fn`, and
// its result is rounded back.
absl::StatusOr<Tensor> InFloat(
    absl::string_view name, Operand a, Operand b,
    absl::FunctionRef<absl::StatusOr<Tensor>(Operand a, Operand b)> fn);

// Calls fn<U>() with the unsigned integer that has the size of the elements of
// an integer dtype.
template <typename Fn>
absl::StatusOr<Tensor> VisitSize(absl::string_view name, DType dtype,
                                 const Fn& fn) {
  if (!dtype.is_integral() || !dtype.IsStorable()) {
    return UnsupportedDType(name, dtype);
  }
  switch (dtype.bytes()) {
    case 1:
      return fn.template operator()<uint8_t>();
    case 2:
      return fn.template operator()<uint16_t>();
    case 4:
      return fn.template operator()<uint32_t>();
    default:
      return fn.template operator()<uint64_t>();
  }
}

// fn(T, T) -> T over float32, float64 and half floats.
template <typename Fn>
absl::StatusOr<Tensor> MapReal(absl::string_view name, Operand a, Operand b,
                               const Fn& fn) {
  BATON_RETURN_IF_ERROR(CheckSameDType(name, *a, *b));
  return InFloat(name, a, b, [&](Operand x, Operand y) {
    return VisitFloat(name, x->dtype(), [&]<typename T>() {
      return MapBinary<T, T, kMemoryBound>(name, x, y, x->dtype(), fn);
    });
  });
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_BINARY_DTYPES_H_
