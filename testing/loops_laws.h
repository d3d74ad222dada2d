// Checks the laws of passes on functions of loops.
//
//   BATON_TEST_LOOPS_LAWS(MyPasses, ::testing::Values("my.RemoveCopies"));
//
// makes a GoogleTest for each pass and each kind of program: random functions
// (random_loops.h), of which one that breaks a law is shrunk before it is
// shown, and deep ones. Link the pass and `//tir`.
//
// The laws are those of pass_laws.h, and these, by their names in messages:
//
//   checked     the result runs in the interpreter with all checks: accesses
//               are in bounds, reads follow writes, the regions of blocks
//               include all accesses, and the order of the iterations of
//               parallel loops makes no difference
//   round_trip  the text of the result, read again, is the same function, if
//               each definition has a variable of its own and all blocks are
//               below a root block. For other results it is a function that
//               computes the same, and that is unchanged by a second round trip
//
// A pass that breaks a law has a waiver in its PassInfo. The law `no_op` is
// checked on functions that define each variable once.

#ifndef BATON_TESTING_LOOPS_LAWS_H_
#define BATON_TESTING_LOOPS_LAWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/testing/pass_law_checks.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"
#include "gtest/gtest.h"

namespace baton::testing {

struct LoopsLawOptions {
  // Waivers in addition to those of the pass.
  std::vector<LawWaiver> waivers = {};
  // The pipeline that brings random functions into the form that the pass
  // needs.
  std::string before = {};
  // Random functions have integers near the ends of their types.
  bool type_ends = false;
  // Functions that take more steps of the interpreter are not run.
  int64_t max_steps = 2'000'000;
};

// The result of `make()`, whose name is `name`, after the pipeline `before`.
// Made once for each name and pipeline: many passes take the same modules, and
// the pipelines take longer than a pass.
absl::StatusOr<IRModule> ModuleAfter(const std::string& name,
                                     const std::string& before,
                                     absl::FunctionRef<IRModule()> make);

// Checks all laws but `stack` on one well-formed module of loops. The error is
// FailedPrecondition; its message begins with the name of the broken law and a
// colon.
absl::Status CheckLoopsLaws(const Pass& pass, const IRModule& module,
                            const LoopsLawOptions& options = {});

// Checks the laws on random functions from `first_seed` on. The error shows the
// smallest function found that breaks the same law, and its seed.
absl::Status CheckLoopsLawsOnRandomFunctions(
    const Pass& pass, uint32_t first_seed, int num_functions,
    const LoopsLawOptions& options = {});

// Runs the pass on functions of deep_loops.h in a small stack. Too deep
// recursion ends the process.
absl::Status CheckLoopsStack(const Pass& pass, int depth,
                             const LoopsLawOptions& options = {});

// The parameter is a pass, written as in a pipeline.
class LoopsLawsTest : public PassLawsTest {};

#define BATON_TEST_LOOPS_LAWS(name, passes)              \
  using LoopsLawsTest = ::baton::testing::LoopsLawsTest; \
  INSTANTIATE_TEST_SUITE_P(name, LoopsLawsTest, passes,  \
                           ::baton::testing::PassTestName)

}  // namespace baton::testing

#endif  // BATON_TESTING_LOOPS_LAWS_H_
