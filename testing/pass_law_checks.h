// The laws of passes on one module (pass_laws.h), for tests of passes of any
// level: what this library links infers no types and makes no programs. The
// verifiers of the functions of the module must be linked
// (ir/function_verifier.h).

#ifndef BATON_TESTING_PASS_LAW_CHECKS_H_
#define BATON_TESTING_PASS_LAW_CHECKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"
#include "gtest/gtest.h"

namespace baton::testing {

struct PassLawOptions {
  // The limit of the approximate number of multiplications and additions of an
  // evaluated program.
  int64_t max_operations = 20'000'000;
  // Waivers in addition to those of the pass.
  std::vector<LawWaiver> waivers = {};
};

// Checks all laws but `stack` on one typed module. The error is
// FailedPrecondition; its message begins with the name of the broken law and a
// colon. `module` itself must verify.
absl::Status CheckPassLaws(const Pass& pass, const IRModule& module,
                           const PassLawOptions& options = {});

// FailedPrecondition: `LAW: MESSAGE`.
absl::Status Broken(absl::string_view law, absl::string_view message);

// The result of a pass, with the types that it lacks. The error names the law
// `verifies`.
absl::StatusOr<IRModule> Verified(const IRModule& module);

// The parameter is a pass, written as in a pipeline.
class PassLawsTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  const Pass& pass() const { return pass_; }

 private:
  Pass pass_;
};

// The name of the test for a pass that is written as in a pipeline.
std::string PassTestName(const ::testing::TestParamInfo<std::string>& info);

}  // namespace baton::testing

#endif  // BATON_TESTING_PASS_LAW_CHECKS_H_
