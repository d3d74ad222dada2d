#include "baton/tir/arith/iter_map_rewriter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/deep_stack.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/canonical_simplify.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/rewrite_simplify.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {
namespace {

// Constants whose result is out of range stay two: nothing is proved of them.
PrimExpr Op(BinaryOp op, const PrimExpr& a, const PrimExpr& b) {
  return MakeBinaryInRange(op, a, b);
}
PrimExpr Plus(const PrimExpr& a, const PrimExpr& b) {
  return Op(BinaryOp::kAdd, a, b);
}
PrimExpr Minus(const PrimExpr& a, const PrimExpr& b) {
  return Op(BinaryOp::kSub, a, b);
}
PrimExpr Times(const PrimExpr& a, const PrimExpr& b) {
  return Op(BinaryOp::kMul, a, b);
}
PrimExpr FloorDivide(const PrimExpr& a, const PrimExpr& b) {
  return Op(BinaryOp::kFloorDiv, a, b);
}
PrimExpr FloorModulo(const PrimExpr& a, const PrimExpr& b) {
  return Op(BinaryOp::kFloorMod, a, b);
}
PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }
PrimExpr Negate(const PrimExpr& e) { return Minus(MakeConst(e.dtype(), 0), e); }
// The quotient, rounded up.
PrimExpr CeilDivide(const PrimExpr& a, const PrimExpr& b) {
  return FloorDivide(Minus(Plus(a, b), MakeConst(a.dtype(), 1)), b);
}

IterSplit SplitOf(const IterMark& mark) {
  const PrimExpr one = MakeConst(mark.extent().dtype(), 1);
  return {mark, one, mark.extent(), one};
}
IterSplit SplitOf(const IterMark& mark, const PrimExpr& scale) {
  return {mark, MakeConst(mark.extent().dtype(), 1), mark.extent(), scale};
}

bool SameSum(const IterSum& a, const IterSum& b) {
  if (a.args.size() != b.args.size() || !ExprDeepEqual(a.base, b.base)) {
    return false;
  }
  for (size_t i = 0; i < a.args.size(); ++i) {
    if (!SameSplit(a.args[i], b.args[i])) return false;
  }
  return true;
}

// Equality by content, for marks that are made anew in each pass.
bool SameMark(const IterMark& a, const IterMark& b) {
  if (a.same_as(b)) return true;
  if (!ExprDeepEqual(a.extent(), b.extent())) return false;
  if (a.sum() == nullptr || b.sum() == nullptr) {
    return a.sum() == nullptr && b.sum() == nullptr &&
           ExprDeepEqual(a.expr(), b.expr());
  }
  const IterSum& x = *a.sum();
  const IterSum& y = *b.sum();
  if (x.args.size() != y.args.size() || !ExprDeepEqual(x.base, y.base)) {
    return false;
  }
  for (size_t i = 0; i < x.args.size(); ++i) {
    const IterSplit& s = x.args[i];
    const IterSplit& t = y.args[i];
    if (!SameMark(s.source, t.source) ||
        !ExprDeepEqual(s.lower_factor, t.lower_factor) ||
        !ExprDeepEqual(s.extent, t.extent) ||
        !ExprDeepEqual(s.scale, t.scale)) {
      return false;
    }
  }
  return true;
}

int FirstUnitExtent(const IterSum& sum) {
  size_t i = 0;
  while (i < sum.args.size() && !IsOne(sum.args[i].extent)) ++i;
  return static_cast<int>(i);
}

int NumFactors(const PrimExpr& e) {
  int factors = 0;
  UnpackReduction(e, BinaryOp::kMul, [&](const PrimExpr&) { ++factors; });
  return factors;
}

// A common multiple of `a` and `b`, mostly the least.
PrimExpr CommonMultiple(const PrimExpr& a, const PrimExpr& b,
                        Analyzer& analyzer) {
  const auto split = [](const PrimExpr& e) -> std::pair<PrimExpr, int64_t> {
    if (const auto* imm = e.As<IntImmNode>()) return {Int(1), imm->value()};
    if (const auto* mul = AsBinary(e, BinaryOp::kMul)) {
      if (const auto* imm = mul->b().As<IntImmNode>()) {
        return {mul->a(), imm->value()};
      }
      if (const auto* imm = mul->a().As<IntImmNode>()) {
        return {mul->b(), imm->value()};
      }
    }
    return {e, 1};
  };
  const auto [x, m] = split(a);
  const auto [y, n] = split(b);
  const int64_t gcd = Gcd(m, n);
  const PrimExpr multiple =
      gcd == 0 ? Int(0)
               : Times(MakeConst(a.dtype(), m / gcd), MakeConst(b.dtype(), n));
  if (analyzer.CanProveEqual(x, y) ||
      analyzer.CanProveEqual(FloorModulo(x, y), Int(0))) {
    return Times(x, multiple);
  }
  if (analyzer.CanProveEqual(FloorModulo(y, x), Int(0))) {
    return Times(y, multiple);
  }
  return Times(Times(x, y), multiple);
}

}  // namespace

