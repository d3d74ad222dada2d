// Converters from ONNX operators to Relay expressions.
//
// A converter is one function and the range of opset versions that it supports:
//
//   absl::StatusOr<Outputs> ConvertElu(NodeContext& node) {
//     const Expr& x = node.Input(0);
//     ...
//     return One(relay::Where(...));
//   }
//   BATON_ONNX_CONVERTERS({{.op = "Elu", .convert = ConvertElu}});
//
// Other repositories register converters for their domains, or for other
// versions, in the same way.

#ifndef BATON_ONNX_CONVERTER_H_
#define BATON_ONNX_CONVERTER_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/registry.h"
#include "baton/base/tensor.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/onnx/model.h"
#include "baton/onnx/tensor_reader.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// The domain of ONNX Runtime's own operators.
inline constexpr absl::string_view kMicrosoftDomain = "com.microsoft";

// The values of a node's outputs, at least as many as it has. Null is an absent
// value (an optional). A sequence is a tuple: its length is known.
using Outputs = std::vector<Expr>;

inline Outputs One(Expr value) { return {std::move(value)}; }

// Converts graphs inside of nodes.
class GraphConverter {
 public:
  virtual ~GraphConverter() = default;
  // The outputs of a GraphProto for the given inputs. The graph may use the
  // values around the node. `what` names the graph in errors ("then branch").
  virtual absl::StatusOr<Outputs> ConvertGraph(absl::string_view graph,
                                               absl::Span<const Expr> inputs,
                                               absl::string_view what) = 0;
  // Checks what a GraphProto says of its inputs against the typed values that
  // it is given: element types, ranks, and extents that are numbers. For bodies
  // of scans, whose inputs are slices of other tensors: a wrong axis, or a
  // state of another shape, often differs in extents alone, and most bodies
  // accept any extents. Does not compare extents if
  // OnnxImportOptions::input_shapes (--input_shapes) replaces shapes of the
  // model, for which the body declares its extents. A graph whose shapes may
  // change from call to call must not be checked.
  virtual absl::Status CheckInputs(absl::string_view graph,
                                   absl::Span<const Expr> inputs) const = 0;
  // As ConvertGraph, for the body of a function. The function needs values
  // around the node as parameters: `capture` returns the expression for such a
  // value, unless it is a constant.
  virtual absl::StatusOr<Outputs> ConvertBody(
      absl::string_view graph, absl::Span<const Expr> inputs,
      absl::string_view what, absl::FunctionRef<Expr(const Expr&)> capture) = 0;
  virtual TensorSource& tensors() = 0;
  // The element type that the model declares for `value`, if Baton stores it in
  // a wider one (NarrowTypeOf); kUndefined otherwise.
  virtual ElementType NarrowType(const Expr& value) const = 0;
  // The elements of a typed integer tensor as far as the shapes of the program
  // determine them (ShapeValues::Find). Null if nothing is known; valid until
  // the next call.
  virtual const Dims* ElementsOf(const Expr& value) = 0;
  // False if `value` depends on values of inputs, so that folding cannot make
  // it a constant. Takes time linear in the nodes that are new since the last
  // call.
  virtual bool MayBeConstant(const Expr& value) = 0;
  // OnnxImportOptions::keeps_weights.
  virtual bool keeps_weights() const { return false; }
  // Notes that the conversion at hand fails unless `value` is known.
  virtual void NoteNeeded(const Expr& /*value*/) {}
  // Notes that the parameter `param` of a function begins as `initial`.
  virtual void NoteParam(const Expr& /*param*/, const Expr& /*initial*/) {}
};

// A node being converted, with the values of its inputs.
class NodeContext {
 public:
  // `inputs` are typed; an optional input that is absent is null.
  NodeContext(const NodeProto& node, int64_t opset, std::vector<Expr> inputs,
              Span span, GraphConverter& graphs)
      : node_(node),
        opset_(opset),
        inputs_(std::move(inputs)),
        span_(std::move(span)),
        graphs_(graphs) {}

