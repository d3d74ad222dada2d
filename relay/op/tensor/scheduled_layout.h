// Parses the layouts of auto_scheduler_layout_transform.

#ifndef BATON_RELAY_OP_TENSOR_SCHEDULED_LAYOUT_H_
#define BATON_RELAY_OP_TENSOR_SCHEDULED_LAYOUT_H_

#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"

namespace baton::relay {

// The layout of a scheduler, a sequence of extents and axes: in 4h16w2h, axis h
// is split into an outer part of 4 and an inner part of 2.
struct ScheduledLayout {
  TensorShape extents;
  absl::InlinedVector<std::string, 4> axes;

  // Reads `text` as TVM does: an extent without an axis, or an axis without an
  // extent, is no error. Errors name the attribute, `field`.
  static absl::StatusOr<ScheduledLayout> Parse(absl::string_view field,
                                               absl::string_view text);
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_SCHEDULED_LAYOUT_H_
