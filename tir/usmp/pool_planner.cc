#include "baton/tir/usmp/pool_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/align.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/runtime/executor/plan.h"

namespace baton::tir {
namespace {

bool Fits(const PoolSize& pool, int64_t end) {
  return pool.bytes < 0 || end <= pool.bytes;
}

absl::Status TooSmall(const PoolProblem& problem, size_t buffer) {
  const PoolBuffer& b = problem.buffers[buffer];
  std::vector<std::string> names;
  for (const int pool : b.pools) names.push_back(problem.pools[pool].name);
  return absl::ResourceExhaustedError(absl::StrCat(
      "the memory pools are too small: buffer ", b.name, " of ", b.bytes,
      " bytes fits none of its pools (", absl::StrJoin(names, ", "),
      "): increase size_hint_bytes, or add a pool"));
}

// The end of the memory of a placed buffer, for one that comes after it.
int64_t EndFor(const PoolBuffer& placed, const PoolPlace& place,
               const PoolBuffer& next) {
  return AlignUp(AlignUp(place.offset + placed.bytes, placed.alignment),
                 next.alignment);
}

// The buffers in an order: `first` and `second` are the numbers that decide,
// the larger one first; then the name, the later one first.
template <typename First, typename Second>
std::vector<int> OrderBy(const PoolProblem& problem, First first,
                         Second second) {
  std::vector<int> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) {
    const PoolBuffer& a = problem.buffers[i];
    const PoolBuffer& b = problem.buffers[j];
    if (first(a) != first(b)) return first(a) > first(b);
    if (second(a) != second(b)) return second(a) > second(b);
    return a.name > b.name;
  });
  return order;
}

int64_t BytesOf(const PoolBuffer& buffer) { return buffer.bytes; }
int64_t ConflictsOf(const PoolBuffer& buffer) {
  return static_cast<int64_t>(buffer.conflicts.size());
}

// Places each buffer behind all that it conflicts with, in the first pool where
// it fits so.
absl::StatusOr<PoolPlan> PlaceBehind(const PoolProblem& problem,
                                     const std::vector<int>& order) {
  PoolPlan plan(problem.buffers.size());
  std::vector<int64_t> offsets(problem.pools.size());
  for (const int index : order) {
    const PoolBuffer& buffer = problem.buffers[index];
    for (const int pool : buffer.pools) offsets[pool] = 0;
    for (const int other : buffer.conflicts) {
      const PoolPlace& place = plan[other];
      if (place.pool < 0) continue;
      offsets[place.pool] = std::max(
          offsets[place.pool], EndFor(problem.buffers[other], place, buffer));
    }
    PoolPlace& place = plan[index];
    for (const int pool : buffer.pools) {
      if (!Fits(problem.pools[pool], offsets[pool] + buffer.bytes)) continue;
      place = {pool, offsets[pool]};
      break;
    }
    if (place.pool < 0) return TooSmall(problem, index);
  }
  return plan;
}

absl::StatusOr<PoolPlan> GreedyBySize(const PoolProblem& problem) {
  return PlaceBehind(problem, OrderBy(problem, BytesOf, ConflictsOf));
}

absl::StatusOr<PoolPlan> GreedyByConflicts(const PoolProblem& problem) {
  return PlaceBehind(problem, OrderBy(problem, ConflictsOf, BytesOf));
}

// The numbers of `rand_r` of the GNU C library, from seed 0 on.
class Random {
 public:
  // Less than `limit`.
  int64_t Below(int64_t limit) {
    uint32_t value = Next() % 2048;
    value = (value << 10) ^ (Next() % 1024);
    value = (value << 10) ^ (Next() % 1024);
    return value % limit;
  }

 private:
  uint32_t Next() {
    state_ = state_ * 1103515245u + 12345u;
    return state_ / 65536u;
  }
  uint32_t state_ = 0;
};

// Changes the order of greedy_by_size for as long as that saves memory, and at
// times when it does not.
class HillClimber {
 public:
  explicit HillClimber(const PoolProblem& problem)
      : problem_(problem),
        order_(OrderBy(problem, BytesOf, ConflictsOf)),
        position_(problem.buffers.size()) {
    for (size_t i = 0; i < order_.size(); ++i) {
      position_[order_[i]] = static_cast<int>(i);
    }
  }

  absl::StatusOr<PoolPlan> Climb() {
    PoolPlan best;
    PoolPlan current;
    int64_t best_total = 0;
    for (int64_t attempt = 0; attempt < kAttempts && work_ < kMostWork;
         ++attempt) {
      PoolPlan previous = std::exchange(current, PlaceFirstFit());
      const bool all_fit = AllPlaced(current);
      std::vector<int64_t> used = UsedBytes(problem_, current);
      const int64_t total =
          std::accumulate(used.begin(), used.end(), int64_t{0});
      // A worse plan is taken with a probability that falls.
      if (best_total == 0 ||
          (all_fit && (best_total > total ||
                       random_.Below(100) <
                           50 * (total - best_total) / total / attempt))) {
        best = current;
        if (all_fit) {
          best_total = total;
          if (best_total <= problem_.memory_pressure) break;
        }
      } else {
        Swap(swapped_[1], swapped_[0]);
        current = std::move(previous);
        used = UsedBytes(problem_, current);
      }
      const std::vector<int> highest = Highest(current, used);
      if (highest.empty()) break;
      Vary(highest[static_cast<size_t>(
          random_.Below(static_cast<int64_t>(highest.size())))]);
    }
    for (size_t i = 0; i < best.size(); ++i) {
      if (best[i].pool < 0) return TooSmall(problem_, i);
    }
    return best;
  }

