#include "baton/tir/transform/lower_opaque_block.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/analysis/block_buffers.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
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

class BlockLowerer final : public Rewriter {
 public:
  absl::StatusOr<PrimFunc> Lower(const PrimFunc& function) {
    aligns_ = CollectDimAligns(function->body());
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

  PrimExpr VisitVar(const VarNode* var) override {
    const PrimExpr* value = unit_vars_.Find(var);
    if (value == nullptr || !value->defined()) return Var(var);
    return CastTo(var->dtype(), *value);
  }

  Stmt VisitBlockRealize(const BlockRealizeNode* realize) override {
    const BlockNode* block = realize->block().get();
    if (!realize->iter_values().empty()) {
      if (status_.ok()) {
        status_ = ErrorAt(
            block->span(),
            absl::StrCat("block ", block->name(),
                         " has variables: run tir.ConvertBlocksToOpaque "
                         "first"));
      }
      return BlockRealize(realize);
    }
    Stmt body = Rewrite(block->body());
    PrimExpr predicate = Rewrite(realize->predicate());
    if (!IsOne(predicate)) {
      body = IfThenElse(std::move(predicate), std::move(body));
    }
    for (size_t i = block->alloc_buffers().size(); i-- > 0;) {
      body = MakeAllocation(block->alloc_buffers()[i], std::move(body));
    }
    return WithPragmas(IntImm(kInt32, 0), Split(block->annotations()),
                       std::move(body));
  }

  Stmt VisitFor(const ForNode* loop) override {
    PrimExpr min = Rewrite(loop->min());
    PrimExpr extent = Rewrite(loop->extent());
    const bool is_unit = IsOne(extent) && loop->annotations().empty();
    if (is_unit) unit_vars_[loop->loop_var().get()] = min;
    Stmt body = Rewrite(loop->body());
    // A loop beside this one may have the same variable.
    if (is_unit) unit_vars_[loop->loop_var().get()] = {};
    const Annotations annotations = Split(loop->annotations());
    if (loop->for_kind() == ForKind::kThreadBinding) {
      body =
          MakeLaunch(loop, std::move(min), std::move(extent), std::move(body));
    } else if (is_unit) {
      return body;
    } else if (annotations.pragmas.empty() && min == loop->min() &&
               extent == loop->extent() && body == loop->body()) {
      return For(loop);
    } else {
      ForNode::Parts parts = loop->parts();
      parts.min = std::move(min);
      parts.extent = std::move(extent);
      parts.body = std::move(body);
      parts.annotations = Dict::Of(annotations.others);
      body = For(std::move(parts), loop->span());
    }
    return WithPragmas(loop->loop_var(), annotations, std::move(body));
  }

 private:
  Stmt MakeAllocation(const Buffer& buffer, Stmt body) {
    Dict annotations;
    const auto found = aligns_.find(buffer->data().get());
    if (found != aligns_.end()) {
      std::vector<DimAlign> aligns = found->second;
      for (DimAlign& align : aligns) align.buffer_index = -1;
      annotations = Dict::Of({{kBufferDimAlign, MakeDimAligns(aligns)}});
    }
    body = DeclBuffer(buffer, std::move(body), buffer->span());
    return Allocate(buffer->data(), buffer->dtype(), AllocationShape(buffer),
                    IntImm::Bool(true), std::move(annotations), std::move(body),
                    buffer->span());
  }

  static Stmt MakeLaunch(const ForNode* loop, PrimExpr min, PrimExpr extent,
                         Stmt body) {
    const std::string& tag = loop->thread()->thread_tag();
    const bool is_virtual = tag == "vthread" || tag == "vthread.x" ||
                            tag == "vthread.y" || tag == "vthread.z";
    const IterVar thread({std::move(min), extent}, loop->loop_var(),
                         IterVarType::kThreadIndex, tag, loop->span());
    return AttrStmt(thread, is_virtual ? "virtual_thread" : "thread_extent",
                    std::move(extent), std::move(body), loop->span());
  }

  struct Annotations {
    std::vector<Dict::Entry> pragmas;
    std::vector<Dict::Entry> others;
  };
  static Annotations Split(const Dict& dict) {
    Annotations result;
    if (dict.empty()) return result;
    for (size_t i = 0; i < dict->keys().size(); ++i) {
      const std::string& key = dict->keys()[i];
      auto& list =
          absl::StartsWith(key, "pragma_") ? result.pragmas : result.others;
      list.push_back({key, dict->values()[i]});
    }
    return result;
  }

  // Puts `body` into an attribute of `subject` for each pragma, by name.
  static Stmt WithPragmas(const PrimExpr& subject,
                          const Annotations& annotations, Stmt body) {
    for (size_t i = annotations.pragmas.size(); i-- > 0;) {
      const auto& [key, value] = annotations.pragmas[i];
      body = AttrStmt(subject, key, value, std::move(body));
    }
    return body;
  }

  FlatHashMap<const VarNode*, std::vector<DimAlign>> aligns_;
  NodeMap<PrimExpr> unit_vars_;
  absl::Status status_;
};

}  // namespace

Pass LowerOpaqueBlock() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (IsFromTeSchedule(function)) return function;
        return BlockLowerer().Lower(function);
      },
      {.name = "tir.LowerOpaqueBlock",
       .doc = "Replaces blocks by their bodies, and their buffers by "
              "allocations.",
       .needs = {"tir.opaque_blocks"},
       .invalidates = {"tir.flat_allocations"}});
}
BATON_REGISTER_PASS_AS("tir.LowerOpaqueBlock", LowerOpaqueBlock);

}  // namespace baton::tir
