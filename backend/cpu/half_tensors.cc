#include "baton/backend/cpu/half_tensors.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/graph.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/dense.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::cpu {
namespace {

using relay::Call;

// Operators whose results are rounded. The largest of a window is none: it
// begins with the lowest number of the type.
constexpr absl::string_view kRounded[] = {
    "add",
    "clip",
    "divide",
    "erf",
    "fast_erf",
    "image.resize2d",
    "mean",
    "multiply",
    "nn.adaptive_avg_pool2d",
    "nn.avg_pool1d",
    "nn.avg_pool2d",
    "nn.avg_pool3d",
    "nn.batch_matmul",
    "nn.bias_add",
    "nn.conv1d",
    "nn.conv1d_transpose",
    "nn.conv2d",
    "nn.conv2d_transpose",
    "nn.conv3d",
    "nn.dense",
    "nn.global_avg_pool2d",
    "nn.layer_norm",
    "nn.leaky_relu",
    "nn.log_softmax",
    "nn.lrn",
    "nn.matmul",
    "nn.prelu",
    "nn.softmax",
    "power",
    "rsqrt",
    "sigmoid",
    "sqrt",
    "subtract",
    "sum",
};

// Operators whose results have the values of arguments, or their negatives, or
// are no floats.
constexpr absl::string_view kExact[] = {
    "abs",
    "annotation.stop_fusion",
    "argmax",
    "argmin",
    "broadcast_to",
    "ceil",
    "concatenate",
    "copy",
    "equal",
    "expand_dims",
    "floor",
    "gather",
    "gather_nd",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "max",
    "maximum",
    "min",
    "minimum",
    "negative",
    "nn.batch_flatten",
    "nn.depth_to_space",
    "nn.pad",
    "nn.relu",
    "nn.space_to_depth",
    "not_equal",
    "repeat",
    "reshape",
    "reshape_like",
    "reverse",
    "round",
    "split",
    "squeeze",
    "stack",
    "strided_slice",
    "take",
    "tile",
    "transpose",
    "where",
};

template <size_t kSize>
bool Contains(const absl::string_view (&sorted)[kSize],
              absl::string_view name) {
  return std::binary_search(std::begin(sorted), std::end(sorted), name);
}

// `attrs` with the dtype of the arguments as that of the result.
template <typename A, typename... Others>
Attrs OfArguments(const Call& call) {
  if (const auto* attrs = call->attrs_as<A>();
      attrs != nullptr && attrs->out_dtype.is_half()) {
    A result = *attrs;
    result.out_dtype = DType();
    return Attrs::Make(std::move(result));
  }
  if constexpr (sizeof...(Others) > 0) {
    return OfArguments<Others...>(call);
  } else {
    return call->attrs();
  }
}

class Holder {
 public:
  explicit Holder(Graph& graph)
      : graph_(graph),
        held_(graph.tensors.size(), kNone),
        is_stored_(graph.tensors.size(), true) {}

  absl::Status Run() {
    const bool any = std::any_of(graph_.nodes.begin(), graph_.nodes.end(),
                                 [this](const GraphNode& node) {
                                   return node.region == nullptr &&
                                          HasHalves(node) &&
                                          Contains(kRounded, node.op_name());
                                 });
    if (!any) return absl::OkStatus();
    std::vector<GraphNode> nodes;
    nodes.swap(graph_.nodes);
    for (GraphNode& node : nodes) BATON_RETURN_IF_ERROR(Add(std::move(node)));
    for (const int t : graph_.outputs) Store(t, Span());
    return absl::OkStatus();
  }

 private:
  static constexpr int kNone = -1;

  const GraphTensor& TensorOf(int t) const {
    return graph_.tensors[static_cast<size_t>(t)];
  }
  bool IsHalfTensor(int t) const { return TensorOf(t).dtype.is_half(); }
  bool HasHalves(const GraphNode& node) const {
    const auto is_half = [this](int t) { return IsHalfTensor(t); };
    return std::any_of(node.inputs.begin(), node.inputs.end(), is_half) ||
           std::any_of(node.outputs.begin(), node.outputs.end(), is_half);
  }

