#include "baton/tir/transform/compact_buffer_allocation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
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
#include "baton/ir/span.h"
#include "baton/tir/analysis/block_buffers.h"
#include "baton/tir/analysis/conditional_bounds.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/analysis/side_effect.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/const_int_bound.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/te_schedule.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

std::vector<Range> PointRegion(absl::Span<const PrimExpr> indices) {
  std::vector<Range> region;
  for (const PrimExpr& index : indices) {
    if (const auto* ramp = index.As<RampNode>()) {
      region.push_back(
          {ramp->base(),
           Mul(ramp->stride(), IntImm(ramp->stride().dtype(), ramp->lanes()))});
    } else {
      region.push_back({index, MakeConst(index.dtype(), 1)});
    }
  }
  return region;
}

// The buffers of each pointer.
class BufferAliases final : public Visitor {
 public:
  VarMap<std::vector<Buffer>> Take() { return std::move(buffers_); }

  void VisitBufferStore(const BufferStoreNode* store) override {
    Add(store->buffer());
    Visitor::VisitBufferStore(store);
  }
  void VisitBufferLoad(const BufferLoadNode* load) override {
    Add(load->buffer());
    Visitor::VisitBufferLoad(load);
  }
  void VisitBlock(const BlockNode* block) override {
    for (const Buffer& buffer : block->alloc_buffers()) Add(buffer);
    for (const MatchRegion& match : block->match_buffers()) {
      Add(match->buffer());
      Add(match->source()->buffer());
    }
    Visitor::VisitBlock(block);
  }
  void VisitDeclBuffer(const DeclBufferNode* decl) override {
    Add(decl->buffer());
    Visitor::VisitDeclBuffer(decl);
  }

 private:
  void Add(const Buffer& buffer) {
    if (!seen_.Insert(buffer.get())) return;
    if (auto* known = buffers_.Find(buffer->data())) {
      known->push_back(buffer);
    } else {
      buffers_.Set(buffer->data(), {buffer});
    }
  }

  NodeSet seen_;
  VarMap<std::vector<Buffer>> buffers_;
};

// A loop or a thread around the statement that is visited.
struct Iterator {
  Var var;
  std::string thread_tag;  // empty: a loop
};

struct BufferRegions {
  Buffer buffer;
  std::vector<Range> region;
};

class RegionCollector final : public Visitor {
 public:
  RegionCollector(bool inbound, VarMap<std::vector<Buffer>> aliases)
      : inbound_(inbound), aliases_(std::move(aliases)) {}

  absl::StatusOr<std::vector<BufferRegions>> Collect(const Stmt& body) {
    Visit(body);
    BATON_RETURN_IF_ERROR(status_);
    return std::move(result_);
  }

 private:
  void VisitBufferStore(const BufferStoreNode* store) override {
    AddAccess(store->buffer(), PointRegion(store->indices()));
    Visit(store->value());
  }
  void VisitBufferLoad(const BufferLoadNode* load) override {
    AddAccess(load->buffer(), PointRegion(load->indices()));
    Visitor::VisitBufferLoad(load);
  }

  // An access by pointer touches what the block declares, or all.
  void VisitVar(const VarNode* var) override {
    const std::vector<Buffer>* buffers = aliases_.Find(var);
    if (buffers == nullptr) return;
    for (const Buffer& buffer : *buffers) {
      const auto found = declared_.find(buffer.get());
      if (found == declared_.end() || found->second.empty()) {
        AddAccess(buffer, FullRegion(buffer));
        continue;
      }
      const std::vector<BufferRegion> regions = found->second;
      for (const BufferRegion& region : regions) {
        AddAccess(buffer, region->region());
      }
    }
  }

  void VisitFor(const ForNode* loop) override {
    const std::string tag = loop->for_kind() == ForKind::kThreadBinding
                                ? loop->thread()->thread_tag()
                                : std::string();
    Enter({loop->loop_var(), tag}, {loop->min(), loop->extent()});
    Visitor::VisitFor(loop);
    Leave();
  }

