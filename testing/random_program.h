// Makes random well-typed programs, and shrinks programs.
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
  int size = 40;            // the approximate number of expressions
  bool effects = false;     // creates, reads and writes references
  bool networks = false;    // matrices and images; operators of all kinds
  bool data_types = false;  // constructors and match
  bool functions = false;   // closures as values, recursion, global functions
  // Chains of casts through numbers of any type, of values near their ends.
  bool casts = false;
  // NaN, infinities, zeros of both signs and the ends of the range among the
  // elements of constants.
  bool special_constants = false;
  // Tuples whose two fields are the same tuple, several levels deep.
  bool towers = false;
  // A chain of functions to inline, each of which calls the next one twice;
  // needs `functions`.
  bool doubling = false;

  // A different mixture for each of 16 consecutive seeds; sizes from 10 to 70.
  static RandomProgramOptions Mixed(uint32_t seed);
  // As Mixed(), with casts and doubling, and for some seeds special constants
  // and towers: programs that rewrites often get wrong or make too large.
  static RandomProgramOptions Hard(uint32_t seed);
};

// Makes a module whose `main` consists of lets, branches, local functions,
// tuples and calls, on tensors, and of the features that `options` enables.
// Expressions are shared, also by scopes. `main` terminates for all arguments.
// Equal seeds and options give equal modules on every machine. The module is
// typed; an error would be a bug of the generator.
absl::StatusOr<IRModule> RandomProgram(
    uint32_t seed, const RandomProgramOptions& options = {});

// Shrinks `module`, for which `fails` must be true, to a small module for which
// it is still true, by removing functions, parameters, lets, branches and
// operands. Calls `fails` only with well-formed, typed modules, at most
// `max_calls` times. Removes one part at a time until no removal helps. Within
// `max_calls`, the result has no removable part.
IRModule Shrink(IRModule module, absl::FunctionRef<bool(const IRModule&)> fails,
                int max_calls = 5000);

}  // namespace baton::testing

#endif  // BATON_TESTING_RANDOM_PROGRAM_H_
