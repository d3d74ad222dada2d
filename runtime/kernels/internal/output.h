// Memory for the result of a kernel that writes every element.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_OUTPUT_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"

namespace baton::kernels::internal {

// As MutableTensor, but its elements start as whatever the memory held: a
// kernel writes all of them before Freeze. Zeroing a result that is written
// once takes as long as a cheap kernel.
class OutputTensor {
 public:
  // An error if `dtype` is not storable, a dimension is negative, or there is
  // no memory.
  static absl::StatusOr<OutputTensor> Create(DType dtype,
                                             absl::Span<const int64_t> shape);

  DType dtype() const { return dtype_; }
  absl::Span<const int64_t> shape() const { return shape_; }
  int64_t num_elements() const { return num_elements_; }
  // Aligned to 64 bytes.
  void* data() { return data_.get(); }

  template <typename T>
  absl::Span<T> span() {
    return absl::Span<T>(static_cast<T*>(data()),
                         static_cast<size_t>(num_elements_));
  }

  Tensor Freeze() &&;

 private:
  OutputTensor(DType dtype, TensorShape shape, int64_t num_elements,
               std::shared_ptr<void> data)
      : dtype_(dtype),
        shape_(std::move(shape)),
        num_elements_(num_elements),
        data_(std::move(data)) {}

  DType dtype_;
  TensorShape shape_;
  int64_t num_elements_;
  std::shared_ptr<void> data_;
};

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_OUTPUT_H_