  void VisitAttrStmt(const AttrStmtNode* attr) override {
    const auto* thread = attr->node().As<IterVarNode>();
    if (thread == nullptr ||
        (attr->key() != "thread_extent" && attr->key() != "virtual_thread")) {
      return Visitor::VisitAttrStmt(attr);
    }
    Range dom = {thread->min(), thread->extent()};
    if (!dom.min.defined() || !dom.extent.defined()) {
      dom = {IntImm(attr->value().dtype(), 0), attr->value()};
    }
    Enter({thread->var(), thread->thread_tag()}, dom);
    Visitor::VisitAttrStmt(attr);
    Leave();
  }

  void VisitLetStmt(const LetStmtNode* let) override {
    Visit(let->value());
    const bool is_bound = BindLet(let->var(), let->value());
    Visit(let->body());
    if (is_bound) bounds_.domains.Erase(let->var().get());
  }
  void VisitLet(const LetNode* let) override {
    Visit(let->value());
    const bool is_bound = BindLet(let->var(), let->value());
    Visit(let->body());
    if (is_bound) bounds_.domains.Erase(let->var().get());
  }

  void VisitIfThenElse(const IfThenElseNode* branch) override {
    Visit(branch->condition());
    {
      const ConditionalBounds::Scope scope(bounds_, branch->condition());
      Visit(branch->then_case());
    }
    if (branch->else_case().defined()) {
      const ConditionalBounds::Scope scope(bounds_,
                                           Negated(branch->condition()));
      Visit(branch->else_case());
    }
  }

  void VisitCall(const CallNode* call) override {
    const absl::Span<const PrimExpr> args = call->args();
    if (call->op() != IntrinsicOp("if_then_else") || args.size() != 3) {
      return Visitor::VisitCall(call);
    }
    Visit(args[0]);
    {
      const ConditionalBounds::Scope scope(bounds_, args[0]);
      Visit(args[1]);
    }
    const ConditionalBounds::Scope scope(bounds_, Negated(args[0]));
    Visit(args[2]);
  }

  void VisitBlockRealize(const BlockRealizeNode* realize) override {
    const ConditionalBounds::Scope scope(bounds_, realize->predicate());
    Visitor::VisitBlockRealize(realize);
  }

  void VisitBlock(const BlockNode* block) override {
    if (block->init().defined() || !block->iter_vars().empty()) {
      Fail(block->span(),
           absl::StrCat("block ", block->name(),
                        " has variables or an initialization: run "
                        "tir.ConvertBlocksToOpaque first"));
      return;
    }
    Declared current;
    for (const BufferRegion& region : block->reads()) {
      current[region->buffer().get()].push_back(region);
    }
    for (const BufferRegion& region : block->writes()) {
      current[region->buffer().get()].push_back(region);
    }
    for (auto& [buffer, regions] : current) {
      std::swap(declared_[buffer], regions);
    }
    for (const Buffer& buffer : block->alloc_buffers()) {
      Define(buffer->data(), buffer->span());
    }
    for (const MatchRegion& match : block->match_buffers()) {
      AddAccess(match->source()->buffer(), match->source()->region());
    }
    Visitor::VisitBlock(block);
    for (auto& [buffer, regions] : current) {
      std::swap(declared_[buffer], regions);
    }
    for (const Buffer& buffer : block->alloc_buffers()) {
      const std::vector<Buffer>* aliases = aliases_.Find(buffer->data());
      if (aliases == nullptr || aliases->size() != 1) {
        return Fail(buffer->span(),
                    absl::StrCat("another buffer uses the memory of buffer ",
                                 buffer->name()));
      }
      Finish(buffer);
    }
  }

