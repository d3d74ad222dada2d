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

  // An operand with the memory for the result: the kernel writes its result to
  // `destination` and returns a tensor that refers to it. Nothing is allocated
  // for up to 6 dimensions. Only kernels that use internal/binary.h or
  // internal/unary.h do this, and only for dtypes other than half floats.
  static Operand Into(const Tensor& tensor, void* destination) {
    Operand operand(tensor);
    operand.destination_ = destination;
    return operand;
  }

  const Tensor& operator*() const { return *tensor_; }
  const Tensor* operator->() const { return tensor_; }

  // Null if a kernel makes the memory of its result.
  void* destination() const { return destination_; }

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
  void* destination_ = nullptr;
};

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_OPERAND_H_
