// Converters of If, Loop and Scan. If the number of rounds is known, they are
// unrolled; otherwise a loop becomes a function that calls itself.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/recursive_function.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

// Loops whose number of rounds is known are unrolled up to this number.
constexpr int64_t kMaxRounds = 10'000;

// The error of a body with `given` outputs that must have `wanted`.
absl::Status WrongOutputs(size_t given, size_t wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("the body has ", given, " outputs, but must have ", wanted));
}

Expr ScalarOf(const Expr& x) {
  const TensorTypeNode* type = x->tensor_type();
  return type == nullptr || type->rank() == 0 ? x : relay::Reshape(x, {});
}

// Refuses empty optionals as results of branches and of rounds.
absl::Status CheckDefined(absl::Span<const Expr> values) {
  for (const Expr& value : values) {
    if (!value.defined()) {
      return absl::UnimplementedError(
          "a result that is an empty optional is not supported");
    }
  }
  return absl::OkStatus();
}

// Refuses outputs of the branches that are tensors of different ranks, as
// exporters write them where a shape decides whether an axis is removed, or of
// different known extents: a value has one type.
absl::Status CheckShapes(absl::Span<const Expr> then_values,
                         absl::Span<const Expr> else_values) {
  for (size_t i = 0; i < then_values.size(); ++i) {
    const TensorTypeNode* a = then_values[i]->tensor_type();
    const TensorTypeNode* b = else_values[i]->tensor_type();
    if (a == nullptr || b == nullptr) continue;
    bool differ = a->rank() != b->rank();
    for (int axis = 0; !differ && axis < a->rank(); ++axis) {
      differ = a->dim(axis).is_const() && b->dim(axis).is_const() &&
               a->dim(axis) != b->dim(axis);
    }
    if (!differ) continue;
    return absl::UnimplementedError(absl::StrCat(
        "the branches give tensors of the shapes ",
        relay::ShapeToString(a->shape()), " and ",
        relay::ShapeToString(b->shape()),
        ": the condition must be known; the shapes of the model's inputs, or "
        "their values, may decide about it (--input_shapes, "
        "--input_values)"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Outputs> ConvertIf(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const absl::string_view then_graph,
                         node.Graph("then_branch"));
  BATON_ASSIGN_OR_RETURN(const absl::string_view else_graph,
                         node.Graph("else_branch"));
  const Expr& cond = node.Input(0);
  if (const Tensor* known = relay::ConstantTensor(cond)) {
    if (known->num_elements() != 1) {
      return absl::InvalidArgumentError("the condition is no scalar");
    }
    const bool is_true = known->AtAsInt64(0) != 0;
    return node.graphs().ConvertGraph(is_true ? then_graph : else_graph, {},
                                      is_true ? "then" : "else");
  }
  // A branch that is not taken may not suit the shapes of the inputs.
  const auto convert = [&](absl::string_view graph, absl::string_view what) {
    absl::StatusOr<Outputs> outputs =
        node.graphs().ConvertGraph(graph, {}, what);
    if (!outputs.ok()) node.graphs().NoteNeeded(cond);
    return outputs;
  };
  BATON_ASSIGN_OR_RETURN(Outputs then_values, convert(then_graph, "then"));
  BATON_ASSIGN_OR_RETURN(Outputs else_values, convert(else_graph, "else"));
  if (then_values.size() != else_values.size() || then_values.empty()) {
    return absl::InvalidArgumentError("the branches differ in outputs");
  }
  BATON_RETURN_IF_ERROR(CheckDefined(then_values));
  BATON_RETURN_IF_ERROR(CheckDefined(else_values));
  if (absl::Status status = CheckShapes(then_values, else_values);
      !status.ok()) {
    node.graphs().NoteNeeded(cond);
    return status;
  }
  if (then_values.size() == 1) {
    return One(relay::If(ScalarOf(cond), std::move(then_values[0]),
                         std::move(else_values[0])));
  }
  const size_t count = then_values.size();
  BATON_ASSIGN_OR_RETURN(
      const Expr both,
      node.Typed(relay::If(ScalarOf(cond), relay::Tuple(std::move(then_values)),
                           relay::Tuple(std::move(else_values)))));
  Outputs result;
  for (size_t i = 0; i < count; ++i) {
    result.push_back(relay::TupleGetItem(both, static_cast<int>(i)));
  }
  return result;
}

// A scalar that must be known, `otherwise` if not given.
absl::StatusOr<int64_t> KnownScalar(NodeContext& node, int i,
                                    int64_t otherwise) {
  if (!node.HasInput(i)) return otherwise;
  BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                         node.ConstantInts(i));
  if (values.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " is no scalar"));
  }
  return values[0];
}

