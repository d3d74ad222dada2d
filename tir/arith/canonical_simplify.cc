#include "baton/tir/arith/canonical_simplify.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzer_parts.h"
#include "baton/tir/arith/expr_key.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/rewrite_simplify.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

// The constant as it is in `dtype`.
PrimExpr Constant(DType dtype, int64_t value) {
  return MakeConst(dtype, WrapToDType(value, dtype));
}

PrimExpr Quotient(const PrimExpr& a, int64_t b, bool floors) {
  return MakeBinary(floors ? BinaryOp::kFloorDiv : BinaryOp::kDiv, a,
                    Constant(a.dtype(), b));
}
PrimExpr Rest(const PrimExpr& a, int64_t b, bool floors) {
  return MakeBinary(floors ? BinaryOp::kFloorMod : BinaryOp::kMod, a,
                    Constant(a.dtype(), b));
}

// True if a * b is out of range, or is the number that stands for no divisor.
bool Overflows(int64_t a, int64_t b, DType dtype) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || !FitsDType(product, dtype) ||
         product == std::numeric_limits<int64_t>::max();
}

int64_t LeastOf(DType dtype) {
  return dtype.bits() == 64 ? std::numeric_limits<int64_t>::min()
                            : -(int64_t{1} << (dtype.bits() - 1));
}

bool ExcludesZero(const ModularSet& set) {
  return set.coeff == 0 ? set.base != 0 : set.base % set.coeff != 0;
}

// Up to this number, terms are searched one by one; sums of more have an index.
constexpr size_t kMaxFewTerms = 32;

// A sum or a difference of indices; null if `e` is none.
const BinaryNode* AsSum(const PrimExpr& e) {
  const auto* node = e.As<BinaryNode>();
  return node != nullptr &&
                 (node->op() == BinaryOp::kAdd ||
                  node->op() == BinaryOp::kSub) &&
                 IsIndexType(node->dtype())
             ? node
             : nullptr;
}

// True for a sum of many terms whose first (`left`) or last ones are the
// innermost ones.
bool IsLongSum(const BinaryNode* node, bool left) {
  if (node->op() != BinaryOp::kAdd && node->op() != BinaryOp::kSub) {
    return false;
  }
  for (size_t i = 0; i < kMaxFewTerms; ++i) {
    node = AsSum(left ? node->a() : node->b());
    if (node == nullptr) return false;
  }
  return true;
}

}  // namespace

PrimExpr MulAndNormalize(const PrimExpr& lhs, const PrimExpr& rhs) {
  // Constants whose product is out of range stay apart.
  std::vector<int64_t> scales = {1};
  PrimExpr product = MakeConst(lhs.dtype(), 1);
  const auto collect = [&](const PrimExpr& e) {
    if (const auto* imm = e.As<IntImmNode>()) {
      int64_t scale = 0;
      if (__builtin_mul_overflow(scales.back(), imm->value(), &scale) ||
          !FitsDType(scale, lhs.dtype())) {
        scales.push_back(imm->value());
      } else {
        scales.back() = scale;
      }
    } else {
      product = Mul(product, e);
    }
  };
  UnpackReduction(lhs, BinaryOp::kMul, collect);
  UnpackReduction(rhs, BinaryOp::kMul, collect);
  for (const int64_t scale : scales) {
    if (scale == 1) continue;
    product = MakeBinaryInRange(BinaryOp::kMul, product,
                                Constant(lhs.dtype(), scale));
  }
  return product;
}

// --- Forms -------------------------------------------------------------------

PrimExpr CanonicalSimplifier::ToExpr(const Split& split, int64_t scale) {
  if (split.scale == 0) return MakeConst(split.dtype, 0);
  PrimExpr e = split.index;
  if (split.upper != kNoUpper) e = Rest(e, split.upper, split.floors);
  if (split.lower != 1) e = Quotient(e, split.lower, split.floors);
  scale = WrappedMul(scale, split.scale);
  return scale == 1 ? e
                    : MakeBinaryInRange(BinaryOp::kMul, e,
                                        Constant(split.dtype, scale));
}

PrimExpr CanonicalSimplifier::ToExpr(const Sum& sum) {
  std::vector<Split> args = sum.args;
  MergeSplits(args);
  return SumOf(sum.dtype, args, sum.base);
}

PrimExpr CanonicalSimplifier::ToExpr(const Form& form) {
  if (const auto* e = std::get_if<PrimExpr>(&form)) return *e;
  if (const auto* split = std::get_if<Split>(&form)) return ToExpr(*split);
  return ToExpr(std::get<Sum>(form));
}

// Positive terms first, then those that are subtracted. The least scale and the
// least constant are added, because their negations are out of range.
PrimExpr CanonicalSimplifier::SumOf(DType dtype, const std::vector<Split>& args,
                                    int64_t base) {
  const int64_t least = LeastOf(dtype);
  const auto adds = [least](int64_t value) {
    return value > 0 || value <= least;
  };
  // A constant that is out of range is added in as few parts as are in range. A
  // literal that is not of its type may have no such parts, and stays as it is.
  constexpr int64_t kMostParts = 64;
  const int64_t most = -(least + 1);
  int64_t parts = 1;
  if (base > most && most > 0) parts = (base - 1) / most + 1;
  if (base < least) parts = (base + 1) / least + 1;
  if (parts > kMostParts) parts = 1;
  PrimExpr e = MakeConst(dtype, 0);
  const auto append_parts = [&](bool added) {
    int64_t rest = base;
    for (int64_t n = parts; n > 0; --n) {
      const int64_t part = (rest + (rest > 0 ? n - 1 : 1 - n)) / n;
      rest -= part;
      if (part == 0 || adds(part) != added) continue;
      e = added ? MakeBinaryInRange(BinaryOp::kAdd, e, MakeConst(dtype, part))
                : MakeBinaryInRange(BinaryOp::kSub, e, MakeConst(dtype, -part));
    }
  };
  for (const Split& arg : args) {
    if (adds(arg.scale)) e = MakeBinaryInRange(BinaryOp::kAdd, e, ToExpr(arg));
  }
  append_parts(true);
  for (const Split& arg : args) {
    if (arg.scale < 0 && !adds(arg.scale)) {
      e = MakeBinaryInRange(BinaryOp::kSub, e, ToExpr(arg, -1));
    }
  }
  append_parts(false);
  return e;
}