// --- IterMapRewriter ---------------------------------------------------------

IterMapRewriter::IterMapRewriter(Analyzer& analyzer, const VarRanges& iters,
                                 IterMapLevel level, bool simplify_trivial,
                                 std::vector<std::string>& errors)
    : analyzer_(analyzer),
      level_(level),
      errors_(errors),
      padding_predicate_(IntImm::Bool(false)) {
  for (const auto& [var, range] : iters) {
    if (simplify_trivial && IsOne(range.extent)) {
      vars_.Set(var, IterSum{{}, range.min});
    } else if (IsZero(range.min)) {
      inputs_.emplace_back(var, range.extent);
      vars_.Set(var, SplitOf(inputs_.back()));
    } else {
      inputs_.emplace_back(Minus(var, range.min), range.extent);
      vars_.Set(var, IterSum{{SplitOf(inputs_.back())}, range.min});
    }
  }
}

bool IterMapRewriter::ProveEqual(const PrimExpr& a, const PrimExpr& b) {
  return analyzer_.CanProveEqual(a, b);
}

bool IterMapRewriter::ProveDivisible(const PrimExpr& a, const PrimExpr& b) {
  const auto* x = a.As<IntImmNode>();
  const auto* y = b.As<IntImmNode>();
  if (y != nullptr && y->value() == 0) return false;
  if (x != nullptr && y != nullptr)
    return TruncMod(x->value(), y->value()) == 0;
  return ProveEqual(a, b) ||
         analyzer_.CanProve(Op(BinaryOp::kEQ, FloorModulo(a, b), Int(0)));
}

IterSum IterMapRewriter::ToSum(const Form& form) {
  if (const auto* sum = std::get_if<IterSum>(&form)) return *sum;
  if (const auto* split = std::get_if<IterSplit>(&form)) {
    return {{*split}, MakeConst(split->extent.dtype(), 0)};
  }
  return {{}, std::get<PrimExpr>(form)};
}

IterSum IterMapRewriter::Rewrite(const PrimExpr& index) {
  IterSum sum = ToSum(Mutate(index));
  if (sum.args.empty()) return sum;
  if (std::optional<IterSum> fused = Fuse(sum, true)) return *std::move(fused);
  Error("an index is no sum of fused iterators");
  return sum;
}

IterSum IterMapRewriter::RewriteAndPad(const PrimExpr& index) {
  pads_ = true;
  IterSum sum = Rewrite(index);
  pads_ = false;
  return sum;
}

void IterMapRewriter::AddConstraint(const PrimExpr& iter, PrimExpr min,
                                    PrimExpr max) {
  IterSum sum = ToSum(Mutate(iter));
  if (!IsZero(sum.base)) {
    if (min.defined()) min = Minus(min, sum.base);
    if (max.defined()) max = Minus(max, sum.base);
    sum.base = Int(0);
  }
  const std::optional<IterSum> fused = Fuse(sum, false);
  const IterSum* structured = nullptr;
  if (fused.has_value() && fused->args.size() == 1 &&
      IsOne(fused->args[0].scale)) {
    structured = fused->args[0].source.sum();
  }
  if (structured == nullptr) {
    Error("a condition is no bound of fused iterators");
    return;
  }
  const auto flattened = std::find_if(
      flattened_.begin(), flattened_.end(),
      [&](const auto& entry) { return SameSum(entry.first, *structured); });
  if (flattened == flattened_.end()) {
    Error("a condition is no bound of fused iterators");
    return;
  }
  const IterSum flat = flattened->second;
  const auto entry = std::find_if(
      fused_.begin(), fused_.end(),
      [&](const Fused& known) { return SameSum(known.flattened, flat); });
  if (entry == fused_.end()) {
    Error("a condition is no bound of fused iterators");
    return;
  }
  IterSum source = *structured;
  PrimExpr iter_min = entry->offset;
  PrimExpr iter_max = Plus(iter_min, entry->mark.extent());
  PrimExpr delta = MakeConst(iter_min.dtype(), 0);
  if (min.defined()) {
    // The reference moves the iterator by `min`, also where that is below its
    // least value.
    const PrimExpr least = std::move(iter_min);
    iter_min = Op(BinaryOp::kMax, min, least);
    delta = Minus(iter_min, least);
  }
  if (max.defined()) {
    // Conditions mostly constrain, so their bound is taken where that can be
    // proved.
    iter_max = analyzer_.CanProve(Op(BinaryOp::kLE, max, iter_max))
                   ? max
                   : Op(BinaryOp::kMin, max, iter_max);
  }
  if (!IsZero(delta)) {
    flattened_.erase(flattened);
    source.base = Minus(source.base, delta);
    flattened_.emplace_back(source, flat);
    entry->mark = IterMark(source, Minus(iter_max, iter_min));
  } else {
    entry->mark = entry->mark.sum() != nullptr
                      ? IterMark(*entry->mark.sum(), Minus(iter_max, iter_min))
                      : IterMark(entry->mark.expr(), Minus(iter_max, iter_min));
  }
  entry->offset = iter_min;
  constrained_.push_back(flat);
}

