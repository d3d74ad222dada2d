#include "baton/tir/analysis/linear_inequalities.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

// Rewriting, canonical form, rewriting.
constexpr int kSteps = 3;

PrimExpr LessEqual(PrimExpr a, PrimExpr b) {
  return MakeBinary(BinaryOp::kLE, std::move(a), std::move(b));
}
PrimExpr Zero(DType dtype) { return IntImm(dtype, 0); }
PrimExpr One(DType dtype) { return IntImm(dtype, 1); }

// The comparison as `e <= 0`, `e == 0` or `e != 0`; another condition as it is.
PrimExpr Normalized(const PrimExpr& condition) {
  const auto* compare = condition.As<BinaryNode>();
  if (compare == nullptr || !IsComparison(compare->op())) return condition;
  PrimExpr a = compare->a();
  PrimExpr b = compare->b();
  BinaryOp op = compare->op();
  if (op == BinaryOp::kGT || op == BinaryOp::kGE) {
    std::swap(a, b);
    op = op == BinaryOp::kGT ? BinaryOp::kLT : BinaryOp::kLE;
  }
  const DType dtype = a.dtype();
  Analyzer analyzer;
  if (op == BinaryOp::kLT && dtype.is_integral()) {
    return Binary(BinaryOp::kLE, analyzer.Simplify(Add(Sub(a, b), One(dtype))),
                  Zero(dtype));
  }
  return Binary(op, analyzer.Simplify(Sub(a, b)), Zero(dtype));
}

// The number of nodes.
size_t Complexity(const PrimExpr& e) {
  size_t n = 0;
  PostOrderVisit(e, [&n](const PrimExpr& /*part*/) { ++n; });
  return n;
}

