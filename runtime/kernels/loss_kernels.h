// Loss functions. Floating dtypes only.

#ifndef BATON_RUNTIME_KERNELS_LOSS_KERNELS_H_
#define BATON_RUNTIME_KERNELS_LOSS_KERNELS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// The mean over the rows of -sum(log(x) * y), a scalar; of -sum(x * y) if
// `x_is_log`. Both are (rows, classes).
absl::StatusOr<Tensor> CrossEntropy(const Tensor& x, const Tensor& y,
                                    bool x_is_log);

enum class Reduction { kNone, kSum, kMean };
// -x[n, t, ...] * weights[t] for t = targets[n, ...]; 0 for t = ignore_index.
// kMean divides by the sum of the weights of the other targets.
absl::StatusOr<Tensor> NllLoss(const Tensor& x, const Tensor& targets,
                               const Tensor& weights, int64_t ignore_index,
                               Reduction reduction);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_LOSS_KERNELS_H_
