#include "baton/tir/transform/vectorize_loop.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/node_kind.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr int64_t kMaxLanes = 65535;

// Gives each lane of `var` a memory of its own in the allocation `data`:
// A[i] becomes A[i * lanes + var].
class LaneMemory final : public Rewriter {
 public:
  LaneMemory(const Var& data, const Var& var, int lanes)
      : data_(data), var_(var), lanes_(lanes) {}

 protected:
  Buffer RewriteBuffer(const Buffer& buffer) override {
    if (buffer->data() != data_ || buffer->shape().empty()) return buffer;
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      PrimExpr& last = parts.shape.back();
      last = analyzer_.Simplify(Mul(last, MakeConst(kInt32, lanes_)));
      parts.strides.clear();
    });
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    const auto* load = result.As<BufferLoadNode>();
    if (load->buffer()->data() != data_) return result;
    return BufferLoad(load->buffer(), Extended(load->indices()), load->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    const auto* store = result.As<BufferStoreNode>();
    if (store->buffer()->data() != data_) return result;
    return BufferStore(store->buffer(), store->value(),
                       Extended(store->indices()), store->span());
  }

 private:
  std::vector<PrimExpr> Extended(absl::Span<const PrimExpr> indices) {
    std::vector<PrimExpr> result(indices.begin(), indices.end());
    if (result.empty()) return result;
    result.back() = analyzer_.Simplify(
        Add(Mul(result.back(), MakeConst(kInt32, lanes_)), var_));
    return result;
  }

  const Var data_;
  const Var var_;
  const int lanes_;
  BufferMap buffers_;
  Analyzer analyzer_;
};

// Replaces the variable of a loop by the vector of its values. A statement for
// which that fails stays, and `scalarize_` says so; see Vectorizer.
class LaneRewriter : public Rewriter {
 public:
  LaneRewriter(const Var& var, int lanes)
      : var_(var),
        lanes_(lanes),
        ramp_(Ramp(IntImm(var->dtype(), 0), IntImm(var->dtype(), 1), lanes)) {}
  const absl::Status& status() const { return status_; }

 protected:
  PrimExpr VisitVar(const VarNode* node) override {
    if (node == var_.get()) return ramp_;
    const Var* vector = vector_lets_.Find(node);
    return vector != nullptr && vector->defined() ? *vector : Var(node);
  }

  PrimExpr VisitBinary(const BinaryNode* node) override {
    PrimExpr a = Rewrite(node->a());
    PrimExpr b = Rewrite(node->b());
    if (a == node->a() && b == node->b()) return Binary(node);
    const int lanes = std::max(a.dtype().lanes(), b.dtype().lanes());
    const BinaryOp op = node->op();
    if (lanes != 1 && op == BinaryOp::kMul) {
      PrimExpr ramp = ScaledRamp(a, b);
      if (!ramp.defined()) ramp = ScaledRamp(b, a);
      if (ramp.defined()) return ramp;
    }
    if (op == BinaryOp::kAdd || op == BinaryOp::kSub) {
      const auto* ramp_a = a.As<RampNode>();
      const auto* ramp_b = b.As<RampNode>();
      if (a.dtype().lanes() == 1 && ramp_b != nullptr) {
        const PrimExpr zero = MakeConst(ramp_b->stride().dtype(), 0);
        return Ramp(MakeBinary(op, a, ramp_b->base()),
                    MakeBinary(op, zero, ramp_b->stride()), ramp_b->lanes(),
                    node->span());
      }
      if (b.dtype().lanes() == 1 && ramp_a != nullptr) {
        return Ramp(MakeBinary(op, ramp_a->base(), b), ramp_a->stride(),
                    ramp_a->lanes(), node->span());
      }
      return MakeBinary(op, Widened(a, lanes), Widened(b, lanes));
    }
    return Binary(op, Widened(a, lanes), Widened(b, lanes), node->span());
  }

