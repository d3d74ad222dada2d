#include "baton/tir/transform/flatten_buffer.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/analysis/buffer_offset.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/te_schedule.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr DType kInt8 = DType::Int(8);

// True if `buffer` is the one whose memory `allocate` allocates.
bool IsAllocated(const AllocateNode* allocate, const Buffer& buffer) {
  if (buffer->data() != allocate->var() ||
      buffer.dtype() != allocate->dtype() ||
      buffer->shape().size() != allocate->extents().size()) {
    return false;
  }
  for (size_t i = 0; i < buffer->shape().size(); ++i) {
    if (!StructuralEqual(buffer->shape()[i], allocate->extents()[i])) {
      return false;
    }
  }
  return true;
}

class BufferFlattener final : public AnalyzingRewriter {
 public:
  explicit BufferFlattener(Analyzer& analyzer) : AnalyzingRewriter(analyzer) {}

  absl::StatusOr<PrimFunc> Flatten(const PrimFunc& function) {
    MarkBufferShapes(function);
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

  Stmt VisitBlock(const BlockNode* block) override {
    if (!block->match_buffers().empty() && status_.ok()) {
      status_ = ErrorAt(
          block->span(),
          absl::StrCat("block ", block->name(),
                       " matches buffers: run tir.LowerMatchBuffer first"));
    }
    return AnalyzingRewriter::VisitBlock(block);
  }

  PrimExpr VisitBufferRegion(const BufferRegionNode* region) override {
    const Buffer& buffer = region->buffer();
    Buffer flattened = Flattened(buffer);
    if (flattened == buffer) return BufferRegion(region);
    std::vector<PrimExpr> first;
    std::vector<PrimExpr> last;
    for (const Range& range : region->region()) {
      first.push_back(range.min);
      last.push_back(
          Sub(Add(range.min, range.extent), IntImm(range.min.dtype(), 1)));
    }
    first = Offsets(buffer, first);
    last = Offsets(buffer, last);
    std::vector<Range> ranges;
    for (size_t i = 0; i < first.size(); ++i) {
      PrimExpr end = Add(last[i], IntImm(last[i].dtype(), 1));
      PrimExpr extent = IsZero(first[i]) ? end : Sub(end, first[i]);
      ranges.push_back({first[i], std::move(extent)});
    }
    return BufferRegion(std::move(flattened), std::move(ranges),
                        region->span());
  }

  Buffer RewriteBuffer(const Buffer& buffer) override {
    return Flattened(buffer);
  }

  Stmt VisitAllocate(const AllocateNode* allocate) override {
    std::vector<PrimExpr> extents(allocate->extents().begin(),
                                  allocate->extents().end());
    if (extents.size() != 1) extents = FlatExtents(allocate);
    const Stmt changed = AnalyzingRewriter::VisitAllocate(allocate);
    const auto* result = changed.As<AllocateNode>();
    const DType dtype =
        result->dtype() == DType::Bool() ? kInt8 : result->dtype();
    if (dtype == result->dtype() &&
        absl::MakeConstSpan(extents) == result->extents()) {
      return changed;
    }
    if (extents.size() == 1 && allocate->extents().size() == 1) {
      extents.assign(result->extents().begin(), result->extents().end());
    }
    return Allocate(result->var(), dtype, std::move(extents),
                    result->condition(), result->annotations(), result->body(),
                    result->span());
  }

  Stmt VisitDeclBuffer(const DeclBufferNode* decl) override {
    return Rewrite(decl->body());
  }

  Stmt VisitBufferStore(const BufferStoreNode* store) override {
    std::vector<PrimExpr> indices(store->indices().begin(),
                                  store->indices().end());
    RewriteAll(indices);
    PrimExpr value = Rewrite(store->value());
    if (value.dtype() == DType::Bool()) value = CastTo(kInt8, std::move(value));
    Buffer buffer = Flattened(store->buffer());
    indices = Offsets(store->buffer(), indices);
    if (buffer == store->buffer() && value == store->value() &&
        absl::MakeConstSpan(indices) == store->indices()) {
      return BufferStore(store);
    }
    return BufferStore(std::move(buffer), std::move(value), std::move(indices),
                       store->span());
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    std::vector<PrimExpr> indices(load->indices().begin(),
                                  load->indices().end());
    RewriteAll(indices);
    Buffer buffer = Flattened(load->buffer());
    indices = Offsets(load->buffer(), indices);
    if (buffer == load->buffer() &&
        absl::MakeConstSpan(indices) == load->indices()) {
      return BufferLoad(load);
    }
    PrimExpr result =
        BufferLoad(std::move(buffer), std::move(indices), load->span());
    return load->dtype() == DType::Bool() ? CastTo(DType::Bool(), result)
                                          : result;
  }

 private:
  std::vector<PrimExpr> FlatExtents(const AllocateNode* allocate) {
    if (const auto* decl = allocate->body().As<DeclBufferNode>()) {
      if (IsAllocated(allocate, decl->buffer())) {
        const Buffer flattened = Flattened(decl->buffer());
        return {flattened->shape().begin(), flattened->shape().end()};
      }
    }
    return {NumElements(allocate->extents())};
  }

  Buffer Flattened(const Buffer& buffer) {
    if (const Buffer* known = flattened_.Find(buffer)) return *known;
    Buffer result = AsBytesIfBool(FlattenedBuffer(buffer));
    BufferNode::Parts parts = result->parts();
    bool changed = false;
    for (PrimExpr& extent : parts.shape) {
      PrimExpr simplified = analyzer_.CanonicalSimplify(extent);
      if (StructuralEqual(simplified, extent)) continue;
      extent = std::move(simplified);
      changed = true;
    }
    if (changed) result = Buffer(std::move(parts), buffer->span());
    flattened_.Set(buffer, result);
    return result;
  }

  std::vector<PrimExpr> Offsets(const Buffer& buffer,
                                absl::Span<const PrimExpr> indices) {
    return SimplifyIndices(ElementOffset(buffer, indices));
  }

  BufferMap flattened_;
  absl::Status status_;
};

}  // namespace

Pass FlattenBuffer() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        Analyzer analyzer;
        return BufferFlattener(analyzer).Flatten(function);
      },
      {.name = "tir.FlattenBuffer",
       .doc = "Accesses buffers by one index, or by one for each group of "
              "axes.",
       .establishes = {"tir.flat_allocations"}});
}
BATON_REGISTER_PASS_AS("tir.FlattenBuffer", FlattenBuffer);

}  // namespace baton::tir
