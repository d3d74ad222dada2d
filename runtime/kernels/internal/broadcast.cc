#include "baton/runtime/kernels/internal/broadcast.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/strides.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels::internal {

absl::StatusOr<TensorShape> BroadcastShape(
    absl::string_view kernel,
    absl::Span<const absl::Span<const int64_t>> shapes) {
  size_t rank = 0;
  for (const auto& shape : shapes) rank = std::max(rank, shape.size());
  TensorShape result(rank, 1);
  for (const auto& shape : shapes) {
    const size_t missing = rank - shape.size();
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t& extent = result[missing + d];
      if (shape[d] == 1 || shape[d] == extent) continue;
      if (extent != 1) {
        return Error(kernel, "shapes ", ShapeToString(shapes.front()), " and ",
                     ShapeToString(shape), " do not broadcast");
      }
      extent = shape[d];
    }
  }
  return result;
}

TensorShape BroadcastStrides(absl::Span<const int64_t> from,
                             absl::Span<const int64_t> to) {
  const TensorShape dense = RowMajorStrides(from);
  TensorShape strides(to.size(), 0);
  const size_t missing = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1) strides[missing + d] = dense[d];
  }
  return strides;
}

}  // namespace baton::kernels::internal
