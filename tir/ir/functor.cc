#include "baton/tir/ir/functor.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_map.h"
#include "baton/ir/origin.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// --- Visitor -----------------------------------------------------------------

#define BATON_TIR_CASE(index, Name, sort) \
  case TirKind::k##Name:                  \
    return Visit##Name(static_cast<const Name##Node*>(node));

void Visitor::Visit(const PrimExpr& e) {
  if (!e.defined()) return;
  OnDeepStack([this, node = e.get()] {
    switch (node->kind().To<TirKind>()) {
      BATON_TIR_EXPRS(BATON_TIR_CASE)
      default:
        return;
    }
  });
}

void Visitor::Visit(const Stmt& stmt) {
  if (!stmt.defined()) return;
  OnDeepStack([this, node = stmt.get()] {
    switch (node->kind().To<TirKind>()) {
      BATON_TIR_STMTS(BATON_TIR_CASE)
      default:
        return;
    }
  });
}

void Visitor::VisitAll(absl::Span<const PrimExpr> list) {
  for (const PrimExpr& e : list) Visit(e);
}

void Visitor::VisitAll(absl::Span<const Range> list) {
  for (const Range& range : list) {
    Visit(range.min);
    Visit(range.extent);
  }
}

void Visitor::VisitVar(const VarNode* /*node*/) {}
void Visitor::VisitIntImm(const IntImmNode* /*node*/) {}
void Visitor::VisitFloatImm(const FloatImmNode* /*node*/) {}
void Visitor::VisitStringImm(const StringImmNode* /*node*/) {}
void Visitor::VisitBuffer(const BufferNode* /*node*/) {}
void Visitor::VisitCast(const CastNode* node) { Visit(node->value()); }
void Visitor::VisitBinary(const BinaryNode* node) {
  Visit(node->a());
  Visit(node->b());
}
void Visitor::VisitNot(const NotNode* node) { Visit(node->a()); }
void Visitor::VisitSelect(const SelectNode* node) {
  Visit(node->condition());
  Visit(node->true_value());
  Visit(node->false_value());
}
void Visitor::VisitRamp(const RampNode* node) {
  Visit(node->base());
  Visit(node->stride());
}
void Visitor::VisitBroadcast(const BroadcastNode* node) {
  Visit(node->value());
}
void Visitor::VisitShuffle(const ShuffleNode* node) {
  VisitAll(node->indices());
  VisitAll(node->vectors());
}
void Visitor::VisitBufferLoad(const BufferLoadNode* node) {
  VisitAll(node->indices());
}
void Visitor::VisitCall(const CallNode* node) { VisitAll(node->args()); }
void Visitor::VisitLet(const LetNode* node) {
  Visit(node->value());
  Visit(node->body());
}
void Visitor::VisitReduce(const ReduceNode* node) {
  for (const IterVar& axis : node->axis()) Visit(axis);
  VisitAll(node->source());
  VisitAll(node->init());
  Visit(node->condition());
}
void Visitor::VisitCommReducer(const CommReducerNode* node) {
  VisitAll(node->result());
  VisitAll(node->identity());
}
void Visitor::VisitIterVar(const IterVarNode* node) {
  Visit(node->min());
  Visit(node->extent());
}
void Visitor::VisitIndexMap(const IndexMapNode* node) {
  VisitAll(node->final_indices());
}
void Visitor::VisitBufferRegion(const BufferRegionNode* node) {
  VisitAll(node->region());
}
void Visitor::VisitMatchRegion(const MatchRegionNode* node) {
  Visit(node->source());
}
void Visitor::VisitList(const ListNode* node) { VisitAll(node->items()); }
void Visitor::VisitDict(const DictNode* node) { VisitAll(node->values()); }
void Visitor::VisitTarget(const TargetNode* node) { Visit(node->config()); }

