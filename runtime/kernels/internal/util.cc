#include "baton/runtime/kernels/internal/util.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels::internal {

absl::Status UnsupportedDType(absl::string_view kernel, DType dtype) {
  return Error(kernel, "unsupported dtype ", dtype.ToString());
}

std::string ShapeToString(absl::Span<const int64_t> shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), ")");
}

int64_t Product(absl::Span<const int64_t> shape) {
  int64_t product = 1;
  for (int64_t d : shape) {
    if (d == 0) return 0;
    product *= d;
  }
  return product;
}

absl::StatusOr<int> NormalizeAxis(absl::string_view kernel, int64_t axis,
                                  int rank) {
  if (axis < -rank || axis >= rank) {
    return Error(kernel, "axis ", axis, " is out of range for rank ", rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::Status CheckRank(absl::string_view kernel, absl::string_view what,
                       const Tensor& x, int rank) {
  if (x.rank() == rank) return absl::OkStatus();
  return Error(kernel, what, " must have rank ", rank, ", not ",
               x.TypeToString());
}

absl::Status CheckSameDType(absl::string_view kernel, const Tensor& a,
                            const Tensor& b) {
  if (a.dtype() == b.dtype()) return absl::OkStatus();
  return Error(kernel, "dtypes differ: ", a.TypeToString(), " and ",
               b.TypeToString());
}

absl::StatusOr<int64_t> CheckedAdd(absl::string_view kernel, int64_t a,
                                   int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) {
    return Error(kernel, "extent ", a, " + ", b, " is too large");
  }
  return result;
}

absl::StatusOr<int64_t> CheckedMul(absl::string_view kernel, int64_t a,
                                   int64_t b) {
  int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) {
    return Error(kernel, "extent ", a, " * ", b, " is too large");
  }
  return result;
}

AxisView ViewAround(absl::Span<const int64_t> shape, int axis) {
  const size_t k = static_cast<size_t>(axis);
  return {Product(shape.subspan(0, k)), shape[k],
          Product(shape.subspan(k + 1))};
}

}  // namespace baton::kernels::internal
