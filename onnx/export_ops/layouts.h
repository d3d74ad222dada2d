// Layouts of operands: ONNX has one for each operator.

#ifndef BATON_ONNX_EXPORT_OPS_LAYOUTS_H_
#define BATON_ONNX_EXPORT_OPS_LAYOUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph.h"

namespace baton::onnx {

// The order of the axes that turns one layout into another; Unimplemented if
// the axes are not the same: some are split.
absl::StatusOr<std::vector<int64_t>> AxisOrder(absl::string_view from,
                                               absl::string_view to);

// The order of the axes that swaps the last two, of which there are at least
// two.
std::vector<int64_t> WithLastTwoSwapped(int rank);

// `value` in another layout, by a Transpose if they differ.
absl::StatusOr<ValueId> InLayout(CallExport& call, ValueId value,
                                 absl::string_view from, absl::string_view to);

// `value`, of that rank, with an axis in another place. `back` undoes it.
ValueId WithAxisAt(CallExport& call, ValueId value, int rank, int axis,
                   int place, bool back = false);

}  // namespace baton::onnx

#endif  // BATON_ONNX_EXPORT_OPS_LAYOUTS_H_
