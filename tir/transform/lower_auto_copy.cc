#include "baton/tir/transform/lower_auto_copy.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/auto_copy_rules.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/shared_memory_padding.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

using ThreadExtents = FlatHashMap<std::string, int64_t>;

int64_t IntOf(const PrimExpr& e, int64_t otherwise) {
  const auto* imm = e.As<IntImmNode>();
  return imm == nullptr ? otherwise : imm->value();
}

// Collects the extents of threads, by tag.
class ThreadExtentFinder final : public Visitor {
 public:
  const ThreadExtents& extents() const { return extents_; }

 protected:
  void VisitBlock(const BlockNode* node) override {
    if (IntOf(node->annotations().Find("warp_execution"), 0) != 0) {
      extents_["threadIdx.x"] = 32;
    }
    Visitor::VisitBlock(node);
  }
  void VisitFor(const ForNode* node) override {
    const auto* extent = node->extent().As<IntImmNode>();
    if (node->thread().defined() && extent != nullptr &&
        node->thread()->iter_type() == IterVarType::kThreadIndex) {
      extents_[node->thread()->thread_tag()] = extent->value();
    }
    Visitor::VisitFor(node);
  }

 private:
  ThreadExtents extents_;
};

class CopyLowerer final : public Rewriter {
 public:
  explicit CopyLowerer(const ThreadExtents& extents) : extents_(extents) {}
  const absl::Status& status() const { return status_; }
  Stmt Padded(const Stmt& body) const { return padder_.Rewritten(body); }

 protected:
  Stmt VisitFor(const ForNode* node) override {
    loops_.push_back(For(node));
    Stmt result = Rewriter::VisitFor(node);
    loops_.pop_back();
    return result;
  }
  Stmt VisitBlock(const BlockNode* node) override {
    const Stmt visited = Rewriter::VisitBlock(node);
    const auto* block = visited.As<BlockNode>();
    BlockNode::Parts parts = block->parts();
    const bool is_copy = IntOf(node->annotations().Find("auto_copy"), 0) != 0;
    if (is_copy && !Copy(block, parts)) return visited;
    padder_.Pad(parts.alloc_buffers);
    if (!is_copy &&
        absl::MakeConstSpan(parts.alloc_buffers) == block->alloc_buffers()) {
      return visited;
    }
    return Block(std::move(parts), block->span());
  }

 private:
  // False if that fails.
  bool Copy(const BlockNode* block, BlockNode::Parts& parts) {
    if (block->writes().size() != 1 || block->reads().empty()) {
      return Fail(block->span(),
                  "an automatic copy does not write one region and read one");
    }
    AutoCopy copy;
    copy.thread_extents = extents_;
    copy.outer_loops = loops_;
    copy.write = block->writes()[0];
    copy.read = block->reads()[0];
    if (block->reads().size() > 1) {
      bool found = false;
      for (const BufferRegion& read : block->reads()) {
        if (read->buffer()->scope() != "wmma.accumulator") continue;
        copy.read = read;
        found = true;
      }
      if (!found) {
        return Fail(block->span(), "an automatic copy reads several regions");
      }
    }
    copy.data_bits = copy.read->buffer()->dtype().bits();
    copy.local_stage = IntOf(block->annotations().Find("local_stage"), 0) == 1;
    copy.vector_bytes = IntOf(block->annotations().Find("vector_bytes"), 1);
    absl::StatusOr<AutoCopyResult> result = RewriteAutoCopy(parts.body, copy);
    if (!result.ok()) {
      if (status_.ok()) status_ = result.status();
      return false;
    }
    parts.body = result->body;
    parts.alloc_buffers.insert(parts.alloc_buffers.end(),
                               result->alloc_buffers.begin(),
                               result->alloc_buffers.end());
    for (const auto& [buffer, padding] : result->padding) {
      padder_.SetLeastPadding(buffer, padding);
    }
    padder_.NoteAccesses(parts.body, loops_, extents_);
    return true;
  }
  bool Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
    return false;
  }

  const ThreadExtents& extents_;
  std::vector<For> loops_;
  SharedMemoryPadder padder_;
  absl::Status status_;
};

}  // namespace

Pass LowerAutoCopy() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        ThreadExtentFinder finder;
        finder.Visit(function->body());
        CopyLowerer lowerer(finder.extents());
        Stmt body = lowerer.Rewrite(function->body());
        if (!lowerer.status().ok()) return lowerer.status();
        body = lowerer.Padded(body);
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = std::move(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.LowerAutoCopy",
       .doc = "Makes annotated copies between memories as the threads of a "
              "kernel make them best."});
}
BATON_REGISTER_PASS_AS("tir.LowerAutoCopy", LowerAutoCopy);

}  // namespace baton::tir
