#include "baton/relay/op/type_relations.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/layout_shape.h"

namespace baton::relay {
namespace {

bool HasShape(const TensorTypeNode& type, absl::Span<const Dim> shape) {
  return std::equal(shape.begin(), shape.end(), type.shape().begin(),
                    type.shape().end());
}

bool IsTensorOf(const Type& type, absl::Span<const Dim> shape, DType dtype) {
  const TensorTypeNode* tensor = type.As<TensorTypeNode>();
  return tensor != nullptr && tensor->dtype() == dtype &&
         HasShape(*tensor, shape);
}

// For messages: `argument 1 (weight)`.
std::string ArgName(const TypeRelationContext& context, int i) {
  const absl::Span<const OpArgument> arguments = context.op().arguments();
  if (i >= static_cast<int>(arguments.size())) {
    return absl::StrCat("argument ", i);
  }
  return absl::StrCat("argument ", i, " (", arguments[i].name, ")");
}

absl::StatusOr<Type> Broadcast(TypeRelationContext& context, bool compare) {
  const TensorTypeNode* a = context.Tensor(0);
  const TensorTypeNode* b = context.Tensor(1);
  if (a == nullptr || b == nullptr) return Type();
  if (a->dtype() != b->dtype()) {
    return context.Error("the element types ", a->dtype().ToString(), " and ",
                         b->dtype().ToString(), " do not match");
  }
  if (!compare && (a == b || HasShape(*a, b->shape()))) return context.arg(0);
  BATON_ASSIGN_OR_RETURN(const Dims shape,
                         BroadcastShapes(context, a->shape(), b->shape()));
  const DType dtype = compare ? DType::Bool() : a->dtype();
  return TensorLike(context, HasShape(*a, shape) ? 0 : 1, shape, dtype);
}

}  // namespace

absl::StatusOr<Type> IdentityRel(TypeRelationContext& context) {
  return context.arg(0);
}

absl::StatusOr<Type> TensorIdentityRel(TypeRelationContext& context) {
  if (context.Tensor(0) == nullptr) return Type();
  return context.arg(0);
}

absl::StatusOr<Type> PredicateRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  return TensorLike(context, 0, data->shape(), DType::Bool());
}

absl::StatusOr<Type> BroadcastRel(TypeRelationContext& context) {
  return Broadcast(context, /*compare=*/false);
}

absl::StatusOr<Type> BroadcastCompareRel(TypeRelationContext& context) {
  return Broadcast(context, /*compare=*/true);
}

Type TensorLike(const TypeRelationContext& context, int like,
                absl::Span<const Dim> shape, DType dtype) {
  if (IsTensorOf(context.arg(like), shape, dtype)) return context.arg(like);
  return TensorType(shape, dtype);
}

absl::StatusOr<Dims> BroadcastShapes(const TypeRelationContext& context,
                                     absl::Span<const Dim> a,
                                     absl::Span<const Dim> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Dims shape(a.begin(), a.end());
  const size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    Dim& x = shape[offset + i];
    const Dim& y = b[i];
    if (x == y || y.is_const(1)) continue;
    if (x.is_const(1)) {
      x = y;
    } else if (x.is_any()) {
      x = y;
    } else if (!y.is_any() && !ProvablyEqual(x, y)) {
      return context.Error("the shapes ", ShapeToString(a), " and ",
                           ShapeToString(b), " cannot be broadcast together");
    }
  }
  return shape;
}

absl::Status ExpectArg(TypeRelationContext& context, int i,
                       absl::Span<const Dim> shape, DType dtype) {
  if (IsTensorOf(context.arg(i), shape, dtype)) return absl::OkStatus();
  const TensorTypeNode* known = context.Tensor(i);
  BATON_RETURN_IF_ERROR(context.status());
  if (known == nullptr) return context.AssignArg(i, TensorType(shape, dtype));
  bool mismatch =
      known->dtype() != dtype || known->shape().size() != shape.size();
  for (size_t k = 0; k < shape.size() && !mismatch; ++k) {
    mismatch = ProvablyDiffer(known->shape()[k], shape[k]);
  }
  const TensorType expected(shape, dtype);
  if (mismatch) {
    return context.Error(ArgName(context, i), " has type ",
                         context.arg(i).ToString(), ", but ",
                         expected.ToString(), " is expected");
  }
  return context.AssignArg(i, expected);
}