 private:
  static constexpr int64_t kAttempts = 500;
  // Conflicts to look at, of all attempts together: seconds.
  static constexpr int64_t kMostWork = 100'000'000;

  static bool AllPlaced(const PoolPlan& plan) {
    return std::all_of(plan.begin(), plan.end(),
                       [](const PoolPlace& place) { return place.pool >= 0; });
  }

  // Places each buffer in the first gap between those that it conflicts with.
  // Buffers that fit nowhere are not placed.
  PoolPlan PlaceFirstFit() {
    PoolPlan plan(problem_.buffers.size());
    std::vector<int64_t> offsets(problem_.pools.size());
    std::vector<int> placed;
    for (const int index : order_) {
      const PoolBuffer& buffer = problem_.buffers[index];
      std::fill(offsets.begin(), offsets.end(), -1);
      for (const int pool : buffer.pools) {
        if (Fits(problem_.pools[pool], buffer.bytes)) offsets[pool] = 0;
      }
      placed.clear();
      work_ += static_cast<int64_t>(buffer.conflicts.size());
      for (const int other : buffer.conflicts) {
        if (plan[other].pool >= 0) placed.push_back(other);
      }
      std::stable_sort(placed.begin(), placed.end(), [&](int a, int b) {
        return plan[a].offset < plan[b].offset;
      });
      for (const int other : placed) {
        const PoolPlace& place = plan[other];
        int64_t& offset = offsets[place.pool];
        if (offset < 0) continue;
        const int64_t end = EndFor(problem_.buffers[other], place, buffer);
        if (!Fits(problem_.pools[place.pool], end + buffer.bytes)) {
          offset = -1;
        } else if (end > offset && offset + buffer.bytes > place.offset) {
          offset = end;
        }
      }
      for (const int pool : buffer.pools) {
        if (offsets[pool] < 0) continue;
        plan[index] = {pool, offsets[pool]};
        break;
      }
    }
    return plan;
  }

  // The buffers that end where their pools end, in order.
  std::vector<int> Highest(const PoolPlan& plan,
                           const std::vector<int64_t>& used) const {
    std::vector<int> result;
    for (const int index : order_) {
      const PoolPlace& place = plan[index];
      if (place.pool >= 0 &&
          place.offset + problem_.buffers[index].bytes == used[place.pool]) {
        result.push_back(index);
      }
    }
    return result;
  }

  // Swaps two buffers that are placed before `index` and in its way, or in the
  // way of one that is.
  void Vary(int index) {
    std::vector<int> first;
    std::vector<int> second;
    for (const int near : problem_.buffers[index].conflicts) {
      if (position_[index] > position_[near]) first.push_back(near);
      work_ += static_cast<int64_t>(problem_.buffers[near].conflicts.size());
      for (const int far : problem_.buffers[near].conflicts) {
        if (position_[near] > position_[far]) second.push_back(far);
      }
    }
    if (first.empty()) return;
    const auto by_position = [this](int a, int b) {
      return position_[a] < position_[b];
    };
    std::sort(first.begin(), first.end(), by_position);
    std::sort(second.begin(), second.end(), by_position);
    const auto any_of = [this](const std::vector<int>& list) {
      return list[static_cast<size_t>(
          random_.Below(static_cast<int64_t>(list.size())))];
    };
    const int a = any_of(first);
    int b = a;
    // All elements of both lists may be one buffer.
    for (int tries = 0; b == a && tries < kTries; ++tries) {
      b = !second.empty() && random_.Below(100) > 25 ? any_of(second)
                                                     : any_of(first);
      if (second.size() < 2 && first.size() < 2) break;
    }
    if (a == b) return;
    swapped_[0] = position_[a];
    swapped_[1] = position_[b];
    Swap(swapped_[0], swapped_[1]);
  }

  void Swap(int i, int j) {
    if (i == j) return;
    std::swap(order_[i], order_[j]);
    position_[order_[i]] = i;
    position_[order_[j]] = j;
  }

  static constexpr int kTries = 1000;

  const PoolProblem& problem_;
  std::vector<int> order_;
  std::vector<int> position_;  // of each buffer in `order_`
  int swapped_[2] = {-1, -1};  // the last two positions that were swapped
  Random random_;
  int64_t work_ = 0;  // conflicts looked at so far
};

absl::StatusOr<PoolPlan> HillClimb(const PoolProblem& problem) {
  return HillClimber(problem).Climb();
}

