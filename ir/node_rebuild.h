// Copies nodes with other children or another type. Templates derive the code
// from the description of each class.

#ifndef BATON_IR_NODE_REBUILD_H_
#define BATON_IR_NODE_REBUILD_H_

#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/type.h"

namespace baton {

// Returns a copy of `node` with the given type and the given children, as many
// as `node` has and in the order of ForEachChildOf. If the class does not allow
// a new child (an expression other than a variable for a binder), the copy
// keeps the old child.
template <typename N>
HandleOf<N> CopyWithChildren(const N& node, absl::Span<const Expr> children,
                             Type type);

// Returns a copy of `node` with another inferred type; `node` itself if its
// class has no inferred type.
template <typename N>
HandleOf<N> CopyWithType(const N& node, Type type);

// Implementation details below.

namespace internal {

// Provides the new children of the copy, one after another.
class NewChildren {
 public:
  explicit NewChildren(absl::Span<const Expr> children)
      : next_(children.data()) {}

  template <typename H>
  H Next(const H& old) {
    const Expr& child = *next_++;
    if constexpr (std::is_same_v<H, Expr>) {
      return child;
    } else {
      using N = NodeOf<H>;
      const N* node = child.As<N>();
      return node == nullptr ? old : H(node);
    }
  }

 private:
  const Expr* next_;
};

// Provides the children of the original.
class SameChildren {
 public:
  template <typename H>
  const H& Next(const H& old) {
    return old;
  }
};

template <FieldRole kRole, typename T, typename Children>
void CopyField(const T& from, T& to, Children& children) {
  constexpr bool kVisited =
      !std::is_same_v<Children, SameChildren> &&
      (kRole == FieldRole::kChild || kRole == FieldRole::kBinder);
  if constexpr (kIsOptional<T>) {
    if (from != nullptr) {
      to = std::make_unique<typename T::element_type>(*from);
    }
  } else if constexpr (kVisited && kIsReference<T>) {
    to = children.Next(from);
  } else if constexpr (kVisited) {
    to.reserve(from.size());
    for (const auto& element : from) to.push_back(children.Next(element));
  } else if constexpr (kRole == FieldRole::kPattern &&
                       !std::is_same_v<Children, SameChildren>) {
    to = WithBinders(from,
                     [&](const auto& binder) { return children.Next(binder); });
  } else if constexpr (kRole == FieldRole::kRecords) {
    to.reserve(from.size());
    for (const auto& old : from) {
      auto& record = to.emplace_back();
      ApplyFields(
          [&](auto... field) {
            (CopyField<decltype(field)::kRole>(decltype(field)::Of(old),
                                               decltype(field)::Of(record),
                                               children),
             ...);
          },
          T::value_type::Fields());
    }
  } else {
    to = from;
  }
}

template <typename N, typename Children>
HandleOf<N> CopyNode(const N& node, Children children, Type type) {
  uint32_t trailing = 0;
  if constexpr (HasTrailingArray<N>()) {
    ForEachField<N>([&](auto field) {
      using F = decltype(field);
      if constexpr (F::kIsTrailing) trailing = F::CountOf(node);
    });
  }
  N* copy = NewBlankNode<N>(trailing);
  // If copying a field throws, the copy can already be destroyed.
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kIsTrailing) {
      typename F::Value* to = F::Of(*copy).data();
      for (uint32_t i = 0; i < trailing; ++i) new (to + i) typename F::Value();
    }
  });
  HandleOf<N> result(copy);
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kInferredType) {
      F::Of(*copy) = std::move(type);
    } else if constexpr (F::kIsTrailing) {
      typename F::Value* to = F::Of(*copy).data();
      for (const auto& element : F::Of(node)) {
        if constexpr (F::kRole == FieldRole::kChild) {
          *to++ = children.Next(element);
        } else {
          *to++ = element;
        }
      }
    } else {
      CopyField<F::kRole>(F::Of(node), F::Of(*copy), children);
    }
  });
  return result;
}

template <typename N>
constexpr bool HasInferredType() {
  bool result = false;
  ForEachField<N>([&](auto field) {
    result |= decltype(field)::kRole == FieldRole::kInferredType;
  });
  return result;
}

}  // namespace internal

template <typename N>
HandleOf<N> CopyWithChildren(const N& node, absl::Span<const Expr> children,
                             Type type) {
  return internal::CopyNode(node, internal::NewChildren(children),
                            std::move(type));
}

template <typename N>
HandleOf<N> CopyWithType(const N& node, Type type) {
  if constexpr (internal::HasInferredType<N>()) {
    return internal::CopyNode(node, internal::SameChildren(), std::move(type));
  } else {
    return HandleOf<N>(&node);
  }
}

}  // namespace baton

#endif  // BATON_IR_NODE_REBUILD_H_
