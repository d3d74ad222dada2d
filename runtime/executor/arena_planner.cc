#include "baton/runtime/executor/arena_planner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/runtime/executor/dataflow_digest.h"
#include "baton/runtime/executor/plan.h"

namespace baton::executor {
namespace {

bool Meet(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

// The begin or the end of the lifetime of a block.
struct Event {
  int64_t time = 0;  // blocks begin before others end in the same step
  size_t block = 0;
  bool is_end = false;
};

std::vector<Event> EventsOf(absl::Span<const Lifetime> blocks) {
  std::vector<Event> events;
  events.reserve(blocks.size() * 2);
  for (size_t i = 0; i < blocks.size(); ++i) {
    events.push_back({int64_t{2} * blocks[i].first, i, false});
    events.push_back({int64_t{2} * blocks[i].last + 1, i, true});
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::pair(a.time, a.block) < std::pair(b.time, b.block);
  });
  return events;
}

int64_t LowerBound(absl::Span<const Lifetime> blocks,
                   absl::Span<const Event> events) {
  int64_t live = 0;
  int64_t most = 0;
  for (const Event& event : events) {
    const int64_t bytes = AlignUp(blocks[event.block].bytes);
    live += event.is_end ? -bytes : bytes;
    most = std::max(most, live);
  }
  return most;
}

// The number of pairs of blocks that are in use together.
int64_t NumConflicts(absl::Span<const Event> events) {
  int64_t live = 0;
  int64_t result = 0;
  for (const Event& event : events) {
    if (!event.is_end) result += live;
    live += event.is_end ? -1 : 1;
  }
  return result;
}

// The most pairs of blocks that Conflicts may have: its memory is 16 bytes for
// each.
constexpr int64_t kMaxConflicts = 16'000'000;

// The blocks that are in use together with each block.
class Conflicts {
 public:
  explicit Conflicts(absl::Span<const Lifetime> blocks) : of_(blocks.size()) {
    std::vector<size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(blocks[a].first, a) < std::pair(blocks[b].first, b);
    });
    std::vector<size_t> live;
    for (const size_t block : order) {
      live.erase(std::remove_if(live.begin(), live.end(),
                                [&](size_t other) {
                                  return !Meet(blocks[other], blocks[block]);
                                }),
                 live.end());
      for (const size_t other : live) {
        of_[other].push_back(block);
        of_[block].push_back(other);
      }
      live.push_back(block);
    }
  }
  const std::vector<size_t>& Of(size_t block) const { return of_[block]; }

 private:
  std::vector<std::vector<size_t>> of_;
};

// Places blocks in `order`, each into the smallest gap that is large enough, or
// at the lowest one if `lowest`.
int64_t Place(absl::Span<const Lifetime> blocks, const Conflicts& conflicts,
              absl::Span<const size_t> order, bool lowest, int64_t most,
              std::vector<int64_t>& offsets) {
  offsets.assign(blocks.size(), -1);
  int64_t total = 0;
  std::vector<std::pair<int64_t, int64_t>> taken;
  for (const size_t block : order) {
    const int64_t bytes = AlignUp(blocks[block].bytes);
    taken.clear();
    for (const size_t other : conflicts.Of(block)) {
      if (offsets[other] < 0 || blocks[other].bytes == 0) continue;
      taken.emplace_back(offsets[other],
                         offsets[other] + AlignUp(blocks[other].bytes));
    }
    std::sort(taken.begin(), taken.end());
    int64_t end = 0;
    int64_t best = -1;
    int64_t best_gap = std::numeric_limits<int64_t>::max();
    for (const auto& [from, to] : taken) {
      const int64_t gap = from - end;
      if (gap >= bytes && gap < best_gap) {
        best = end;
        best_gap = gap;
        if (lowest) break;
      }
      end = std::max(end, to);
    }
    if (best < 0) best = end;
    offsets[block] = best;
    total = std::max(total, best + bytes);
    if (total >= most) return total;  // No better than what there is.
  }
  return total;
}

