#include "baton/tir/arith/iter_scope.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/node_map.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

// With more joint bounds in scope, indices are not simplified.
constexpr size_t kMaxJointBounds = 64;
constexpr size_t kMaxBoundsOfIter = 64;

const BinaryNode* AsBound(const PrimExpr& e) {
  const auto* node = e.As<BinaryNode>();
  return node != nullptr && IsComparison(node->op()) &&
                 node->op() != BinaryOp::kEQ && node->op() != BinaryOp::kNE
             ? node
             : nullptr;
}

// The comparisons of a conjunction in the order in which IterMapSimplify()
// reads them. False if it does not read it.
bool ReadConjunction(PrimExpr e, std::vector<const BinaryNode*>& comparisons) {
  while (true) {
    const BinaryNode* comparison = AsBound(e);
    if (comparison != nullptr) {
      comparisons.push_back(comparison);
      return true;
    }
    const auto* conjunction = AsBinary(e, BinaryOp::kAnd);
    if (conjunction == nullptr) return false;
    PrimExpr rest = conjunction->a();
    comparison = AsBound(conjunction->b());
    if (comparison == nullptr) {
      comparison = AsBound(conjunction->a());
      rest = conjunction->b();
    }
    if (comparison == nullptr) return false;
    comparisons.push_back(comparison);
    e = std::move(rest);
  }
}

}  // namespace

bool IterScope::UsesIters(const PrimExpr& e) const {
  return UsesVar(e,
                 [this](const VarNode* var) { return index_.contains(var); });
}

void IterScope::Bind(const Var& var, const Range& range) {
  const auto [it, is_new] = index_.try_emplace(var.get(), iters_.size());
  if (is_new) iters_.push_back({var, {}});
  Iter& iter = iters_[it->second];
  if (iter.is_dependent) --num_dependent_;
  iter.range = range;
  iter.is_dependent = UsesIters(range.min) || UsesIters(range.extent);
  if (iter.is_dependent) ++num_dependent_;
}

void IterScope::Push(const PrimExpr& condition) {
  levels_.push_back({.condition = condition});
}

void IterScope::Pop() {
  const Level& level = levels_.back();
  if (level.is_read) {
    joint_.resize(level.num_joint);
    for (const Var& var : level.single_vars) {
      const auto it = single_.find(var.get());
      it->second.pop_back();
      if (it->second.empty()) single_.erase(it);
    }
    num_read_ = levels_.size() - 1;
  }
  levels_.pop_back();
}

void IterScope::AddBound(Level& level, const BinaryNode* comparison,
                         int64_t place) {
  const bool left = UsesIters(comparison->a());
  const bool right = UsesIters(comparison->b());
  if (!left && !right) return;
  const auto* var = (left ? comparison->a() : comparison->b()).As<VarNode>();
  if (left != right && var != nullptr) {
    single_[var].push_back({place, PrimExpr(comparison)});
    level.single_vars.push_back(Var(var));
  } else {
    joint_.push_back({place, PrimExpr(comparison)});
  }
}

void IterScope::Read(Level& level, Form outer) {
  level.is_read = true;
  level.num_joint = joint_.size();
  const PrimExpr& condition = level.condition;
  if (outer == Form::kUnreadable || IsOne(condition)) {
    level.form = outer;
    return;
  }
  const bool is_one = AsBound(condition) != nullptr;
  std::vector<const BinaryNode*> comparisons;
  if ((outer == Form::kSeveral && !is_one) ||
      !ReadConjunction(condition, comparisons) ||
      std::any_of(comparisons.begin(), comparisons.end(),
                  [](const BinaryNode* comparison) {
                    return !comparison->a().dtype().is_integral() ||
                           !comparison->b().dtype().is_integral();
                  })) {
    level.form = Form::kUnreadable;
    return;
  }
  level.form =
      outer == Form::kTrue && is_one ? Form::kOneComparison : Form::kSeveral;
  // After one comparison, all of a conjunction are read.
  const bool is_before = outer == Form::kOneComparison && !is_one;
  int64_t place =
      is_before ? -static_cast<int64_t>(comparisons.size()) : next_place_;
  for (auto it = comparisons.rbegin(); it != comparisons.rend(); ++it) {
    AddBound(level, *it, place++);
  }
  next_place_ = std::max(next_place_, place);
}

std::vector<PrimExpr> IterScope::Simplify(absl::Span<const PrimExpr> indices,
                                          Analyzer& analyzer) {
  for (; num_read_ < levels_.size(); ++num_read_) {
    Read(levels_[num_read_],
         num_read_ == 0 ? Form::kTrue : levels_[num_read_ - 1].form);
  }
  std::vector<PrimExpr> unchanged(indices.begin(), indices.end());
  if (num_dependent_ > 0 || joint_.size() > kMaxJointBounds ||
      (!levels_.empty() && levels_.back().form == Form::kUnreadable)) {
    return unchanged;
  }
  NodeSet seen;
  std::vector<size_t> used;
  const auto collect = [&](const PrimExpr& e) {
    PostOrderVisit(e, [&](const PrimExpr& part) {
      if (!part.Is<VarNode>() || !seen.Insert(part.get())) return;
      const auto it = index_.find(part.As<VarNode>());
      if (it != index_.end()) used.push_back(it->second);
    });
  };
  for (const PrimExpr& index : indices) collect(index);
  for (const Bound& bound : joint_) collect(bound.comparison);
  std::sort(used.begin(), used.end());
  VarRanges iters;
  Bounds bounds = joint_;
  for (const size_t i : used) {
    const Iter& iter = iters_[i];
    iters.Set(iter.var, iter.range);
    const auto it = single_.find(iter.var.get());
    if (it == single_.end()) continue;
    if (it->second.size() > kMaxBoundsOfIter) return unchanged;
    bounds.insert(bounds.end(), it->second.begin(), it->second.end());
  }
  std::sort(bounds.begin(), bounds.end(),
            [](const Bound& a, const Bound& b) { return a.place < b.place; });
  PrimExpr predicate = IntImm::Bool(true);
  for (const Bound& bound : bounds) {
    predicate = MakeBinary(BinaryOp::kAnd, predicate, bound.comparison);
  }
  return IterMapSimplify(indices, iters, predicate, IterMapLevel::kSurjective,
                         analyzer);
}

}  // namespace baton::tir
