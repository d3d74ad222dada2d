#include "baton/base/tensor.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/limits.h"
#include "baton/base/pages.h"
#include "baton/base/status_macros.h"

namespace baton {
namespace {

constexpr int64_t kAlignment = 64;

// Blocks from this size on are put on huge pages. The first access to a page
// costs a fault: 0.1 to 0.5 us, and 10 us in some virtual machines, which for
// 4 KiB is longer than filling it. Linux gives pages of 2 MiB to those who ask;
// where it does not, nothing changes.
constexpr size_t kMinHugePageBytes = size_t{4} << 20;

// Frees the buffer of a MutableTensor. The type tells such buffers from those
// that tensors were given, which may be read-only.
struct FreeBlock {
  void operator()(void* block) const { std::free(block); }
};

// `bytes` bytes, of which the address is aligned to kAlignment, from a block of
// `allocate`. Null if there is no memory.
std::shared_ptr<void> AllocateAligned(int64_t bytes,
                                      void* (*allocate)(size_t bytes)) {
  if (bytes > std::numeric_limits<int64_t>::max() - kAlignment) return nullptr;
  char* const block =
      static_cast<char*>(allocate(static_cast<size_t>(bytes + kAlignment)));
  if (block == nullptr) return nullptr;
  if (static_cast<size_t>(bytes) >= kMinHugePageBytes) {
    AdviseWholePages(block, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(block);
  char* const aligned =
      block + (kAlignment - address % kAlignment) % kAlignment;
  std::shared_ptr<void> owner(block, FreeBlock());
  return std::shared_ptr<void>(std::move(owner), aligned);
}

// A buffer that is not aligned, and its aligned copy once that is made.
struct UnalignedBuffer {
  absl::string_view bytes;
  std::shared_ptr<const void> owner;
  bool is_mapped = false;
  std::mutex mutex;  // for making the copy
  std::shared_ptr<void> copy;
  std::atomic<const void*> copied = nullptr;  // the data of `copy`

  const void* Copy() {
    if (const void* known = copied.load(std::memory_order_acquire)) {
      return known;
    }
    const std::lock_guard<std::mutex> lock(mutex);
    if (copy == nullptr) {
      copy = AllocateAligned(static_cast<int64_t>(bytes.size()), std::malloc);
      if (copy == nullptr) throw std::bad_alloc();
      // Pages of a file are released piece by piece, so that a large tensor is
      // not in memory twice. They are read again if they are used again.
      constexpr size_t kPiece = size_t{4} << 20;
      for (size_t at = 0; at < bytes.size(); at += kPiece) {
        const absl::string_view piece = bytes.substr(at, kPiece);
        std::memcpy(static_cast<char*>(copy.get()) + at, piece.data(),
                    piece.size());
        if (is_mapped) {
          AdviseWholePages(piece.data(), piece.size(), MADV_DONTNEED);
        }
      }
      copied.store(copy.get(), std::memory_order_release);
    }
    return copy.get();
  }
};

// The deleter of the data of tensors that are not aligned.
struct ReleaseUnaligned {
  std::shared_ptr<UnalignedBuffer> buffer;
  void operator()(const void* /*data*/) { buffer = nullptr; }
};

// Mixes 8 bytes at a time; stable across runs, unlike absl::Hash.
uint64_t HashBytes(const char* data, size_t size, uint64_t seed) {
  constexpr uint64_t kMultiplier = 0x9ddfea08eb382d69ull;
  uint64_t h = seed ^ (size * kMultiplier);
  const auto mix = [&h](uint64_t word) {
    h ^= word * kMultiplier;
    h = ((h << 31) | (h >> 33)) * 0xc2b2ae3d27d4eb4full;
  };
  size_t i = 0;
  for (; i + 8 <= size; i += 8) {
    uint64_t word;
    std::memcpy(&word, data + i, 8);
    mix(word);
  }
  if (i < size) {
    uint64_t word = 0;
    std::memcpy(&word, data + i, size - i);
    mix(word);
  }
  h ^= h >> 29;
  return h * kMultiplier;
}

}  // namespace

absl::StatusOr<int64_t> NumElements(DType dtype,
                                    absl::Span<const int64_t> shape) {
  // Zero dimensions do not excuse an overflow: [0, 2^62, 2^62] is refused.
  __int128 total = 1;
  int64_t elements = 1;
  for (int64_t d : shape) {
    if (d < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("negative dimension ", d, " in shape (",
                       absl::StrJoin(shape, ", "), ")"));
    }
    total *= d == 0 ? 1 : d;
    elements *= d == 0 ? 0 : 1;
    if (total * std::max(1, dtype.bytes()) >
        std::numeric_limits<int64_t>::max()) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape (", absl::StrJoin(shape, ", "),
                       ") is too large for a tensor of ", dtype.ToString()));
    }
  }
  return elements == 0 ? 0 : static_cast<int64_t>(total);
}

