#include "baton/runtime/kernels/internal/unary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels::internal {

absl::StatusOr<Tensor> MapInPlace(Operand x, DType dtype, Run run) {
  const void* const from = x->data();
  const int64_t n = x->num_elements();
  if (void* const destination = x.destination(); destination != nullptr) {
    run(from, n, destination);
    return Tensor::FromBuffer(dtype, x->shape(),
                              {static_cast<const char*>(destination),
                               static_cast<size_t>(n * dtype.bytes())},
                              nullptr);
  }
  std::optional<MutableTensor> result = x.Reuse(dtype, x->shape());
  if (!result.has_value()) {
    BATON_ASSIGN_OR_RETURN(result,
                           MutableTensor::Uninitialized(dtype, x->shape()));
  }
  run(from, n, result->data());
  return std::move(*result).Freeze();
}

absl::StatusOr<Tensor> MapFloats(absl::string_view name, const Tensor& x,
                                 RunOf<float> of_float,
                                 RunOf<double> of_double) {
  const DType dtype = x.dtype();
  const bool is_double = dtype == DType::Float(64);
  if (!is_double && dtype != DType::Float(32) && dtype != DType::BFloat(16)) {
    return UnsupportedDType(name, dtype);
  }
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(dtype, x.shape()));
  const int64_t n = x.num_elements();
  if (is_double) {
    of_double(static_cast<const double*>(x.data()), n,
              static_cast<double*>(result.data()));
  } else if (dtype == DType::Float(32)) {
    of_float(static_cast<const float*>(x.data()), n,
             static_cast<float*>(result.data()));
  } else {
    const auto* const from = static_cast<const uint16_t*>(x.data());
    auto* const to = static_cast<uint16_t*>(result.data());
    constexpr int64_t kBlock = 1024;
    float arguments[kBlock];
    float values[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t some = std::min(kBlock, n - i);
      WidenHalves(dtype, from + i, some, arguments);
      of_float(arguments, some, values);
      NarrowToHalves(dtype, values, some, to + i);
    }
  }
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> MapStoredHalves(const Tensor& x, RunOf<uint16_t> run) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Uninitialized(x.dtype(), x.shape()));
  run(static_cast<const uint16_t*>(x.data()), x.num_elements(),
      static_cast<uint16_t*>(result.data()));
  return std::move(result).Freeze();
}

}  // namespace baton::kernels::internal
