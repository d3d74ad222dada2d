// Assigns places in one arena to values.

#ifndef BATON_RUNTIME_EXECUTOR_ARENA_PLANNER_H_
#define BATON_RUNTIME_EXECUTOR_ARENA_PLANNER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/runtime/executor/plan.h"

namespace baton::executor {

// A block of memory that is in use from step `first` to step `last`, both
// included.
struct Lifetime {
  int64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

struct ArenaPlan {
  std::vector<int64_t> offsets;  // multiples of kAlignment
  int64_t bytes = 0;
  // The largest sum of the bytes of blocks in use at one step: no plan needs
  // less.
  int64_t lower_bound = 0;
};

// Places blocks so that no two that are in use at one step overlap. Tries
// several orders and keeps the smallest arena; if more than 16 million pairs of
// blocks are in use together, one order.
ArenaPlan PlanArena(absl::Span<const Lifetime> blocks);

// Sets the lifetimes and places of the values of `plan` that are in the arena,
// its arena_bytes, its arena_lower_bound and its dataflow. A value that
// overwrites another value gets the offset of that value.
void PlaceValues(Plan& plan);

}  // namespace baton::executor

#endif  // BATON_RUNTIME_EXECUTOR_ARENA_PLANNER_H_