absl::StatusOr<MutableTensor> MutableTensor::Create(
    DType dtype, absl::Span<const int64_t> shape) {
  // calloc leaves large fresh blocks as untouched zero pages.
  return Allocate(dtype, shape,
                  [](size_t bytes) { return std::calloc(bytes, 1); });
}

absl::StatusOr<MutableTensor> MutableTensor::Uninitialized(
    DType dtype, absl::Span<const int64_t> shape) {
  return Allocate(dtype, shape,
                  [](size_t bytes) { return std::malloc(bytes); });
}

absl::StatusOr<MutableTensor> MutableTensor::Allocate(
    DType dtype, absl::Span<const int64_t> shape,
    void* (*allocate)(size_t bytes)) {
  if (!dtype.IsStorable()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no tensor can hold elements of ", dtype.ToString()));
  }
  BATON_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dtype, shape));
  const int64_t bytes = elements * dtype.bytes();
  BATON_RETURN_IF_ERROR(CheckTensorBytes(bytes));
  std::shared_ptr<void> data = AllocateAligned(bytes, allocate);
  if (data == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a tensor of ", bytes, " bytes"));
  }
  return MutableTensor(dtype, TensorShape(shape.begin(), shape.end()), elements,
                       std::move(data));
}

std::optional<MutableTensor> MutableTensor::Reuse(Tensor& tensor) {
  if (tensor.data_.use_count() != 1) return std::nullopt;
  if (const auto* unaligned =
          std::get_deleter<ReleaseUnaligned>(tensor.data_)) {
    unaligned->buffer->Copy();
    // No other tensor has the buffer, so none has its copy.
    std::shared_ptr<const void> copy = unaligned->buffer->copy;
    tensor.data_ = std::move(copy);
    tensor.is_aligned_ = true;
  }
  // A part of a buffer may begin anywhere.
  if (std::get_deleter<FreeBlock>(tensor.data_) == nullptr ||
      !IsAligned(tensor.data_.get(), kAlignment)) {
    return std::nullopt;
  }
  // Reads by other threads before they released the buffer must precede the
  // writes: the release of one more use follows theirs. (A fence would do, but
  // the thread sanitizer does not see fences, and g++ refuses them with it.)
  std::shared_ptr<const void>(tensor.data_).reset();
  return MutableTensor(tensor.dtype_, tensor.shape_, tensor.num_elements_,
                       std::const_pointer_cast<void>(tensor.data_));
}

Tensor MutableTensor::Freeze() && {
  return Tensor(dtype_, std::move(shape_), num_elements_, std::move(data_));
}

namespace {

const Tensor& ZeroScalar() {
  static const auto* const zero = new Tensor(Tensor::Scalar(0.0f));
  return *zero;
}

// The number of elements of a tensor whose bytes are `data`.
absl::StatusOr<int64_t> CheckBuffer(DType dtype,
                                    absl::Span<const int64_t> shape,
                                    absl::string_view data) {
  if (!dtype.IsStorable()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no tensor can hold elements of ", dtype.ToString()));
  }
  BATON_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dtype, shape));
  if (static_cast<int64_t>(data.size()) != elements * dtype.bytes()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tensor ", dtype.ToString(), "[", absl::StrJoin(shape, ", "),
        "] takes ", elements * dtype.bytes(), " bytes, not ", data.size()));
  }
  return elements;
}

// Element `i` of a tensor whose bytes are `bytes`, at any address.
template <typename T>
T ElementAt(absl::string_view bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(i) * sizeof(T),
              sizeof(T));
  return value;
}

}  // namespace

Tensor::Tensor() : Tensor(ZeroScalar()) {}

Tensor Tensor::ScalarOf(DType dtype, double value) {
  return VisitDType(dtype, [&]<typename T>() {
    if constexpr (std::is_same_v<T, bool>) {
      return Scalar(value != 0);
    } else if constexpr (std::is_integral_v<T>) {
      // The nearest to zero, and within what the type has; 0 for NaN. The upper
      // end of 64 bits is one more as a double.
      constexpr T kLow = std::numeric_limits<T>::min();
      constexpr T kHigh = std::numeric_limits<T>::max();
      if (std::isnan(value)) return Scalar(T{0});
      if (value >= static_cast<double>(kHigh)) return Scalar(kHigh);
      if (value <= static_cast<double>(kLow)) return Scalar(kLow);
      return Scalar(static_cast<T>(value));
    } else {
      return Scalar(static_cast<T>(value));
    }
  });
}

absl::StatusOr<Tensor> Tensor::Zeros(DType dtype,
                                     absl::Span<const int64_t> shape) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(dtype, shape));
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Tensor::Ones(DType dtype,
                                    absl::Span<const int64_t> shape) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(dtype, shape));
  VisitDType(dtype, [&]<typename T>() {
    for (T& x : result.span<T>()) x = static_cast<T>(1);
  });
  return std::move(result).Freeze();
}

