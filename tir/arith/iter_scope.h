// IterScope: iterators with their ranges and the conditions in scope, by which
// indices are simplified.

#ifndef BATON_TIR_ARITH_ITER_SCOPE_H_
#define BATON_TIR_ARITH_ITER_SCOPE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// An operation takes time for the iterators that its expressions use, not for
// all.
class IterScope {
 public:
  // Adds an iterator, or gives it another range.
  void Bind(const Var& var, const Range& range);
  // Push() adds a condition on the iterators; Pop() removes the last one.
  void Push(const PrimExpr& condition);
  void Pop();

  // IterMapSimplify() with all iterators and conditions.
  std::vector<PrimExpr> Simplify(absl::Span<const PrimExpr> indices,
                                 Analyzer& analyzer);

 private:
  // A comparison, and its place among those of the conjunction of all
  // conditions, of which IterMapSimplify() reads the last one first.
  struct Bound {
    int64_t place;
    PrimExpr comparison;
  };
  using Bounds = std::vector<Bound>;
  // The form of the conjunction of a condition and all conditions before it.
  enum class Form { kTrue, kOneComparison, kSeveral, kUnreadable };
  struct Level {
    PrimExpr condition;
    bool is_read = false;  // the fields below are set
    Form form = Form::kTrue;
    size_t num_joint = 0;          // bounds in joint_ before it
    std::vector<Var> single_vars;  // with a bound more in single_
  };

  void Read(Level& level, Form outer);
  void AddBound(Level& level, const BinaryNode* comparison, int64_t place);
  bool UsesIters(const PrimExpr& e) const;

  struct Iter {
    Var var;
    Range range;
    bool is_dependent = false;  // the range depends on iterators
  };
  std::vector<Iter> iters_;
  FlatHashMap<const VarNode*, size_t> index_;
  size_t num_dependent_ = 0;
  std::vector<Level> levels_;
  size_t num_read_ = 0;
  int64_t next_place_ = 0;
  // Bounds of single iterators, and of expressions of iterators.
  FlatHashMap<const VarNode*, Bounds> single_;
  Bounds joint_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_ITER_SCOPE_H_
