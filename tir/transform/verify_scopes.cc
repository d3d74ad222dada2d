#include "baton/tir/transform/verify_scopes.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Finds the first use of a variable outside of the scopes of its definitions.
class ScopeVerifier final : public Visitor {
 public:
  absl::Status Check(const PrimFunc& function) {
    at_ = function.get();
    for (const Var& param : function->params()) Define(param.get());
    for (const Var& var : function->defined()) Define(var.get());
    Visit(function->body());
    return status_;
  }

 protected:
  void VisitVar(const VarNode* var) override {
    const int* definitions = definitions_.Find(var);
    if (definitions != nullptr && *definitions > 0) return;
    if (!status_.ok()) return;
    status_ =
        ErrorAt(at_->span(), absl::StrCat("the variable ", var->name(),
                                          " is used where it is not defined"));
  }
  void VisitBufferLoad(const BufferLoadNode* load) override {
    UseBuffer(load->buffer());
    Visitor::VisitBufferLoad(load);
  }
  void VisitLet(const LetNode* let) override {
    Visit(let->value());
    Define(let->var().get());
    Visit(let->body());
    Forget(let->var().get());
  }
  void VisitReduce(const ReduceNode* reduce) override {
    for (const IterVar& axis : reduce->axis()) Define(axis->var().get());
    Visitor::VisitReduce(reduce);
    for (const IterVar& axis : reduce->axis()) Forget(axis->var().get());
  }
  void VisitIndexMap(const IndexMapNode* map) override {
    for (const Var& var : map->initial()) Define(var.get());
    Visitor::VisitIndexMap(map);
    for (const Var& var : map->initial()) Forget(var.get());
  }

  void VisitLetStmt(const LetStmtNode* let) override {
    at_ = let;
    Visit(let->value());
    Define(let->var().get());
    Visit(let->body());
    Forget(let->var().get());
  }
  void VisitAttrStmt(const AttrStmtNode* attr) override {
    at_ = attr;
    Visit(attr->value());
    const auto* thread = attr->node().As<IterVarNode>();
    const VarNode* var = thread == nullptr ? nullptr : thread->var().get();
    if (var != nullptr) Define(var);
    Visit(attr->body());
    if (var != nullptr) Forget(var);
  }
  void VisitAssertStmt(const AssertStmtNode* check) override {
    at_ = check;
    Visitor::VisitAssertStmt(check);
  }
  void VisitFor(const ForNode* loop) override {
    at_ = loop;
    Visit(loop->min());
    Visit(loop->extent());
    Define(loop->loop_var().get());
    Visit(loop->body());
    Forget(loop->loop_var().get());
  }
  void VisitWhile(const WhileNode* loop) override {
    at_ = loop;
    Visitor::VisitWhile(loop);
  }
  void VisitBufferStore(const BufferStoreNode* store) override {
    at_ = store;
    UseBuffer(store->buffer());
    Visitor::VisitBufferStore(store);
  }
  void VisitBufferRealize(const BufferRealizeNode* realize) override {
    at_ = realize;
    VisitAll(realize->bounds());
    std::vector<Var> vars;
    AppendDefinedVars(realize->buffer(), vars);
    for (const Var& var : vars) Define(var.get());
    Visit(realize->condition());
    Visit(realize->body());
    for (const Var& var : vars) Forget(var.get());
  }
  void VisitAllocate(const AllocateNode* allocate) override {
    at_ = allocate;
    VisitAll(allocate->extents());
    Visit(allocate->condition());
    Define(allocate->var().get());
    Visit(allocate->body());
    Forget(allocate->var().get());
  }
  void VisitAllocateConst(const AllocateConstNode* allocate) override {
    at_ = allocate;
    VisitAll(allocate->extents());
    Define(allocate->var().get());
    Visit(allocate->body());
    Forget(allocate->var().get());
  }
  void VisitDeclBuffer(const DeclBufferNode* decl) override {
    at_ = decl;
    UseBuffer(decl->buffer());
    Visitor::VisitDeclBuffer(decl);
  }
  void VisitIfThenElse(const IfThenElseNode* branch) override {
    at_ = branch;
    Visitor::VisitIfThenElse(branch);
  }
  void VisitEvaluate(const EvaluateNode* evaluate) override {
    at_ = evaluate;
    Visitor::VisitEvaluate(evaluate);
  }
  void VisitBlock(const BlockNode* block) override {
    at_ = block;
    for (const IterVar& var : block->iter_vars()) Visit(var);
    for (const IterVar& var : block->iter_vars()) Define(var->var().get());
    for (const Var& var : block->defined()) Define(var.get());
    for (const BufferRegion& region : block->reads()) Visit(region);
    for (const BufferRegion& region : block->writes()) Visit(region);
    for (const MatchRegion& match : block->match_buffers()) Visit(match);
    Visit(block->init());
    Visit(block->body());
    for (const IterVar& var : block->iter_vars()) Forget(var->var().get());
    for (const Var& var : block->defined()) Forget(var.get());
  }
  void VisitBlockRealize(const BlockRealizeNode* realize) override {
    at_ = realize;
    Visitor::VisitBlockRealize(realize);
  }

 private:
  void Define(const VarNode* var) { ++definitions_[var]; }
  void Forget(const VarNode* var) { --definitions_[var]; }
  void UseBuffer(const Buffer& buffer) {
    Visit(buffer->data());
    VisitAll(buffer->shape());
    VisitAll(buffer->strides());
    Visit(buffer->elem_offset());
  }

  const ExprNode* at_ = nullptr;  // the innermost statement
  NodeMap<int> definitions_;      // in scope, by variable
  absl::Status status_;
};

}  // namespace

Pass VerifyScopes() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_RETURN_IF_ERROR(ScopeVerifier().Check(function));
        return function;
      },
      {.name = "tir.VerifyScopes",
       .doc = "Checks that variables are defined where they are used.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.VerifyScopes", VerifyScopes);

}  // namespace baton::tir
