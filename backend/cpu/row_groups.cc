#include "baton/backend/cpu/row_groups.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/ir/attrs.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/reduce.h"

namespace baton::cpu {
namespace {

// The operands and results of a group stay in the nearest cache. A call for
// fewer bytes is not worth it.
constexpr int64_t kMostGroupBytes = int64_t{24} << 10;
constexpr int64_t kLeastGroupBytes = int64_t{1} << 10;

template <typename A>
bool AddReduced(const Attrs& attrs, int rank, std::vector<int64_t>& axes) {
  const A* const a = attrs.As<A>();
  if (a == nullptr) return false;
  axes = relay::layouts::ReducedAxes(a->axis, a->exclude, rank);
  return true;
}

// The first axes of an operand of `rank` axes that the node does not mix.
int AxesOfRows(const GraphNode& node, int rank) {
  const Attrs& attrs = node.call->attrs();
  std::vector<int64_t> axes;
  const absl::string_view op = node.op_name();
  if (op == "nn.softmax" || op == "nn.log_softmax" || op == "nn.fast_softmax") {
    const int axis = AttrsOrDefaults<relay::SoftmaxAttrs>(attrs).axis;
    axes = {axis < 0 ? axis + rank : axis};
  } else if (!AddReduced<relay::ReduceAttrs>(attrs, rank, axes) &&
             !AddReduced<relay::ArgReduceAttrs>(attrs, rank, axes) &&
             !AddReduced<relay::VarianceAttrs>(attrs, rank, axes)) {
    return 0;
  }
  if (axes.empty()) return 0;
  return static_cast<int>(*std::min_element(axes.begin(), axes.end()));
}

}  // namespace

std::vector<int64_t> RowGroups::ShapeOfPart(
    absl::Span<const int64_t> shape) const {
  std::vector<int64_t> part(shape.begin(), shape.end());
  if (count == 1) return part;
  std::fill_n(part.begin(), axes - 1, 1);
  part[static_cast<size_t>(axes - 1)] = rows;
  return part;
}

RowGroups RowGroupsOf(const Graph& graph, const GraphNode& node,
                      const std::vector<bool>& has_part) {
  if (node.inputs.empty() || !has_part[0]) return {};
  const auto tensor_of = [&graph](int t) -> const GraphTensor& {
    return graph.tensors[static_cast<size_t>(t)];
  };
  const GraphTensor& first = tensor_of(node.inputs[0]);
  const int axes = AxesOfRows(node, static_cast<int>(first.shape.size()));
  if (axes <= 0) return {};
  int64_t rows = 1;
  for (int d = 0; d < axes; ++d) rows *= first.shape[static_cast<size_t>(d)];
  int64_t bytes = 0;
  const auto add = [&](int t) {
    const GraphTensor& tensor = tensor_of(t);
    bytes += tensor.bytes();
    return tensor.shape.size() >= static_cast<size_t>(axes) &&
           std::equal(first.shape.begin(), first.shape.begin() + axes,
                      tensor.shape.begin());
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (has_part[i] && !add(node.inputs[i])) return {};
  }
  for (const int t : node.outputs) {
    if (!add(t)) return {};
  }
  if (rows < 2 || bytes <= kMostGroupBytes) return {};
  // The largest number of rows, among the divisors of that of all rows.
  const int64_t row_bytes = bytes / rows;
  int64_t of_group = std::max<int64_t>(
      1, std::min(rows / 2, kMostGroupBytes / std::max<int64_t>(row_bytes, 1)));
  while (rows % of_group != 0) --of_group;
  if (of_group * row_bytes < kLeastGroupBytes) return {};
  return {rows / of_group, axes, of_group};
}

}  // namespace baton::cpu