// True if KnownScalar() returns a number.
bool IsKnownScalar(NodeContext& node, int i) {
  return !node.HasInput(i) || node.Constant(i).ok();
}

// A stack of no elements of the type of `element` along `axis`. Null if its
// shape is not known.
absl::StatusOr<Expr> EmptyStack(const Expr& element, int64_t axis) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(element));
  const auto known = ConstDims(type->shape());
  if (!known.has_value()) return Expr();
  Ints shape(known->begin(), known->end());
  BATON_ASSIGN_OR_RETURN(const int at,
                         NormalAxis(axis, static_cast<int>(shape.size()) + 1));
  shape.insert(shape.begin() + at, 0);
  return relay::Zeros(std::move(shape), type->dtype());
}

// Stacks what each round gave.
absl::StatusOr<Outputs> WithStacked(Outputs values,
                                    std::vector<std::vector<Expr>> scans) {
  for (std::vector<Expr>& scan : scans) {
    BATON_RETURN_IF_ERROR(CheckDefined(scan));
    values.push_back(relay::Stack(std::move(scan), 0));
  }
  return values;
}

// A shape as a vector of int64, computed outside of the function: of numbers
// and of extents that its parameters have at first. Null if it has others.
Expr InitialExtents(const RecursiveFunction& function,
                    absl::Span<const Dim> shape) {
  std::vector<Expr> parts;
  for (const Dim& dim : shape) {
    Expr part;
    if (dim.is_const()) part = VectorConstant({dim.value()});
    for (const Expr& value : function.initial()) {
      const TensorTypeNode* type = value->tensor_type();
      for (int i = 0; type != nullptr && i < type->rank(); ++i) {
        if (!part.defined() && relay::ProvablyEqual(dim, type->dim(i))) {
          part = relay::ExpandDims(ExtentOf(value, i), 0);
        }
      }
    }
    if (!part.defined()) return Expr();
    parts.push_back(std::move(part));
  }
  return relay::Concatenate(std::move(parts), 0);
}

// The scan outputs of a loop: the elements of its rounds, stacked along a new
// axis 0.
class Stacks {
 public:
  explicit Stacks(RecursiveFunction& function) : function_(function) {}

  // Adds a parameter to which each round adds `element`; it is the next of
  // `results`.
  absl::Status Add(const std::string& name, const Expr& element,
                   std::vector<Expr>& results);

  // Adds to the results what Finish needs. `round` is the parameter that counts
  // rounds. No stack is added afterwards.
  void AddShapes(const Expr& round, std::vector<Expr>& results);

  // Makes the stacks of the values of the results, and drops what AddShapes
  // added.
  void Finish(Outputs& values) const;

 private:
  // A stack of elements whose extents are not known outside of the loop: a
  // vector of all their elements, and the shape of the last of them.
  struct Flat {
    size_t place;  // among the results
    Expr shape;
  };

  RecursiveFunction& function_;
  std::vector<Flat> flat_;
  size_t count_ = 0;  // of the results without what AddShapes adds
};

