// CenteredBytes: constant weights of a quantized product, with a zero point of
// 0.
//
//   CenteredBytes(uint8 [[128, 3], [130, 5]], zero points {128, 4}, axis 1)
//   -> int8 [[0, -1], [2, 1]]

#ifndef BATON_RELAY_OP_QNN_CENTERED_BYTES_H_
#define BATON_RELAY_OP_QNN_CENTERED_BYTES_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"

namespace baton::relay::qnn {

// The elements of `bytes` less `zero_points`, as int8. `bytes` is int8 or
// uint8, and has elements. There is one zero point, or one for each index along
// `axis`. nullopt if an element does not fit into int8. `bytes` itself if it is
// int8 and all zero points are 0.
absl::StatusOr<std::optional<Tensor>> CenteredBytes(
    const Tensor& bytes, absl::Span<const int64_t> zero_points, int axis);

// The transpose of CenteredBytes() of the matrix `bytes` and axis 1.
absl::StatusOr<std::optional<Tensor>> TransposedCenteredBytes(
    const Tensor& bytes, absl::Span<const int64_t> zero_points);

}  // namespace baton::relay::qnn

#endif  // BATON_RELAY_OP_QNN_CENTERED_BYTES_H_
