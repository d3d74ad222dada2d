// Functions of the elements of float16 tensors, in a source of their own: they
// take long to compile.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_FLOAT16_FUNCTIONS_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_FLOAT16_FUNCTIONS_H_

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels::internal::float16 {

// `x` is float16. Each is as in runtime/kernels/elementwise_kernels.h.
absl::StatusOr<Tensor> Acos(const Tensor& x);
absl::StatusOr<Tensor> Acosh(const Tensor& x);
absl::StatusOr<Tensor> Asin(const Tensor& x);
absl::StatusOr<Tensor> Asinh(const Tensor& x);
absl::StatusOr<Tensor> Atan(const Tensor& x);
absl::StatusOr<Tensor> Atanh(const Tensor& x);
absl::StatusOr<Tensor> Cos(const Tensor& x);
absl::StatusOr<Tensor> Cosh(const Tensor& x);
absl::StatusOr<Tensor> Erf(const Tensor& x);
absl::StatusOr<Tensor> Exp(const Tensor& x);
absl::StatusOr<Tensor> Log(const Tensor& x);
absl::StatusOr<Tensor> Log10(const Tensor& x);
absl::StatusOr<Tensor> Log2(const Tensor& x);
absl::StatusOr<Tensor> Rsqrt(const Tensor& x);
absl::StatusOr<Tensor> Sigmoid(const Tensor& x);
absl::StatusOr<Tensor> Sin(const Tensor& x);
absl::StatusOr<Tensor> Sinh(const Tensor& x);
absl::StatusOr<Tensor> Sqrt(const Tensor& x);
absl::StatusOr<Tensor> Tan(const Tensor& x);
absl::StatusOr<Tensor> Tanh(const Tensor& x);

}  // namespace baton::kernels::internal::float16

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_FLOAT16_FUNCTIONS_H_