absl::Status Stacks::Add(const std::string& name, const Expr& element,
                         std::vector<Expr>& results) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(element));
  Dims dims(type->shape().begin(), type->shape().end());
  dims.insert(dims.begin(), Dim(0));
  Expr none;
  if (const auto shape = ConstDims(dims)) {
    none = relay::Zeros(Ints(shape->begin(), shape->end()), type->dtype());
  } else if (Expr extents = InitialExtents(function_, dims);
             extents.defined()) {
    none = relay::Call(BATON_OP("dyn.zeros"), {std::move(extents)},
                       Attrs::Make(relay::InitOpAttrs{.dtype = type->dtype()}));
  }
  if (none.defined()) {
    dims[0] = Dim::Any();
    BATON_ASSIGN_OR_RETURN(
        const Expr stack,
        function_.AddParam(name, std::move(none),
                           TensorType(std::move(dims), type->dtype())));
    function_.SetNext(
        stack, relay::Concatenate({stack, relay::ExpandDims(element, 0)}, 0));
    results.push_back(stack);
    return absl::OkStatus();
  }
  BATON_ASSIGN_OR_RETURN(
      const Expr elements,
      function_.AddParam(name, relay::Zeros({0}, type->dtype()),
                         TensorType({Dim::Any()}, type->dtype())));
  function_.SetNext(
      elements,
      relay::Concatenate({elements, relay::Reshape(element, {-1})}, 0));
  // Before the first round, 0 for what is not known.
  Ints known;
  for (const Dim& dim : type->shape()) {
    known.push_back(dim.is_const() ? dim.value() : 0);
  }
  BATON_ASSIGN_OR_RETURN(
      const Expr shape,
      function_.AddParam(absl::StrCat(name, "_shape"), VectorConstant(known),
                         TensorType({Dim(type->rank())}, DType::Int(64))));
  function_.SetNext(shape, relay::ShapeOf(element, DType::Int(64)));
  flat_.push_back({results.size(), shape});
  results.push_back(elements);
  return absl::OkStatus();
}

void Stacks::AddShapes(const Expr& round, std::vector<Expr>& results) {
  count_ = results.size();
  if (flat_.empty()) return;
  results.push_back(round);
  for (const Flat& flat : flat_) results.push_back(flat.shape);
}

void Stacks::Finish(Outputs& values) const {
  for (size_t i = 0; i < flat_.size(); ++i) {
    values[flat_[i].place] = relay::Call(
        BATON_OP("dyn.reshape"),
        {values[flat_[i].place],
         relay::Concatenate(
             {relay::ExpandDims(values[count_], 0), values[count_ + 1 + i]},
             0)},
        Attrs::Make(relay::ReshapeAttrs{.allowzero = true}));
  }
  values.resize(count_);
}

// A loop as a function of the number of the round, the condition, the limit if
// there is one, the carried values, what was scanned out so far, and the values
// around the node that the body uses:
//
//   let %loop = fn (%i, %go_on, %limit, ...) -> (...) {
//     if (%go_on && %i < %limit) {
//       %loop(%i + 1, <what the body gives>)
//     } else { (...) }
//   };
//   %loop(0, ...)
class RecursiveLoop {
 public:
  explicit RecursiveLoop(NodeContext& node)
      : node_(node),
        num_carried_(static_cast<size_t>(std::max(0, node.num_inputs() - 2))) {}

  absl::StatusOr<Outputs> Convert();

 private:
  // The body with carried values of these types. Its result is that of a round.
  absl::StatusOr<Outputs> ConvertBody(RecursiveFunction& function,
                                      absl::Span<const Type> carried);

  NodeContext& node_;
  const size_t num_carried_;
  // Parameters.
  Expr i_;
  Expr go_on_;
  Expr limit_;  // null if there is none
  std::vector<Expr> carried_;
};

// The type `a` with unknown dimensions where `b` has others; `a` itself if it
// has none. Null if they differ otherwise.
Type Join(const Type& a, const Type& b) {
  const auto* x = a.As<TensorTypeNode>();
  const auto* y = b.As<TensorTypeNode>();
  if (x == nullptr || y == nullptr || x->dtype() != y->dtype() ||
      x->rank() != y->rank()) {
    return Type();
  }
  Dims dims;
  bool differs = false;
  for (int i = 0; i < x->rank(); ++i) {
    const bool is_same = x->dim(i).is_any() || x->dim(i) == y->dim(i);
    dims.push_back(is_same ? x->dim(i) : Dim::Any());
    differs = differs || !is_same;
  }
  return differs ? Type(TensorType(std::move(dims), x->dtype())) : a;
}

