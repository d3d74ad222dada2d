#include "baton/tir/analysis/access_region.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/node_map.h"
#include "baton/tir/analysis/block_buffers.h"
#include "baton/tir/analysis/conditional_bounds.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// The accessed sets of indices of some buffers.
struct Accesses {
  std::vector<Buffer> buffers;
  std::vector<std::vector<IntSet>> sets;
  FlatHashMap<const BufferNode*, size_t> index;

  void Add(const Buffer& buffer, std::vector<IntSet> region) {
    const auto [entry, is_new] = index.try_emplace(buffer.get(), sets.size());
    if (is_new) {
      buffers.push_back(buffer);
      sets.push_back(std::move(region));
      return;
    }
    std::vector<IntSet>& known = sets[entry->second];
    for (size_t i = 0; i < known.size() && i < region.size(); ++i) {
      const IntSet both[] = {known[i], region[i]};
      known[i] = Union(both);
    }
  }
};

class AccessFinder final : public Visitor {
 public:
  explicit AccessFinder(const BuffersByPointer& buffers) : buffers_(buffers) {}

  void Find(const Block& block) {
    for (const MatchRegion& match : block->match_buffers()) {
      if (!buffers_.Contains(match->source()->buffer()->data())) continue;
      const Var& pointer = match->buffer()->data();
      matches_.Set(pointer, match);
      buffers_.Set(pointer, match->buffer());
    }
    Visit(block);
  }

  std::vector<BufferRegion> Reads(const NodeSet& excluded) {
    return Regions(reads_, &excluded);
  }
  std::vector<BufferRegion> Writes(const NodeSet& excluded) {
    return Regions(writes_, &excluded);
  }
  std::vector<BufferRegion> Opaque() { return Regions(opaque_, nullptr); }

 private:
  void VisitVar(const VarNode* var) override {
    const Buffer* buffer = buffers_.Find(var);
    if (buffer != nullptr) AddFull(opaque_, *buffer);
  }

  void VisitBufferLoad(const BufferLoadNode* load) override {
    AddAccess(reads_, load->buffer(), load->indices());
    Visitor::VisitBufferLoad(load);
  }
  void VisitBufferStore(const BufferStoreNode* store) override {
    AddAccess(writes_, store->buffer(), store->indices());
    Visitor::VisitBufferStore(store);
  }

  void VisitFor(const ForNode* loop) override {
    bounds_.domains.Set(loop->loop_var(),
                        IntSet::FromMinExtent(loop->min(), loop->extent()));
    Visitor::VisitFor(loop);
    bounds_.domains.Erase(loop->loop_var().get());
  }

  void VisitLetStmt(const LetStmtNode* let) override {
    Visit(let->value());
    Define(let->var(), let->value());
    Visit(let->body());
    bounds_.domains.Erase(let->var().get());
  }
  void VisitLet(const LetNode* let) override {
    Visit(let->value());
    Define(let->var(), let->value());
    Visit(let->body());
    bounds_.domains.Erase(let->var().get());
  }
  // Regions stand outside of the let. What its value loads may be written
  // before.
  void Define(const Var& var, const PrimExpr& value) {
    if (!var.dtype().is_integral()) return;
    bool loads = false;
    PostOrderVisit(value, [&loads](const PrimExpr& e) {
      loads = loads || e.Is<BufferLoadNode>();
    });
    bounds_.domains.Set(
        var, loads ? IntSet::Everything()
                   : EvalSet(IntSet::Vector(value), bounds_.domains));
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
    if (call->op() == IntrinsicOp("tvm_access_ptr") && args.size() == 5) {
      const auto* pointer = args[1].As<VarNode>();
      const auto* mask = args[4].As<IntImmNode>();
      if (pointer == nullptr || mask == nullptr) {
        Visitor::VisitCall(call);
        return;
      }
      const Buffer* buffer = buffers_.Find(pointer);
      if (buffer == nullptr) return;
      switch (mask->value() & 3) {
        case 1:
          return AddFull(reads_, *buffer);
        case 2:
          return AddFull(writes_, *buffer);
        case 3:
          return AddFull(opaque_, *buffer);
        default:
          return;
      }
    }
    if (call->op() == IntrinsicOp("if_then_else") && args.size() == 3) {
      Visit(args[0]);
      {
        const ConditionalBounds::Scope scope(bounds_, args[0]);
        Visit(args[1]);
      }
      const ConditionalBounds::Scope scope(bounds_, Negated(args[0]));
      Visit(args[2]);
      return;
    }
    Visitor::VisitCall(call);
  }

