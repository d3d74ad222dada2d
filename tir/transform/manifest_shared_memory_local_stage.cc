#include "baton/tir/transform/manifest_shared_memory_local_stage.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr char kAnnotation[] = "tir.manifest_shared_memory_local_stage";

class StageInserter final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitFor(const ForNode* node) override {
    around_.push_back(node);
    Stmt result = Rewriter::VisitFor(node);
    around_.pop_back();
    return result;
  }
  Stmt VisitBlockRealize(const BlockRealizeNode* node) override {
    around_.push_back(node);
    Stmt result = Rewriter::VisitBlockRealize(node);
    around_.pop_back();
    return result;
  }
  Stmt VisitBlock(const BlockNode* node) override {
    if (node->annotations().Find(kAnnotation).defined()) return Staged(node);
    std::vector<Stmt> old;
    if (const auto* seq = node->body().As<SeqStmtNode>()) {
      old.assign(seq->seq().begin(), seq->seq().end());
    } else {
      old.push_back(node->body());
    }
    std::vector<Buffer> allocs;
    std::vector<Stmt> seq;
    bool changed = false;
    for (const Stmt& stmt : old) {
      const size_t begin = stages_.size();
      Stmt result = Rewrite(stmt);
      for (size_t i = begin; i < stages_.size(); ++i) {
        if (!Allocates(node, stages_[i].target)) continue;
        seq.push_back(stages_[i].copy);
        allocs.push_back(stages_[i].local);
      }
      changed = changed || result != stmt;
      AppendFlattened(result, seq);
    }
    if (!changed) return Block(node);
    BlockNode::Parts parts = node->parts();
    parts.alloc_buffers.insert(parts.alloc_buffers.end(), allocs.begin(),
                               allocs.end());
    parts.body = MakeSeq(std::move(seq));
    return Block(std::move(parts), node->span());
  }

 private:
  struct Stage {
    Buffer target;
    Buffer local;
    Stmt copy;  // to the local buffer
  };

  static bool Allocates(const BlockNode* block, const Buffer& buffer) {
    for (const Buffer& alloc : block->alloc_buffers()) {
      if (alloc == buffer) return true;
    }
    return false;
  }

  // The loops between a block and the one that allocates its target, the
  // innermost first.
  std::vector<const ForNode*> LoopsAround(const BlockNode* block,
                                          const Buffer& target) {
    std::vector<const ForNode*> loops;
    for (size_t i = around_.size() - 1; i > 0; --i) {
      const StmtNode* const outer = around_[i - 1];
      const Stmt outer_stmt(outer);
      const auto* loop = outer_stmt.As<ForNode>();
      if (loop == nullptr) {
        const auto* realize = outer_stmt.As<BlockRealizeNode>();
        if (!Allocates(realize->block().get(), target)) {
          Fail(block->span(),
               absl::StrCat(target->name(),
                            " is not allocated by the block around"));
        }
        return loops;
      }
      if (loop->for_kind() != ForKind::kSerial &&
          loop->for_kind() != ForKind::kVectorized) {
        Fail(loop->span(),
             "a loop of a local stage is neither serial nor vectorized");
      }
      if (loop->body().get() != around_[i]) {
        Fail(loop->span(), "a loop of a local stage has other statements");
      }
      loops.push_back(loop);
    }
    return loops;
  }

  Stmt Staged(const BlockNode* node) {
    const auto* store = node->body().As<BufferStoreNode>();
    if (store == nullptr ||
        MemoryScope(store->buffer()->scope()).rank != MemoryRank::kShared) {
      Fail(node->span(),
           "the body of a block with a local stage is no store to shared "
           "memory");
      return Block(node);
    }
    const auto* realize =
        around_.empty() ? nullptr : Stmt(around_.back()).As<BlockRealizeNode>();
    if (realize == nullptr) return Block(node);
    const Buffer target = store->buffer();
    const std::vector<const ForNode*> loops = LoopsAround(node, target);
    BufferNode::Parts local_parts = target->parts();
    local_parts.name = absl::StrCat(target->name(), "_local");
    local_parts.data =
        Var::Pointer(absl::StrCat(target->data()->name(), "_local"),
                     target->data()->element(), "local");
    local_parts.shape.clear();
    std::vector<PrimExpr> indices;
    for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
      indices.push_back(Add((*it)->min(), (*it)->loop_var()));
      local_parts.shape.push_back((*it)->extent());
    }
    const Buffer local(std::move(local_parts), target->span());

    BlockNode::Parts copy_parts;
    copy_parts.reads.assign(node->reads().begin(), node->reads().end());
    std::vector<Range> point;
    for (const PrimExpr& index : indices) {
      point.push_back({index, IntImm(kInt32, 1)});
    }
    copy_parts.writes = {BufferRegion(local, std::move(point))};
    copy_parts.body = BufferStore(local, store->value(), indices);
    Stmt copy = BlockRealize({}, realize->predicate(),
                             Block(std::move(copy_parts), node->span()));
    NodeMap<PrimExpr> values;
    for (const ForNode* loop : loops) {
      ForNode::Parts parts = loop->parts();
      parts.loop_var = Var(loop->loop_var()->name(), loop->loop_var()->dtype());
      values[loop->loop_var().get()] = parts.loop_var;
      parts.body = std::move(copy);
      copy = For(std::move(parts), loop->span());
    }
    stages_.push_back({target, local, Substitute(copy, values)});

    BlockNode::Parts parts = node->parts();
    std::vector<Dict::Entry> annotations = node->annotations().Entries();
    std::erase_if(annotations, [](const Dict::Entry& entry) {
      return entry.first == kAnnotation;
    });
    parts.annotations = Dict::Of(std::move(annotations));
    parts.body = BufferStore(target, BufferLoad(local, indices),
                             {store->indices().begin(), store->indices().end()},
                             store->span());
    return Block(std::move(parts), node->span());
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  std::vector<const StmtNode*> around_;
  std::vector<Stage> stages_;
  absl::Status status_;
};

}  // namespace

Pass ManifestSharedMemoryLocalStage() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        StageInserter inserter;
        PrimFunc result = inserter.RewriteBody(function);
        if (!inserter.status().ok()) return inserter.status();
        return result;
      },
      {.name = "tir.ManifestSharedMemoryLocalStage",
       .doc = "Copies to shared memory by way of registers.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.ManifestSharedMemoryLocalStage",
                       ManifestSharedMemoryLocalStage);

}  // namespace baton::tir
