// The kinds of Relay's nodes: see ir/node_kind.h.

#ifndef BATON_RELAY_IR_NODE_KIND_H_
#define BATON_RELAY_IR_NODE_KIND_H_

#include <cstdint>

#include "baton/ir/node_kind.h"

namespace baton::relay {

// The number of Relay's level: see NodeKind.
inline constexpr int kRelayLevel = 1;

// X(index, Name, sort). The class is NameNode. Indices are permanent.
#define BATON_RELAY_OWN_EXPRS(X) \
  X(0, Var, kLeafExpr)           \
  X(1, Constant, kLeafExpr)      \
  X(2, Call, kExpr)              \
  X(3, Tuple, kExpr)             \
  X(4, TupleGetItem, kExpr)      \
  X(5, Function, kFunction)      \
  X(6, Let, kExpr)               \
  X(7, If, kExpr)                \
  X(8, RefCreate, kExpr)         \
  X(9, RefRead, kExpr)           \
  X(10, RefWrite, kExpr)         \
  X(11, Match, kExpr)            \
  X(12, Constructor, kLeafExpr)
#define BATON_RELAY_NODES(X) \
  BATON_RELAY_OWN_EXPRS(X)   \
  X(13, Pattern, kOther)     \
  X(14, TypeData, kTypeDefinition)
// The expressions of Relay programs: Relay's own, operators, and global
// variables.
#define BATON_RELAY_EXPRS(X) \
  BATON_RELAY_OWN_EXPRS(X)   \
  BATON_IR_EXPRS(X)

BATON_RELAY_NODES(BATON_NODE_CLASS_DECLARATION)

enum class RelayKind : uint16_t {
#define BATON_RELAY_ENUMERATOR(index, Name, sort) \
  k##Name = NodeKind::Id(kRelayLevel, index),
  BATON_RELAY_NODES(BATON_RELAY_ENUMERATOR)
};

// The kinds of BATON_RELAY_EXPRS.
enum class ExprKind : uint16_t {
  BATON_RELAY_OWN_EXPRS(BATON_RELAY_ENUMERATOR)
#undef BATON_RELAY_ENUMERATOR
#define BATON_RELAY_ENUMERATOR(index, Name, sort) \
  k##Name = static_cast<uint16_t>(IrKind::k##Name),
      BATON_IR_EXPRS(BATON_RELAY_ENUMERATOR)
#undef BATON_RELAY_ENUMERATOR
};

constexpr NodeSort SortOf(RelayKind kind) {
  switch (kind) {
#define BATON_RELAY_SORT(index, Name, sort) \
  case RelayKind::k##Name:                  \
    return NodeSort::sort;
    BATON_RELAY_NODES(BATON_RELAY_SORT)
#undef BATON_RELAY_SORT
  }
  return NodeSort::kOther;
}
constexpr NodeSort SortOf(ExprKind kind) {
  switch (kind) {
#define BATON_RELAY_SORT(index, Name, sort) \
  case ExprKind::k##Name:                   \
    return NodeSort::sort;
    BATON_RELAY_EXPRS(BATON_RELAY_SORT)
#undef BATON_RELAY_SORT
  }
  return NodeSort::kOther;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_NODE_KIND_H_
