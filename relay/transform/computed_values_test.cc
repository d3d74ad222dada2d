// Tests of the values that gradients and quantized networks compute.

#include <algorithm>
#include <cmath>
#include <cstddef>
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
#include "baton/relay/transform/higher_order_gradient.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/relay/transform/quantize.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Appends the scalars in `value`.
void AppendScalars(const Value& value, std::vector<float>& scalars) {
  if (value.is_tensor()) {
    scalars.push_back(static_cast<float>(value.tensor().AtAsDouble(0)));
    return;
  }
  for (const Value& field : value.fields()) AppendScalars(field, scalars);
}

// The scalars that @main returns for scalars, once it is differentiated: its
// result, then the gradients.
std::vector<float> GradientsAt(const IRModule& module,
                               const std::vector<float>& args) {
  const absl::StatusOr<IRModule> differentiated = HigherOrderGradient()(module);
  EXPECT_THAT(differentiated.status(), IsOk());
  if (!differentiated.ok()) return {};
  std::vector<Value> values;
  for (const float arg : args) values.push_back(Tensor::Scalar<float>(arg));
  const absl::StatusOr<Value> result =
      EvaluateFunction(*differentiated, "main", values);
  EXPECT_THAT(result.status(), IsOk());
  std::vector<float> scalars;
  if (result.ok()) AppendScalars(*result, scalars);
  return scalars;
}

std::vector<float> GradientsAt(absl::string_view text,
                               const std::vector<float>& args) {
  return GradientsAt(ParseTyped(text), args);
}

TEST(HigherOrderGradientTest, LetsAndSharing) {
  EXPECT_THAT(GradientsAt("def @main(%x: float32) { %x }", {3}),
              ElementsAre(3, 1));
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32) {
                let %y = add(%x, %x);
                add(%y, %y) })",
                          {3}),
              ElementsAre(12, 4));
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32) {
                %0 = multiply(%x, %x);
                multiply(%0, %0) })",
                          {3}),
              ElementsAre(81, 108));
  EXPECT_THAT(GradientsAt("def @main(%x: float32) {"
                          "  add(multiply(2f, %x), multiply(2f, 2f)) }",
                          {3}),
              ElementsAre(10, 2));
}

// Bound values are put on the device of the function.
TEST(HigherOrderGradientTest, SharingOnADevice) {
  EXPECT_THAT(GradientsAt(R"(
                  def @main(%x: float32, virtual_device="cpu") {
                    %0 = negative(%x);
                    multiply(%0, %0)
                  })",
                          {3}),
              ElementsAre(9, 6));
}

// So is what has no gradient by itself.
TEST(HigherOrderGradientTest, FunctionsOnADevice) {
  EXPECT_THAT(GradientsAt(R"(
                  def @main(%x: float32, virtual_device="cpu") {
                    %0 = add(%x, %x);
                    let %t = (fn (%y: float32) { add(%y, %0) },
                              fn (%z: float32) { multiply(%z, %0) });
                    add(%t.0(%x), %t.1(%x))
                  })",
                          {3}),
              ElementsAre(27, 15));
}

// A function that stands for an operator, or is for another compiler, becomes
// one that writes to references: it must not be taken for one without effects.
TEST(HigherOrderGradientTest, OpaqueFunctions) {
  constexpr absl::string_view kText = R"(
      def @other(%a: float32, Compiler="other", global_symbol="other") {
        multiply(%a, %a)
      }
      def @main(%x: float32) {
        %1 = fn (%a: float32, Primitive=1) {
          %0 = add(%a, %a);
          multiply(%0, %0)
        };
        add(%1(%x), @other(%x))
      })";
  EXPECT_THAT(GradientsAt(kText, {3}), ElementsAre(45, 30));
}

