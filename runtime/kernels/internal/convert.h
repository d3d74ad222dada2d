// Conversion between element types.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_CONVERT_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_CONVERT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels::internal {

// `x` with its elements converted to `dtype`; `x` itself, sharing the buffer,
// if it has that dtype. Integers wrap. A float becomes an integer by
// truncation to int64 (or uint64 if the target is that), saturating, NaN as
// zero, and then wraps. Conversion to bool is true for elements other than
// zero.
absl::StatusOr<Tensor> Convert(absl::string_view kernel, const Tensor& x,
                               DType dtype);

// float32 for the half floats, else `x` itself.
absl::StatusOr<Tensor> WidenHalf(absl::string_view kernel, const Tensor& x);

// Converts `n` half floats of `dtype` to float32, and back.
void WidenHalves(DType dtype, const uint16_t* from, int64_t n, float* to);
void NarrowToHalves(DType dtype, const float* from, int64_t n, uint16_t* to);

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_CONVERT_H_
