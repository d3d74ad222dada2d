// Converts tensors between element types.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_CONVERT_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_CONVERT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels::internal {

// Converts the elements of `x` to `dtype`; returns `x` itself, sharing the
// buffer, if it has that dtype. Integers wrap. A float becomes an integer by
// truncation to int64 (or uint64 if `dtype` is that), saturating, with NaN as
// zero, and then wraps. Elements other than zero convert to true.
absl::StatusOr<Tensor> Convert(absl::string_view kernel, const Tensor& x,
                               DType dtype);

// Converts `n` elements as Convert does, between storable dtypes that differ
// and are no half floats.
void ConvertElements(DType from_type, const void* from, int64_t n,
                     DType to_type, void* to);

// Converts `n` elements as Convert does.
void ConvertRun(const int32_t* from, int64_t n, float* to);
void ConvertRun(const uint8_t* from, int64_t n, float* to);
void ConvertRun(const int8_t* from, int64_t n, float* to);
void ConvertRun(const float* from, int64_t n, int32_t* to);
void ConvertRun(const float* from, int64_t n, uint8_t* to);
void ConvertRun(const float* from, int64_t n, int8_t* to);

// Converts half floats to float32; returns `x` itself for other dtypes.
absl::StatusOr<Tensor> WidenHalf(absl::string_view kernel, const Tensor& x);

// Converts `n` half floats of `dtype` to float32, and back.
void WidenHalves(DType dtype, const uint16_t* from, int64_t n, float* to);
void NarrowToHalves(DType dtype, const float* from, int64_t n, uint16_t* to);

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_CONVERT_H_
