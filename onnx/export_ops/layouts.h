// Converts operands to the one layout that ONNX allows for each operator.

#ifndef BATON_ONNX_EXPORT_OPS_LAYOUTS_H_
#define BATON_ONNX_EXPORT_OPS_LAYOUTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"

namespace baton::onnx {

// The order of the axes that converts one layout into another; Unimplemented if
// their axes differ, because some are split.
absl::StatusOr<std::vector<int64_t>> AxisOrder(absl::string_view from,
                                               absl::string_view to);

// The order of the axes that swaps the last two. `rank` is at least 2.
std::vector<int64_t> WithLastTwoSwapped(int rank);

// Returns `value` in the layout `to`, through a Transpose if the layouts
// differ.
absl::StatusOr<ValueId> InLayout(CallExport& call, ValueId value,
                                 absl::string_view from, absl::string_view to);

// Moves the axis `axis` of `value`, whose rank is `rank`, to `place`. If `back`
// is true, moves it back.
ValueId WithAxisAt(CallExport& call, ValueId value, int rank, int axis,
                   int place, bool back = false);

}  // namespace baton::onnx

#endif  // BATON_ONNX_EXPORT_OPS_LAYOUTS_H_
