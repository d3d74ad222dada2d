// The dataflow of a function: calls of operators on tensors of known shapes.
//
// A graph is a function without its variables, lets, tuples and calls of other
// functions: all are resolved. Branches and loops are nodes with graphs inside.
// The nodes that remain become steps of a plan.

#ifndef BATON_BACKEND_CPU_GRAPH_H_
#define BATON_BACKEND_CPU_GRAPH_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"

namespace baton::cpu {

// A tensor of the graph: a parameter, a constant or the result of a node.
struct GraphTensor {
  DType dtype;
  TensorShape shape;
  std::optional<Tensor> constant;
  int input = -1;  // the index of the parameter; -1 for any other tensor

  int64_t num_elements() const;
  int64_t bytes() const { return num_elements() * dtype.bytes(); }
};

// An argument or a result: a tensor or a tuple.
struct GraphValue {
  int tensor = -1;  // index in Graph::tensors; negative for a tuple
  std::vector<GraphValue> fields = {};

  bool is_tensor() const { return tensor >= 0; }
};

struct GraphRegion;

// A call of an operator, or a region.
struct GraphNode {
  relay::Call call;  // operator, attributes, type, span; it has no arguments
  // The region; null for a call. The `call` of a region is of an operator that
  // is not registered: cpu.if, cpu.loop, cpu.evaluate.
  std::shared_ptr<const GraphRegion> region = nullptr;
  std::vector<GraphValue> args;
  GraphValue result;
  // The tensors of `args` and `result`, in order: indices in Graph::tensors.
  std::vector<int> inputs;
  std::vector<int> outputs;

  const std::string& op_name() const { return call->op_node()->name(); }
};

// The tensors and nodes of a function, or of a part of one.
struct Graph {
  std::vector<GraphTensor> tensors;
  std::vector<GraphNode> nodes;  // each after those that it uses
  std::vector<std::string> input_names;
  std::vector<int> inputs;  // the tensor of each parameter
  GraphValue result;
  std::vector<int> outputs;  // the tensors of `result`, in order
};

// Graphs that a node chooses among or repeats, or a program for the evaluator.
struct GraphRegion {
  enum class Kind {
    // Input 0 is the condition. The graphs are the true branch and the false
    // branch.
    kIf,
    // The first `num_state` inputs are the initial loop-carried values. The
    // graphs are condition, body and result; each takes the loop-carried values
    // and other inputs.
    kLoop,
    // The evaluator calls `function` with all inputs.
    kEvaluate,
  };
  Kind kind = Kind::kIf;
  std::vector<Graph> graphs;
  // For each graph, the inputs of the node that are its inputs.
  std::vector<std::vector<int>> inputs;
  int num_state = 0;  // loop-carried values
  // The loop continues while the condition has this value.
  bool continue_value = true;
  relay::Function function;
  IRModule module;  // has the functions that `function` calls
};

// Builds the graph of the function `name` of a typed module. Inlines calls of
// functions, and takes the branch of a constant condition. A tail-recursive
// function on tensors of constant shapes becomes a kLoop; any other recursive
// function without free variables becomes a kEvaluate. Errors have source
// locations: symbolic dimensions, and values that a graph cannot express
// (references, data types, functions as results).
absl::StatusOr<Graph> BuildGraph(const IRModule& module,
                                 absl::string_view name);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_GRAPH_H_
