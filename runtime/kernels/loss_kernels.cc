#include "baton/runtime/kernels/loss_kernels.h"

#include <cmath>
#include <utility>

#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Error;

}  // namespace

absl::StatusOr<Tensor> CrossEntropy(const Tensor& x, const Tensor& y,
                                    bool x_is_log) {
  constexpr absl::string_view kKernel = "cross_entropy";
  if (x.rank() != 2 || x.shape() != y.shape() || !x.dtype().is_float()) {
    return Error(kKernel, "predictions ", x.TypeToString(), " and targets ",
                 y.TypeToString(), " do not fit");
  }
  double sum = 0;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const double value = x.AtAsDouble(i);
    sum += (x_is_log ? value : std::log(value)) * y.AtAsDouble(i);
  }
  return Tensor::ScalarOf(x.dtype(), -sum / static_cast<double>(x.shape()[0]));
}

absl::StatusOr<Tensor> NllLoss(const Tensor& x, const Tensor& targets,
                               const Tensor& weights, int64_t ignore_index,
                               Reduction reduction) {
  constexpr absl::string_view kKernel = "nll_loss";
  bool fits = x.rank() >= 2 && x.rank() == targets.rank() + 1 &&
              weights.rank() == 1 && weights.shape()[0] == x.shape()[1] &&
              x.shape()[0] == targets.shape()[0] && x.dtype().is_float();
  for (int i = 1; fits && i < targets.rank(); ++i) {
    fits = x.shape()[i + 1] == targets.shape()[i];
  }
  if (!fits) {
    return Error(kKernel, "predictions ", x.TypeToString(), ", targets ",
                 targets.TypeToString(), " and weights ",
                 weights.TypeToString(), " do not fit");
  }
  BATON_ASSIGN_OR_RETURN(
      MutableTensor losses,
      MutableTensor::Create(DType::Float(64), targets.shape()));
  const int64_t classes = x.shape()[1];
  const int64_t count = targets.num_elements();
  const int64_t inner = count == 0 ? 1 : count / targets.shape()[0];
  double sum = 0;
  double weight_sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t target = targets.AtAsInt64(i);
    if (target == ignore_index) continue;
    if (target < 0 || target >= classes) {
      return Error(kKernel, "target ", target, " is none of the ", classes,
                   " classes");
    }
    const double weight = weights.AtAsDouble(target);
    const double loss =
        -weight *
        x.AtAsDouble((i / inner * classes + target) * inner + i % inner);
    losses.span<double>()[i] = loss;
    sum += loss;
    weight_sum += weight;
  }
  if (reduction == Reduction::kNone) {
    BATON_ASSIGN_OR_RETURN(MutableTensor result,
                           MutableTensor::Create(x.dtype(), targets.shape()));
    if (x.dtype() == DType::Float(64)) return std::move(losses).Freeze();
    if (x.dtype() != DType::Float(32)) {
      return internal::UnsupportedDType(kKernel, x.dtype());
    }
    for (int64_t i = 0; i < count; ++i) {
      result.span<float>()[i] = static_cast<float>(losses.span<double>()[i]);
    }
    return std::move(result).Freeze();
  }
  return Tensor::ScalarOf(
      x.dtype(), reduction == Reduction::kMean ? sum / weight_sum : sum);
}

}  // namespace baton::kernels
