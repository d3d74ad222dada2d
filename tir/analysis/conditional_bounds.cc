#include "baton/tir/analysis/conditional_bounds.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "baton/base/deep_stack.h"
#include "baton/tir/analysis/linear_inequalities.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"

namespace baton::tir {
namespace {

// Collects comparisons that are conjuncts of a condition and have integer
// variables, integers and arithmetic only.
struct Comparisons {
  std::vector<PrimExpr> list;
  std::vector<Var> vars;

  void Add(const PrimExpr& e) {
    OnDeepStack([&] {
      if (const BinaryNode* both = AsBinary(e, BinaryOp::kAnd)) {
        Add(both->a());
        Add(both->b());
        return;
      }
      if (const auto* call = e.As<CallNode>()) {
        if (call->op() == IntrinsicOp("likely")) Add(call->args()[0]);
        return;
      }
      const auto* compare = e.As<BinaryNode>();
      if (compare != nullptr && IsComparison(compare->op())) AddSimple(e);
    });
  }

 private:
  void AddSimple(const PrimExpr& comparison) {
    bool is_simple = true;
    std::vector<Var> used;
    PostOrderVisit(comparison, [&](const PrimExpr& e) {
      if (e == comparison) return;
      if (const auto* var = e.As<VarNode>()) {
        if (var->dtype().is_int() || var->dtype().is_uint()) {
          used.emplace_back(var);
        }
        return;
      }
      const auto* binary = e.As<BinaryNode>();
      is_simple =
          is_simple &&
          (e.As<IntImmNode>() != nullptr ||
           (binary != nullptr &&
            (binary->op() == BinaryOp::kAdd || binary->op() == BinaryOp::kSub ||
             binary->op() == BinaryOp::kMul ||
             binary->op() == BinaryOp::kFloorDiv ||
             binary->op() == BinaryOp::kFloorMod)));
    });
    if (!is_simple || used.empty()) return;
    for (Var& var : used) {
      if (std::find(vars.begin(), vars.end(), var) == vars.end()) {
        vars.push_back(std::move(var));
      }
    }
    list.push_back(comparison);
  }
};

// Limits of the time for an access: each condition around it is simplified, and
// inequalities are compared with each other. A condition of more nodes is
// ignored, more inequalities are not solved, and of the conditions that give no
// range only the outermost ones are kept.
constexpr size_t kMaxNodes = 1024;
constexpr size_t kMaxInequalities = 64;
constexpr size_t kMaxPending = 64;

bool IsLong(const PrimExpr& condition) {
  size_t nodes = 0;
  PostOrderVisit(condition, [&nodes](const PrimExpr& /*part*/) { ++nodes; });
  return nodes > kMaxNodes;
}

// The ranges of variables that `condition` gives; nullopt if they do not say
// all that it says.
std::optional<VarRanges> Solve(const ConditionalBounds& bounds,
                               const PrimExpr& condition) {
  Analyzer analyzer;
  const PrimExpr simplified = analyzer.Simplify(condition);
  if (simplified.As<IntImmNode>() != nullptr) return std::nullopt;
  Comparisons comparisons;
  comparisons.Add(simplified);
  if (comparisons.list.empty() || comparisons.list.size() > kMaxInequalities) {
    return std::nullopt;
  }
  VarRanges ranges;
  for (const Var& var : comparisons.vars) {
    const IntSet* domain = bounds.domains.Find(var);
    if (domain == nullptr) domain = bounds.hints.Find(var);
    if (domain == nullptr || !domain->HasLowerBound() ||
        !domain->HasUpperBound()) {
      continue;
    }
    const PrimExpr extent =
        Add(Sub(domain->max(), domain->min()), IntImm(var.dtype(), 1));
    ranges.Set(var, {domain->min(), analyzer.Simplify(extent)});
  }
  SolvedRanges solved =
      SolveInequalitiesToRange(comparisons.vars, ranges, comparisons.list);
  if (!solved.relations.empty()) return std::nullopt;
  return std::move(solved.ranges);
}

}  // namespace

ConditionalBounds::Scope::Scope(ConditionalBounds& bounds,
                                const PrimExpr& condition)
    : bounds_(bounds), num_pending_(bounds.pending.size()) {
  if (IsLong(condition)) return;
  const std::optional<VarRanges> solved = Solve(bounds, condition);
  if (!solved.has_value()) {
    if (bounds.pending.size() < kMaxPending) {
      bounds.pending.push_back(condition);
    }
    return;
  }
  for (const auto& [var, range] : *solved) {
    IntSet* known = bounds.domains.Find(var);
    if (known == nullptr) known = bounds.hints.Find(var);
    const IntSet set = IntSet::FromRange(range);
    before_.emplace_back(var, known == nullptr ? IntSet::Nothing() : *known);
    if (known == nullptr) {
      bounds.hints.Set(var, set);
    } else {
      const IntSet both[] = {*known, set};
      *known = Intersect(both);
    }
  }
}

ConditionalBounds::Scope::~Scope() {
  bounds_.pending.resize(num_pending_);
  for (auto& [var, set] : before_) {
    if (IntSet* known = bounds_.domains.Find(var)) {
      *known = std::move(set);
    } else if (set.IsNothing()) {
      bounds_.hints.Erase(var.get());
    } else {
      bounds_.hints.Set(var, std::move(set));
    }
  }
}

PrimExpr Negated(const PrimExpr& condition) {
  if (const auto* imm = condition.As<IntImmNode>()) {
    return IntImm::Bool(imm->value() == 0);
  }
  return Not(condition);
}

}  // namespace baton::tir
