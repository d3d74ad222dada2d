#include "baton/relay/transform/quantize.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/transform/kl_threshold.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::ParseTyped;
using ::baton::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::Not;

// A convolution that stays real, a residual block, pools and a layer of
// nn.dense.
constexpr char kNetwork[] = R"(
def @main(%x: Tensor[(1, 3, 16, 16), float32],
          %w0: Tensor[(8, 3, 3, 3), float32], %b0: Tensor[(8), float32],
          %w1: Tensor[(8, 8, 3, 3), float32], %b1: Tensor[(8), float32],
          %w2: Tensor[(8, 8, 3, 3), float32],
          %w3: Tensor[(10, 8), float32]) {
  %0 = nn.conv2d(%x, %w0, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %1 = nn.relu(nn.bias_add(%0, %b0));
  %2 = nn.conv2d(%1, %w1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %3 = nn.relu(nn.bias_add(%2, %b1));
  %4 = nn.max_pool2d(%3, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %5 = nn.conv2d(%4, %w2, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  %6 = nn.relu(add(%5, %4));
  %7 = nn.conv2d(%6, %w2, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3]);
  nn.dense(nn.batch_flatten(nn.global_avg_pool2d(nn.relu(%7))), %w3, units=10)
})";

// The network with constant weights.
IRModule Network() {
  IRModule module = ParseTyped(kNetwork);
  const Function main = module.Find<Function>("main");
  const std::vector<Value> values = *RandomInputs(main, 7, RandomRange::kMild);
  NamedTensors weights;
  for (size_t i = 1; i < values.size(); ++i) {
    weights.emplace_back(main->params()[i]->name(), values[i].tensor());
  }
  module.Set("main", *BindParamsByName(main, weights));
  return *InferTypes(std::move(module));
}

QuantizationInputs Inputs(const IRModule& module, int count, uint32_t seed) {
  QuantizationInputs inputs;
  for (int i = 0; i < count; ++i) {
    inputs.push_back(*RandomInputs(module.Find<Function>("main"),
                                   seed + static_cast<uint32_t>(i)));
  }
  return inputs;
}

absl::StatusOr<IRModule> RunPipeline(absl::string_view pipeline,
                                     const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const Pass pass, ParsePipeline(pipeline));
  PassContextOptions options;
  options.opt_level = 3;
  return PassContext(options).Run([&] { return pass(module); });
}

constexpr char kBefore[] =
    "SimplifyInference,FoldConstant,FoldScaleAxis,CanonicalizeOps,FoldConstant,"
    "QuantizeAnnotate";
constexpr char kAfter[] =
    "QuantizeRealize,FakeQuantizationToInteger{use_qat=true},quantized";

// The network in integers, with these options.
IRModule Quantized(const IRModule& module, QuantizeCalibrateOptions options,
                   const QuantizationInputs& inputs) {
  const IRModule annotated = *RunPipeline(kBefore, module);
  const IRModule calibrated =
      *QuantizeCalibrate(std::move(options), inputs)(annotated);
  return *RunPipeline(kAfter, calibrated);
}

// The largest difference of results, as a part of the largest result.
double Error(const IRModule& a, const IRModule& b,
             const QuantizationInputs& inputs) {
  double difference = 0;
  double largest = 0;
  for (const std::vector<Value>& args : inputs) {
    const Tensor x = EvaluateFunction(a, "main", args)->tensor();
    const Tensor y = EvaluateFunction(b, "main", args)->tensor();
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      largest = std::max(largest, std::abs(x.AtAsDouble(i)));
      difference =
          std::max(difference, std::abs(x.AtAsDouble(i) - y.AtAsDouble(i)));
    }
  }
  return difference / largest;
}

TEST(QuantizeTest, RecordedRangesKeepAccuracy) {
  const IRModule module = Network();
  const QuantizationInputs inputs = Inputs(module, 4, 100);
  const QuantizationInputs others = Inputs(module, 4, 200);
  const IRModule wide =
      Quantized(module, {.global_scale = 100, .weight_scale = "max"}, {});
  const IRModule max =
      Quantized(module, {.mode = "max", .weight_scale = "max"}, inputs);
  const IRModule percentile = Quantized(
      module, {.mode = "percentile", .weight_scale = "max", .percentile = 1},
      inputs);
  const double wide_error = Error(module, wide, others);
  const double max_error = Error(module, max, others);
  RecordProperty("global_scale=100", std::to_string(wide_error));
  RecordProperty("max", std::to_string(max_error));
  EXPECT_LT(max_error, 0.03);
  EXPECT_GT(max_error, 0);
  EXPECT_LT(max_error, wide_error);
  // Of all elements, the largest.
  EXPECT_EQ(AsText(percentile), AsText(max));
}

