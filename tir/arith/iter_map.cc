#include "baton/tir/arith/iter_map.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/integer.h"
#include "baton/tir/arith/iter_map_rewriter.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::tir {

struct IterMark::Node {
  PrimExpr expr;
  std::optional<IterSum> sum;
  PrimExpr extent;
};

IterMark::IterMark(PrimExpr source, PrimExpr extent)
    : node_(std::make_shared<Node>(
          Node{std::move(source), std::nullopt, std::move(extent)})) {}
IterMark::IterMark(IterSum source, PrimExpr extent)
    : node_(std::make_shared<Node>(
          Node{PrimExpr(), std::move(source), std::move(extent)})) {}
const PrimExpr& IterMark::expr() const { return node_->expr; }
const IterSum* IterMark::sum() const {
  return node_->sum.has_value() ? &*node_->sum : nullptr;
}
const PrimExpr& IterMark::extent() const { return node_->extent; }

namespace {

PrimExpr FloorDivide(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kFloorDiv, a, b);
}

}  // namespace

bool SameSplit(const IterSplit& a, const IterSplit& b, bool with_scale) {
  return a.source.same_as(b.source) &&
         ExprDeepEqual(a.lower_factor, b.lower_factor) &&
         (!with_scale || ExprDeepEqual(a.scale, b.scale)) &&
         ExprDeepEqual(a.extent, b.extent);
}

// --- SplitsOfMarks -----------------------------------------------------------

const SplitsOfMarks::Entry* SplitsOfMarks::Find(const IterMark& mark) const {
  for (const Entry& entry : entries_) {
    if (entry.mark.same_as(mark)) return &entry;
  }
  return nullptr;
}

void SplitsOfMarks::Collect(absl::Span<const IterSum> sums) {
  for (const IterSum& sum : sums) CollectSum(sum);
}

void SplitsOfMarks::CollectSum(const IterSum& sum) {
  for (const IterSplit& split : sum.args) {
    if (Find(split.source) == nullptr) {
      entries_.push_back({split.source, {}});
      if (const IterSum* inner = split.source.sum()) CollectSum(*inner);
    }
    const_cast<Entry*>(Find(split.source))->splits.push_back(split);
  }
}

// --- Conversion --------------------------------------------------------------

PrimExpr IterMapConverter::Convert(const IterSum& sum) {
  PrimExpr e = IntImm(kInt32, 0);
  for (const IterSplit& arg : sum.args) e = Add(e, Convert(arg));
  return Add(e, sum.base);
}

PrimExpr IterMapConverter::Convert(const IterMark& mark) {
  return mark.sum() != nullptr ? Convert(*mark.sum()) : mark.expr();
}

PrimExpr IterMapConverter::Convert(const IterSplit& split) {
  const PrimExpr source = Convert(split.source);
  const PrimExpr& extent = split.source.extent();
  if (IsOne(split.lower_factor) &&
      analyzer_.CanProve(MakeBinary(BinaryOp::kEQ, split.extent, extent))) {
    return Mul(source, split.scale);
  }
  const PrimExpr covered =
      MakeBinaryInRange(BinaryOp::kMul, split.lower_factor, split.extent);
  if (analyzer_.CanProve(MakeBinary(BinaryOp::kEQ, extent, covered))) {
    // A part of a larger iterator with one value is that value; an iterator of
    // one value stays.
    if (IsOne(split.extent) && !IsOne(extent)) {
      return MakeConst(split.extent.dtype(), 0);
    }
    return Mul(FloorDivide(source, split.lower_factor), split.scale);
  }
  return Mul(FloorDivide(MakeBinary(BinaryOp::kFloorMod, source, covered),
                         split.lower_factor),
             split.scale);
}