  // Compacts an allocation with one buffer of its type.
  void VisitAllocate(const AllocateNode* allocate) override {
    const std::vector<Buffer>* aliases = aliases_.Find(allocate->var());
    if (aliases == nullptr || aliases->size() != 1 ||
        (*aliases)[0].dtype() != allocate->dtype()) {
      return Visitor::VisitAllocate(allocate);
    }
    const Buffer buffer = (*aliases)[0];
    Define(allocate->var(), allocate->span());
    Visit(allocate->body());
    Finish(buffer);
  }

  void Enter(Iterator iterator, const Range& range) {
    analyzer_.Bind(iterator.var, range);
    if (!bounds_.domains.Contains(iterator.var)) {
      bounds_.domains.Set(iterator.var, IntSet::FromRange(range));
    }
    iterators_.push_back(std::move(iterator));
  }
  void Leave() {
    bounds_.domains.Erase(iterators_.back().var.get());
    iterators_.pop_back();
  }

  bool BindLet(const Var& var, const PrimExpr& value) {
    const DType dtype = value.dtype();
    const bool is_index = dtype.is_int() && dtype.lanes() == 1 &&
                          (dtype.bits() == 32 || dtype.bits() == 64);
    if (!is_index) return false;
    analyzer_.Bind(var, value);
    bounds_.domains.Set(var, IntSet::SinglePoint(value));
    return true;
  }

  void Define(const Var& pointer, const Span& span) {
    if (depths_.Contains(pointer)) {
      return Fail(
          span, absl::StrCat("pointer ", pointer->name(), " is defined twice"));
    }
    depths_.Set(pointer, iterators_.size());
  }

  // Joins `region` with the accessed regions of `buffer`, over all iterators
  // inside of its definition.
  void AddAccess(const Buffer& buffer, absl::Span<const Range> region) {
    const size_t* depth = depths_.Find(buffer->data());
    if (depth == nullptr) return;
    const MemoryScope memory(buffer->scope());
    std::vector<std::pair<Var, IntSet>> fixed;
    for (size_t i = 0; i < *depth; ++i) {
      const Iterator& iterator = iterators_[i];
      if (!iterator.thread_tag.empty() &&
          IsSharedByThreads(memory, ThreadScope(iterator.thread_tag))) {
        continue;
      }
      IntSet* domain = bounds_.domains.Find(iterator.var);
      if (domain == nullptr) continue;
      fixed.emplace_back(iterator.var, std::move(*domain));
      bounds_.domains.Erase(iterator.var.get());
    }
    std::vector<IntSet> sets = Relaxed(region);
    for (auto& [var, domain] : fixed) {
      bounds_.domains.Set(var, std::move(domain));
    }
    const auto [entry, is_new] =
        accessed_.try_emplace(buffer.get(), std::move(sets));
    if (is_new) return;
    for (size_t i = 0; i < entry->second.size() && i < sets.size(); ++i) {
      const IntSet both[] = {entry->second[i], sets[i]};
      entry->second[i] = Union(both);
    }
  }

  std::vector<IntSet> Relaxed(absl::Span<const Range> region) {
    PrimExpr predicate = IntImm::Bool(true);
    for (const PrimExpr& condition : bounds_.pending) {
      PrimExpr holds = condition;
      if (!holds.dtype().is_bool()) {
        holds = MakeBinary(BinaryOp::kNE, holds, MakeConst(holds.dtype(), 0));
      }
      predicate = MakeBinary(BinaryOp::kAnd, predicate, std::move(holds));
    }
    VarRanges domains;
    for (const auto& [var, set] : bounds_.domains) {
      domains.Set(var, set.CoverRange(
                           {IntImm(var.dtype(), 0), IntImm(var.dtype(), 0)}));
    }
    return EstimateRegionUpperBound(region, domains,
                                    analyzer_.Simplify(predicate), analyzer_);
  }

