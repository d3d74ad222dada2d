#include "baton/testing/registered_passes.h"

#include <iostream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Pass Writes(std::string name, PassInfo info = {}) {
  info.name = name;
  return CreateModulePass(
      [name](IRModule module,
             const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        std::cerr << name << " ";
        return module;
      },
      info);
}

Pass A() { return Writes("A"); }
BATON_REGISTER_PASS(A);
Pass B() { return Writes("B", {.required = {"A"}}); }
BATON_REGISTER_PASS(B);
Pass C() { return Writes("C", {.required = {"A", "B"}}); }
BATON_REGISTER_PASS(C);

TEST(RegisteredPassesTest, NamesAndExamples) {
  PassRegistry registry;
  registry.Register("Plain", [] { return Writes("Plain"); });
  registry.Register("WithExample", [] {
    return Writes("WithExample", {.examples = {"a=1", "a=2"}});
  });
  EXPECT_THAT(RegisteredPasses(registry),
              ElementsAre("Plain", "WithExample", "WithExample{a=1}",
                          "WithExample{a=2}"));
}

TEST(GetRegisteredPassTest, MakesThePass) {
  BATON_ASSERT_OK_AND_ASSIGN(const Pass pass, GetRegisteredPass("B"));
  EXPECT_EQ(pass.name(), "B");
  const absl::Status status = GetRegisteredPass("Bee").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("PassInfo::examples"));
}

class RunRequiredPassesTest : public ::testing::Test {
 protected:
  RunRequiredPassesTest() : old_(std::cerr.rdbuf(written_.rdbuf())) {}
  ~RunRequiredPassesTest() override { std::cerr.rdbuf(old_); }
  std::ostringstream written_;
  std::streambuf* old_;
};

TEST_F(RunRequiredPassesTest, RunsWhatThoseRequireToo) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module,
                             RunRequiredPasses(C(), IRModule()));
  EXPECT_EQ(written_.str(), "A A B ");
  {
    const SilentStderr silence;
    EXPECT_THAT(RunRequiredPasses(C(), IRModule()).status(), IsOk());
    EXPECT_EQ(silence.bytes(), 6);
  }
  EXPECT_EQ(written_.str(), "A A B ");
}

}  // namespace
}  // namespace baton::testing
