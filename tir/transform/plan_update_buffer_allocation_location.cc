#include "baton/tir/transform/plan_update_buffer_allocation_location.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/analysis/buffer_access_lca.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/te_schedule.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Lists the buffers of a function in order of their allocation or first use,
// and the pointers that statements allocate.
class BufferOrder final : public Visitor {
 public:
  std::vector<Buffer> buffers;
  NodeSet allocated_pointers;

  void Collect(const PrimFunc& function) {
    for (const Buffer& buffer : function->buffers()) Add(buffer);
    Visit(function->body());
  }

  void VisitAllocate(const AllocateNode* allocate) override {
    allocated_pointers.Insert(allocate->var().get());
    Visitor::VisitAllocate(allocate);
  }
  void VisitAllocateConst(const AllocateConstNode* allocate) override {
    allocated_pointers.Insert(allocate->var().get());
    Visitor::VisitAllocateConst(allocate);
  }
  void VisitBlock(const BlockNode* block) override {
    for (const Buffer& buffer : block->alloc_buffers()) Add(buffer);
    for (const MatchRegion& match : block->match_buffers()) {
      Add(match->source()->buffer());
    }
    Visitor::VisitBlock(block);
  }
  void VisitBufferLoad(const BufferLoadNode* load) override {
    Add(load->buffer());
    Visitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const BufferStoreNode* store) override {
    Add(store->buffer());
    Visitor::VisitBufferStore(store);
  }

 private:
  void Add(const Buffer& buffer) {
    if (seen_.Insert(buffer.get())) buffers.push_back(buffer);
  }

  NodeSet seen_;
};

class AllocationPlanner final : public Rewriter {
 public:
  absl::StatusOr<PrimFunc> Plan(const PrimFunc& function) {
    BufferOrder order;
    order.Collect(function);
    const BufferAccessLca lca = FindBufferAccessLca(function);
    NodeSet unmanaged;
    for (const Var& param : function->params()) {
      if (param->typed_pointer()) unmanaged.Insert(param.get());
    }
    NodeSet arguments;
    for (const Buffer& buffer : function->buffers()) {
      arguments.Insert(buffer->data().get());
      visible_.Set(buffer->data(), buffer);
    }
    for (const Buffer& buffer : order.buffers) {
      const auto found = lca.ancestors.find(buffer.get());
      const VarNode* pointer = buffer->data().get();
      if (found == lca.ancestors.end() || arguments.Contains(pointer)) {
        continue;
      }
      // A block around an allocation must not name its buffer.
      if (order.allocated_pointers.Contains(pointer)) {
        allocated_[pointer] = buffer;
        continue;
      }
      if (!unmanaged.Contains(pointer)) {
        allocations_[found->second].push_back(buffer);
      }
      visible_.Set(buffer->data(), buffer);
    }
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

  Stmt VisitAllocate(const AllocateNode* allocate) override {
    return WithMemory(allocate->var(),
                      [&] { return Rewriter::VisitAllocate(allocate); });
  }
  Stmt VisitAllocateConst(const AllocateConstNode* allocate) override {
    return WithMemory(allocate->var(),
                      [&] { return Rewriter::VisitAllocateConst(allocate); });
  }

  Stmt VisitFor(const ForNode* loop) override {
    const auto found = allocations_.find(loop);
    if (found == allocations_.end()) return Rewriter::VisitFor(loop);
    for (const Buffer& buffer : found->second) {
      visible_.Set(buffer->data(), buffer);
    }
    const Stmt changed = Rewriter::VisitFor(loop);
    const auto* result = changed.As<ForNode>();
    for (const Buffer& buffer : found->second) {
      visible_.Erase(buffer->data().get());
    }
    BlockNode::Parts parts = {
        .name = {},
        .iter_vars = {},
        .reads = {},
        .writes = {},
        .alloc_buffers = found->second,
        .match_buffers = {},
        .annotations = {},
        .init = {},
        .body = result->body(),
    };
    ReadWriteRegions regions =
        FindBlockReadWriteRegions(Block(parts), visible_);
    parts.reads = std::move(regions.reads);
    parts.writes = std::move(regions.writes);
    ForNode::Parts loop_parts = result->parts();
    loop_parts.body = BlockRealize({}, IntImm::Bool(true),
                                   Block(std::move(parts), loop->span()));
    return For(std::move(loop_parts), loop->span());
  }

  Stmt VisitBlock(const BlockNode* block) override {
    if (block->init().defined() && status_.ok()) {
      status_ =
          ErrorAt(block->span(),
                  absl::StrCat("block ", block->name(),
                               " has an initialization: run tir.LowerInitBlock "
                               "first"));
    }
    const auto found = allocations_.find(block);
    std::vector<Buffer> buffers;
    if (found != allocations_.end()) buffers = found->second;
    for (const Buffer& buffer : buffers) visible_.Set(buffer->data(), buffer);
    for (const MatchRegion& match : block->match_buffers()) {
      visible_.Set(match->buffer()->data(), match->buffer());
    }
    const Stmt changed = Rewriter::VisitBlock(block);
    const auto* result = changed.As<BlockNode>();
    for (const MatchRegion& match : block->match_buffers()) {
      visible_.Erase(match->buffer()->data().get());
    }
    for (const Buffer& buffer : buffers) visible_.Erase(buffer->data().get());
    std::vector<BufferRegion> reads = Visible(result->reads());
    std::vector<BufferRegion> writes = Visible(result->writes());
    if (absl::MakeConstSpan(buffers) == result->alloc_buffers() &&
        reads.size() == result->reads().size() &&
        writes.size() == result->writes().size()) {
      return changed;
    }
    BlockNode::Parts parts = result->parts();
    parts.alloc_buffers = std::move(buffers);
    parts.reads = std::move(reads);
    parts.writes = std::move(writes);
    return Block(std::move(parts), block->span());
  }

 private:
  // Within `fn`, the buffer in the memory of `pointer` can be named.
  template <typename Fn>
  Stmt WithMemory(const Var& pointer, const Fn& fn) {
    const Buffer* const buffer = allocated_.Find(pointer.get());
    if (buffer == nullptr) return fn();
    visible_.Set(pointer, *buffer);
    Stmt result = fn();
    visible_.Erase(pointer.get());
    return result;
  }

  // The regions of buffers that are defined outside of the block.
  std::vector<BufferRegion> Visible(
      absl::Span<const BufferRegion> regions) const {
    std::vector<BufferRegion> result;
    for (const BufferRegion& region : regions) {
      if (visible_.Contains(region->buffer()->data())) {
        result.push_back(region);
      }
    }
    return result;
  }

  FlatHashMap<const StmtNode*, std::vector<Buffer>> allocations_;
  NodeMap<Buffer> allocated_;  // by the pointers that statements allocate
  BuffersByPointer visible_;
  absl::Status status_;
};

}  // namespace

Pass PlanAndUpdateBufferAllocationLocation() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        return AllocationPlanner().Plan(function);
      },
      {.name = "tir.PlanAndUpdateBufferAllocationLocation",
       .doc = "Allocates each buffer in the innermost loop or block that has "
              "all its accesses.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.PlanAndUpdateBufferAllocationLocation",
                       PlanAndUpdateBufferAllocationLocation);

}  // namespace baton::tir
