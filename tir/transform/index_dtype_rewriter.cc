#include "baton/tir/transform/index_dtype_rewriter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

DType WithBits(DType dtype, int bits) {
  return DType(dtype.code(), bits, dtype.lanes());
}

bool BindsThread(const AttrStmtNode& attr) {
  return attr.key() == "thread_extent" || attr.key() == "virtual_thread";
}

// The value of a shift or bit operation on two constants; null if they are
// none.
PrimExpr FoldBits(const Expr& op, const PrimExpr& a, const PrimExpr& b) {
  const auto* x = a.As<IntImmNode>();
  const auto* y = b.As<IntImmNode>();
  if (x == nullptr || y == nullptr || a.dtype() != b.dtype() ||
      !a.dtype().is_int()) {
    return {};
  }
  int64_t result = 0;
  if (op == BATON_OP("tir.bitwise_and")) {
    result = x->value() & y->value();
  } else if (op == BATON_OP("tir.bitwise_or")) {
    result = x->value() | y->value();
  } else if (op == BATON_OP("tir.bitwise_xor")) {
    result = x->value() ^ y->value();
  } else if (y->value() < 0 || y->value() >= a.dtype().bits()) {
    return {};
  } else if (op == BATON_OP("tir.shift_right")) {
    result = x->value() >> y->value();
  } else {
    result =
        static_cast<int64_t>(static_cast<uint64_t>(x->value()) << y->value());
  }
  return IntImm(a.dtype(), WrapToDType(result, a.dtype()));
}

bool MatchesOperands(const Expr& op) {
  return op == BATON_OP("tir.shift_right") ||
         op == BATON_OP("tir.shift_left") ||
         op == BATON_OP("tir.bitwise_and") ||
         op == BATON_OP("tir.bitwise_or") || op == BATON_OP("tir.bitwise_xor");
}

}  // namespace

PrimExpr IndexDTypeRewriter::RewriteIndex(const PrimExpr& e) {
  return Enabled([&] { return Rewrite(e); });
}

PrimExpr IndexDTypeRewriter::RewriteCondition(const PrimExpr& e) {
  const bool outer = std::exchange(condition_, true);
  PrimExpr result = Rewrite(e);
  condition_ = outer;
  return result;
}

bool IndexDTypeRewriter::RewriteIndices(std::vector<PrimExpr>& indices) {
  return Enabled([&] { return RewriteAll(indices); });
}

Var IndexDTypeRewriter::RewriteVar(const Var& var) {
  const PrimExpr result = Rewrite(var);
  const auto* node = result.As<VarNode>();
  return node == nullptr ? var : Var(node);
}

PrimExpr IndexDTypeRewriter::VisitVar(const VarNode* node) {
  const Var* var = vars_.Find(node);
  return var == nullptr ? Var(node) : *var;
}

PrimExpr IndexDTypeRewriter::Rebuilt(const BinaryNode* node, PrimExpr a,
                                     PrimExpr b) {
  if (a == node->a() && b == node->b() && a.dtype() == b.dtype()) {
    return Binary(node);
  }
  if (node->op() == BinaryOp::kAnd || node->op() == BinaryOp::kOr) {
    return Binary(node->op(), std::move(a), std::move(b), node->span());
  }
  return MakeBinary(node->op(), std::move(a), std::move(b));
}

PrimExpr IndexDTypeRewriter::VisitBinary(const BinaryNode* node) {
  const bool outer = enabled_;
  if (IsComparison(node->op())) {
    enabled_ =
        condition_ && node->a().dtype().is_int() && node->b().dtype().is_int();
  }
  PrimExpr a = Rewrite(node->a());
  PrimExpr b = Rewrite(node->b());
  enabled_ = outer;
  return Rebuilt(node, std::move(a), std::move(b));
}

PrimExpr IndexDTypeRewriter::VisitSelect(const SelectNode* node) {
  PrimExpr condition = Rewrite(node->condition());
  PrimExpr yes = Rewrite(node->true_value());
  PrimExpr no = Rewrite(node->false_value());
  if (condition == node->condition() && yes == node->true_value() &&
      no == node->false_value()) {
    return Select(node);
  }
  const DType dtype =
      WithBits(yes.dtype(), std::max(yes.dtype().bits(), no.dtype().bits()));
  return Select(std::move(condition), CastTo(dtype, std::move(yes)),
                CastTo(dtype, std::move(no)), node->span());
}

PrimExpr IndexDTypeRewriter::VisitRamp(const RampNode* node) {
  PrimExpr base = Rewrite(node->base());
  PrimExpr stride = Rewrite(node->stride());
  if (base == node->base() && stride == node->stride()) return Ramp(node);
  const int bits = std::max(base.dtype().bits(), stride.dtype().bits());
  return Ramp(CastTo(WithBits(base.dtype(), bits), base),
              CastTo(WithBits(stride.dtype(), bits), stride), node->lanes(),
              node->span());
}

