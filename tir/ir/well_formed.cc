// The rules of functions of loops.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// Finds uses of variables outside of the scopes of their definitions. Reports
// each variable once.
class ScopeVerifier final : public Visitor {
 public:
  explicit ScopeVerifier(
      absl::FunctionRef<void(const ExprNode*, const Var&)> report)
      : report_(report) {}

  void Check(const PrimFuncNode* function) {
    at_ = function;
    for (const Var& param : function->params()) Define(param.get());
    for (const Var& var : function->defined()) Define(var.get());
    Visit(function->body());
  }

 protected:
  void VisitVar(const VarNode* var) override {
    const int* definitions = definitions_.Find(var);
    if (definitions != nullptr && *definitions > 0) return;
    if (reported_.Insert(var)) report_(at_, Var(var));
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
    DefineBuffer(realize->buffer());
    Visit(realize->condition());
    Visit(realize->body());
    ForgetBuffer(realize->buffer());
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
  // The variables that a declaration of the buffer defines.
  static void ForEachVarOf(const Buffer& buffer,
                           absl::FunctionRef<void(const VarNode*)> fn) {
    fn(buffer->data().get());
    const auto add = [&fn](const PrimExpr& e) {
      if (const auto* var = e.As<VarNode>()) fn(var);
    };
    for (const PrimExpr& extent : buffer->shape()) add(extent);
    for (const PrimExpr& stride : buffer->strides()) add(stride);
    if (buffer->elem_offset().defined()) add(buffer->elem_offset());
  }
  void DefineBuffer(const Buffer& buffer) {
    ForEachVarOf(buffer, [this](const VarNode* var) { Define(var); });
  }
  void ForgetBuffer(const Buffer& buffer) {
    ForEachVarOf(buffer, [this](const VarNode* var) { Forget(var); });
  }
  void UseBuffer(const Buffer& buffer) {
    Visit(buffer->data());
    VisitAll(buffer->shape());
    VisitAll(buffer->strides());
  }

  absl::FunctionRef<void(const ExprNode*, const Var&)> report_;
  const ExprNode* at_ = nullptr;  // the innermost statement
  NodeMap<int> definitions_;      // in scope, by variable
  NodeSet reported_;
};

// Variables are used in the scopes of their definitions, operands have one
// type, accesses have as many indices as the buffer has axes, stores have the
// type of what is stored, blocks as many values as variables, and functions that
// are called exist.
class PrimFuncVerifier final : public FunctionVerifier {
 public:
  void CheckWellFormed(const IRModule& module, const GlobalVar& var,
                       const BaseFunc& function,
                       Diagnostics& diagnostics) const override {
    NodeSet seen;
    std::vector<const Node*> stack = {function.get()};
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (node->kind().level() != kNodeLevel) continue;
      if (!node->unique() && !seen.Insert(node)) continue;
      const std::string problem = ProblemOf(node, module);
      if (!problem.empty()) {
        diagnostics.Error(static_cast<const ExprNode*>(node)->span(),
                          absl::StrCat("in @", var->name(), ": ", problem));
      }
      ForEachReference(node,
                       [&stack](const Node* part) { stack.push_back(part); });
    }
    ScopeVerifier([&](const ExprNode* at, const Var& variable) {
      diagnostics.Error(
          at->span(),
          absl::StrCat("in @", var->name(), ": the variable ", variable->name(),
                       " is used where it is not defined"));
    }).Check(static_cast<const PrimFuncNode*>(function.get()));
  }

 private:
  static std::string RankProblem(const Buffer& buffer, size_t indices) {
    if (buffer->shape().size() == indices) return {};
    return absl::StrCat("buffer ", buffer->name(), " has ",
                        buffer->shape().size(), " axes, this is an access by ",
                        indices, " indices");
  }

  // Returns the error of one node; empty if there is none.
  static std::string ProblemOf(const Node* node, const IRModule& module) {
    switch (node->kind().To<TirKind>()) {
      case TirKind::kBinary: {
        const auto* binary = static_cast<const BinaryNode*>(node);
        if (binary->a().dtype() == binary->b().dtype()) return {};
        return absl::StrCat("the operands of ", BinaryOpName(binary->op()),
                            " are ", binary->a().dtype().ToString(), " and ",
                            binary->b().dtype().ToString());
      }
      case TirKind::kSelect: {
        const auto* select = static_cast<const SelectNode*>(node);
        if (select->true_value().dtype() == select->false_value().dtype()) {
          return {};
        }
        return "the values of a Select have two types";
      }
      case TirKind::kBufferLoad: {
        const auto* load = static_cast<const BufferLoadNode*>(node);
        return RankProblem(load->buffer(), load->indices().size());
      }
      case TirKind::kBufferStore: {
        const auto* store = static_cast<const BufferStoreNode*>(node);
        std::string problem =
            RankProblem(store->buffer(), store->indices().size());
        const DType dtype = AccessDType(store->buffer(), store->indices());
        if (problem.empty() && store->value().dtype() != dtype) {
          problem =
              absl::StrCat("a ", store->value().dtype().ToString(),
                           " is stored where there is a ", dtype.ToString());
        }
        return problem;
      }
      case TirKind::kFor: {
        const auto* loop = static_cast<const ForNode*>(node);
        const DType dtype = loop->loop_var().dtype();
        if (loop->min().dtype() == dtype && loop->extent().dtype() == dtype) {
          return {};
        }
        return absl::StrCat("the loop variable ", loop->loop_var()->name(),
                            " and its range have two types");
      }
      case TirKind::kBlockRealize: {
        const auto* realize = static_cast<const BlockRealizeNode*>(node);
        if (realize->iter_values().size() ==
            realize->block()->iter_vars().size()) {
          return {};
        }
        return absl::StrCat("block ", realize->block()->name(), " has ",
                            realize->block()->iter_vars().size(),
                            " variables, and ", realize->iter_values().size(),
                            " values");
      }
      case TirKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        const auto* callee = call->op().As<GlobalVarNode>();
        if (callee == nullptr || module.Find(callee->name()).defined()) {
          return {};
        }
        return absl::StrCat("the module has no function @", callee->name());
      }
      default:
        return {};
    }
  }
};
BATON_REGISTER_FUNCTION_VERIFIER(PrimFuncNode, PrimFuncVerifier);

}  // namespace
}  // namespace baton::tir