void Visitor::VisitLetStmt(const LetStmtNode* node) {
  Visit(node->value());
  Visit(node->body());
}
void Visitor::VisitAttrStmt(const AttrStmtNode* node) {
  Visit(node->value());
  Visit(node->body());
}
void Visitor::VisitAssertStmt(const AssertStmtNode* node) {
  Visit(node->condition());
  Visit(node->message());
  Visit(node->body());
}
void Visitor::VisitFor(const ForNode* node) {
  Visit(node->min());
  Visit(node->extent());
  Visit(node->body());
}
void Visitor::VisitWhile(const WhileNode* node) {
  Visit(node->condition());
  Visit(node->body());
}
void Visitor::VisitBufferStore(const BufferStoreNode* node) {
  Visit(node->value());
  VisitAll(node->indices());
}
void Visitor::VisitBufferRealize(const BufferRealizeNode* node) {
  VisitAll(node->bounds());
  Visit(node->condition());
  Visit(node->body());
}
void Visitor::VisitAllocate(const AllocateNode* node) {
  VisitAll(node->extents());
  Visit(node->body());
  Visit(node->condition());
}
void Visitor::VisitAllocateConst(const AllocateConstNode* node) {
  VisitAll(node->extents());
  Visit(node->body());
}
void Visitor::VisitDeclBuffer(const DeclBufferNode* node) {
  Visit(node->body());
}
void Visitor::VisitSeqStmt(const SeqStmtNode* node) {
  for (const Stmt& stmt : node->seq()) Visit(stmt);
}
void Visitor::VisitIfThenElse(const IfThenElseNode* node) {
  Visit(node->condition());
  Visit(node->then_case());
  Visit(node->else_case());
}
void Visitor::VisitEvaluate(const EvaluateNode* node) { Visit(node->value()); }
void Visitor::VisitBlock(const BlockNode* node) {
  for (const IterVar& var : node->iter_vars()) Visit(var);
  for (const BufferRegion& region : node->reads()) Visit(region);
  for (const BufferRegion& region : node->writes()) Visit(region);
  for (const MatchRegion& match : node->match_buffers()) Visit(match);
  Visit(node->init());
  Visit(node->body());
}
void Visitor::VisitBlockRealize(const BlockRealizeNode* node) {
  VisitAll(node->iter_values());
  Visit(node->predicate());
  Visit(node->block());
}
void Visitor::VisitPrefetch(const PrefetchNode* node) {
  VisitAll(node->bounds());
}

// --- Rewriter ----------------------------------------------------------------

PrimExpr Rewriter::Rewrite(const PrimExpr& e) {
  if (!e.defined()) return e;
  PrimExpr result = OnDeepStack([this, node = e.get()]() -> PrimExpr {
    switch (node->kind().To<TirKind>()) {
      BATON_TIR_EXPRS(BATON_TIR_CASE)
      default:
        return PrimExpr(node);
    }
  });
  LogOrigins(result, e.get());
  return result;
}

Stmt Rewriter::Rewrite(const Stmt& stmt) {
  if (!stmt.defined()) return stmt;
  Stmt result = OnDeepStack([this, node = stmt.get()]() -> Stmt {
    switch (node->kind().To<TirKind>()) {
      BATON_TIR_STMTS(BATON_TIR_CASE)
      default:
        return Stmt(node);
    }
  });
  LogOrigins(result, stmt.get());
  return result;
}
#undef BATON_TIR_CASE

namespace {

// `changed` as a node of class N; `old` if it is a node of another class.
template <typename N>
HandleOf<N> OrOld(const Expr& changed, const HandleOf<N>& old) {
  const N* node = changed.As<N>();
  return node == nullptr ? old : HandleOf<N>(node);
}

std::vector<PrimExpr> ListOf(absl::Span<const PrimExpr> list) {
  return {list.begin(), list.end()};
}
std::vector<Range> ListOf(absl::Span<const Range> list) {
  return {list.begin(), list.end()};
}

// Replaces each element by `rewrite` of it; true if one changed.
template <typename T, typename Fn>
bool MapList(std::vector<T>& list, const Fn& rewrite) {
  bool changed = false;
  for (T& element : list) {
    T result = rewrite(element);
    if (result == element) continue;
    element = std::move(result);
    changed = true;
  }
  return changed;
}

}  // namespace

