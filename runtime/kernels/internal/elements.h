// Copies and checks of elements and axes, for kernels that move elements.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_ELEMENTS_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels::internal {

// Copies items of `size` bytes: item i of `to` is item positions[i] of `from`.
inline void CopyItems(const char* from, int64_t size,
                      absl::Span<const int64_t> positions, char* to) {
  const int64_t n = static_cast<int64_t>(positions.size());
  const auto copy = [&]<typename T>() {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * static_cast<int64_t>(sizeof(T)),
                  from + positions[static_cast<size_t>(i)] *
                             static_cast<int64_t>(sizeof(T)),
                  sizeof(T));
    }
  };
  switch (size) {
    case 1:
      return copy.operator()<uint8_t>();
    case 2:
      return copy.operator()<uint16_t>();
    case 4:
      return copy.operator()<uint32_t>();
    case 8:
      return copy.operator()<uint64_t>();
    default:
      for (const int64_t position : positions) {
        std::memcpy(to, from + position * size, static_cast<size_t>(size));
        to += size;
      }
  }
}

// An error if `x`, the operand `what` of the kernel `name`, has other than one
// element.
inline absl::Status CheckOneElement(absl::string_view name,
                                    absl::string_view what, const Tensor& x) {
  if (x.num_elements() == 1) return absl::OkStatus();
  return Error(name, what, " must have one element, not ", x.TypeToString());
}

// Maps an axis in [-rank - 1, rank], a place for a new dimension, to
// [0, rank].
inline absl::StatusOr<size_t> NormalizePlace(absl::string_view name,
                                             int64_t axis, int rank) {
  if (axis < -rank - 1 || axis > rank) {
    return Error(name, "axis ", axis, " is out of range for rank ", rank);
  }
  return static_cast<size_t>(axis < 0 ? axis + rank + 1 : axis);
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_ELEMENTS_H_
