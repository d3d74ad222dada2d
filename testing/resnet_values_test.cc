// Tests the results of ResNet-18: against the reference, and before and after
// passes.

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/golden.h"
#include "baton/testing/inputs.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::Function;

absl::StatusOr<IRModule> RunPipeline(const IRModule& module,
                                     const std::string& text) {
  BATON_ASSIGN_OR_RETURN(const Pass pipeline, ParsePipeline(text));
  return PassContext({.opt_level = 3}).Run([&] { return pipeline(module); });
}

// ResNet-18 for images of a size, with its weights bound, typed.
absl::StatusOr<IRModule> BoundResNet18(int size) {
  BATON_ASSIGN_OR_RETURN(Workload workload,
                         GetWorkload(absl::StrCat("resnet{image_shape=[3,",
                                                  size, ",", size, "]}")));
  BATON_ASSIGN_OR_RETURN(
      Function bound,
      relay::BindParamsByName(workload.module.Find<Function>("main"),
                              workload.params));
  workload.module.Set("main", std::move(bound));
  return RunPipeline(workload.module, "InferType");
}

absl::StatusOr<std::vector<float>> Outputs(const IRModule& module,
                                           const Tensor& image) {
  BATON_ASSIGN_OR_RETURN(
      const relay::Value value,
      relay::EvaluateFunction(module, "main", {relay::Value(image)}));
  const auto span = value.tensor().span<float>();
  return std::vector<float>(span.begin(), span.end());
}

TEST(ResNetValuesTest, LogitsAreThoseOfTheReference) {
  BATON_ASSERT_OK_AND_ASSIGN(IRModule module, BoundResNet18(224));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor image, GoldenImage({1, 3, 224, 224}));
  // The logits are what the final softmax is given.
  const Function main = module.Find<Function>("main");
  const auto* softmax = main->body().As<relay::CallNode>();
  ASSERT_NE(softmax, nullptr);
  module.Set("main", Function({main->params().begin(), main->params().end()},
                              softmax->arg(0)));
  BATON_ASSERT_OK_AND_ASSIGN(module, RunPipeline(module, "InferType"));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<float> logits,
                             Outputs(module, image));
  ASSERT_EQ(logits.size(), 1000u);
  const double absolute = 1e-4 * 4.628525e-02;  // as the golden states
  int rows = 0;
  const std::string golden = ReadGolden("resnet18_logits.tsv");
  for (absl::string_view line :
       absl::StrSplit(golden, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<absl::string_view> columns = absl::StrSplit(line, '\t');
    int index = -1;
    double want = 0;
    ASSERT_TRUE(absl::SimpleAtoi(columns[0], &index));
    ASSERT_TRUE(absl::SimpleAtod(columns[1], &want));
    EXPECT_NEAR(logits[index], want, absolute + 1e-4 * std::abs(want)) << index;
    ++rows;
  }
  EXPECT_EQ(rows, 1000);
}

class ResNetValuesPassTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ResNetValuesPassTest, SoftmaxStaysTheSame) {
  const int size = LongOrShort(224, 64);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, BoundResNet18(size));
  BATON_ASSERT_OK_AND_ASSIGN(const Tensor image,
                             GoldenImage({1, 3, size, size}));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<float> before,
                             Outputs(module, image));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule optimized,
                             RunPipeline(module, GetParam()));
  EXPECT_FALSE(optimized.SameAs(module));
  BATON_ASSERT_OK_AND_ASSIGN(const std::vector<float> after,
                             Outputs(optimized, image));
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_NEAR(before[i], after[i], 1e-6 + 1e-4 * std::abs(before[i])) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Pipelines, ResNetValuesPassTest,
    ::testing::Values(
        "SimplifyInference,FoldScaleAxis",
        "ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}}",
        "FoldConstant,ConvertLayout{desired_layouts={nn.conv2d:[NHWC,HWIO]}},"
        "FoldConstant",
        "SimplifyInference,FoldScaleAxis,ConvertLayout{desired_layouts={nn."
        "conv2d:[NHWC,HWIO]}},FoldConstant,FoldScaleAxis"));

}  // namespace
}  // namespace baton::testing
