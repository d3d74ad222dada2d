// Makes random functions of loops, and shrinks them.
//
//   for (uint32_t seed = 0; seed < 1000; ++seed) {
//     const tir::PrimFunc function =
//         RandomLoops(seed, RandomLoopsOptions::Mixed(seed));
//     if (Breaks(function)) {
//       ADD_FAILURE() << AsText(
//           ModuleOfLoops(ShrinkLoops(function, Breaks)));
//     }
//   }

#ifndef BATON_TESTING_RANDOM_LOOPS_H_
#define BATON_TESTING_RANDOM_LOOPS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "baton/ir/module.h"
#include "baton/tir/ir/function.h"

namespace baton::testing {

struct RandomLoopsOptions {
  int size = 5;  // the number of computations
  // Computations are blocks below a root block, as schedules require.
  bool blocks = true;
  // Conditions, lets, while loops, allocations and other statements.
  bool statements = false;
  bool vectors = false;   // ramps as indices, vectorized loops
  bool threads = false;   // a loop over threads
  bool symbolic = false;  // extents that are variables
  // Loops one after the other share a variable.
  bool shared_variables = false;
  // Integers of more types, near the ends of their types; variables of loops of
  // these types. Sums of integers other than int32 and int64 wrap around.
  bool type_ends = false;

  // A different mixture for each of 32 consecutive seeds.
  static RandomLoopsOptions Mixed(uint32_t seed);
};

// Makes a well-formed function of buffers and numbers. Run on small integers
// (loops_values.h), accesses are in bounds, int32 and int64 do not overflow and
// other integers only if `type_ends`, only written elements are read, no divisor
// is zero, and floats are computed without rounding, so that sums in another
// order are equal. The regions of blocks include all accesses. Iterations of
// parallel loops are independent.
// Extents that are variables must be positive. Equal seeds and options give
// equal functions on every machine.
tir::PrimFunc RandomLoops(uint32_t seed,
                          const RandomLoopsOptions& options = {});

// The module whose `main` is `function`.
IRModule ModuleOfLoops(const tir::PrimFunc& function);

// A module of `count` random functions, with RandomLoopsOptions::Mixed() and
// each with its name as its global symbol: `main`, `f1`, `f2` ... Every third
// function calls a private one, `h2`, `h5` ..., with a pointer and a number.
// Equal seeds give equal modules on every machine.
IRModule RandomLoopsModule(uint32_t seed, int count);

// Shrinks `function`, for which `fails` must be true, to a small one for which
// it is still true: leaves out statements, and replaces expressions by parts of
// them or by zero. Calls `fails` at most `max_calls` times.
tir::PrimFunc ShrinkLoops(tir::PrimFunc function,
                          absl::FunctionRef<bool(const tir::PrimFunc&)> fails,
                          int max_calls = 2000);

}  // namespace baton::testing

#endif  // BATON_TESTING_RANDOM_LOOPS_H_
