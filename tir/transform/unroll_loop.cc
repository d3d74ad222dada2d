#include "baton/tir/transform/unroll_loop.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/tir/transform/copy_budget.h"
#include "baton/tir/transform/pass_config.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

struct UnrollLoopConfig {
  static constexpr bool kIsPassConfig = true;
  int64_t auto_max_step = 0;
  int64_t auto_max_depth = 8;
  int64_t auto_max_extent = 0;
  bool explicit_unroll = true;
  bool unroll_local_access = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("auto_max_step", &UnrollLoopConfig::auto_max_step,
      "Most steps of a serial loop that is unrolled.");
    v("auto_max_depth", &UnrollLoopConfig::auto_max_depth,
      "Most nested loops that are unrolled.");
    v("auto_max_extent", &UnrollLoopConfig::auto_max_extent,
      "Serial loops up to this extent are unrolled whatever their steps.");
    v("explicit_unroll", &UnrollLoopConfig::explicit_unroll,
      "Repeats bodies; else only marks loops as unrolled.");
    v("unroll_local_access", &UnrollLoopConfig::unroll_local_access,
      "Unrolls loops whose variable indexes memory of the scopes `local` and "
      "`warp`.");
  }
};
BATON_REGISTER_CONFIG(kConfig, UnrollLoopConfig, "tir.UnrollLoop", {},
                      "Limits of unrolling.");

bool IsRegisterScope(const Buffer& buffer) {
  const absl::string_view scope = buffer->scope();
  return absl::StartsWith(scope, "local") || absl::StartsWith(scope, "warp");
}