  int NewTensor(DType dtype, const TensorShape& shape) {
    TensorShape extents = shape;
    graph_.tensors.push_back({dtype, std::move(extents), std::nullopt, kNone});
    held_.push_back(kNone);
    is_stored_.push_back(true);
    return static_cast<int>(graph_.tensors.size()) - 1;
  }

  void AddCast(int from, int to, const Span& span) {
    const GraphTensor& result = TensorOf(to);
    GraphNode node;
    node.call = Call(BATON_OP("cast"), {},
                     Attrs::Make(relay::CastAttrs{.dtype = result.dtype}), {},
                     TensorType(Dims(result.shape.begin(), result.shape.end()),
                                result.dtype),
                     span);
    node.args = {{.tensor = from}};
    node.result = {.tensor = to};
    node.inputs = {from};
    node.outputs = {to};
    graph_.nodes.push_back(std::move(node));
  }

  // The tensor of float32 with the values of the half floats `t`.
  absl::StatusOr<int> Held(int t, const Span& span) {
    if (held_[static_cast<size_t>(t)] != kNone) {
      return held_[static_cast<size_t>(t)];
    }
    const int held = NewTensor(DType::Float(32), TensorOf(t).shape);
    held_[static_cast<size_t>(t)] = held;
    if (TensorOf(t).constant.has_value()) {
      BATON_ASSIGN_OR_RETURN(
          graph_.tensors[static_cast<size_t>(held)].constant,
          kernels::Cast(*TensorOf(t).constant, DType::Float(32)));
    } else {
      AddCast(t, held, span);
    }
    return held;
  }

  // Makes the half floats `t` from those that are held.
  void Store(int t, const Span& span) {
    if (is_stored_[static_cast<size_t>(t)]) return;
    is_stored_[static_cast<size_t>(t)] = true;
    AddCast(held_[static_cast<size_t>(t)], t, span);
  }

  // Replaces the tensors of a value, in order.
  static void Replace(GraphValue& value, const std::vector<int>& tensors,
                      size_t& next) {
    if (value.is_tensor()) {
      value.tensor = tensors[next++];
      return;
    }
    for (GraphValue& field : value.fields) Replace(field, tensors, next);
  }

  // Adds the calls that a variance is made of, each of which rounds.
  absl::Status AddVariance(const GraphNode& node) {
    const relay::VarianceAttrs& attrs =
        AttrsOrDefaults<relay::VarianceAttrs>(node.call->attrs());
    const int x = node.inputs[0];
    const auto call = [&](const Op& op, std::vector<int> inputs, int result,
                          Attrs call_attrs) {
      GraphNode part;
      part.call =
          Call(op, {}, std::move(call_attrs), {}, {}, node.call->span());
      for (const int t : inputs) part.args.push_back({.tensor = t});
      part.result = {.tensor = result};
      part.inputs = std::move(inputs);
      part.outputs = {result};
      return Add(std::move(part));
    };
    const int distance = NewTensor(TensorOf(x).dtype, TensorOf(x).shape);
    BATON_RETURN_IF_ERROR(
        call(BATON_OP("subtract"), {x, node.inputs[1]}, distance, {}));
    const int square = NewTensor(TensorOf(x).dtype, TensorOf(x).shape);
    BATON_RETURN_IF_ERROR(
        call(BATON_OP("multiply"), {distance, distance}, square, {}));
    return call(BATON_OP("mean"), {square}, node.outputs[0],
                Attrs::Make(relay::ReduceAttrs{.axis = attrs.axis,
                                               .keepdims = attrs.keepdims,
                                               .exclude = attrs.exclude}));
  }
  bool IsOfParts(const GraphNode& node) const {
    if (node.op_name() != "variance" || node.inputs.size() != 2) return false;
    const auto& attrs =
        AttrsOrDefaults<relay::VarianceAttrs>(node.call->attrs());
    const GraphTensor& x = TensorOf(node.inputs[0]);
    const GraphTensor& mean = TensorOf(node.inputs[1]);
    if (attrs.unbiased || mean.dtype != x.dtype ||
        mean.shape.size() != x.shape.size()) {
      return false;
    }
    for (size_t d = 0; d < x.shape.size(); ++d) {
      if (mean.shape[d] != 1 && mean.shape[d] != x.shape[d]) return false;
    }
    return true;
  }