namespace {

PrimExpr PlusOne(const PrimExpr& e) {
  return MakeBinaryInRange(BinaryOp::kAdd, e, MakeConst(e.dtype(), 1));
}

// lower <= iter < upper; null: no bound.
struct Bound {
  PrimExpr iter;
  PrimExpr lower;
  PrimExpr upper;
  size_t size = 0;
};

// True if the ranges of iterators do not depend on iterators.
bool AreIndependent(const VarRanges& iters) {
  const auto is_iter = [&](const VarNode* var) { return iters.Contains(var); };
  return std::none_of(iters.begin(), iters.end(), [&](const auto& entry) {
    return UsesVar(entry.second.min, is_iter) ||
           UsesVar(entry.second.extent, is_iter);
  });
}

// Splits a comparison of two expressions with iterators into the terms with
// iterators and the others.
void SeparateIterators(const VarRanges& iters, PrimExpr& left,
                       PrimExpr& right) {
  const auto is_iter = [&](const VarNode* var) { return iters.Contains(var); };
  const PrimExpr difference = Sub(left, right);
  left = IntImm(kInt32, 0);
  right = left;
  UnpackSum(difference, [&](const PrimExpr& e, int sign) {
    if (UsesVar(e, is_iter)) {
      left = sign > 0 ? Add(left, e) : Sub(left, e);
    } else {
      right = sign > 0 ? Sub(right, e) : Add(right, e);
    }
  });
  Analyzer analyzer;
  left = analyzer.Simplify(left);
  right = analyzer.Simplify(right);
}

// Reads one comparison. False if it is no bound of integers whose sums are in
// range: a bound next to an end of a type that wraps around has no successor.
bool ReadBound(const BinaryNode* compare, VarRanges& iters,
               std::vector<Bound>& bounds) {
  const BinaryOp op = compare->op();
  const bool greater = op == BinaryOp::kGT || op == BinaryOp::kGE;
  const bool equal = op == BinaryOp::kLE || op == BinaryOp::kGE;
  PrimExpr left = compare->a();
  PrimExpr right = compare->b();
  if (!left.dtype().is_integral() || !right.dtype().is_integral()) return false;
  const auto uses = [&](const PrimExpr& e) {
    return UsesVar(e, [&](const VarNode* var) { return iters.Contains(var); });
  };
  if (!uses(left) && !uses(right)) return true;
  if (IsModular(left.dtype()) || IsModular(right.dtype())) return false;
  bool bound_at_left = false;
  if (!uses(left)) {
    bound_at_left = true;
  } else if (uses(right)) {
    SeparateIterators(iters, left, right);
  }
  Bound bound;
  bound.iter = bound_at_left ? right : left;
  const PrimExpr& limit = bound_at_left ? left : right;
  if (FoldWraps(BinaryOp::kAdd, limit, MakeConst(limit.dtype(), 1))) {
    // All values are at most the largest one.
    if (equal && greater == bound_at_left) return true;
    if (!equal && greater != bound_at_left) return false;
  }
  if (greater == bound_at_left) {
    bound.upper = equal ? PlusOne(limit) : limit;
  } else {
    bound.lower = equal ? limit : PlusOne(limit);
  }
  const auto* var = bound.iter.As<VarNode>();
  if (var == nullptr) {
    bounds.push_back(std::move(bound));
    return true;
  }
  const Range* range = iters.Find(var);
  if (range == nullptr) return true;
  PrimExpr min = range->min;
  PrimExpr max = MakeBinaryInRange(BinaryOp::kAdd, range->min, range->extent);
  if (bound.lower.defined()) min = MakeBinary(BinaryOp::kMax, min, bound.lower);
  if (bound.upper.defined()) max = MakeBinary(BinaryOp::kMin, max, bound.upper);
  PrimExpr extent =
      IsZero(min) ? max : MakeBinaryInRange(BinaryOp::kSub, max, min);
  iters.Set(Var(var), {std::move(min), std::move(extent)});
  return true;
}

// Reads a conjunction of bounds; those of single iterators narrow their ranges.
bool ReadBounds(PrimExpr predicate, VarRanges& iters,
                std::vector<Bound>& bounds) {
  const auto is_bound = [](const PrimExpr& e) -> const BinaryNode* {
    const auto* node = e.As<BinaryNode>();
    return node != nullptr && IsComparison(node->op()) &&
                   node->op() != BinaryOp::kEQ && node->op() != BinaryOp::kNE
               ? node
               : nullptr;
  };
  while (true) {
    const BinaryNode* compare = is_bound(predicate);
    if (compare != nullptr) return ReadBound(compare, iters, bounds);
    const auto* conjunction = AsBinary(predicate, BinaryOp::kAnd);
    if (conjunction == nullptr) return false;
    PrimExpr rest = conjunction->a();
    compare = is_bound(conjunction->b());
    if (compare == nullptr) {
      compare = is_bound(conjunction->a());
      rest = conjunction->b();
    }
    if (compare == nullptr || !ReadBound(compare, iters, bounds)) return false;
    predicate = std::move(rest);
  }
}

}  // namespace

