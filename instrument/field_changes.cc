#include "baton/instrument/field_changes.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/attr_value.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/dispatch.h"
#include "baton/relay/ir/expr.h"

namespace baton::internal {

bool SameType(const Type& a, const Type& b) {
  if (a == b) return true;
  if (!a.defined() || !b.defined()) return false;
  return StructuralEqual(a, b, {.map_free_vars = true});
}

std::string TypeOrNone(const Type& type) {
  return type.defined() ? type.ToString() : "none";
}

namespace {

std::string TextOf(const Type& type) { return TypeOrNone(type); }
std::string TextOf(const std::unique_ptr<std::vector<Type>>& types) {
  if (types == nullptr) return "[]";
  return absl::StrCat("[",
                      absl::StrJoin(*types, ", ",
                                    [](std::string* out, const Type& type) {
                                      out->append(TypeOrNone(type));
                                    }),
                      "]");
}
std::string TextOf(const AttrValue* value) {
  return value == nullptr ? "none" : value->ToString();
}

bool SameTypes(const Type& a, const Type& b) { return SameType(a, b); }
bool SameTypes(const std::unique_ptr<std::vector<Type>>& a,
               const std::unique_ptr<std::vector<Type>>& b) {
  const size_t size = a == nullptr ? 0 : a->size();
  if (size != (b == nullptr ? 0 : b->size())) return false;
  for (size_t i = 0; i < size; ++i) {
    if (!SameType((*a)[i], (*b)[i])) return false;
  }
  return true;
}

void CompareMaps(const AttrMap& a, const AttrMap& b,
                 std::vector<FieldChange>* out) {
  const auto find = [](const AttrMap& map, const std::string& name) {
    for (const auto& [key, value] : map) {
      if (key == name) return &value;
    }
    return static_cast<const AttrValue*>(nullptr);
  };
  for (const auto& [name, value] : a) {
    const AttrValue* other = find(b, name);
    if (other != nullptr && *other == value) continue;
    out->push_back(
        {absl::StrCat("attrs.", name), TextOf(&value), TextOf(other)});
  }
  for (const auto& [name, value] : b) {
    if (find(a, name) != nullptr) continue;
    out->push_back({absl::StrCat("attrs.", name), "none", TextOf(&value)});
  }
}

void CompareAttrs(const DictAttrs& a, const DictAttrs& b,
                  std::vector<FieldChange>* out) {
  if (a != b) CompareMaps(a.entries(), b.entries(), out);
}
void CompareAttrs(const Attrs& a, const Attrs& b,
                  std::vector<FieldChange>* out) {
  if (a == b) return;
  if (a.defined() && b.defined() && &a->type() == &b->type()) {
    for (const Field& field : a->fields().fields()) {
      if (field.Equal(a->object(), b->object())) continue;
      out->push_back({absl::StrCat("attrs.", field.name()),
                      field.Get(a->object()).ToString(),
                      field.Get(b->object()).ToString()});
    }
    return;
  }
  // None are those with all defaults.
  const auto entries = [](const Attrs& attrs) {
    return attrs.defined() ? attrs->fields().NonDefault(attrs->object())
                           : AttrMap();
  };
  CompareMaps(entries(a), entries(b), out);
}

template <typename T>
std::string TextOfData(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return absl::StrCat(value);
  } else {
    return "";
  }
}

// The differences of `a` and `b` except for their children and inferred types.
template <typename N>
void CompareFieldsOf(const N& a, const N& b, std::vector<FieldChange>* out) {
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kAttrs) {
      CompareAttrs(F::Of(a), F::Of(b), out);
    } else if constexpr (F::kRole == FieldRole::kAnnotation) {
      if (!SameTypes(F::Of(a), F::Of(b))) {
        out->push_back({field.name(), TextOf(F::Of(a)), TextOf(F::Of(b))});
      }
    } else if constexpr (F::kRole == FieldRole::kData) {
      if (!(F::Of(a) == F::Of(b))) {
        out->push_back(
            {field.name(), TextOfData(F::Of(a)), TextOfData(F::Of(b))});
      }
    }
  });
}

}  // namespace

std::vector<FieldChange> CompareFields(const ExprNode* a, const ExprNode* b) {
  std::vector<FieldChange> result;
  relay::DispatchExpr(
      a,
      [&](const auto* node) {
        using N = std::remove_cvref_t<decltype(*node)>;
        // Leaves are compared where they are used.
        if constexpr (!std::is_same_v<N, OpNode> &&
                      !std::is_same_v<N, relay::ConstructorNode> &&
                      !std::is_same_v<N, GlobalVarNode> &&
                      !std::is_same_v<N, relay::ConstantNode>) {
          CompareFieldsOf(*node, *static_cast<const N*>(b), &result);
        }
      },
      [&](const ExprNode* other) {
        if (!StructuralEqual(Expr(other), Expr(b))) result.push_back({"body"});
      });
  if (const auto* match = Expr(a).As<relay::MatchNode>()) {
    const auto& clauses = match->clauses();
    const auto& others = static_cast<const relay::MatchNode*>(b)->clauses();
    for (size_t i = 0; i < std::min(clauses.size(), others.size()); ++i) {
      const std::string before = clauses[i].lhs.ToString();
      std::string after = others[i].lhs.ToString();
      if (before != after) {
        result.push_back(
            {absl::StrCat("clauses[", i, "].lhs"), before, std::move(after)});
      }
    }
  }
  return result;
}

}  // namespace baton::internal