// The planner of the executor, for one pool after the other: what does not fit
// in a pool goes to the next.
absl::StatusOr<PoolPlan> PlanAsArenas(const PoolProblem& problem) {
  PoolPlan plan(problem.buffers.size());
  // The candidate of each buffer that is its turn.
  std::vector<size_t> turn(problem.buffers.size());
  while (true) {
    bool is_complete = true;
    for (size_t pool = 0; pool < problem.pools.size(); ++pool) {
      std::vector<size_t> members;
      for (size_t i = 0; i < problem.buffers.size(); ++i) {
        const std::vector<int>& pools = problem.buffers[i].pools;
        if (turn[i] == pools.size()) return TooSmall(problem, i);
        if (pools[turn[i]] == static_cast<int>(pool)) members.push_back(i);
      }
      while (true) {
        std::vector<executor::Lifetime> lifetimes;
        for (const size_t i : members) {
          const PoolBuffer& buffer = problem.buffers[i];
          if (executor::kAlignment % buffer.alignment != 0) {
            return absl::InvalidArgumentError(absl::StrCat(
                "algorithm arena: the alignment of ", buffer.name, ", ",
                buffer.alignment, " bytes, is no divisor of ",
                executor::kAlignment));
          }
          lifetimes.push_back({buffer.bytes, buffer.first, buffer.last});
        }
        const executor::ArenaPlan arena = executor::PlanArena(lifetimes);
        std::vector<size_t> rest;
        for (size_t k = 0; k < members.size(); ++k) {
          const size_t i = members[k];
          const int64_t end = arena.offsets[k] + problem.buffers[i].bytes;
          if (Fits(problem.pools[pool], end)) {
            plan[i] = {static_cast<int>(pool), arena.offsets[k]};
            rest.push_back(i);
          } else {
            ++turn[i];
            is_complete = false;
          }
        }
        if (rest.size() == members.size()) break;
        members = std::move(rest);
      }
    }
    if (is_complete) return plan;
  }
}

BATON_REGISTER_POOL_ALGORITHM("greedy_by_size", GreedyBySize);
BATON_REGISTER_POOL_ALGORITHM("greedy_by_conflicts", GreedyByConflicts);
BATON_REGISTER_POOL_ALGORITHM("hill_climb", HillClimb);
BATON_REGISTER_POOL_ALGORITHM("arena", PlanAsArenas);

}  // namespace

Registry<PoolAlgorithm>& PoolAlgorithmRegistry() {
  static auto& registry = *Registry<PoolAlgorithm>::NewGlobal(
      "algorithm that places buffers in memory pools");
  return registry;
}

std::vector<int64_t> UsedBytes(const PoolProblem& problem,
                               const PoolPlan& plan) {
  std::vector<int64_t> used(problem.pools.size());
  for (size_t i = 0; i < plan.size(); ++i) {
    if (plan[i].pool < 0) continue;
    int64_t& end = used[plan[i].pool];
    end = std::max(end, plan[i].offset + problem.buffers[i].bytes);
  }
  return used;
}

absl::Status CheckPoolPlan(const PoolProblem& problem, const PoolPlan& plan) {
  if (plan.size() != problem.buffers.size()) {
    return absl::InternalError(
        absl::StrCat("a plan of memory pools has ", plan.size(), " places for ",
                     problem.buffers.size(), " buffers"));
  }
  const auto wrong = [&](size_t i, absl::string_view how) {
    return absl::InternalError(
        absl::StrCat("a plan of memory pools has buffer ",
                     problem.buffers[i].name, " ", how));
  };
  for (size_t i = 0; i < plan.size(); ++i) {
    const PoolBuffer& buffer = problem.buffers[i];
    const PoolPlace& place = plan[i];
    if (std::find(buffer.pools.begin(), buffer.pools.end(), place.pool) ==
        buffer.pools.end()) {
      return wrong(i, "in none of its pools");
    }
    if (place.offset < 0 || place.offset % buffer.alignment != 0) {
      return wrong(i, "where its alignment does not allow it");
    }
    if (!Fits(problem.pools[place.pool], place.offset + buffer.bytes)) {
      return wrong(i, "behind the end of its pool");
    }
    for (const int other : buffer.conflicts) {
      if (other == static_cast<int>(i) || plan[other].pool != place.pool) {
        continue;
      }
      if (place.offset < plan[other].offset + problem.buffers[other].bytes &&
          plan[other].offset < place.offset + buffer.bytes) {
        return wrong(
            i, absl::StrCat("in the memory of ", problem.buffers[other].name));
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PoolPlan> PlanPools(absl::string_view algorithm,
                                   const PoolProblem& problem) {
  BATON_ASSIGN_OR_RETURN(const PoolAlgorithm* run,
                         PoolAlgorithmRegistry().Get(algorithm));
  BATON_ASSIGN_OR_RETURN(PoolPlan plan, (*run)(problem));
  BATON_RETURN_IF_ERROR(CheckPoolPlan(problem, plan));
  return plan;
}

}  // namespace baton::tir