absl::StatusOr<Outputs> RecursiveLoop::ConvertBody(
    RecursiveFunction& function, absl::Span<const Type> carried) {
  const auto constant = [](Tensor value) { return relay::Const(value); };
  BATON_ASSIGN_OR_RETURN(
      i_, function.AddParam("i", constant(Tensor::Scalar<int64_t>(0)),
                            TensorType::Scalar(DType::Int(64))));
  BATON_ASSIGN_OR_RETURN(
      go_on_, function.AddParam("go_on",
                                node_.HasInput(1)
                                    ? ScalarOf(node_.Input(1))
                                    : constant(Tensor::Scalar<bool>(true)),
                                TensorType::Scalar(DType::Bool())));
  if (node_.HasInput(0)) {
    BATON_ASSIGN_OR_RETURN(
        limit_, function.AddParam("limit", ScalarOf(node_.Input(0)),
                                  TensorType::Scalar(DType::Int(64))));
  }
  carried_.clear();
  for (size_t k = 0; k < num_carried_; ++k) {
    BATON_ASSIGN_OR_RETURN(
        carried_.emplace_back(),
        function.AddParam(absl::StrCat("carried_", k), node_.inputs()[k + 2],
                          carried[k]));
  }
  std::vector<Expr> inputs = {i_, go_on_};
  inputs.insert(inputs.end(), carried_.begin(), carried_.end());
  BATON_ASSIGN_OR_RETURN(Outputs outputs, function.ConvertBody(inputs));
  if (outputs.size() < 1 + num_carried_) {
    return absl::InvalidArgumentError("the body has too few outputs");
  }
  BATON_RETURN_IF_ERROR(CheckDefined(outputs));
  return outputs;
}

absl::StatusOr<Outputs> RecursiveLoop::Convert() {
  std::vector<Type> types;
  for (size_t k = 0; k < num_carried_; ++k) {
    const Expr& value = node_.inputs()[k + 2];
    BATON_RETURN_IF_ERROR(TensorTypeOf(value).status());
    types.push_back(value->type());
  }
  // Dimensions that a round changes are unknown.
  Outputs outputs;
  std::optional<RecursiveFunction> function;
  bool is_stable = false;
  while (!is_stable) {
    function.emplace(node_);
    BATON_ASSIGN_OR_RETURN(outputs, ConvertBody(*function, types));
    is_stable = true;
    for (size_t k = 0; k < num_carried_; ++k) {
      const Type joined = Join(types[k], outputs[1 + k]->type());
      if (!joined.defined()) {
        return absl::UnimplementedError(absl::StrCat(
            "a round changes the rank or the element type of input ", k + 2));
      }
      if (joined != types[k]) {
        types[k] = joined;
        is_stable = false;
      }
    }
  }
  const size_t num_scans = outputs.size() - 1 - num_carried_;
  if (node_.node().outputs.size() > num_carried_ + num_scans) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the node has ", node_.node().outputs.size(),
        " outputs, but its body gives ", num_carried_ + num_scans));
  }
  function->SetNext(i_,
                    relay::Add(i_, relay::Const(Tensor::Scalar<int64_t>(1))));
  function->SetNext(go_on_, ScalarOf(outputs[0]));
  std::vector<Expr> results = carried_;
  for (size_t k = 0; k < num_carried_; ++k) {
    function->SetNext(carried_[k], outputs[1 + k]);
  }
  Stacks stacks(*function);
  for (size_t k = 0; k < num_scans; ++k) {
    BATON_RETURN_IF_ERROR(stacks.Add(absl::StrCat("scanned_", k),
                                     outputs[1 + num_carried_ + k], results));
  }
  stacks.AddShapes(i_, results);
  Expr goes_on = go_on_;
  if (limit_.defined()) {
    goes_on = relay::LogicalAnd(goes_on, relay::Less(i_, limit_));
  }
  BATON_ASSIGN_OR_RETURN(
      Outputs values, function->Call(std::move(goes_on), std::move(results)));
  stacks.Finish(values);
  return values;
}

