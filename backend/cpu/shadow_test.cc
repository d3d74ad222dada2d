#include "baton/backend/cpu/shadow.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/executor/runtime_instrument.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::baton::testing::IsOk;
using ::testing::HasSubstr;

constexpr char kModel[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = nn.dense(%x, %w, units=4);
  %1 = nn.softmax(%0);
  %2 = split(%1, indices_or_sections=2, axis=1);
  %3 = multiply(%2.0, %2.1);
  transpose(%3, axes=[1, 0])
})";

// A kernel defect: changes the results of the step `number`.
class Defect final : public executor::RuntimeInstrument {
 public:
  explicit Defect(int32_t number) : number_(number) {}
  void AfterStep(const StepEvent& event) override {
    if (event.number == number_) *static_cast<float*>(event.outputs[0]) += 1;
  }

 private:
  const int32_t number_;
};

class ShadowTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const IRModule module = testing::ParseTyped(kModel);
    absl::StatusOr<Executable> executable =
        Compile(module, {.keep_graph = true});
    ASSERT_THAT(executable, IsOk());
    executable_ = std::make_unique<Executable>(*executable);
    absl::StatusOr<std::unique_ptr<Session>> session =
        Session::Create(*executable_);
    ASSERT_THAT(session, IsOk());
    session_ = *std::move(session);
    BATON_ASSERT_OK_AND_ASSIGN(
        const std::vector<relay::Value> args,
        relay::RandomInputs(module.Find<relay::Function>("main"), 3));
    for (const relay::Value& arg : args) inputs_.push_back(arg.tensor());
  }

  void Run(executor::RuntimeInstrument& instrument) {
    EXPECT_THAT(session_->Run(inputs_, nullptr, &instrument), IsOk());
  }

  std::unique_ptr<Executable> executable_;
  std::unique_ptr<Session> session_;
  std::vector<Tensor> inputs_;
};

TEST_F(ShadowTest, RightStepsDoNotDiffer) {
  StepChecker shadow(*executable_, 1);
  Run(shadow);
  EXPECT_FALSE(shadow.first_difference().has_value())
      << shadow.first_difference()->text;
  EXPECT_EQ(shadow.num_steps(),
            static_cast<int64_t>(executable_->plan().steps.size()));
  EXPECT_EQ(shadow.num_compared() + shadow.num_skipped(), shadow.num_steps());
  EXPECT_GE(shadow.num_compared(), 3);
}

TEST_F(ShadowTest, FindsADefectInEachStepThatItCompares) {
  StepChecker right(*executable_, 1);
  Run(right);
  const auto count = static_cast<int32_t>(executable_->plan().steps.size());
  int64_t found = 0;
  for (int32_t step = 0; step < count; ++step) {
    Defect defect(step);
    StepChecker shadow(*executable_, 1);
    executor::RuntimeInstruments both({&shadow, &defect});
    Run(both);
    if (!shadow.first_difference().has_value()) continue;
    EXPECT_EQ(shadow.first_difference()->step, step);
    EXPECT_THAT(shadow.first_difference()->text,
                HasSubstr("element 0 of result 0 is "));
    EXPECT_TRUE(shadow.first_difference()->source.span.defined());
    ++found;
  }
  EXPECT_EQ(found, right.num_compared());
}

TEST_F(ShadowTest, FindsADefectInTimeIfOnlySomeStepsAreEvaluated) {
  // No divisor of the number of steps: each step has its turn.
  const auto count = static_cast<int64_t>(executable_->plan().steps.size());
  Defect defect(0);
  StepChecker shadow(*executable_, count + 1);
  executor::RuntimeInstruments both({&shadow, &defect});
  int64_t runs = 0;
  while (!shadow.first_difference().has_value() && runs < 2 * count + 2) {
    Run(both);
    ++runs;
  }
  EXPECT_TRUE(shadow.first_difference().has_value());
  EXPECT_GT(runs, 1);
  EXPECT_LE(shadow.num_compared(), runs);
}

}  // namespace
}  // namespace baton