// Constraints must contain each other or have no iterator in common.
bool IterMapRewriter::CheckConstraints() const {
  for (size_t i = 0; i < constrained_.size(); ++i) {
    for (size_t j = i + 1; j < constrained_.size(); ++j) {
      size_t found = 0;
      for (const IterSplit& a : constrained_[i].args) {
        if (std::any_of(constrained_[j].args.begin(),
                        constrained_[j].args.end(),
                        [&](const IterSplit& b) { return SameSplit(a, b); })) {
          ++found;
        }
      }
      if (found != 0 && found != constrained_[i].args.size()) return false;
    }
  }
  return true;
}

IterSum IterMapRewriter::RewriteToNormalizedSum(const PrimExpr& index) {
  IterSum sum = ToSum(Mutate(index));
  if (sum.args.empty()) return sum;
  if (std::optional<IterSum> combined = CombineSplits(sum)) {
    sum = *std::move(combined);
    if (sum.args.empty()) return sum;
  }
  struct Item {
    int64_t scale;
    int symbols;
    IterSplit split;
  };
  std::vector<Item> items;
  for (IterSplit split : sum.args) {
    int64_t scale = 1;
    int symbols = 0;
    PrimExpr product = MakeConst(split.extent.dtype(), 1);
    UnpackReduction(split.scale, BinaryOp::kMul, [&](const PrimExpr& e) {
      const auto* imm = e.As<IntImmNode>();
      int64_t scaled = 0;
      if (imm != nullptr &&
          !__builtin_mul_overflow(scale, imm->value(), &scaled) &&
          FitsDType(scaled, product.dtype())) {
        scale = scaled;
      } else {
        product = Times(product, e);
        ++symbols;
      }
    });
    if (scale != 1) product = Times(product, MakeConst(product.dtype(), scale));
    split.scale = product;
    items.push_back({scale, symbols, std::move(split)});
  }
  std::stable_sort(
      items.begin(), items.end(), [](const Item& a, const Item& b) {
        return a.scale != b.scale ? a.scale > b.scale : a.symbols > b.symbols;
      });
  sum.args.clear();
  for (Item& item : items) sum.args.push_back(std::move(item.split));
  return sum;
}

// --- Independence ------------------------------------------------------------

bool IterMapRewriter::CheckMapping(absl::Span<const IterSum> sums) {
  SplitsOfMarks marks;
  marks.Collect(sums);
  for (const SplitsOfMarks::Entry& entry : marks.entries()) {
    if (!NormalizeSplits(entry)) return false;
  }
  if (level_ != IterMapLevel::kBijective) return true;
  return std::all_of(inputs_.begin(), inputs_.end(), [&](const IterMark& mark) {
    return marks.Find(mark) != nullptr || IsOne(mark.extent());
  });
}

// The unused split with the least lower factor; all must be multiples of
// `factor`.
size_t IterMapRewriter::SkipToSplit(const std::vector<IterSplit>& splits,
                                    const std::vector<bool>& used,
                                    const PrimExpr& factor) {
  size_t result = splits.size();
  for (size_t i = 0; i < splits.size(); ++i) {
    if (used[i]) continue;
    if (!ProveDivisible(splits[i].lower_factor, factor)) return splits.size();
    if (result == splits.size() ||
        ProveDivisible(splits[result].lower_factor, splits[i].lower_factor)) {
      result = i;
    }
  }
  return result;
}