PrimFunc Rewriter::RewriteBody(const PrimFunc& function) {
  Stmt body = Rewrite(function->body());
  if (body == function->body()) return function;
  PrimFuncNode::Parts parts = function->parts();
  parts.body = std::move(body);
  PrimFunc result(std::move(parts), function->span());
  LogOrigin(result, function.get());
  return result;
}

bool Rewriter::RewriteAll(std::vector<PrimExpr>& list) {
  return MapList(list, [this](const PrimExpr& e) { return Rewrite(e); });
}

bool Rewriter::RewriteAll(std::vector<Range>& list) {
  bool changed = false;
  for (Range& range : list) {
    PrimExpr min = Rewrite(range.min);
    PrimExpr extent = Rewrite(range.extent);
    if (min == range.min && extent == range.extent) continue;
    range = {std::move(min), std::move(extent)};
    changed = true;
  }
  return changed;
}

bool Rewriter::RewriteExtents(BufferNode::Parts& parts) {
  bool changed = RewriteAll(parts.shape);
  changed |= RewriteAll(parts.strides);
  PrimExpr offset = Rewrite(parts.elem_offset);
  changed |= offset != parts.elem_offset;
  parts.elem_offset = std::move(offset);
  return changed;
}

Dict Rewriter::RewriteDict(const Dict& dict) {
  return OrOld<DictNode>(Rewrite(dict), dict);
}
IterVar Rewriter::RewriteIterVar(const IterVar& var) {
  return OrOld<IterVarNode>(Rewrite(var), var);
}
BufferRegion Rewriter::RewriteRegion(const BufferRegion& region) {
  return OrOld<BufferRegionNode>(Rewrite(region), region);
}
MatchRegion Rewriter::RewriteMatch(const MatchRegion& match) {
  return OrOld<MatchRegionNode>(Rewrite(match), match);
}
Block Rewriter::RewriteBlock(const Block& block) {
  return OrOld<BlockNode>(Rewrite(block), block);
}