CanonicalSimplifier::Split CanonicalSimplifier::ToSplit(Form form) {
  if (auto* split = std::get_if<Split>(&form)) return std::move(*split);
  if (auto* sum = std::get_if<Sum>(&form)) {
    if (sum->base == 0 && sum->args.size() == 1) return std::move(sum->args[0]);
  }
  Split split;
  split.index = ToExpr(form);
  split.dtype = split.index.dtype();
  return split;
}

CanonicalSimplifier::Sum CanonicalSimplifier::ToSum(Form form) {
  if (auto* sum = std::get_if<Sum>(&form)) return std::move(*sum);
  Sum sum;
  if (const auto* e = std::get_if<PrimExpr>(&form)) {
    sum.dtype = e->dtype();
    if (const auto* imm = e->As<IntImmNode>()) {
      sum.base = imm->value();
      return sum;
    }
  }
  sum.args.push_back(ToSplit(std::move(form)));
  sum.dtype = sum.args[0].dtype;
  return sum;
}

bool CanonicalSimplifier::SameIndex(const Split& a, const Split& b) {
  return ExprDeepEqual(a.index, b.index);
}

// True if the rounding of `split` is `floors`, or it does not divide.
bool CanonicalSimplifier::Compatible(const Split& split, bool floors) {
  return split.floors == floors ||
         (split.lower == 1 && split.upper == kNoUpper);
}

CanonicalSimplifier::Split CanonicalSimplifier::WithRounding(Split split,
                                                             bool floors) {
  if (split.floors == floors) return split;
  if (!Compatible(split, floors)) split = ToSplit(ToExpr(split));
  split.floors = floors;
  return split;
}

bool CanonicalSimplifier::ScaleFits(const Split& split, int64_t scale) {
  int64_t product = scale;
  const auto* imm = split.index.As<IntImmNode>();
  return FitsDType(scale, split.dtype) &&
         (imm == nullptr ||
          (!__builtin_mul_overflow(imm->value(), scale, &product) &&
           FitsDType(product, split.dtype)));
}

bool CanonicalSimplifier::AddScale(Split& split, int64_t scale) {
  int64_t sum = 0;
  if (__builtin_add_overflow(split.scale, scale, &sum) ||
      !ScaleFits(split, sum)) {
    return false;
  }
  split.scale = sum;
  return true;
}

CanonicalSimplifier::Split CanonicalSimplifier::WithSign(Split split,
                                                         int64_t sign) {
  // The negation of the least scale is out of range.
  if (sign < 0 && split.scale == LeastOf(split.dtype)) {
    split = ToSplit(ToExpr(split));
  }
  split.scale *= sign;
  return split;
}

void CanonicalSimplifier::AddTo(Sum& sum, Split other, int64_t sign) {
  if (other.scale == 0) return;
  other = WithSign(std::move(other), sign);
  size_t start = 0;
  while (start < sum.args.size() && !SameIndex(sum.args[start], other)) ++start;
  for (size_t i = start; i < sum.args.size(); ++i) {
    Split& arg = sum.args[i];
    if (!SameIndex(arg, other) || other.lower > arg.lower) {
      sum.args.insert(sum.args.begin() + static_cast<ptrdiff_t>(i),
                      std::move(other));
      return;
    }
    if (other.lower == arg.lower && other.upper == arg.upper &&
        Compatible(other, arg.floors) && AddScale(arg, other.scale)) {
      return;
    }
  }
  sum.args.push_back(std::move(other));
}

// Adds `value * sign` to the constant of `sum`. False, with `sum` unchanged, if
// the result is out of the range of 64 bits: `value` must become a term.
bool CanonicalSimplifier::AddConstant(Sum& sum, int64_t value, int64_t sign) {
  int64_t base = 0;
  if (sign < 0 ? __builtin_sub_overflow(sum.base, value, &base)
               : __builtin_add_overflow(sum.base, value, &base)) {
    return false;
  }
  sum.base = base;
  return true;
}

void CanonicalSimplifier::AddTo(Sum& sum, const Form& other, int64_t sign) {
  if (const auto* terms = std::get_if<Sum>(&other)) {
    for (const Split& arg : terms->args) AddTo(sum, arg, sign);
    if (AddConstant(sum, terms->base, sign)) return;
    AddTo(sum, ToSplit(Constant(sum.dtype, terms->base)), sign);
    return;
  }
  if (const auto* e = std::get_if<PrimExpr>(&other)) {
    const auto* imm = e->As<IntImmNode>();
    if (imm != nullptr && AddConstant(sum, imm->value(), sign)) return;
  }
  AddTo(sum, ToSplit(other), sign);
}

// A sum with an index over its terms, so that AddTo() takes constant time.
class CanonicalSimplifier::LongSum {
 public:
  explicit LongSum(Sum sum) {
    sum_.dtype = sum.dtype;
    sum_.base = sum.base;
    for (Split& arg : sum.args) Append(std::move(arg));
  }