  PrimExpr VisitRamp(const RampNode* node) override {
    PrimExpr base = Rewrite(node->base());
    PrimExpr stride = Rewrite(node->stride());
    if (base == node->base() && stride == node->stride()) return Ramp(node);
    const auto* outer = base.As<RampNode>();
    if (outer != nullptr && stride.dtype().lanes() == 1) {
      const PrimExpr step =
          Mul(stride, MakeConst(stride.dtype(), node->lanes()));
      if (int64_t{node->lanes()} * outer->lanes() <= kMaxLanes &&
          analyzer_.CanProve(
              MakeBinary(BinaryOp::kEQ, outer->stride(), step))) {
        return Ramp(outer->base(), stride, node->lanes() * outer->lanes(),
                    node->span());
      }
    }
    const int lanes = std::max(base.dtype().lanes(), stride.dtype().lanes());
    if (int64_t{lanes} * node->lanes() > kMaxLanes) return Unchanged(node);
    base = Widened(base, lanes);
    stride = Widened(stride, lanes);
    std::vector<PrimExpr> parts;
    std::vector<PrimExpr> indices;
    for (int i = 0; i < lanes; ++i) {
      parts.push_back(Ramp(Shuffle({base}, {MakeConst(kInt32, i)}),
                           Shuffle({stride}, {MakeConst(kInt32, i)}),
                           node->lanes()));
    }
    if (lanes == 1) return parts[0];
    for (int i = 0; i < lanes * node->lanes(); ++i) {
      indices.push_back(MakeConst(kInt32, i));
    }
    return Shuffle(std::move(parts), std::move(indices), node->span());
  }

  PrimExpr VisitBroadcast(const BroadcastNode* node) override {
    PrimExpr value = Rewrite(node->value());
    if (value == node->value()) return Broadcast(node);
    if (value.dtype().lanes() != 1) return Unchanged(node);
    return Broadcast(std::move(value), node->lanes(), node->span());
  }

  PrimExpr VisitSelect(const SelectNode* node) override {
    PrimExpr condition = Rewrite(node->condition());
    PrimExpr yes = Rewrite(node->true_value());
    PrimExpr no = Rewrite(node->false_value());
    if (condition == node->condition() && yes == node->true_value() &&
        no == node->false_value()) {
      return Select(node);
    }
    const int lanes = std::max(
        {condition.dtype().lanes(), yes.dtype().lanes(), no.dtype().lanes()});
    return Select(std::move(condition), Widened(yes, lanes), Widened(no, lanes),
                  node->span());
  }

  PrimExpr VisitCast(const CastNode* node) override {
    PrimExpr value = Rewrite(node->value());
    if (value == node->value()) return Cast(node);
    const DType dtype = WithLanes(node->dtype(), value.dtype().lanes());
    return Cast(dtype, std::move(value), node->span());
  }

  PrimExpr VisitCall(const CallNode* node) override {
    const Op& if_then_else = BATON_OP("tir.if_then_else");
    const Op& texture_load = BATON_OP("tir.texture2d_load");
    const Op& texture_store = BATON_OP("tir.texture2d_store");
    if (node->op() == if_then_else && node->args().size() == 3) {
      return VisitIfThenElseCall(node);
    }
    std::vector<PrimExpr> args(node->args().begin(), node->args().end());
    if ((node->op() == texture_load || node->op() == texture_store) &&
        !args.empty()) {
      args.back() = Rewrite(args.back());
      const int lanes =
          node->op() == texture_load ? 4 : args.back().dtype().lanes();
      return Call(WithLanes(node->dtype(), lanes), node->op(), std::move(args),
                  node->span());
    }
    const Intrinsic* intrinsic = IntrinsicOf(node->op());
    const bool vectorizable = intrinsic != nullptr && intrinsic->vectorizable;
    bool changed = RewriteAll(args);
    int lanes = 0;
    for (const PrimExpr& arg : args) {
      lanes = std::max(lanes, arg.dtype().lanes());
    }
    if (!vectorizable) {
      // Vectors may be among the arguments before.
      for (const PrimExpr& arg : args) {
        if (arg.dtype().lanes() > 1) return Unchanged(node);
      }
      if (!changed) return Call(node);
      return Call(node->dtype(), node->op(), std::move(args), node->span());
    }
    for (PrimExpr& arg : args) {
      if (arg.dtype().lanes() == lanes) continue;
      arg = Widened(arg, lanes);
      changed = true;
    }
    if (!changed) return Call(node);
    return Call(WithLanes(node->dtype(), lanes), node->op(), std::move(args),
                node->span());
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    if (result.get() != node && !node->indices().empty()) {
      CheckIndices("load from ", result.As<BufferLoadNode>()->indices(), node);
    }
    return result;
  }