PrimExpr Rewriter::VisitVar(const VarNode* node) { return Var(node); }
PrimExpr Rewriter::VisitIntImm(const IntImmNode* node) { return IntImm(node); }
PrimExpr Rewriter::VisitFloatImm(const FloatImmNode* node) {
  return FloatImm(node);
}
PrimExpr Rewriter::VisitStringImm(const StringImmNode* node) {
  return StringImm(node);
}
PrimExpr Rewriter::VisitBuffer(const BufferNode* node) {
  return RewriteBuffer(Buffer(node));
}
PrimExpr Rewriter::VisitCast(const CastNode* node) {
  PrimExpr value = Rewrite(node->value());
  if (value == node->value()) return Cast(node);
  return Cast(node->dtype(), std::move(value), node->span());
}
PrimExpr Rewriter::VisitBinary(const BinaryNode* node) {
  PrimExpr a = Rewrite(node->a());
  PrimExpr b = Rewrite(node->b());
  if (a == node->a() && b == node->b()) return Binary(node);
  return Binary(node->op(), std::move(a), std::move(b), node->span());
}
PrimExpr Rewriter::VisitNot(const NotNode* node) {
  PrimExpr a = Rewrite(node->a());
  if (a == node->a()) return Not(node);
  return Not(std::move(a), node->span());
}
PrimExpr Rewriter::VisitSelect(const SelectNode* node) {
  PrimExpr condition = Rewrite(node->condition());
  PrimExpr true_value = Rewrite(node->true_value());
  PrimExpr false_value = Rewrite(node->false_value());
  if (condition == node->condition() && true_value == node->true_value() &&
      false_value == node->false_value()) {
    return Select(node);
  }
  return Select(std::move(condition), std::move(true_value),
                std::move(false_value), node->span());
}
PrimExpr Rewriter::VisitRamp(const RampNode* node) {
  PrimExpr base = Rewrite(node->base());
  PrimExpr stride = Rewrite(node->stride());
  if (base == node->base() && stride == node->stride()) return Ramp(node);
  return Ramp(std::move(base), std::move(stride), node->lanes(), node->span());
}
PrimExpr Rewriter::VisitBroadcast(const BroadcastNode* node) {
  PrimExpr value = Rewrite(node->value());
  if (value == node->value()) return Broadcast(node);
  return Broadcast(std::move(value), node->lanes(), node->span());
}
PrimExpr Rewriter::VisitShuffle(const ShuffleNode* node) {
  std::vector<PrimExpr> vectors = ListOf(node->vectors());
  std::vector<PrimExpr> indices = ListOf(node->indices());
  const bool changed = RewriteAll(vectors);
  if (!RewriteAll(indices) && !changed) return Shuffle(node);
  return Shuffle(std::move(vectors), std::move(indices), node->span());
}
PrimExpr Rewriter::VisitBufferLoad(const BufferLoadNode* node) {
  std::vector<PrimExpr> indices = ListOf(node->indices());
  Buffer buffer = RewriteBuffer(node->buffer());
  if (!RewriteAll(indices) && buffer == node->buffer()) return BufferLoad(node);
  return BufferLoad(std::move(buffer), std::move(indices), node->span());
}
PrimExpr Rewriter::VisitCall(const CallNode* node) {
  std::vector<PrimExpr> args = ListOf(node->args());
  if (!RewriteAll(args)) return Call(node);
  return Call(node->dtype(), node->op(), std::move(args), node->span());
}
PrimExpr Rewriter::VisitLet(const LetNode* node) {
  PrimExpr value = Rewrite(node->value());
  PrimExpr body = Rewrite(node->body());
  if (value == node->value() && body == node->body()) return Let(node);
  return Let(node->var(), std::move(value), std::move(body), node->span());
}
PrimExpr Rewriter::VisitReduce(const ReduceNode* node) {
  std::vector<IterVar> axis(node->axis().begin(), node->axis().end());
  bool changed =
      MapList(axis, [this](const IterVar& var) { return RewriteIterVar(var); });
  std::vector<PrimExpr> source = ListOf(node->source());
  changed |= RewriteAll(source);
  std::vector<PrimExpr> init = ListOf(node->init());
  changed |= RewriteAll(init);
  PrimExpr condition = Rewrite(node->condition());
  if (!changed && condition == node->condition()) return Reduce(node);
  return Reduce(node->combiner(), std::move(source), std::move(init),
                std::move(axis), std::move(condition),
                static_cast<int>(node->value_index()), node->span());
}
PrimExpr Rewriter::VisitCommReducer(const CommReducerNode* node) {
  std::vector<PrimExpr> result = ListOf(node->result());
  std::vector<PrimExpr> identity = ListOf(node->identity());
  const bool changed = RewriteAll(result);
  if (!RewriteAll(identity) && !changed) return CommReducer(node);
  return CommReducer({node->lhs().begin(), node->lhs().end()},
                     {node->rhs().begin(), node->rhs().end()},
                     std::move(result), std::move(identity), node->span());
}
PrimExpr Rewriter::VisitIterVar(const IterVarNode* node) {
  PrimExpr min = Rewrite(node->min());
  PrimExpr extent = Rewrite(node->extent());
  if (min == node->min() && extent == node->extent()) return IterVar(node);
  return IterVar({std::move(min), std::move(extent)}, node->var(),
                 node->iter_type(), node->thread_tag(), node->span());
}
PrimExpr Rewriter::VisitIndexMap(const IndexMapNode* node) {
  std::vector<PrimExpr> indices = ListOf(node->final_indices());
  if (!RewriteAll(indices)) return IndexMap(node);
  return IndexMap({node->initial().begin(), node->initial().end()},
                  std::move(indices), node->inverse(), node->span());
}
PrimExpr Rewriter::VisitBufferRegion(const BufferRegionNode* node) {
  std::vector<Range> region = ListOf(node->region());
  Buffer buffer = RewriteBuffer(node->buffer());
  if (!RewriteAll(region) && buffer == node->buffer()) {
    return BufferRegion(node);
  }
  return BufferRegion(std::move(buffer), std::move(region), node->span());
}
PrimExpr Rewriter::VisitMatchRegion(const MatchRegionNode* node) {
  Buffer buffer = RewriteBuffer(node->buffer());
  BufferRegion source = RewriteRegion(node->source());
  if (buffer == node->buffer() && source == node->source()) {
    return MatchRegion(node);
  }
  return MatchRegion(std::move(buffer), std::move(source), node->span());
}
PrimExpr Rewriter::VisitList(const ListNode* node) {
  std::vector<PrimExpr> items = ListOf(node->items());
  if (!RewriteAll(items)) return List(node);
  return List(std::move(items), node->span());
}
PrimExpr Rewriter::VisitDict(const DictNode* node) {
  std::vector<PrimExpr> values = ListOf(node->values());
  if (!RewriteAll(values)) return Dict(node);
  std::vector<Dict::Entry> entries;
  for (size_t i = 0; i < values.size(); ++i) {
    entries.push_back({node->keys()[i], std::move(values[i])});
  }
  return Dict::OfAll(std::move(entries), node->span());
}
PrimExpr Rewriter::VisitTarget(const TargetNode* node) {
  Dict config = RewriteDict(node->config());
  if (config == node->config()) return Target(node);
  return Target(std::move(config), node->span());
}