  void Add(const Form& other, int64_t sign) {
    Sum terms = ToSum(other);
    if (!AddConstant(sum_, terms.base, sign)) {
      terms.args.push_back(ToSplit(Constant(terms.dtype, terms.base)));
    }
    for (Split& arg : terms.args) {
      if (arg.scale != 0) Append(WithSign(std::move(arg), sign));
    }
  }

  // True if a term that was added and those before it have canceled out.
  bool cancels() const { return cancels_; }

  // The sum with its terms in order.
  Sum Take() && {
    std::vector<size_t> order(sum_.args.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [this](size_t i, size_t j) {
      if (group_of_[i] != group_of_[j]) return group_of_[i] < group_of_[j];
      return sum_.args[i].lower > sum_.args[j].lower;
    });
    std::vector<Split> args;
    args.reserve(order.size());
    for (const size_t i : order) args.push_back(std::move(sum_.args[i]));
    sum_.args = std::move(args);
    return std::move(sum_);
  }

 private:
  // Terms of equal keys are joined where their scale stays in range.
  struct Key {
    size_t group;
    int64_t lower;
    int64_t upper;
    bool floors;

    friend bool operator==(const Key& a, const Key& b) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.group, key.lower, key.upper,
                        key.floors);
    }
  };

  void Append(Split split) {
    const size_t group =
        groups_.try_emplace(ExprKey{split.index}, groups_.size()).first->second;
    const bool divides = split.lower != 1 || split.upper != kNoUpper;
    const auto [it, is_new] = places_.try_emplace(
        Key{group, split.lower, split.upper, divides && split.floors},
        sum_.args.size());
    if (!is_new && AddScale(sum_.args[it->second], split.scale)) {
      cancels_ = cancels_ || sum_.args[it->second].scale == 0;
      return;
    }
    it->second = sum_.args.size();
    sum_.args.push_back(std::move(split));
    group_of_.push_back(group);
  }

  Sum sum_;  // its terms in the order of their arrival
  std::vector<size_t> group_of_;
  FlatHashMap<ExprKey, size_t> groups_;  // the indices, by their first arrival
  FlatHashMap<Key, size_t> places_;
  bool cancels_ = false;
};

bool CanonicalSimplifier::CanMultiply(const Sum& sum, int64_t scale) {
  int64_t product = 0;
  return !__builtin_mul_overflow(sum.base, scale, &product) &&
         FitsDType(product, sum.dtype) &&
         std::all_of(sum.args.begin(), sum.args.end(), [&](const Split& arg) {
           return !__builtin_mul_overflow(arg.scale, scale, &product) &&
                  ScaleFits(arg, product);
         });
}

void CanonicalSimplifier::Multiply(Sum& sum, int64_t scale) {
  sum.base = WrappedMul(sum.base, scale);
  for (Split& arg : sum.args) arg.scale = WrappedMul(arg.scale, scale);
}

void CanonicalSimplifier::DivideExactly(Sum& sum, int64_t divisor) {
  sum.base /= divisor;
  for (Split& arg : sum.args) arg.scale /= divisor;
}

void CanonicalSimplifier::Separate(const Sum& sum, int64_t factor,
                                   Sum& multiples, Sum& others) {
  multiples.dtype = sum.dtype;
  others.dtype = sum.dtype;
  (sum.base % factor == 0 ? multiples : others).base = sum.base;
  for (const Split& arg : sum.args) {
    (arg.scale % factor == 0 ? multiples : others).args.push_back(arg);
  }
}

// True for the terms x // s * s and x % s, or such terms of a quotient.
bool CanonicalSimplifier::Joins(const Split& left, const Split& right) {
  int64_t lower = 0;
  return left.lower == right.upper && right.scale != 0 &&
         TruncMod(left.scale, right.scale) == 0 &&
         !__builtin_mul_overflow(TruncDiv(left.scale, right.scale), right.lower,
                                 &lower) &&
         left.lower == lower && Compatible(left, right.floors);
}

// Joins x // s * s + x % s, and orders the terms by descending scale.
//
// With x the index, c the `lower` of the second term and s the quotient of both
// scales: (x // (c * s)) * s + (x % (c * s)) // c is x // c, because
// (x % (c * s)) // c is (x // c) % s, for both ways of rounding.
void CanonicalSimplifier::MergeSplits(std::vector<Split>& args) {
  size_t end = 0;  // of the terms of one index
  for (size_t i = 0; i < args.size(); ++i) {
    if (args.size() > kMaxFewTerms && i >= end) {
      end = i + 1;
      while (end < args.size() && SameIndex(args[i], args[end])) ++end;
      if (end - i > kMaxFewTerms) {
        MergeManySplits(&args[i], end - i);
        i = end - 1;
        continue;
      }
    }
    Split& left = args[i];
    if (left.scale == 0) continue;
    for (size_t j = i + 1; j < args.size(); ++j) {
      Split& right = args[j];
      if (!SameIndex(left, right) || left.upper < right.lower) break;
      if (left.upper == right.upper && left.lower == right.lower &&
          Compatible(left, right.floors) && AddScale(right, left.scale)) {
        left.scale = 0;
      } else if (Joins(left, right)) {
        right.upper = left.upper;
        left.scale = 0;
        break;
      }
    }
  }
  const auto key = [](const Split& s) {
    return std::make_tuple(s.scale, s.lower, s.upper, s.floors);
  };
  std::stable_sort(
      args.begin(), args.end(),
      [&](const Split& a, const Split& b) { return key(a) > key(b); });
}

