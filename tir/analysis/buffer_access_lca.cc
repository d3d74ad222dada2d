#include "baton/tir/analysis/buffer_access_lca.h"

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "baton/ir/node_map.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// A loop or block; the function has no parent and no statement.
struct Scope {
  const Scope* parent = nullptr;
  const StmtNode* stmt = nullptr;
  int depth = 0;
};

const Scope* CommonAncestor(const Scope* a, const Scope* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  while (a != b) {
    if (a->depth >= b->depth) {
      a = a->parent;
    } else {
      b = b->parent;
    }
  }
  return a;
}

class LcaFinder final : public Visitor {
 public:
  LcaFinder() { scope_ = &scopes_.emplace_back(); }

  BufferAccessLca Find(const PrimFunc& function) {
    for (const Buffer& buffer : function->buffers()) {
      *pointers_.TryEmplace(buffer->data().get()).first = buffer.get();
    }
    Visit(function->body());
    BufferAccessLca result;
    for (const Buffer& buffer : accessed_) {
      const Scope* lca = *lca_.Find(buffer.get());
      if (MemoryScope(buffer->scope()).rank == MemoryRank::kGlobal) {
        for (const Scope* launch : launches_) {
          lca = CommonAncestor(lca, launch);
        }
      }
      result.ancestors[buffer.get()] = lca->stmt;
    }
    result.buffers = std::move(accessed_);
    return result;
  }

  void VisitFor(const ForNode* loop) override {
    const Scope* const outer = Enter(loop);
    if (loop->thread().defined() &&
        IsBlockIdx(ThreadScope(loop->thread()->thread_tag()))) {
      launches_.push_back(scope_);
    }
    loops_[loop->loop_var().get()] = scope_;
    Visitor::VisitFor(loop);
    loops_[loop->loop_var().get()] = nullptr;
    scope_ = outer;
  }

  void VisitBlockRealize(const BlockRealizeNode* realize) override {
    const BlockNode* block = realize->block().get();
    for (const Buffer& buffer : block->alloc_buffers()) {
      DefinePointer(buffer.get());
    }
    const Scope* const outer = Enter(block);
    AddAccessesOfCarryingVars(realize);
    for (const MatchRegion& match : block->match_buffers()) {
      AddAccess(match->source()->buffer().get(), scope_);
      matched_.Insert(match->buffer().get());
    }
    Visitor::VisitBlockRealize(realize);
    scope_ = outer;
  }

  void VisitAttrStmt(const AttrStmtNode* attr) override {
    const auto* thread = attr->key() == "thread_extent"
                             ? attr->node().As<IterVarNode>()
                             : nullptr;
    if (thread != nullptr && IsBlockIdx(ThreadScope(thread->thread_tag()))) {
      launches_.push_back(scope_);
    }
    Visitor::VisitAttrStmt(attr);
  }

  void VisitBufferLoad(const BufferLoadNode* load) override {
    AddAccess(load->buffer().get(), scope_);
    Visitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const BufferStoreNode* store) override {
    AddAccess(store->buffer().get(), scope_);
    Visitor::VisitBufferStore(store);
  }
  void VisitBufferRealize(const BufferRealizeNode* realize) override {
    AddAccess(realize->buffer().get(), scope_);
    Visitor::VisitBufferRealize(realize);
  }
  void VisitVar(const VarNode* var) override {
    const BufferNode* const* buffer = pointers_.Find(var);
    if (buffer != nullptr) AddAccess(*buffer, scope_);
  }

 private:
  // Returns the scope that was entered before.
  const Scope* Enter(const StmtNode* stmt) {
    const Scope* const outer = scope_;
    scope_ = &scopes_.emplace_back(Scope{outer, stmt, outer->depth + 1});
    return outer;
  }

  void DefinePointer(const BufferNode* buffer) {
    const auto [entry, is_new] = pointers_.TryEmplace(buffer->data().get());
    if (is_new) *entry = buffer;
  }

  void AddAccess(const BufferNode* buffer, const Scope* scope) {
    DefinePointer(buffer);
    if (matched_.Contains(buffer)) return;
    const auto [lca, is_new] = lca_.TryEmplace(buffer);
    if (is_new) accessed_.emplace_back(buffer);
    *lca = CommonAncestor(*lca, scope);
  }

  // A buffer that is indexed by a variable of `realize` that is neither spatial
  // nor a reduction is accessed from outside of all loops that the value of the
  // variable depends on: one iteration may read what another one wrote. So is a
  // buffer that a reduction writes; each thread reduces by itself.
  void AddAccessesOfCarryingVars(const BlockRealizeNode* realize) {
    const BlockNode* block = realize->block().get();
    NodeMap<const Scope*> outermost;
    const Scope* reduced = scope_;
    for (size_t i = 0; i < block->iter_vars().size(); ++i) {
      const IterVar& var = block->iter_vars()[i];
      if (var->iter_type() == IterVarType::kDataPar) continue;
      const bool reduces = var->iter_type() == IterVarType::kCommReduce;
      PostOrderVisit(realize->iter_values()[i], [&](const PrimExpr& e) {
        const Scope* const* loop = loops_.Find(e.get());
        if (loop == nullptr || *loop == nullptr) return;
        if (reduces && IsThread((*loop)->stmt)) return;
        const Scope*& scope = reduces ? reduced : outermost[var->var().get()];
        if (scope == nullptr || (*loop)->parent->depth < scope->depth) {
          scope = (*loop)->parent;
        }
      });
    }
    if (outermost.empty() && reduced == scope_) return;
    const auto add = [&](const BufferRegion& region, const Scope* scope) {
      const auto raise = [&](const PrimExpr& e) {
        const Scope* const* found = outermost.Find(e.get());
        if (found != nullptr && (*found)->depth < scope->depth) scope = *found;
      };
      for (const Range& range : region->region()) {
        PostOrderVisit(range.min, raise);
        PostOrderVisit(range.extent, raise);
      }
      AddAccess(region->buffer().get(), scope);
    };
    if (!outermost.empty()) {
      for (const BufferRegion& region : block->reads()) add(region, scope_);
    }
    for (const BufferRegion& region : block->writes()) add(region, reduced);
  }

  static bool IsThread(const StmtNode* loop) {
    return Stmt(loop).As<ForNode>()->for_kind() == ForKind::kThreadBinding;
  }

  std::deque<Scope> scopes_;
  const Scope* scope_ = nullptr;
  NodeMap<const Scope*> lca_;
  std::vector<Buffer> accessed_;
  NodeMap<const BufferNode*> pointers_;
  NodeSet matched_;
  std::vector<const Scope*> launches_;
  NodeMap<const Scope*> loops_;  // null: the loop has ended
};

}  // namespace

BufferAccessLca FindBufferAccessLca(const PrimFunc& function) {
  return LcaFinder().Find(function);
}

}  // namespace baton::tir
