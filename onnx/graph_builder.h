// Builder of an ONNX graph: values by number, nodes in order.
//
//   Graph graph;
//   const ValueId x = graph.AddInput("x", type);
//   const ValueId y = graph.AddNode("Relu", {x}, {}, 1, span)[0];
//   graph.SetOutputs({{y, "y", type}});
//   graph.Simplify();
//   BATON_ASSIGN_OR_RETURN(OnnxModel model, graph.Write(options));
//
// Names are assigned last, when the remaining nodes are known.

#ifndef BATON_ONNX_GRAPH_BUILDER_H_
#define BATON_ONNX_GRAPH_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/onnx/wire_writer.h"

namespace baton::onnx {

// A value of the graph, or of a graph inside of it.
using ValueId = int;
inline constexpr ValueId kNoValue = -1;  // an absent input
using Values = std::vector<ValueId>;

// Attributes of a node, in the order in which they are added.
class NodeAttributes {
 public:
  NodeAttributes& Int(absl::string_view name, int64_t value);
  NodeAttributes& Float(absl::string_view name, double value);
  NodeAttributes& String(absl::string_view name, absl::string_view value);
  NodeAttributes& Ints(absl::string_view name, absl::Span<const int64_t> value);
  NodeAttributes& TensorValue(absl::string_view name, const Tensor& value);

  // The attributes as fields of a NodeProto.
  const std::string& fields() const { return fields_.bytes(); }

 private:
  WireWriter fields_;
};

// The content of the files, in pieces: tensors are not copied.
class OnnxModel {
 public:
  // The pieces of the model's file, in order. Valid during the lifetime of this
  // object.
  absl::Span<const absl::string_view> pieces() const { return pieces_; }
  // The pieces of the file of external data; empty if there is none.
  absl::Span<const absl::string_view> external_pieces() const {
    return external_pieces_;
  }
  // The model's file as one string.
  std::string ToString() const;

 private:
  friend class Graph;
  std::vector<std::unique_ptr<const std::string>> texts_;
  std::vector<Tensor> tensors_;
  std::vector<absl::string_view> pieces_;
  std::vector<absl::string_view> external_pieces_;
};

struct GraphWriteOptions {
  int opset = 17;
  std::string graph_name = "main";
  // Keys, each followed by its value.
  std::vector<std::string> metadata;
  // The file beside the model for large tensors; if empty, they are in the
  // model.
  std::string external_data;
  // Tensors of at least this many bytes are large.
  int64_t external_bytes = 1024;
};

// A graph under construction, with the graphs inside of its nodes.
class Graph {
 public:
  struct Output {
    ValueId value;
    std::string name;  // empty: any name
    Type type;
  };

  // Adds an input to the open graph.
  ValueId AddInput(std::string name, Type type);
  // Adds a constant. Small constants without a place share one value if their
  // contents are equal.
  ValueId AddConstant(Tensor value, const Span& span = {});
  Values AddNode(absl::string_view op, absl::Span<const ValueId> inputs,
                 NodeAttributes attributes, int num_outputs, const Span& span);
  void SetOutputs(std::vector<Output> outputs);

  // Begin and end a graph inside of a node. Between the two calls, nodes are
  // added to it. Its outputs may be values of a graph around it.
  void BeginGraph();
  int EndGraph(std::vector<Output> outputs);  // returns its number
  // Adds a node whose attributes of these names are `graphs`.
  Values AddNodeWithGraphs(
      absl::string_view op, absl::Span<const ValueId> inputs,
      std::vector<std::pair<absl::string_view, int>> graphs, int num_outputs,
      const Span& span);

  // Null if the value is not constant, or its type is unknown.
  const Tensor* ConstantOf(ValueId value) const;
  const TensorTypeNode* TypeOf(ValueId value) const;
  void SetType(ValueId value, Type type);
  // The inputs of the node that produces the value; empty if that is not `op`.
  absl::Span<const ValueId> InputsOf(ValueId value, absl::string_view op) const;

  // Drops nodes that no output needs, and moves additions into the convolutions
  // and matrix products before them that have an operand for it.
  void Simplify();

  // The number of remaining nodes, including inner graphs.
  int num_nodes() const;

  // ResourceExhausted if the model exceeds 2 GB and there is no external data.
  absl::StatusOr<OnnxModel> Write(const GraphWriteOptions& options);

 private:
  struct Node {
    absl::string_view op;  // empty if the node was dropped
    absl::InlinedVector<ValueId, 3> inputs;
    absl::InlinedVector<ValueId, 1> outputs;
    NodeAttributes attributes;
    Span span;         // the node is named after it
    Span result_span;  // its outputs are named after it
    std::vector<std::pair<absl::string_view, int>> graphs;
    std::string name;
  };
  struct Value {
    Type type;
    int constant = -1;  // among constants_
    // The producing node, as an index into `nodes` of the graph.
    int graph = -1;
    int node = -1;
    int uses = 0;
    std::string name;
  };
  struct Body {
    std::vector<ValueId> inputs;
    std::vector<Node> nodes;
    std::vector<Output> outputs;
  };
  struct ConstantEntry {
    Tensor value;
    Span span;
    ValueId id;
  };

  ValueId NewValue();
  Node& NodeOf(ValueId value) {
    return graphs_[values_[value].graph].nodes[values_[value].node];
  }
  // The node that produces the value, if that is a node of the graph with
  // `num_inputs` inputs and the value has no other use; otherwise null.
  Node* SoleProducer(int graph, ValueId value, size_t num_inputs);
  void SeparateOutputs(int graph);
  void DropUnused();
  void MergeAdd(int graph, int node);
  bool MergeIntoProduct(int graph, Node& add, ValueId product, ValueId addend);
  ValueId ConvolutionBias(ValueId addend, ValueId sum, const Tensor* known);
  void NameAll();
  std::string UniqueName(std::string wanted);
  void WriteNode(const Node& node, int opset, WireWriter& graph) const;
  void WriteBody(const Body& body, int opset, WireWriter& graph) const;

  std::vector<Body> graphs_ = std::vector<Body>(1);
  std::vector<int> open_ = {0};
  std::vector<Value> values_;
  std::deque<ConstantEntry> constants_;  // pointers to them stay valid
  FlatHashMap<std::string, ValueId> small_constants_;
  FlatHashSet<std::string> names_;
  FlatHashMap<std::string, int> name_counts_;
};

}  // namespace baton::onnx

#endif  // BATON_ONNX_GRAPH_BUILDER_H_