  // Makes the region of `buffer` of its accesses.
  void Finish(const Buffer& buffer) {
    const auto found = accessed_.find(buffer.get());
    if (found == accessed_.end()) {
      return Fail(buffer->span(),
                  absl::StrCat("buffer ", buffer->name(),
                               " is allocated and not accessed"));
    }
    std::vector<Range> region;
    for (size_t i = 0; i < found->second.size(); ++i) {
      region.push_back(Narrowed(found->second[i], buffer->shape()[i]));
    }
    result_.push_back({buffer, std::move(region)});
  }

  Range Narrowed(const IntSet& set, const PrimExpr& shape) {
    const Range whole = {IntImm(shape.dtype(), 0), shape};
    const Range range = set.CoverRange(whole);
    PrimExpr min = range.min;
    PrimExpr extent = range.extent;
    if (inbound_) {
      min = MakeBinary(BinaryOp::kMax, IntImm(kInt32, 0), min);
      // A stronger proof avoids a symbolic minimum.
      if (!analyzer_.CanProveLessEqualThanSymbolicShapeValue(extent, shape)) {
        extent = MakeBinary(BinaryOp::kMin, shape, extent);
      }
    }
    min = analyzer_.Simplify(min);
    extent = analyzer_.Simplify(extent);
    if (SideEffectOf(extent) > CallEffect::kPure) return whole;
    const auto is_iterator = [this](const VarNode* var) {
      return std::any_of(
          iterators_.begin(), iterators_.end(),
          [var](const Iterator& it) { return it.var.get() == var; });
    };
    if (UsesVar(extent, is_iterator)) {
      // A bound near the end of the type comes from a variable without one.
      const int64_t most = analyzer_.BoundOf(extent).max;
      if (most > ConstIntBounds::Everything(extent.dtype()).max / 2) {
        return whole;
      }
      extent = IntImm(extent.dtype(), most);
    }
    return {min, extent};
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  using Declared = FlatHashMap<const BufferNode*, std::vector<BufferRegion>>;

  const bool inbound_;
  const VarMap<std::vector<Buffer>> aliases_;
  std::vector<Iterator> iterators_;  // outermost first
  VarMap<size_t> depths_;  // number of iterators around the definition
  ConditionalBounds bounds_;
  Analyzer analyzer_;
  Declared declared_;  // by the blocks around
  FlatHashMap<const BufferNode*, std::vector<IntSet>> accessed_;
  std::vector<BufferRegions> result_;
  absl::Status status_;
};

struct NewBuffer {
  Buffer buffer;
  std::vector<Range> region;  // of the old one
};

class BufferCompactor final : public Rewriter {
 public:
  explicit BufferCompactor(VarMap<NewBuffer> buffers)
      : buffers_(std::move(buffers)) {}

  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    const NewBuffer* info = buffers_.Find(load->buffer()->data());
    if (info == nullptr) return Rewriter::VisitBufferLoad(load);
    return BufferLoad(info->buffer, NewIndices(*info, load->indices()),
                      load->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* store) override {
    const NewBuffer* info = buffers_.Find(store->buffer()->data());
    if (info == nullptr) return Rewriter::VisitBufferStore(store);
    PrimExpr value = Rewrite(store->value());
    return BufferStore(info->buffer, std::move(value),
                       NewIndices(*info, store->indices()), store->span());
  }
  PrimExpr VisitBufferRegion(const BufferRegionNode* region) override {
    const NewBuffer* info = buffers_.Find(region->buffer()->data());
    if (info == nullptr) return Rewriter::VisitBufferRegion(region);
    std::vector<Range> ranges(region->region().begin(), region->region().end());
    RewriteAll(ranges);
    for (size_t i = 0; i < ranges.size() && i < info->region.size(); ++i) {
      ranges[i].min = Sub(ranges[i].min, info->region[i].min);
    }
    return BufferRegion(info->buffer, std::move(ranges), region->span());
  }
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const NewBuffer* info = buffers_.Find(buffer->data());
    return info == nullptr ? buffer : info->buffer;
  }
  Stmt VisitAllocate(const AllocateNode* allocate) override {
    const Stmt changed = Rewriter::VisitAllocate(allocate);
    const NewBuffer* info = buffers_.Find(allocate->var());
    if (info == nullptr || info->buffer.dtype() != allocate->dtype()) {
      return changed;
    }
    const auto* result = changed.As<AllocateNode>();
    return Allocate(result->var(), result->dtype(),
                    AllocationShape(info->buffer), result->condition(),
                    result->annotations(), result->body(), result->span());
  }

