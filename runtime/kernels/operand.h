// Operands of kernels that can compute in place.

#ifndef BATON_RUNTIME_KERNELS_OPERAND_H_
#define BATON_RUNTIME_KERNELS_OPERAND_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// A tensor that an elementwise kernel reads. If it is made from an rvalue, the
// caller no longer needs the tensor: the kernel may write its result over it,
// if no other tensor uses the buffer. Refers to the tensor, which must outlive
// the operand.
class Operand {
 public:
  Operand(const Tensor& tensor) : tensor_(&tensor) {}              // NOLINT
  Operand(Tensor&& tensor) : tensor_(&tensor), spare_(&tensor) {}  // NOLINT

  const Tensor& operator*() const { return *tensor_; }
  const Tensor* operator->() const { return tensor_; }

  // The tensor for writing, if that is allowed and it has this dtype and shape;
  // otherwise nullopt.
  std::optional<MutableTensor> Reuse(DType dtype,
                                     absl::Span<const int64_t> shape) const {
    if (spare_ == nullptr || spare_->dtype() != dtype ||
        spare_->shape() != shape) {
      return std::nullopt;
    }
    return MutableTensor::Reuse(*spare_);
  }

 private:
  const Tensor* tensor_;
  Tensor* spare_ = nullptr;
};

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_OPERAND_H_