Stmt Rewriter::VisitLetStmt(const LetStmtNode* node) {
  PrimExpr value = Rewrite(node->value());
  Stmt body = Rewrite(node->body());
  if (value == node->value() && body == node->body()) return LetStmt(node);
  return LetStmt(node->var(), std::move(value), std::move(body), node->span());
}
Stmt Rewriter::VisitAttrStmt(const AttrStmtNode* node) {
  PrimExpr value = Rewrite(node->value());
  Stmt body = Rewrite(node->body());
  if (value == node->value() && body == node->body()) return AttrStmt(node);
  return AttrStmt(node->node(), node->key(), std::move(value), std::move(body),
                  node->span());
}
Stmt Rewriter::VisitAssertStmt(const AssertStmtNode* node) {
  PrimExpr condition = Rewrite(node->condition());
  PrimExpr message = Rewrite(node->message());
  Stmt body = Rewrite(node->body());
  if (condition == node->condition() && message == node->message() &&
      body == node->body()) {
    return AssertStmt(node);
  }
  return AssertStmt(std::move(condition), std::move(message), std::move(body),
                    node->span());
}
Stmt Rewriter::VisitFor(const ForNode* node) {
  PrimExpr min = Rewrite(node->min());
  PrimExpr extent = Rewrite(node->extent());
  Stmt body = Rewrite(node->body());
  if (min == node->min() && extent == node->extent() && body == node->body()) {
    return For(node);
  }
  ForNode::Parts parts = node->parts();
  parts.min = std::move(min);
  parts.extent = std::move(extent);
  parts.body = std::move(body);
  return For(std::move(parts), node->span());
}
Stmt Rewriter::VisitWhile(const WhileNode* node) {
  PrimExpr condition = Rewrite(node->condition());
  Stmt body = Rewrite(node->body());
  if (condition == node->condition() && body == node->body()) {
    return While(node);
  }
  return While(std::move(condition), std::move(body), node->span());
}
Stmt Rewriter::VisitBufferStore(const BufferStoreNode* node) {
  PrimExpr value = Rewrite(node->value());
  std::vector<PrimExpr> indices = ListOf(node->indices());
  const bool changed = RewriteAll(indices);
  Buffer buffer = RewriteBuffer(node->buffer());
  if (!changed && value == node->value() && buffer == node->buffer()) {
    return BufferStore(node);
  }
  return BufferStore(std::move(buffer), std::move(value), std::move(indices),
                     node->span());
}
Stmt Rewriter::VisitBufferRealize(const BufferRealizeNode* node) {
  std::vector<Range> bounds = ListOf(node->bounds());
  const bool changed = RewriteAll(bounds);
  PrimExpr condition = Rewrite(node->condition());
  Stmt body = Rewrite(node->body());
  Buffer buffer = RewriteBuffer(node->buffer());
  if (!changed && condition == node->condition() && body == node->body() &&
      buffer == node->buffer()) {
    return BufferRealize(node);
  }
  return BufferRealize(std::move(buffer), std::move(bounds),
                       std::move(condition), std::move(body), node->span());
}
Stmt Rewriter::VisitAllocate(const AllocateNode* node) {
  std::vector<PrimExpr> extents = ListOf(node->extents());
  const bool changed = RewriteAll(extents);
  Stmt body = Rewrite(node->body());
  PrimExpr condition = Rewrite(node->condition());
  if (!changed && body == node->body() && condition == node->condition()) {
    return Allocate(node);
  }
  return Allocate(node->var(), node->dtype(), std::move(extents),
                  std::move(condition), node->annotations(), std::move(body),
                  node->span());
}
Stmt Rewriter::VisitAllocateConst(const AllocateConstNode* node) {
  std::vector<PrimExpr> extents = ListOf(node->extents());
  const bool changed = RewriteAll(extents);
  Stmt body = Rewrite(node->body());
  if (!changed && body == node->body()) return AllocateConst(node);
  return AllocateConst(node->var(), node->dtype(), std::move(extents),
                       node->data(), node->annotations(), std::move(body),
                       node->span());
}
Stmt Rewriter::VisitDeclBuffer(const DeclBufferNode* node) {
  Buffer buffer = RewriteBuffer(node->buffer());
  Stmt body = Rewrite(node->body());
  if (buffer == node->buffer() && body == node->body()) {
    return DeclBuffer(node);
  }
  return DeclBuffer(std::move(buffer), std::move(body), node->span());
}
Stmt Rewriter::VisitSeqStmt(const SeqStmtNode* node) {
  std::vector<Stmt> seq;
  seq.reserve(node->seq().size());
  for (const Stmt& stmt : node->seq()) AppendFlattened(Rewrite(stmt), seq);
  if (absl::MakeConstSpan(seq) == node->seq()) return SeqStmt(node);
  if (seq.size() < 2) return MakeSeq(std::move(seq));
  return SeqStmt(std::move(seq), node->span());
}
Stmt Rewriter::VisitIfThenElse(const IfThenElseNode* node) {
  PrimExpr condition = Rewrite(node->condition());
  Stmt then_case = Rewrite(node->then_case());
  Stmt else_case = Rewrite(node->else_case());
  if (condition == node->condition() && then_case == node->then_case() &&
      else_case == node->else_case()) {
    return IfThenElse(node);
  }
  return IfThenElse(std::move(condition), std::move(then_case),
                    std::move(else_case), node->span());
}
Stmt Rewriter::VisitEvaluate(const EvaluateNode* node) {
  PrimExpr value = Rewrite(node->value());
  if (value == node->value()) return Evaluate(node);
  return Evaluate(std::move(value), node->span());
}
Stmt Rewriter::VisitBlock(const BlockNode* node) {
  BlockNode::Parts parts = node->parts();
  bool changed = MapList(parts.iter_vars, [this](const IterVar& var) {
    return RewriteIterVar(var);
  });
  const auto rewrite_buffer = [this](const Buffer& buffer) {
    return RewriteBuffer(buffer);
  };
  const auto rewrite_region = [this](const BufferRegion& region) {
    return RewriteRegion(region);
  };
  changed |= MapList(parts.alloc_buffers, rewrite_buffer);
  changed |= MapList(parts.reads, rewrite_region);
  changed |= MapList(parts.writes, rewrite_region);
  changed |= MapList(parts.match_buffers, [this](const MatchRegion& match) {
    return RewriteMatch(match);
  });
  parts.init = Rewrite(node->init());
  parts.body = Rewrite(node->body());
  if (!changed && parts.init == node->init() && parts.body == node->body()) {
    return Block(node);
  }
  return Block(std::move(parts), node->span());
}
Stmt Rewriter::VisitBlockRealize(const BlockRealizeNode* node) {
  std::vector<PrimExpr> values = ListOf(node->iter_values());
  const bool changed = RewriteAll(values);
  PrimExpr predicate = Rewrite(node->predicate());
  Block block = RewriteBlock(node->block());
  if (!changed && predicate == node->predicate() && block == node->block()) {
    return BlockRealize(node);
  }
  return BlockRealize(std::move(values), std::move(predicate), std::move(block),
                      node->span());
}
Stmt Rewriter::VisitPrefetch(const PrefetchNode* node) {
  std::vector<Range> bounds = ListOf(node->bounds());
  const bool changed = RewriteAll(bounds);
  Buffer buffer = RewriteBuffer(node->buffer());
  if (!changed && buffer == node->buffer()) return Prefetch(node);
  return Prefetch(std::move(buffer), std::move(bounds), node->span());
}

