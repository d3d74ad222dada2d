// Tensors: dense, row-major, immutable values that share their buffer.
//
// Copying a Tensor copies a pointer, never the elements. Elements are written
// before the tensor exists, through a MutableTensor:
//
//   BATON_ASSIGN_OR_RETURN(MutableTensor m,
//                          MutableTensor::Create(DType::Float(32), {2, 3}));
//   m.span<float>()[0] = 1.0f;
//   Tensor t = std::move(m).Freeze();

#ifndef BATON_BASE_TENSOR_H_
#define BATON_BASE_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"

namespace baton {

using TensorShape = absl::InlinedVector<int64_t, 6>;

// The number of elements of `shape`; an error if a dimension is negative or if
// the elements of `dtype` would not fit in an int64 of bytes.
absl::StatusOr<int64_t> NumElements(DType dtype,
                                    absl::Span<const int64_t> shape);

// A dense tensor; see the top of this file.
class Tensor {
 public:
  // A float32 scalar, zero.
  Tensor();

  // A tensor of rank 0.
  template <typename T>
  static Tensor Scalar(T value);
  // A rank-0 tensor of `dtype` (storable) with `value` converted to it.
  static Tensor ScalarOf(DType dtype, double value);
  // Copies `values`; their number must be the number of elements of `shape`.
  template <typename T>
  static absl::StatusOr<Tensor> FromValues(absl::Span<const int64_t> shape,
                                           absl::Span<const T> values);
  // Every element is zero. Takes no physical memory until elements are read.
  static absl::StatusOr<Tensor> Zeros(DType dtype,
                                      absl::Span<const int64_t> shape);
  static absl::StatusOr<Tensor> Ones(DType dtype,
                                     absl::Span<const int64_t> shape);
  // Uses `data` without copying it; `owner` keeps it alive (a mapped file, a
  // larger buffer). `data` must be aligned to the element size and hold
  // exactly the tensor.
  static absl::StatusOr<Tensor> FromBuffer(DType dtype,
                                           absl::Span<const int64_t> shape,
                                           absl::string_view data,
                                           std::shared_ptr<const void> owner);
  // As FromBuffer, for `data` at any address, such as the weights of most ONNX
  // files. data(), span() and what uses them copy the elements to aligned
  // memory when they are first called, once for all tensors that share the
  // buffer; bytes() copies nothing. With `is_mapped`, `data` is in a mapped
  // file, whose pages are released as they are copied. A copy without memory
  // throws std::bad_alloc (out_of_memory.h).
  static absl::StatusOr<Tensor> FromUnaligned(DType dtype,
                                              absl::Span<const int64_t> shape,
                                              absl::string_view data,
                                              std::shared_ptr<const void> owner,
                                              bool is_mapped);

  DType dtype() const { return dtype_; }
  absl::Span<const int64_t> shape() const { return shape_; }
  int rank() const { return static_cast<int>(shape_.size()); }
  int64_t num_elements() const { return num_elements_; }
  int64_t byte_size() const { return num_elements_ * dtype_.bytes(); }

  // The elements, row-major. T must be the C++ type of dtype().
  template <typename T>
  absl::Span<const T> span() const;
  const void* data() const { return is_aligned_ ? data_.get() : AlignedCopy(); }
  // The bytes of the elements, at any address.
  absl::string_view bytes() const {
    return {static_cast<const char*>(data_.get()),
            static_cast<size_t>(byte_size())};
  }

  // Element `i` (row-major), converted to double or to int64.
  double AtAsDouble(int64_t i) const;
  int64_t AtAsInt64(int64_t i) const;

  // A tensor with the same elements and the shape `shape`, which must have as
  // many elements. Shares the buffer.
  absl::StatusOr<Tensor> Reshaped(absl::Span<const int64_t> shape) const;

  // A tensor of `shape` with the elements from number `begin` on, which must be
  // there. Shares the buffer.
  absl::StatusOr<Tensor> Part(int64_t begin,
                              absl::Span<const int64_t> shape) const;

  // Same dtype, shape and bytes (so NaN equals NaN, and 0 differs from -0).
  friend bool operator==(const Tensor& a, const Tensor& b);
  friend bool operator!=(const Tensor& a, const Tensor& b) { return !(a == b); }