 private:
  std::vector<PrimExpr> NewIndices(const NewBuffer& info,
                                   absl::Span<const PrimExpr> indices) {
    std::vector<PrimExpr> result(indices.begin(), indices.end());
    RewriteAll(result);
    for (size_t i = 0; i < result.size() && i < info.region.size(); ++i) {
      result[i] = Sub(result[i], info.region[i].min);
    }
    return result;
  }

  const VarMap<NewBuffer> buffers_;
};

// Strides that keep the alignments; none if there are no alignments.
std::vector<PrimExpr> AlignedStrides(const std::vector<DimAlign>& aligns,
                                     const std::vector<PrimExpr>& shape) {
  std::vector<PrimExpr> strides(shape.size());
  std::vector<DimAlign> by_axis(shape.size());
  for (const DimAlign& align : aligns) {
    const auto axis = static_cast<size_t>(align.axis);
    if (align.axis >= 0 && axis < shape.size()) by_axis[axis] = align;
  }
  if (shape.empty()) return strides;
  const DType dtype = shape[0].dtype();
  const auto mod = [](const PrimExpr& a, const PrimExpr& b) {
    return MakeBinary(BinaryOp::kFloorMod, a, b);
  };
  PrimExpr stride = IntImm(dtype, 1);
  for (size_t i = shape.size(); i-- > 0;) {
    if (by_axis[i].factor != 0) {
      const PrimExpr factor = IntImm(stride.dtype(), by_axis[i].factor);
      const PrimExpr offset = IntImm(stride.dtype(), by_axis[i].offset);
      stride = Add(stride,
                   mod(Sub(Add(factor, offset), mod(stride, factor)), factor));
    }
    strides[i] = stride;
    stride = Mul(stride, shape[i]);
  }
  return strides;
}

absl::StatusOr<PrimFunc> Compact(const PrimFunc& function, bool is_strict) {
  BufferAliases aliases;
  aliases.Visit(function->body());
  RegionCollector collector(is_strict, aliases.Take());
  BATON_ASSIGN_OR_RETURN(const std::vector<BufferRegions> regions,
                         collector.Collect(function->body()));
  const auto aligns = CollectDimAligns(function->body());
  VarMap<NewBuffer> buffers;
  for (const auto& [buffer, region] : regions) {
    BufferNode::Parts parts = buffer->parts();
    for (size_t i = 0; i < region.size(); ++i) {
      parts.shape[i] = region[i].extent;
    }
    parts.strides.clear();
    const auto found = aligns.find(buffer->data().get());
    if (found != aligns.end()) {
      parts.strides = AlignedStrides(found->second, parts.shape);
    }
    if (buffers.Contains(buffer->data())) continue;
    buffers.Set(buffer->data(),
                {Buffer(std::move(parts), buffer->span()), region});
  }
  if (buffers.empty()) return function;
  return BufferCompactor(std::move(buffers)).RewriteBody(function);
}

}  // namespace

Pass CompactBufferAllocation(CompactBufferAllocationOptions options) {
  return CreatePrimFuncPass(
      [options](const PrimFunc& function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        return Compact(function, options.is_strict);
      },
      {.name = "tir.CompactBufferAllocation",
       .doc = "Shrinks buffers to the region that is accessed.",
       .needs = {"tir.opaque_blocks"},
       .examples = {"is_strict=false"}},
      options);
}
BATON_REGISTER_PASS_AS("tir.CompactBufferAllocation", CompactBufferAllocation);

}  // namespace baton::tir
