#include "baton/tir/analysis/undefined_vars.h"

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

class UseVisitor final : public Visitor {
 public:
  explicit UseVisitor(absl::Span<const Var> defined) {
    for (const Var& var : defined) Define(var);
  }
  std::vector<Var> TakeUndefined() { return std::move(undefined_); }

  void VisitVar(const VarNode* var) override {
    if (known_.Insert(var)) undefined_.emplace_back(var);
  }
  void VisitBufferLoad(const BufferLoadNode* load) override {
    UseBuffer(load->buffer());
    Visitor::VisitBufferLoad(load);
  }
  void VisitLet(const LetNode* let) override {
    Visit(let->value());
    Define(let->var());
    Visit(let->body());
  }
  void VisitReduce(const ReduceNode* reduce) override {
    for (const IterVar& axis : reduce->axis()) Define(axis->var());
    Visitor::VisitReduce(reduce);
  }

  void VisitAttrStmt(const AttrStmtNode* attr) override {
    if (attr->key() == "thread_extent") {
      if (const auto* thread = attr->node().As<IterVarNode>()) {
        Define(thread->var());
      }
    }
    Visitor::VisitAttrStmt(attr);
  }
  void VisitLetStmt(const LetStmtNode* let) override {
    Define(let->var());
    Visitor::VisitLetStmt(let);
  }
  void VisitFor(const ForNode* loop) override {
    Define(loop->loop_var());
    Visitor::VisitFor(loop);
  }
  void VisitDeclBuffer(const DeclBufferNode* decl) override {
    UseBuffer(decl->buffer());
    Visitor::VisitDeclBuffer(decl);
  }
  void VisitAllocate(const AllocateNode* allocate) override {
    Define(allocate->var());
    Visitor::VisitAllocate(allocate);
  }
  void VisitAllocateConst(const AllocateConstNode* allocate) override {
    Define(allocate->var());
    Visitor::VisitAllocateConst(allocate);
  }
  void VisitBufferStore(const BufferStoreNode* store) override {
    UseBuffer(store->buffer());
    Visitor::VisitBufferStore(store);
  }
  void VisitBlock(const BlockNode* block) override {
    for (const IterVar& var : block->iter_vars()) Define(var->var());
    for (const Var& var : block->defined()) Define(var);
    Visitor::VisitBlock(block);
  }

 private:
  void Define(const Var& var) { known_.Insert(var.get()); }
  void UseBuffer(const Buffer& buffer) {
    Visit(buffer->data());
    VisitAll(buffer->shape());
    VisitAll(buffer->strides());
  }

  NodeSet known_;
  std::vector<Var> undefined_;
};

template <typename T>
std::vector<Var> Undefined(const T& node, absl::Span<const Var> defined) {
  UseVisitor visitor(defined);
  visitor.Visit(node);
  return visitor.TakeUndefined();
}

}  // namespace

std::vector<Var> UndefinedVars(const PrimExpr& e,
                               absl::Span<const Var> defined) {
  return Undefined(e, defined);
}
std::vector<Var> UndefinedVars(const Stmt& stmt,
                               absl::Span<const Var> defined) {
  return Undefined(stmt, defined);
}

}  // namespace baton::tir