// True if the splits of a mark do not overlap and cover it as the level
// demands.
bool IterMapRewriter::NormalizeSplits(const SplitsOfMarks::Entry& entry) {
  const std::vector<IterSplit>& splits = entry.splits;
  std::vector<bool> used(splits.size(), false);
  PrimExpr factor = MakeConst(entry.mark.extent().dtype(), 1);
  for (size_t i = 0; i < splits.size(); ++i) {
    size_t j = 0;
    while (j < splits.size() &&
           (used[j] || !ProveEqual(splits[j].lower_factor, factor))) {
      ++j;
    }
    if (j == splits.size()) {
      if (level_ == IterMapLevel::kBijective) return false;
      j = SkipToSplit(splits, used, factor);
      if (j == splits.size()) return false;
    }
    used[j] = true;
    factor = Times(splits[j].lower_factor, splits[j].extent);
  }
  const auto padding = std::find_if(
      paddings_.begin(), paddings_.end(), [&](const Padding& known) {
        return known.padded.defined() && SameMark(known.padded, entry.mark);
      });
  const bool padded = padding != paddings_.end();
  const bool full = ProveEqual(factor, entry.mark.extent());
  const bool divides = full || ProveDivisible(entry.mark.extent(), factor);
  if (level_ == IterMapLevel::kBijective) {
    if (padded) {
      Error("a bijective map has padded iterators");
      return false;
    }
    if (!full) Error("the splits do not cover the iterator");
    return full;
  }
  if (!padded) {
    if (!divides) Error("the splits do not divide the iterator");
    return divides;
  }
  if (level_ != IterMapLevel::kSurjective) return true;
  const PrimExpr& before = padding->mark.extent();
  const auto reaches = [&] {
    return analyzer_.CanProve(Op(BinaryOp::kGE, before, factor));
  };
  if (full) {
    if (splits.size() != 1) {
      Error("several splits depend on a padded iterator");
      return false;
    }
    if (ProveEqual(splits[0].extent, factor) && !reaches()) {
      Error("a split does not take all values of a padded iterator");
      return false;
    }
    return true;
  }
  if (!divides) {
    Error("the splits do not divide the padded iterator");
    return false;
  }
  if (!reaches()) {
    Error("the iterator before padding is shorter than its splits");
    return false;
  }
  return true;
}

// --- Fusion ------------------------------------------------------------------

// The split with the least scale, constants first, from `last` down.
int IterMapRewriter::FindBase(const IterSum& sum, const std::vector<bool>& skip,
                              const IterMark* source, int last) {
  int base = -1;
  int64_t least = 0;
  const auto skips = [&](int i) {
    return skip[i] ||
           (source != nullptr && !source->same_as(sum.args[i].source));
  };
  for (int i = last; i >= 0; --i) {
    if (skips(i)) continue;
    const auto* imm = sum.args[i].scale.As<IntImmNode>();
    if (imm == nullptr) continue;
    if (base == -1 || imm->value() < least) {
      least = imm->value();
      base = i;
    } else if (imm->value() == least && IsOne(sum.args[i].extent) &&
               !IsOne(sum.args[base].extent)) {
      base = i;  // iterators of one value come first
    }
  }
  int least_factors = 0;
  for (int i = last; i >= 0; --i) {
    if (skips(i)) continue;
    const int factors = NumFactors(sum.args[i].scale);
    if (base == -1 || factors < least_factors) {
      least_factors = factors;
      base = i;
    }
  }
  return base;
}

int IterMapRewriter::FindScale(const IterSum& sum,
                               const std::vector<bool>& skip,
                               const PrimExpr& scale, const IterMark* source,
                               int last, int first_unit) {
  int match = -1;
  for (int i = last; i >= 0; --i) {
    if (skip[i] ||
        (source != nullptr && !source->same_as(sum.args[i].source))) {
      continue;
    }
    if (!ProveEqual(sum.args[i].scale, scale)) continue;
    if (IsOne(sum.args[i].extent)) return i;
    if (match == -1) match = i;
    if (i <= first_unit) return match;
  }
  return match;
}

int IterMapRewriter::FindSmallerScale(const IterSum& sum,
                                      const std::vector<bool>& skip,
                                      const PrimExpr& scale,
                                      PrimExpr& matched) {
  int match = -1;
  for (int i = static_cast<int>(sum.args.size()) - 1; i >= 0; --i) {
    if (skip[i]) continue;
    const PrimExpr& current = sum.args[i].scale;
    if (!analyzer_.CanProveGreaterEqual(Minus(scale, current), 0) ||
        !analyzer_.CanProveGreaterEqual(current, 0)) {
      continue;
    }
    if (match == -1 || analyzer_.CanProveLess(Minus(matched, current), 0)) {
      match = i;
      matched = current;
    }
  }
  return match;
}