// The results of a loop without rounds. One conversion of the body gives the
// types of scan outputs. Nothing, and `depends_on_data`, if their shapes are
// not known.
absl::StatusOr<Outputs> WithoutRounds(NodeContext& node, absl::string_view body,
                                      Outputs carried, size_t num_scans,
                                      bool& depends_on_data) {
  const size_t num_carried = carried.size();
  BATON_ASSIGN_OR_RETURN(Expr counter,
                         node.Typed(relay::Const(Tensor::Scalar<int64_t>(0))));
  BATON_ASSIGN_OR_RETURN(Expr condition,
                         node.Typed(relay::Const(Tensor::Scalar<bool>(true))));
  std::vector<Expr> inputs = {std::move(counter), std::move(condition)};
  inputs.insert(inputs.end(), carried.begin(), carried.end());
  BATON_ASSIGN_OR_RETURN(const Outputs outputs,
                         node.graphs().ConvertGraph(body, inputs, "a round"));
  if (outputs.size() != 1 + num_carried + num_scans) {
    return WrongOutputs(outputs.size(), 1 + num_carried + num_scans);
  }
  for (size_t i = 0; i < num_scans; ++i) {
    BATON_ASSIGN_OR_RETURN(Expr none,
                           EmptyStack(outputs[1 + num_carried + i], 0));
    if (!none.defined()) {
      depends_on_data = true;
      return Outputs();
    }
    carried.push_back(std::move(none));
  }
  return carried;
}

// The rounds one after the other. Nothing, and `depends_on_data`, if their
// number is not known, or too large.
absl::StatusOr<Outputs> UnrolledLoop(NodeContext& node, bool& depends_on_data) {
  BATON_ASSIGN_OR_RETURN(const absl::string_view body, node.Graph("body"));
  depends_on_data = !IsKnownScalar(node, 0) || !IsKnownScalar(node, 1);
  if (depends_on_data) return Outputs();
  BATON_ASSIGN_OR_RETURN(const int64_t limit, KnownScalar(node, 0, kMaxRounds));
  BATON_ASSIGN_OR_RETURN(int64_t cond, KnownScalar(node, 1, 1));
  const size_t num_carried =
      static_cast<size_t>(std::max(0, node.num_inputs() - 2));
  Outputs carried;
  for (size_t i = 0; i < num_carried; ++i) {
    carried.push_back(node.inputs()[i + 2]);
  }
  if (node.node().outputs.size() < num_carried) {
    return absl::InvalidArgumentError("there are too few outputs");
  }
  std::vector<std::vector<Expr>> scans(node.node().outputs.size() -
                                       num_carried);
  if (!scans.empty() && (limit < 1 || cond == 0)) {
    return WithoutRounds(node, body, std::move(carried), scans.size(),
                         depends_on_data);
  }
  for (int64_t round = 0; round < limit && cond != 0; ++round) {
    if (round >= kMaxRounds) {
      depends_on_data = true;
      return Outputs();
    }
    std::vector<Expr> inputs;
    BATON_ASSIGN_OR_RETURN(
        Expr counter, node.Typed(relay::Const(Tensor::Scalar<int64_t>(round))));
    inputs.push_back(std::move(counter));
    BATON_ASSIGN_OR_RETURN(
        Expr condition, node.Typed(relay::Const(Tensor::Scalar<bool>(true))));
    inputs.push_back(std::move(condition));
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    BATON_ASSIGN_OR_RETURN(const Outputs outputs,
                           node.graphs().ConvertGraph(
                               body, inputs, absl::StrCat("round ", round)));
    if (outputs.size() != 1 + num_carried + scans.size()) {
      return WrongOutputs(outputs.size(), 1 + num_carried + scans.size());
    }
    const Tensor* next = relay::ConstantTensor(outputs[0]);
    if (next == nullptr || next->num_elements() != 1) {
      depends_on_data = true;
      return Outputs();
    }
    cond = next->AtAsInt64(0);
    carried.assign(outputs.begin() + 1, outputs.begin() + 1 + num_carried);
    for (size_t i = 0; i < scans.size(); ++i) {
      scans[i].push_back(outputs[1 + num_carried + i]);
    }
  }
  if (!node.HasInput(0) && cond != 0) {
    return absl::UnimplementedError("the loop does not seem to end");
  }
  return WithStacked(std::move(carried), std::move(scans));
}

