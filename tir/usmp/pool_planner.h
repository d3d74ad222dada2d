// Algorithms that place buffers in memory pools.
//
//   PoolProblem problem = {.pools = {{"fast", 1024}, {"slow"}},
//                          .buffers = {{.name = "a", .bytes = 900,
//                                       .pools = {0, 1}, .conflicts = {1}},
//                                      {.name = "b", .bytes = 200,
//                                       .pools = {0, 1}, .conflicts = {0}}}};
//   BATON_ASSIGN_OR_RETURN(PoolPlan plan,
//                          PlanPools("greedy_by_size", problem));
//
// Built in are TVM's `greedy_by_size`, `greedy_by_conflicts` and `hill_climb`,
// and `arena`, which is the planner of the executor. A library adds others:
//
//   BATON_REGISTER_POOL_ALGORITHM("mine", MyAlgorithm);

#ifndef BATON_TIR_USMP_POOL_PLANNER_H_
#define BATON_TIR_USMP_POOL_PLANNER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/macros.h"
#include "baton/base/registry.h"

namespace baton::tir {

struct PoolSize {
  std::string name;
  int64_t bytes = -1;  // the most that may be used; -1: unlimited
};

struct PoolBuffer {
  std::string name;  // no other buffer has it
  int64_t bytes = 0;
  int64_t alignment = 1;
  // Indices of the pools that may have it, the preferred one first.
  std::vector<int> pools;
  // Indices of the buffers whose memory must be other memory. They may have
  // several entries for one buffer; the number of entries says how much a
  // buffer is in the way of others.
  std::vector<int> conflicts;
  // It is in use from step `first` to step `last` at most: conflicts are
  // buffers that have a step in common with it.
  int32_t first = 0;
  int32_t last = 0;
};

struct PoolProblem {
  std::vector<PoolSize> pools;
  std::vector<PoolBuffer> buffers;
  // The most bytes in use at one step: no plan needs less.
  int64_t memory_pressure = 0;
};

struct PoolPlace {
  int pool = -1;
  int64_t offset = 0;  // in bytes

  friend bool operator==(const PoolPlace&, const PoolPlace&) = default;
};
using PoolPlan = std::vector<PoolPlace>;  // an element for each buffer

using PoolAlgorithm =
    std::function<absl::StatusOr<PoolPlan>(const PoolProblem& problem)>;

// Runs the algorithm of that name. An error if a buffer fits none of its pools.
// Checks the plan of the algorithm by CheckPoolPlan().
absl::StatusOr<PoolPlan> PlanPools(absl::string_view algorithm,
                                   const PoolProblem& problem);

// An Internal error if a buffer of `plan` is in none of its pools, behind the
// end of the pool, not aligned, or in the memory of one that it conflicts with.
absl::Status CheckPoolPlan(const PoolProblem& problem, const PoolPlan& plan);

// The bytes of each pool that `plan` uses.
std::vector<int64_t> UsedBytes(const PoolProblem& problem,
                               const PoolPlan& plan);

Registry<PoolAlgorithm>& PoolAlgorithmRegistry();

#define BATON_REGISTER_POOL_ALGORITHM(name, function)   \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_pool_algorithm_) =                          \
      ::baton::tir::PoolAlgorithmRegistry().Register(   \
          name, ::baton::tir::PoolAlgorithm(function))

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_POOL_PLANNER_H_