  // True if the elements of both start at the same address.
  bool SharesBufferWith(const Tensor& other) const {
    return data_ == other.data_;
  }

  // A 64-bit hash of dtype, shape and bytes; the same in every run.
  uint64_t Hash() const;

  // For messages: `float32[2, 3]`.
  std::string TypeToString() const;

 private:
  friend class MutableTensor;
  Tensor(DType dtype, TensorShape shape, int64_t num_elements,
         std::shared_ptr<const void> data, bool is_aligned = true)
      : dtype_(dtype),
        is_aligned_(is_aligned),
        shape_(std::move(shape)),
        num_elements_(num_elements),
        data_(std::move(data)) {}

  // The copy of a buffer that is not aligned.
  const void* AlignedCopy() const;

  DType dtype_;
  // If false, the deleter of `data_` has the aligned copy.
  bool is_aligned_ = true;
  TensorShape shape_;
  int64_t num_elements_;
  std::shared_ptr<const void> data_;
};

// A tensor under construction. No other tensor uses its buffer. The buffer is
// aligned to 64 bytes.
class MutableTensor {
 public:
  // A tensor of zeros. Errors: `dtype` is not storable, a dimension is
  // negative, there is not enough memory.
  static absl::StatusOr<MutableTensor> Create(DType dtype,
                                              absl::Span<const int64_t> shape);
  // As Create, but the elements are uninitialized: for callers that write every
  // element before Freeze. Zeroing a result that is written once takes as long
  // as a cheap kernel.
  static absl::StatusOr<MutableTensor> Uninitialized(
      DType dtype, absl::Span<const int64_t> shape);
  // Returns a writable view of the buffer of `tensor`; writing to it changes
  // the elements of `tensor`. Returns nullopt if another tensor shares the
  // buffer, or if no MutableTensor allocated it. A buffer that is not aligned
  // is copied first, and `tensor` keeps only the copy.
  static std::optional<MutableTensor> Reuse(Tensor& tensor);

  MutableTensor(MutableTensor&&) = default;
  MutableTensor& operator=(MutableTensor&&) = default;
  MutableTensor(const MutableTensor&) = delete;
  MutableTensor& operator=(const MutableTensor&) = delete;

  DType dtype() const { return dtype_; }
  absl::Span<const int64_t> shape() const { return shape_; }
  int64_t num_elements() const { return num_elements_; }
  int64_t byte_size() const { return num_elements_ * dtype_.bytes(); }
  void* data() { return data_.get(); }

  template <typename T>
  absl::Span<T> span();

  Tensor Freeze() &&;

 private:
  static absl::StatusOr<MutableTensor> Allocate(
      DType dtype, absl::Span<const int64_t> shape,
      void* (*allocate)(size_t bytes));

  MutableTensor(DType dtype, TensorShape shape, int64_t num_elements,
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

// Implementation details below.

template <typename T>
absl::Span<const T> Tensor::span() const {
  // Parentheses: braces would list-initialize a Span<const bool>.
  return absl::Span<const T>(static_cast<const T*>(data()),
                             static_cast<size_t>(num_elements_));
}

template <typename T>
absl::Span<T> MutableTensor::span() {
  return absl::Span<T>(static_cast<T*>(data()),
                       static_cast<size_t>(num_elements_));
}

template <typename T>
Tensor Tensor::Scalar(T value) {
  auto data = std::make_shared<T>(value);
  return Tensor(DType::Of<T>(), {}, 1, std::move(data));
}

template <typename T>
absl::StatusOr<Tensor> Tensor::FromValues(absl::Span<const int64_t> shape,
                                          absl::Span<const T> values) {
  absl::StatusOr<MutableTensor> result =
      MutableTensor::Create(DType::Of<T>(), shape);
  if (!result.ok()) return result.status();
  if (result->num_elements() != static_cast<int64_t>(values.size())) {
    return absl::InvalidArgumentError("as many values as elements expected");
  }
  if (!values.empty()) {
    std::memcpy(result->data(), values.data(), values.size() * sizeof(T));
  }
  return std::move(*result).Freeze();
}

}  // namespace baton

#endif  // BATON_BASE_TENSOR_H_