// Joins neighbouring splits of one source:
// ((x // (c * s)) % m) * s + ((x // c) % s) is (x // c) % (m * s).
std::optional<IterSum> IterMapRewriter::CombineSplits(const IterSum& sum) {
  const int n = static_cast<int>(sum.args.size());
  if (n <= 1) return std::nullopt;
  const auto count = [&](const IterMark& mark) {
    return std::count_if(
        sum.args.begin(), sum.args.end(),
        [&](const IterSplit& split) { return split.source.same_as(mark); });
  };
  if (std::all_of(sum.args.begin(), sum.args.end(),
                  [&](const IterSplit& s) { return count(s.source) == 1; })) {
    return std::nullopt;
  }
  std::vector<bool> visited(n, false);
  std::vector<IterSplit> reversed;
  const int first_unit = FirstUnitExtent(sum);
  for (int last = n - 1; last >= 0;) {
    if (visited[last]) {
      --last;
      continue;
    }
    if (count(sum.args[last].source) == 1) {
      reversed.push_back(sum.args[last]);
      visited[last] = true;
      --last;
      continue;
    }
    const IterMark source = sum.args[last].source;
    int match = FindBase(sum, visited, &source, last);
    visited[match] = true;
    IterSplit right = sum.args[match];
    while (true) {
      const PrimExpr scale = MulAndNormalize(right.extent, right.scale);
      match = FindScale(sum, visited, scale, &source, last, first_unit);
      if (match == -1) break;
      const IterSplit& left = sum.args[match];
      if (!ProveEqual(left.lower_factor,
                      MulAndNormalize(right.lower_factor, right.extent))) {
        break;
      }
      visited[match] = true;
      right.extent = MulAndNormalize(left.extent, right.extent);
    }
    reversed.push_back(std::move(right));
  }
  std::reverse(reversed.begin(), reversed.end());
  return IterSum{std::move(reversed), sum.base};
}

// The sum as one split of a fused iterator.
std::optional<IterSum> IterMapRewriter::Fuse(IterSum sum, bool early_skip) {
  if (std::optional<IterSum> combined = CombineSplits(sum)) {
    sum = *std::move(combined);
    if (sum.args.size() <= 1 && early_skip) return sum;
  }
  const int last = static_cast<int>(sum.args.size()) - 1;
  std::vector<bool> visited(sum.args.size(), false);
  const int base_index = FindBase(sum, visited, nullptr, last);
  if (base_index == -1) return std::nullopt;
  const PrimExpr base_scale = sum.args[base_index].scale;
  const PrimExpr zero = MakeConst(sum.base.dtype(), 0);
  std::vector<IterSplit> flat;
  std::vector<IterSplit> grouped;
  PrimExpr extra_base = zero;
  PrimExpr tail = zero;
  PrimExpr expected = base_scale;
  const int first_unit = FirstUnitExtent(sum);
  for (size_t i = 0; i < sum.args.size();) {
    PrimExpr scale;
    int match =
        i == 0 ? base_index
               : FindScale(sum, visited, expected, nullptr, last, first_unit);
    const bool exact = match != -1;
    if (exact) {
      scale = expected;
    } else if (level_ != IterMapLevel::kBijective && IsOne(base_scale)) {
      match = FindSmallerScale(sum, visited, expected, scale);
    }
    if (match == -1) return std::nullopt;
    // The longest constrained sum that begins here counts as one iterator.
    const IterSum* constraint = nullptr;
    for (const IterSum& known : constrained_) {
      if (SameSplit(sum.args[match], known.args.back(), false) &&
          (constraint == nullptr ||
           constraint->args.size() < known.args.size())) {
        constraint = &known;
      }
    }
    if (!exact) tail = Plus(tail, Minus(expected, scale));
    if (constraint != nullptr) {
      for (auto it = constraint->args.rbegin(); it != constraint->args.rend();
           ++it) {
        size_t k = 0;
        while (k < sum.args.size() &&
               (visited[k] || !SameSplit(sum.args[k], *it, false) ||
                !ProveEqual(Times(it->scale, scale), sum.args[k].scale))) {
          ++k;
        }
        if (k == sum.args.size()) return std::nullopt;
        visited[k] = true;
        flat.push_back(sum.args[k]);
      }
      const auto known =
          std::find_if(fused_.begin(), fused_.end(), [&](const Fused& entry) {
            return SameSum(entry.flattened, *constraint);
          });
      if (known == fused_.end()) return std::nullopt;
      grouped.push_back(SplitOf(known->mark, FloorDivide(scale, base_scale)));
      extra_base = Plus(extra_base, Times(known->offset, scale));
      expected = MulAndNormalize(known->mark.extent(), scale);
      i += constraint->args.size();
    } else {
      visited[match] = true;
      IterSplit arg = sum.args[match];
      arg.scale = analyzer_.Simplify(FloorDivide(arg.scale, base_scale));
      flat.push_back(arg);
      grouped.push_back(std::move(arg));
      expected = MulAndNormalize(sum.args[match].extent, scale);
      ++i;
    }
  }
  std::reverse(flat.begin(), flat.end());
  std::reverse(grouped.begin(), grouped.end());
  IterSum flattened = {std::move(flat), zero};
  const auto known = std::find_if(
      fused_.begin(), fused_.end(),
      [&](const Fused& entry) { return SameSum(entry.flattened, flattened); });
  if (known != fused_.end()) {
    if (!ProveEqual(extra_base, Times(known->offset, base_scale))) {
      return std::nullopt;
    }
    return IterSum{{SplitOf(known->mark, base_scale)},
                   Plus(sum.base, extra_base)};
  }
  IterSum structured = {std::move(grouped), zero};
  IterMark mark(structured,
                Plus(Op(BinaryOp::kDiv, expected, base_scale), tail));
  fused_.push_back({flattened, mark, extra_base});
  flattened_.emplace_back(std::move(structured), std::move(flattened));
  return IterSum{{SplitOf(mark, base_scale)}, Plus(sum.base, extra_base)};
}

