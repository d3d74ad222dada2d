// Regions that indices cover: EstimateRegion* and DomainTouched.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/arith/fold_wraps.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

bool ProveCompare(Analyzer& analyzer, BinaryOp op, const PrimExpr& a,
                  const PrimExpr& b) {
  return analyzer.CanProve(MakeBinary(op, a, b));
}

// The indices from `sum` to `sum + extent`, for all values of its iterators;
// nullopt where there are gaps.
std::optional<IntSet> EvalIterSum(const IterSum& sum, const PrimExpr& extent,
                                  Analyzer& analyzer) {
  const PrimExpr zero = IntImm(kInt32, 0);
  if (ProveCompare(analyzer, BinaryOp::kEQ, extent, zero)) {
    return IntSet::Nothing();
  }
  if (sum.args.empty()) return IntSet::FromMinExtent(sum.base, extent);
  if (sum.args.size() != 1) return std::nullopt;
  const IterSplit& split = sum.args[0];
  if (ProveCompare(analyzer, BinaryOp::kEQ, split.extent, zero)) {
    return IntSet::Nothing();
  }
  if (!ProveCompare(analyzer, BinaryOp::kGE, extent, split.scale)) {
    return std::nullopt;
  }
  // Constants whose result is out of range stay two.
  const PrimExpr last = MakeBinaryInRange(
      BinaryOp::kMul, Sub(split.extent, MakeConst(split.extent.dtype(), 1)),
      split.scale);
  if (ProveCompare(analyzer, BinaryOp::kLT, split.scale, zero)) {
    return IntSet::FromMinExtent(
        MakeBinaryInRange(BinaryOp::kAdd, sum.base, last),
        MakeBinaryInRange(BinaryOp::kSub, extent, last));
  }
  return IntSet::FromMinExtent(sum.base,
                               MakeBinaryInRange(BinaryOp::kAdd, extent, last));
}

bool IsConstantNumber(const PrimExpr& e) {
  return e.Is<IntImmNode>() || e.Is<FloatImmNode>();
}

class TouchedDomain final : public AnalyzingVisitor {
 public:
  TouchedDomain(const Buffer& buffer, bool loads, bool stores)
      : buffer_(buffer), loads_(loads), stores_(stores) {}
  const std::vector<std::vector<IntSet>>& sets() const { return sets_; }

 protected:
  void VisitBufferLoad(const BufferLoadNode* node) override {
    if (loads_ && node->buffer() == buffer_) Touch(node->indices());
    AnalyzingVisitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    if (stores_ && node->buffer() == buffer_) Touch(node->indices());
    AnalyzingVisitor::VisitBufferStore(node);
  }

 private:
  void Touch(absl::Span<const PrimExpr> indices) {
    sets_.resize(std::max(sets_.size(), indices.size()));
    for (size_t i = 0; i < indices.size(); ++i) {
      sets_[i].push_back(indices[i].Is<RampNode>()
                             ? IntSet::Vector(indices[i])
                             : analyzer_.IntSetOf(indices[i]));
    }
  }

  const Buffer& buffer_;
  bool loads_;
  bool stores_;
  std::vector<std::vector<IntSet>> sets_;
};

}  // namespace

std::optional<std::vector<IntSet>> EstimateRegionStrictBound(
    absl::Span<const Range> region, const VarRanges& domains,
    const PrimExpr& predicate, Analyzer& analyzer) {
  std::vector<PrimExpr> indices;
  for (const Range& range : region) {
    if (!IsConstantNumber(range.extent)) return std::nullopt;
    indices.push_back(range.min);
  }
  const IterMapResult map = DetectIterMap(indices, domains, predicate,
                                          IterMapLevel::kSurjective, analyzer);
  if (map.indices.empty()) return std::nullopt;
  std::vector<IntSet> result;
  for (size_t i = 0; i < region.size(); ++i) {
    std::optional<IntSet> set =
        EvalIterSum(map.indices[i], region[i].extent, analyzer);
    if (!set.has_value()) return std::nullopt;
    result.push_back(*std::move(set));
  }
  return result;
}

std::optional<std::vector<IntSet>> EstimateRegionLowerBound(
    absl::Span<const Range> region, const VarRanges& domains,
    const PrimExpr& predicate, Analyzer& analyzer) {
  return EstimateRegionStrictBound(region, domains, predicate, analyzer);
}

std::vector<IntSet> EstimateRegionUpperBound(absl::Span<const Range> region,
                                             const VarRanges& domains,
                                             const PrimExpr& predicate,
                                             Analyzer& analyzer) {
  if (std::optional<std::vector<IntSet>> strict =
          EstimateRegionStrictBound(region, domains, predicate, analyzer)) {
    return *std::move(strict);
  }
  std::vector<IntSet> result;
  for (const Range& range : region) {
    const IterMapResult map = DetectIterMap(
        {range.min}, domains, predicate, IterMapLevel::kSurjective, analyzer);
    if (!map.indices.empty()) {
      std::optional<IntSet> set =
          EvalIterSum(map.indices[0], range.extent, analyzer);
      if (set.has_value()) {
        result.push_back(*std::move(set));
        continue;
      }
    }
    result.push_back(EvalSet(range, AsIntSets(domains)));
  }
  return result;
}

std::vector<Range> DomainTouched(const Stmt& body, const Buffer& buffer,
                                 bool consider_loads, bool consider_stores) {
  TouchedDomain visitor(buffer, consider_loads, consider_stores);
  visitor.Visit(body);
  std::vector<Range> region;
  for (const std::vector<IntSet>& sets : visitor.sets()) {
    region.push_back(Union(sets).CoverRange({}));
  }
  return region;
}

}  // namespace baton::tir
