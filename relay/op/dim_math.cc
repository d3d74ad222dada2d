#include "baton/relay/op/dim_math.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace baton::relay {
namespace {

using DimOp = DimExprNode::Op;

// The largest number that a Dim can hold.
constexpr int64_t kMaxDim = Dim::kMax;

Dim Number(int64_t value, bool overflow) {
  if (overflow || value > kMaxDim || value < -kMaxDim) return Dim::Any();
  return value;
}

// Rounds towards minus infinity.
int64_t FloorDivide(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Dim Symbolic(DimOp op, const Dim& a, const Dim& b) {
  const Dim& typed = a.is_symbolic() ? a : b;
  return Dim(new DimExprNode(op, "", typed.expr()->dtype(), a, b));
}

// Returns whether two expressions have the same structure over the same
// variables.
bool SameStructure(const Dim& a, const Dim& b) {
  if (a == b) return !a.is_any();
  std::vector<std::pair<Dim, Dim>> pending = {{a, b}};
  while (!pending.empty()) {
    const auto [x, y] = std::move(pending.back());
    pending.pop_back();
    if (x == y && !x.is_any()) continue;
    if (!x.is_symbolic() || !y.is_symbolic()) return false;
    const DimExprNode& p = *x.expr();
    const DimExprNode& q = *y.expr();
    if (p.op() != q.op() || p.is_var()) return false;
    pending.emplace_back(p.lhs(), q.lhs());
    pending.emplace_back(p.rhs(), q.rhs());
  }
  return true;
}

// No number is the opposite of the least one, which std::gcd would need.
bool IsLeast(int64_t value) {
  return value == std::numeric_limits<int64_t>::min();
}

// A product: a number and symbolic factors that are not products.
struct Monomial {
  int64_t number = 1;
  std::vector<Dim> factors;
  bool known = true;

  void Multiply(const Dim& dim);
  // Takes one factor like `factor` out; false if there is none.
  bool Cancel(const Dim& factor) {
    const auto it = std::find_if(
        factors.begin(), factors.end(),
        [&](const Dim& other) { return SameStructure(factor, other); });
    if (it == factors.end()) return false;
    factors.erase(it);
    return true;
  }

  bool SameFactors(const Monomial& other) const {
    if (factors.size() != other.factors.size()) return false;
    Monomial rest = other;
    return std::all_of(factors.begin(), factors.end(),
                       [&](const Dim& factor) { return rest.Cancel(factor); });
  }

  Dim FactorsToDim() const {
    Dim result = 1;
    for (const Dim& factor : factors) {
      result =
          result.is_const(1) ? factor : Symbolic(DimOp::kMul, result, factor);
    }
    return result;
  }
  Dim ToDim() const { return FactorsToDim() * Dim(number); }
};

// A sum: a number and products of different factors. What sums are simplified
// as, like the canonical form of the reference's arithmetic (TVM,
// src/arith/canonical_simplify.cc).
struct Sum {
  // Longer expressions stay as they are: every operation costs as much as its
  // operands are long.
  static constexpr size_t kMaxLength = 64;

  // The parts of a dimension that are expanded: sums only, or quotients of sums
  // as well, which may differ in form and be equal in value.
  enum class Depth { kSums, kQuotients };

  int64_t number = 0;
  std::vector<Monomial> terms;
  // False if it is unknown, too long, or out of range.
  bool usable = true;

  static Sum Of(const Dim& dim, Depth depth = Depth::kSums) {
    Sum sum;
    sum.Add(dim, 1, depth);
    return sum;
  }

  void AddNumber(int64_t value, int64_t times) {
    int64_t product;
    usable = usable && !__builtin_mul_overflow(value, times, &product) &&
             !__builtin_add_overflow(number, product, &number);
  }

  void AddTerm(Monomial term) {
    usable = usable && term.known && !IsLeast(term.number);
    if (!usable || term.number == 0) return;
    if (term.factors.empty()) return AddNumber(term.number, 1);
    const auto it =
        std::find_if(terms.begin(), terms.end(),
                     [&](const Monomial& t) { return t.SameFactors(term); });
    if (it == terms.end()) {
      terms.push_back(std::move(term));
      return;
    }
    usable = !__builtin_add_overflow(it->number, term.number, &it->number) &&
             !IsLeast(it->number);
    if (it->number == 0) terms.erase(it);
  }

  // Adds `times` times `dim`.
  void Add(const Dim& dim, int64_t times, Depth depth = Depth::kSums) {
    std::vector<std::pair<Dim, int64_t>> pending = {{dim, times}};
    for (size_t length = 0; usable && !pending.empty(); ++length) {
      const auto [next, count] = std::move(pending.back());
      pending.pop_back();
      if (next.is_any() || length > kMaxLength || IsLeast(count)) {
        usable = false;
        return;
      }
      if (next.is_const()) {
        AddNumber(next.value(), count);
        continue;
      }
      const DimExprNode& expr = *next.expr();
      const bool product = expr.op() == DimOp::kMul;
      if (expr.op() == DimOp::kAdd || expr.op() == DimOp::kSub) {
        pending.emplace_back(expr.rhs(),
                             expr.op() == DimOp::kAdd ? count : -count);
        pending.emplace_back(expr.lhs(), count);
      } else if (product && (expr.lhs().is_const() || expr.rhs().is_const())) {
        const bool left = expr.lhs().is_const();
        int64_t all;
        usable = !__builtin_mul_overflow(
            (left ? expr.lhs() : expr.rhs()).value(), count, &all);
        pending.emplace_back(left ? expr.rhs() : expr.lhs(), all);
      } else if (depth == Depth::kQuotients && expr.op() == DimOp::kFloorDiv &&
                 expr.rhs().is_const() && expr.rhs().value() > 0) {
        AddQuotient(expr, count);
      } else {
        Monomial term;
        term.number = count;
        term.Multiply(next);
        AddTerm(std::move(term));
      }
    }
  }

  // `times` times a quotient by a positive number, with the number in its
  // dividend between 0 and the divisor.
  void AddQuotient(const DimExprNode& quotient, int64_t times) {
    const int64_t divisor = quotient.rhs().value();
    Sum dividend = Of(quotient.lhs());
    usable = usable && dividend.usable;
    if (!usable) return;
    const int64_t whole = FloorDivide(dividend.number, divisor);
    AddNumber(whole, times);
    dividend.number -= whole * divisor;
    Monomial term;
    term.number = times;
    term.factors = {
        Symbolic(DimOp::kFloorDiv, dividend.ToDim(), quotient.rhs())};
    AddTerm(std::move(term));
  }

  // The greatest number that divides all terms.
  int64_t Content() const {
    int64_t content = 0;
    for (const Monomial& term : terms) {
      content = std::gcd(content, term.number);
    }
    return content;
  }

  // Negative terms are subtracted, after all others.
  Dim ToDim() const {
    Dim result = 0;
    const auto add = [&](const Dim& dim) {
      result = result.is_const(0) ? dim : Symbolic(DimOp::kAdd, result, dim);
    };
    const auto subtract = [&](const Dim& dim) {
      result = Symbolic(DimOp::kSub, result, dim);
    };
    for (const Monomial& term : terms) {
      if (term.number > 0) add(term.ToDim());
    }
    if (number > 0 || terms.empty()) add(Number(number, false));
    for (const Monomial& term : terms) {
      if (term.number > 0) continue;
      Monomial opposite = term;
      opposite.number = -term.number;
      subtract(opposite.ToDim());
    }
    if (number < 0 && !terms.empty())
      subtract(Number(-number, IsLeast(number)));
    return result;
  }
};

void Monomial::Multiply(const Dim& dim) {
  const auto times = [this](int64_t value) {
    known = known && !__builtin_mul_overflow(number, value, &number);
  };
  std::vector<Dim> pending = {dim};
  while (!pending.empty()) {
    const Dim next = std::move(pending.back());
    pending.pop_back();
    if (next.is_any()) {
      known = false;
    } else if (next.is_const()) {
      times(next.value());
    } else if (next.expr()->op() == DimOp::kMul) {
      pending.push_back(next.expr()->rhs());
      pending.push_back(next.expr()->lhs());
    } else if (next.expr()->op() == DimOp::kAdd ||
               next.expr()->op() == DimOp::kSub) {
      // A number that divides the sum is a factor of its own.
      Sum sum = Sum::Of(next);
      const int64_t content = sum.usable && !IsLeast(sum.number)
                                  ? std::gcd(sum.Content(), sum.number)
                                  : 1;
      if (content <= 1) {
        factors.push_back(next);
        continue;
      }
      times(content);
      sum.number /= content;
      for (Monomial& term : sum.terms) term.number /= content;
      factors.push_back(sum.ToDim());
    } else {
      factors.push_back(next);
    }
  }
}

// `a` plus `sign` times `b`, simplified if terms of one meet those of the
// other; else nullopt.
std::optional<Dim> Combined(const Dim& a, const Dim& b, int64_t sign) {
  Sum sum = Sum::Of(a);
  Sum other = Sum::Of(b);
  if (!sum.usable || !other.usable) return std::nullopt;
  const size_t length = sum.terms.size() + other.terms.size();
  const bool numbers_meet = sum.number != 0 && other.number != 0;
  sum.Add(b, sign);
  if (!sum.usable || (!numbers_meet && sum.terms.size() == length)) {
    return std::nullopt;
  }
  return sum.ToDim();
}

// `sum`, not a number, divided by `divisor`, rounded down.
Dim DivideSum(Sum sum, int64_t divisor) {
  // Terms that the divisor divides are moved out of the quotient.
  Sum whole;
  const auto divides = [divisor](const Monomial& term) {
    return term.number % divisor == 0;
  };
  for (const Monomial& term : sum.terms) {
    if (!divides(term)) continue;
    whole.terms.push_back(term);
    whole.terms.back().number /= divisor;
  }
  sum.terms.erase(std::remove_if(sum.terms.begin(), sum.terms.end(), divides),
                  sum.terms.end());
  if (sum.terms.empty() || sum.number % divisor == 0) {
    whole.number = FloorDivide(sum.number, divisor);
    sum.number = 0;
  }
  if (sum.terms.empty()) return whole.ToDim();
  // floor((g * x + c) / (g * d)) = floor((x + floor(c / g)) / d)
  const int64_t common = std::gcd(sum.Content(), divisor);
  for (Monomial& term : sum.terms) term.number /= common;
  sum.number = FloorDivide(sum.number, common);
  divisor /= common;
  Dim dividend = sum.ToDim();
  // floor(floor(x / c) / d) = floor(x / (c * d))
  while (dividend.is_symbolic() && dividend.expr()->op() == DimOp::kFloorDiv) {
    const DimExprNode& inner = *dividend.expr();
    int64_t product;
    if (!inner.rhs().is_const() || inner.rhs().value() <= 0 ||
        __builtin_mul_overflow(inner.rhs().value(), divisor, &product) ||
        product > kMaxDim) {
      break;
    }
    divisor = product;
    dividend = Dim(inner.lhs());
  }
  const Dim rest = divisor == 1
                       ? dividend
                       : Symbolic(DimOp::kFloorDiv, dividend, Dim(divisor));
  return whole.ToDim() + rest;
}

}  // namespace

namespace dim_internal {

Dim AddSlow(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) {
    int64_t sum;
    const bool overflow = __builtin_add_overflow(a.value(), b.value(), &sum);
    return Number(sum, overflow);
  }
  if (a.is_any() || b.is_any()) return Dim::Any();
  if (a.is_const(0)) return b;
  if (b.is_const(0)) return a;
  if (std::optional<Dim> sum = Combined(a, b, 1)) return *std::move(sum);
  return Symbolic(DimOp::kAdd, a, b);
}

Dim SubtractSlow(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) {
    int64_t difference;
    const bool overflow =
        __builtin_sub_overflow(a.value(), b.value(), &difference);
    return Number(difference, overflow);
  }
  if (a.is_any() || b.is_any()) return Dim::Any();
  if (b.is_const(0)) return a;
  if (SameStructure(a, b)) return 0;
  if (std::optional<Dim> sum = Combined(a, b, -1)) return *std::move(sum);
  return Symbolic(DimOp::kSub, a, b);
}

