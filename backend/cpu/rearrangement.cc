#include "baton/backend/cpu/rearrangement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/base/dtype.h"
#include "baton/base/strides.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/tensor/strided_slice.h"
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

// Adds a dimension of the result, to the right of those that are there.
void AddDim(int64_t extent, int64_t stride, Rearrangement& result) {
  if (extent == 1) return;
  if (!result.dims.empty() && result.strides.back() == stride * extent) {
    result.dims.back() *= extent;
    result.strides.back() = stride;
  } else {
    result.dims.push_back(extent);
    result.strides.push_back(stride);
  }
}

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
    AddDim(extent, at[static_cast<size_t>(unit)] - at[0], result);
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

// A tensor of `shape` at `strides` from element `base` on.
Rearrangement FromStrides(int64_t base, const TensorShape& shape,
                          const TensorShape& strides) {
  Rearrangement result;
  result.base = base;
  for (size_t d = 0; d < shape.size(); ++d) {
    AddDim(shape[d], strides[d], result);
  }
  return result;
}

// The number of an axis; negative ones count from the last one. Nullopt if there
// is no such axis.
std::optional<size_t> AxisOf(int64_t axis, size_t rank) {
  if (axis < 0) axis += static_cast<int64_t>(rank);
  if (axis < 0 || axis >= static_cast<int64_t>(rank)) return std::nullopt;
  return static_cast<size_t>(axis);
}

std::optional<Rearrangement> TransposeOf(const relay::TransposeAttrs& attrs,
                                         const TensorShape& from,
                                         const TensorShape& to) {
  const size_t rank = from.size();
  if (to.size() != rank ||
      (attrs.axes.has_value() && attrs.axes->size() != rank)) {
    return std::nullopt;
  }
  const TensorShape strides = RowMajorStrides(from);
  TensorShape moved;
  for (size_t d = 0; d < rank; ++d) {
    int64_t axis = static_cast<int64_t>(rank - 1 - d);
    if (attrs.axes.has_value()) axis = (*attrs.axes)[d];
    const std::optional<size_t> k = AxisOf(axis, rank);
    if (!k.has_value() || from[*k] != to[d]) return std::nullopt;
    moved.push_back(strides[*k]);
  }
  return FromStrides(0, to, moved);
}

std::optional<Rearrangement> SliceOf(const relay::StridedSliceAttrs& attrs,
                                     const TensorShape& from,
                                     const TensorShape& to) {
  const std::vector<Dim> dims(from.begin(), from.end());
  const auto slices = relay::SlicesOf(dims, attrs, relay::CrossedEnds::kEmpty);
  if (!slices.ok() || to.size() != from.size()) return std::nullopt;
  TensorShape shape = from;
  TensorShape strides = RowMajorStrides(from);
  int64_t base = 0;
  for (const relay::AxisSlice& slice : *slices) {
    const auto d = static_cast<size_t>(slice.axis);
    shape[d] = relay::NumElements(slice);
    base += slice.begin * strides[d];
    if (shape[d] > 1) strides[d] *= slice.stride;
  }
  if (shape != to) return std::nullopt;
  return FromStrides(base, shape, strides);
}

std::optional<Rearrangement> BroadcastOf(const TensorShape& from,
                                         const TensorShape& to) {
  if (to.size() < from.size()) return std::nullopt;
  const TensorShape strides = RowMajorStrides(from);
  const size_t added = to.size() - from.size();
  TensorShape repeated(added, 0);
  for (size_t d = 0; d < from.size(); ++d) {
    const bool is_same = from[d] == to[added + d];
    if (!is_same && from[d] != 1) return std::nullopt;
    repeated.push_back(is_same ? strides[d] : 0);
  }
  return FromStrides(0, to, repeated);
}

std::optional<Rearrangement> ReverseOf(const relay::ReverseAttrs& attrs,
                                       const TensorShape& from,
                                       const TensorShape& to) {
  if (!attrs.axis.has_value() || from != to) return std::nullopt;
  const std::optional<size_t> k = AxisOf(*attrs.axis, from.size());
  if (!k.has_value()) return std::nullopt;
  TensorShape strides = RowMajorStrides(from);
  const int64_t base = (from[*k] - 1) * strides[*k];
  strides[*k] = -strides[*k];
  return FromStrides(base, to, strides);
}

