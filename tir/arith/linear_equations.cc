#include "baton/tir/arith/linear_equations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

using Matrix = std::vector<std::vector<int64_t>>;

PrimExpr Negate(const PrimExpr& e) { return Sub(MakeConst(e.dtype(), 0), e); }

// The system s * x = y. Row and column operations make s diagonal; `v` collects
// those of columns, so that v * x stays what was x first.
struct System {
  Matrix s;
  Matrix v;
  std::vector<PrimExpr> x;
  std::vector<PrimExpr> y;

  // The factors of a system are from -kLargestFactor to kLargestFactor.
  static constexpr int64_t kLargestFactor = std::numeric_limits<int64_t>::max();

  // False, with a system that has no meaning, if a factor leaves its type.
  bool Diagonalize() {
    if (s.empty() || v.empty()) return true;
    const size_t n = v.size();
    for (size_t k = 0;
         k < std::min(s.size(), n) && !folds_.is_out_of_range();) {
      if (DiagonalizeAt(k)) ++k;
    }
    return !folds_.is_out_of_range();
  }

 private:
  // The factors with which two elements p and q become their greatest common
  // divisor: a * p + b * q.
  struct Factors {
    int64_t a = 1;
    int64_t b = 0;
    int64_t p_over_g = 1;
    int64_t q_over_g = 0;
  };
  static Factors FactorsOf(int64_t p, int64_t q) {
    Factors f;
    int64_t g = p;
    if (TruncMod(q, p) != 0) g = ExtendedGcd(p, q, f.a, f.b);
    f.p_over_g = p / g;
    f.q_over_g = q / g;
    return f;
  }

  // a * p + b * q.
  int64_t Combined(int64_t a, int64_t p, int64_t b, int64_t q) {
    const __int128 sum =
        static_cast<__int128>(a) * p + static_cast<__int128>(b) * q;
    folds_.NoteOutOfRange(sum > kLargestFactor || sum < -kLargestFactor);
    return static_cast<int64_t>(sum);
  }
  // a * p + b * q, or the difference.
  PrimExpr Combined(BinaryOp op, int64_t a, const PrimExpr& p, int64_t b,
                    const PrimExpr& q) {
    const auto times = [this](int64_t factor, const PrimExpr& e) {
      folds_.NoteOutOfRange(!FitsDType(factor, e.dtype()));
      return folds_.Combine(BinaryOp::kMul, MakeConst(e.dtype(), factor), e);
    };
    return folds_.Combine(op, times(a, p), times(b, q));
  }

  // False if row and column k must be cleared once more. Ends early if
  // folds_ are out of range.
  bool DiagonalizeAt(size_t k) {
    const size_t m = s.size();
    const size_t n = v.size();
    size_t best = k;
    for (size_t i = k; i < m; ++i) {
      if (s[i][k] != 0 &&
          (s[best][k] == 0 || std::abs(s[i][k]) < std::abs(s[best][k]))) {
        best = i;
      }
    }
    std::swap(s[k], s[best]);
    std::swap(y[k], y[best]);
    for (size_t j = k + 1; j < n && s[k][k] == 0; ++j) {
      if (s[k][j] == 0) continue;
      for (size_t i = k; i < m; ++i) std::swap(s[i][k], s[i][j]);
      for (size_t i = 0; i < n; ++i) std::swap(v[i][k], v[i][j]);
      std::swap(x[k], x[j]);
    }
    if (s[k][k] == 0) return true;
    for (size_t i = k + 1; i < m; ++i) {
      if (folds_.is_out_of_range()) return true;
      if (s[i][k] == 0) continue;
      const Factors f = FactorsOf(s[k][k], s[i][k]);
      for (size_t j = k; j < n; ++j) {
        const int64_t p = s[k][j];
        const int64_t q = s[i][j];
        s[k][j] = Combined(f.a, p, f.b, q);
        s[i][j] = Combined(f.q_over_g, p, -f.p_over_g, q);
      }
      const PrimExpr p = y[k];
      const PrimExpr q = y[i];
      y[k] = Combined(BinaryOp::kAdd, f.a, p, f.b, q);
      y[i] = Combined(BinaryOp::kSub, f.q_over_g, p, f.p_over_g, q);
    }
    bool again = false;
    for (size_t j = k + 1; j < n; ++j) {
      if (folds_.is_out_of_range()) return true;
      if (s[k][j] == 0) continue;
      again = again || TruncMod(s[k][j], s[k][k]) != 0;
      const Factors f = FactorsOf(s[k][k], s[k][j]);
      const auto combine = [&](std::vector<int64_t>& row) {
        const int64_t p = row[k];
        const int64_t q = row[j];
        row[k] = Combined(f.a, p, f.b, q);
        row[j] = Combined(f.q_over_g, p, -f.p_over_g, q);
      };
      for (size_t i = k; i < m; ++i) combine(s[i]);
      for (size_t i = 0; i < n; ++i) combine(v[i]);
      const PrimExpr p = x[k];
      const PrimExpr q = x[j];
      x[k] = Combined(BinaryOp::kAdd, f.p_over_g, p, f.q_over_g, q);
      x[j] = Combined(BinaryOp::kSub, f.b, p, f.a, q);
    }
    return !again;
  }

  NotedFolds folds_;
};