Dim MultiplySlow(const Dim& a, const Dim& b) {
  if (a.is_const() && b.is_const()) {
    int64_t product;
    const bool overflow =
        __builtin_mul_overflow(a.value(), b.value(), &product);
    return Number(product, overflow);
  }
  if (a.is_any() || b.is_any()) return Dim::Any();
  if (a.is_const(0) || b.is_const(0)) return 0;
  if (a.is_const(1)) return b;
  if (b.is_const(1)) return a;
  if (a.is_const() || b.is_const()) {
    // A number times a sum or a product with a number.
    const Dim& number = a.is_const() ? a : b;
    const Dim& other = a.is_const() ? b : a;
    Sum sum;
    if (!other.expr()->is_var()) sum.Add(other, number.value());
    if (sum.usable &&
        (sum.terms.size() > 1 || sum.number != 0 ||
         (sum.terms.size() == 1 && sum.terms[0].number != number.value()))) {
      return sum.ToDim();
    }
  }
  return Symbolic(DimOp::kMul, a, b);
}

}  // namespace dim_internal

Dim FloorDiv(const Dim& a, const Dim& b) {
  if (b.is_const(0)) return Dim::Any();
  if (a.is_const() && b.is_const()) return FloorDivide(a.value(), b.value());
  if (a.is_any() || b.is_any()) return Dim::Any();
  if (b.is_const(1)) return a;
  if (a.is_const(0)) return 0;
  if (b.is_symbolic()) return Quotient({a}, {b});
  if (b.value() > 0) {
    Sum sum = Sum::Of(a);
    if (sum.usable && !sum.terms.empty()) {
      return DivideSum(std::move(sum), b.value());
    }
  }
  return Symbolic(DimOp::kFloorDiv, a, b);
}

