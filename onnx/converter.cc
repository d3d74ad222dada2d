#include "baton/onnx/converter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
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
#include "baton/base/printable.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/model.h"
#include "baton/onnx/tensor_reader.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type_at.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/transform/fold_constant.h"

namespace baton::onnx {

namespace {

// True if all operands of `expr` have known shapes and few elements in total,
// so that it may be computed at once.
bool IsCheap(const Expr& expr) {
  constexpr int64_t kMaxElements = int64_t{1} << 26;
  int64_t elements = 0;
  bool is_cheap = true;
  relay::PostOrderVisit(
      expr, [&is_cheap](const ExprNode* /*node*/) { return is_cheap; },
      [&](const ExprNode* node) {
        const TensorTypeNode* type = node->tensor_type();
        if (type == nullptr) return;
        const auto dims = ConstDims(type->shape());
        if (!dims.has_value()) return;  // an input, or of an unknown number
        const absl::StatusOr<int64_t> count = NumElements(type->dtype(), *dims);
        if (!count.ok() || *count > kMaxElements - elements) {
          is_cheap = false;
        } else {
          elements += *count;
        }
      });
  return is_cheap;
}

}  // namespace

void NodeContext::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

const Expr& NodeContext::Input(int i) {
  if (HasInput(i)) return inputs_[i];
  Fail(absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing")));
  static const auto* const kScalar = new Expr(
      baton::relay::Constant(Tensor(), TensorType::Scalar(DType::Float(32))));
  return *kScalar;
}

bool NodeContext::IsConstant(int i) const {
  return HasInput(i) && relay::ConstantTensor(inputs_[i]) != nullptr;
}

std::optional<Dims> NodeContext::Elements(int i) {
  if (!HasInput(i)) return std::nullopt;
  const Dims* elements = graphs_.ElementsOf(inputs_[i]);
  if (elements == nullptr) return std::nullopt;
  return *elements;
}

absl::StatusOr<Tensor> NodeContext::Constant(int i) {
  if (!HasInput(i)) {
    return absl::InvalidArgumentError(absl::StrCat("input ", i, " is missing"));
  }
  if (const Tensor* tensor = relay::ConstantTensor(inputs_[i])) return *tensor;
  const auto needed = [&](absl::string_view reason) {
    graphs_.NoteNeeded(inputs_[i]);
    return absl::UnimplementedError(
        absl::StrCat("input ", i, " ('", Printable(node_.inputs[i]),
                     "') must be known when the model is imported", reason));
  };
  if (!graphs_.MayBeConstant(inputs_[i])) return needed("");
  if (!IsCheap(inputs_[i])) {
    return needed(", but it is computed from tensors of too many elements");
  }
  BATON_ASSIGN_OR_RETURN(
      Expr folded, relay::FoldConstantInExpr(inputs_[i], {.fold_qnn = true}));
  const Tensor* tensor = relay::ConstantTensor(folded);
  if (tensor == nullptr) return needed("");
  return *tensor;
}

absl::StatusOr<std::vector<int64_t>> NodeContext::ConstantInts(int i) {
  BATON_ASSIGN_OR_RETURN(const Tensor tensor, Constant(i));
  std::vector<int64_t> result(tensor.num_elements());
  for (size_t k = 0; k < result.size(); ++k) result[k] = tensor.AtAsInt64(k);
  return result;
}

absl::StatusOr<std::vector<double>> NodeContext::ConstantFloats(int i) {
  BATON_ASSIGN_OR_RETURN(const Tensor tensor, Constant(i));
  std::vector<double> result(tensor.num_elements());
  for (size_t k = 0; k < result.size(); ++k) result[k] = tensor.AtAsDouble(k);
  return result;
}

const AttributeProto* NodeContext::Attr(absl::string_view name,
                                        AttributeProto::Type type) {
  const AttributeProto* attribute = node_.Find(name);
  if (attribute == nullptr ||
      (attribute->type == type && !attribute->has_other_value)) {
    return attribute;
  }
  Fail(absl::InvalidArgumentError(
      absl::StrCat("the attribute '", name, "' has the wrong type")));
  return nullptr;
}

int64_t NodeContext::Int(absl::string_view name, int64_t otherwise) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kInt);
  return a == nullptr ? otherwise : a->i;
}

double NodeContext::Float(absl::string_view name, double otherwise) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kFloat);
  return a == nullptr ? otherwise : a->f;
}

std::string NodeContext::String(absl::string_view name,
                                absl::string_view otherwise) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kString);
  return std::string(a == nullptr ? otherwise : a->s);
}

std::optional<std::vector<int64_t>> NodeContext::Ints(absl::string_view name) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kInts);
  if (a == nullptr) return std::nullopt;
  return a->ints;
}

std::vector<double> NodeContext::Floats(absl::string_view name) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kFloats);
  if (a == nullptr) return {};
  return {a->floats.begin(), a->floats.end()};
}

std::vector<std::string> NodeContext::Strings(absl::string_view name) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kStrings);
  if (a == nullptr) return {};
  return {a->strings.begin(), a->strings.end()};
}

absl::StatusOr<Tensor> NodeContext::TensorAttr(absl::string_view name) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kTensor);
  if (a == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the attribute '", name, "' is missing"));
  }
  if (const ElementType type = NarrowTypeOf(ElementTypeIn(a->t));
      type != ElementType::kUndefined) {
    SetNarrowType(type);
  }
  return ReadTensor(a->t, graphs_.tensors());
}

