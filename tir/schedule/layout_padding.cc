#include "baton/tir/schedule/layout_padding.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/node.h"
#include "baton/tir/analysis/undefined_vars.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/index_map.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/edit.h"
#include "baton/tir/schedule/state.h"

namespace baton::tir {
namespace {

// The first and the last of the loops in scope on which a value depends.
struct LoopSpan {
  size_t first = 0;
  size_t last = 0;
};

struct Write {
  const BufferStoreNode* store = nullptr;
  const BlockRealizeNode* realize = nullptr;
  // Loops on which the indices depend, and those between them.
  std::vector<const ForNode*> loops;
  // True if the loops are serial and one for each axis, in order.
  bool covers_all = false;
};

// Finds the stores to a buffer.
class WriteFinder : public Visitor {
 public:
  explicit WriteFinder(const Buffer& buffer) : buffer_(buffer) {}
  std::vector<Write> writes;

 protected:
  void VisitFor(const ForNode* loop) override {
    const VarNode* var = loop->loop_var().get();
    spans_[var] = {loops_.size(), loops_.size()};
    loops_.push_back(loop);
    Visitor::VisitFor(loop);
    loops_.pop_back();
    spans_.erase(var);
  }
  void VisitLetStmt(const LetStmtNode* let) override {
    Bind(let->var(), let->value());
    Visitor::VisitLetStmt(let);
    spans_.erase(let->var().get());
  }
  void VisitBlockRealize(const BlockRealizeNode* realize) override {
    const auto iters = realize->block()->iter_vars();
    for (size_t i = 0; i < iters.size(); ++i) {
      Bind(iters[i]->var(), realize->iter_values()[i]);
    }
    const auto* outer = std::exchange(realize_, realize);
    Visitor::VisitBlockRealize(realize);
    realize_ = outer;
    for (const IterVar& iter : iters) spans_.erase(iter->var().get());
  }
  void VisitBufferStore(const BufferStoreNode* store) override {
    if (store->buffer() != buffer_) return;
    std::optional<LoopSpan> span;
    for (const PrimExpr& index : store->indices()) Extend(span, SpanOf(index));
    Write write = {store, realize_, {}, false};
    if (span.has_value()) {
      write.loops.assign(loops_.begin() + span->first,
                         loops_.begin() + span->last + 1);
    }
    write.covers_all = CoversAll(write);
    writes.push_back(std::move(write));
  }

 private:
  static void Extend(std::optional<LoopSpan>& span,
                     const std::optional<LoopSpan>& other) {
    if (!other.has_value()) return;
    if (!span.has_value()) {
      span = other;
    } else {
      span = LoopSpan{std::min(span->first, other->first),
                      std::max(span->last, other->last)};
    }
  }
  std::optional<LoopSpan> SpanOf(const PrimExpr& e) const {
    std::optional<LoopSpan> span;
    for (const Var& var : UndefinedVars(e)) {
      const auto it = spans_.find(var.get());
      if (it != spans_.end()) Extend(span, it->second);
    }
    return span;
  }
  void Bind(const Var& var, const PrimExpr& value) {
    const std::optional<LoopSpan> span = SpanOf(value);
    if (!span.has_value()) return;
    spans_[var.get()] = *span;
    values_.Set(var, Substitute(value, values_));
  }
  bool CoversAll(const Write& write) const {
    const auto indices = write.store->indices();
    if (write.loops.empty() || write.loops.size() != buffer_->shape().size() ||
        write.loops.size() != indices.size()) {
      return false;
    }
    for (size_t i = 0; i < write.loops.size(); ++i) {
      const ForNode* loop = write.loops[i];
      if (Substitute(indices[i], values_) != loop->loop_var() ||
          !IsZero(loop->min()) ||
          !ExprDeepEqual(loop->extent(), buffer_->shape()[i]) ||
          loop->for_kind() != ForKind::kSerial) {
        return false;
      }
    }
    return true;
  }