// What the reference finds.
TEST(QuantizeTest, KlThresholds) {
  std::vector<float> laplace;
  for (int i = 1; i <= 2000; ++i) {
    laplace.push_back(static_cast<float>(-std::log(i / 2001.0)));
    laplace.push_back(static_cast<float>(std::log(i / 2001.0) * 0.5));
  }
  EXPECT_FLOAT_EQ(KlThreshold(laplace), 7.21947956f);
  std::vector<float> outliers = {40, -3};
  for (int i = 0; i < 3000; ++i) {
    outliers.push_back(static_cast<float>(std::sin(i * 0.37)));
  }
  EXPECT_FLOAT_EQ(KlThreshold(outliers), 3.80452442f);
  std::vector<float> steps;
  for (int i = 0; i < 500; ++i) steps.push_back(0.25f * (i % 17));
  EXPECT_FLOAT_EQ(KlThreshold(steps), 3.75103116f);
  EXPECT_EQ(KlThreshold({0, 0}), 0);
  EXPECT_TRUE(std::isnan(KlThreshold({1, std::nanf("")})));
}

TEST(QuantizeTest, KlRangesClip) {
  const IRModule module = Network();
  const IRModule annotated = *RunPipeline(kBefore, module);
  const QuantizationInputs inputs = Inputs(module, 2, 5);
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<double> max,
                             RecordRanges(annotated, {.mode = "max"}, inputs));
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<double> kl,
      RecordRanges(annotated, {.mode = "kl_divergence"}, inputs));
  ASSERT_EQ(kl.size(), max.size());
  for (size_t i = 0; i < kl.size(); ++i) {
    EXPECT_GT(kl[i], 0);
    EXPECT_LE(kl[i], max[i]);
  }
}

TEST(QuantizeTest, ComputesInIntegers) {
  const IRModule module = Network();
  const std::string text =
      AsText(Quantized(module, {.mode = "max", .random_inputs = 1}, {}),
             {.types = false});
  // The first convolution and nn.dense stay real.
  EXPECT_EQ(text.find("nn.conv2d("), text.rfind(" nn.conv2d(") + 1) << text;
  EXPECT_THAT(text, HasSubstr("qnn.conv2d("));
  EXPECT_THAT(text, HasSubstr(" nn.dense("));
  EXPECT_THAT(text, Not(HasSubstr("simulated_quantize")));
}

TEST(QuantizeTest, AnnotationsComputeNothingYet) {
  const IRModule module = Network();
  const IRModule annotated = *RunPipeline(kBefore, module);
  EXPECT_THAT(AsText(annotated), HasSubstr("simulated_quantize"));
  EXPECT_LT(Error(module, annotated, Inputs(module, 1, 5)), 1e-5);
}

// What is annotated counts as quantized, so that nothing after the pool that
// ended it is annotated now.
TEST(QuantizeTest, AnnotatingTwiceChangesNothing) {
  const IRModule annotated = *RunPipeline(kBefore, ParseTyped(R"(
      def @main(%x: Tensor[(1, 1, 4, 4), float32]) {
        %0 = nn.conv2d(%x, reshape(0.5f, newshape=[1, 1, 1, 1]), padding=[0, 0, 0, 0]);
        %1 = nn.conv2d(%0, reshape(0.5f, newshape=[1, 1, 1, 1]), padding=[0, 0, 0, 0]);
        %2 = multiply(%x, nn.global_avg_pool2d(%1));
        nn.conv2d(%2, reshape(0.5f, newshape=[1, 1, 1, 1]), padding=[0, 0, 0, 0])
      })"));
  EXPECT_THAT(AsText(annotated), HasSubstr("simulated_quantize"));
  EXPECT_TRUE(QuantizeAnnotate()(annotated)->SameAs(annotated));
}

TEST(QuantizeTest, RangesCanBeRecordedAndGiven) {
  const IRModule annotated = *RunPipeline(kBefore, Network());
  const QuantizationInputs inputs = Inputs(annotated, 2, 9);
  QuantizeCalibrateOptions options = {.mode = "max"};
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<double> ranges,
                             RecordRanges(annotated, options, inputs));
  const IRModule recorded = *QuantizeCalibrate(options, inputs)(annotated);
  EXPECT_EQ(AsText(*QuantizeCalibrate({.ranges = ranges})(annotated)),
            AsText(recorded));
  // What has a scale keeps it.
  EXPECT_TRUE(QuantizeCalibrate()(recorded)->SameAs(recorded));
  EXPECT_THAT(QuantizeCalibrate({.ranges = {1}})(annotated).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "ranges has 1 elements for"));
  EXPECT_THAT(
      QuantizeCalibrate(options)(annotated).status(),
      StatusIs(absl::StatusCode::kFailedPrecondition, "mode=max needs inputs"));
}

TEST(QuantizeTest, RefusesOptions) {
  const auto message = [](absl::string_view options) {
    return std::string(
        ParsePipeline("QuantizeCalibrate{" + std::string(options) + "}")
            .status()
            .message());
  };
  EXPECT_THAT(message("mode=best"), HasSubstr("mode: expected global_scale"));
  EXPECT_THAT(message("weight_scale=x"), HasSubstr("weight_scale: expected"));
  EXPECT_THAT(message("global_scale=0"), HasSubstr("global_scale: expected"));
  EXPECT_THAT(message("percentile=2"), HasSubstr("percentile: expected"));
  EXPECT_THAT(message("random_inputs=-1"),
              HasSubstr("random_inputs: expected"));
}

}  // namespace
}  // namespace baton::relay