// The factors of `vars` in an equation with constant factors, and the rest on
// the other side; false if it is none.
bool ReadEquation(const PrimExpr& equation, absl::Span<const Var> vars,
                  Analyzer& analyzer, System& system) {
  const auto* equal = AsBinary(equation, BinaryOp::kEQ);
  if (equal == nullptr || IsModular(equal->a().dtype())) return false;
  const std::vector<PrimExpr> factors = DetectLinearEquation(
      analyzer.Simplify(Sub(equal->a(), equal->b())), vars);
  if (factors.size() < 2) return false;
  std::vector<int64_t> row;
  for (size_t i = 0; i + 1 < factors.size(); ++i) {
    const auto* imm = factors[i].As<IntImmNode>();
    if (imm == nullptr || imm->value() < -System::kLargestFactor) return false;
    row.push_back(imm->value());
  }
  system.s.push_back(std::move(row));
  system.y.push_back(Negate(factors.back()));
  return true;
}

}  // namespace

LinearSolution SolveLinearEquations(absl::Span<const Var> vars,
                                    const VarRanges& ranges,
                                    absl::Span<const PrimExpr> equations) {
  LinearSolution solution;
  Analyzer analyzer;
  analyzer.Bind(ranges);
  const size_t n = vars.size();
  System system;
  for (size_t i = 0; i < n; ++i) {
    system.v.emplace_back(n, 0);
    system.v.back()[i] = 1;
    system.x.push_back(vars[i]);
  }
  std::vector<PrimExpr> others;
  for (const PrimExpr& equation : equations) {
    if (!ReadEquation(equation, vars, analyzer, system)) {
      others.push_back(equation);
    }
  }
  if (!system.Diagonalize()) {
    // The variables stay as they are.
    solution.vars.assign(vars.begin(), vars.end());
    solution.ranges = ranges;
    solution.relations.assign(equations.begin(), equations.end());
    for (const Var& var : vars) solution.values.Set(var, var);
    return solution;
  }
  const PrimExpr zero = IntImm(kInt32, 0);
  const auto diagonal = [&](size_t i) {
    return i < n && i < system.s.size() ? system.s[i][i] : 0;
  };
  for (size_t i = 0; i < system.s.size(); ++i) {
    // A diagonal element must divide the right side.
    const PrimExpr& y = system.y[i];
    const PrimExpr rest =
        diagonal(i) == 0
            ? y
            : MakeBinary(BinaryOp::kFloorMod, y,
                         MakeConst(y.dtype(), std::abs(diagonal(i))));
    const PrimExpr relation =
        analyzer.Simplify(MakeBinary(BinaryOp::kEQ, rest, zero));
    if (IsZero(relation)) {
      solution.solvable = false;
      solution.relations = {IntImm::Bool(false)};
      return solution;
    }
    if (!IsOne(relation)) solution.relations.push_back(relation);
  }
  Domains domains;
  for (const auto& [var, range] : ranges) {
    domains.Set(var, IntSet::FromRange(range));
    if (std::find(vars.begin(), vars.end(), var) == vars.end()) {
      solution.ranges.Set(var, range);
    }
  }
  std::vector<PrimExpr> solved;
  for (size_t i = 0; i < n; ++i) {
    if (diagonal(i) == 0) {
      // Any integer: a new variable.
      const PrimExpr old = analyzer.Simplify(system.x[i]);
      std::string name = absl::StrCat("n", solution.vars.size());
      if (const auto* var = old.As<VarNode>()) {
        absl::StrAppend(&name, "_", var->name());
      }
      const Var var(std::move(name), system.x[i].dtype());
      solved.push_back(var);
      solution.vars.push_back(var);
      const Range range = EvalSet(old, domains).CoverRange({});
      if (range.min.defined()) solution.ranges.Set(var, range);
    } else {
      const PrimExpr y = diagonal(i) > 0 ? system.y[i] : Negate(system.y[i]);
      solved.push_back(analyzer.Simplify(
          MakeBinary(BinaryOp::kFloorDiv, y,
                     MakeConst(y.dtype(), std::abs(diagonal(i))))));
    }
  }
  for (size_t i = 0; i < n; ++i) {
    PrimExpr e = MakeConst(vars[i]->dtype(), 0);
    for (size_t j = 0; j < n; ++j) {
      e = Add(e, Mul(MakeConst(e.dtype(), system.v[i][j]), solved[j]));
    }
    solution.values.Set(vars[i], analyzer.Simplify(e));
  }
  Analyzer of_solution;
  of_solution.Bind(solution.ranges);
  for (const Var& var : vars) {
    const Range* range = ranges.Find(var);
    if (range == nullptr) continue;
    const PrimExpr& value = *solution.values.Find(var);
    for (const PrimExpr& relation :
         {MakeBinary(BinaryOp::kLE, range->min, value),
          MakeBinary(BinaryOp::kLT, value, Add(range->min, range->extent))}) {
      const PrimExpr simplified = of_solution.Simplify(relation);
      if (!IsOne(simplified)) solution.relations.push_back(simplified);
    }
  }
  for (const PrimExpr& relation : others) {
    solution.relations.push_back(Substitute(relation, [&](const VarNode* var) {
      const PrimExpr* value = solution.values.Find(var);
      return value != nullptr ? *value : PrimExpr();
    }));
  }
  return solution;
}

}  // namespace baton::tir
