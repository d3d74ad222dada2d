// Checks the laws that every pass keeps, from its registration alone.
//
// One line tests all laws on all passes that are linked in:
//
//   BATON_TEST_PASS_LAWS(MyPasses, testing::RegisteredPasses());
//
// Put it into a test that depends on this library, on the passes and on the
// operators (`//relay/op:all_ops`). It makes a GoogleTest for each pass and
// each kind of program; a random program that breaks a law is shrunk before it
// is shown. `--seconds=N` (or BATON_PASS_LAWS_SECONDS=N) tries random programs
// for N seconds, for each pass.
//
// The laws, by their names in messages:
//
//   runs         the pass returns no error
//   verifies     the result is well-formed and has types
//   input        the argument is unchanged
//   no_op        a result that is structurally equal to the argument, and has
//                as many nodes, is the same module
//   idempotent   run on its own result, the pass changes nothing, if it is
//                declared idempotent
//   threads      1, 2 and 16 threads give the same text
//   round_trip   printing and parsing the result does not change it
//   values       the result computes the same values, bit-exact or within the
//                declared tolerance
//   special_values
//                an exact pass also keeps the bits for NaN, infinities, zeros
//                of both signs and numbers at the ends of the range
//   precision    no number is narrower than the narrowest was, nor than 32 bits
//   effects      `values` also applies to programs with references
//   stack        256 KiB of stack suffice for deep programs, in optimized
//                builds without sanitizers; otherwise 8 MiB
//
// A pass that does not keep a law has a waiver in its PassInfo: `idempotent` is
// false, `exact` is false, or `waivers` contains the law with the reason.
// The waivers for values make the promise of the pass
// (transform/value_promise.h). A bit-exact pass has none. `special_values` is
// for a pass that is bit-exact except for special numbers; `exact` = false for
// a reassociating pass; `precision` for a pass that computes in narrower dtypes
// or approximates; `values` for a pass that changes the meaning of the program.
// The passes that `required` names run first, as in a sequence.

#ifndef BATON_TESTING_PASS_LAWS_H_
#define BATON_TESTING_PASS_LAWS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/testing/pass_law_checks.h"    // IWYU pragma: export
#include "baton/testing/registered_passes.h"  // IWYU pragma: export
#include "baton/transform/pass.h"
#include "gtest/gtest.h"

namespace baton::testing {

// Checks `stack` and `verifies` on chains of 2,000 calls (30,000 in the long
// form of tests, 100,000 in the nightly one), of as many lets, and of 1,000
// branches (4,000), on a separate thread. Too deep recursion ends the process.
absl::Status CheckPassStack(const Pass& pass);

// Checks `num_programs` random programs from seed `first_seed` on. The error
// shows the smallest program found that breaks the same law, and its seed.
absl::Status CheckPassOnRandomPrograms(const Pass& pass, uint32_t first_seed,
                                       int num_programs);

// The modules of the law tests, by name: linked workloads that are small
// enough, and programs of many functions. An error if one cannot be built.
const absl::StatusOr<std::vector<std::pair<std::string, IRModule>>>&
LawModules();

#define BATON_TEST_PASS_LAWS(name, passes)                                  \
  using PassLawsTest = ::baton::testing::PassLawsTest;                      \
  INSTANTIATE_TEST_SUITE_P(name, PassLawsTest, ::testing::ValuesIn(passes), \
                           ::baton::testing::PassTestName)

}  // namespace baton::testing

#endif  // BATON_TESTING_PASS_LAWS_H_