// The rearrangements of the operators that models have most often, in constant
// time. Nullopt for others, and for whatever is unusual.
std::optional<std::vector<Rearrangement>> RearrangementsByRule(
    const GraphNode& node, const Graph& graph) {
  if (node.inputs.size() != 1) return std::nullopt;
  const auto shape_of = [&graph](int t) -> const TensorShape& {
    return graph.tensors[static_cast<size_t>(t)].shape;
  };
  const TensorShape& from = shape_of(node.inputs[0]);
  for (const int t : node.outputs) {
    const TensorShape& shape = shape_of(t);
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
      return std::nullopt;
    }
  }
  if (const auto* attrs = node.call->attrs_as<relay::SplitAttrs>();
      attrs != nullptr && node.op_name() == "split") {
    const std::optional<size_t> axis = AxisOf(attrs->axis, from.size());
    if (!axis.has_value()) return std::nullopt;
    const size_t k = *axis;
    const TensorShape strides = RowMajorStrides(from);
    std::vector<Rearrangement> parts;
    int64_t begin = 0;
    for (const int t : node.outputs) {
      TensorShape part = from;
      if (shape_of(t).size() != from.size()) return std::nullopt;
      part[k] = shape_of(t)[k];
      if (part != shape_of(t)) return std::nullopt;
      parts.push_back(FromStrides(begin * strides[k], part, strides));
      begin += part[k];
    }
    if (begin != from[k]) return std::nullopt;
    return parts;
  }
  if (node.outputs.size() != 1) return std::nullopt;
  const TensorShape& to = shape_of(node.outputs[0]);
  std::optional<Rearrangement> found;
  if (const auto* transpose = node.call->attrs_as<relay::TransposeAttrs>();
      transpose != nullptr && node.op_name() == "transpose") {
    found = TransposeOf(*transpose, from, to);
  } else if (const auto* slice =
                 node.call->attrs_as<relay::StridedSliceAttrs>();
             slice != nullptr && node.op_name() == "strided_slice") {
    found = SliceOf(*slice, from, to);
  } else if (const auto* reverse = node.call->attrs_as<relay::ReverseAttrs>();
             reverse != nullptr && node.op_name() == "reverse") {
    found = ReverseOf(*reverse, from, to);
  } else if (node.op_name() == "broadcast_to") {
    found = BroadcastOf(from, to);
  }
  if (!found.has_value()) return std::nullopt;
  return std::vector<Rearrangement>{*std::move(found)};
}

// `repeat` and `tile` have strides only where the repeated dimensions have one
// element each: where they are broadcasts.
bool IsRepetition(const GraphNode& node) {
  return node.inputs.size() == 1 && node.outputs.size() == 1 &&
         (node.op_name() == "repeat" || node.op_name() == "tile");
}

bool IsMover(const GraphNode& node) {
  return std::find(std::begin(kMovers), std::end(kMovers), node.op_name()) !=
             std::end(kMovers) &&
         !node.args.empty() && node.args[0].is_tensor();
}

// The largest argument whose elements have numbers.
constexpr int64_t kMaxElements = std::numeric_limits<int32_t>::max();

}  // namespace

std::optional<std::vector<Rearrangement>> RearrangementsOf(
    const GraphNode& node, const Graph& graph) {
  if (!IsMover(node)) return std::nullopt;
  const GraphTensor& data =
      graph.tensors[static_cast<size_t>(node.args[0].tensor)];
  const int64_t count = data.num_elements();
  if (count == 0 || count > kMaxElements) return std::nullopt;
  if (IsRepetition(node)) {
    const GraphTensor& result =
        graph.tensors[static_cast<size_t>(node.outputs[0])];
    if (result.num_elements() == 0) return std::nullopt;
    auto found = BroadcastOf(data.shape, result.shape);
    if (!found.has_value()) return std::nullopt;
    return std::vector<Rearrangement>{*std::move(found)};
  }
  if (auto found = RearrangementsByRule(node, graph)) return found;
  return RearrangementsByKernel(node, graph);
}

std::optional<std::vector<Rearrangement>> RearrangementsByKernel(
    const GraphNode& node, const Graph& graph) {
  if (!IsMover(node)) return std::nullopt;
  const GraphTensor& data =
      graph.tensors[static_cast<size_t>(node.args[0].tensor)];
  const int64_t count = data.num_elements();
  if (count == 0 || count > kMaxElements) return std::nullopt;
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
