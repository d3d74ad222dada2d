#include "baton/relay/op/dim_math.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace baton::relay {
namespace {

using DimOp = DimExprNode::Op;

// What a Dim can hold as a number.
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

// A product: a number and symbolic factors that are not products.
struct Monomial {
  int64_t number = 1;
  std::vector<Dim> factors;
  bool known = true;

  void Multiply(const Dim& dim) {
    std::vector<Dim> pending = {dim};
    while (!pending.empty()) {
      const Dim next = std::move(pending.back());
      pending.pop_back();
      if (next.is_any()) {
        known = false;
      } else if (next.is_const()) {
        known = known && !__builtin_mul_overflow(number, next.value(), &number);
      } else if (next.expr()->op() == DimOp::kMul) {
        pending.push_back(next.expr()->rhs());
        pending.push_back(next.expr()->lhs());
      } else {
        factors.push_back(next);
      }
    }
  }

  Dim ToDim() const {
    Dim result = 1;
    for (const Dim& factor : factors) result = result * factor;
    return result * Dim(number);
  }
};

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
  if (ProvablyEqual(a, b)) return 0;
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
  return Symbolic(DimOp::kMul, a, b);
}

}  // namespace dim_internal

Dim FloorDiv(const Dim& a, const Dim& b) {
  if (b.is_const(0)) return Dim::Any();
  if (a.is_const() && b.is_const()) return FloorDivide(a.value(), b.value());
  if (a.is_any() || b.is_any()) return Dim::Any();
  if (b.is_const(1)) return a;
  if (a.is_const(0)) return 0;
  if (ProvablyEqual(a, b)) return 1;
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
  std::vector<Dim> left;
  for (const Dim& factor : d.factors) {
    const auto it = std::find_if(
        n.factors.begin(), n.factors.end(),
        [&](const Dim& other) { return ProvablyEqual(factor, other); });
    if (it == n.factors.end()) {
      left.push_back(factor);
    } else {
      n.factors.erase(it);
    }
  }
  d.factors = std::move(left);
  // No number is the opposite of the least one, which std::gcd would need.
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  if (n.number == kLeast || d.number == kLeast) return Dim::Any();
  const int64_t gcd = std::gcd(n.number, d.number);
  if (gcd > 1) {
    n.number /= gcd;
    d.number /= gcd;
  }
  return FloorDiv(n.ToDim(), d.ToDim());
}

bool ProvablyEqual(const Dim& a, const Dim& b) {
  if (a.is_any() || b.is_any()) return false;
  if (a == b) return true;
  if (!a.is_symbolic() || !b.is_symbolic()) return false;
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

std::string ShapeToString(absl::Span<const Dim> shape) {
  return absl::StrCat("(",
                      absl::StrJoin(shape, ", ",
                                    [](std::string* out, const Dim& dim) {
                                      absl::StrAppend(out, dim.ToString());
                                    }),
                      ")");
}

}  // namespace baton::relay