PrimExpr IndexDTypeRewriter::VisitCall(const CallNode* node) {
  if (node->op() == BATON_OP("tir.if_then_else") && node->args().size() == 3) {
    PrimExpr condition = RewriteCondition(node->args()[0]);
    PrimExpr yes = Rewrite(node->args()[1]);
    PrimExpr no = Rewrite(node->args()[2]);
    MatchTypes(yes, no);
    if (const auto* imm = condition.As<IntImmNode>()) {
      return imm->value() != 0 ? yes : no;
    }
    if (condition == node->args()[0] && yes == node->args()[1] &&
        no == node->args()[2]) {
      return Call(node);
    }
    const DType dtype = yes.dtype();
    return Call(dtype, node->op(),
                {std::move(condition), std::move(yes), std::move(no)},
                node->span());
  }
  PrimExpr result = Rewriter::VisitCall(node);
  const auto* call = result.As<CallNode>();
  const bool is_power = node->op() == BATON_OP("tir.pow");
  if (call->args().size() != 2 || (!is_power && !MatchesOperands(call->op()))) {
    return result;
  }
  PrimExpr a = call->args()[0];
  PrimExpr b = call->args()[1];
  MatchTypes(a, b);
  if (!is_power) {
    PrimExpr folded = FoldBits(call->op(), a, b);
    if (folded.defined()) return folded;
  }
  if (a == call->args()[0] && b == call->args()[1] &&
      a.dtype() == call->dtype()) {
    return result;
  }
  const DType dtype = a.dtype();
  return Call(dtype, call->op(), {std::move(a), std::move(b)}, call->span());
}

PrimExpr IndexDTypeRewriter::VisitBufferLoad(const BufferLoadNode* node) {
  std::vector<PrimExpr> indices(node->indices().begin(), node->indices().end());
  Buffer buffer = RewriteBuffer(node->buffer());
  if (!RewriteIndices(indices) && buffer == node->buffer()) {
    return BufferLoad(node);
  }
  return BufferLoad(std::move(buffer), std::move(indices), node->span());
}

Stmt IndexDTypeRewriter::VisitFor(const ForNode* node) {
  ForNode::Parts parts = node->parts();
  Enabled([&] {
    parts.loop_var = RewriteVar(node->loop_var());
    parts.min = Rewrite(node->min());
    parts.extent = Rewrite(node->extent());
    return true;
  });
  parts.body = Rewrite(node->body());
  if (parts.loop_var == node->loop_var() && parts.min == node->min() &&
      parts.extent == node->extent() && parts.body == node->body()) {
    return For(node);
  }
  const DType dtype = parts.loop_var->dtype();
  parts.min = CastTo(dtype, std::move(parts.min));
  parts.extent = CastTo(dtype, std::move(parts.extent));
  return For(std::move(parts), node->span());
}

Stmt IndexDTypeRewriter::VisitAttrStmt(const AttrStmtNode* node) {
  Stmt result = Rewriter::VisitAttrStmt(node);
  const auto* thread = node->node().As<IterVarNode>();
  if (thread == nullptr || !BindsThread(*node)) return result;
  const auto* attr = result.As<AttrStmtNode>();
  const Var var = RewriteVar(thread->var());
  const DType dtype = var->dtype();
  if (var == thread->var() && attr->value().dtype() == dtype) return result;
  IterVar& replaced = threads_[thread];
  if (!replaced.defined()) {
    Range dom = {thread->min(), thread->extent()};
    if (dom.extent.defined()) {
      dom = {CastTo(dtype, dom.min), CastTo(dtype, dom.extent)};
    }
    replaced = IterVar(std::move(dom), var, thread->iter_type(),
                       thread->thread_tag(), thread->span());
  }
  return AttrStmt(replaced, attr->key(), CastTo(dtype, attr->value()),
                  attr->body(), attr->span());
}

Stmt IndexDTypeRewriter::VisitLetStmt(const LetStmtNode* node) {
  PrimExpr value = Rewrite(node->value());
  Var var = node->var();
  if (value.dtype() != var->dtype()) {
    var = Var(new VarNode(var->name(), value.dtype(), var->is_size(), false, {},
                          {}, var->span()));
    vars_[node->var().get()] = var;
  }
  Stmt body = Rewrite(node->body());
  if (value == node->value() && body == node->body()) return LetStmt(node);
  return LetStmt(var, std::move(value), std::move(body), node->span());
}

Stmt IndexDTypeRewriter::VisitAllocate(const AllocateNode* node) {
  std::vector<PrimExpr> extents(node->extents().begin(), node->extents().end());
  const bool changed = RewriteIndices(extents);
  PrimExpr condition = RewriteIndex(node->condition());
  Stmt body = Rewrite(node->body());
  if (!changed && condition == node->condition() && body == node->body()) {
    return Allocate(node);
  }
  return Allocate(node->var(), node->dtype(), std::move(extents),
                  std::move(condition), node->annotations(), std::move(body),
                  node->span());
}

Stmt IndexDTypeRewriter::VisitDeclBuffer(const DeclBufferNode* node) {
  Buffer buffer = DefineBuffer(node->buffer());
  Stmt body = Rewrite(node->body());
  if (buffer == node->buffer() && body == node->body()) {
    return DeclBuffer(node);
  }
  return DeclBuffer(std::move(buffer), std::move(body), node->span());
}

