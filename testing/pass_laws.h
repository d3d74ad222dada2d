// The laws that every pass keeps, checked from its registration alone.
//
// One line tests all laws on all passes that are linked in:
//
//   BATON_TEST_PASS_LAWS(MyPasses, testing::RegisteredPasses());
//
// in a test that depends on this library, on the passes and on the operators
// (`//relay/op:all_ops`). It makes a GoogleTest for each pass and each kind of
// program; a random program that breaks a law is shrunk before it is shown.
// `--seconds=N` (or BATON_PASS_LAWS_SECONDS=N) tries random programs for that
// long, for each pass.
//
// The laws, by the names that messages give them:
//
//   runs         the pass returns no error
//   verifies     the result is well-formed and has types
//   input        the module given in is untouched
//   no_op        a result that is structurally equal to what the pass was
//                given, and has as many nodes, is the same module
//   idempotent   run on its own result, the pass changes nothing, if it is
//                declared idempotent
//   threads      1, 2 and 16 threads make the same text
//   round_trip   the result survives being printed and parsed
//   values       the result computes the same, to the bit or within the
//                tolerance that is declared
//   special_values
//                a pass that is exact keeps the bits for NaN, infinities, zeros
//                of both signs and numbers at the ends of the range, too
//   precision    no number is narrower than the narrowest was, nor than 32 bits
//   effects      `values` holds for programs with references too
//   stack        256 KiB of stack suffice for deep programs, in optimized
//                builds without sanitizers; else 8 MiB
//
// A pass that does not keep a law has a waiver in its PassInfo: `idempotent` is
// false, `exact` is false, or `exceptions` has the law with the reason. Those
// for values make the class of the pass (transform/value_promise.h): a pass
// that keeps every bit has none; `special_values` is for one that does but for
// special numbers, `exact` = false for one that reassociates, `precision` for
// one that computes in narrower dtypes or approximates, `values` for one after
// which the program computes something else. The passes that `required` names
// run first, as in a sequence.

#ifndef BATON_TESTING_PASS_LAWS_H_
#define BATON_TESTING_PASS_LAWS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/testing/registered_passes.h"  // IWYU pragma: export
#include "baton/transform/pass.h"
#include "gtest/gtest.h"

namespace baton::testing {

struct PassLawOptions {
  // A program that does more multiplications and additions than this, about,
  // is not evaluated.
  int64_t max_operations = 20'000'000;
};

// Checks all laws but `stack` on one typed module. An error is
// FailedPrecondition, and its message begins with the name of the law that is
// broken and a colon. `module` itself must verify.
absl::Status CheckPassLaws(const Pass& pass, const IRModule& module,
                           const PassLawOptions& options = {});

// Checks `stack` and `verifies` on chains of 100,000 calls, of as many lets,
// and of 4,000 branches, on a thread of its own. Too deep a recursion ends the
// process.
absl::Status CheckPassStack(const Pass& pass);

// Checks `num_programs` random programs from `first_seed` on. An error shows
// the smallest program found that breaks the same law, and its seed.
absl::Status CheckPassOnRandomPrograms(const Pass& pass, uint32_t first_seed,
                                       int num_programs);

// The modules of the law tests, by name: workloads that are linked in and small
// enough, and programs of many functions. Errors if one cannot be built.
absl::StatusOr<std::vector<std::pair<std::string, IRModule>>> LawModules();

// The parameter is a pass as a pipeline writes it.
class PassLawsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  const Pass& pass() const { return pass_; }

 private:
  Pass pass_;
};

// The name of a test for a pass written as in a pipeline.
std::string PassTestName(const ::testing::TestParamInfo<std::string>& info);

#define BATON_TEST_PASS_LAWS(name, passes)                                  \
  using PassLawsTest = ::baton::testing::PassLawsTest;                      \
  INSTANTIATE_TEST_SUITE_P(name, PassLawsTest, ::testing::ValuesIn(passes), \
                           ::baton::testing::PassTestName)

}  // namespace baton::testing

#endif  // BATON_TESTING_PASS_LAWS_H_
