// NodeKind: the kinds of nodes, an open set that is the union of closed enums.
//
// Nodes belong to levels: `ir/` itself (types, attributes, operators, names of
// functions), Baton's levels, and levels that other repositories add. Each
// level has a number and a closed enum of its kinds. One list of the kinds
// generates the enum and all code that needs every kind:
//
//   #define BATON_LOOP_NODES(X) X(0, For, kExpr) X(1, Store, kExpr) ...
//
// A NodeKind is any kind of any level, in 16 bits:
//
//   bit   15      11 10        7 6         0
//        |  sort   |   level   |   index   |
//
// The sort says how a node can be used: a mask test answers "is it an
// expression?" for kinds of levels that the caller does not know.
//
// A switch covers a closed enum, without `default:`. So a new kind does not
// compile until the switch handles it:
//
//   switch (TypeKindOf(type)) { case TypeKind::kTensorType: ... }

#ifndef BATON_IR_NODE_KIND_H_
#define BATON_IR_NODE_KIND_H_

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace baton {

// The possible uses of nodes of a kind.
enum class NodeSort : uint16_t {
  kOther = 0,
  kType = 1 << 11,
  kExpr = 1 << 12,
  kLeafExpr = kExpr | 1 << 13,  // has no children: variables, operators ...
  kFunction = kExpr | 1 << 14,
  kTypeDefinition = 1 << 15,
};

// A closed enum of kinds: its values are NodeKind::id(), and SortOf(value)
// gives the sort.
template <typename K>
concept ClosedKind = std::is_enum_v<K> && requires(K kind) {
  { SortOf(kind) } -> std::same_as<NodeSort>;
};

// A kind of nodes of any level, in 16 bits; see the top of this file.
class NodeKind {
 public:
  static constexpr int kIndexBits = 7;
  static constexpr int kLevelBits = 4;
  static constexpr int kNumIds = 1 << (kLevelBits + kIndexBits);

  // The id of the `index`-th kind of a level.
  static constexpr uint16_t Id(int level, int index) {
    return static_cast<uint16_t>(level << kIndexBits | index);
  }

  template <ClosedKind K>
  constexpr NodeKind(K kind)  // NOLINT(google-explicit-constructor)
      : bits_(static_cast<uint16_t>(static_cast<uint16_t>(kind) |
                                    static_cast<uint16_t>(SortOf(kind)))) {}

  // Identifies the kind; less than kNumIds.
  constexpr int id() const { return bits_ & (kNumIds - 1); }
  constexpr int level() const { return id() >> kIndexBits; }
  constexpr int index() const { return bits_ & ((1 << kIndexBits) - 1); }
  // True if nodes of this kind can be used as `sort`.
  constexpr bool Is(NodeSort sort) const {
    return (bits_ & static_cast<uint16_t>(sort)) == static_cast<uint16_t>(sort);
  }
  // Converts the kind to a value of a closed enum. The result is no enumerator
  // if the enum lacks the kind.
  template <ClosedKind K>
  constexpr K To() const {
    return static_cast<K>(id());
  }

  friend constexpr bool operator==(NodeKind a, NodeKind b) {
    return a.bits_ == b.bits_;
  }

 private:
  uint16_t bits_;
};

// True for expressions that have no children: variables, constants, operators,
// constructors.
constexpr bool IsLeaf(NodeKind kind) { return kind.Is(NodeSort::kLeafExpr); }

// The numbers of the levels. Numbers below kFirstFreeLevel are for this
// repository (relay/ir/node_kind.h has 1), the others for other repositories.
// Two levels with one number cannot be linked into one program: see
// BATON_REGISTER_NODE_LEVEL.
inline constexpr int kIrLevel = 0;
inline constexpr int kFirstFreeLevel = 8;

// The kinds of `ir/`: X(index, Name, sort). The class is NameNode. Indices are
// permanent.
#define BATON_IR_TYPES(X)    \
  X(0, TensorType, kType)    \
  X(1, TupleType, kType)     \
  X(2, FuncType, kType)      \
  X(3, TypeVar, kType)       \
  X(4, GlobalTypeVar, kType) \
  X(5, TypeCall, kType)      \
  X(6, RefType, kType)       \
  X(7, IncompleteType, kType)
#define BATON_IR_EXPRS(X)    \
  X(8, GlobalVar, kLeafExpr) \
  X(9, Op, kLeafExpr)
#define BATON_IR_NODES(X) \
  BATON_IR_TYPES(X)       \
  BATON_IR_EXPRS(X)       \
  X(10, DimExpr, kOther)  \
  X(11, Span, kOther)     \
  X(12, Attrs, kOther)    \
  X(13, DictAttrs, kOther)

#define BATON_NODE_CLASS_DECLARATION(index, Name, sort) class Name##Node;
BATON_IR_NODES(BATON_NODE_CLASS_DECLARATION)

enum class IrKind : uint16_t {
#define BATON_IR_ENUMERATOR(index, Name, sort) \
  k##Name = NodeKind::Id(kIrLevel, index),
  BATON_IR_NODES(BATON_IR_ENUMERATOR)
};
// The kinds of types.
enum class TypeKind : uint16_t { BATON_IR_TYPES(BATON_IR_ENUMERATOR) };
#undef BATON_IR_ENUMERATOR

constexpr NodeSort SortOf(TypeKind /*kind*/) { return NodeSort::kType; }
constexpr NodeSort SortOf(IrKind kind) {
  switch (kind) {
#define BATON_IR_SORT(index, Name, sort) \
  case IrKind::k##Name:                  \
    return NodeSort::sort;
    BATON_IR_NODES(BATON_IR_SORT)
#undef BATON_IR_SORT
  }
  return NodeSort::kOther;
}

}  // namespace baton

#endif  // BATON_IR_NODE_KIND_H_