// Memory that blocks take and give back.
class FreeList {
 public:
  // Returns the offset of the smallest gap that is large enough.
  int64_t Take(int64_t bytes) {
    if (bytes == 0) return 0;
    const auto gap = by_size_.lower_bound({bytes, 0});
    if (gap == by_size_.end()) {
      // The arena grows, from the gap at its end if there is one.
      int64_t offset = end_;
      if (!by_offset_.empty()) {
        const auto [last, size] = *by_offset_.rbegin();
        if (last + size == end_) {
          offset = last;
          Erase(last, size);
        }
      }
      end_ = offset + bytes;
      return offset;
    }
    const auto [size, offset] = *gap;
    Erase(offset, size);
    if (size > bytes) Insert(offset + bytes, size - bytes);
    return offset;
  }
  void GiveBack(int64_t offset, int64_t bytes) {
    if (bytes == 0) return;
    const auto next = by_offset_.lower_bound(offset);
    if (next != by_offset_.begin()) {
      const auto [before, size] = *std::prev(next);
      if (before + size == offset) {
        Erase(before, size);
        offset = before;
        bytes += size;
      }
    }
    const auto after = by_offset_.find(offset + bytes);
    if (after != by_offset_.end()) {
      const int64_t size = after->second;
      Erase(offset + bytes, size);
      bytes += size;
    }
    Insert(offset, bytes);
  }
  int64_t end() const { return end_; }

 private:
  void Insert(int64_t offset, int64_t size) {
    by_offset_.emplace(offset, size);
    by_size_.emplace(size, offset);
  }
  void Erase(int64_t offset, int64_t size) {
    by_offset_.erase(offset);
    by_size_.erase({size, offset});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::set<std::pair<int64_t, int64_t>> by_size_;
  int64_t end_ = 0;
};

// Places blocks in the order in which they begin.
void PlaceByTime(absl::Span<const Lifetime> blocks,
                 absl::Span<const Event> events, ArenaPlan& result) {
  FreeList memory;
  result.offsets.assign(blocks.size(), 0);
  for (const Event& event : events) {
    const int64_t bytes = AlignUp(blocks[event.block].bytes);
    int64_t& offset = result.offsets[event.block];
    if (event.is_end) {
      memory.GiveBack(offset, bytes);
    } else {
      offset = memory.Take(bytes);
    }
  }
  result.bytes = memory.end();
}

}  // namespace