  const Buffer& buffer_;
  std::vector<const ForNode*> loops_;
  FlatHashMap<const VarNode*, LoopSpan> spans_;
  VarMap<PrimExpr> values_;
  const BlockRealizeNode* realize_ = nullptr;
};

PrimExpr Choose(const PrimExpr& condition, const PrimExpr& then_value,
                const PrimExpr& else_value) {
  return CallIntrinsic("if_then_else", {condition, then_value, else_value});
}

// Variables of a block over the new layout, with the loops around it.
struct NewNest {
  std::vector<IterVar> iters;
  std::vector<PrimExpr> indices;
  std::vector<PrimExpr> values;
  VarMap<PrimExpr> iter_of_loop;
};

NewNest MakeNest(const Buffer& buffer, const IndexMap& inverse) {
  NewNest nest;
  for (size_t i = 0; i < inverse->initial().size(); ++i) {
    const Var& loop_var = inverse->initial()[i];
    const PrimExpr& extent = buffer->shape()[i];
    const Var var(absl::StrCat("v_", loop_var->name()), loop_var.dtype());
    nest.iters.push_back(IterVar({IntImm(extent.dtype(), 0), extent}, var,
                                 IterVarType::kDataPar));
    nest.indices.push_back(var);
    nest.values.push_back(loop_var);
    nest.iter_of_loop.Set(loop_var, var);
  }
  return nest;
}

Stmt InLoops(const Buffer& buffer, const IndexMap& inverse, Stmt body) {
  for (size_t i = inverse->initial().size(); i-- > 0;) {
    body = SerialLoop(inverse->initial()[i], IntImm(kInt32, 0),
                      buffer->shape()[i], std::move(body));
  }
  return body;
}

// Makes the body of loops over the old layout one over the new layout that
// stores the padding, too.
class StoreRewriter : public Rewriter {
 public:
  StoreRewriter(const Write& write, const Buffer& new_buffer,
                const InverseMap& inverse, const IndexMap& pad_value,
                Analyzer& analyzer)
      : write_(write),
        new_buffer_(new_buffer),
        padding_(inverse.padding),
        pad_value_(pad_value),
        analyzer_(analyzer) {
    for (const Var& var : inverse.map->initial()) indices_.push_back(var);
    for (size_t i = 0; i < write.loops.size(); ++i) {
      values_.Set(write.loops[i]->loop_var(), inverse.map->final_indices()[i]);
    }
    if (write.realize != nullptr) DefineBlock(inverse.map);
  }

  bool all_replaced = true;

 protected:
  PrimExpr VisitVar(const VarNode* var) override {
    const PrimExpr* value = values_.Find(var);
    if (value != nullptr) return *value;
    return Var(var);
  }
  Stmt VisitBufferStore(const BufferStoreNode* store) override {
    bool same = store->buffer() == write_.store->buffer();
    for (size_t i = 0; same && i < store->indices().size(); ++i) {
      same = ExprDeepEqual(store->indices()[i], write_.store->indices()[i]);
    }
    absl::StatusOr<std::vector<PrimExpr>> pad =
        MapIndices(pad_value_, indices_, analyzer_);
    if (!same || !pad.ok()) {
      all_replaced = false;
      return Rewriter::VisitBufferStore(store);
    }
    return BufferStore(new_buffer_,
                       Choose(padding_, (*pad)[0], Rewrite(store->value())),
                       indices_, store->span());
  }
  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    const Stmt rewritten = Rewriter::VisitBlockRealize(realize);
    if (realize != write_.realize || !has_block_) return rewritten;
    const auto* result = rewritten.As<BlockRealizeNode>();
    BlockNode::Parts parts = result->block()->parts();
    parts.iter_vars = iters_;
    return BlockRealize(iter_values_, result->predicate(),
                        Block(std::move(parts), result->block()->span()),
                        result->span());
  }

 private:
  // If the indices of the store are spatial variables of its block, in order,
  // the block has variables of the new layout in their place.
  void DefineBlock(const IndexMap& inverse) {
    const auto old_iters = write_.realize->block()->iter_vars();
    const auto old_values = write_.realize->iter_values();
    iters_.assign(old_iters.begin(), old_iters.end());
    iter_values_.assign(old_values.begin(), old_values.end());
    has_block_ = true;
    const auto old_indices = write_.store->indices();
    const size_t count = old_indices.size();
    if (count == 0 || old_iters.size() < count) return;
    size_t begin = 0;
    while (begin < old_iters.size() - count &&
           old_indices[0] != old_iters[begin]->var()) {
      ++begin;
    }
    for (size_t i = 0; i < count; ++i) {
      if (old_indices[i] != old_iters[begin + i]->var() ||
          old_iters[begin + i]->iter_type() != IterVarType::kDataPar) {
        return;
      }
    }
    NewNest nest = MakeNest(new_buffer_, inverse);
    iters_.assign(old_iters.begin(), old_iters.begin() + begin);
    iters_.insert(iters_.end(), nest.iters.begin(), nest.iters.end());
    iters_.insert(iters_.end(), old_iters.begin() + begin + count,
                  old_iters.end());
    iter_values_.assign(old_values.begin(), old_values.begin() + begin);
    iter_values_.insert(iter_values_.end(), nest.values.begin(),
                        nest.values.end());
    iter_values_.insert(iter_values_.end(), old_values.begin() + begin + count,
                        old_values.end());
    for (size_t i = 0; i < count; ++i) {
      values_.Set(Var(old_indices[i].As<VarNode>()),
                  Substitute(inverse->final_indices()[i], nest.iter_of_loop));
    }
    padding_ = Substitute(padding_, nest.iter_of_loop);
    indices_ = std::move(nest.indices);
  }