Stmt IndexDTypeRewriter::VisitBufferStore(const BufferStoreNode* node) {
  Buffer buffer = RewriteBuffer(node->buffer());
  PrimExpr value = Rewrite(node->value());
  if (value.dtype() != buffer->dtype() && value.dtype().lanes() == 1) {
    value = CastTo(buffer->dtype(), std::move(value));
  }
  std::vector<PrimExpr> indices(node->indices().begin(), node->indices().end());
  if (!RewriteIndices(indices) && buffer == node->buffer() &&
      value == node->value()) {
    return BufferStore(node);
  }
  return BufferStore(std::move(buffer), std::move(value), std::move(indices),
                     node->span());
}

Stmt IndexDTypeRewriter::VisitIfThenElse(const IfThenElseNode* node) {
  PrimExpr condition = RewriteCondition(node->condition());
  Stmt then_case = Rewrite(node->then_case());
  Stmt else_case = Rewrite(node->else_case());
  if (condition == node->condition() && then_case == node->then_case() &&
      else_case == node->else_case()) {
    return IfThenElse(node);
  }
  return IfThenElse(std::move(condition), std::move(then_case),
                    std::move(else_case), node->span());
}

BufferRegion IndexDTypeRewriter::RewriteAccess(const BufferRegion& region) {
  return Enabled([&] { return RewriteRegion(region); });
}

Stmt IndexDTypeRewriter::VisitBlock(const BlockNode* node) {
  BlockNode::Parts parts = node->parts();
  for (Buffer& buffer : parts.alloc_buffers) buffer = DefineBuffer(buffer);
  for (MatchRegion& match : parts.match_buffers) {
    Buffer buffer = DefineBuffer(match->buffer());
    BufferRegion source = RewriteAccess(match->source());
    if (buffer == match->buffer() && source == match->source()) continue;
    match = MatchRegion(std::move(buffer), std::move(source), match->span());
  }
  for (BufferRegion& region : parts.reads) region = RewriteAccess(region);
  for (BufferRegion& region : parts.writes) region = RewriteAccess(region);
  for (IterVar& iter : parts.iter_vars) {
    const Var var = Enabled([&] { return RewriteVar(iter->var()); });
    const DType dtype = var->dtype();
    PrimExpr min = CastTo(dtype, RewriteIndex(iter->min()));
    PrimExpr extent = CastTo(dtype, RewriteIndex(iter->extent()));
    if (var == iter->var() && min == iter->min() && extent == iter->extent()) {
      continue;
    }
    iter = IterVar({std::move(min), std::move(extent)}, var, iter->iter_type(),
                   iter->thread_tag(), iter->span());
  }
  parts.init = Rewrite(node->init());
  if (parts.annotations.defined()) {
    parts.annotations = RewriteDict(parts.annotations);
  }
  parts.body = Rewrite(node->body());
  const BlockNode::Parts old = node->parts();
  const bool changed = parts.init != old.init || parts.body != old.body ||
                       parts.annotations != old.annotations ||
                       parts.reads != old.reads || parts.writes != old.writes ||
                       parts.iter_vars != old.iter_vars ||
                       parts.alloc_buffers != old.alloc_buffers ||
                       parts.match_buffers != old.match_buffers;
  return changed ? Block(std::move(parts), node->span()) : Block(node);
}

Stmt IndexDTypeRewriter::VisitBlockRealize(const BlockRealizeNode* node) {
  PrimExpr predicate = RewriteCondition(node->predicate());
  std::vector<PrimExpr> values(node->iter_values().begin(),
                               node->iter_values().end());
  bool changed = RewriteIndices(values);
  Block block = RewriteBlock(node->block());
  for (size_t i = 0; i < values.size(); ++i) {
    const DType dtype = block->iter_vars()[i]->var()->dtype();
    if (values[i].dtype() == dtype) continue;
    values[i] = CastTo(dtype, values[i]);
    changed = true;
  }
  if (!changed && predicate == node->predicate() && block == node->block()) {
    return BlockRealize(node);
  }
  return BlockRealize(std::move(values), std::move(predicate), std::move(block),
                      node->span());
}

Buffer IndexDTypeRewriter::RewriteBuffer(const Buffer& buffer) {
  const Buffer* replaced = buffers_.Find(buffer);
  return replaced == nullptr ? buffer : *replaced;
}

Buffer IndexDTypeRewriter::DefineBuffer(const Buffer& buffer) {
  BufferNode::Parts parts = buffer->parts();
  bool changed = RewriteIndices(parts.shape);
  changed |= RewriteIndices(parts.strides);
  parts.elem_offset = RewriteIndex(parts.elem_offset);
  if (!changed && parts.elem_offset == buffer->elem_offset()) return buffer;
  Buffer result(std::move(parts), buffer->span());
  buffers_.Set(buffer, result);
  return result;
}

}  // namespace baton::tir
