// Base of rewriters that change the data types of indices.
//
//   class Widen : public IndexDTypeRewriter {
//     PrimExpr VisitIntImm(const IntImmNode* imm) override {
//       return enabled_ ? CastTo(DType::Int(64), IntImm(imm)) : IntImm(imm);
//     }
//   };

#ifndef BATON_TIR_TRANSFORM_INDEX_DTYPE_REWRITER_H_
#define BATON_TIR_TRANSFORM_INDEX_DTYPE_REWRITER_H_

#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// A subclass changes the types of variables, immediates and casts where
// `enabled_` is set: in indices, bounds and extents, and in comparisons of
// integers in conditions. This class makes the rest agree: operands of one
// operation, bounds and loop variables, values and variables of blocks and
// lets, definitions of buffers and their accesses.
class IndexDTypeRewriter : public Rewriter {
 protected:
  PrimExpr VisitVar(const VarNode* node) override;
  PrimExpr VisitBinary(const BinaryNode* node) override;
  PrimExpr VisitSelect(const SelectNode* node) override;
  PrimExpr VisitRamp(const RampNode* node) override;
  PrimExpr VisitCall(const CallNode* node) override;
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override;
  Stmt VisitFor(const ForNode* node) override;
  Stmt VisitAttrStmt(const AttrStmtNode* node) override;
  Stmt VisitLetStmt(const LetStmtNode* node) override;
  Stmt VisitAllocate(const AllocateNode* node) override;
  Stmt VisitDeclBuffer(const DeclBufferNode* node) override;
  Stmt VisitBufferStore(const BufferStoreNode* node) override;
  Stmt VisitIfThenElse(const IfThenElseNode* node) override;
  Stmt VisitBlock(const BlockNode* node) override;
  Stmt VisitBlockRealize(const BlockRealizeNode* node) override;
  // The replacement of a buffer that was defined.
  Buffer RewriteBuffer(const Buffer& buffer) override;

  // Rewrites the parts of a buffer where it is defined.
  Buffer DefineBuffer(const Buffer& buffer);
  // `op` on rewritten operands, whose types are matched.
  PrimExpr Rebuilt(const BinaryNode* node, PrimExpr a, PrimExpr b);
  // The replacement of a variable.
  Var RewriteVar(const Var& var);

  bool enabled_ = false;    // within indices
  bool condition_ = false;  // within conditions
  NodeMap<Var> vars_;       // replaced variables

 private:
  template <typename Fn>
  auto Enabled(const Fn& fn) {
    const bool outer = std::exchange(enabled_, true);
    auto result = fn();
    enabled_ = outer;
    return result;
  }
  PrimExpr RewriteIndex(const PrimExpr& e);
  PrimExpr RewriteCondition(const PrimExpr& e);
  bool RewriteIndices(std::vector<PrimExpr>& indices);
  BufferRegion RewriteAccess(const BufferRegion& region);

  NodeMap<IterVar> threads_;
  BufferMap buffers_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INDEX_DTYPE_REWRITER_H_
