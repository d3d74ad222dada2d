#include "baton/ir/type.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/status_macros.h"
#include "baton/ir/node.h"
#include "baton/ir/node_memory.h"

namespace baton {

Dim::Dim(const DimExprNode* expr) : bits_(reinterpret_cast<uintptr_t>(expr)) {
  RetainSymbolic();
}

void Dim::RetainSymbolic() const {
  if (is_symbolic()) internal::NodeAccess::Retain(expr());
}

void Dim::ReleaseSymbolic() { internal::NodeAccess::Release(expr()); }

void internal::ChildSink::Take(Dim& dim) {
  if (dim.is_symbolic()) TakeNode(dim.expr());
  dim.bits_ = 0;
}

absl::Status AttrTraits<Dim>::FromValue(const AttrValue& value, Dim* out) {
  if (const int64_t* i = value.As<int64_t>()) {
    *out = Dim(*i);
    if (out->value() != *i) {
      return absl::InvalidArgumentError(
          absl::StrCat("the dimension ", *i, " is out of range"));
    }
    return absl::OkStatus();
  }
  if (const Dim* dim = value.As<Dim>()) {
    *out = *dim;
    return absl::OkStatus();
  }
  const std::string* s = value.As<std::string>();
  if (s != nullptr && *s == "?") {
    *out = Dim::Any();
    return absl::OkStatus();
  }
  return ExpectedError("a dimension", value);
}

template struct AttrTraits<Dims>;
template struct internal::FieldOpsOf<Dim>;
template struct internal::FieldOpsOf<Dims>;
template struct internal::FieldOpsOf<OptionalDims>;

AttrValue AttrTraits<OptionalDims>::ToValue(const OptionalDims& value) {
  return value.is_none() ? AttrValue() : AttrTraits<Dims>::ToValue(value);
}

absl::Status AttrTraits<OptionalDims>::FromValue(const AttrValue& value,
                                                 OptionalDims* out) {
  *out = value.is_none() ? OptionalDims(std::nullopt) : OptionalDims();
  return value.is_none() ? absl::OkStatus()
                         : AttrTraits<Dims>::FromValue(value, out);
}

absl::Status CheckShape(absl::Span<const Dim> shape) {
  BATON_RETURN_IF_ERROR(CheckRank(static_cast<int64_t>(shape.size())));
  for (const Dim& dim : shape) {
    if (!dim.is_const()) continue;
    if (dim.value() == Dim::kOutOfRange) {
      return absl::InvalidArgumentError("a dimension is out of range");
    }
  }
  return absl::OkStatus();
}

std::optional<absl::InlinedVector<int64_t, 6>> ConstDims(
    absl::Span<const Dim> dims) {
  absl::InlinedVector<int64_t, 6> result;
  result.reserve(dims.size());
  for (const Dim& dim : dims) {
    if (!dim.is_const()) return std::nullopt;
    result.push_back(dim.value());
  }
  return result;
}

bool TensorTypeNode::is_static() const {
  return std::all_of(dims(), dims() + rank_,
                     [](const Dim& dim) { return dim.is_const(); });
}

TensorType::TensorType(absl::Span<const Dim> shape, DType dtype) {
  auto* node = internal::NewBlankNode<TensorTypeNode>(
      static_cast<uint32_t>(shape.size()));
  node->dtype_ = dtype;
  Dim* dims = node->dims();
  for (size_t i = 0; i < shape.size(); ++i) new (dims + i) Dim(shape[i]);
  *this = TensorType(static_cast<const TensorTypeNode*>(node));
}

TensorType TensorType::Of(absl::Span<const int64_t> shape, DType dtype) {
  Dims dims(shape.begin(), shape.end());
  return TensorType(dims, dtype);
}

TupleTypeNode::TupleTypeNode(std::vector<Type> fields)
    : TypeNode(kKind), fields_(std::move(fields)) {
  Derive(*this);
}

TypeCallNode::TypeCallNode(Type func, std::vector<Type> args)
    : TypeNode(kKind), func_(std::move(func)), args_(std::move(args)) {
  Derive(*this);
}

FuncTypeNode::FuncTypeNode(std::vector<Type> args, Type result,
                           std::vector<TypeVar> type_params)
    : TypeNode(kKind),
      args_(std::move(args)),
      result_(std::move(result)),
      type_params_(std::move(type_params)) {
  Derive(*this);
}

RefTypeNode::RefTypeNode(Type value)
    : TypeNode(kKind), value_(std::move(value)) {
  Derive(*this);
}

namespace {

bool DimEqual(const Dim& a, const Dim& b) {
  if (a == b) return true;
  if (!a.is_symbolic() || !b.is_symbolic()) return false;
  // Symbolic expressions: equal trees over the same variables.
  std::vector<std::pair<const Dim*, const Dim*>> work = {{&a, &b}};
  while (!work.empty()) {
    const auto [x, y] = work.back();
    work.pop_back();
    if (*x == *y) continue;
    if (!x->is_symbolic() || !y->is_symbolic()) return false;
    const DimExprNode* p = x->expr();
    const DimExprNode* q = y->expr();
    if (p->op() != q->op() || p->is_var()) return false;
    work.push_back({&p->lhs(), &q->lhs()});
    work.push_back({&p->rhs(), &q->rhs()});
  }
  return true;
}

}  // namespace

bool TypeEqual(const Type& a, const Type& b) {
  if (a == b) return true;
  absl::InlinedVector<std::pair<const TypeNode*, const TypeNode*>, 8> work;
  work.push_back({a.get(), b.get()});
  // Type parameters of the function types compared so far, by position. Names
  // bound by different function types never clash: variables are identities.
  FlatHashMap<const TypeNode*, const TypeNode*> bound;
  const auto push_all = [&work](auto xs, auto ys) {
    if (xs.size() != ys.size()) return false;
    for (size_t i = 0; i < xs.size(); ++i) {
      work.push_back({xs[i].get(), ys[i].get()});
    }
    return true;
  };
  while (!work.empty()) {
    const auto [x, y] = work.back();
    work.pop_back();
    if (x == y) continue;
    if (x == nullptr || y == nullptr || x->kind() != y->kind()) return false;
    switch (TypeKindOf(x)) {
      case TypeKind::kTensorType: {
        const auto* p = static_cast<const TensorTypeNode*>(x);
        const auto* q = static_cast<const TensorTypeNode*>(y);
        if (p->dtype() != q->dtype() || p->rank() != q->rank()) return false;
        for (int i = 0; i < p->rank(); ++i) {
          if (!DimEqual(p->dim(i), q->dim(i))) return false;
        }
        continue;
      }
      case TypeKind::kTupleType:
        if (!push_all(static_cast<const TupleTypeNode*>(x)->fields(),
                      static_cast<const TupleTypeNode*>(y)->fields())) {
          return false;
        }
        continue;
      case TypeKind::kFuncType: {
        const auto* p = static_cast<const FuncTypeNode*>(x);
        const auto* q = static_cast<const FuncTypeNode*>(y);
        if (p->type_params().size() != q->type_params().size()) return false;
        for (size_t i = 0; i < p->type_params().size(); ++i) {
          bound[p->type_params()[i].get()] = q->type_params()[i].get();
        }
        if (!push_all(p->args(), q->args())) return false;
        work.push_back({p->result().get(), q->result().get()});
        continue;
      }
      case TypeKind::kTypeVar: {
        const auto it = bound.find(x);
        if (it == bound.end() || it->second != y) return false;
        continue;
      }
      case TypeKind::kGlobalTypeVar:
        if (static_cast<const GlobalTypeVarNode*>(x)->name() !=
            static_cast<const GlobalTypeVarNode*>(y)->name()) {
          return false;
        }
        continue;
      case TypeKind::kTypeCall: {
        const auto* p = static_cast<const TypeCallNode*>(x);
        const auto* q = static_cast<const TypeCallNode*>(y);
        work.push_back({p->func().get(), q->func().get()});
        if (!push_all(p->args(), q->args())) return false;
        continue;
      }
      case TypeKind::kRefType:
        work.push_back({static_cast<const RefTypeNode*>(x)->value().get(),
                        static_cast<const RefTypeNode*>(y)->value().get()});
        continue;
      case TypeKind::kIncompleteType:
        return false;
    }
    return false;  // of a level unknown here
  }
  return true;
}

}  // namespace baton
