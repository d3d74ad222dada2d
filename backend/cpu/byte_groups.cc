#include "baton/backend/cpu/byte_groups.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/backend/cpu/graph.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/elementwise.h"

namespace baton::cpu {
namespace {

constexpr int kNone = -1;
// Channels that an instruction for bytes adds.
constexpr int64_t kWord = 4;
// All integers up to this one are exact in float32.
constexpr int64_t kMostExact = int64_t{1} << 24;

// Top, left, bottom and right.
using Padding = std::array<int64_t, 4>;

std::optional<Padding> PaddingOf(absl::Span<const Dim> padding) {
  for (const Dim& one : padding) {
    if (!one.is_const()) return std::nullopt;
  }
  const auto value = [&](size_t i) { return padding[i].value(); };
  switch (padding.size()) {
    case 1:
      return Padding{value(0), value(0), value(0), value(0)};
    case 2:
      return Padding{value(0), value(1), value(0), value(1)};
    case 4:
      return Padding{value(0), value(1), value(2), value(3)};
    default:
      return std::nullopt;
  }
}

class Converter {
 public:
  explicit Converter(Graph& graph) : graph_(graph) {}

  void Run() {
    producers_.assign(graph_.tensors.size(), kNone);
    num_uses_.assign(graph_.tensors.size(), 0);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const int t : graph_.nodes[i].outputs) {
        producers_[static_cast<size_t>(t)] = static_cast<int>(i);
      }
      for (const int t : graph_.nodes[i].inputs) {
        ++num_uses_[static_cast<size_t>(t)];
      }
    }
    for (const int t : graph_.outputs) ++num_uses_[static_cast<size_t>(t)];
    // The new nodes for each node that changes, one after the other.
    struct Converted {
      size_t number;
      size_t end;  // in `added`
    };
    std::vector<Converted> converted;
    std::vector<GraphNode> added;
    std::vector<bool> is_dropped(graph_.nodes.size(), false);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const int pad = Convert(graph_.nodes[i], added);
      if (pad == kNone) continue;
      converted.push_back({i, added.size()});
      if (pad < static_cast<int>(i)) {
        is_dropped[static_cast<size_t>(pad)] = true;
      }
    }
    if (converted.empty()) return;
    std::vector<GraphNode> nodes;
    nodes.reserve(graph_.nodes.size() + added.size());
    size_t next = 0;
    size_t from = 0;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (next < converted.size() && converted[next].number == i) {
        for (; from < converted[next].end; ++from) {
          nodes.push_back(std::move(added[from]));
        }
        ++next;
      } else if (!is_dropped[i]) {
        nodes.push_back(std::move(graph_.nodes[i]));
      }
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  const GraphTensor& TensorOf(int t) const {
    return graph_.tensors[static_cast<size_t>(t)];
  }

  int NewTensor(DType dtype, const TensorShape& shape) {
    graph_.tensors.push_back({dtype, shape, std::nullopt, kNone});
    return static_cast<int>(graph_.tensors.size()) - 1;
  }

  static TensorType TypeOf(const TensorShape& shape, DType dtype) {
    return TensorType(Dims(shape.begin(), shape.end()), dtype);
  }

  static GraphNode NodeOf(relay::Call call, std::vector<int> inputs,
                          int output) {
    GraphNode result;
    result.call = std::move(call);
    for (const int t : inputs) result.args.push_back({.tensor = t});
    result.result = {.tensor = output};
    result.inputs = std::move(inputs);
    result.outputs = {output};
    return result;
  }

  GraphNode CastTo(DType dtype, int from, int to, const Span& span) const {
    return NodeOf(relay::Call(BATON_OP("cast"), {},
                              Attrs::Make(relay::CastAttrs{.dtype = dtype}), {},
                              TypeOf(TensorOf(to).shape, dtype), span),
                  {from}, to);
  }