void CanonicalSimplifier::MergeManySplits(Split* first, size_t count) {
  // The terms by `upper`, and by `lower` and `upper`, in their order; a term
  // that got another `upper` stands in two lists.
  FlatHashMap<int64_t, std::vector<size_t>> of_upper;
  FlatHashMap<std::pair<int64_t, int64_t>, std::vector<size_t>> of_both;
  const auto insert = [](std::vector<size_t>& list, size_t i) {
    list.insert(std::upper_bound(list.begin(), list.end(), i), i);
  };
  for (size_t i = 0; i < count; ++i) {
    of_upper[first[i].upper].push_back(i);
    of_both[{first[i].lower, first[i].upper}].push_back(i);
  }
  for (size_t i = 0; i < count; ++i) {
    Split& left = first[i];
    if (left.scale == 0) continue;
    std::vector<size_t> candidates;
    const auto add = [&](const std::vector<size_t>& list, ptrdiff_t most) {
      const auto begin = std::upper_bound(list.begin(), list.end(), i);
      const auto size = std::min<ptrdiff_t>(list.end() - begin, most);
      candidates.insert(candidates.end(), begin, begin + size);
    };
    // More terms of equal bounds than these have scales that cannot be added.
    add(of_both[{left.lower, left.upper}], kMaxFewTerms);
    if (const auto it = of_upper.find(left.lower); it != of_upper.end()) {
      add(it->second, static_cast<ptrdiff_t>(count));
    }
    std::sort(candidates.begin(), candidates.end());
    for (const size_t j : candidates) {
      Split& right = first[j];
      if (left.upper == right.upper && left.lower == right.lower &&
          Compatible(left, right.floors) && AddScale(right, left.scale)) {
        left.scale = 0;
      } else if (Joins(left, right)) {
        right.upper = left.upper;
        left.scale = 0;
        insert(of_upper[right.upper], j);
        insert(of_both[{right.lower, right.upper}], j);
        break;
      }
    }
  }
}

// --- Operations --------------------------------------------------------------

// The operation on constants, or on a constant that is neutral or zero.
std::optional<CanonicalSimplifier::Form> CanonicalSimplifier::Fold(
    BinaryOp op, const Form& a, const Form& b) {
  const auto imm = [](const Form& form) -> const IntImmNode* {
    const auto* e = std::get_if<PrimExpr>(&form);
    return e != nullptr ? e->As<IntImmNode>() : nullptr;
  };
  const IntImmNode* x = imm(a);
  const IntImmNode* y = imm(b);
  if (x != nullptr && y != nullptr) {
    if (FoldWraps(op, std::get<PrimExpr>(a), std::get<PrimExpr>(b))) {
      return std::nullopt;
    }
    PrimExpr folded = TryFold(op, std::get<PrimExpr>(a), std::get<PrimExpr>(b));
    if (folded.defined()) return Form(std::move(folded));
    return std::nullopt;
  }
  const auto is = [](const IntImmNode* node, int64_t value) {
    return node != nullptr && node->value() == value;
  };
  switch (op) {
    case BinaryOp::kAdd:
      if (is(x, 0)) return b;
      if (is(y, 0)) return a;
      return std::nullopt;
    case BinaryOp::kSub:
      if (is(y, 0)) return a;
      return std::nullopt;
    case BinaryOp::kMul:
      if (is(x, 1)) return b;
      if (is(x, 0)) return a;
      if (is(y, 1)) return a;
      if (is(y, 0)) return b;
      return std::nullopt;
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      if (is(y, 0)) return std::nullopt;
      if (is(x, 0) || is(y, 1)) return a;
      return std::nullopt;
    default:  // kMod, kFloorMod
      if (is(y, 0)) return std::nullopt;
      if (is(x, 0)) return a;
      if (is(y, 1)) return Form(IntImm(PrimExpr(y).dtype(), 0));
      return std::nullopt;
  }
}

PrimExpr CanonicalSimplifier::SimplifyBinary(const BinaryNode* node) {
  if (node->op() == BinaryOp::kLT) return Less(node);
  if (node->op() > BinaryOp::kFloorMod || !IsIndexType(node->dtype())) {
    return RewriteSimplifier::SimplifyBinary(node);
  }
  return ToExpr(MutateBinary(node));
}

PrimExpr CanonicalSimplifier::VisitCast(const CastNode* node) {
  return ToExpr(MutateCast(node));
}

CanonicalSimplifier::Form CanonicalSimplifier::Mutate(const PrimExpr& e) {
  if (const auto* node = e.As<BinaryNode>()) {
    if (node->op() <= BinaryOp::kFloorMod && IsIndexType(node->dtype())) {
      return OnDeepStack([&] { return MutateBinary(node); });
    }
  } else if (const auto* cast = e.As<CastNode>()) {
    return OnDeepStack([&] { return MutateCast(cast); });
  }
  return Rewrite(e);
}

CanonicalSimplifier::Form CanonicalSimplifier::MutateBinary(
    const BinaryNode* node) {
  if (node->op() <= BinaryOp::kMul) return MutateOperation(node);
  // Divisions prove, and what they prove is simplified again.
  const uint64_t version = analyzer_.parts().version;
  if (forms_version_ != version) {
    forms_.Clear();
    forms_version_ = version;
  } else if (const KnownForm* known = forms_.Find(node)) {
    return known->form;
  }
  Form form = MutateOperation(node);
  if (forms_version_ == analyzer_.parts().version) {
    forms_[node] = {PrimExpr(node), form};
  }
  return form;
}

