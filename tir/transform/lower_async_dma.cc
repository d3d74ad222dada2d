#include "baton/tir/transform/lower_async_dma.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/hash_table.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/tir/analysis/memory_copy.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

BATON_REGISTER_CONFIG(kBypassCache, bool, "tir.experimental_dma_bypass_cache",
                      false, "Copies of tir.LowerAsyncDMA bypass the cache.");

constexpr char kWait[] = "async_wait_queue_scope";
constexpr char kInFlight[] = "async_wait_inflight_count";
constexpr char kCommit[] = "async_commit_queue_scope";

class DmaLowerer final : public AnalyzingRewriter {
 public:
  DmaLowerer(bool bypass_cache, Analyzer& analyzer)
      : AnalyzingRewriter(analyzer), bypass_cache_(bypass_cache) {}
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitFor(const ForNode* node) override {
    if (!queue_.has_value()) return AnalyzingRewriter::VisitFor(node);
    const std::optional<MemCopy> copy = IdentifyMemCopy(For(node), analyzer_);
    if (!copy.has_value() || copy->target->region().size() != 1 ||
        copy->source->region().size() != 1) {
      return AnalyzingRewriter::VisitFor(node);
    }
    queues_.insert(*queue_);
    ++copies_;
    const Range& from = copy->source->region()[0];
    const Range& to = copy->target->region()[0];
    const auto address = [](const Buffer& buffer, const PrimExpr& index) {
      return Call(kHandle, BATON_OP("tir.address_of"),
                  {BufferLoad(buffer, {index})});
    };
    const int64_t bytes = (copy->source->buffer()->dtype().bits() + 7) / 8;
    return Evaluate(
        Call(kInt32, BATON_OP("tir.dma_copy"),
             {IntImm(kInt32, *queue_), address(copy->target->buffer(), to.min),
              address(copy->source->buffer(), from.min),
              Mul(to.extent, MakeConst(to.extent.dtype(), bytes)),
              IntImm::Bool(bypass_cache_)}),
        node->span());
  }
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == kWait) return Wait(node);
    if (node->key() == kCommit) return Commit(node);
    return AnalyzingRewriter::VisitAttrStmt(node);
  }

 private:
  Stmt Wait(const AttrStmtNode* node) {
    const auto* queue = node->value().As<IntImmNode>();
    const auto* inner = node->body().As<AttrStmtNode>();
    if (queue == nullptr) return NotConstant(node);
    if (!queues_.contains(queue->value()) || inner == nullptr ||
        inner->key() != kInFlight) {
      return AnalyzingRewriter::VisitAttrStmt(node);
    }
    std::vector<Stmt> seq = {
        Evaluate(Call(kInt32, BATON_OP("tir.dma_wait"),
                      {IntImm(kInt32, queue->value()), inner->value()}))};
    AppendFlattened(Rewrite(inner->body()), seq);
    return MakeSeq(std::move(seq));
  }
  Stmt Commit(const AttrStmtNode* node) {
    const auto* queue = node->value().As<IntImmNode>();
    if (queue == nullptr) return NotConstant(node);
    queue_ = queue->value();
    copies_ = 0;
    Stmt result = AnalyzingRewriter::VisitAttrStmt(node);
    if (copies_ > 1) {
      const PrimExpr id = IntImm(kInt32, *queue_);
      result = SeqStmt(
          {Evaluate(Call(kInt32, BATON_OP("tir.dma_start_group"), {id})),
           result,
           Evaluate(Call(kInt32, BATON_OP("tir.dma_end_group"), {id}))});
    }
    queue_.reset();
    copies_ = 0;
    return result;
  }
  Stmt NotConstant(const AttrStmtNode* node) {
    if (status_.ok()) {
      status_ = ErrorAt(node->span(), "the number of a queue is not constant");
    }
    return AttrStmt(node);
  }

  const bool bypass_cache_;
  // The queue that copies are put in.
  std::optional<int64_t> queue_;
  int copies_ = 0;
  FlatHashSet<int64_t> queues_;
  absl::Status status_;
};

}  // namespace

Pass LowerAsyncDMA() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<PrimFunc> {
        Analyzer analyzer;
        DmaLowerer lowerer(context.Get(kBypassCache), analyzer);
        PrimFunc result = lowerer.RewriteBody(function);
        if (!lowerer.status().ok()) return lowerer.status();
        return result;
      },
      {.name = "tir.LowerAsyncDMA",
       .doc = "Makes asynchronous copies calls of the device."});
}
BATON_REGISTER_PASS_AS("tir.LowerAsyncDMA", LowerAsyncDMA);

}  // namespace baton::tir