class Unroller final : public Rewriter {
 public:
  explicit Unroller(const UnrollLoopConfig& config) : config_(config) {}
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* value = node->value().As<IntImmNode>();
    if (value != nullptr && node->key() == "pragma_auto_unroll_max_step") {
      const int64_t outer =
          std::exchange(config_.auto_max_step, value->value());
      Stmt body = Rewrite(node->body());
      config_.auto_max_step = outer;
      return body;
    }
    if (value != nullptr && node->key() == "pragma_unroll_explicit") {
      const bool outer =
          std::exchange(config_.explicit_unroll, value->value() != 0);
      Stmt body = Rewrite(node->body());
      config_.explicit_unroll = outer;
      return body;
    }
    return Rewriter::VisitAttrStmt(node);
  }

  Stmt VisitFor(const ForNode* node) override {
    const Stmt visited = Rewriter::VisitFor(node);
    const auto* loop = visited.As<ForNode>();
    const int64_t extent = ConstantExtent(*loop);
    bool unroll = loop->for_kind() == ForKind::kSerial && extent >= 0 &&
                  normal_depth_ == 0 &&
                  unroll_depth_ <= config_.auto_max_depth &&
                  (extent * steps_ <= config_.auto_max_step ||
                   extent <= config_.auto_max_extent);
    if (loop->for_kind() == ForKind::kUnrolled) {
      if (extent < 0) {
        Fail(*loop, "the extent of an unrolled loop is not constant");
        return visited;
      }
      unroll = true;
    }
    if (extent > 0 && config_.unroll_local_access &&
        indexes_registers_.Contains(loop->loop_var().get())) {
      unroll = true;
    }
    if (unroll) {
      steps_ = Limited(steps_ * extent);
      ++unroll_depth_;
    } else {
      ++normal_depth_;
    }
    // Loops of one step are taken apart whatever their bodies.
    const bool trivial = config_.auto_max_extent == 1 && extent >= 0 &&
                         extent <= config_.auto_max_extent;
    if ((unroll && config_.explicit_unroll) || trivial) {
      return MayRewrite() ? Unroll(*loop, extent) : visited;
    }
    if (!unroll || loop->for_kind() == ForKind::kUnrolled || !MayRewrite()) {
      return visited;
    }
    ForNode::Parts parts = loop->parts();
    parts.kind = ForKind::kUnrolled;
    return For(std::move(parts), loop->span());
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    NoteIndices(node->buffer(), node->indices());
    return BufferLoad(node);
  }

  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    ++steps_;
    NoteIndices(node->buffer(), node->indices());
    return Rewriter::VisitBufferStore(node);
  }

  Stmt VisitEvaluate(const EvaluateNode* node) override {
    ++steps_;
    return Rewriter::VisitEvaluate(node);
  }

  Stmt VisitSeqStmt(const SeqStmtNode* node) override {
    bool changed = false;
    std::vector<Stmt> seq;
    for (const Stmt& stmt : node->seq()) {
      const int64_t steps = std::exchange(steps_, 0);
      const int64_t unroll_depth = std::exchange(unroll_depth_, 0);
      const int64_t normal_depth = std::exchange(normal_depth_, 0);
      Stmt result = Rewrite(stmt);
      steps_ = Limited(steps_ + steps);
      unroll_depth_ = std::max(unroll_depth_, unroll_depth);
      normal_depth_ = std::max(normal_depth_, normal_depth);
      changed = changed || result != stmt;
      if (const auto* nested = result.As<SeqStmtNode>()) {
        seq.insert(seq.end(), nested->seq().begin(), nested->seq().end());
      } else {
        seq.push_back(std::move(result));
      }
    }
    return changed ? SeqStmt(std::move(seq), node->span()) : SeqStmt(node);
  }

 private:
  // -1 if it is not constant, or too large to unroll.
  int64_t ConstantExtent(const ForNode& loop) {
    PrimExpr extent = loop.extent();
    if (extent.As<IntImmNode>() == nullptr) extent = analyzer_.Simplify(extent);
    const auto* imm = extent.As<IntImmNode>();
    if (imm == nullptr || imm->value() > std::numeric_limits<int32_t>::max()) {
      return -1;
    }
    return imm->value();
  }

  // Products of extents may exceed any integer; all large ones are equal here.
  static int64_t Limited(int64_t steps) {
    return std::min(steps, int64_t{1} << 31);
  }

  void NoteIndices(const Buffer& buffer, absl::Span<const PrimExpr> indices) {
    if (!config_.unroll_local_access || !IsRegisterScope(buffer)) return;
    for (const PrimExpr& index : indices) {
      PostOrderVisit(index, [this](const PrimExpr& e) {
        if (e.As<VarNode>() != nullptr) indexes_registers_.Insert(e.get());
      });
    }
  }

  Stmt Unroll(const ForNode& loop, int64_t extent) {
    if (status_.ok()) {
      status_ = budget_.Take(loop.body(), extent - 1, loop.span());
    }
    if (!status_.ok()) return Stmt(&loop);
    std::vector<Stmt> steps;
    for (int64_t i = 0; i < extent; ++i) {
      const PrimExpr value =
          Add(loop.min(), MakeConst(loop.loop_var()->dtype(), i));
      AppendFlattened(
          Substitute(loop.body(),
                     [&](const VarNode* var) {
                       return var == loop.loop_var().get() ? value : PrimExpr();
                     }),
          steps);
    }
    return MakeSeq(std::move(steps));
  }

  void Fail(const ForNode& loop, absl::string_view message) {
    if (!status_.ok()) return;
    status_ = ErrorAt(
        loop.span(),
        absl::StrCat("loop over ", loop.loop_var()->name(), ": ", message));
  }

  UnrollLoopConfig config_;
  absl::Status status_;
  CopyBudget budget_{"tir.UnrollLoop"};
  // The statements of the current sequence that were visited so far have these
  // depths and this number of steps.
  int64_t normal_depth_ = 0;  // nested loops that stay
  int64_t unroll_depth_ = 0;  // nested loops that are unrolled
  int64_t steps_ = 0;
  NodeSet indexes_registers_;
  Analyzer analyzer_;
};

}  // namespace

Pass UnrollLoop() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<PrimFunc> {
        Unroller unroller(context.Get(kConfig));
        Stmt body = unroller.Rewrite(function->body());
        if (!unroller.status().ok()) return unroller.status();
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = ConvertSSA(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.UnrollLoop",
       .doc = "Repeats the bodies of loops that are to be unrolled."});
}
BATON_REGISTER_PASS_AS("tir.UnrollLoop", UnrollLoop);

}  // namespace baton::tir
