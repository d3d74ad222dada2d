#include "baton/backend/cpu/clipped_bytes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "baton/backend/cpu/graph.h"
#include "baton/base/dtype.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"

namespace baton::cpu {
namespace {

constexpr int kNone = -1;

class Caster {
 public:
  explicit Caster(Graph& graph) : graph_(graph) {}

  void Run() {
    const size_t size = graph_.tensors.size();
    users_.resize(size);
    producers_.assign(size, kNone);
    is_output_.assign(size, false);
    for (const int t : graph_.outputs)
      is_output_[static_cast<size_t>(t)] = true;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNode& node = graph_.nodes[i];
      for (const int t : node.outputs) {
        producers_[static_cast<size_t>(t)] = static_cast<int>(i);
      }
      for (const int t : node.inputs) {
        std::vector<int>& users = users_[static_cast<size_t>(t)];
        if (users.empty() || users.back() != static_cast<int>(i)) {
          users.push_back(static_cast<int>(i));
        }
      }
    }
    // The nodes behind each node, and those that are there instead.
    std::vector<std::optional<GraphNode>> added(graph_.nodes.size());
    std::vector<bool> moved(graph_.nodes.size(), false);
    bool changed = false;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (moved[i]) continue;
      const DType byte = ByteOf(graph_.nodes[i]);
      if (byte.is_void()) continue;
      changed = true;
      added[i] = CastTo(byte, graph_.nodes[i], moved);
    }
    if (!changed) return;
    std::vector<GraphNode> nodes;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!moved[i]) nodes.push_back(std::move(graph_.nodes[i]));
      if (added[i].has_value()) nodes.push_back(*std::move(added[i]));
    }
    graph_.nodes = std::move(nodes);
  }

 private:
  const GraphTensor& TensorOf(int t) const {
    return graph_.tensors[static_cast<size_t>(t)];
  }

  // The type of bytes that has the range of the clip `node`, whose users all
  // are casts to integers; void if nothing is to be done.
  DType ByteOf(const GraphNode& node) const {
    const auto* attrs = node.call->attrs_as<relay::ClipAttrs>();
    if (attrs == nullptr || node.call->op() != BATON_OP("clip") ||
        TensorOf(node.outputs[0]).dtype != DType::Float(32)) {
      return DType();
    }
    const bool is_unsigned = attrs->a_min >= 0;
    if (!(attrs->a_min <= attrs->a_max) || attrs->a_min < -128 ||
        attrs->a_max > (is_unsigned ? 255 : 127)) {
      return DType();
    }
    const int t = node.outputs[0];
    const std::vector<int>& users = users_[static_cast<size_t>(t)];
    if (is_output_[static_cast<size_t>(t)] || users.empty()) return DType();
    bool is_wide = false;
    for (const int user : users) {
      const GraphNode& cast = graph_.nodes[static_cast<size_t>(user)];
      if (cast.call->op() != BATON_OP("cast")) return DType();
      const DType to = TensorOf(cast.outputs[0]).dtype;
      if (!to.is_integral() || to.bits() < 8) return DType();
      // Bytes of the other sign wrap.
      if (to.bits() == 8 && to.is_uint() != is_unsigned) return DType();
      if (to.is_uint() && !is_unsigned) return DType();
      is_wide |= to.bits() > 8;
    }
    if (!is_wide || (users.size() == 1 && !WereSums(node.inputs[0]) &&
                     !(is_unsigned && FeedsProducts(users[0])))) {
      return DType();
    }
    return is_unsigned ? DType::UInt(8) : DType::Int(8);
  }

  // True if an epilogue computes the floats `t` from int32.
  bool WereSums(int t) const {
    constexpr int kMostSteps = 8;
    for (int k = 0; k < kMostSteps; ++k) {
      const int producer = producers_[static_cast<size_t>(t)];
      if (producer == kNone) return false;
      const GraphNode& node = graph_.nodes[static_cast<size_t>(producer)];
      if (node.inputs.empty()) return false;
      t = node.inputs[0];
      if (node.call->op() == BATON_OP("cast")) {
        return TensorOf(t).dtype == DType::Int(32);
      }
      if (node.call->op() != BATON_OP("add") &&
          node.call->op() != BATON_OP("clip") &&
          node.call->op() != BATON_OP("divide") &&
          node.call->op() != BATON_OP("multiply") &&
          node.call->op() != BATON_OP("nn.relu") &&
          node.call->op() != BATON_OP("round")) {
        return false;
      }
    }
    return false;
  }

  // True if products with constant matrices alone read the integers that the
  // cast `cast` makes, less one number: they read bytes faster.
  bool FeedsProducts(int cast) const {
    const auto users_of = [this](int node) -> const std::vector<int>& {
      return users_[static_cast<size_t>(
          graph_.nodes[static_cast<size_t>(node)].outputs[0])];
    };
    const auto reads = [this](int user) {
      const GraphNode& node = graph_.nodes[static_cast<size_t>(user)];
      return (node.call->op() == BATON_OP("nn.dense") ||
              node.call->op() == BATON_OP("nn.matmul")) &&
             TensorOf(node.inputs[1]).constant.has_value();
    };
    const std::vector<int>& differences = users_of(cast);
    return !differences.empty() &&
           std::all_of(
               differences.begin(), differences.end(), [&](int difference) {
                 const GraphNode& node =
                     graph_.nodes[static_cast<size_t>(difference)];
                 const std::vector<int>& products = users_of(difference);
                 return node.call->op() == BATON_OP("subtract") &&
                        TensorOf(node.inputs[1]).num_elements() == 1 &&
                        !products.empty() &&
                        std::all_of(products.begin(), products.end(), reads);
               });
  }

  // The cast of the clip `clip` to bytes, which all its users then read. A user
  // that is this cast is `moved`.
  GraphNode CastTo(DType byte, const GraphNode& clip,
                   std::vector<bool>& moved) {
    const int t = clip.outputs[0];
    GraphNode result;
    int bytes = kNone;
    for (const int user : users_[static_cast<size_t>(t)]) {
      GraphNode& cast = graph_.nodes[static_cast<size_t>(user)];
      if (TensorOf(cast.outputs[0]).dtype != byte) continue;
      // Equal calls are one.
      bytes = cast.outputs[0];
      moved[static_cast<size_t>(user)] = true;
      result = std::move(cast);
      break;
    }
    if (bytes == kNone) {
      const GraphTensor& floats = TensorOf(t);
      const TensorShape shape = floats.shape;
      bytes = static_cast<int>(graph_.tensors.size());
      graph_.tensors.push_back({byte, shape, std::nullopt, kNone});
      result.call = relay::Call(
          BATON_OP("cast"), {}, Attrs::Make(relay::CastAttrs{.dtype = byte}),
          {}, TensorType(Dims(shape.begin(), shape.end()), byte),
          clip.call->span());
      result.args = {{.tensor = t}};
      result.result = {.tensor = bytes};
      result.inputs = {t};
      result.outputs = {bytes};
    }
    for (const int user : users_[static_cast<size_t>(t)]) {
      if (moved[static_cast<size_t>(user)]) continue;
      GraphNode& cast = graph_.nodes[static_cast<size_t>(user)];
      cast.args = {{.tensor = bytes}};
      cast.inputs = {bytes};
    }
    return result;
  }

  Graph& graph_;
  std::vector<std::vector<int>> users_;
  std::vector<int> producers_;  // nodes; kNone for inputs and constants
  std::vector<bool> is_output_;
};

}  // namespace

void CastClippedToBytes(Graph& graph) { Caster(graph).Run(); }

}  // namespace baton::cpu