  const Write& write_;
  Buffer new_buffer_;
  PrimExpr padding_;
  const IndexMap& pad_value_;
  Analyzer& analyzer_;
  std::vector<PrimExpr> indices_;
  VarMap<PrimExpr> values_;
  bool has_block_ = false;
  std::vector<IterVar> iters_;
  std::vector<PrimExpr> iter_values_;
};

}  // namespace

absl::StatusOr<IndexMap> CheckPadValue(const IndexMap& pad_value,
                                       const Buffer& buffer,
                                       const IndexMap& map) {
  if (pad_value->final_indices().size() != 1) {
    return ErrorAt(
        pad_value->span(),
        absl::StrCat("the value of padding has ",
                     pad_value->final_indices().size(), " results, not one"));
  }
  PrimExpr value = pad_value->final_indices()[0];
  IndexMap result = pad_value;
  if (pad_value->initial().empty()) {
    // A constant.
    std::vector<Var> vars;
    for (size_t i = 0; i < map->final_indices().size(); ++i) {
      vars.emplace_back(absl::StrCat("i", i), map->final_indices()[i].dtype());
    }
    result = IndexMap(std::move(vars), {value});
  }
  if (value.dtype() != buffer->dtype()) {
    return ErrorAt(pad_value->span(),
                   absl::StrCat("the value of padding is of type ",
                                value.dtype().ToString(), ", the buffer of ",
                                buffer->dtype().ToString()));
  }
  bool other_load = false;
  PostOrderVisit(value, [&](const PrimExpr& e) {
    const auto* load = e.As<BufferLoadNode>();
    other_load |= load != nullptr && load->buffer() != buffer;
  });
  if (other_load) {
    return ErrorAt(pad_value->span(),
                   "the value of padding loads from another buffer");
  }
  return result;
}

absl::StatusOr<PaddingPlan> PlanPadding(
    const Block& scope, const Buffer& old_buffer, const Buffer& new_buffer,
    const InverseMap& inverse, const IndexMap& pad_value, Analyzer& analyzer) {
  PaddingPlan plan;
  if (IsZero(inverse.padding)) return plan;
  WriteFinder finder(old_buffer);
  finder.Visit(Stmt(scope));
  const NewNest nest = MakeNest(new_buffer, inverse.map);
  BATON_ASSIGN_OR_RETURN(const std::vector<PrimExpr> pad,
                         MapIndices(pad_value, nest.indices, analyzer));
  if (finder.writes.empty()) {
    const PrimExpr padding = Substitute(inverse.padding, nest.iter_of_loop);
    const PrimExpr holds =
        MakeBinary(BinaryOp::kOr, Not(padding),
                   MakeBinary(BinaryOp::kEQ,
                              BufferLoad(new_buffer, nest.indices), pad[0]));
    BlockNode::Parts parts;
    parts.name = absl::StrCat("buffer_", new_buffer->name(), "_assumptions");
    parts.iter_vars = nest.iters;
    parts.reads = {PointRegion(new_buffer, nest.indices)};
    parts.body = Evaluate(Call(DType::Bool(), IntrinsicOp("assume"), {holds}));
    plan.prologue = InLoops(
        new_buffer, inverse.map,
        BlockRealize(nest.values, IntImm::Bool(true), Block(std::move(parts))));
    return plan;
  }
  for (const Write& write : finder.writes) {
    if (!write.covers_all) continue;
    StoreRewriter rewriter(write, new_buffer, inverse, pad_value, analyzer);
    Stmt body = rewriter.Rewrite(write.loops.back()->body());
    if (!rewriter.all_replaced) continue;
    plan.replacements.emplace_back(
        write.loops[0], InLoops(new_buffer, inverse.map, std::move(body)));
  }
  if (!plan.replacements.empty()) return plan;
  BlockNode::Parts parts;
  parts.name = absl::StrCat("buffer_", new_buffer->name(), "_padding");
  parts.iter_vars = nest.iters;
  parts.writes = {PointRegion(new_buffer, nest.indices)};
  parts.body = BufferStore(new_buffer, pad[0], nest.indices);
  plan.epilogue = InLoops(
      new_buffer, inverse.map,
      BlockRealize(nest.values, inverse.padding, Block(std::move(parts))));
  const Write& last = finder.writes.back();
  plan.insert_after = last.loops.empty()
                          ? static_cast<const Node*>(last.realize)
                          : static_cast<const Node*>(last.loops[0]);
  return plan;
}

}  // namespace baton::tir