// --- Expressions -------------------------------------------------------------

void IterMapRewriter::AddTo(IterSum& sum, IterSplit split, bool negative) {
  for (auto it = sum.args.begin(); it != sum.args.end(); ++it) {
    if (!SameSplit(*it, split, false)) continue;
    it->scale =
        negative ? Minus(it->scale, split.scale) : Plus(it->scale, split.scale);
    if (IsZero(it->scale)) sum.args.erase(it);
    return;
  }
  if (negative) split.scale = Negate(split.scale);
  sum.args.push_back(std::move(split));
}

void IterMapRewriter::AddTo(IterSum& sum, const IterSum& other, bool negative) {
  for (const IterSplit& arg : other.args) AddTo(sum, arg, negative);
  sum.base =
      negative ? Minus(sum.base, other.base) : Plus(sum.base, other.base);
}

IterMapRewriter::Form IterMapRewriter::Mutate(const PrimExpr& e) {
  if (const auto* var = e.As<VarNode>()) {
    const Form* form = vars_.Find(var);
    return form != nullptr ? *form : Form(e);
  }
  if (const auto* node = e.As<BinaryNode>()) {
    if (node->op() <= BinaryOp::kFloorMod && node->op() != BinaryOp::kDiv &&
        node->op() != BinaryOp::kMod && IsIndexType(node->dtype())) {
      return OnDeepStack([&] { return MutateBinary(node); });
    }
  }
  if (UsesVar(e, [this](const VarNode* var) { return vars_.Contains(var); })) {
    Error(
        "an iterator is in an expression that is no sum, product, quotient "
        "or rest");
  }
  return e;
}

IterMapRewriter::Form IterMapRewriter::MutateBinary(const BinaryNode* node) {
  Form a = Mutate(node->a());
  Form b = Mutate(node->b());
  const auto* x = std::get_if<PrimExpr>(&a);
  const auto* y = std::get_if<PrimExpr>(&b);
  if (x != nullptr && y != nullptr) {
    PrimExpr folded = FoldWraps(node->op(), *x, *y)
                          ? PrimExpr()
                          : TryFold(node->op(), *x, *y);
    if (folded.defined()) return folded;
    if (*x == node->a() && *y == node->b()) return PrimExpr(node);
    return Binary(node->op(), *x, *y);
  }
  const auto is = [](const PrimExpr* e, int64_t value) {
    return e != nullptr && IsConst(*e, value);
  };
  switch (node->op()) {
    case BinaryOp::kAdd:
    case BinaryOp::kSub: {
      const bool negative = node->op() == BinaryOp::kSub;
      if (is(y, 0)) return a;
      if (!negative && is(x, 0)) return b;
      IterSum sum = ToSum(a);
      AddTo(sum, ToSum(b), negative);
      return sum;
    }
    case BinaryOp::kMul: {
      if (is(x, 0) || is(y, 1)) return a;
      if (is(y, 0) || is(x, 1)) return b;
      if (x == nullptr && y == nullptr) {
        Error("iterators are multiplied with each other");
        return PrimExpr(node);
      }
      if (x != nullptr) {
        std::swap(a, b);
        y = std::get_if<PrimExpr>(&b);
      }
      if (auto* sum = std::get_if<IterSum>(&a)) {
        for (IterSplit& arg : sum->args) arg.scale = Times(arg.scale, *y);
        sum->base = Times(sum->base, *y);
      } else {
        auto& split = std::get<IterSplit>(a);
        split.scale = Times(split.scale, *y);
      }
      return a;
    }
    default:
      if (y == nullptr) {
        Error("an iterator is a divisor");
        return PrimExpr(node);
      }
      if (is(y, 1)) {
        return node->op() == BinaryOp::kFloorDiv
                   ? a
                   : Form(MakeConst(node->dtype(), 0));
      }
      if (is(y, 0)) {
        Error("a divisor is zero");
        return PrimExpr(node);
      }
      if (const auto* divisor = y->As<IntImmNode>();
          divisor != nullptr && divisor->value() < 0) {
        Error("a divisor is negative");
        return PrimExpr(node);
      }
      return Divide(node, a, *y);
  }
}