absl::StatusOr<Tensor> NodeContext::SparseTensorAttr(absl::string_view name) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kSparseTensor);
  if (a == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the attribute '", name, "' is missing"));
  }
  if (const ElementType type = NarrowTypeOf(ElementTypeInSparse(a->sparse));
      type != ElementType::kUndefined) {
    SetNarrowType(type);
  }
  return ReadSparseTensor(a->sparse, graphs_.tensors());
}

absl::StatusOr<absl::string_view> NodeContext::Graph(absl::string_view name) {
  const AttributeProto* a = Attr(name, AttributeProto::Type::kGraph);
  if (a == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the attribute '", name, "' is missing"));
  }
  return a->g;
}

absl::StatusOr<Expr> NodeContext::Typed(Expr expr) {
  absl::StatusOr<Expr> result = relay::InferTypeAt(expr, span_);
  if (!result.ok()) located_error_ = result.status();
  return result;
}

absl::StatusOr<const TensorTypeNode*> TensorTypeOf(const Expr& expr) {
  if (!expr.defined()) {
    return absl::UnimplementedError(
        "an input that is an empty optional is not supported");
  }
  if (const TensorTypeNode* type = expr->tensor_type()) return type;
  return absl::UnimplementedError(
      "an input that is no tensor is not supported");
}

absl::StatusOr<int> RankOf(const Expr& expr) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(expr));
  return type->rank();
}

absl::StatusOr<DType> ElementTypeOf(const Expr& expr) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(expr));
  return type->dtype();
}

absl::StatusOr<std::vector<int64_t>> ShapeOf(const Expr& expr) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(expr));
  const auto dims = ConstDims(type->shape());
  if (!dims.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat("the shape of an input must be known, but it is ",
                     relay::ShapeToString(type->shape())));
  }
  return std::vector<int64_t>(dims->begin(), dims->end());
}

absl::StatusOr<std::vector<int64_t>> ShapeOfBatch(const Expr& expr,
                                                  int64_t unknown) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(expr));
  std::vector<int64_t> result;
  for (int i = 0; i < type->rank(); ++i) {
    const Dim& dim = type->dim(i);
    // The message names the whole shape.
    if (!dim.is_const() && i > 0) return ShapeOf(expr).status();
    result.push_back(dim.is_const() ? dim.value() : unknown);
  }
  return result;
}

absl::StatusOr<int> NormalAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " of a tensor of rank ", rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::StatusOr<std::vector<int64_t>> NormalAxes(std::vector<int64_t> axes,
                                                int rank) {
  for (int64_t& axis : axes) {
    BATON_ASSIGN_OR_RETURN(axis, NormalAxis(axis, rank));
  }
  return axes;
}

absl::StatusOr<std::vector<int64_t>> DistinctAxes(std::vector<int64_t> axes,
                                                  int rank) {
  BATON_ASSIGN_OR_RETURN(axes, NormalAxes(std::move(axes), rank));
  std::vector<int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return absl::InvalidArgumentError("an axis is named twice");
  }
  return axes;
}

Expr ScalarLike(double value, const Expr& like) {
  const TensorTypeNode* type = like->tensor_type();
  return relay::Const(value,
                      type == nullptr ? DType::Float(32) : type->dtype());
}

absl::StatusOr<Expr> ScalarInput(NodeContext& node, int i) {
  const Expr& x = node.Input(i);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  if (type->rank() == 0) return x;
  for (const Dim& dim : type->shape()) {
    if (dim.is_const() && !dim.is_const(1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " must be a scalar, but its shape is ",
                       relay::ShapeToString(type->shape())));
    }
  }
  return node.Typed(relay::Reshape(x, {}));
}

Expr VectorConstant(absl::Span<const int64_t> values, DType dtype) {
  Tensor tensor;
  VisitDType(dtype, [&]<typename T>() {
    // As many as there are in memory already: the limit of a tensor's bytes,
    // which MutableTensor keeps to, is for what is read or computed.
    const std::shared_ptr<T[]> copy(new T[values.size()]);
    for (size_t i = 0; i < values.size(); ++i) {
      copy[i] = static_cast<T>(values[i]);
    }
    const absl::string_view bytes(reinterpret_cast<const char*>(copy.get()),
                                  values.size() * sizeof(T));
    tensor = *Tensor::FromBuffer(dtype, {static_cast<int64_t>(values.size())},
                                 bytes, copy);
  });
  return relay::Const(std::move(tensor));
}

namespace {

std::string ConverterKey(absl::string_view domain, absl::string_view op,
                         int64_t first_opset) {
  return absl::StrCat(domain, ":", op, "@", first_opset);
}

}  // namespace

Registry<OpConverter>& OpConverters() {
  static auto& registry =
      *Registry<OpConverter>::NewGlobal("converter of an ONNX operator");
  return registry;
}

bool RegisterOpConverters(std::initializer_list<OpConverter> converters,
                          CodeLocation location) {
  for (const OpConverter& converter : converters) {
    OpConverters().Register(ConverterKey(CanonicalDomain(converter.domain),
                                         converter.op, converter.first_opset),
                            converter, location);
  }
  return true;
}

const OpConverter* FindOpConverter(absl::string_view domain,
                                   absl::string_view op, int64_t opset) {
  constexpr int64_t kMaxFirst = 64;  // no domain has that many versions
  for (int64_t first = std::min(opset, kMaxFirst); first > 0; --first) {
    const OpConverter* converter =
        OpConverters().Find(ConverterKey(domain, op, first));
    if (converter != nullptr) {
      return opset <= converter->last_opset ? converter : nullptr;
    }
  }
  return nullptr;
}

}  // namespace baton::onnx
