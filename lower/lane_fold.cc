#include "baton/lower/lane_fold.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/lower/computation.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/functor.h"

namespace baton::lower {
namespace {

using tir::PrimExpr;

Indices WithoutLast(const Indices& at) { return {at.begin(), at.end() - 1}; }
Indices WithLast(Indices at, const PrimExpr& last) {
  at.push_back(last);
  return at;
}

// fold.add(x, sum). An operand that it uses more than once is computed once:
// lanes are merged in several steps, each of which would double the text.
PrimExpr Added(const LaneFold& fold, const PrimExpr& x, const PrimExpr& sum) {
  const tir::Var operands[] = {tir::Var("x", x.dtype()),
                               tir::Var("sum", sum.dtype())};
  const PrimExpr values[] = {x, sum};
  const PrimExpr by_name = fold.add(operands[0], operands[1]);
  int uses[] = {0, 0};
  tir::PostOrderVisit(by_name, [&](const PrimExpr& part) {
    for (int i = 0; i < 2; ++i) uses[i] += part.get() == operands[i].get();
  });
  PrimExpr given[] = {x, sum};
  for (int i = 0; i < 2; ++i) {
    if (uses[i] > 1) given[i] = operands[i];
  }
  PrimExpr result = fold.add(given[0], given[1]);
  for (int i = 1; i >= 0; --i) {
    if (uses[i] > 1) result = tir::Let(operands[i], values[i], result);
  }
  return result;
}

// The merge of `lanes`, halves first; null ones are not used.
PrimExpr Merged(const LaneFold& fold, std::vector<PrimExpr> lanes) {
  for (size_t half = lanes.size() / 2; half > 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) {
      if (lanes[j + half].defined()) {
        lanes[j] = Added(fold, lanes[j + half], lanes[j]);
      }
    }
  }
  return lanes[0];
}

}  // namespace

void FoldInOrder(LoopBuilder& loops, const LaneFold& fold,
                 const tir::Buffer& to) {
  const bool is_last = fold.finish == nullptr;
  const tir::Buffer sums =
      is_last ? to
              : loops.Temporary(absl::StrCat(to->name(), "_fold"),
                                fold.start.dtype(), ShapeOf(to));
  loops.Fold(
      sums, {fold.count}, [&](const Indices&) { return fold.start; },
      [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
        return fold.add(fold.term(at, k[0]), sum);
      });
  if (is_last) return;
  loops.Store(to, [&](const Indices& at) {
    return fold.finish(tir::BufferLoad(sums, at));
  });
}

void FoldInLanes(LoopBuilder& loops, const LaneFold& fold,
                 const tir::Buffer& to) {
  const int64_t num_lanes = fold.order.lanes;
  const int64_t num_few = fold.order.few;
  const int64_t full = fold.count / num_lanes;
  const int64_t groups = fold.count % num_lanes / num_few;
  const int64_t rest = fold.count % num_few;
  if (full + groups == 0) return FoldInOrder(loops, fold, to);
  const std::vector<int64_t> shape = ShapeOf(to);
  const auto make = [&](absl::string_view suffix, int64_t extent) {
    std::vector<int64_t> with = shape;
    if (extent > 0) with.push_back(extent);
    return loops.Temporary(absl::StrCat(to->name(), suffix), fold.start.dtype(),
                           with);
  };
  const int64_t stride = num_lanes;
  const int64_t few = num_few;
  tir::Buffer lanes;
  if (full > 0) {
    lanes = make("_lanes", num_lanes);
    loops.Fold(
        lanes, {full}, [&](const Indices&) { return fold.start; },
        [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
          const PrimExpr position =
              tir::Add(tir::Mul(k[0], Index(stride)), at.back());
          return fold.add(fold.term(WithoutLast(at), position), sum);
        });
  }
  if (num_few != num_lanes) {
    const tir::Buffer wide = lanes;
    lanes = make("_few", num_few);
    std::vector<int64_t> extents;
    if (groups > 0) extents.push_back(groups);
    loops.Fold(
        lanes, extents,
        [&](const Indices& at) {
          if (!wide.defined()) return fold.start;
          std::vector<PrimExpr> merged;
          for (int64_t m = 0; m < stride; m += few) {
            merged.push_back(tir::BufferLoad(
                wide,
                WithLast(WithoutLast(at), tir::Add(at.back(), Index(m)))));
          }
          return Merged(fold, std::move(merged));
        },
        [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
          const PrimExpr position =
              tir::Add(tir::Mul(k[0], Index(few)),
                       tir::Add(at.back(), Index(full * stride)));
          return fold.add(fold.term(WithoutLast(at), position), sum);
        });
  }
  tir::Buffer head;
  if (rest > 0) {
    head = make("_rest", 0);
    loops.Fold(
        head, {rest},
        [&](const Indices& at) -> PrimExpr {
          return tir::BufferLoad(lanes, WithLast(at, Index(0)));
        },
        [&](const Indices& at, const Indices& k, const PrimExpr& sum) {
          return fold.add(
              fold.term(at, tir::Add(k[0], Index(fold.count - rest))), sum);
        });
  }
  loops.Store(to, [&](const Indices& at) {
    std::vector<PrimExpr> merged;
    for (int64_t j = 0; j < few; ++j) {
      merged.push_back(tir::BufferLoad(lanes, WithLast(at, Index(j))));
    }
    if (head.defined()) merged[0] = tir::BufferLoad(head, at);
    const PrimExpr sum = Merged(fold, std::move(merged));
    return fold.finish == nullptr ? sum : fold.finish(sum);
  });
}

}  // namespace baton::lower