std::optional<IterSum> IterMapRewriter::Dividend(const Form& dividend) {
  if (const auto* sum = std::get_if<IterSum>(&dividend)) {
    if (sum->args.size() == 1) return *sum;
    std::optional<IterSum> fused = Fuse(*sum, true);
    if (!fused.has_value() || fused->args.size() != 1) {
      Error("the iterators of a dividend cannot be fused into one");
      return std::nullopt;
    }
    return fused;
  }
  return ToSum(dividend);
}

IterMapRewriter::Form IterMapRewriter::Divide(const BinaryNode* node,
                                              const Form& a,
                                              const PrimExpr& b) {
  // All iterators of the dividend have the extent 1. The reference keeps the
  // expression, and with it variables that are not in scope where the map is
  // used.
  if (const auto* sum = std::get_if<IterSum>(&a);
      sum != nullptr && sum->args.empty()) {
    return IterSum{{}, Op(node->op(), sum->base, b)};
  }
  const std::optional<IterSum> dividend = Dividend(a);
  if (!dividend.has_value()) return PrimExpr(node);
  std::optional<Form> result =
      node->op() == BinaryOp::kFloorDiv
          ? SplitFloorDiv(dividend->args[0], dividend->base, b)
          : SplitFloorMod(dividend->args[0], dividend->base, b);
  return result.has_value() ? *std::move(result) : Form(PrimExpr(node));
}

// (split + base) // divisor.
std::optional<IterMapRewriter::Form> IterMapRewriter::SplitFloorDiv(
    IterSplit split, PrimExpr base, PrimExpr divisor) {
  if (!IsOne(split.scale)) {
    if (ProveDivisible(split.scale, divisor) && IsZero(base)) {
      split.scale = FloorDivide(split.scale, divisor);
      return split;
    }
    if (ProveDivisible(split.scale, divisor) && ProveDivisible(base, divisor)) {
      split.scale = FloorDivide(split.scale, divisor);
      return IterSum{{split}, FloorDivide(base, divisor)};
    }
    if (ProveDivisible(divisor, split.scale) &&
        (IsZero(base) || ProveDivisible(base, split.scale))) {
      if (!IsZero(base)) base = FloorDivide(base, split.scale);
      divisor = FloorDivide(divisor, split.scale);
      split.scale = MakeConst(divisor.dtype(), 1);
    } else {
      Error(
          "neither of a divisor and the scale of an iterator divides the "
          "other");
      return std::nullopt;
    }
  }
  std::optional<Padded> padded = PadTo(split, base, divisor);
  if (!padded.has_value()) return std::nullopt;
  const IterSplit& p = padded->split;
  IterSplit result;
  if (ProveDivisible(p.extent, divisor)) {
    result = {p.source, Times(p.lower_factor, divisor),
              analyzer_.Simplify(FloorDivide(p.extent, divisor)), p.scale};
  } else if (IsOne(p.lower_factor) && ProveEqual(p.extent, p.source.extent())) {
    result = {p.source, divisor,
              analyzer_.Simplify(CeilDivide(p.extent, divisor)), p.scale};
  } else {
    result = {IterMark(IterSum{{p}, MakeConst(p.extent.dtype(), 0)}, p.extent),
              divisor, analyzer_.Simplify(CeilDivide(p.extent, divisor)),
              MakeConst(divisor.dtype(), 1)};
  }
  PrimExpr new_base =
      analyzer_.Simplify(FloorDivide(Minus(base, padded->left), divisor), 6);
  if (IsZero(new_base)) return result;
  return IterSum{{result}, std::move(new_base)};
}