absl::StatusOr<Tensor> Tensor::FromBuffer(DType dtype,
                                          absl::Span<const int64_t> shape,
                                          absl::string_view data,
                                          std::shared_ptr<const void> owner) {
  BATON_ASSIGN_OR_RETURN(const int64_t elements,
                         CheckBuffer(dtype, shape, data));
  if (!IsAligned(data.data(), dtype.bytes())) {
    return absl::InvalidArgumentError("the buffer of a tensor is not aligned");
  }
  return Tensor(dtype, TensorShape(shape.begin(), shape.end()), elements,
                std::shared_ptr<const void>(std::move(owner), data.data()));
}

absl::StatusOr<Tensor> Tensor::FromUnaligned(DType dtype,
                                             absl::Span<const int64_t> shape,
                                             absl::string_view data,
                                             std::shared_ptr<const void> owner,
                                             bool is_mapped) {
  BATON_ASSIGN_OR_RETURN(const int64_t elements,
                         CheckBuffer(dtype, shape, data));
  if (IsAligned(data.data(), dtype.bytes())) {
    return FromBuffer(dtype, shape, data, std::move(owner));
  }
  auto buffer = std::make_shared<UnalignedBuffer>();
  buffer->bytes = data;
  buffer->owner = std::move(owner);
  buffer->is_mapped = is_mapped;
  return Tensor(dtype, TensorShape(shape.begin(), shape.end()), elements,
                std::shared_ptr<const void>(
                    data.data(), ReleaseUnaligned{std::move(buffer)}),
                /*is_aligned=*/false);
}

const void* Tensor::AlignedCopy() const {
  return std::get_deleter<ReleaseUnaligned>(data_)->buffer->Copy();
}

double Tensor::AtAsDouble(int64_t i) const {
  return VisitDType(dtype_, [&]<typename T>() {
    return static_cast<double>(ElementAt<T>(bytes(), i));
  });
}

int64_t Tensor::AtAsInt64(int64_t i) const {
  return VisitDType(dtype_, [&]<typename T>() {
    const T value = ElementAt<T>(bytes(), i);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<int64_t>(value);
    } else {
      // The nearest integer of the type; 0 for NaN.
      const double real = static_cast<double>(value);
      if (std::isnan(real)) return int64_t{0};
      if (real >= 0x1p63) return std::numeric_limits<int64_t>::max();
      if (real < -0x1p63) return std::numeric_limits<int64_t>::min();
      return static_cast<int64_t>(real);
    }
  });
}

absl::StatusOr<Tensor> Tensor::Reshaped(absl::Span<const int64_t> shape) const {
  BATON_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dtype_, shape));
  if (elements != num_elements_) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot view ", TypeToString(), " as shape (",
                     absl::StrJoin(shape, ", "), ")"));
  }
  return Tensor(dtype_, TensorShape(shape.begin(), shape.end()), elements,
                data_, is_aligned_);
}

absl::StatusOr<Tensor> Tensor::Part(int64_t begin,
                                    absl::Span<const int64_t> shape) const {
  BATON_ASSIGN_OR_RETURN(const int64_t elements, NumElements(dtype_, shape));
  if (begin < 0 || begin > num_elements_ || elements > num_elements_ - begin) {
    return absl::InvalidArgumentError(
        absl::StrCat(TypeToString(), " does not have elements ", begin, " to ",
                     begin, " + ", elements));
  }
  const absl::string_view part =
      bytes().substr(static_cast<size_t>(begin * dtype_.bytes()),
                     static_cast<size_t>(elements * dtype_.bytes()));
  if (is_aligned_) {
    return Tensor(dtype_, TensorShape(shape.begin(), shape.end()), elements,
                  std::shared_ptr<const void>(data_, part.data()));
  }
  return FromUnaligned(
      dtype_, shape, part, data_,
      std::get_deleter<ReleaseUnaligned>(data_)->buffer->is_mapped);
}

bool operator==(const Tensor& a, const Tensor& b) {
  return a.dtype_ == b.dtype_ && a.shape_ == b.shape_ &&
         (a.data_ == b.data_ || a.bytes() == b.bytes());
}

uint64_t Tensor::Hash() const {
  uint64_t h = (static_cast<uint64_t>(dtype_.code()) << 32) |
               (static_cast<uint64_t>(dtype_.bits()) << 16) |
               static_cast<uint64_t>(dtype_.lanes());
  h = HashBytes(reinterpret_cast<const char*>(shape_.data()),
                shape_.size() * sizeof(int64_t), h);
  return HashBytes(bytes().data(), bytes().size(), h);
}

std::string Tensor::TypeToString() const {
  return absl::StrCat(dtype_.ToString(), "[", absl::StrJoin(shape_, ", "), "]");
}

}  // namespace baton
