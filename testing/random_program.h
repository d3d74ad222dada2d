// Random well-typed programs, and making them small.
//
//   for (uint32_t seed = 0; seed < 1000; ++seed) {
//     const IRModule module =
//         RandomProgram(seed, RandomProgramOptions::Mixed(seed));
//     if (!Breaks(module)) continue;
//     ADD_FAILURE() << "seed " << seed << ":\n"
//                   << AsText(Shrink(module, Breaks));
//   }
//
// Operators must be linked in (`//relay/op:all_ops`).

#ifndef BATON_TESTING_RANDOM_PROGRAM_H_
#define BATON_TESTING_RANDOM_PROGRAM_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"

namespace baton::testing {

struct RandomProgramOptions {
  int size = 40;            // expressions, about
  bool effects = false;     // creates, reads and writes references
  bool networks = false;    // matrices and images; operators of all kinds
  bool data_types = false;  // constructors and match
  bool functions = false;   // closures as values, recursion, global functions

  // Another mixture for each of 16 seeds in a row; sizes from 10 to 70.
  static RandomProgramOptions Mixed(uint32_t seed);
};

// A module whose `main` is made of lets, branches, local functions, tuples and
// calls, on tensors, and of what `options` adds. Expressions are shared, also
// by scopes. It ends, whatever its arguments. The same for the same arguments,
// everywhere. Typed; an error would be one of the generator.
absl::StatusOr<IRModule> RandomProgram(
    uint32_t seed, const RandomProgramOptions& options = {});

// A small module for which `fails` is true, made of `module`, for which it is
// true, by leaving out what does not matter: functions, parameters, lets,
// branches, operands. All that `fails` is called with is well-formed and
// typed. Calls `fails` at most `max_calls` times; takes one step at a time
// until none helps, so the result has no removable part if that suffices.
IRModule Shrink(IRModule module, absl::FunctionRef<bool(const IRModule&)> fails,
                int max_calls = 5000);

}  // namespace baton::testing

#endif  // BATON_TESTING_RANDOM_PROGRAM_H_