absl::StatusOr<Outputs> Loop(NodeContext& node) {
  bool depends_on_data = false;
  absl::StatusOr<Outputs> unrolled = UnrolledLoop(node, depends_on_data);
  if (!depends_on_data) return unrolled;
  absl::StatusOr<Outputs> result = RecursiveLoop(node).Convert();
  if (!absl::IsUnimplemented(result.status())) return result;
  // It can be unrolled if this is known.
  for (const int i : {0, 1}) {
    const absl::Status known = KnownScalar(node, i, 0).status();
    if (!known.ok()) {
      return absl::Status(
          known.code(),
          absl::StrCat(known.message(), ", since ", result.status().message()));
    }
  }
  return result;
}

// --- Scan ------------------------------------------------------------------

// The rounds of a Scan.
struct ScanRounds {
  // The values that pass from round to round, and those of which a round takes
  // an element.
  std::vector<Expr> carried;
  std::vector<Expr> scanned;
  // Along which axis, and whether from the end; of what is scanned, and of the
  // results that rounds give an element of.
  std::vector<int64_t> axes;
  std::vector<int64_t> backward;
  std::vector<int64_t> output_axes;
  std::vector<int64_t> output_backward;

  // One after the other; their number must be known.
  absl::StatusOr<Outputs> Convert(NodeContext& node,
                                  absl::string_view what = "") const;
  // As a function that calls itself; rounds give elements in their order.
  absl::StatusOr<Outputs> Recursive(NodeContext& node) const;
  // True if the number of rounds is unknown.
  absl::StatusOr<bool> HasUnknownLength() const;
};

absl::StatusOr<Outputs> ScanRounds::Convert(NodeContext& node,
                                            absl::string_view what) const {
  BATON_ASSIGN_OR_RETURN(const absl::string_view body, node.Graph("body"));
  std::optional<int64_t> rounds;
  std::vector<int> input_axes(scanned.size());
  for (size_t i = 0; i < scanned.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                           TensorTypeOf(scanned[i]));
    BATON_ASSIGN_OR_RETURN(input_axes[i], NormalAxis(axes[i], type->rank()));
    const Dim& dim = type->dim(input_axes[i]);
    if (!dim.is_const() || dim.value() > kMaxRounds) {
      return absl::UnimplementedError("the length of the scan must be known");
    }
    if (rounds.value_or(dim.value()) != dim.value()) {
      return absl::InvalidArgumentError("scan inputs differ in length");
    }
    rounds = dim.value();
  }
  Outputs states = carried;
  std::vector<std::vector<Expr>> scans(output_axes.size());
  // Without rounds, what one would give: its types count.
  Outputs of_no_round;
  const bool is_empty = *rounds == 0;
  for (int64_t round = 0; round < *rounds + (is_empty ? 1 : 0); ++round) {
    std::vector<Expr> inputs = states;
    for (size_t i = 0; i < scanned.size(); ++i) {
      const int64_t at =
          backward[i] != 0 && !is_empty ? *rounds - 1 - round : round;
      BATON_ASSIGN_OR_RETURN(
          Expr element,
          node.Typed(relay::Take(scanned[i],
                                 relay::Const(Tensor::Scalar<int64_t>(at)),
                                 {.axis = input_axes[i]})));
      inputs.push_back(std::move(element));
    }
    if (round == 0) {
      BATON_RETURN_IF_ERROR(node.graphs().CheckInputs(body, inputs));
    }
    BATON_ASSIGN_OR_RETURN(
        const Outputs outputs,
        node.graphs().ConvertGraph(body, inputs,
                                   absl::StrCat(what, "round ", round)));
    if (outputs.size() != states.size() + scans.size()) {
      return WrongOutputs(outputs.size(), states.size() + scans.size());
    }
    if (is_empty) {
      of_no_round = outputs;
      break;
    }
    states.assign(outputs.begin(), outputs.begin() + states.size());
    for (size_t i = 0; i < scans.size(); ++i) {
      scans[i].push_back(outputs[states.size() + i]);
    }
  }
  for (size_t i = 0; i < scans.size(); ++i) {
    if (scans[i].empty()) {
      BATON_ASSIGN_OR_RETURN(
          Expr none, EmptyStack(of_no_round[states.size()], output_axes[i]));
      if (!none.defined()) {
        return absl::UnimplementedError(
            "a scan without rounds gives tensors of shapes that are not known");
      }
      states.push_back(std::move(none));
      continue;
    }
    BATON_RETURN_IF_ERROR(CheckDefined(scans[i]));
    if (output_backward[i] != 0) std::reverse(scans[i].begin(), scans[i].end());
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(scans[i][0]));
    BATON_ASSIGN_OR_RETURN(const int axis,
                           NormalAxis(output_axes[i], rank + 1));
    states.push_back(relay::Stack(std::move(scans[i]), axis));
  }
  return states;
}

