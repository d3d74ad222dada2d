#include "baton/tir/transform/convert_ssa.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/with_parts.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

class SsaConverter final : public Rewriter {
 public:
  PrimFunc RewriteFunction(const PrimFunc& function) {
    PrimFuncNode::Parts parts = function->parts();
    std::vector<Var> renamed;
    bool changed = false;
    const auto define = [&](const Var& var) {
      if (!IsDefined(var)) return;
      Push(var);
      renamed.push_back(var);
      changed = true;
    };
    for (Var& param : parts.params) {
      define(param);
      param = Current(param);
    }
    NodeSet params;
    for (const Var& param : function->params()) params.Insert(param.get());
    for (const Var& var : function->defined()) {
      if (!params.Contains(var.get())) define(var);
    }
    for (ParamBuffer& param : parts.buffers) {
      Buffer buffer = RewriteBuffer(param.buffer);
      changed = changed || buffer != param.buffer;
      param.buffer = std::move(buffer);
    }
    parts.body = Rewrite(function->body());
    changed = changed || parts.body != function->body();
    while (!renamed.empty()) {
      Pop(renamed.back());
      renamed.pop_back();
    }
    return changed ? WithParts(function, std::move(parts)) : function;
  }

 protected:
  PrimExpr VisitVar(const VarNode* node) override { return Current(Var(node)); }

  Buffer RewriteBuffer(const Buffer& buffer) override {
    BufferNode::Parts parts = buffer->parts();
    const bool changed = RewriteExtents(parts);
    parts.data = Current(parts.data);
    if (!changed && parts.data == buffer->data()) return buffer;
    if (const Buffer* known = buffers_.Find(buffer)) {
      const BufferNode& latest = **known;
      const auto same = [](auto a, auto b) {
        if (a.size() != b.size()) return false;
        for (size_t i = 0; i < a.size(); ++i) {
          if (a[i] != b[i]) return false;
        }
        return true;
      };
      if (latest.data() == parts.data &&
          latest.elem_offset() == parts.elem_offset &&
          same(latest.shape(), absl::MakeConstSpan(parts.shape)) &&
          same(latest.strides(), absl::MakeConstSpan(parts.strides))) {
        return *known;
      }
    }
    Buffer made(std::move(parts), buffer->span());
    buffers_.Set(buffer, made);
    return made;
  }

  PrimExpr VisitLet(const LetNode* node) override {
    if (!IsDefined(node->var())) return Rewriter::VisitLet(node);
    PrimExpr value = Rewrite(node->value());
    const Var var = Push(node->var());
    PrimExpr body = Rewrite(node->body());
    Pop(node->var());
    return Let(var, std::move(value), std::move(body), node->span());
  }
  Stmt VisitLetStmt(const LetStmtNode* node) override {
    if (!IsDefined(node->var())) return Rewriter::VisitLetStmt(node);
    PrimExpr value = Rewrite(node->value());
    const Var var = Push(node->var());
    Stmt body = Rewrite(node->body());
    Pop(node->var());
    return LetStmt(var, std::move(value), std::move(body), node->span());
  }
  Stmt VisitFor(const ForNode* node) override {
    if (!IsDefined(node->loop_var())) return Rewriter::VisitFor(node);
    ForNode::Parts parts = node->parts();
    parts.min = Rewrite(node->min());
    parts.extent = Rewrite(node->extent());
    parts.loop_var = Push(node->loop_var());
    parts.body = Rewrite(node->body());
    Pop(node->loop_var());
    return For(std::move(parts), node->span());
  }
  Stmt VisitAllocate(const AllocateNode* node) override {
    if (!IsDefined(node->var())) return Rewriter::VisitAllocate(node);
    std::vector<PrimExpr> extents(node->extents().begin(),
                                  node->extents().end());
    RewriteAll(extents);
    PrimExpr condition = Rewrite(node->condition());
    const Var var = Push(node->var());
    Stmt body = Rewrite(node->body());
    Pop(node->var());
    return Allocate(var, node->dtype(), std::move(extents),
                    std::move(condition), node->annotations(), std::move(body),
                    node->span());
  }
  Stmt VisitAllocateConst(const AllocateConstNode* node) override {
    if (!IsDefined(node->var())) return Rewriter::VisitAllocateConst(node);
    std::vector<PrimExpr> extents(node->extents().begin(),
                                  node->extents().end());
    RewriteAll(extents);
    const Var var = Push(node->var());
    Stmt body = Rewrite(node->body());
    Pop(node->var());
    return AllocateConst(var, node->dtype(), std::move(extents), node->data(),
                         node->annotations(), std::move(body), node->span());
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    Stmt result = Rewriter::VisitAttrStmt(node);
    const auto* subject = node->node().As<VarNode>();
    if (subject == nullptr) return result;
    const Var var = Current(Var(subject));
    if (var.get() == subject) return result;
    const auto* attr = result.As<AttrStmtNode>();
    return AttrStmt(var, attr->key(), attr->value(), attr->body(),
                    attr->span());
  }

 private:
  // True for a variable that has a definition already; else notes this one.
  bool IsDefined(const Var& var) {
    kept_.push_back(var);
    return !defined_.Insert(var.get());
  }
  Var Current(const Var& var) const {
    const std::vector<Var>* stack = scope_.Find(var.get());
    return stack == nullptr || stack->empty() ? var : stack->back();
  }
  Var Push(const Var& var) {
    Var fresh(new VarNode(var->name(), var->dtype(), false,
                          var->typed_pointer(), var->element(), var->scope(),
                          var->span()));
    scope_[var.get()].push_back(fresh);
    return fresh;
  }
  void Pop(const Var& var) { scope_[var.get()].pop_back(); }

  NodeMap<std::vector<Var>> scope_;
  NodeSet defined_;
  std::vector<Var> kept_;  // keys of `defined_` and `scope_`
  BufferMap buffers_;      // the latest ones
};

}  // namespace

Stmt ConvertSSA(const Stmt& stmt) { return SsaConverter().Rewrite(stmt); }

IRModule ConvertSSA(const IRModule& module) {
  SsaConverter converter;
  std::vector<PrimFunc> functions;
  for (const auto& definition : module.functions<PrimFunc>()) {
    functions.push_back(converter.RewriteFunction(definition.function));
  }
  return module.WithFunctions(functions);
}

Pass ConvertSSA() {
  return CreateModulePass(
      [](IRModule module, const PassContext& /*context*/)
          -> absl::StatusOr<IRModule> { return ConvertSSA(module); },
      {.name = "tir.ConvertSSA",
       .doc = "Gives each definition a variable of its own.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.ConvertSSA", static_cast<Pass (*)()>(ConvertSSA));

}  // namespace baton::tir