  // Blocks inside are not entered.
  void VisitBlockRealize(const BlockRealizeNode* realize) override {
    const BlockNode* block = realize->block().get();
    NodeMap<PrimExpr> values;
    for (size_t i = 0; i < block->iter_vars().size(); ++i) {
      values[block->iter_vars()[i]->var().get()] = realize->iter_values()[i];
    }
    const auto add = [&](Accesses& accesses, const BufferRegion& region) {
      std::vector<IntSet> sets;
      for (const Range& range : region->region()) {
        sets.push_back(
            EvalSet(IntSet::FromMinExtent(Substitute(range.min, values),
                                          Substitute(range.extent, values)),
                    bounds_.domains));
      }
      Add(accesses, region->buffer(), std::move(sets));
    };
    for (const BufferRegion& region : block->reads()) add(reads_, region);
    for (const BufferRegion& region : block->writes()) add(writes_, region);
  }

  void AddAccess(Accesses& accesses, const Buffer& buffer,
                 absl::Span<const PrimExpr> indices) {
    std::vector<IntSet> sets;
    for (const PrimExpr& index : indices) {
      sets.push_back(EvalSet(IntSet::Vector(index), bounds_.domains));
    }
    Add(accesses, buffer, std::move(sets));
  }

  void AddFull(Accesses& accesses, const Buffer& buffer) {
    Add(accesses, buffer, EvalSet(FullRegion(buffer), bounds_.domains));
  }

  void Add(Accesses& accesses, const Buffer& buffer,
           std::vector<IntSet> region) {
    if (!buffers_.Contains(buffer->data())) return;
    const MatchRegion* match = matches_.Find(buffer->data());
    if (match == nullptr) return accesses.Add(buffer, std::move(region));
    const BufferRegion& source = (*match)->source();
    const absl::Span<const PrimExpr> shape = (*match)->buffer()->shape();
    if (shape.size() != region.size() ||
        source->region().size() < region.size()) {
      return;
    }
    std::vector<Range> ranges;
    for (size_t i = 0; i < region.size(); ++i) {
      ranges.push_back(
          region[i].CoverRange({IntImm(shape[i].dtype(), 0), shape[i]}));
    }
    accesses.Add(source->buffer(),
                 EvalSet(SourceRegion(source, ranges), bounds_.domains));
  }

  std::vector<BufferRegion> Regions(const Accesses& accesses,
                                    const NodeSet* excluded) {
    std::vector<BufferRegion> result;
    for (size_t i = 0; i < accesses.buffers.size(); ++i) {
      const Buffer& buffer = accesses.buffers[i];
      if (excluded != nullptr && excluded->Contains(buffer.get())) continue;
      const std::vector<IntSet>& sets = accesses.sets[i];
      std::vector<Range> region;
      for (size_t k = 0; k < sets.size(); ++k) {
        if (sets[k].CanProveSinglePoint(analyzer_)) {
          const PrimExpr& min = sets[k].min();
          region.push_back({min, MakeConst(min.dtype(), 1)});
        } else {
          const PrimExpr& extent = buffer->shape()[k];
          region.push_back(
              sets[k].CoverRange({IntImm(extent.dtype(), 0), extent}));
        }
      }
      result.emplace_back(buffer, std::move(region));
    }
    return result;
  }

  BuffersByPointer buffers_;
  VarMap<MatchRegion> matches_;  // by the pointer of the matching buffer
  ConditionalBounds bounds_;
  Accesses reads_;
  Accesses writes_;
  Accesses opaque_;
  Analyzer analyzer_;
};

void Insert(NodeSet& set, const std::vector<BufferRegion>& regions) {
  for (const BufferRegion& region : regions) {
    set.Insert(region->buffer().get());
  }
}

}  // namespace

AccessRegions FindBlockAccessRegions(const Block& block,
                                     const BuffersByPointer& buffers) {
  AccessFinder finder(buffers);
  finder.Find(block);
  NodeSet excluded;
  AccessRegions result;
  result.writes = finder.Writes(excluded);
  if (block->init().defined()) Insert(excluded, result.writes);
  result.reads = finder.Reads(excluded);
  result.opaque = finder.Opaque();
  return result;
}

ReadWriteRegions FindBlockReadWriteRegions(const Block& block,
                                           const BuffersByPointer& buffers) {
  AccessFinder finder(buffers);
  finder.Find(block);
  const std::vector<BufferRegion> opaque = finder.Opaque();
  NodeSet excluded;
  Insert(excluded, opaque);
  ReadWriteRegions result;
  result.writes = finder.Writes(excluded);
  if (block->init().defined()) Insert(excluded, result.writes);
  result.reads = finder.Reads(excluded);
  result.reads.insert(result.reads.end(), opaque.begin(), opaque.end());
  result.writes.insert(result.writes.end(), opaque.begin(), opaque.end());
  return result;
}

}  // namespace baton::tir
