#include "baton/instrument/skip.h"

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/recorder.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using testing::IsOk;
using testing::StatusIs;

// The executions of three passes, two of which have one name; a `*` follows
// those that changed the module.
std::string Ran(SkipOptions options) {
  const auto recorder = std::make_shared<PassRecorder>();
  const Pass passes = Sequential({toy::Replace("tanh", "exp", {.name = "A"}),
                                  toy::Replace("exp", "abs", {.name = "B"}),
                                  toy::Replace("abs", "exp", {.name = "A"})});
  const absl::StatusOr<IRModule> module =
      ParseModule("def @main(%x: float32) { tanh(%x) }");
  EXPECT_THAT(
      PassContext(
          {.instruments = {std::make_shared<SkipInstrument>(std::move(options)),
                           recorder}})
          .Run([&] { return passes(*module); })
          .status(),
      IsOk());
  return recorder->ToString();
}

TEST(SkipTest, Nothing) {
  EXPECT_EQ(Ran({}),
            "1 sequential *\n"
            "  2 A *\n    3 InferType *\n"
            "  4 B *\n    5 InferType *\n"
            "  6 A *\n    7 InferType *\n");
}

TEST(SkipTest, ByNumber) {
  // The first execution that there is adds types.
  EXPECT_EQ(Ran({.numbers = {2}}),
            "1 sequential *\n"
            "  2 B *\n    3 InferType *\n"
            "  4 A\n    5 InferType\n");
  // After #2 is left out, #4 is the second A.
  EXPECT_EQ(Ran({.numbers = {2, 4}}),
            "1 sequential *\n"
            "  2 B *\n    3 InferType *\n");
}

TEST(SkipTest, NumbersStayWhereExecutionsInsideAreCounted) {
  const auto one = [](const Pass& /*pass*/, const IRModule& /*module*/) {
    return int64_t{1};
  };
  EXPECT_EQ(Ran({.numbers = {2, 4}, .count_inside = one}),
            "1 sequential *\n"
            "  6 A *\n    7 InferType *\n");
  EXPECT_EQ(Ran({.of_pass = {{"A", {1}}}, .count_inside = one}),
            "1 sequential *\n"
            "  4 B *\n    5 InferType *\n"
            "  6 A\n    7 InferType\n");
}

TEST(SkipTest, SaysWhatHadNoEffect) {
  const auto skip = std::make_shared<SkipInstrument>(
      SkipOptions{.numbers = {2, 9}, .of_pass = {{"A", {2}}}, .stop_after = 7});
  const Pass passes = Sequential({toy::Replace("tanh", "exp", {.name = "A"}),
                                  toy::Replace("exp", "abs", {.name = "B"})});
  EXPECT_THAT(
      PassContext({.instruments = {skip}})
          .Run([&] {
            return passes(*ParseModule("def @main(%x: float32) { exp(%x) }"));
          })
          .status(),
      IsOk());
  EXPECT_THAT(skip->Unmet(),
              ::testing::ElementsAre(
                  "--skip_execution=9: the last execution of this run is #3",
                  "--disabled_pass=A#2: this run has 1 execution of A",
                  "--stop_after=7: the last execution of this run is #3"));
}

// The module after an execution is that of the history.
TEST(SkipTest, KeepsTheModuleAfterTheLastExecution) {
  const IRModule module = *ParseModule("def @main(%x: float32) { tanh(%x) }");
  const Pass passes = Sequential({toy::Replace("tanh", "exp", {.name = "A"}),
                                  toy::Replace("exp", "abs", {.name = "B"})});
  for (int64_t k = 1; k <= 5; ++k) {
    const auto skip =
        std::make_shared<SkipInstrument>(SkipOptions{.stop_after = k});
    const auto whole = std::make_shared<HistoryRecorder>();
    ASSERT_THAT(PassContext({.instruments = {whole}})
                    .Run([&] { return passes(module); })
                    .status(),
                IsOk());
    ASSERT_THAT(PassContext({.instruments = {skip}})
                    .Run([&] { return passes(module); })
                    .status(),
                IsOk());
    ASSERT_TRUE(skip->stopped().has_value()) << k;
    EXPECT_EQ(AsText(*skip->stopped()),
              AsText(*whole->history().ModuleAfter(k)))
        << k;
  }
}

TEST(SkipTest, ByPass) {
  EXPECT_EQ(Ran({.of_pass = {{"A", {2}}}}),
            "1 sequential *\n"
            "  2 A *\n    3 InferType *\n"
            "  4 B *\n    5 InferType *\n");
}

TEST(SkipTest, StopsWhereAnExecutionHasEnded) {
  EXPECT_EQ(Ran({.stop_after = 4}),
            "1 sequential *\n"
            "  2 A *\n    3 InferType *\n"
            "  4 B *\n    5 InferType *\n");
  EXPECT_EQ(Ran({.stop_after = 3}),
            "1 sequential *\n"
            "  2 A *\n    3 InferType *\n");
}

TEST(SkipTest, ExecutionsAsText) {
  SkipOptions options;
  EXPECT_TRUE(*AddExecutionOf("FuseOps#2", options));
  EXPECT_TRUE(*AddExecutionOf("FuseOps#4", options));
  EXPECT_FALSE(*AddExecutionOf("FuseOps", options));
  EXPECT_EQ(options.of_pass.at("FuseOps"), (std::set<int64_t>{2, 4}));
  for (const char* text : {"FuseOps#", "FuseOps#0", "FuseOps#a"}) {
    EXPECT_THAT(AddExecutionOf(text, options).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "expected a number from 1 after #"));
  }
}

}  // namespace
}  // namespace baton
