#include "baton/onnx/exporter.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/graph_builder.h"
#include "baton/onnx/model.h"
#include "baton/onnx/schema.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/transform/fold_constant.h"

namespace baton::onnx {
namespace {

// The constant that an expression of constants is; null if it is none.
const Tensor* Folded(Expr expr, Expr& owner) {
  absl::StatusOr<Expr> folded = relay::FoldConstantInExpr(std::move(expr));
  if (!folded.ok()) return nullptr;
  owner = *std::move(folded);
  return relay::ConstantTensor(owner);
}

}  // namespace

OpProperty<ExportFn>& OnnxExporters() {
  static auto& map = *new OpProperty<ExportFn>();
  return map;
}

absl::StatusOr<std::vector<int64_t>> KnownDims(absl::Span<const Dim> dims,
                                               absl::string_view what) {
  std::vector<int64_t> result;
  for (const Dim& dim : dims) {
    if (!dim.is_const()) {
      return absl::UnimplementedError(
          absl::StrCat("a dimension of ", what, " is not known"));
    }
    result.push_back(dim.value());
  }
  return result;
}

const TensorTypeNode* CallExport::ResultType() const {
  if (const TupleTypeNode* tuple = call_.tuple_type()) {
    return tuple->fields().empty() ? nullptr
                                   : tuple->fields()[0].As<TensorTypeNode>();
  }
  return call_.tensor_type();
}

ValueId CallExport::Node(absl::string_view op, absl::Span<const ValueId> inputs,
                         NodeAttributes attributes) {
  return Nodes(op, inputs, std::move(attributes), 1)[0];
}

ElementTypes CallExport::TypesOf(ValueId value) const {
  const auto found = element_types_.find(value);
  if (found != element_types_.end()) return found->second;
  const TensorTypeNode* type =
      value == kNoValue ? nullptr : graph_.TypeOf(value);
  if (type == nullptr) return 0;
  return ElementTypes{1} << static_cast<int>(
             onnx::ElementTypeOf(type->dtype()));
}

void CallExport::NoteTypes(absl::string_view op,
                           absl::Span<const ValueId> inputs,
                           absl::Span<const ValueId> outputs) {
  const std::optional<Schema> schema = FindSchema(op, opset_);
  if (!schema.has_value()) return;
  absl::InlinedVector<ElementTypes, 6> types;
  for (const ValueId input : inputs) types.push_back(TypesOf(input));
  const absl::Status fits = CheckElementTypes(*schema, types);
  if (!fits.ok() && status_.ok()) {
    status_ = absl::UnimplementedError(absl::StrCat(op, ": ", fits.message()));
  }
  for (size_t k = 0; k < outputs.size() && k < schema->outputs.size(); ++k) {
    const Schema::Value& output = schema->outputs[k];
    if (output.arity == Schema::Arity::kHeterogeneous) break;
    ElementTypes result = 0;
    for (size_t i = 0; i < inputs.size() && result == 0; ++i) {
      const Schema::Value* input = schema->Input(i);
      if (input != nullptr && input->type == output.type) result = types[i];
    }
    const bool is_one = (output.types & (output.types - 1)) == 0;
    if (result == 0 && is_one) result = output.types;
    if (result != 0) element_types_.emplace(outputs[k], result);
  }
}

Values CallExport::Nodes(absl::string_view op, absl::Span<const ValueId> inputs,
                         NodeAttributes attributes, int num_outputs) {
  Values outputs = graph_.AddNode(op, inputs, std::move(attributes),
                                  num_outputs, call_.span());
  NoteTypes(op, inputs, outputs);
  return outputs;
}

ValueId CallExport::TensorConstant(Tensor value) {
  return graph_.AddConstant(std::move(value));
}

ValueId CallExport::Scalar(double value, DType dtype) {
  return TensorConstant(Tensor::ScalarOf(dtype, value));
}

ValueId CallExport::Ints(absl::Span<const int64_t> values) {
  return TensorConstant(*Tensor::FromValues<int64_t>(
      {static_cast<int64_t>(values.size())}, values));
}

ValueId CallExport::Cast(ValueId value, DType from, DType to) {
  if (from == to) return value;
  if (const Tensor* known = graph_.ConstantOf(value)) {
    Expr owner;
    if (const Tensor* cast =
            Folded(relay::Cast(relay::Const(*known), to), owner)) {
      return TensorConstant(*cast);
    }
  }
  const ValueId result =
      Node("Cast", {value},
           NodeAttributes().Int("to", static_cast<int64_t>(ElementTypeOf(to))));
  element_types_.emplace(
      result, ElementTypes{1} << static_cast<int>(onnx::ElementTypeOf(to)));
  if (const TensorTypeNode* type = graph_.TypeOf(value)) {
    graph_.SetType(result, TensorType(type->shape(), to));
  }
  return result;
}

ValueId CallExport::Transpose(ValueId value, absl::Span<const int64_t> axes) {
  bool is_same = true;
  for (size_t i = 0; i < axes.size(); ++i) {
    is_same = is_same && axes[i] == static_cast<int64_t>(i);
  }
  if (is_same) return value;
  if (const Tensor* known = graph_.ConstantOf(value)) {
    Expr owner;
    const std::vector<int64_t> order(axes.begin(), axes.end());
    if (const Tensor* transposed =
            Folded(relay::Transpose(relay::Const(*known), order), owner)) {
      return TensorConstant(*transposed);
    }
  }
  return Node("Transpose", {value}, NodeAttributes().Ints("perm", axes));
}

ValueId CallExport::Reshape(ValueId value, absl::Span<const int64_t> shape) {
  if (const Tensor* known = graph_.ConstantOf(value)) {
    absl::StatusOr<Tensor> reshaped = known->Reshaped(shape);
    if (reshaped.ok()) return TensorConstant(*std::move(reshaped));
  }
  return Node("Reshape", {value, Ints(shape)});
}

ValueId CallExport::Unsqueeze(ValueId value, absl::Span<const int64_t> axes) {
  if (axes.empty()) return value;
  if (const Tensor* known = graph_.ConstantOf(value)) {
    std::vector<int64_t> shape(known->shape().begin(), known->shape().end());
    for (int64_t axis : axes) {
      if (axis < 0 || axis > static_cast<int64_t>(shape.size())) break;
      shape.insert(shape.begin() + axis, 1);
    }
    if (static_cast<int64_t>(shape.size()) ==
        known->rank() + static_cast<int64_t>(axes.size())) {
      return TensorConstant(*known->Reshaped(shape));
    }
  }
  return Node("Unsqueeze", {value, Ints(axes)});
}

ValueId CallExport::Squeeze(ValueId value, absl::Span<const int64_t> axes) {
  return axes.empty() ? value : Node("Squeeze", {value, Ints(axes)});
}

absl::StatusOr<std::vector<int64_t>> CallExport::Shape(int i) const {
  return KnownDims(ArgType(i)->shape(), absl::StrCat("argument ", i));
}

absl::StatusOr<std::vector<int64_t>> CallExport::ResultShape() const {
  return KnownDims(ResultType()->shape(), "the result");
}

absl::Status CallExport::Needs(int opset) const {
  if (opset_ >= opset) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("needs opset ", opset, ", not ", opset_));
}

}  // namespace baton::onnx