ArenaPlan PlanArena(absl::Span<const Lifetime> blocks) {
  ArenaPlan result;
  const std::vector<Event> events = EventsOf(blocks);
  result.lower_bound = LowerBound(blocks, events);
  if (NumConflicts(events) > kMaxConflicts) {
    PlaceByTime(blocks, events, result);
    return result;
  }
  result.bytes = std::numeric_limits<int64_t>::max();
  const Conflicts conflicts(blocks);
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto length = [&](size_t i) {
    return blocks[i].last - blocks[i].first;
  };
  // The bytes in use, at the same time, around a block.
  std::vector<int64_t> crowd(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    crowd[i] = AlignUp(blocks[i].bytes);
    for (const size_t other : conflicts.Of(i)) {
      crowd[i] += AlignUp(blocks[other].bytes);
    }
  }
  std::vector<int64_t> offsets;
  const auto attempt = [&](const auto& key) {
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(key(a), a) < std::pair(key(b), b);
    });
    for (const bool lowest : {false, true}) {
      if (result.bytes <= result.lower_bound) return;
      const int64_t bytes =
          Place(blocks, conflicts, order, lowest, result.bytes, offsets);
      if (bytes < result.bytes) {
        result.bytes = bytes;
        result.offsets = offsets;
      }
    }
  };
  attempt([&](size_t i) { return std::pair(-blocks[i].bytes, length(i)); });
  attempt([&](size_t i) {
    return std::pair(int64_t{blocks[i].first}, -blocks[i].bytes);
  });
  attempt([&](size_t i) { return std::pair(-crowd[i], -blocks[i].bytes); });
  attempt([&](size_t i) {
    return std::pair(int64_t{-length(i)}, -blocks[i].bytes);
  });
  attempt([&](size_t i) {
    return std::pair(-static_cast<double>(blocks[i].bytes) * (length(i) + 1),
                     -blocks[i].bytes);
  });
  // Then from the best order on: what ends highest is placed earlier.
  std::vector<size_t> best(blocks.size());
  std::iota(best.begin(), best.end(), size_t{0});
  std::sort(best.begin(), best.end(), [&](size_t a, size_t b) {
    return std::pair(-blocks[a].bytes, a) < std::pair(-blocks[b].bytes, b);
  });
  constexpr int kRounds = 64;
  const int rounds =
      blocks.size() < 4096 && result.bytes > result.lower_bound ? kRounds : 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<int64_t> at;
    const int64_t bytes = Place(blocks, conflicts, best, round % 2 == 0,
                                std::numeric_limits<int64_t>::max(), at);
    if (bytes < result.bytes) {
      result.bytes = bytes;
      result.offsets = at;
    }
    if (result.bytes <= result.lower_bound) break;
    const auto highest =
        std::max_element(best.begin(), best.end(), [&](size_t a, size_t b) {
          return at[a] + AlignUp(blocks[a].bytes) <
                 at[b] + AlignUp(blocks[b].bytes);
        });
    if (highest == best.begin()) break;
    std::rotate(best.begin(), highest, highest + 1);
  }
  if (blocks.empty()) result.bytes = 0;
  return result;
}

void PlaceValues(Plan& plan) {
  plan.dataflow = DataflowDigest(plan);
  // Lifetimes.
  std::vector<bool> is_used(plan.values.size(), false);
  const auto use = [&](int32_t value, int32_t step) {
    Value& v = plan.values[static_cast<size_t>(value)];
    if (!is_used[static_cast<size_t>(value)]) {
      is_used[static_cast<size_t>(value)] = true;
      v.first_step = step;
      v.last_step = step;
    }
    v.first_step = std::min(v.first_step, step);
    v.last_step = std::max(v.last_step, step);
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    for (int32_t k = 0; k < step.num_inputs + step.num_outputs; ++k) {
      use(plan.operands[static_cast<size_t>(step.first_operand + k)].value,
          static_cast<int32_t>(i));
    }
    if (step.workspace >= 0) use(step.workspace, static_cast<int32_t>(i));
  }
  // A block for each chain of values that overwrite one another.
  std::vector<int32_t> block_of(plan.values.size(), -1);
  std::vector<Lifetime> blocks;
  for (size_t i = 0; i < plan.values.size(); ++i) {
    const Value& value = plan.values[i];
    if (value.space != Space::kArena) continue;
    if (value.overwrites >= 0) {
      const int32_t block = block_of[static_cast<size_t>(value.overwrites)];
      block_of[i] = block;
      Lifetime& life = blocks[static_cast<size_t>(block)];
      life.first = std::min(life.first, value.first_step);
      life.last = std::max(life.last, value.last_step);
      life.bytes = std::max(life.bytes, value.bytes);
    } else {
      block_of[i] = static_cast<int32_t>(blocks.size());
      blocks.push_back({value.bytes, value.first_step, value.last_step});
    }
  }
  const ArenaPlan arena = PlanArena(blocks);
  for (size_t i = 0; i < plan.values.size(); ++i) {
    if (block_of[i] < 0) continue;
    plan.values[i].offset = arena.offsets[static_cast<size_t>(block_of[i])];
  }
  plan.arena_bytes = arena.bytes;
  plan.arena_lower_bound = arena.lower_bound;
}

}  // namespace baton::executor