// Adds `inequality` unless it follows from others; removes those that follow
// from it.
void AddInequality(std::vector<PrimExpr>& set, const PrimExpr& inequality,
                   Analyzer& analyzer) {
  if (analyzer.CanProve(inequality)) return;
  for (const PrimExpr& e : set) {
    if (StructuralEqual(e, inequality)) return;
  }
  if (const BinaryNode* le = AsBinary(inequality, BinaryOp::kLE)) {
    const auto is_not_above = [&](const PrimExpr& a, const PrimExpr& b) {
      return analyzer.CanProve(LessEqual(Sub(a, b), Zero(a.dtype())));
    };
    for (size_t i = 0; i < set.size();) {
      const BinaryNode* other = AsBinary(set[i], BinaryOp::kLE);
      if (other != nullptr && is_not_above(le->a(), other->a())) return;
      if (other != nullptr && is_not_above(other->a(), le->a())) {
        set.erase(set.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }
  set.push_back(inequality);
}

// factor * v + rest <= 0.
struct Term {
  int64_t factor;
  PrimExpr rest;
};

// Bounds of coef * v.
struct Bounds {
  int64_t coef = 1;
  std::vector<PrimExpr> lower;
  std::vector<PrimExpr> equal;
  std::vector<PrimExpr> upper;
};

class Solver {
 public:
  Solver(absl::Span<const Var> vars, const VarRanges& ranges)
      : vars_(vars), ranges_(ranges) {
    analyzer_.Bind(ranges);
  }

  // Eliminates the variables, first to last.
  void Eliminate(absl::Span<const PrimExpr> relations) {
    std::vector<PrimExpr> current;
    for (const PrimExpr& relation : relations) {
      AddInequality(current, Normalized(analyzer_.Simplify(relation, kSteps)),
                    analyzer_);
    }
    for (const Var& var : vars_) {
      positive_.clear();
      negative_.clear();
      if (const Range* range = ranges_.Find(var)) {
        const PrimExpr last =
            Sub(Add(range->min, range->extent), One(range->min.dtype()));
        const PrimExpr least = analyzer_.Simplify(range->min, kSteps);
        const PrimExpr most = analyzer_.Simplify(last, kSteps);
        negative_.push_back({-1, least});
        positive_.push_back({1, Sub(Zero(most.dtype()), most)});
      }
      std::vector<PrimExpr> next;
      for (const PrimExpr& inequality : current) {
        if (!Classify(var, inequality, next)) rest_.push_back(inequality);
      }
      Combine(var, next);
      bounds_.push_back(BoundsOf(var));
      current = std::move(next);
    }
    for (const PrimExpr& e : current) {
      PrimExpr simplified = analyzer_.Simplify(e, kSteps);
      if (IsZero(simplified)) {
        others_ = {IntImm::Bool(false)};
        break;
      }
      if (!IsOne(simplified)) others_.push_back(std::move(simplified));
    }
    others_.insert(others_.end(), rest_.begin(), rest_.end());
  }

  SolvedRanges ToRanges() {
    SolvedRanges result;
    VarRanges known = ranges_;
    // From the variable that depends on no other one.
    for (size_t i = vars_.size(); i-- > 0;) {
      Analyzer analyzer;
      analyzer.Bind(known);
      const Var& var = vars_[i];
      const Bounds& bounds = bounds_[i];
      std::optional<Range> best;
      if (bounds.coef == 1 && !bounds.equal.empty()) {
        const PrimExpr& value = bounds.equal[0];
        const PrimExpr end =
            analyzer.Simplify(Add(value, One(value.dtype())), kSteps);
        best = RangeBetween(value, end);
      } else {
        best =
            BestRange(WithRange(bounds, known.Find(var)), known, var.dtype());
        if (best.has_value() &&
            analyzer.CanProveGreaterEqual(
                Sub(Zero(best->extent.dtype()), best->extent), 0)) {
          return {{}, {IntImm::Bool(false)}};
        }
      }
      if (!best.has_value()) continue;
      result.ranges.Set(var, *best);
      known.Set(var, *best);
    }
    Analyzer analyzer;
    analyzer.Bind(known);
    for (const PrimExpr& condition : Conditions()) {
      if (!analyzer.CanProve(condition)) result.relations.push_back(condition);
    }
    return result;
  }

 private:
  static Range RangeBetween(const PrimExpr& begin, const PrimExpr& end) {
    return {begin, IsZero(begin) ? end : Sub(end, begin)};
  }

  // Sorts `inequality` by the sign of the factor of `var`: into `next` where
  // that is zero. False if it is not linear.
  bool Classify(const Var& var, const PrimExpr& inequality,
                std::vector<PrimExpr>& next) {
    const auto* compare = inequality.As<BinaryNode>();
    if (compare == nullptr ||
        (compare->op() != BinaryOp::kLE && compare->op() != BinaryOp::kEQ)) {
      return false;
    }
    const std::vector<PrimExpr> linear =
        DetectLinearEquation(compare->a(), {&var, 1});
    if (linear.empty()) return false;
    const auto* imm = linear[0].As<IntImmNode>();
    if (imm == nullptr) return false;
    const int64_t factor = imm->value();
    const PrimExpr& rest = linear[1];
    if (factor == 0) {
      AddInequality(next, inequality, analyzer_);
      return true;
    }
    auto& same = factor > 0 ? positive_ : negative_;
    if (compare->op() == BinaryOp::kLE) {
      same.push_back({factor, rest});
      return true;
    }
    const PrimExpr negated = Sub(Zero(rest.dtype()), rest);
    if (factor > 0) {
      positive_.push_back({factor, rest});
      negative_.push_back({-factor, negated});
    } else {
      positive_.push_back({-factor, negated});
      negative_.push_back({factor, rest});
    }
    return true;
  }

  // Adds to `next` the sums of inequalities that do not depend on `var`.
  void Combine(const Var& var, std::vector<PrimExpr>& next) {
    for (const Term& p : positive_) {
      for (const Term& n : negative_) {
        const int64_t divisor = std::gcd(p.factor, n.factor);
        const PrimExpr by_p = IntImm(var.dtype(), n.factor / divisor);
        const PrimExpr by_n = IntImm(var.dtype(), p.factor / divisor);
        const PrimExpr sum = Sub(Mul(by_n, n.rest), Mul(by_p, p.rest));
        AddInequality(next,
                      Normalized(analyzer_.Simplify(
                          LessEqual(sum, Zero(p.rest.dtype())), kSteps)),
                      analyzer_);
      }
    }
  }

  Bounds BoundsOf(const Var& var) {
    Bounds result;
    for (const Term& t : positive_) {
      result.coef = std::lcm(result.coef, t.factor);
    }
    for (const Term& t : negative_) {
      result.coef = std::lcm(result.coef, t.factor);
    }
    const auto add = [&](std::vector<PrimExpr>& list, const Term& term,
                         BinaryOp better) {
      PrimExpr bound = analyzer_.Simplify(
          Mul(IntImm(var.dtype(), -result.coef / term.factor), term.rest),
          kSteps);
      const auto is_better = [&](const PrimExpr& a, const PrimExpr& b) {
        return analyzer_.CanProve(
            MakeBinary(better, Sub(a, b), Zero(a.dtype())));
      };
      for (const PrimExpr& other : list) {
        if (is_better(other, bound)) return;
      }
      const BinaryOp worse =
          better == BinaryOp::kLE ? BinaryOp::kGE : BinaryOp::kLE;
      std::erase_if(list, [&](const PrimExpr& other) {
        return analyzer_.CanProve(
            MakeBinary(worse, Sub(other, bound), Zero(bound.dtype())));
      });
      list.push_back(std::move(bound));
    };
    for (const Term& t : positive_) add(result.upper, t, BinaryOp::kLE);
    for (const Term& t : negative_) add(result.lower, t, BinaryOp::kGE);
    MoveEqual(result);
    return result;
  }

  // Moves bounds that are lower and upper ones to `equal`, the simplest first.
  static void MoveEqual(Bounds& bounds) {
    for (size_t i = 0; i < bounds.upper.size();) {
      const auto found = std::find_if(
          bounds.lower.begin(), bounds.lower.end(), [&](const PrimExpr& e) {
            return StructuralEqual(e, bounds.upper[i]);
          });
      if (found == bounds.lower.end()) {
        ++i;
        continue;
      }
      bounds.equal.push_back(*found);
      bounds.lower.erase(found);
      bounds.upper.erase(bounds.upper.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::stable_sort(bounds.equal.begin(), bounds.equal.end(),
                     [](const PrimExpr& a, const PrimExpr& b) {
                       return Complexity(a) < Complexity(b);
                     });
  }

  // The bounds and those that the range of the variable gives, first.
  static Bounds WithRange(const Bounds& bounds, const Range* range) {
    if (range == nullptr) return bounds;
    Analyzer analyzer;
    Bounds result{.coef = bounds.coef, .lower = {}, .equal = {}, .upper = {}};
    const PrimExpr coef = IntImm(range->min.dtype(), bounds.coef);
    const PrimExpr first = analyzer.Simplify(Mul(range->min, coef));
    if (IsOne(range->extent)) {
      result.equal.push_back(first);
    } else {
      result.lower.push_back(first);
      const PrimExpr last =
          Sub(Add(range->min, range->extent), One(range->min.dtype()));
      result.upper.push_back(analyzer.Simplify(Mul(last, coef)));
    }
    const auto append = [](std::vector<PrimExpr>& to,
                           const std::vector<PrimExpr>& from) {
      to.insert(to.end(), from.begin(), from.end());
    };
    append(result.lower, bounds.lower);
    append(result.equal, bounds.equal);
    append(result.upper, bounds.upper);
    return result;
  }

  // The range between the closest pair of a lower and an upper bound.
  static std::optional<Range> BestRange(const Bounds& bounds,
                                        const VarRanges& known, DType dtype) {
    Analyzer analyzer;
    analyzer.Bind(known);
    const Domains domains = AsIntSets(known);
    std::vector<PrimExpr> lowers = bounds.equal;
    std::vector<PrimExpr> uppers = bounds.equal;
    lowers.insert(lowers.end(), bounds.lower.begin(), bounds.lower.end());
    uppers.insert(uppers.end(), bounds.upper.begin(), bounds.upper.end());
    if (lowers.size() == 1 && uppers.size() == 1 && bounds.coef == 1) {
      return RangeBetween(
          analyzer.Simplify(lowers[0]),
          analyzer.Simplify(Add(uppers[0], One(uppers[0].dtype()))));
    }
    const PrimExpr coef = IntImm(dtype, bounds.coef);
    const auto divided = [&coef](PrimExpr e) {
      return MakeBinary(BinaryOp::kFloorDiv, std::move(e), coef);
    };
    const auto is_less = [&analyzer](const PrimExpr& a, const PrimExpr& b) {
      return analyzer.CanProve(
          MakeBinary(BinaryOp::kLT, Sub(a, b), Zero(a.dtype())));
    };
    PrimExpr best_lower;
    PrimExpr best_difference;
    for (const PrimExpr& low : lowers) {
      for (const PrimExpr& upper : uppers) {
        PrimExpr difference;
        const IntSet set = EvalSet(
            analyzer.Simplify(divided(Sub(upper, low)), kSteps), domains);
        if (set.HasUpperBound()) {
          difference = analyzer.Simplify(set.max(), kSteps);
        }
        // Rounded up.
        const PrimExpr start = analyzer.Simplify(
            divided(Sub(Add(low, coef), One(low.dtype()))), kSteps);
        const IntSet set2 = EvalSet(
            analyzer.Simplify(Sub(divided(upper), start), kSteps), domains);
        if (set2.HasUpperBound()) {
          PrimExpr second = analyzer.Simplify(set2.max(), kSteps);
          if (!difference.defined() || is_less(second, difference)) {
            difference = std::move(second);
          }
        }
        if (difference.defined() && (!best_difference.defined() ||
                                     is_less(difference, best_difference))) {
          best_lower = start;
          best_difference = difference;
        }
      }
    }
    if (!best_lower.defined()) return std::nullopt;
    return Range{
        best_lower,
        analyzer.Simplify(Add(best_difference, One(best_difference.dtype())))};
  }

  std::vector<PrimExpr> Conditions() const {
    std::vector<PrimExpr> result;
    for (size_t i = 0; i < vars_.size(); ++i) {
      const PrimExpr left =
          Mul(IntImm(vars_[i].dtype(), bounds_[i].coef), vars_[i]);
      const auto add = [&](BinaryOp op, const std::vector<PrimExpr>& list) {
        for (const PrimExpr& right : list) {
          result.push_back(MakeBinary(op, left, right));
        }
      };
      add(BinaryOp::kEQ, bounds_[i].equal);
      add(BinaryOp::kGE, bounds_[i].lower);
      add(BinaryOp::kLE, bounds_[i].upper);
    }
    result.insert(result.end(), others_.begin(), others_.end());
    return result;
  }

  const absl::Span<const Var> vars_;
  const VarRanges& ranges_;
  Analyzer analyzer_;
  // Bounds of the variable that is being eliminated, by sign.
  std::vector<Term> positive_;
  std::vector<Term> negative_;
  std::vector<Bounds> bounds_;  // by variable
  std::vector<PrimExpr> rest_;
  std::vector<PrimExpr> others_;
};

}  // namespace

SolvedRanges SolveInequalitiesToRange(absl::Span<const Var> vars,
                                      const VarRanges& ranges,
                                      absl::Span<const PrimExpr> relations) {
  Solver solver(vars, ranges);
  solver.Eliminate(relations);
  return solver.ToRanges();
}

}  // namespace baton::tir
