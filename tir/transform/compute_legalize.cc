#include "baton/tir/transform/compute_legalize.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/float_bits.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

using TypePredicate = bool (*)(DType dtype);

bool HasConstantSize(const AllocateNode& alloc) {
  for (const PrimExpr& extent : alloc.extents()) {
    if (extent.As<IntImmNode>() == nullptr || IsZero(extent)) return false;
  }
  return true;
}

// Finds the memory that can have another type: allocations of constant size
// that are accessed as buffers of their type only.
class Planner final : public Visitor {
 public:
  Planner(TypePredicate matches, DType promoted)
      : matches_(matches), promoted_(promoted) {}

  const std::vector<Var>& allocations() const { return allocations_; }
  // The new pointer of an allocation; null if it keeps its type.
  Var Find(const Var& var) const {
    const Var* found = vars_.Find(var.get());
    return found == nullptr || opaque_.Contains(var.get()) ? Var() : *found;
  }

 protected:
  void VisitAllocate(const AllocateNode* node) override {
    if (matches_(node->dtype()) && HasConstantSize(*node)) {
      vars_[node->var().get()] = Var::Pointer(
          node->var()->name(), WithLanes(promoted_, node->dtype().lanes()),
          node->var()->scope(), node->var()->span());
      allocations_.push_back(node->var());
    }
    Visitor::VisitAllocate(node);
  }
  void VisitVar(const VarNode* node) override { opaque_.Insert(node); }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Access(node->buffer());
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    Access(node->buffer());
    Visitor::VisitBufferStore(node);
  }

 private:
  void Access(const Buffer& buffer) {
    if (!matches_(buffer->dtype())) opaque_.Insert(buffer->data().get());
  }

  const TypePredicate matches_;
  const DType promoted_;
  NodeMap<Var> vars_;
  NodeSet opaque_;
  std::vector<Var> allocations_;
};

class ComputeLegalizer final : public Rewriter {
 public:
  ComputeLegalizer(TypePredicate matches, DType promoted, const Stmt& body)
      : matches_(matches), promoted_(promoted) {
    Planner planner(matches, promoted);
    planner.Visit(body);
    for (const Var& var : planner.allocations()) {
      Var changed = planner.Find(var);
      if (changed.defined()) vars_[var.get()] = std::move(changed);
    }
  }

