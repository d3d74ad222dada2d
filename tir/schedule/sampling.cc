// Decisions: factors of loops for tiles, candidates, places of blocks.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/schedule/conditions.h"
#include "baton/tir/schedule/state.h"
#include "baton/tir/schedule/steps.h"

namespace baton::tir {

absl::StatusOr<std::vector<int64_t>> PerfectTile(
    const Site* loop, int n, int max_innermost_factor,
    absl::Span<const int64_t> decision) {
  constexpr int kMaxFactors = 64;
  if (n < 1 || n > kMaxFactors) {
    return SiteError(loop, absl::StrCat("a loop has 1 to ", kMaxFactors,
                                        " factors, not ", n));
  }
  std::vector<int64_t> result(n, 1);
  const auto* extent = loop->loop()->extent().As<IntImmNode>();
  if (extent == nullptr) {
    result[0] = -1;
    return result;
  }
  int64_t rest = extent->value();
  if (rest < 1) {
    return SiteError(loop, absl::StrCat(loop->Describe(), " has no iteration"));
  }
  if (!decision.empty()) {
    if (decision.size() < 2) {
      return SiteError(loop, "a decision has two factors or more");
    }
    result.assign(decision.begin(), decision.end());
    for (size_t i = result.size(); i-- > 1;) {
      // A factor that does not divide takes all that is left.
      if (result[i] < 1 || rest % result[i] != 0) result[i] = rest;
      rest /= result[i];
    }
    result[0] = rest;
    return result;
  }
  int64_t innermost = max_innermost_factor < 0
                          ? rest
                          : std::min<int64_t>(rest, max_innermost_factor);
  while (innermost > 1 && rest % innermost != 0) --innermost;
  if (n > 1 && innermost >= 1) {
    result[n - 1] = innermost;
    rest /= innermost;
  }
  result[0] = rest;
  return result;
}

absl::StatusOr<std::vector<int64_t>> PartitionedTile(
    const Site* loop, int n, int partition_pos, int innerpart_factor,
    absl::Span<const int64_t> decision) {
  constexpr int kMaxFactors = 64;
  if (n < 2 || n > kMaxFactors || partition_pos < 0 || partition_pos >= n ||
      innerpart_factor < 1) {
    return SiteError(
        loop, absl::StrCat("a partition has 2 to ", kMaxFactors,
                           " factors, a position among them, and a positive "
                           "factor of the inner part"));
  }
  if (!decision.empty() && decision.size() != static_cast<size_t>(n)) {
    return SiteError(loop, absl::StrCat("the decision has ", decision.size(),
                                        " factors, not ", n));
  }
  std::vector<int64_t> result(n, 1);
  const auto* extent = loop->loop()->extent().As<IntImmNode>();
  if (extent == nullptr || extent->value() % innerpart_factor != 0) {
    result[0] = -1;
    return result;
  }
  // The inner part is divisible, or it is the factor.
  bool is_divisible = !decision.empty();
  if (is_divisible) {
    int64_t rest = 1;
    for (int i = partition_pos; i < n; ++i) {
      rest = static_cast<int64_t>(static_cast<__int128>(rest) * decision[i] %
                                  innerpart_factor);
    }
    is_divisible = rest == 0;
  }
  if (is_divisible) return PerfectTile(loop, n, -1, decision);
  result[0] = extent->value() / innerpart_factor;
  result[partition_pos] *= innerpart_factor;
  if (partition_pos == 0) result[0] = extent->value();
  return result;
}

absl::StatusOr<int> Categorical(absl::Span<const int64_t> candidates,
                                absl::Span<const double> probs,
                                std::optional<int> decision) {
  if (candidates.size() != probs.size() || candidates.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        candidates.size(), " candidates and ", probs.size(), " probabilities"));
  }
  if (!decision.has_value()) {
    return static_cast<int>(std::max_element(probs.begin(), probs.end()) -
                            probs.begin());
  }
  if (*decision < 0 || *decision >= static_cast<int>(candidates.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("the decision ", *decision, " is none of ",
                     candidates.size(), " candidates"));
  }
  return *decision;
}

namespace {

// A loop that only spatial variables use is spatial.
bool IsSpatialLoop(const ForNode* loop) {
  bool is_spatial = true;
  PostOrderVisit(
      loop->body(), [](const PrimExpr&) {},
      [&](const Stmt& stmt) {
        const auto* realize = stmt.As<BlockRealizeNode>();
        if (realize == nullptr) return;
        const auto iters = realize->block()->iter_vars();
        for (size_t i = 0; i < iters.size(); ++i) {
          if (iters[i]->iter_type() != IterVarType::kDataPar &&
              UsesVar(realize->iter_values()[i], loop->loop_var().get())) {
            is_spatial = false;
          }
        }
      });
  return is_spatial;
}

// True if `step` can be taken on a copy of the schedule.
template <typename Step>
bool CanTake(const ScheduleState& state, const Step& step) {
  absl::StatusOr<ScheduleState> copy = ScheduleState::Create(state.function());
  return copy.ok() && step(*copy).ok();
}

}  // namespace

std::vector<int> ComputeLocations(const ScheduleState& state,
                                  const Site* block) {
  const Stmt stmt = block->stmt;
  std::vector<int> result;
  if (CanTake(state, [&](ScheduleState& copy) {
        return ComputeInline(copy, copy.Find(stmt.get()));
      })) {
    result.push_back(kLocationInline);
  }
  result.push_back(kLocationRoot);
  const std::vector<const Site*> consumers = ConsumersOf(state, block);
  if (consumers.empty()) return result;
  const Site* boundary = consumers.size() > 1 ? LowestCommonAncestor(consumers)
                                              : consumers[0]->parent;
  if (boundary == nullptr || boundary->is_block()) return result;
  const std::vector<const Site*> loops = LoopsOf(consumers[0]);
  const auto end = std::find(loops.begin(), loops.end(), boundary);
  const size_t num_candidates =
      end == loops.end() ? loops.size() : end - loops.begin() + 1;
  std::vector<bool> spatial;
  int last_spatial = -1;
  for (size_t i = 0; i < num_candidates; ++i) {
    spatial.push_back(IsSpatialLoop(loops[i]->loop()));
    if (spatial.back()) last_spatial = static_cast<int>(i);
  }
  // Neither spatial loops below others nor what comes after the last spatial
  // one.
  bool below_reduction = false;
  for (size_t i = 0; i < num_candidates; ++i) {
    if (IsOne(loops[i]->loop()->extent())) continue;
    if (spatial[i]) {
      if (below_reduction) break;
    } else {
      below_reduction = true;
      if (static_cast<int>(i) > last_spatial) break;
    }
    const Stmt loop = loops[i]->stmt;
    if (CanTake(state, [&](ScheduleState& copy) {
          return ComputeAt(copy, copy.Find(stmt.get()), copy.Find(loop.get()),
                           true, -1);
        })) {
      result.push_back(static_cast<int>(i));
    }
  }
  return result;
}

int ComputeLocation(const ScheduleState& state, const Site* block,
                    std::optional<int> decision) {
  const std::vector<int> locations = ComputeLocations(state, block);
  if (!decision.has_value()) return locations.back();
  const auto it =
      std::lower_bound(locations.begin(), locations.end(), *decision);
  if (it != locations.end() && *it == *decision) return *decision;
  return it == locations.begin() ? kLocationRoot : it[-1];
}

}  // namespace baton::tir
