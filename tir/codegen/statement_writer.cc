#include "baton/tir/codegen/statement_writer.h"

#include "baton/base/deep_stack.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

void StatementWriter::WriteStmt(const Stmt& stmt, int depth) {
  if (!stmt.defined()) return;
  if (stmt->span().defined()) statement_span_ = stmt->span();
  OnDeepStack([this, &stmt, depth] { WriteNode(stmt.get(), depth); });
}

void StatementWriter::WriteNode(const StmtNode* node, int depth) {
  switch (node->kind().To<TirKind>()) {
    case TirKind::kSeqStmt:
      for (const Stmt& part : static_cast<const SeqStmtNode*>(node)->seq()) {
        WriteStmt(part, depth);
      }
      return;
    case TirKind::kFor: {
      const auto* loop = static_cast<const ForNode*>(node);
      if (loop->for_kind() == ForKind::kThreadBinding) {
        return RefuseStatement(node, "a loop over threads");
      }
      return WriteFor(loop, depth);
    }
    case TirKind::kWhile:
      return WriteWhile(static_cast<const WhileNode*>(node), depth);
    case TirKind::kIfThenElse:
      return WriteIf(static_cast<const IfThenElseNode*>(node), depth);
    case TirKind::kLetStmt:
      return WriteLet(static_cast<const LetStmtNode*>(node), depth);
    case TirKind::kAttrStmt: {
      const auto* attr = static_cast<const AttrStmtNode*>(node);
      if (attr->key() == "thread_extent" || attr->key() == "virtual_thread") {
        return RefuseStatement(node, "a loop over threads");
      }
      return WriteStmt(attr->body(), depth);
    }
    case TirKind::kAssertStmt: {
      const auto* assertion = static_cast<const AssertStmtNode*>(node);
      WriteCheck(assertion);
      return WriteStmt(assertion->body(), depth);
    }
    case TirKind::kBufferStore:
      return WriteStore(static_cast<const BufferStoreNode*>(node));
    case TirKind::kAllocate:
      return WriteAllocate(static_cast<const AllocateNode*>(node), depth);
    case TirKind::kAllocateConst:
      return WriteConstant(static_cast<const AllocateConstNode*>(node), depth);
    case TirKind::kDeclBuffer:
      return WriteStmt(static_cast<const DeclBufferNode*>(node)->body(), depth);
    case TirKind::kEvaluate:
      return WriteEvaluate(static_cast<const EvaluateNode*>(node));
    case TirKind::kPrefetch:
      return;
    case TirKind::kBlock:
    case TirKind::kBlockRealize:
      return RefuseStatement(node,
                             "a block, which passes of lowering take apart,");
    default:
      return RefuseStatement(node, "this statement");
  }
}

}  // namespace baton::tir
