// Takes a function's statements apart for the writers of C++ and of LLVM's
// text.

#ifndef BATON_TIR_CODEGEN_STATEMENT_WRITER_H_
#define BATON_TIR_CODEGEN_STATEMENT_WRITER_H_

#include "absl/strings/string_view.h"
#include "baton/ir/expr.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

class StatementWriter {
 protected:
  StatementWriter() = default;
  ~StatementWriter() = default;

  // Writes `stmt`, which `depth` loops enclose. Writes nothing for a null
  // statement.
  void WriteStmt(const Stmt& stmt, int depth);

  virtual void WriteFor(const ForNode* node, int depth) = 0;
  virtual void WriteWhile(const WhileNode* node, int depth) = 0;
  virtual void WriteIf(const IfThenElseNode* node, int depth) = 0;
  virtual void WriteLet(const LetStmtNode* node, int depth) = 0;
  // The check alone; the body of the assertion follows.
  virtual void WriteCheck(const AssertStmtNode* node) = 0;
  virtual void WriteStore(const BufferStoreNode* node) = 0;
  virtual void WriteAllocate(const AllocateNode* node, int depth) = 0;
  virtual void WriteConstant(const AllocateConstNode* node, int depth) = 0;
  virtual void WriteEvaluate(const EvaluateNode* node) = 0;
  // Reports that `node` cannot be written.
  virtual void RefuseStatement(const ExprNode* node,
                               absl::string_view message) = 0;

  // The place of the last statement that has one.
  Span statement_span_;

 private:
  void WriteNode(const StmtNode* node, int depth);
};

}  // namespace baton::tir

#endif  // BATON_TIR_CODEGEN_STATEMENT_WRITER_H_
