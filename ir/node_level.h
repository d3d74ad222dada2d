// Defines a level of nodes from one list of its kinds: see ir/node_kind.h.

#ifndef BATON_IR_NODE_LEVEL_H_
#define BATON_IR_NODE_LEVEL_H_

#include <cstdint>

#include "baton/ir/node_kind.h"

// Defines kNodeLevel, the number of the level, and `Kind`, the closed enum of
// the kinds in NODES, a list X(index, Name, sort). Use it once, in the
// namespace of the level.
//
//   #define BATON_LOOP_NODES(X) X(0, For, kExpr) X(1, Store, kExpr)
//   BATON_DEFINE_NODE_LEVEL(kFirstFreeLevel, LoopKind, BATON_LOOP_NODES)
#define BATON_DEFINE_NODE_LEVEL(number, Kind, NODES)             \
  inline constexpr int kNodeLevel = number;                      \
  enum class Kind : uint16_t { NODES(BATON_LEVEL_ENUMERATOR_) }; \
  constexpr ::baton::NodeSort SortOf(Kind kind) {                \
    using Kinds = Kind;                                          \
    switch (kind) { NODES(BATON_LEVEL_SORT_) }                   \
    return ::baton::NodeSort::kOther;                            \
  }
#define BATON_LEVEL_ENUMERATOR_(index, Name, sort) \
  k##Name = ::baton::NodeKind::Id(kNodeLevel, index),
#define BATON_LEVEL_SORT_(index, Name, sort) \
  case Kinds::k##Name:                       \
    return ::baton::NodeSort::sort;

#endif  // BATON_IR_NODE_LEVEL_H_
