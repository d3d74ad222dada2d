// Random well-typed programs, and a shrinker for programs.
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
// by scopes. It terminates for all arguments. The same seed and options give
// the same module on every machine. Typed; an error would be one of the
// generator.
absl::StatusOr<IRModule> RandomProgram(
    uint32_t seed, const RandomProgramOptions& options = {});

// Shrinks `module`, for which `fails` must be true, to a small module for which
// it is still true, by removing functions, parameters, lets, branches and
// operands. `fails` gets well-formed and typed modules only, and is called at
// most `max_calls` times. Removes one part at a time until no removal helps; if
// the calls suffice, the result has no removable part.
IRModule Shrink(IRModule module, absl::FunctionRef<bool(const IRModule&)> fails,
                int max_calls = 5000);

}  // namespace baton::testing

#endif  // BATON_TESTING_RANDOM_PROGRAM_H_