TEST(HigherOrderGradientTest, Tuples) {
  EXPECT_THAT(GradientsAt(R"(
    def @main(%x: float32, %y: float32, %z: float32) {
      let %t = (%x, %y, %z);
      subtract(add(%t.0, %t.1), %t.2) })",
                          {1, 2, 4}),
              ElementsAre(-1, 1, 1, -1));
  // If the result is a tuple, the first tensor counts.
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32) {
                let %y = add(%x, %x);
                ((add(%y, %y), %y), %y) })",
                          {3}),
              ElementsAre(12, 6, 6, 4));
}

TEST(HigherOrderGradientTest, Branches) {
  constexpr absl::string_view kText = R"(def @main(%x: float32) {
    let %c = less_equal(%x, 1f);
    if (%c) { multiply(%x, %x) } else { log(%x) } })";
  EXPECT_THAT(GradientsAt(kText, {0.5f}), ElementsAre(0.25f, 1));
  EXPECT_THAT(GradientsAt(kText, {4}), ElementsAre(::testing::_, 0.25f));
}

TEST(HigherOrderGradientTest, References) {
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32) {
                let %r = ref(%x);
                let %u = ref_write(%r, add(ref_read(%r), ref_read(%r)));
                ref_read(%r) })",
                          {3}),
              ElementsAre(6, 2));
}

TEST(HigherOrderGradientTest, Closures) {
  EXPECT_THAT(GradientsAt(R"(def @main(%x: float32, %y: float32) {
                let %f = fn (%a: float32) { multiply(%a, %y) };
                let %twice = fn (%g: fn (float32) -> float32) {
                  fn (%a: float32) { %g(%g(%a)) } };
                %twice(%f)(%x) })",
                          {3, 5}),
              ElementsAre(75, 25, 30));
}

TEST(HigherOrderGradientTest, FunctionsOfTheModule) {
  EXPECT_THAT(GradientsAt(R"(
    def @double(%x: float32) { add(%x, %x) }
    def @main(%y: float32) { @double(@double(%y)) })",
                          {3}),
              ElementsAre(12, 4));
  // x ** 3, by recursion.
  EXPECT_THAT(GradientsAt(R"(
    def @power(%x: float32, %n: float32) -> float32 {
      if (less_equal(%n, 0f)) { 1f } else {
        multiply(%x, @power(%x, subtract(%n, 1f))) } }
    def @main(%x: float32) { @power(%x, 3f) })",
                          {2}),
              ElementsAre(8, 12));
}

// Reference behaviour: test_pow of tests/python/relay/test_pass_gradient.py.
TEST(HigherOrderGradientTest, DataTypesAndPolymorphism) {
  EXPECT_THAT(GradientsAt(R"(
    type Nat { Z, S(Nat) }
    type Box[A] { Put(A) }
    def @iterate[A](%f: fn (A) -> A, %n: Nat) -> fn (A) -> A {
      match (%n) {
        Z => { fn (%x: A) -> A { %x } },
        S(%m) => { fn (%x: A) -> A { %f(@iterate(%f, %m)(%x)) } },
      } }
    def @main(%i: float32) {
      let %box = Put(%i);
      match (%box) {
        Put(%j) => {
          @iterate(fn (%x: float32) { add(%x, %x) }, S(S(S(Z()))))(%j) },
      } })",
                          {3}),
              ElementsAre(24, 8));
}

TEST(HigherOrderGradientTest, OfTheGradient) {
  BATON_ASSERT_OK_AND_ASSIGN(
      IRModule first, HigherOrderGradient({.function = "square"})(ParseTyped(
                          "def @square(%x: float32) { multiply(%x, %x) }")));
  const Var y("y", {});
  first.Set(
      "main",
      Function(
          {y},
          TupleGetItem(
              TupleGetItem(Call(first.FindGlobalVar("square"), {y}), 1), 0)));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, InferTypes(first));
  EXPECT_THAT(GradientsAt(module, {3}), ElementsAre(6, 2));
}

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
  // For all elements, the percentile is the largest magnitude.
  EXPECT_EQ(AsText(percentile), AsText(max));
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

// Annotated calls count as quantized, so that no call after the pool that ended
// the first annotation is annotated now.
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
  // An annotation with a scale keeps it.
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
