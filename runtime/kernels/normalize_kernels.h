// Normalizations. Floating dtypes only; half floats are computed in float32 or
// wider. Statistics are accumulated in double.

#ifndef BATON_RUNTIME_KERNELS_NORMALIZE_KERNELS_H_
#define BATON_RUNTIME_KERNELS_NORMALIZE_KERNELS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

struct NormParams {
  // The axis of the channels (batch_norm, instance_norm, group_norm) or the
  // axis that is normalized (layer_norm).
  int64_t axis = 1;
  double epsilon = 1e-5;
  bool center = true;  // Add beta.
  bool scale = true;   // Multiply by gamma.
};

// (x - mean) / sqrt(variance + epsilon) * gamma + beta. The four statistics
// have rank 1 and the extent of params.axis of `x`.
absl::StatusOr<Tensor> BatchNorm(const Tensor& x, const Tensor& gamma,
                                 const Tensor& beta, const Tensor& mean,
                                 const Tensor& variance,
                                 const NormParams& params);

// As BatchNorm with the mean and variance of `x` itself: along params.axis
// (LayerNorm); along all axes but the first and params.axis (InstanceNorm); as
// InstanceNorm, over `groups` equal parts of params.axis (GroupNorm). `gamma`
// and `beta` have rank 1 and the extent of params.axis.
absl::StatusOr<Tensor> LayerNorm(const Tensor& x, const Tensor& gamma,
                                 const Tensor& beta, const NormParams& params);
absl::StatusOr<Tensor> InstanceNorm(const Tensor& x, const Tensor& gamma,
                                    const Tensor& beta,
                                    const NormParams& params);
absl::StatusOr<Tensor> GroupNorm(const Tensor& x, const Tensor& gamma,
                                 const Tensor& beta, int64_t groups,
                                 const NormParams& params);

// exp(x) / sum(exp(x)), and its logarithm, along `axis`.
absl::StatusOr<Tensor> Softmax(const Tensor& x, int64_t axis);
absl::StatusOr<Tensor> LogSoftmax(const Tensor& x, int64_t axis);
// As both, of [outer, extent, inner] floats along the second dimension.
// Allocates nothing.
void SoftmaxInto(const float* x, int64_t outer, int64_t extent, int64_t inner,
                 bool log, float* y);

// x / sqrt(max(sum(x^2 over axes), epsilon)). If `axes` is empty, over all
// axes. Squares are added row-major over the axes in the order of `axes`: so
// that a pass which moves axes keeps the sum.
absl::StatusOr<Tensor> L2Normalize(const Tensor& x, double epsilon,
                                   const absl::InlinedVector<int64_t, 6>& axes);

struct LrnParams {
  int64_t size = 5;  // Odd.
  int64_t axis = 1;
  double bias = 2;
  double alpha = 1e-5;
  double beta = 0.75;
};

// x / (bias + alpha / size * (sum of x^2 over the `size` neighbours along
// `axis`, including x))^beta.
absl::StatusOr<Tensor> Lrn(const Tensor& x, const LrnParams& params);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_NORMALIZE_KERNELS_H_