  PrimExpr VisitLet(const LetNode* node) override {
    PrimExpr value = Rewrite(node->value());
    const Var var = BindLet(node->var(), value);
    PrimExpr body = Rewrite(node->body());
    // The binding stays: an expression may occur several times.
    if (value == node->value() && body == node->body()) return Let(node);
    return Let(var, std::move(value), std::move(body), node->span());
  }

  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    std::vector<PrimExpr> indices(node->indices().begin(),
                                  node->indices().end());
    bool changed = RewriteAll(indices);
    PrimExpr value = Rewrite(node->value());
    changed = changed || value != node->value();
    if (!changed || indices.empty()) return BufferStore(node);
    CheckIndices("store to ", indices, node);
    // Either the indices or the value have more lanes; the last index or the
    // value is widened.
    const int other_lanes = node->buffer()->dtype().lanes();
    const int64_t all_lanes =
        int64_t{other_lanes} * indices.back().dtype().lanes();
    if (all_lanes > kMaxLanes) {
      scalarize_ = true;
      return BufferStore(node);
    }
    const int lanes =
        std::max(static_cast<int>(all_lanes), value.dtype().lanes());
    if (lanes % other_lanes != 0) {
      Fail(node->span(),
           absl::StrCat("store to ", node->buffer()->name(), ": its index has ",
                        other_lanes, " lanes, which do not divide the ", lanes,
                        " lanes of the value"));
      return BufferStore(node);
    }
    indices.back() = Widened(indices.back(), lanes / other_lanes);
    return BufferStore(node->buffer(), Widened(value, lanes),
                       std::move(indices), node->span());
  }

  Stmt VisitFor(const ForNode* node) override {
    ForNode::Parts parts = node->parts();
    parts.min = Rewrite(node->min());
    parts.extent = Rewrite(node->extent());
    if (parts.min.dtype().lanes() > 1 || parts.extent.dtype().lanes() > 1) {
      scalarize_ = true;
    }
    if (scalarize_) return For(node);
    parts.body = Rewrite(node->body());
    if (parts.min == node->min() && parts.extent == node->extent() &&
        parts.body == node->body()) {
      return For(node);
    }
    return For(std::move(parts), node->span());
  }

  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    PrimExpr condition = Rewrite(node->condition());
    if (condition.dtype().lanes() > 1) scalarize_ = true;
    if (scalarize_) return IfThenElse(node);
    Stmt then_case = Rewrite(node->then_case());
    Stmt else_case = Rewrite(node->else_case());
    if (condition == node->condition() && then_case == node->then_case() &&
        else_case == node->else_case()) {
      return IfThenElse(node);
    }
    return IfThenElse(std::move(condition), std::move(then_case),
                      std::move(else_case), node->span());
  }

  Stmt VisitWhile(const WhileNode* node) override {
    Fail(node->span(), "a while loop in a vectorized loop is not supported");
    return While(node);
  }

  Stmt VisitLetStmt(const LetStmtNode* node) override {
    PrimExpr value = Rewrite(node->value());
    if (scalarize_) return LetStmt(node);
    const Var var = BindLet(node->var(), value);
    Stmt body = Rewrite(node->body());
    vector_lets_[node->var().get()] = Var();
    if (value == node->value() && body == node->body()) return LetStmt(node);
    return LetStmt(var, std::move(value), std::move(body), node->span());
  }

  Stmt VisitAllocate(const AllocateNode* node) override {
    PrimExpr condition = Rewrite(node->condition());
    std::vector<PrimExpr> extents(node->extents().begin(),
                                  node->extents().end());
    RewriteAll(extents);
    bool is_vector = condition.dtype().lanes() > 1;
    for (const PrimExpr& extent : extents) {
      is_vector = is_vector || extent.dtype().lanes() > 1;
    }
    if (is_vector) scalarize_ = true;
    if (scalarize_) return Allocate(node);
    if (!extents.empty()) {
      extents.back() = Mul(extents.back(), MakeConst(kInt32, lanes_));
    }
    Stmt body = LaneMemory(node->var(), var_, lanes_).Rewrite(node->body());
    body = Rewrite(body);
    return Allocate(node->var(), node->dtype(), std::move(extents),
                    std::move(condition), node->annotations(), std::move(body),
                    node->span());
  }

  // True if `stmt` uses a variable of a let around it that became a vector.
  bool UsesVectorLet(const Stmt& stmt) const {
    return UsesVar(stmt, [this](const VarNode* var) {
      const Var* vector = vector_lets_.Find(var);
      return vector != nullptr && vector->defined();
    });
  }

  const Var var_;
  const int lanes_;
  // The statement that is being rewritten has no form on vectors.
  bool scalarize_ = false;

 private:
  // For an expression that has no form on vectors.
  template <typename N>
  PrimExpr Unchanged(const N* node) {
    scalarize_ = true;
    return PrimExpr(node);
  }

  // The variable in place of `var`, whose value is `value` now.
  Var BindLet(const Var& var, const PrimExpr& value) {
    if (value.dtype().lanes() == var->dtype().lanes()) return var;
    Var vector(var->name(), value.dtype(), var->span());
    vector_lets_[var.get()] = vector;
    return vector;
  }

  PrimExpr VisitIfThenElseCall(const CallNode* node) {
    PrimExpr condition = Rewrite(node->args()[0]);
    if (condition.dtype().lanes() > 1) return Unchanged(node);
    PrimExpr yes = Rewrite(node->args()[1]);
    PrimExpr no = Rewrite(node->args()[2]);
    if (condition == node->args()[0] && yes == node->args()[1] &&
        no == node->args()[2]) {
      return Call(node);
    }
    const int lanes = std::max(yes.dtype().lanes(), no.dtype().lanes());
    return Call(WithLanes(node->dtype(), lanes), node->op(),
                {std::move(condition), Widened(yes, lanes), Widened(no, lanes)},
                node->span());
  }

  // `ramp` times a positive scalar; null if that is not what they are.
  PrimExpr ScaledRamp(const PrimExpr& a, const PrimExpr& factor) {
    const auto* ramp = a.As<RampNode>();
    if (ramp == nullptr || factor.dtype().lanes() != 1) return {};
    if (!analyzer_.CanProve(
            MakeBinary(BinaryOp::kGT, factor, MakeConst(factor.dtype(), 0)))) {
      return {};
    }
    return Ramp(Mul(ramp->base(), factor), Mul(ramp->stride(), factor),
                ramp->lanes(), ramp->span());
  }

  PrimExpr Widened(const PrimExpr& e, int lanes) {
    if (e.dtype().lanes() == lanes) return e;
    const auto* broadcast = e.As<BroadcastNode>();
    if (broadcast != nullptr && lanes % broadcast->lanes() == 0) {
      return Broadcast(broadcast->value(), lanes, e->span());
    }
    if (e.dtype().lanes() != 1) {
      Fail(e->span(), absl::StrCat("a vector of ", e.dtype().lanes(),
                                   " lanes is used with one of ", lanes));
      return e;
    }
    return Broadcast(e, lanes, e->span());
  }

  // Fails if an index that is not the last one is a vector.
  template <typename Access>
  void CheckIndices(absl::string_view what, absl::Span<const PrimExpr> indices,
                    const Access* node) {
    for (const PrimExpr& index : indices.first(indices.size() - 1)) {
      if (index.dtype().lanes() == 1) continue;
      Fail(node->span(), absl::StrCat(what, node->buffer()->name(),
                                      ": only the last index can be a vector"));
    }
  }

  void Fail(const Span& span, std::string message) {
    if (!status_.ok()) return;
    status_ = ErrorAt(span, absl::StrCat("vectorized loop over ", var_->name(),
                                         ": ", message));
  }

  const PrimExpr ramp_;
  absl::Status status_;
  // Null for a let around which the visit is no more.
  NodeMap<Var> vector_lets_;
  Analyzer analyzer_;
};