  // True for padding with a value of another type, which is rounded to a half,
  // and for rows of a constant, which would take twice the memory.
  bool StaysHalf(const GraphNode& node) const {
    if (node.op_name() == "nn.pad") {
      return TensorOf(node.inputs.back()).dtype !=
             TensorOf(node.outputs[0]).dtype;
    }
    return node.op_name() == "take" &&
           TensorOf(node.inputs[0]).constant.has_value() &&
           held_[static_cast<size_t>(node.inputs[0])] == kNone;
  }

  absl::Status Add(GraphNode node) {
    if (!HasHalves(node)) {
      graph_.nodes.push_back(std::move(node));
      return absl::OkStatus();
    }
    if (IsOfParts(node)) return AddVariance(node);
    const Span span = node.call->span();
    const bool is_cast = node.op_name() == "cast";
    const bool is_rounded = Contains(kRounded, node.op_name());
    if (node.region != nullptr || StaysHalf(node) ||
        (!is_cast && !is_rounded && !Contains(kExact, node.op_name()))) {
      for (const int t : node.inputs) Store(t, span);
      graph_.nodes.push_back(std::move(node));
      return absl::OkStatus();
    }
    for (int& t : node.inputs) {
      if (IsHalfTensor(t)) {
        BATON_ASSIGN_OR_RETURN(t, Held(t, span));
      }
    }
    size_t next = 0;
    for (GraphValue& arg : node.args) Replace(arg, node.inputs, next);
    if (is_cast) {
      graph_.nodes.push_back(std::move(node));
      return absl::OkStatus();
    }
    const std::vector<int> results = node.outputs;
    std::vector<int> computed;
    for (int& t : node.outputs) {
      if (IsHalfTensor(t)) t = NewTensor(DType::Float(32), TensorOf(t).shape);
      computed.push_back(t);
    }
    next = 0;
    Replace(node.result, node.outputs, next);
    const Attrs attrs =
        OfArguments<relay::Conv1DAttrs, relay::Conv2DAttrs, relay::Conv3DAttrs,
                    relay::Conv1DTransposeAttrs, relay::Conv2DTransposeAttrs,
                    relay::DenseAttrs, relay::MatmulAttrs,
                    relay::BatchMatmulAttrs, relay::Resize2DAttrs>(node.call);
    node.call = Call(node.call->op(), {}, attrs, {}, {}, span);
    graph_.nodes.push_back(std::move(node));
    for (size_t i = 0; i < results.size(); ++i) {
      const int t = results[i];
      if (computed[i] == t) continue;
      is_stored_[static_cast<size_t>(t)] = false;
      int held = computed[i];
      if (is_rounded) {
        const int rounded = NewTensor(TensorOf(t).dtype, TensorOf(t).shape);
        AddCast(computed[i], rounded, span);
        held = NewTensor(DType::Float(32), TensorOf(t).shape);
        AddCast(rounded, held, span);
      }
      held_[static_cast<size_t>(t)] = held;
    }
    return absl::OkStatus();
  }

  Graph& graph_;
  // By tensor of half floats: the tensor of float32 that has its values.
  std::vector<int> held_;
  // By tensor of half floats: a node so far computes it.
  std::vector<bool> is_stored_;
};

}  // namespace

absl::Status ComputeHalvesInFloat32(Graph& graph) {
  return Holder(graph).Run();
}

}  // namespace baton::cpu
