// The kinds of nodes of the level of loops.

#ifndef BATON_TIR_IR_NODE_KIND_H_
#define BATON_TIR_IR_NODE_KIND_H_

#include "baton/ir/node_level.h"

namespace baton::tir {

// X(index, Name, sort). The class is NameNode. Indices are permanent.
#define BATON_TIR_EXPRS(X)   \
  X(0, Var, kLeafExpr)       \
  X(1, IntImm, kLeafExpr)    \
  X(2, FloatImm, kLeafExpr)  \
  X(3, StringImm, kLeafExpr) \
  X(4, Cast, kExpr)          \
  X(5, Binary, kExpr)        \
  X(6, Not, kExpr)           \
  X(7, Select, kExpr)        \
  X(8, Ramp, kExpr)          \
  X(9, Broadcast, kExpr)     \
  X(10, Shuffle, kExpr)      \
  X(11, BufferLoad, kExpr)   \
  X(12, Call, kExpr)         \
  X(13, Let, kExpr)          \
  X(14, Reduce, kExpr)       \
  X(15, CommReducer, kExpr)  \
  X(16, IterVar, kExpr)      \
  X(17, IndexMap, kExpr)     \
  X(18, Buffer, kExpr)       \
  X(19, BufferRegion, kExpr) \
  X(20, MatchRegion, kExpr)  \
  X(21, List, kExpr)         \
  X(22, Dict, kExpr)         \
  X(23, Target, kExpr)
#define BATON_TIR_STMTS(X)    \
  X(64, LetStmt, kExpr)       \
  X(65, AttrStmt, kExpr)      \
  X(66, AssertStmt, kExpr)    \
  X(67, For, kExpr)           \
  X(68, While, kExpr)         \
  X(69, BufferStore, kExpr)   \
  X(70, BufferRealize, kExpr) \
  X(71, Allocate, kExpr)      \
  X(72, AllocateConst, kExpr) \
  X(73, DeclBuffer, kExpr)    \
  X(74, SeqStmt, kExpr)       \
  X(75, IfThenElse, kExpr)    \
  X(76, Evaluate, kExpr)      \
  X(77, Block, kExpr)         \
  X(78, BlockRealize, kExpr)  \
  X(79, Prefetch, kExpr)
#define BATON_TIR_NODES(X) \
  BATON_TIR_EXPRS(X)       \
  BATON_TIR_STMTS(X)       \
  X(96, PrimFunc, kFunction)

BATON_DEFINE_NODE_LEVEL(2, TirKind, BATON_TIR_NODES)

// Statements have indices from this one on, and expressions lower ones.
inline constexpr int kFirstStmtIndex = 64;
inline constexpr int kFirstFunctionIndex = 96;

constexpr bool IsPrimExprKind(::baton::NodeKind kind) {
  return kind.level() == kNodeLevel && kind.index() < kFirstStmtIndex;
}
constexpr bool IsStmtKind(::baton::NodeKind kind) {
  return kind.level() == kNodeLevel && kind.index() >= kFirstStmtIndex &&
         kind.index() < kFirstFunctionIndex;
}

}  // namespace baton::tir

#endif  // BATON_TIR_IR_NODE_KIND_H_