// The sum that begins with the sum `node->a()`, and so on, without recursion.
CanonicalSimplifier::Form CanonicalSimplifier::MutateLongSum(
    const BinaryNode* node) {
  std::vector<const BinaryNode*> nodes;
  const PrimExpr* first = nullptr;
  for (; node != nullptr; node = AsSum(*first)) {
    nodes.push_back(node);
    first = &node->a();
  }
  Form form = Mutate(*first);
  std::optional<LongSum> sum;
  for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
    const BinaryOp op = (*it)->op();
    Form b = Mutate((*it)->b());
    if (!sum.has_value()) {
      if (std::optional<Form> folded = Fold(op, form, b)) {
        form = *std::move(folded);
        continue;
      }
      sum.emplace(ToSum(std::move(form)));
    }
    sum->Add(b, op == BinaryOp::kAdd ? 1 : -1);
  }
  if (!sum.has_value()) return form;
  return std::move(*sum).Take();
}

// The sum that ends with the sum `node->b()`, and so on, without recursion.
CanonicalSimplifier::Form CanonicalSimplifier::MutateLongRightSum(
    const BinaryNode* node) {
  std::vector<const BinaryNode*> nodes;
  const PrimExpr* last = nullptr;
  for (; node != nullptr; node = AsSum(*last)) {
    nodes.push_back(node);
    last = &node->b();
  }
  Form form = Mutate(*last);
  const auto add = [this, &form](const BinaryNode* outer, Form a) {
    if (std::optional<Form> folded = Fold(outer->op(), a, form)) {
      form = *std::move(folded);
    } else {
      form = AddSub(outer, std::move(a), std::move(form));
    }
  };
  while (!nodes.empty() && !std::holds_alternative<Sum>(form)) {
    Form a = Mutate(nodes.back()->a());
    add(nodes.back(), std::move(a));
    nodes.pop_back();
  }
  // Where no terms of the inner sums cancel out, the order of additions does
  // not matter.
  std::vector<Form> terms;  // from the right, each with the sign before it
  std::vector<int64_t> signs;
  int64_t sign = 1;
  for (const BinaryNode* outer : nodes) {
    signs.push_back(sign);
    if (outer->op() == BinaryOp::kSub) sign = -sign;
  }
  LongSum inner{Sum()};
  inner.Add(form, sign);
  for (size_t i = nodes.size(); i-- > 0;) {
    terms.push_back(Mutate(nodes[i]->a()));
    if (i > 0) inner.Add(terms.back(), signs[i]);
  }
  if (!nodes.empty() && !inner.cancels()) {
    LongSum sum(ToSum(terms.back()));
    for (size_t i = 1; i < nodes.size(); ++i) {
      sum.Add(terms[nodes.size() - 1 - i], signs[i]);
    }
    sum.Add(form, sign);
    return std::move(sum).Take();
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    add(nodes[nodes.size() - 1 - i], std::move(terms[i]));
  }
  return form;
}

CanonicalSimplifier::Form CanonicalSimplifier::MutateOperation(
    const BinaryNode* node) {
  if (IsLongSum(node, true)) return MutateLongSum(node);
  if (IsLongSum(node, false)) return MutateLongRightSum(node);
  Form a = Mutate(node->a());
  Form b = Mutate(node->b());
  if (std::optional<Form> folded = Fold(node->op(), a, b)) {
    return *std::move(folded);
  }
  switch (node->op()) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub:
      return AddSub(node, std::move(a), std::move(b));
    case BinaryOp::kMul:
      return Multiply(node, std::move(a), std::move(b));
    case BinaryOp::kDiv:
    case BinaryOp::kFloorDiv:
      return Divide(node, std::move(a), std::move(b));
    default:
      return Modulo(node, std::move(a), std::move(b));
  }
}

CanonicalSimplifier::Form CanonicalSimplifier::AddSub(const BinaryNode* node,
                                                      Form a, Form b) {
  Sum sum = ToSum(std::move(a));
  AddTo(sum, b, node->op() == BinaryOp::kAdd ? 1 : -1);
  return sum;
}

CanonicalSimplifier::Form CanonicalSimplifier::Multiply(const BinaryNode* node,
                                                        Form a, Form b) {
  const auto imm = [](const Form& form) -> const IntImmNode* {
    const auto* e = std::get_if<PrimExpr>(&form);
    return e != nullptr ? e->As<IntImmNode>() : nullptr;
  };
  if (imm(a) != nullptr) std::swap(a, b);
  if (const IntImmNode* factor = imm(b)) {
    if (auto* sum = std::get_if<Sum>(&a)) {
      if (CanMultiply(*sum, factor->value())) {
        Multiply(*sum, factor->value());
        return a;
      }
    } else {
      Split split = ToSplit(a);
      int64_t scale = 0;
      if (!__builtin_mul_overflow(split.scale, factor->value(), &scale) &&
          ScaleFits(split, scale)) {
        split.scale = scale;
        return split;
      }
    }
    // The product of the constants is out of range.
    return PrimExpr(Binary(BinaryOp::kMul, ToExpr(a), ToExpr(b)));
  }
  PrimExpr product = MulAndNormalize(ToExpr(a), ToExpr(b));
  const auto* mul = AsBinary(product, BinaryOp::kMul);
  if (mul != nullptr && mul->a() == node->a() && mul->b() == node->b()) {
    return PrimExpr(node);
  }
  return product;
}