absl::StatusOr<bool> ScanRounds::HasUnknownLength() const {
  for (size_t i = 0; i < scanned.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                           TensorTypeOf(scanned[i]));
    BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(axes[i], type->rank()));
    if (!type->dim(axis).is_const()) return true;
  }
  return false;
}

absl::StatusOr<Outputs> ScanRounds::Recursive(NodeContext& node) const {
  RecursiveFunction function(node);
  const auto number = [](int64_t value) {
    return relay::Const(Tensor::Scalar<int64_t>(value));
  };
  BATON_ASSIGN_OR_RETURN(
      const Expr round,
      function.AddParam("i", number(0), TensorType::Scalar(DType::Int(64))));
  std::vector<Expr> states;
  for (const Expr& value : carried) {
    BATON_ASSIGN_OR_RETURN(
        states.emplace_back(),
        function.AddParam(absl::StrCat("carried_", states.size() - 1), value,
                          value->type()));
  }
  std::vector<Expr> inputs = states;
  Expr limit;
  for (size_t i = 0; i < scanned.size(); ++i) {
    BATON_ASSIGN_OR_RETURN(
        const Expr data,
        function.Capture(absl::StrCat("scanned_", i), scanned[i]));
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(data));
    BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(axes[i], rank));
    const Expr length = ExtentOf(data, axis);
    if (!limit.defined()) limit = length;
    const Expr at =
        backward[i] != 0
            ? relay::Subtract(relay::Subtract(length, number(1)), round)
            : round;
    BATON_ASSIGN_OR_RETURN(inputs.emplace_back(),
                           node.Typed(relay::Take(data, at, {.axis = axis})));
  }
  BATON_ASSIGN_OR_RETURN(const absl::string_view body, node.Graph("body"));
  BATON_RETURN_IF_ERROR(node.graphs().CheckInputs(body, inputs));
  BATON_ASSIGN_OR_RETURN(const Outputs outputs, function.ConvertBody(inputs));
  if (outputs.size() != states.size() + output_axes.size()) {
    return WrongOutputs(outputs.size(), states.size() + output_axes.size());
  }
  BATON_RETURN_IF_ERROR(CheckDefined(outputs));
  function.SetNext(round, relay::Add(round, number(1)));
  for (size_t k = 0; k < states.size(); ++k) {
    const Type joined = Join(states[k]->type(), outputs[k]->type());
    if (joined != states[k]->type()) {
      return absl::UnimplementedError(
          absl::StrCat("a round changes the type of state ", k));
    }
    function.SetNext(states[k], outputs[k]);
  }
  std::vector<Expr> results = states;
  Stacks stacks(function);
  for (size_t k = 0; k < output_axes.size(); ++k) {
    BATON_RETURN_IF_ERROR(stacks.Add(absl::StrCat("stacked_", k),
                                     outputs[states.size() + k], results));
  }
  stacks.AddShapes(round, results);
  BATON_ASSIGN_OR_RETURN(
      Outputs values,
      function.Call(relay::Less(round, limit), std::move(results)));
  stacks.Finish(values);
  for (size_t k = 0; k < output_axes.size(); ++k) {
    Expr& stack = values[states.size() + k];
    if (output_backward[k] != 0) stack = relay::Reverse(stack, 0);
    BATON_ASSIGN_OR_RETURN(stack, node.Typed(std::move(stack)));
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(stack));
    BATON_ASSIGN_OR_RETURN(const int axis, NormalAxis(output_axes[k], rank));
    if (axis == 0) continue;
    Ints order;
    for (int i = 1; i < rank; ++i) order.push_back(i);
    order.insert(order.begin() + axis, 0);
    stack = relay::Transpose(std::move(stack), std::move(order));
  }
  return values;
}

