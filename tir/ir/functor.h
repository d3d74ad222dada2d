// Visitors and rewriters of expressions and statements, by class of node.
//
//   class CountLoads : public Visitor {
//    public:
//     int count = 0;
//     void VisitBufferLoad(const BufferLoadNode* load) override {
//       ++count;
//       Visitor::VisitBufferLoad(load);  // visits the indices
//     }
//   };
//
//   class UnrollPairs : public Rewriter {
//     Stmt VisitFor(const ForNode* loop) override { ... }
//   };
//
// A hook decides whether and in what order the parts of its node are visited:
// the hook of the base class visits all parts, in the order of TVM's functors.
// Binders (variables that a node defines) and the subject of an AttrStmt are
// not visited. A node that occurs several times is visited each time. Recursion
// is limited by memory only (base/deep_stack.h).

#ifndef BATON_TIR_IR_FUNCTOR_H_
#define BATON_TIR_IR_FUNCTOR_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

class Visitor {
 public:
  virtual ~Visitor() = default;
  // Calls the hook of the class of `node`. A null handle is not visited.
  void Visit(const PrimExpr& e);
  void Visit(const Stmt& stmt);

 protected:
#define BATON_TIR_VISITOR_HOOK(index, Name, sort) \
  virtual void Visit##Name(const Name##Node* node);
  BATON_TIR_EXPRS(BATON_TIR_VISITOR_HOOK)
  BATON_TIR_STMTS(BATON_TIR_VISITOR_HOOK)
#undef BATON_TIR_VISITOR_HOOK

  void VisitAll(absl::Span<const PrimExpr> list);
  void VisitAll(absl::Span<const Range> list);
};

// Returns the same node where no part changes. A rebuilt node keeps its place
// in the source.
class Rewriter {
 public:
  virtual ~Rewriter() = default;
  // The replacement of a node; null for a null handle.
  PrimExpr Rewrite(const PrimExpr& e);
  Stmt Rewrite(const Stmt& stmt);
  // Rewrites the body; buffers of parameters stay.
  PrimFunc RewriteBody(const PrimFunc& function);

 protected:
#define BATON_TIR_REWRITER_HOOK(index, Name, sort) \
  virtual PrimExpr Visit##Name(const Name##Node* node);
  BATON_TIR_EXPRS(BATON_TIR_REWRITER_HOOK)
#undef BATON_TIR_REWRITER_HOOK
#define BATON_TIR_REWRITER_HOOK(index, Name, sort) \
  virtual Stmt Visit##Name(const Name##Node* node);
  BATON_TIR_STMTS(BATON_TIR_REWRITER_HOOK)
#undef BATON_TIR_REWRITER_HOOK

  // The buffer that replaces `buffer` in accesses, regions, declarations and
  // allocations of blocks.
  virtual Buffer RewriteBuffer(const Buffer& buffer) { return buffer; }

  // Rewrites the elements; true if one changed.
  bool RewriteAll(std::vector<PrimExpr>& list);
  bool RewriteAll(std::vector<Range>& list);
  // Rewrites the extents, strides and offset of a buffer; true if one changed.
  bool RewriteExtents(BufferNode::Parts& parts);
  // The replacements of a part by class. A hook must return a node of that
  // class, or the part stays as it was.
  Dict RewriteDict(const Dict& dict);
  IterVar RewriteIterVar(const IterVar& var);
  BufferRegion RewriteRegion(const BufferRegion& region);
  MatchRegion RewriteMatch(const MatchRegion& match);
  Block RewriteBlock(const Block& block);
};

// Calls `fn` for each node below `root` and `root`, children first. Buffers,
// which are no children, are not visited.
void PostOrderVisit(const PrimExpr& root,
                    absl::FunctionRef<void(const PrimExpr&)> fn);
void PostOrderVisit(const Stmt& root,
                    absl::FunctionRef<void(const PrimExpr&)> fn_expr,
                    absl::FunctionRef<void(const Stmt&)> fn_stmt);

// Replaces free uses of variables: `value_of` returns a null handle for a
// variable that stays. Buffers whose pointer, shape, strides or offset change
// are replaced by new ones, each always by the same one; a pointer must be
// replaced by a variable. Definitions stay.
using VarValues = absl::FunctionRef<PrimExpr(const VarNode*)>;
PrimExpr Substitute(const PrimExpr& e, VarValues value_of);
Stmt Substitute(const Stmt& stmt, VarValues value_of);
PrimExpr Substitute(const PrimExpr& e, const NodeMap<PrimExpr>& values);
Stmt Substitute(const Stmt& stmt, const NodeMap<PrimExpr>& values);

// True if `uses` holds for a variable that occurs in the node, the pointers of
// accessed buffers included.
bool UsesVar(const PrimExpr& e, absl::FunctionRef<bool(const VarNode*)> uses);
bool UsesVar(const Stmt& stmt, absl::FunctionRef<bool(const VarNode*)> uses);
// True if `var` occurs in the node, as above.
bool UsesVar(const PrimExpr& e, const VarNode* var);
bool UsesVar(const Stmt& stmt, const VarNode* var);

// True if `e` loads an element of a buffer.
bool HasLoad(const PrimExpr& e);

// The statements of `stmt` in order, with nested sequences and statements
// without effect (Evaluate of an integer) taken apart.
void AppendFlattened(const Stmt& stmt, std::vector<Stmt>& seq);

}  // namespace baton::tir

#endif  // BATON_TIR_IR_FUNCTOR_H_
