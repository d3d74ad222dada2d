// Asserts what docs/write_an_instrument.md says.

#include "baton/examples/write_an_instrument.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/examples/write_a_pass.h"
#include "baton/instrument/recorder.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::examples {
namespace {

using relay::Function;

using ::testing::ElementsAre;
using testing::IsOk;
using testing::StatusIs;

// `main` is relu(relu(x)), typed: four nodes with the parameter and the
// function.
absl::StatusOr<IRModule> ReluOfRelu() {
  const relay::Var x("x", {1, 4});
  return relay::InferTypes(relay::ModuleFromExpr(
      Function({x}, relay::nn::Relu(relay::nn::Relu(x)))));
}

// A pass that negates the result of each function twice.
Pass NegateTwice() {
  return relay::CreateFunctionPass(
      [](const Function& f, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function({f->params().begin(), f->params().end()},
                        relay::Negative(relay::Negative(f->body())),
                        f->result_type());
      },
      {.name = "NegateTwice"});
}

// [use]
TEST(GrowthInstrumentTest, RecordsWhatChanged) {
  BATON_ASSERT_OK_AND_ASSIGN(IRModule module, ReluOfRelu());
  const auto growth = std::make_shared<GrowthInstrument>(/*limit=*/2);
  const PassContext context({.instruments = {growth}});
  const Pass pipeline = Sequential({RemoveRedundantRelu(), NegateTwice()});
  BATON_ASSERT_OK_AND_ASSIGN(module,
                             context.Run([&] { return pipeline(module); }));
  std::vector<std::string> lines;
  for (const GrowthInstrument::Change& change : growth->changes()) {
    lines.push_back(
        absl::StrCat(change.pass, " ", change.before, " -> ", change.after));
  }
  EXPECT_THAT(lines, ElementsAre("RemoveRedundantRelu 4 -> 3",
                                 "NegateTwice 3 -> 5", "sequential 4 -> 5"));
}
// [/use]

// [failing]
TEST(GrowthInstrumentTest, FailsAPassThatGrowsTheProgram) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ReluOfRelu());
  const PassContext context(
      {.instruments = {std::make_shared<GrowthInstrument>(/*limit=*/1.25)}});
  const Pass pipeline = Sequential({RemoveRedundantRelu(), NegateTwice()});
  const absl::StatusOr<IRModule> result =
      context.Run([&] { return pipeline(module); });
  EXPECT_THAT(result, StatusIs(absl::StatusCode::kResourceExhausted,
                               "in pass #1 sequential > #4 NegateTwice: "
                               "instrument GrowthInstrument, RunAfterPass:\n"
                               "the program grew from 3 to 5 nodes"));
  EXPECT_EQ(OriginalMessage(result.status()),
            "the program grew from 3 to 5 nodes");
}
// [/failing]

// [skipping]
TEST(SkipInstrumentTest, KeepsAPassFromRunning) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ReluOfRelu());
  const auto recorder = std::make_shared<PassRecorder>();
  const PassContext context(
      {.instruments = {std::make_shared<SkipInstrument>(
                           std::vector<std::string>{"RemoveRedundantRelu"}),
                       recorder}});
  const Pass pipeline = Sequential({RemoveRedundantRelu(), NegateTwice()});
  ASSERT_THAT(context.Run([&] { return pipeline(module); }), IsOk());
  EXPECT_EQ(recorder->ToString(),
            "1 sequential *\n"
            "  2 NegateTwice *\n"
            "    3 InferType *\n");
}
// [/skipping]

// Says what it is told, and fails before the pass named `bad`.
class Log final : public PassInstrument {
 public:
  Log(std::string name, std::vector<std::string>* lines, std::string bad = "")
      : PassInstrument(std::move(name)), lines_(lines), bad_(std::move(bad)) {}

  absl::Status EnterPassContext() override { return Say("enter"); }
  absl::Status ExitPassContext() override { return Say("exit"); }
  absl::StatusOr<bool> ShouldRun(const IRModule& /*module*/,
                                 const PassExecution& pass) override {
    Say("should_run", &pass).IgnoreError();
    return true;
  }
  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& pass) override {
    if (pass.name() == bad_) return absl::InternalError("bad");
    return Say("before", &pass);
  }
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& pass) override {
    return Say("after", &pass);
  }
  void PassFailed(const IRModule& /*module*/, const PassExecution& pass,
                  const absl::Status& /*error*/) override {
    Say("failed", &pass).IgnoreError();
  }

 private:
  absl::Status Say(absl::string_view what,
                   const PassExecution* pass = nullptr) {
    lines_->push_back(absl::StrCat(name(), " ", what,
                                   pass == nullptr ? "" : " ",
                                   pass == nullptr ? "" : pass->name()));
    return absl::OkStatus();
  }

  std::vector<std::string>* const lines_;
  const std::string bad_;
};

// [order]
TEST(PassInstrumentTest, Order) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ReluOfRelu());
  std::vector<std::string> lines;
  const PassContext context(
      {.instruments = {std::make_shared<Log>("A", &lines),
                       std::make_shared<Log>("B", &lines)}});
  const Pass empty = Sequential({});
  ASSERT_THAT(context.Run([&] { return empty(module); }), IsOk());
  EXPECT_THAT(lines,
              ElementsAre("A enter", "B enter",  //
                          "A should_run sequential", "B should_run sequential",
                          "A before sequential", "B before sequential",
                          "A after sequential", "B after sequential", "A exit",
                          "B exit"));
}
// [/order]

// [order_where_one_fails]
TEST(PassInstrumentTest, OrderWhereOneFails) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ReluOfRelu());
  std::vector<std::string> lines;
  const PassContext context(
      {.instruments = {std::make_shared<Log>("A", &lines),
                       std::make_shared<Log>("B", &lines, "NegateTwice")}});
  const Pass pipeline = Sequential({NegateTwice()});
  EXPECT_THAT(context.Run([&] { return pipeline(module); }),
              StatusIs(absl::StatusCode::kInternal, "bad"));
  EXPECT_THAT(
      lines, ElementsAre("A enter", "B enter",  //
                         "A should_run sequential", "B should_run sequential",
                         "A before sequential", "B before sequential",  //
                         "A should_run NegateTwice", "B should_run NegateTwice",
                         "A before NegateTwice",
                         "A failed NegateTwice",  //
                         "B failed sequential", "A failed sequential", "A exit",
                         "B exit"));
}
// [/order_where_one_fails]

}  // namespace
}  // namespace baton::examples