  // Appends to `added` what `node` becomes. Returns the number of the padding
  // that is part of it, the number of nodes if there is none, and kNone if the
  // node stays.
  int Convert(const GraphNode& node, std::vector<GraphNode>& added) {
    const auto* attrs = node.call->attrs_as<relay::Conv2DAttrs>();
    if (attrs == nullptr || node.call->op() != BATON_OP("nn.conv2d") ||
        attrs->groups < 2 || attrs->data_layout != "NCHW" ||
        attrs->kernel_layout != "OIHW" ||
        (!attrs->out_layout.empty() && attrs->out_layout != "NCHW")) {
      return kNone;
    }
    int data = node.inputs[0];
    const GraphTensor& weight = TensorOf(node.inputs[1]);
    const int y = node.outputs[0];
    if (!TensorOf(data).dtype.is_byte() || !weight.dtype.is_byte() ||
        !weight.constant.has_value() || weight.shape.size() != 4 ||
        TensorOf(y).dtype != DType::Int(32) || weight.shape[1] >= kWord) {
      return kNone;
    }
    // There is a kernel for a filter for each channel.
    if (weight.shape[1] == 1 && weight.shape[0] == attrs->groups) {
      return kNone;
    }
    constexpr int64_t kMostProduct = 255 * 255;
    int64_t products = weight.shape[1];
    for (const int64_t extent : {weight.shape[2], weight.shape[3]}) {
      if (extent > kMostExact) return kNone;
      products *= extent;
    }
    if (products > kMostExact / kMostProduct) return kNone;
    std::optional<Padding> padding = PaddingOf(attrs->padding);
    if (!padding.has_value()) return kNone;
    int pad = static_cast<int>(graph_.nodes.size());
    if (const int producer = producers_[static_cast<size_t>(data)];
        producer != kNone && num_uses_[static_cast<size_t>(data)] == 1 &&
        AddPadding(graph_.nodes[static_cast<size_t>(producer)], *padding)) {
      pad = producer;
      data = graph_.nodes[static_cast<size_t>(producer)].inputs[0];
    }
    const DType real = DType::Float(32);
    const Span& span = node.call->span();
    const int from = NewTensor(real, TensorShape(TensorOf(data).shape));
    const int floats =
        NewTensor(real, TensorShape(TensorOf(node.inputs[1]).shape));
    graph_.tensors[static_cast<size_t>(floats)].constant =
        InFloats(*TensorOf(node.inputs[1]).constant);
    const int sums = NewTensor(real, TensorShape(TensorOf(y).shape));
    relay::Conv2DAttrs of_floats = *attrs;
    of_floats.padding = Dims(padding->begin(), padding->end());
    of_floats.out_dtype = DType();
    added.push_back(CastTo(real, data, from, span));
    added.push_back(NodeOf(
        relay::Call(node.call->op(), {}, Attrs::Make(std::move(of_floats)), {},
                    TypeOf(TensorOf(sums).shape, real), span),
        {from, floats}, sums));
    added.push_back(CastTo(DType::Int(32), sums, y, span));
    return pad;
  }

  static Tensor InFloats(const Tensor& bytes) {
    MutableTensor result =
        *MutableTensor::Create(DType::Float(32), bytes.shape());
    for (int64_t i = 0; i < bytes.num_elements(); ++i) {
      result.span<float>()[static_cast<size_t>(i)] =
          static_cast<float>(bytes.AtAsInt64(i));
    }
    return std::move(result).Freeze();
  }

  // Adds the padding of `node` to that of a convolution, if it is of zeros
  // around maps.
  bool AddPadding(const GraphNode& node, Padding& padding) const {
    const auto* attrs = node.call->attrs_as<relay::PadAttrs>();
    if (attrs == nullptr || node.op_name() != "nn.pad" ||
        attrs->pad_mode != "constant" || node.inputs.size() != 2 ||
        attrs->pad_width.size() != 4) {
      return false;
    }
    const std::optional<Tensor>& value = TensorOf(node.inputs[1]).constant;
    if (!value.has_value() || value->num_elements() != 1 ||
        !value->dtype().is_integral() || value->AtAsInt64(0) != 0) {
      return false;
    }
    Padding sum = padding;
    for (size_t d = 0; d < 4; ++d) {
      const auto& width = attrs->pad_width[d];
      if (width.size() != 2) return false;
      const int64_t before = width[0];
      const int64_t after = width[1];
      if (before < 0 || after < 0 || (d < 2 && before + after > 0)) {
        return false;
      }
      if (d >= 2) {
        sum[d - 2] += before;
        sum[d] += after;
      }
    }
    padding = sum;
    return true;
  }

  Graph& graph_;
  std::vector<int> producers_;  // nodes; kNone for inputs and constants
  std::vector<int> num_uses_;
};

}  // namespace

void ConvolveGroupsInFloats(Graph& graph) { Converter(graph).Run(); }

}  // namespace baton::cpu
