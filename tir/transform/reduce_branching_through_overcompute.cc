#include "baton/tir/transform/reduce_branching_through_overcompute.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/copy_budget.h"
#include "baton/tir/transform/known_values.h"
#include "baton/tir/transform/pass_config.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/remove_no_op.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

struct OvercomputeConfig {
  static constexpr bool kIsPassConfig = true;
  bool use_dataflow_analysis = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("use_dataflow_analysis", &OvercomputeConfig::use_dataflow_analysis,
      "Follows the values of buffers.");
  }
};
BATON_REGISTER_CONFIG(kConfig, OvercomputeConfig,
                      "tir.ReduceBranchingThroughOvercompute", {},
                      "How tir.ReduceBranchingThroughOvercompute proves.");

// Gives each branch an `else`, a place of the program where values are known.
class ElseFiller final : public Rewriter {
 public:
  // True for an `else` that was made here.
  bool Made(const Stmt& stmt) const { return made_.Contains(stmt.get()); }

 protected:
  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    Stmt result = Rewriter::VisitIfThenElse(node);
    const auto* branch = result.As<IfThenElseNode>();
    if (branch->else_case().defined()) return result;
    const Stmt filled = Evaluate(IntImm(kInt32, 0));
    kept_.push_back(filled);
    made_.Insert(filled.get());
    return IfThenElse(branch->condition(), branch->then_case(), filled,
                      branch->span());
  }

 private:
  NodeSet made_;
  std::vector<Stmt> kept_;
};

class ElseStripper final : public Rewriter {
 public:
  explicit ElseStripper(const ElseFiller& filler) : filler_(filler) {}

 protected:
  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    Stmt result = Rewriter::VisitIfThenElse(node);
    const auto* branch = result.As<IfThenElseNode>();
    if (!branch->else_case().defined() || !filler_.Made(branch->else_case())) {
      return result;
    }
    return IfThenElse(branch->condition(), branch->then_case(), {},
                      branch->span());
  }

 private:
  const ElseFiller& filler_;
};

class BranchReducer final : public AnalyzingRewriter {
 public:
  // `nodes`: the size of the function.
  BranchReducer(Analyzer& analyzer, KnownValues* known, int64_t nodes)
      : AnalyzingRewriter(analyzer),
        known_(known),
        nodes_left_(8 * nodes + 10'000) {}

 protected:
  Stmt VisitIfThenElse(const IfThenElseNode* node) override {
    const Stmt result = AnalyzingRewriter::VisitIfThenElse(node);
    const auto* branch = result.As<IfThenElseNode>();
    if (branch == nullptr) return result;
    const Stmt else_case = branch->else_case().defined()
                               ? branch->else_case()
                               : Evaluate(IntImm(kInt32, 0));
    if (IsSpecialCase(branch->condition(), else_case, branch->then_case()) &&
        MayRewrite()) {
      return else_case;
    }
    const auto* imm = branch->condition().As<IntImmNode>();
    const PrimExpr negation = imm != nullptr
                                  ? PrimExpr(IntImm::Bool(imm->value() == 0))
                                  : PrimExpr(Not(branch->condition()));
    if (IsSpecialCase(negation, branch->then_case(), else_case) &&
        MayRewrite()) {
      return branch->then_case();
    }
    return result;
  }

 private:
  // True if `general` does what `special` does where `condition` holds.
  bool IsSpecialCase(const PrimExpr& condition, const Stmt& general,
                     const Stmt& special) {
    const int64_t nodes = CountNodes(general, nodes_left_ + 1);
    nodes_left_ = std::max<int64_t>(nodes_left_ - nodes, 0);
    if (nodes_left_ == 0) return false;
    const auto scope =
        analyzer_.WithConstraint(analyzer_.RewriteSimplify(condition));
    // An attempt is not a rewrite: the gate decides about the result alone.
    RewriteGate* const gate = std::exchange(internal::rewrite_gate, nullptr);
    const Stmt result = RemoveNoOps(general, analyzer_, known_, special);
    internal::rewrite_gate = gate;
    return StructuralEqual(result, special);
  }

  KnownValues* known_;
  // The nodes that may be compared. Branches in branches are compared again for
  // each that is around them.
  int64_t nodes_left_;
};

}  // namespace

Pass ReduceBranchingThroughOvercompute() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<PrimFunc> {
        const bool follows = context.Get(kConfig).use_dataflow_analysis;
        Stmt body = function->body();
        ElseFiller filler;
        std::unique_ptr<KnownValues> known;
        if (follows) {
          body = filler.Rewrite(body);
          known = std::make_unique<KnownValues>(body);
          if (!known->status().ok()) return known->status();
        }
        Analyzer analyzer;
        const int64_t nodes =
            CountNodes(body, std::numeric_limits<int32_t>::max());
        body = BranchReducer(analyzer, known.get(), nodes).Rewrite(body);
        if (follows) body = ElseStripper(filler).Rewrite(body);
        if (StructuralEqual(body, function->body())) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = std::move(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.ReduceBranchingThroughOvercompute",
       .doc = "Computes in all cases what does no harm in some."});
}
BATON_REGISTER_PASS_AS("tir.ReduceBranchingThroughOvercompute",
                       ReduceBranchingThroughOvercompute);

}  // namespace baton::tir