CanonicalSimplifier::Split CanonicalSimplifier::DivideByConstant(
    Split split, int64_t divisor, bool floors) {
  split = WithRounding(std::move(split), floors);
  if (split.scale % divisor == 0) {
    split.scale /= divisor;
    return split;
  }
  if (TruncMod(divisor, split.scale) == 0) {
    const int64_t scaled = TruncDiv(divisor, split.scale);
    // Quotients of negative divisors that round down are no quotients of x.
    if (!Overflows(split.lower, scaled, split.dtype) &&
        (!floors || scaled > 0 || split.lower == 1)) {
      const int64_t lower = split.lower * scaled;
      if (split.upper == kNoUpper || TruncMod(split.upper, lower) == 0) {
        split.scale = 1;
        split.lower = lower;
        return split;
      }
      if (split.upper > 0 && split.upper <= lower) {
        return ToSplit(MakeConst(split.dtype, 0));
      }
      split.index = Rest(split.index, split.upper, floors);
      split.upper = kNoUpper;
      split.scale = 1;
      split.lower = lower;
      return split;
    }
  }
  split = ToSplit(ToExpr(split));
  split.lower = divisor;
  split.floors = floors;
  return split;
}

CanonicalSimplifier::Split CanonicalSimplifier::ModuloConstant(Split split,
                                                               int64_t divisor,
                                                               bool floors) {
  split = WithRounding(std::move(split), floors);
  if (split.scale % divisor == 0) {
    split.scale = 0;
    return split;
  }
  if (TruncMod(divisor, split.scale) == 0) {
    // (index % upper) // lower * scale % divisor is
    // (index % upper) // lower % scaled * scale with scaled = divisor / scale,
    // and x // c1 % c2 is x % (c1 * c2) // c1, if that rounds down where c2 is
    // positive or c1 is 1.
    const int64_t scaled = TruncDiv(divisor, split.scale);
    if (!Overflows(split.lower, scaled, split.dtype) &&
        (!floors || scaled > 0 || split.lower == 1)) {
      const int64_t upper = split.lower * scaled;
      if (split.upper == kNoUpper || TruncMod(split.upper, upper) == 0) {
        if (upper < split.upper && split.upper != kNoUpper) {
          // The rest of the index with the new factor may be simpler.
          Split updated = ToSplit(Rewrite(Rest(split.index, upper, floors)));
          if (split.lower != 1) {
            updated = DivideByConstant(std::move(updated), split.lower, floors);
          }
          updated.scale = WrappedMul(updated.scale, split.scale);
          return updated;
        }
        split.upper = upper;
        return split;
      }
      if (TruncMod(upper, split.upper) == 0 &&
          (!floors || (upper > 0) == (split.upper > 0))) {
        return split;
      }
    }
  }
  split = ToSplit(ToExpr(split));
  split.floors = floors;
  split.upper = divisor;
  return split;
}

CanonicalSimplifier::Form CanonicalSimplifier::Divide(const BinaryNode* node,
                                                      Form a, Form b) {
  const bool floors = node->op() == BinaryOp::kFloorDiv;
  PrimExpr divisor_expr = ToExpr(b);
  const auto* imm = divisor_expr.As<IntImmNode>();
  if (imm != nullptr && imm->value() > 0) {
    const int64_t divisor = imm->value();
    if (divisor == 1) return a;
    if (const auto* sum = std::get_if<Sum>(&a)) {
      Sum multiples;
      Sum others;
      Separate(*sum, divisor, multiples, others);
      const bool exact = others.base == 0 && others.args.empty();
      if (exact) {
        DivideExactly(multiples, divisor);
        return multiples;
      }
      if (floors || (analyzer_.CanProveGreaterEqual(ToExpr(multiples), 0) &&
                     analyzer_.CanProveGreaterEqual(ToExpr(others), 0))) {
        DivideExactly(multiples, divisor);
        PrimExpr rest = ToExpr(others);
        if (const auto* constant = rest.As<IntImmNode>()) {
          multiples.base = WrappedAdd(
              multiples.base, floors ? FloorDiv(constant->value(), divisor)
                                     : TruncDiv(constant->value(), divisor));
        } else if (TryCompare(rest, divisor) != CompareResult::kLT ||
                   (floors && !analyzer_.CanProveGreaterEqual(rest, 0))) {
          AddTo(multiples, DivideByConstant(ToSplit(rest), divisor, floors), 1);
        }
        return multiples;
      }
    } else {
      const ConstIntBound bound = analyzer_.BoundOf(ToExpr(a));
      if (bound.min >= 0 && bound.max < divisor) {
        return MakeConst(node->dtype(), 0);
      }
    }
    return DivideByConstant(ToSplit(std::move(a)), divisor, floors);
  }
  PrimExpr x = ToExpr(a);
  PrimExpr factor;
  if (CancelFactors(x, divisor_expr, factor)) {
    return MakeBinary(node->op(), x, divisor_expr);
  }
  if (x == node->a() && divisor_expr == node->b()) return PrimExpr(node);
  return Binary(node->op(), x, divisor_expr);
}