Dim CeilDiv(const Dim& a, const Dim& b) {
  if (b.is_const(1)) return a;
  return FloorDiv(a + (b - Dim(1)), b);
}

Dim Product(absl::Span<const Dim> dims) {
  Dim product = 1;
  for (const Dim& dim : dims) product = product * dim;
  return product;
}

Dim Quotient(absl::Span<const Dim> numerator,
             absl::Span<const Dim> denominator) {
  Monomial n, d;
  for (const Dim& dim : numerator) n.Multiply(dim);
  for (const Dim& dim : denominator) d.Multiply(dim);
  if (!n.known || !d.known || d.number == 0) return Dim::Any();
  const auto cancelled = [&n](const Dim& factor) { return n.Cancel(factor); };
  d.factors.erase(std::remove_if(d.factors.begin(), d.factors.end(), cancelled),
                  d.factors.end());
  if (IsLeast(n.number) || IsLeast(d.number)) return Dim::Any();
  const int64_t gcd = std::gcd(n.number, d.number);
  if (gcd > 1) {
    n.number /= gcd;
    d.number /= gcd;
  }
  if (d.factors.empty()) return FloorDiv(n.ToDim(), d.number);
  const Dim dividend = n.ToDim();
  // A sum of which the divisor divides each term.
  if (Sum sum = Sum::Of(dividend); sum.usable && sum.number == 0) {
    bool divides = true;
    for (Monomial& term : sum.terms) {
      divides =
          divides && term.number % d.number == 0 &&
          std::all_of(d.factors.begin(), d.factors.end(),
                      [&](const Dim& factor) { return term.Cancel(factor); });
      if (divides) term.number /= d.number;
    }
    if (divides) {
      Sum quotient;
      for (Monomial& term : sum.terms) quotient.AddTerm(std::move(term));
      if (quotient.usable) return quotient.ToDim();
    }
  }
  if (dividend.is_const(0)) return 0;
  if (dividend.is_any()) return dividend;
  return Symbolic(DimOp::kFloorDiv, dividend, d.ToDim());
}

bool ProvablyEqual(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return false;
  if (SameStructure(a, b)) return true;
  if (a.is_const() && b.is_const()) return false;
  Sum difference = Sum::Of(a, Sum::Depth::kQuotients);
  difference.Add(b, -1, Sum::Depth::kQuotients);
  return difference.usable && difference.terms.empty() &&
         difference.number == 0;
}

std::string ShapeToString(absl::Span<const Dim> shape) {
  return absl::StrCat("(",
                      absl::StrJoin(shape, ", ",
                                    [](std::string* out, const Dim& dim) {
                                      absl::StrAppend(out, dim.ToString());
                                    }),
                      ")");
}

}  // namespace baton::relay
