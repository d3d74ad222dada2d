// Exporters from calls of Relay operators to ONNX nodes.
//
// An exporter is one function, which is a property of the operator:
//
//   absl::StatusOr<Values> ExportLeakyRelu(CallExport& call) {
//     return call.Node("LeakyRelu", {call.Arg(0)},
//                      NodeAttributes().Float("alpha", alpha));
//   }
//   BATON_EXTEND_OP("nn.leaky_relu").Set(OnnxExporters(), ExportLeakyRelu);
//
// Other repositories register exporters for their operators in the same way.

#ifndef BATON_ONNX_EXPORTER_H_
#define BATON_ONNX_EXPORTER_H_

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/schema.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// The oldest and the newest version of ONNX's own operators that can be
// written.
inline constexpr int kOldestExportOpset = 13;
inline constexpr int kNewestExportOpset = 21;

// A typed call being exported.
class CallExport {
 public:
  // The values of an argument: one for a tensor; for a tuple, one for each
  // field.
  using Lookup = absl::FunctionRef<const Values&(const Expr&)>;
  // The expression to which a let binds a variable; other expressions
  // themselves.
  using Resolve = absl::FunctionRef<const Expr&(const Expr&)>;

  CallExport(const relay::CallNode& call, int opset, Graph& graph,
             Lookup lookup, Resolve resolve)
      : call_(call),
        opset_(opset),
        graph_(graph),
        lookup_(lookup),
        resolve_(resolve) {}

  const relay::CallNode& call() const { return call_; }
  int opset() const { return opset_; }
  Graph& graph() { return graph_; }

  // The attributes of the call; the defaults if it has none.
  template <typename T>
  const T& attrs() const {
    return AttrsOrDefaults<T>(call_.attrs());
  }

  int num_args() const { return call_.num_args(); }
  // The value of an argument that is a tensor.
  ValueId Arg(int i) { return lookup_(call_.arg(i))[0]; }
  // The fields of an argument that is a tuple.
  const Values& Fields(int i) { return lookup_(call_.arg(i)); }
  // The value of another expression on which an argument depends.
  ValueId Of(const Expr& expr) { return lookup_(expr)[0]; }
  // An argument, or the expression to which a let binds it.
  const Expr& Definition(int i) const { return resolve_(call_.arg(i)); }
  const Expr& Definition(const Expr& expr) const { return resolve_(expr); }

  // Null if the argument is not constant.
  const Tensor* Constant(int i) { return graph_.ConstantOf(Arg(i)); }
  // Null if the argument is not a tensor.
  const TensorTypeNode* ArgType(int i) const {
    return call_.arg(i)->tensor_type();
  }
  // The rank and dtype of an argument that is a tensor; typed calls have them.
  int Rank(int i) const { return ArgType(i)->rank(); }
  DType ElementType(int i) const { return ArgType(i)->dtype(); }
  // The type of the result, or of its first field.
  const TensorTypeNode* ResultType() const;

  // Adds a node with one output, or several.
  ValueId Node(absl::string_view op, absl::Span<const ValueId> inputs,
               NodeAttributes attributes = {});
  ValueId Node(absl::string_view op, std::initializer_list<ValueId> inputs,
               NodeAttributes attributes = {}) {
    return Node(op, absl::MakeConstSpan(inputs.begin(), inputs.size()),
                std::move(attributes));
  }
  Values Nodes(absl::string_view op, absl::Span<const ValueId> inputs,
               NodeAttributes attributes, int num_outputs);

  // Constants.
  ValueId Scalar(double value, DType dtype);
  ValueId Ints(absl::Span<const int64_t> values);
  ValueId TensorConstant(Tensor value);

  // Nodes that many exporters need; constants are computed at once.
  ValueId Cast(ValueId value, DType from, DType to);  // `value` if the dtypes
                                                      // agree
  ValueId Transpose(ValueId value, absl::Span<const int64_t> axes);
  ValueId Reshape(ValueId value, absl::Span<const int64_t> shape);
  ValueId Unsqueeze(ValueId value, absl::Span<const int64_t> axes);
  ValueId Squeeze(ValueId value, absl::Span<const int64_t> axes);

  // The errors of these functions are Unimplemented.
  //
  // All dimensions of an argument, or of the result.
  absl::StatusOr<std::vector<int64_t>> Shape(int i) const;
  absl::StatusOr<std::vector<int64_t>> ResultShape() const;
  // OK if the opset is at least `opset`.
  absl::Status Needs(int opset) const;

  // The first node that was added here with inputs of element types that ONNX's
  // operator does not take; else OK.
  const absl::Status& status() const { return status_; }

 private:
  // The element type that a value counts as; 0 if it is not clear.
  ElementTypes TypesOf(ValueId value) const;
  // Checks the inputs of a node that was added, and notes the types of its
  // outputs.
  void NoteTypes(absl::string_view op, absl::Span<const ValueId> inputs,
                 absl::Span<const ValueId> outputs);

  const relay::CallNode& call_;
  int opset_;
  Graph& graph_;
  Lookup lookup_;
  Resolve resolve_;
  absl::Status status_;
  // The element types of values that were added here, where they are clear.
  FlatHashMap<ValueId, ElementTypes> element_types_;
};

// The values of the result: one for a tensor; for a tuple, one for each field.
// Errors say what cannot be expressed in ONNX; the caller adds the operator and
// the place.
using ExportFn = absl::StatusOr<Values> (*)(CallExport& call);

OpProperty<ExportFn>& OnnxExporters();

// Converts an axis of a typed call, in [-rank, rank), to one in [0, rank).
constexpr int64_t FromFront(int64_t axis, int rank) {
  return axis < 0 ? axis + rank : axis;
}

// The dimensions as numbers; Unimplemented if a dimension is unknown.
absl::StatusOr<std::vector<int64_t>> KnownDims(absl::Span<const Dim> dims,
                                               absl::string_view what);

}  // namespace baton::onnx

#endif  // BATON_ONNX_EXPORTER_H_