// (split + base) % divisor.
std::optional<IterMapRewriter::Form> IterMapRewriter::SplitFloorMod(
    IterSplit split, PrimExpr base, PrimExpr divisor) {
  if (!IsOne(split.scale)) {
    if (ProveDivisible(split.scale, divisor) && ProveDivisible(base, divisor)) {
      return MakeConst(split.extent.dtype(), 0);
    }
    if (ProveDivisible(divisor, split.scale) &&
        (IsZero(base) || ProveDivisible(base, split.scale))) {
      divisor = FloorDivide(divisor, split.scale);
      if (!IsZero(base)) base = FloorDivide(base, split.scale);
    } else {
      Error(
          "neither of a divisor and the scale of an iterator divides the "
          "other");
      return std::nullopt;
    }
  }
  std::optional<Padded> padded = PadTo(split, base, divisor);
  if (!padded.has_value()) return std::nullopt;
  const IterSplit& p = padded->split;
  return IterSplit{p.source, p.lower_factor, divisor, p.scale};
}

// Adds padding to the source of `split`, so that `divisor` divides it.
//
// The first pass finds the padding that all divisions of an iterator need; the
// second one applies it.
std::optional<IterMapRewriter::Padded> IterMapRewriter::PadTo(
    IterSplit split, const PrimExpr& base, const PrimExpr& divisor) {
  PrimExpr left = analyzer_.Simplify(FloorModulo(base, divisor));
  const PrimExpr right_edge = Plus(left, split.extent);
  const PrimExpr right =
      ProveDivisible(right_edge, divisor)
          ? Int(0)
          : analyzer_.Simplify(FloorModulo(Negate(right_edge), divisor));
  const IterMark mark = split.source;
  auto known =
      std::find_if(paddings_.begin(), paddings_.end(),
                   [&](const Padding& p) { return SameMark(p.mark, mark); });
  if (pads_) {
    if (known == paddings_.end()) {
      paddings_.push_back({mark, Int(1), Int(0), IterMark()});
      known = paddings_.end() - 1;
    }
    known->factor = CommonMultiple(
        known->factor, Times(divisor, split.lower_factor), analyzer_);
    if (IsZero(left) && IsZero(right)) return Padded{split, Int(0)};
    requires_padding_ = true;
    known->left =
        Op(BinaryOp::kMax, known->left, Times(left, split.lower_factor));
    split.extent = analyzer_.Simplify(Plus(Plus(left, split.extent), right));
    return Padded{std::move(split), std::move(left)};
  }
  if (known == paddings_.end() ||
      (IsZero(known->left) && ProveDivisible(mark.extent(), known->factor))) {
    return Padded{std::move(split), std::move(left)};
  }
  if (!ProveDivisible(known->factor, split.lower_factor) ||
      !ProveDivisible(known->factor, divisor)) {
    Error("the padding of an iterator does not fit a division");
    return std::nullopt;
  }
  if (!known->padded.defined()) {
    const PrimExpr mark_left = known->left;
    if (!ProveDivisible(mark_left, split.lower_factor)) {
      Error("the left padding of an iterator does not fit a division");
      return std::nullopt;
    }
    left = FloorDivide(mark_left, split.lower_factor);
    const PrimExpr edge = Plus(mark.extent(), mark_left);
    const PrimExpr mark_right = ProveDivisible(edge, known->factor)
                                    ? Int(0)
                                    : FloorModulo(Negate(edge), known->factor);
    known->padded = IterMark(IterSum{{SplitOf(mark)}, mark_left},
                             analyzer_.Simplify(Plus(edge, mark_right)));
    const PrimExpr source = IterMapConverter(analyzer_).Convert(known->padded);
    const PrimExpr quotient = FloorDivide(source, known->factor);
    const PrimExpr rest = FloorModulo(source, known->factor);
    const PrimExpr on_left =
        Op(BinaryOp::kAnd, Op(BinaryOp::kNE, mark_left, Int(0)),
           Op(BinaryOp::kAnd, Op(BinaryOp::kEQ, quotient, Int(0)),
              Op(BinaryOp::kLT, rest, mark_left)));
    const PrimExpr on_right =
        Op(BinaryOp::kAnd, Op(BinaryOp::kNE, mark_right, Int(0)),
           Op(BinaryOp::kAnd,
              Op(BinaryOp::kEQ, quotient, FloorDivide(edge, known->factor)),
              Op(BinaryOp::kGE, rest, FloorModulo(edge, known->factor))));
    padding_predicate_ = Op(BinaryOp::kOr, padding_predicate_,
                            Op(BinaryOp::kOr, on_left, on_right));
  }
  split.source = known->padded;
  split.extent = FloorDivide(known->padded.extent(), split.lower_factor);
  return Padded{std::move(split), std::move(left)};
}

}  // namespace baton::tir