absl::StatusOr<int> NormalizeAxis(const TypeRelationContext& context,
                                  int64_t axis, int rank,
                                  absl::string_view what) {
  if (axis < -rank || axis >= rank) {
    return context.Error(what, "=", axis, " is out of range [", -rank, ", ",
                         rank, ")");
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

absl::Status ExpectRankInLimit(const TypeRelationContext& context,
                               int64_t rank) {
  const absl::Status status = CheckRank(rank);
  return status.ok() ? status : context.Error(status.message());
}

absl::Status ExpectFieldsInLimit(const TypeRelationContext& context,
                                 int64_t fields) {
  const absl::Status status = CheckFields(fields);
  return status.ok() ? status : context.Error(status.message());
}

absl::Status ExpectRank(const TypeRelationContext& context, int i,
                        const TensorTypeNode& type, int rank) {
  if (type.rank() == rank) return absl::OkStatus();
  return context.Error(ArgName(context, i), " must have ", rank,
                       " dimensions, but its shape is ",
                       ShapeToString(type.shape()));
}

absl::StatusOr<const Layout*> ParseLayout(const TypeRelationContext& context,
                                          absl::string_view what,
                                          absl::string_view text,
                                          const Layout& canonical,
                                          Layout& storage) {
  if (text == canonical.ToString()) return &canonical;
  absl::StatusOr<Layout> layout = Layout::Parse(text);
  if (!layout.ok()) {
    return context.Error(what, ": ", layout.status().message());
  }
  if (!layout->ConvertibleTo(canonical)) {
    return context.Error(what, "=\"", text, "\" cannot be converted to \"",
                         canonical.ToString(), "\"");
  }
  storage = *std::move(layout);
  return &storage;
}

absl::StatusOr<Dims> ConvertArgShape(const TypeRelationContext& context, int i,
                                     const TensorTypeNode& type,
                                     const Layout& from, const Layout& to) {
  if (&from == &to && type.rank() == from.ndim()) {
    return Dims(type.shape().begin(), type.shape().end());
  }
  absl::StatusOr<Dims> shape = ConvertShape(type.shape(), from, to);
  if (!shape.ok()) {
    return context.Error(ArgName(context, i), ": ", shape.status().message());
  }
  return shape;
}

absl::StatusOr<Dims> ToLayout(const TypeRelationContext& context, Dims shape,
                              const Layout& from, const Layout& to) {
  if (&from == &to) return shape;
  absl::StatusOr<Dims> converted = ConvertShape(shape, from, to);
  if (!converted.ok()) return context.Error(converted.status().message());
  return converted;
}

absl::StatusOr<std::vector<const TensorTypeNode*>> TensorFields(
    TypeRelationContext& context, int i) {
  std::vector<const TensorTypeNode*> tensors;
  const TupleTypeNode* tuple = context.TupleOf(i);
  BATON_RETURN_IF_ERROR(context.status());
  if (tuple == nullptr) return tensors;
  if (tuple->fields().empty()) return context.Error("the tuple is empty");
  for (const Type& field : tuple->fields()) {
    if (!field.defined() || field.Is<IncompleteTypeNode>()) {
      return std::vector<const TensorTypeNode*>();
    }
    const auto* tensor = field.As<TensorTypeNode>();
    if (tensor == nullptr) {
      return context.Error("the tuple holds a ", field.ToString(),
                           ", which is not a tensor");
    }
    if (!tensors.empty() && tensor->dtype() != tensors[0]->dtype()) {
      return context.Error("the tensors have the element types ",
                           tensors[0]->dtype().ToString(), " and ",
                           tensor->dtype().ToString());
    }
    tensors.push_back(tensor);
  }
  return tensors;
}

}  // namespace baton::relay