CanonicalSimplifier::Form CanonicalSimplifier::Modulo(const BinaryNode* node,
                                                      Form a, Form b) {
  const bool floors = node->op() == BinaryOp::kFloorMod;
  PrimExpr divisor_expr = ToExpr(b);
  const auto* imm = divisor_expr.As<IntImmNode>();
  // The largest integer stands for no divisor in a form.
  if (imm != nullptr && imm->value() > 0 && imm->value() != kNoUpper) {
    const int64_t divisor = imm->value();
    if (auto* sum = std::get_if<Sum>(&a)) {
      Sum multiples;
      Sum others;
      Separate(*sum, divisor, multiples, others);
      const auto constant = [&](const IntImmNode* rest) -> PrimExpr {
        return Constant(node->dtype(), floors
                                           ? FloorMod(rest->value(), divisor)
                                           : TruncMod(rest->value(), divisor));
      };
      if (floors) {
        PrimExpr rest = ToExpr(others);
        if (const auto* value = rest.As<IntImmNode>()) return constant(value);
        if (TryCompare(rest, divisor) == CompareResult::kLT &&
            analyzer_.CanProveGreaterEqual(rest, 0)) {
          return rest;
        }
        others.base = FloorMod(others.base, divisor);
        return ModuloConstant(ToSplit(std::move(others)), divisor, true);
      }
      if (others.base == 0 && others.args.empty()) {
        return MakeConst(node->dtype(), 0);
      }
      if (analyzer_.CanProveGreaterEqual(ToExpr(multiples), 0) &&
          analyzer_.CanProveGreaterEqual(ToExpr(others), 0)) {
        PrimExpr rest = ToExpr(others);
        if (const auto* value = rest.As<IntImmNode>()) return constant(value);
        if (TryCompare(rest, divisor) == CompareResult::kLT) return rest;
        *sum = std::move(others);
      }
      // A constant above the divisor is reduced where the sum stays positive.
      const ConstIntBound bound = analyzer_.BoundOf(ToExpr(*sum));
      const int64_t base = TruncMod(sum->base, divisor);
      if (bound.min >= 0 &&
          (bound.min == ConstIntBound::kPosInf ||
           WrappedAdd(WrappedSub(bound.min, sum->base), base) >= 0)) {
        sum->base = base;
      }
      return ModuloConstant(ToSplit(std::move(a)), divisor, false);
    }
    const ConstIntBound bound = analyzer_.BoundOf(ToExpr(a));
    if (bound.min >= 0 && bound.max < divisor) return a;
    return ModuloConstant(ToSplit(std::move(a)), divisor, floors);
  }
  PrimExpr x = ToExpr(a);
  PrimExpr factor;
  if (CancelFactors(x, divisor_expr, factor)) {
    return Mul(MakeBinary(node->op(), x, divisor_expr), factor);
  }
  if (x == node->a() && divisor_expr == node->b()) return PrimExpr(node);
  return Binary(node->op(), x, divisor_expr);
}

bool CanonicalSimplifier::CancelFactors(PrimExpr& a, PrimExpr& b,
                                        PrimExpr& factor) {
  // Constants are for the other rules.
  if (b.Is<IntImmNode>()) return false;
  std::vector<PrimExpr> left;
  int64_t left_scale = 1;
  int64_t right_scale = 1;
  bool fits = true;
  const auto multiply = [&](int64_t& scale, int64_t value) {
    fits = fits && !__builtin_mul_overflow(scale, value, &scale) &&
           FitsDType(scale, b.dtype());
  };
  UnpackReduction(a, BinaryOp::kMul, [&](const PrimExpr& e) {
    if (const auto* imm = e.As<IntImmNode>()) {
      multiply(left_scale, imm->value());
    } else {
      left.push_back(e);
    }
  });
  PrimExpr right = MakeConst(b.dtype(), 1);
  PrimExpr common = MakeConst(b.dtype(), 1);
  bool eliminated = false;
  UnpackReduction(b, BinaryOp::kMul, [&](const PrimExpr& e) {
    if (const auto* imm = e.As<IntImmNode>()) {
      multiply(right_scale, imm->value());
      return;
    }
    for (PrimExpr& other : left) {
      if (!other.defined() || !ExprDeepEqual(e, other)) continue;
      other = PrimExpr();
      eliminated = true;
      common = Mul(common, e);
      return;
    }
    right = Mul(right, e);
  });
  const int64_t gcd = Gcd(left_scale, right_scale);
  if (!fits || !FitsDType(gcd, b.dtype())) return false;
  if (gcd == 0 || (!eliminated && gcd == 1)) return false;
  PrimExpr rest = MakeConst(a.dtype(), 1);
  for (const PrimExpr& e : left) {
    if (e.defined()) rest = Mul(rest, e);
  }
  a = Mul(rest, Constant(a.dtype(), left_scale / gcd));
  factor = Mul(common, Constant(b.dtype(), gcd));
  b = Mul(right, Constant(b.dtype(), right_scale / gcd));
  return true;
}

// --- Other nodes -------------------------------------------------------------

bool CanonicalSimplifier::FitsIn(DType dtype, const PrimExpr& e) {
  if (!IsIndexType(dtype)) return false;
  if (e.dtype().bits() <= dtype.bits()) return true;
  const ConstIntBound bound = analyzer_.BoundOf(e);
  return FitsDType(bound.min, dtype) && FitsDType(bound.max, dtype);
}

// True if all parts of `split` fit in `dtype`.
bool CanonicalSimplifier::CanCast(const Split& split, DType dtype) {
  if (dtype.bits() >= split.dtype.bits() || split.scale == 0) return true;
  PrimExpr e = split.index;
  if (!FitsIn(dtype, e)) return false;
  if (split.upper != kNoUpper) {
    e = Rest(e, split.upper, split.floors);
    if (!FitsIn(dtype, e)) return false;
  }
  if (split.lower != 1) {
    e = Quotient(e, split.lower, split.floors);
    if (!FitsIn(dtype, e)) return false;
  }
  return split.scale == 1 ||
         FitsIn(dtype, Mul(e, Constant(split.dtype, split.scale)));
}

