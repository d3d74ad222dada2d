// Makes functions of loops that steps of schedules take which seldom fit random
// ones (random_loops.h): moves of producers into loops, rolling buffers, and
// others with many conditions.
//
//   for (uint32_t seed = 0; seed < 100; ++seed) {
//     BATON_ASSIGN_OR_RETURN(FittingLoops fitting,
//                            LoopsForStep("rfactor", seed));
//     // Apply fitting.steps to fitting.function; the last one is `rfactor`.
//   }

#ifndef BATON_TESTING_FITTING_LOOPS_H_
#define BATON_TESTING_FITTING_LOOPS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/tir/ir/function.h"

namespace baton::testing {

// The steps that LoopsForStep() makes functions for.
std::vector<absl::string_view> StepsWithFittingLoops();

struct FittingLoops {
  std::string script;  // the text of `function`
  tir::PrimFunc function;
  // Texts of steps that prepare the function, and then the step, which may be
  // refused: some functions lack little of what it needs.
  std::vector<std::string> steps;
};

// A function, as random_loops.h promises, and steps for it. `step` is one of
// StepsWithFittingLoops(); an error for another one. Equal seeds give equal
// results on every machine.
absl::StatusOr<FittingLoops> LoopsForStep(absl::string_view step,
                                          uint32_t seed);

}  // namespace baton::testing

#endif  // BATON_TESTING_FITTING_LOOPS_H_
