#include "baton/backend/cpu/rearrangement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/base/tensor.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"

namespace baton::cpu {
namespace {

// Operators whose results are elements of their first argument, whatever these
// are, in places that the other arguments and the attributes decide.
constexpr absl::string_view kMovers[] = {
    "broadcast_to",
    "contrib_reverse_reshape",
    "expand_dims",
    "layout_transform",
    "nn.batch_flatten",
    "nn.batch_to_space_nd",
    "nn.depth_to_space",
    "nn.space_to_depth",
    "repeat",
    "reshape",
    "reverse",
    "split",
    "squeeze",
    "strided_slice",
    "tile",
    "transpose",
};

std::optional<Rearrangement> Affine(const Tensor& places) {
  const absl::Span<const int32_t> at = places.span<int32_t>();
  Rearrangement result;
  if (at.empty()) return std::nullopt;
  result.base = at[0];
  // Strides of the result in `places`, and in the argument.
  int64_t unit = at.size();
  for (const int64_t extent : places.shape()) {
    unit /= extent;
    if (extent == 1) continue;
    const int64_t stride = at[static_cast<size_t>(unit)] - at[0];
    if (!result.dims.empty() && result.strides.back() == stride * extent) {
      result.dims.back() *= extent;
      result.strides.back() = stride;
    } else {
      result.dims.push_back(extent);
      result.strides.push_back(stride);
    }
  }
  absl::InlinedVector<int64_t, 6> index(result.dims.size(), 0);
  int64_t place = result.base;
  for (const int32_t found : at) {
    if (found != place) return std::nullopt;
    for (size_t d = result.dims.size(); d-- > 0;) {
      place += result.strides[d];
      if (++index[d] < result.dims[d]) break;
      place -= result.strides[d] * result.dims[d];
      index[d] = 0;
    }
  }
  return result;
}

}  // namespace

std::optional<std::vector<Rearrangement>> RearrangementsOf(
    const GraphNode& node, const Graph& graph) {
  if (std::find(std::begin(kMovers), std::end(kMovers), node.op_name()) ==
          std::end(kMovers) ||
      node.args.empty() || !node.args[0].is_tensor()) {
    return std::nullopt;
  }
  const GraphTensor& data =
      graph.tensors[static_cast<size_t>(node.args[0].tensor)];
  const int64_t count = data.num_elements();
  if (count == 0 || count > std::numeric_limits<int32_t>::max()) {
    return std::nullopt;
  }
  absl::StatusOr<MutableTensor> numbers =
      MutableTensor::Uninitialized(DType::Int(32), data.shape);
  if (!numbers.ok()) return std::nullopt;
  int32_t next = 0;
  for (int32_t& number : numbers->span<int32_t>()) number = next++;
  std::vector<relay::Value> args = {std::move(*numbers).Freeze()};
  for (size_t i = 1; i < node.args.size(); ++i) {
    if (!node.args[i].is_tensor()) return std::nullopt;
    const GraphTensor& tensor =
        graph.tensors[static_cast<size_t>(node.args[i].tensor)];
    if (!tensor.constant.has_value()) return std::nullopt;
    args.push_back(*tensor.constant);
  }
  const absl::StatusOr<relay::Value> result =
      relay::RunKernel(*node.call, args);
  if (!result.ok()) return std::nullopt;
  std::vector<Rearrangement> found;
  const absl::Span<const relay::Value> values =
      result->is_tuple() ? result->fields() : absl::MakeConstSpan(&*result, 1);
  if (values.size() != node.outputs.size()) return std::nullopt;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].is_tensor() ||
        values[i].tensor().dtype() != DType::Int(32) ||
        values[i].tensor().shape() !=
            graph.tensors[static_cast<size_t>(node.outputs[i])].shape) {
      return std::nullopt;
    }
    std::optional<Rearrangement> one = Affine(values[i].tensor());
    if (!one.has_value()) return std::nullopt;
    found.push_back(*std::move(one));
  }
  return found;
}

}  // namespace baton::cpu