 protected:
  PrimExpr VisitVar(const VarNode* node) override {
    const Var* var = vars_.Find(node);
    return var == nullptr ? Var(node) : *var;
  }
  PrimExpr VisitFloatImm(const FloatImmNode* node) override {
    if (!matches_(node->dtype())) return FloatImm(node);
    return FloatImm(promoted_, node->value(), node->span());
  }
  PrimExpr VisitCast(const CastNode* node) override {
    PrimExpr value = Promoted(node->value());
    if (matches_(node->dtype())) {
      return CastTo(PromotedType(node->dtype()), std::move(value));
    }
    if (value == node->value()) return Cast(node);
    return CastTo(node->dtype(), std::move(value));
  }
  PrimExpr VisitBinary(const BinaryNode* node) override {
    if (!matches_(node->a().dtype())) return Rewriter::VisitBinary(node);
    return MakeBinary(node->op(), Promoted(node->a()), Promoted(node->b()));
  }
  PrimExpr VisitSelect(const SelectNode* node) override {
    PrimExpr condition = Rewrite(node->condition());
    PrimExpr yes = Promoted(node->true_value());
    PrimExpr no = Promoted(node->false_value());
    if (condition == node->condition() && yes == node->true_value() &&
        no == node->false_value()) {
      return Select(node);
    }
    return Select(std::move(condition), std::move(yes), std::move(no),
                  node->span());
  }
  PrimExpr VisitBroadcast(const BroadcastNode* node) override {
    PrimExpr value = Promoted(node->value());
    if (value == node->value()) return Broadcast(node);
    return Broadcast(std::move(value), node->lanes(), node->span());
  }
  PrimExpr VisitShuffle(const ShuffleNode* node) override {
    std::vector<PrimExpr> vectors(node->vectors().begin(),
                                  node->vectors().end());
    if (!PromoteAll(vectors)) return Shuffle(node);
    return Shuffle(std::move(vectors),
                   {node->indices().begin(), node->indices().end()},
                   node->span());
  }
  PrimExpr VisitCall(const CallNode* node) override {
    // The bits of a value stay.
    if (node->op() == BATON_OP("tir.reinterpret")) {
      return Rewriter::VisitCall(node);
    }
    std::vector<PrimExpr> args(node->args().begin(), node->args().end());
    const bool changed = PromoteAll(args);
    if (matches_(node->dtype())) {
      return Call(PromotedType(node->dtype()), node->op(), std::move(args),
                  node->span());
    }
    if (!changed) return Call(node);
    return Call(node->dtype(), node->op(), std::move(args), node->span());
  }
  PrimExpr VisitLet(const LetNode* node) override {
    PrimExpr value = Promoted(node->value());
    const Var var = Bind(node->var(), value);
    PrimExpr body = Rewrite(node->body());
    if (value == node->value() && body == node->body()) return Let(node);
    return Let(var, std::move(value), std::move(body), node->span());
  }
  Stmt VisitLetStmt(const LetStmtNode* node) override {
    PrimExpr value = Promoted(node->value());
    const Var var = Bind(node->var(), value);
    Stmt body = Rewrite(node->body());
    if (value == node->value() && body == node->body()) return LetStmt(node);
    return LetStmt(var, std::move(value), std::move(body), node->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    PrimExpr value = Rewrite(node->value());
    std::vector<PrimExpr> indices(node->indices().begin(),
                                  node->indices().end());
    bool changed = RewriteAll(indices);
    Buffer buffer = RewriteBuffer(node->buffer());
    const DType dtype = WithLanes(buffer->dtype(), value.dtype().lanes());
    if (matches_(buffer->dtype())) {
      if (value.dtype() == WithLanes(promoted_, value.dtype().lanes())) {
        value = ConvertFloat(value, dtype);
      }
    } else if (value.dtype() != dtype) {
      value = CastTo(dtype, std::move(value));
    }
    changed = changed || value != node->value() || buffer != node->buffer();
    if (!changed) return BufferStore(node);
    return BufferStore(std::move(buffer), std::move(value), std::move(indices),
                       node->span());
  }
  Stmt VisitAllocate(const AllocateNode* node) override {
    Stmt result = Rewriter::VisitAllocate(node);
    const Var* var = vars_.Find(node->var().get());
    if (var == nullptr) return result;
    const auto* alloc = result.As<AllocateNode>();
    return Allocate(*var, (*var)->element(),
                    {alloc->extents().begin(), alloc->extents().end()},
                    alloc->condition(), alloc->annotations(), alloc->body(),
                    alloc->span());
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    Stmt result = Rewriter::VisitAttrStmt(node);
    if (node->node().As<VarNode>() == nullptr &&
        node->node().As<BufferNode>() == nullptr) {
      return result;
    }
    PrimExpr subject = Rewrite(node->node());
    if (subject == node->node()) return result;
    const auto* attr = result.As<AttrStmtNode>();
    return AttrStmt(std::move(subject), attr->key(), attr->value(),
                    attr->body(), attr->span());
  }
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Var* var = vars_.Find(buffer->data().get());
    if (var == nullptr) return buffer;
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      parts.data = *var;
      parts.dtype = PromotedType(buffer->dtype());
    });
  }

 private:
  DType PromotedType(DType dtype) const {
    return WithLanes(promoted_, dtype.lanes());
  }

  // `e` rewritten, and converted if it still has the type.
  PrimExpr Promoted(const PrimExpr& e) {
    PrimExpr value = Rewrite(e);
    if (!matches_(value.dtype())) return value;
    const DType dtype = PromotedType(value.dtype());
    const auto* cast = value.As<CastNode>();
    if (cast != nullptr && cast->value().dtype() == dtype) {
      return cast->value();
    }
    return ConvertFloat(value, dtype);
  }
  bool PromoteAll(std::vector<PrimExpr>& list) {
    bool changed = false;
    for (PrimExpr& e : list) {
      PrimExpr value = Promoted(e);
      if (value == e) continue;
      e = std::move(value);
      changed = true;
    }
    return changed;
  }
  Var Bind(const Var& var, const PrimExpr& value) {
    if (value.dtype() == var->dtype()) return var;
    Var changed(var->name(), value.dtype(), var->span());
    vars_[var.get()] = changed;
    return changed;
  }

  const TypePredicate matches_;
  const DType promoted_;
  NodeMap<Var> vars_;
  BufferMap buffers_;
};

Pass LegalizeCompute(std::string name, std::string doc, TypePredicate matches,
                     DType promoted, PassOptions options = {}) {
  return CreatePrimFuncPass(
      [matches, promoted](
          PrimFunc function, const IRModule& /*module*/,
          const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (promoted.code() != DType::Code::kFloat || promoted.lanes() != 1 ||
            promoted.bits() < 16) {
          return absl::InvalidArgumentError(
              absl::StrCat("cannot compute in ", promoted.ToString(),
                           ": give float16, float32 or float64"));
        }
        return ComputeLegalizer(matches, promoted, function->body())
            .RewriteBody(function);
      },
      {.name = std::move(name),
       .doc = std::move(doc),
       .exact = false,
       .tolerance = 2e-2},
      std::move(options));
}

}  // namespace

Pass BF16ComputeLegalize() {
  return LegalizeCompute("tir.BF16ComputeLegalize",
                         "Computes in float32 what is computed in bfloat16.",
                         IsBFloat16, DType::Float(32));
}
BATON_REGISTER_PASS_AS("tir.BF16ComputeLegalize", BF16ComputeLegalize);

Pass FP8ComputeLegalize(FP8ComputeLegalizeOptions options) {
  return LegalizeCompute(
      "tir.FP8ComputeLegalize",
      "Computes in another floating-point type what is computed in eight bits.",
      IsFloat8, options.promote_dtype_str, options);
}
BATON_REGISTER_PASS_AS("tir.FP8ComputeLegalize", FP8ComputeLegalize);

}  // namespace baton::tir