// `first`: the first input that is carried.
absl::StatusOr<ScanRounds> ReadScan(NodeContext& node, int first) {
  ScanRounds result;
  const int64_t num_scans = node.Int("num_scan_inputs", 0);
  if (num_scans < 1 || num_scans > node.num_inputs() - first) {
    return absl::InvalidArgumentError(
        "num_scan_inputs must be from 1 to the number of inputs that can be "
        "scanned");
  }
  const int num_inputs = node.num_inputs();
  for (int i = first; i < num_inputs; ++i) {
    (i < num_inputs - num_scans ? result.carried : result.scanned)
        .push_back(node.Input(i));
  }
  const size_t num_outputs = node.node().outputs.size();
  if (num_outputs < result.carried.size()) {
    return absl::InvalidArgumentError("there are too few outputs");
  }
  const size_t num_scan_outputs = num_outputs - result.carried.size();
  result.axes.resize(num_scans);
  result.backward.resize(num_scans);
  result.output_axes.resize(num_scan_outputs);
  result.output_backward.resize(num_scan_outputs);
  return result;
}

absl::StatusOr<Outputs> Scan(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(ScanRounds rounds, ReadScan(node, 0));
  const auto read = [&node](absl::string_view name,
                            std::vector<int64_t>& values) {
    const size_t size = values.size();
    values = node.Ints(name).value_or(std::vector<int64_t>());
    values.resize(size, 0);
  };
  read("scan_input_axes", rounds.axes);
  read("scan_input_directions", rounds.backward);
  read("scan_output_axes", rounds.output_axes);
  read("scan_output_directions", rounds.output_backward);
  BATON_ASSIGN_OR_RETURN(const bool is_unknown, rounds.HasUnknownLength());
  return is_unknown ? rounds.Recursive(node) : rounds.Convert(node);
}

// For opset 8: the first axis of every value is a batch, and the elements of a
// batch are scanned one by one.
absl::StatusOr<Outputs> BatchScan(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(ScanRounds all, ReadScan(node, 1));
  const size_t num_scans = all.scanned.size();
  all.backward = node.Ints("directions").value_or(std::vector<int64_t>());
  all.backward.resize(num_scans, 0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(all.scanned[0]));
  if (type->rank() < 2) {
    return absl::InvalidArgumentError(
        "the scanned data must have rank 2 or more");
  }
  const Dim& batch = type->dim(0);
  if (!batch.is_const()) {
    return absl::UnimplementedError("the batch of the scan must be known");
  }
  if (batch.value() < 1 || batch.value() > kMaxRounds) {
    return absl::InvalidArgumentError(
        "the batch of the scan is empty or too large");
  }
  if (node.HasInput(0)) {
    BATON_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths,
                           node.ConstantInts(0));
    for (const int64_t length : lengths) {
      if (!type->dim(1).is_const(length)) {
        return absl::UnimplementedError("sequences that end before others");
      }
    }
  }
  std::vector<std::vector<Expr>> elements(node.node().outputs.size());
  for (int64_t i = 0; i < batch.value(); ++i) {
    ScanRounds one = all;
    for (std::vector<Expr>* inputs : {&one.carried, &one.scanned}) {
      for (Expr& input : *inputs) {
        BATON_ASSIGN_OR_RETURN(
            input,
            node.Typed(relay::Take(
                input, relay::Const(Tensor::Scalar<int64_t>(i)), {.axis = 0})));
      }
    }
    BATON_ASSIGN_OR_RETURN(const bool is_unknown, one.HasUnknownLength());
    BATON_ASSIGN_OR_RETURN(
        const Outputs outputs,
        is_unknown ? one.Recursive(node)
                   : one.Convert(node, absl::StrCat("element ", i, ", ")));
    for (size_t k = 0; k < elements.size(); ++k) {
      elements[k].push_back(outputs[k]);
    }
  }
  Outputs result;
  for (std::vector<Expr>& values : elements) {
    BATON_RETURN_IF_ERROR(CheckDefined(values));
    result.push_back(relay::Stack(std::move(values), 0));
  }
  return result;
}

BATON_ONNX_CONVERTERS({
    {"If", ConvertIf},
    {"Loop", Loop},
    {"Scan", BatchScan, 8, 8},
    {"Scan", Scan, 9},
});

}  // namespace
}  // namespace baton::onnx
