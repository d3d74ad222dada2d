#include "baton/runtime/kernels/internal/integer_checks.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/internal/vectorize.h"

namespace baton::kernels::internal {
namespace {

// Returns whether there is nothing to check, or the error in the dtype.
bool IsChecked(absl::string_view kernel, const Tensor& a, const Tensor& b,
               absl::Status& status) {
  if (!b.dtype().is_integral() || a.num_elements() == 0) return false;
  if (!b.dtype().IsStorable() || b.dtype().is_bool()) {
    status = UnsupportedDType(kernel, b.dtype());
    return false;
  }
  return true;
}

// The bits that any element has, of `bytes` bytes that are whole elements: as a
// word whose elements together have them.
uint64_t BitsOfAny(const void* data, int64_t bytes) {
  constexpr int64_t kWord = sizeof(uint64_t);
  uint64_t bits = 0;
  RunLoop<kMemoryBound>([=, words = static_cast<const uint64_t*>(data),
                         n = bytes / kWord, &bits]() BATON_LOOP {
    uint64_t any = 0;
    for (int64_t i = 0; i < n; ++i) any |= words[i];
    bits = any;
  });
  uint64_t last = 0;
  std::memcpy(&last, static_cast<const char*>(data) + bytes / kWord * kWord,
              static_cast<size_t>(bytes % kWord));
  return bits | last;
}

// `element`, a number of `bytes` bytes, in each element of a word.
uint64_t InEachElement(uint64_t element, int bytes) {
  for (int bits = 8 * bytes; bits < 64; bits *= 2) element |= element << bits;
  return element;
}

template <typename U>
bool HasZero(const void* data, int64_t n) {
  U found = 0;
  RunLoop<kMemoryBound>([=, elements = static_cast<const U*>(data), &found]()
                            BATON_LOOP {
                              // Without a way out of the loop, so that it
                              // becomes vectors.
                              U any = 0;
                              for (int64_t i = 0; i < n; ++i) {
                                any |= static_cast<U>(elements[i] == 0 ? 1 : 0);
                              }
                              found = any;
                            });
  return found != 0;
}

bool HasZero(const Tensor& x) {
  const int64_t n = x.num_elements();
  switch (x.dtype().bytes()) {
    case 1:
      return HasZero<uint8_t>(x.data(), n);
    case 2:
      return HasZero<uint16_t>(x.data(), n);
    case 4:
      return HasZero<uint32_t>(x.data(), n);
    default:
      return HasZero<uint64_t>(x.data(), n);
  }
}

// Returns whether an element of `x` has one of the bits of `mask`.
bool HasBits(const Tensor& x, uint64_t mask) {
  const int bytes = x.dtype().bytes();
  return (BitsOfAny(x.data(), x.num_elements() * bytes) &
          InEachElement(mask, bytes)) != 0;
}

}  // namespace

absl::Status CheckDivisors(absl::string_view kernel, absl::string_view error,
                           const Tensor& a, const Tensor& b) {
  absl::Status status;
  if (!IsChecked(kernel, a, b, status)) return status;
  return HasZero(b) ? Error(kernel, error) : status;
}

absl::Status CheckExponents(absl::string_view kernel, const Tensor& a,
                            const Tensor& b) {
  absl::Status status;
  if (!IsChecked(kernel, a, b, status) || b.dtype().is_uint()) return status;
  const uint64_t sign = uint64_t{1} << (b.dtype().bits() - 1);
  return HasBits(b, sign) ? Error(kernel, "integer raised to a negative power")
                          : status;
}

absl::Status CheckShiftAmounts(absl::string_view kernel, const Tensor& a,
                               const Tensor& b) {
  if (a.dtype().is_bool() || !a.dtype().is_integral()) {
    return UnsupportedDType(kernel, a.dtype());
  }
  absl::Status status;
  if (!IsChecked(kernel, a, b, status)) return status;
  // The number of bits is a power of two: what is not less has a higher bit.
  const auto bits = static_cast<uint64_t>(b.dtype().bits());
  const uint64_t all = ~uint64_t{0} >> (64 - bits);
  return HasBits(b, all & ~(bits - 1))
             ? Error(kernel, "shift amount out of range")
             : status;
}

}  // namespace baton::kernels::internal