// --- Functions ---------------------------------------------------------------

namespace {

// Calls one function after the visit of each node's parts.
class PostOrder final : public Visitor {
 public:
  PostOrder(absl::FunctionRef<void(const PrimExpr&)> on_expr,
            absl::FunctionRef<void(const Stmt&)> on_stmt)
      : on_expr_(on_expr), on_stmt_(on_stmt) {}

#define BATON_TIR_POST_ORDER(index, Name, sort)    \
  void Visit##Name(const Name##Node* node) final { \
    Visitor::Visit##Name(node);                    \
    on_expr_(PrimExpr(node));                      \
  }
  BATON_TIR_EXPRS(BATON_TIR_POST_ORDER)
#undef BATON_TIR_POST_ORDER
#define BATON_TIR_POST_ORDER(index, Name, sort)    \
  void Visit##Name(const Name##Node* node) final { \
    Visitor::Visit##Name(node);                    \
    on_stmt_(Stmt(node));                          \
  }
  BATON_TIR_STMTS(BATON_TIR_POST_ORDER)
#undef BATON_TIR_POST_ORDER

 private:
  absl::FunctionRef<void(const PrimExpr&)> on_expr_;
  absl::FunctionRef<void(const Stmt&)> on_stmt_;
};

class Substituter final : public Rewriter {
 public:
  explicit Substituter(VarValues value_of) : value_of_(value_of) {}

