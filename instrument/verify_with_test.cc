#include "baton/instrument/verify_with.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Adds a function `name`.
Pass Add(std::string pass, std::string name) {
  return CreateModulePass(
      [name](IRModule module,
             const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        module.Set(name, toy::Module().Find<relay::Function>("main"));
        return module;
      },
      {.name = std::move(pass)});
}

// Fails for a module that has a function `name`.
Pass FailsOn(std::string pass, std::string name) {
  return CreateModulePass(
      [name](IRModule module,
             const PassContext& /*context*/) -> absl::StatusOr<IRModule> {
        if (module.Find(name).defined()) {
          return absl::FailedPreconditionError(absl::StrCat("has @", name));
        }
        return module;
      },
      {.name = std::move(pass)});
}

absl::Status RunWith(std::vector<Pass> verifiers, const Pass& pass) {
  return PassContext({.instruments = {std::make_shared<VerifyWithInstrument>(
                          std::move(verifiers))}})
      .Run([&] { return pass(toy::Module()).status(); });
}

TEST(VerifyWithTest, NamesThePassAfterWhichAVerifierFails) {
  const absl::Status status =
      RunWith({FailsOn("NoFirst", "first"), FailsOn("NoSecond", "second")},
              Sequential({Add("AddOther", "other"), Add("AddSecond", "second"),
                          Add("AddFirst", "first")}));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("after pass AddSecond, NoSecond fails, which "
                              "succeeded before it"),
                    HasSubstr("has @second")));
}

TEST(VerifyWithTest, APassIsNotToBlameForWhatFailedBefore) {
  const absl::Status status = RunWith({FailsOn("NoMain", "main")},
                                      Sequential({Add("AddOther", "other")}));
  EXPECT_TRUE(status.ok()) << status;
}

TEST(VerifyWithTest, ResultsOfVerifiersAreDropped) {
  const auto instrument = std::make_shared<VerifyWithInstrument>(
      std::vector<Pass>{Add("AddFirst", "first")});
  const PassContext context({.instruments = {instrument}});
  const absl::StatusOr<IRModule> result = context.Run(
      [&] { return Sequential({Add("AddOther", "other")})(toy::Module()); });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_TRUE(result->Find("other").defined());
  EXPECT_FALSE(result->Find("first").defined());
  EXPECT_EQ(instrument->num_checked(), 1);
}

// Collects the numbers of executions.
class Numbers final : public PassInstrument {
 public:
  Numbers() : PassInstrument("Numbers") {}
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& pass) override {
    numbers.push_back(pass.number());
    return absl::OkStatus();
  }
  std::vector<int64_t> numbers;
};

TEST(VerifyWithTest, ExecutionsKeepTheirNumbers) {
  const auto numbers = std::make_shared<Numbers>();
  const PassContext context(
      {.instruments = {std::make_shared<VerifyWithInstrument>(
                           std::vector<Pass>{FailsOn("NoFirst", "first")}),
                       numbers}});
  const absl::Status status = context.Run([&] {
    return Sequential({Add("AddOther", "other"), Add("AddThird", "third")})(
               toy::Module())
        .status();
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_THAT(numbers->numbers, ElementsAre(2, 3, 1));
}

}  // namespace
}  // namespace baton
