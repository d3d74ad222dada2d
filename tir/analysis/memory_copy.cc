#include "baton/tir/analysis/memory_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "baton/tir/analysis/buffer_offset.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/iter_map.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {
namespace {

// The bounds of the elements that an index visits, each once and without gaps.
bool VisitsRange(const PrimExpr& index, const VarRanges& ranges,
                 const PrimExpr& steps, Analyzer& analyzer, IterSum& sum) {
  const PrimExpr indices[] = {index};
  IterMapResult map = DetectIterMap(indices, ranges, IntImm::Bool(true),
                                    IterMapLevel::kBijective, analyzer);
  if (!map.errors.empty() || map.indices.size() != 1) return false;
  sum = map.indices[0];
  const IntSet interval = analyzer.IntSetOf(index, AsIntSets(ranges));
  if (!interval.HasLowerBound() || !interval.HasUpperBound()) return false;
  const PrimExpr count =
      Add(Sub(interval.max(), interval.min()), MakeConst(index.dtype(), 1));
  return analyzer.CanProve(
      analyzer.Simplify(MakeBinary(BinaryOp::kEQ, steps, count)));
}

int64_t IntOrZero(const PrimExpr& e) {
  const auto* imm = e.As<IntImmNode>();
  return imm == nullptr ? 0 : imm->value();
}

void SortSplits(std::vector<IterSplit>& splits) {
  std::sort(splits.begin(), splits.end(),
            [](const IterSplit& a, const IterSplit& b) {
              const auto key = [](const IterSplit& split) {
                return std::make_pair(IntOrZero(split.scale),
                                      IntOrZero(split.lower_factor));
              };
              return key(a) < key(b);
            });
}

}  // namespace

std::optional<MemCopy> IdentifyMemCopy(const For& loop, Analyzer& analyzer) {
  VarRanges ranges;
  PrimExpr steps = IntImm(kInt32, 1);
  Stmt body = loop;
  while (const auto* inner = body.As<ForNode>()) {
    ranges.Set(inner->loop_var(), {inner->min(), inner->extent()});
    steps = Mul(steps, inner->extent());
    const Stmt next = inner->body();
    body = next;
  }
  const auto* store = body.As<BufferStoreNode>();
  const auto* load =
      store == nullptr ? nullptr : store->value().As<BufferLoadNode>();
  if (load == nullptr) return std::nullopt;
  const std::vector<PrimExpr> target =
      ElementOffset(store->buffer(), store->indices());
  const std::vector<PrimExpr> source =
      ElementOffset(load->buffer(), load->indices());
  if (target.size() != 1 || source.size() != 1) return std::nullopt;
  steps = analyzer.Simplify(steps);
  IterSum from;
  IterSum to;
  if (!VisitsRange(source[0], ranges, steps, analyzer, from) ||
      !VisitsRange(target[0], ranges, steps, analyzer, to) ||
      from.args.size() != to.args.size()) {
    return std::nullopt;
  }
  SortSplits(from.args);
  SortSplits(to.args);
  for (size_t i = 0; i < from.args.size(); ++i) {
    const IterSplit& a = from.args[i];
    const IterSplit& b = to.args[i];
    if (!analyzer.CanProveEqual(NormalizeIterMapToExpr(a.source),
                                NormalizeIterMapToExpr(b.source)) ||
        !analyzer.CanProveEqual(a.lower_factor, b.lower_factor) ||
        !analyzer.CanProveEqual(a.extent, b.extent) ||
        !analyzer.CanProveEqual(a.scale, b.scale)) {
      return std::nullopt;
    }
  }
  return MemCopy{
      BufferRegion(load->buffer(),
                   DomainTouched(loop, load->buffer(), true, true)),
      BufferRegion(store->buffer(),
                   DomainTouched(loop, store->buffer(), true, true))};
}

}  // namespace baton::tir