// Makes a serial loop of the innermost statement that has no form on vectors
// and can be one: its lets are within it.
class Vectorizer final : public LaneRewriter {
 public:
  using LaneRewriter::LaneRewriter;

 protected:
#define BATON_TIR_SCALARIZE(index, Name, sort)           \
  Stmt Visit##Name(const Name##Node* node) override {    \
    if (scalarize_) return Stmt(node);                   \
    Stmt result = LaneRewriter::Visit##Name(node);       \
    return scalarize_ ? Scalarized(Stmt(node)) : result; \
  }
  BATON_TIR_STMTS(BATON_TIR_SCALARIZE)
#undef BATON_TIR_SCALARIZE

 private:
  Stmt Scalarized(const Stmt& stmt) {
    if (UsesVectorLet(stmt)) return stmt;  // one around it is made a loop
    scalarize_ = false;
    const Var index(absl::StrCat(var_->name(), ".s"), var_->dtype());
    return For({.loop_var = index,
                .min = IntImm(var_->dtype(), 0),
                .extent = IntImm(var_->dtype(), lanes_),
                .body = Substitute(stmt, [&](const VarNode* var) {
                  return var == var_.get() ? PrimExpr(index) : PrimExpr();
                })});
  }
};

class LoopVectorizer final : public Rewriter {
 public:
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitFor(const ForNode* node) override {
    if (node->for_kind() != ForKind::kVectorized) {
      return Rewriter::VisitFor(node);
    }
    const auto* extent = node->extent().As<IntImmNode>();
    std::string problem;
    if (!IsZero(node->min())) {
      problem = "it does not begin at 0";
    } else if (extent == nullptr) {
      problem = "its extent is not constant";
    } else if (extent->value() < 1 || extent->value() > kMaxLanes) {
      problem = absl::StrCat("its extent is ", extent->value(),
                             ", not between 1 and ", kMaxLanes);
    }
    if (problem.empty()) {
      Vectorizer vectorizer(node->loop_var(),
                            static_cast<int>(extent->value()));
      Stmt result = vectorizer.Rewrite(node->body());
      if (status_.ok()) status_ = vectorizer.status();
      return result;
    }
    if (status_.ok()) {
      status_ = ErrorAt(node->span(),
                        absl::StrCat("vectorized loop over ",
                                     node->loop_var()->name(), ": ", problem));
    }
    return For(node);
  }

 private:
  absl::Status status_;
};

class LoopSerializer final : public Rewriter {
 protected:
  Stmt VisitFor(const ForNode* node) override {
    Stmt result = Rewriter::VisitFor(node);
    if (node->for_kind() != ForKind::kVectorized) return result;
    ForNode::Parts parts = result.As<ForNode>()->parts();
    parts.kind = ForKind::kSerial;
    return For(std::move(parts), node->span());
  }
};

}  // namespace

Pass VectorizeLoop(VectorizeLoopOptions options) {
  return CreatePrimFuncPass(
      [options](PrimFunc function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (!options.enable_vectorize) {
          return LoopSerializer().RewriteBody(function);
        }
        LoopVectorizer vectorizer;
        PrimFunc result = vectorizer.RewriteBody(function);
        if (!vectorizer.status().ok()) return vectorizer.status();
        return result;
      },
      {.name = "tir.VectorizeLoop",
       .doc = "Computes all steps of a vectorized loop at once."},
      options);
}
BATON_REGISTER_PASS_AS("tir.VectorizeLoop", VectorizeLoop);

}  // namespace baton::tir