  PrimExpr VisitVar(const VarNode* node) final {
    PrimExpr value = value_of_(node);
    return value.defined() ? value : PrimExpr(node);
  }

  Stmt VisitAttrStmt(const AttrStmtNode* node) final {
    Stmt result = Rewriter::VisitAttrStmt(node);
    if (node->node().As<VarNode>() == nullptr) return result;
    PrimExpr subject = Rewrite(node->node());
    if (subject == node->node()) return result;
    const auto* attr = result.As<AttrStmtNode>();
    return AttrStmt(std::move(subject), attr->key(), attr->value(),
                    attr->body(), attr->span());
  }

  Buffer RewriteBuffer(const Buffer& buffer) final {
    if (const Buffer* known = buffers_.Find(buffer)) return *known;
    // Extents that access the buffer itself keep it.
    buffers_.Set(buffer, buffer);
    BufferNode::Parts parts = buffer->parts();
    bool changed = RewriteExtents(parts);
    const PrimExpr data = Rewrite(parts.data);
    if (const auto* var = data.As<VarNode>();
        var != nullptr && var != parts.data.get()) {
      parts.data = Var(var);
      changed = true;
    }
    Buffer result = changed ? Buffer(std::move(parts), buffer->span()) : buffer;
    buffers_.Set(buffer, result);
    return result;
  }