IterMapResult DetectIterMap(absl::Span<const PrimExpr> indices,
                            const VarRanges& input_iters,
                            const PrimExpr& predicate, IterMapLevel level,
                            Analyzer& analyzer,
                            bool simplify_trivial_iterators) {
  IterMapResult result;
  if (!AreIndependent(input_iters)) {
    result.errors.emplace_back("ranges of iterators depend on iterators");
    return result;
  }
  VarRanges iters = input_iters;
  std::vector<Bound> bounds;
  if (predicate.defined() && !IsOne(predicate) &&
      !ReadBounds(predicate, iters, bounds)) {
    result.errors.emplace_back("the predicate is no conjunction of bounds");
    return result;
  }
  // Bounds of parts come before those of what has them.
  for (Bound& bound : bounds) {
    PostOrderVisit(bound.iter, [&](const PrimExpr&) { ++bound.size; });
  }
  std::stable_sort(
      bounds.begin(), bounds.end(),
      [](const Bound& a, const Bound& b) { return a.size < b.size; });
  IterMapRewriter rewriter(analyzer, iters, level, simplify_trivial_iterators,
                           result.errors);
  for (const Bound& bound : bounds) {
    rewriter.AddConstraint(bound.iter, bound.lower, bound.upper);
    if (!result.errors.empty()) return result;
  }
  if (!rewriter.CheckConstraints()) {
    result.errors.emplace_back("conditions overlap");
    return result;
  }
  std::vector<IterSum> sums;
  const bool pads = level != IterMapLevel::kBijective;
  if (pads) {
    for (const PrimExpr& index : indices) {
      sums.push_back(rewriter.RewriteAndPad(index));
      if (!result.errors.empty()) return result;
    }
  }
  if (!pads || rewriter.requires_padding()) {
    sums.clear();
    for (const PrimExpr& index : indices) {
      sums.push_back(rewriter.Rewrite(index));
      if (!result.errors.empty()) return result;
    }
  }
  result.padding_predicate = rewriter.padding_predicate();
  if (!rewriter.CheckMapping(sums)) {
    result.errors.emplace_back(level == IterMapLevel::kBijective
                                   ? "the map is not bijective"
                                   : "the indices depend on each other");
    return result;
  }
  result.indices = std::move(sums);
  return result;
}

std::vector<PrimExpr> IterMapSimplify(absl::Span<const PrimExpr> indices,
                                      const VarRanges& input_iters,
                                      const PrimExpr& predicate,
                                      IterMapLevel level, Analyzer& analyzer,
                                      bool simplify_trivial_iterators) {
  std::vector<PrimExpr> result(indices.begin(), indices.end());
  const IterMapResult map =
      DetectIterMap(indices, input_iters, predicate, level, analyzer,
                    simplify_trivial_iterators);
  IterMapConverter converter(analyzer);
  for (size_t i = 0; i < map.indices.size(); ++i) {
    result[i] = converter.Convert(map.indices[i]);
  }
  return result;
}

PrimExpr NormalizeIterMapToExpr(const IterSum& sum) {
  Analyzer analyzer;
  return IterMapConverter(analyzer).Convert(sum);
}
PrimExpr NormalizeIterMapToExpr(const IterSplit& split) {
  Analyzer analyzer;
  return IterMapConverter(analyzer).Convert(split);
}
PrimExpr NormalizeIterMapToExpr(const IterMark& mark) {
  Analyzer analyzer;
  return IterMapConverter(analyzer).Convert(mark);
}

IterSum NormalizeToIterSum(const PrimExpr& index, const VarRanges& input_iters,
                           Analyzer& analyzer) {
  std::vector<std::string> errors;
  IterMapRewriter rewriter(analyzer, input_iters, IterMapLevel::kNoCheck, true,
                           errors);
  return rewriter.RewriteToNormalizedSum(index);
}

}  // namespace baton::tir