  const NodeProto& node() const { return node_; }
  // The opset version of the node's domain.
  int64_t opset() const { return opset_; }
  const Span& span() const { return span_; }
  GraphConverter& graphs() { return graphs_; }

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(node_.outputs.size()); }
  bool HasInput(int i) const {
    return i < num_inputs() && inputs_[i].defined();
  }
  bool HasOutput(int i) const {
    return i < num_outputs() && !node_.outputs[i].empty();
  }
  // The typed expression of input `i`. If the input is absent, status() becomes
  // an error and the result is a scalar.
  const Expr& Input(int i);
  absl::Span<const Expr> inputs() const { return inputs_; }

  // The value of input `i`, which must be known, since the shape of a result or
  // the operator depends on it. The error says how to make it known.
  absl::StatusOr<Tensor> Constant(int i);
  absl::StatusOr<std::vector<int64_t>> ConstantInts(int i);
  absl::StatusOr<std::vector<double>> ConstantFloats(int i);
  bool IsConstant(int i) const;
  // The elements of an integer input as far as shapes determine them: `N` for
  // an element computed from the shape (N, 3). Nullopt if nothing is known.
  std::optional<Dims> Elements(int i);

  // Attributes, with their defaults if they are absent. A wrong type makes
  // status() an error.
  bool HasAttr(absl::string_view name) const {
    return node_.Find(name) != nullptr;
  }
  int64_t Int(absl::string_view name, int64_t otherwise);
  double Float(absl::string_view name, double otherwise);
  std::string String(absl::string_view name, absl::string_view otherwise);
  std::optional<std::vector<int64_t>> Ints(absl::string_view name);
  std::vector<double> Floats(absl::string_view name);
  std::vector<std::string> Strings(absl::string_view name);
  absl::StatusOr<Tensor> TensorAttr(absl::string_view name);
  // An attribute that is a sparse tensor, with all its elements.
  absl::StatusOr<Tensor> SparseTensorAttr(absl::string_view name);
  // The message of a subgraph attribute.
  absl::StatusOr<absl::string_view> Graph(absl::string_view name);

  // The element type that the model declares for input `i`, if Baton stores it
  // in a wider one (NarrowTypeOf); otherwise kUndefined. Output 0 has the
  // element type of input 0, if both are stored alike, unless SetNarrowType is
  // called.
  ElementType NarrowType(int i) const {
    return HasInput(i) ? graphs_.NarrowType(inputs_[i])
                       : ElementType::kUndefined;
  }
  void SetNarrowType(ElementType type) { narrow_type_ = type; }
  std::optional<ElementType> narrow_type() const { return narrow_type_; }

  // Returns `expr` with types; errors show the place of the node.
  absl::StatusOr<Expr> Typed(Expr expr);

  // The first error of Input() and of the attributes.
  const absl::Status& status() const { return status_; }
  // True if `status` is an error of Typed(), which already has a place.
  bool IsLocated(const absl::Status& status) const {
    return !status.ok() && status == located_error_;
  }

 private:
  const AttributeProto* Attr(absl::string_view name, AttributeProto::Type type);
  void Fail(absl::Status status);

  const NodeProto& node_;
  int64_t opset_;
  std::vector<Expr> inputs_;
  Span span_;
  GraphConverter& graphs_;
  absl::Status status_;
  absl::Status located_error_;  // the last one of Typed()
  std::optional<ElementType> narrow_type_;
};

// The functions below take typed expressions. Errors are Unimplemented.
absl::StatusOr<const TensorTypeNode*> TensorTypeOf(const Expr& expr);
absl::StatusOr<int> RankOf(const Expr& expr);
absl::StatusOr<DType> ElementTypeOf(const Expr& expr);
// All dimensions; an error if a dimension is unknown.
absl::StatusOr<std::vector<int64_t>> ShapeOf(const Expr& expr);
// As ShapeOf, but the first axis, a batch, may be unknown: its extent is then
// `unknown`.
absl::StatusOr<std::vector<int64_t>> ShapeOfBatch(const Expr& expr,
                                                  int64_t unknown);
// Converts an `axis` in [-rank, rank) to one in [0, rank).
absl::StatusOr<int> NormalAxis(int64_t axis, int rank);
absl::StatusOr<std::vector<int64_t>> NormalAxes(std::vector<int64_t> axes,
                                                int rank);
// As NormalAxes; an axis that is named twice is InvalidArgument.
absl::StatusOr<std::vector<int64_t>> DistinctAxes(std::vector<int64_t> axes,
                                                  int rank);
// A scalar constant of the element type of `like`, which is typed.
Expr ScalarLike(double value, const Expr& like);
// Input `i`, which must be one element, as a scalar. A tensor of several
// elements is InvalidArgument; of an unknown number it is an error when it is
// computed.
absl::StatusOr<Expr> ScalarInput(NodeContext& node, int i);
// A constant of rank 1.
Expr VectorConstant(absl::Span<const int64_t> values,
                    DType dtype = DType::Int(64));

using ConvertFn = absl::StatusOr<Outputs> (*)(NodeContext& node);

// A converter, and the operator and opset versions that it supports.
struct OpConverter {
  static constexpr int kNewest = 1 << 30;

  absl::string_view op;
  ConvertFn convert = nullptr;
  int first_opset = 1;
  int last_opset = kNewest;
  absl::string_view domain = "";
};

// All converters, under `DOMAIN:OP@FIRST_OPSET`.
Registry<OpConverter>& OpConverters();
bool RegisterOpConverters(std::initializer_list<OpConverter> converters,
                          CodeLocation location = CodeLocation::Current());

// The converter for the version `opset`; null if there is none.
const OpConverter* FindOpConverter(absl::string_view domain,
                                   absl::string_view op, int64_t opset);

#define BATON_ONNX_CONVERTERS(...)                            \
  [[maybe_unused]] static const bool baton_onnx_converters_ = \
      ::baton::onnx::RegisterOpConverters(__VA_ARGS__)

}  // namespace baton::onnx

#endif  // BATON_ONNX_CONVERTER_H_