bool CanonicalSimplifier::CanCast(const Sum& sum, DType dtype) {
  if (dtype.bits() >= sum.dtype.bits()) return true;
  const bool least = sum.base == LeastOf(dtype);
  PrimExpr e = MakeConst(dtype, 0);
  for (const Split& arg : sum.args) {
    if (arg.scale <= 0) continue;
    e = Add(e, ToExpr(arg));
    if (!FitsIn(dtype, e)) return false;
  }
  if (!FitsDType(sum.base, dtype)) return false;
  if (sum.base > 0 || least) {
    e = Add(e, MakeConst(dtype, sum.base));
    if (!FitsIn(dtype, e)) return false;
  }
  for (const Split& arg : sum.args) {
    if (arg.scale >= 0) continue;
    e = Sub(e, ToExpr(arg, -1));
    if (!FitsIn(dtype, e)) return false;
  }
  if (sum.base < 0 && !least) {
    e = Sub(e, MakeConst(dtype, -sum.base));
    if (!FitsIn(dtype, e)) return false;
  }
  return std::all_of(sum.args.begin(), sum.args.end(),
                     [&](const Split& arg) { return CanCast(arg, dtype); });
}

CanonicalSimplifier::Form CanonicalSimplifier::MutateCast(
    const CastNode* node) {
  const DType dtype = node->dtype();
  if (!IsIndexType(dtype)) return RewriteSimplifier::VisitCast(node);
  Form value = Mutate(node->value());
  const auto cast_split = [dtype](Split& split) {
    split.index = CastTo(dtype, split.index);
    split.dtype = dtype;
  };
  if (auto* sum = std::get_if<Sum>(&value)) {
    if (CanCast(*sum, dtype)) {
      for (Split& arg : sum->args) cast_split(arg);
      sum->dtype = dtype;
      return value;
    }
  } else if (auto* split = std::get_if<Split>(&value)) {
    if (CanCast(*split, dtype)) {
      cast_split(*split);
      return value;
    }
  }
  PrimExpr e = ToExpr(value);
  PrimExpr result = CastTo(dtype, e);
  const auto* cast = result.As<CastNode>();
  return cast != nullptr && cast->value() == node->value() ? PrimExpr(node)
                                                           : result;
}

PrimExpr CanonicalSimplifier::Less(const BinaryNode* node) {
  if (!IsIndexType(node->a().dtype())) {
    return RewriteSimplifier::SimplifyBinary(node);
  }
  Form a = Mutate(node->a());
  Form b = Mutate(node->b());
  // a < b as a - b < 0. With d the greatest common divisor of the scales and
  // the constant, e the terms that are no multiples of it, and d * q the others:
  // - if 0 <= e < d, or -d < e < d and q is not 0, the comparison is q < 0;
  // - if e is y % m and d divides m, e becomes y // d % (m / d).
  std::optional<Form> difference;
  if (const PrimExpr folded = TryFold(BinaryOp::kSub, node->a(), node->b());
      folded.defined()) {
    if (folded == node->a()) {
      difference = a;
    } else {
      difference = folded;
    }
  } else {
    difference = Fold(BinaryOp::kSub, a, b);
    if (!difference.has_value()) {
      Sum sum = ToSum(a);
      AddTo(sum, b, -1);
      difference = std::move(sum);
    }
  }
  if (const auto* sum = std::get_if<Sum>(&*difference)) {
    int64_t gcd = sum->base;
    bool scaled = false;
    for (const Split& arg : sum->args) {
      if (arg.scale <= 1 && arg.scale >= -1) continue;
      scaled = true;
      gcd = Gcd(gcd, arg.scale);
    }
    if (scaled && gcd > 1 && FitsDType(gcd, sum->dtype)) {
      Sum multiples;
      Sum others;
      Separate(*sum, gcd, multiples, others);
      const DType dtype = sum->dtype;
      const PrimExpr rest = ToExpr(others);
      const PrimExpr zero = MakeConst(dtype, 0);
      if (analyzer_.CanProve(
              MakeBinary(BinaryOp::kLT, rest, Constant(dtype, gcd)))) {
        Sum divided = multiples;
        DivideExactly(divided, gcd);
        const PrimExpr quotient = ToExpr(divided);
        const bool is_not_negative =
            analyzer_.CanProve(MakeBinary(BinaryOp::kGE, rest, zero));
        if (is_not_negative ||
            (ExcludesZero(analyzer_.ModularSetOf(quotient)) &&
             analyzer_.CanProve(
                 MakeBinary(BinaryOp::kGT, rest, Constant(dtype, -gcd))))) {
          return Rewrite(MakeBinary(BinaryOp::kLT, quotient, zero));
        }
      }
      if (others.args.size() == 1 && others.base == 0) {
        const Split& split = others.args[0];
        if (split.scale == 1 && split.upper != kNoUpper && split.floors &&
            !Overflows(gcd, split.lower, sum->dtype) &&
            split.upper % (gcd * split.lower) == 0) {
          const int64_t lower = gcd * split.lower;
          DivideExactly(multiples, gcd);
          const PrimExpr quotient = Rest(Quotient(split.index, lower, true),
                                         split.upper / lower, true);
          return Rewrite(MakeBinary(BinaryOp::kLT,
                                    Add(ToExpr(multiples), quotient), zero));
        }
      }
    }
  }
  return Combine(node, ToExpr(a), ToExpr(b));
}

PrimExpr CanonicalSimplifier::VisitReduce(const ReduceNode* node) {
  PrimExpr e = AnalyzingRewriter::VisitReduce(node);
  const auto* reduce = e.As<ReduceNode>();
  if (reduce == nullptr || !reduce->axis().empty() || !reduce->init().empty()) {
    return e;
  }
  const size_t i = static_cast<size_t>(reduce->value_index());
  return Rewrite(Select(reduce->condition(), reduce->source()[i],
                        reduce->combiner()->identity()[i]));
}

}  // namespace baton::tir
