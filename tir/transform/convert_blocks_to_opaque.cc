#include "baton/tir/transform/convert_blocks_to_opaque.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
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

class OpaqueConverter final : public Rewriter {
 public:
  absl::StatusOr<PrimFunc> Convert(const PrimFunc& function) {
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

  PrimExpr VisitVar(const VarNode* var) override {
    const Value* value = values_.Find(var);
    if (value == nullptr || value->state == Value::kEnded) {
      return Var(var);
    }
    if (value->state == Value::kForbidden) {
      Fail(var->span(),
           absl::StrCat("variable ", var->name(),
                        " is used in a value or the predicate of the block "
                        "that defines it"));
      return Var(var);
    }
    return value->expr;
  }

  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    const BlockNode* block = realize->block().get();
    if (block->init().defined()) {
      Fail(block->span(),
           absl::StrCat("block ", block->name(),
                        " has an initialization: run tir.LowerInitBlock "
                        "first"));
      return BlockRealize(realize);
    }
    for (const IterVar& var : block->iter_vars()) {
      values_[var->var().get()] = {Value::kForbidden, {}};
    }
    PrimExpr predicate = Rewrite(realize->predicate());
    std::vector<PrimExpr> values(realize->iter_values().begin(),
                                 realize->iter_values().end());
    RewriteAll(values);
    for (size_t i = 0; i < values.size(); ++i) {
      values_[block->iter_vars()[i]->var().get()] = {Value::kKnown,
                                                     std::move(values[i])};
    }
    Stmt changed = Rewriter::VisitBlock(block);
    for (const IterVar& var : block->iter_vars()) {
      values_[var->var().get()] = {Value::kEnded, {}};
    }
    const auto* inner = changed.As<BlockNode>();
    if (block->iter_vars().empty()) {
      if (inner == block && predicate == realize->predicate()) {
        return BlockRealize(realize);
      }
    } else {
      BlockNode::Parts parts = inner->parts();
      parts.iter_vars.clear();
      changed = Block(std::move(parts), block->span());
      inner = changed.As<BlockNode>();
    }
    return BlockRealize({}, std::move(predicate), Block(inner),
                        realize->span());
  }

 private:
  struct Value {
    enum State { kForbidden, kKnown, kEnded } state = kEnded;
    PrimExpr expr;
  };

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  NodeMap<Value> values_;
  absl::Status status_;
};

}  // namespace

Pass ConvertBlocksToOpaque() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        return OpaqueConverter().Convert(function);
      },
      {.name = "tir.ConvertBlocksToOpaque",
       .doc = "Replaces the variables of blocks by their values.",
       .needs = {"tir.no_initializations"},
       .establishes = {"tir.opaque_blocks"},
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.ConvertBlocksToOpaque", ConvertBlocksToOpaque);

}  // namespace baton::tir
