// The sets of variables in scope. See Analyzer::IntSetOf.

#ifndef BATON_TIR_ARITH_INT_SET_ANALYZER_H_
#define BATON_TIR_ARITH_INT_SET_ANALYZER_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The sets that nested scopes give to variables: a stack.
class ScopedIntSets {
 public:
  size_t size() const { return log_.size(); }
  // The sets of `var`, at most the last kMaxSets that were pushed.
  absl::Span<const IntSet> Find(const VarNode* var) const {
    const auto it = sets_.find(var);
    if (it == sets_.end()) return {};
    const absl::Span<const IntSet> sets = it->second;
    return sets.last(std::min(sets.size(), kMaxSets));
  }
  void Push(const Var& var, IntSet set) {
    sets_[var.get()].push_back(std::move(set));
    log_.push_back(var);
  }
  // Removes all sets but the first `size`.
  void Leave(size_t size) {
    for (; log_.size() > size; log_.pop_back()) {
      const auto it = sets_.find(log_.back().get());
      it->second.pop_back();
      if (it->second.empty()) sets_.erase(it);
    }
  }

 private:
  static constexpr size_t kMaxSets = 64;
  FlatHashMap<const VarNode*, std::vector<IntSet>> sets_;
  std::vector<Var> log_;
};

// Computes the sets of expressions.
class IntSetEvaluator {
 public:
  // `scoped` has further sets of variables, which must hold as well; null if
  // there are none.
  IntSetEvaluator(Analyzer& analyzer, const Domains& domains,
                  const ScopedIntSets* scoped = nullptr)
      : analyzer_(analyzer), domains_(domains), scoped_(scoped) {}

  IntSet Eval(const PrimExpr& e);
  IntSet Eval(const IntSet& set);
  // Records the set of each expression that is visited.
  void set_record(std::vector<std::pair<PrimExpr, IntSet>>* record) {
    record_ = record;
  }

 private:
  IntSet Visit(const PrimExpr& e);
  IntSet VisitVar(const PrimExpr& e);
  IntSet VisitBinary(const BinaryNode* node);
  // The set of `op` on elements of type `dtype`.
  IntSet Combine(BinaryOp op, DType dtype, const IntSet& a, const IntSet& b);
  IntSet Scale(BinaryOp op, const IntSet& a, const PrimExpr& factor);
  IntSet Rest(BinaryOp op, const IntSet& a, const PrimExpr& divisor);
  // Holds sums and products of 64 bits, with a sign or without.
  struct WideBound {
    __int128 min;
    __int128 max;
  };
  WideBound BoundOf(const IntSet& set, DType dtype);
  static bool IsInType(WideBound bound, DType dtype);
  bool KeepsOrder(const IntSet& set, DType from, DType to);
  bool StaysInType(BinaryOp op, const IntSet& a, const IntSet& b, DType dtype);

  Analyzer& analyzer_;
  const Domains& domains_;
  const ScopedIntSets* scoped_;
  std::vector<std::pair<PrimExpr, IntSet>>* record_ = nullptr;
  size_t depth_ = 0;
  // Bounds that depend on two variables each, and so on, would double the work
  // at each.
  static constexpr int kMaxBoundsOfBounds = 10'000;
  int bounds_of_bounds_ = 0;
};

// The sets of variables: those that Update() gives until it gives others, and
// those that conditions imply in their scopes.
class IntSets {
 public:
  explicit IntSets(Analyzer& analyzer) : analyzer_(analyzer) {}
  void Update(const Var& var, const IntSet& set) { domains_.Set(var, set); }
  IntSet Of(const PrimExpr& e) {
    return IntSetEvaluator(analyzer_, domains_, &scoped_).Eval(e);
  }
  // Adds the sets that `condition` implies. Leave(n), where n is the size()
  // before this call, removes them.
  void Enter(const PrimExpr& condition);
  size_t size() const { return scoped_.size(); }
  void Leave(size_t size) { scoped_.Leave(size); }

 private:
  Analyzer& analyzer_;
  Domains domains_;
  ScopedIntSets scoped_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_INT_SET_ANALYZER_H_
