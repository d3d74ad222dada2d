// Analyzes and simplifies integer expressions.
//
//   Analyzer analyzer;
//   analyzer.Bind(i, Range{zero, IntImm(kInt32, 8)});
//   analyzer.Simplify(e);                    // (i + 8) // 8 is 1
//   auto scope = analyzer.WithConstraint(i < n);
//   analyzer.CanProve(i + 1 <= n);           // true until `scope` ends
//
// Results are those of TVM's analyzer: simplified expressions have the same
// form. Integers of 32 and 64 bits are taken as integers without overflow, as
// TVM takes indices.

#ifndef BATON_TIR_ARITH_ANALYZER_H_
#define BATON_TIR_ARITH_ANALYZER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "baton/ir/node_map.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"

namespace baton::tir {

// The constants between which a value lies, both included.
struct ConstIntBound {
  static constexpr int64_t kPosInf = std::numeric_limits<int64_t>::max();
  static constexpr int64_t kNegInf = -kPosInf;
  int64_t min = kNegInf;
  int64_t max = kPosInf;
  friend bool operator==(const ConstIntBound&, const ConstIntBound&) = default;
};

// The values `coeff * k + base` for integers k; `coeff` 0: the constant `base`.
struct ModularSet {
  int64_t coeff = 1;
  int64_t base = 0;
  friend bool operator==(const ModularSet&, const ModularSet&) = default;
};

enum class ProofStrength {
  kDefault,
  kSymbolicBound,  // compares symbolic bounds of both sides, too
};

// The result of a comparison, as a set of possible outcomes.
enum class CompareResult : uint8_t {
  kInconsistent = 0,
  kEQ = 1,
  kLT = 2,
  kLE = 3,
  kGT = 4,
  kGE = 5,
  kNE = 6,
  kUnknown = 7,
};
constexpr CompareResult operator&(CompareResult a, CompareResult b) {
  return static_cast<CompareResult>(static_cast<int>(a) & static_cast<int>(b));
}
constexpr CompareResult operator|(CompareResult a, CompareResult b) {
  return static_cast<CompareResult>(static_cast<int>(a) | static_cast<int>(b));
}

class Analyzer {
 public:
  // Extensions of RewriteSimplify() that take more time; a set of bits.
  enum Extension : unsigned {
    kNoExtension = 0,
    // Compares by way of further known comparisons: i < j and j < k give i < k.
    kTransitivelyProveInequalities = 1,
    // Makes conditions conjunctions of disjunctions.
    kConvertBooleanToAndOfOrs = 2,
    // Simplifies each side of `and` and `or` where the other side does not
    // decide: n < 10 and n < 5 is n < 5.
    kApplyConstraintsToBooleanBranches = 4,
  };

  // Ends a constraint. Constraints end in reverse order of their begin.
  class Constraint {
   public:
    Constraint() = default;
    Constraint(Constraint&& other) noexcept
        : analyzer_(std::exchange(other.analyzer_, nullptr)),
          mark_(other.mark_) {}
    Constraint& operator=(Constraint&& other) = delete;
    ~Constraint() {
      if (analyzer_ != nullptr) analyzer_->EndConstraint(mark_);
    }

   private:
    friend class Analyzer;
    Constraint(Analyzer* analyzer, size_t mark)
        : analyzer_(analyzer), mark_(mark) {}
    Analyzer* analyzer_ = nullptr;
    size_t mark_ = 0;
  };

  Analyzer();
  ~Analyzer();
  Analyzer(const Analyzer&) = delete;
  Analyzer& operator=(const Analyzer&) = delete;

  // Records that `var` has that value, or a value in that range. A variable
  // that was bound before is bound anew.
  void Bind(const Var& var, const PrimExpr& value);
  void Bind(const Var& var, const Range& range);
  void Bind(const VarRanges& ranges);
  // Replaces the constant bounds of a variable.
  void UpdateBound(const Var& var, ConstIntBound bound);
  // Records that `value`, such as an extent of a parameter's buffer, is not
  // negative wherever the analyzer is used.
  void MarkGlobalNonNeg(const PrimExpr& value);

  // The condition is true until the result is destroyed.
  [[nodiscard]] Constraint WithConstraint(const PrimExpr& condition);

  // Simplifies `steps` times, in turn by rewrite rules and by canonical form;
  // a canonical form comes before the first.
  PrimExpr Simplify(const PrimExpr& e, int steps = 2);
  PrimExpr RewriteSimplify(const PrimExpr& e);
  PrimExpr CanonicalSimplify(const PrimExpr& e);

  ConstIntBound BoundOf(const PrimExpr& e);
  // Sets the bounds of `e` and of its subexpressions in `memo`, by node; the
  // caller keeps the nodes alive.
  using BoundMemo = NodeMap<ConstIntBound>;
  ConstIntBound BoundOf(const PrimExpr& e, BoundMemo& memo);
  ModularSet ModularSetOf(const PrimExpr& e);
  // The set of the values of `e` for all values of the variables in `domains`;
  // without `domains`, of the variables that were bound to ranges. Bounds of
  // the set may use other variables.
  IntSet IntSetOf(const PrimExpr& e, const VarMap<IntSet>& domains);
  IntSet IntSetOf(const PrimExpr& e);
  // Compares by the comparisons that constraints gave.
  CompareResult TryCompare(const PrimExpr& a, const PrimExpr& b,
                           bool propagate_inequalities = true);

  bool CanProve(const PrimExpr& condition,
                ProofStrength strength = ProofStrength::kDefault);
  bool CanProveEqual(const PrimExpr& a, const PrimExpr& b);
  bool CanProveGreaterEqual(const PrimExpr& e, int64_t lower_bound);
  bool CanProveLess(const PrimExpr& e, int64_t upper_bound);
  // True if `e` is at most `shape`, an extent, which is therefore positive.
  bool CanProveLessEqualThanSymbolicShapeValue(const PrimExpr& e,
                                               const PrimExpr& shape);

  void SetExtensions(unsigned extensions);
  unsigned extensions() const;

  // RewriteSimplify() returns its argument after so many rewrites; 0: never.
  void SetMaxRewriteSteps(int64_t steps);
  bool exceeded_rewrite_steps() const;
  void ResetRewriteSteps();

  // Operations are not simplified any more after so many; 0: never.
  void SetMaxVisits(int64_t visits);
  int64_t visits() const;
  bool exceeded_visits() const;

  // For the parts of this package.
  struct Parts;
  Parts& parts() { return *parts_; }

 private:
  void EndConstraint(size_t mark);

  std::unique_ptr<Parts> parts_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_ARITH_ANALYZER_H_