 private:
  VarValues value_of_;
  BufferMap buffers_;
};

class VarFinder final : public Visitor {
 public:
  explicit VarFinder(absl::FunctionRef<bool(const VarNode*)> uses)
      : uses_(uses) {}
  bool found() const { return found_; }

  void VisitVar(const VarNode* node) final { found_ = found_ || uses_(node); }
  void VisitBufferLoad(const BufferLoadNode* node) final {
    Visit(node->buffer()->data());
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) final {
    Visit(node->buffer()->data());
    Visitor::VisitBufferStore(node);
  }

 private:
  absl::FunctionRef<bool(const VarNode*)> uses_;
  bool found_ = false;
};

}  // namespace

void PostOrderVisit(const PrimExpr& root,
                    absl::FunctionRef<void(const PrimExpr&)> fn) {
  const auto ignore = [](const Stmt& /*stmt*/) {};
  PostOrder(fn, ignore).Visit(root);
}

void PostOrderVisit(const Stmt& root,
                    absl::FunctionRef<void(const PrimExpr&)> fn_expr,
                    absl::FunctionRef<void(const Stmt&)> fn_stmt) {
  PostOrder(fn_expr, fn_stmt).Visit(root);
}

PrimExpr Substitute(const PrimExpr& e, VarValues value_of) {
  return Substituter(value_of).Rewrite(e);
}
Stmt Substitute(const Stmt& stmt, VarValues value_of) {
  return Substituter(value_of).Rewrite(stmt);
}
PrimExpr Substitute(const PrimExpr& e, const NodeMap<PrimExpr>& values) {
  return Substitute(e, [&values](const VarNode* var) {
    const PrimExpr* value = values.Find(var);
    return value == nullptr ? PrimExpr() : *value;
  });
}
Stmt Substitute(const Stmt& stmt, const NodeMap<PrimExpr>& values) {
  return Substitute(stmt, [&values](const VarNode* var) {
    const PrimExpr* value = values.Find(var);
    return value == nullptr ? PrimExpr() : *value;
  });
}

bool UsesVar(const PrimExpr& e, absl::FunctionRef<bool(const VarNode*)> uses) {
  VarFinder finder(uses);
  finder.Visit(e);
  return finder.found();
}
bool UsesVar(const Stmt& stmt, absl::FunctionRef<bool(const VarNode*)> uses) {
  VarFinder finder(uses);
  finder.Visit(stmt);
  return finder.found();
}

bool UsesVar(const PrimExpr& e, const VarNode* var) {
  return UsesVar(e, [var](const VarNode* used) { return used == var; });
}
bool UsesVar(const Stmt& stmt, const VarNode* var) {
  return UsesVar(stmt, [var](const VarNode* used) { return used == var; });
}

bool HasLoad(const PrimExpr& e) {
  bool found = false;
  PostOrderVisit(e, [&found](const PrimExpr& part) {
    found = found || part.As<BufferLoadNode>() != nullptr;
  });
  return found;
}

void AppendFlattened(const Stmt& stmt, std::vector<Stmt>& seq) {
  if (!stmt.defined()) return;
  if (const auto* sequence = stmt.As<SeqStmtNode>()) {
    OnDeepStack([&] {
      for (const Stmt& part : sequence->seq()) AppendFlattened(part, seq);
    });
    return;
  }
  if (const auto* evaluate = stmt.As<EvaluateNode>();
      evaluate != nullptr && IsZero(evaluate->value())) {
    return;
  }
  seq.push_back(stmt);
}

}  // namespace baton::tir
