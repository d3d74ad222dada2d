#include "baton/relay/transform/convert_to_sparse.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::ElementsAre;
using testing::StatusIs;

void ExpectMakes(const Pass& pass, absl::string_view before,
                 absl::string_view after) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, pass(ParseTyped(before)));
  EXPECT_EQ(FirstDifference(result, ParseTyped(after)), std::nullopt)
      << ToText(result);
}

constexpr char kDense[] = R"(
    def @main(%data: Tensor[(1, 128), float32],
              %weight: Tensor[(768, 128), float32]) {
      nn.relu(nn.dense(nn.relu(%data), %weight, units=None))
    })";

TEST(DenseToSparseTest, TakesThePartsOfNamedWeights) {
  ExpectMakes(DenseToSparse({.weight_name = {"weight"},
                             .weight_shape = {{308, 32, 1, 308, 25}}}),
              kDense, R"(
    def @main(%data: Tensor[(1, 128), float32],
              %values: Tensor[(308, 32, 1), float32],
              %indices: Tensor[(308), int32], %indptr: Tensor[(25), int32]) {
      nn.relu(nn.sparse_dense(nn.relu(%data), %values, %indices, %indptr))
    })");
}

TEST(DenseToSparseTest, LeavesOtherWeights) {
  ExpectPassLeaves(DenseToSparse({.weight_name = {"other"},
                                  .weight_shape = {{308, 32, 1, 308, 25}}}),
                   kDense);
  ExpectPassLeaves(DenseToSparse({.weight_name = {"weight"},
                                  .weight_shape = {{2, 8, 1, 2, 2}}}),
                   R"(
    def @main(%data: Tensor[(1, 4), int8], %weight: Tensor[(8, 4), int8]) {
      nn.dense(%data, %weight, units=None, out_dtype="int32")
    })");
}

TEST(DenseToSparseTest, RefusesShapesThatDoNotFit) {
  const IRModule module = ParseTyped(kDense);
  EXPECT_THAT(DenseToSparse({.weight_name = {"weight"}})(module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "weight_name has 1 elements, weight_shape has 0"));
  EXPECT_THAT(DenseToSparse({.weight_name = {"weight"},
                             .weight_shape = {{308, 32, 308, 25}}})(module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "weight_shape of weight has 4 numbers, not 5"));
}

TEST(Conv2dToSparseTest, TakesThePartsOfNamedWeights) {
  ExpectMakes(Conv2dToSparse({.weight_name = {"weight"},
                              .weight_shape = {{103, 8, 103, 17}},
                              .layout = "NCHW"}),
              R"(
    def @main(%data: Tensor[(1, 64, 32, 32), float32],
              %weight: Tensor[(128, 64, 1, 1), float32]) {
      nn.conv2d(nn.relu(%data), %weight, padding=[0, 0, 0, 0], channels=128,
                kernel_size=[1, 1])
    })",
              R"(
    def @main(%data: Tensor[(1, 64, 32, 32), float32],
              %values: Tensor[(103, 8), float32],
              %indices: Tensor[(103), int32], %indptr: Tensor[(17), int32]) {
      nn.sparse_conv2d(nn.relu(%data), %values, %indices, %indptr,
                       layout="NCHW", kernel_size=[1, 1])
    })");
}

TEST(Conv2dToSparseTest, ConvertsAllLayers) {
  ExpectMakes(
      Conv2dToSparse({.weight_name = {"w1", "w2"},
                      .weight_shape = {{2, 4, 1, 2, 3}, {3, 4, 2, 3, 3}}}),
      R"(
    def @main(%data: Tensor[(1, 5, 5, 8), float32],
              %w1: Tensor[(1, 1, 8, 8), float32],
              %w2: Tensor[(1, 1, 8, 8), float32]) {
      %0 = nn.conv2d(%data, %w1, padding=[0, 0, 0, 0], channels=8,
                     kernel_size=[1, 1], data_layout="NHWC",
                     kernel_layout="HWIO");
      nn.conv2d(%0, %w2, padding=[0, 0, 0, 0], channels=8, kernel_size=[1, 1],
                data_layout="NHWC", kernel_layout="HWIO")
    })",
      R"(
    def @main(%data: Tensor[(1, 5, 5, 8), float32],
              %a: Tensor[(2, 4, 1), float32], %b: Tensor[(2), int32],
              %c: Tensor[(3), int32],
              %d: Tensor[(3, 4, 2), float32], %e: Tensor[(3), int32],
              %f: Tensor[(3), int32]) {
      %0 = nn.sparse_conv2d(%data, %a, %b, %c, layout="NHWC",
                            kernel_size=[1, 1]);
      nn.sparse_conv2d(%0, %d, %e, %f, layout="NHWC", kernel_size=[1, 1])
    })");
}

TEST(Conv2dToSparseTest, LeavesConvolutionsThatNoSparseOneComputes) {
  constexpr char kConv[] =
      "def @main(%data: Tensor[(1, 8, 5, 5), float32], "
      "%weight: Tensor[(8, $0, 1, 1), float32]) { "
      "nn.conv2d(%data, %weight, $1, channels=8, "
      "kernel_size=[1, 1]) }";
  const Pass pass = Conv2dToSparse({.weight_name = {"weight"},
                                    .weight_shape = {{2, 4, 1, 2, 3}},
                                    .layout = "NCHW"});
  ExpectPassLeaves(pass, absl::Substitute(kConv, 8, "strides=[2, 2]"));
  ExpectPassLeaves(pass, absl::Substitute(kConv, 8, "padding=[1, 1, 1, 1]"));
  ExpectPassLeaves(pass, absl::Substitute(kConv, 1, "groups=8"));
}

// The weight of a convolution of 3 times 3, in OIHW or HWIO, where output
// channel 2 and 3 have one element each that is not zero.
Tensor SparseWeight(bool is_nhwc) {
  const std::vector<int64_t> shape = is_nhwc ? std::vector<int64_t>{3, 3, 2, 4}
                                             : std::vector<int64_t>{4, 2, 3, 3};
  absl::StatusOr<MutableTensor> tensor =
      MutableTensor::Create(DType::Float(32), shape);
  EXPECT_THAT(tensor, testing::IsOk());
  const absl::Span<float> data = tensor->span<float>();
  // Column 10 of channel 2, and column 17 of channel 3.
  data[is_nhwc ? 10 * 4 + 2 : 2 * 18 + 10] = 5;
  data[is_nhwc ? 17 * 4 + 3 : 3 * 18 + 17] = 7;
  return std::move(*tensor).Freeze();
}

IRModule ConvWithConstant(bool is_nhwc) {
  IRModule module = ParseTyped(is_nhwc ? R"(
    def @main(%data: Tensor[(1, 5, 5, 2), float32],
              %weight: Tensor[(3, 3, 2, 4), float32]) {
      nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], channels=4,
                kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO")
    })"
                                       : R"(
    def @main(%data: Tensor[(1, 2, 5, 5), float32],
              %weight: Tensor[(4, 2, 3, 3), float32]) {
      nn.conv2d(%data, %weight, padding=[1, 1, 1, 1], channels=4,
                kernel_size=[3, 3])
    })");
  const absl::StatusOr<Function> bound = BindParamsByName(
      module.Find<Function>("main"), {{"weight", SparseWeight(is_nhwc)}});
  EXPECT_THAT(bound, testing::IsOk());
  module.Set("main", *bound);
  return module;
}

TEST(Conv2dToSparse2Test, ConvertsConstants) {
  for (const bool is_nhwc : {false, true}) {
    SCOPED_TRACE(is_nhwc);
    const std::string layout = is_nhwc ? "NHWC" : "NCHW";
    BATON_ASSERT_OK_AND_ASSIGN(
        const IRModule result,
        Conv2dToSparse2({.layout = layout, .blocksize = {2, 3}})(
            ConvWithConstant(is_nhwc)));
    const auto* call = result.Find<Function>("main")->body().As<CallNode>();
    ASSERT_EQ(call->op_node()->name(), "nn.sparse_conv2d");
    const auto part = [call](int i) -> const Tensor& {
      return call->arg(i).As<ConstantNode>()->value();
    };
    EXPECT_THAT(part(1).shape(), ElementsAre(2, 2, 3));
    EXPECT_THAT(part(1).span<float>(),
                ElementsAre(0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7));
    EXPECT_THAT(part(2).span<int32_t>(), ElementsAre(3, 5));
    EXPECT_THAT(part(3).span<int32_t>(), ElementsAre(0, 0, 2));
    // Typed, with the type of the convolution.
    EXPECT_EQ(call->type().ToString(), is_nhwc
                                           ? "Tensor[(1, 5, 5, 4), float32]"
                                           : "Tensor[(1, 4, 5, 5), float32]");
  }
}

TEST(Conv2dToSparse2Test, LeavesWeightsThatAreNotSparseOrNotOfWholeBlocks) {
  const IRModule module = ConvWithConstant(false);
  const Conv2dToSparse2Options wanted[] = {
      {.layout = "NCHW", .blocksize = {3, 1}},
      {.layout = "NCHW", .blocksize = {2, 3}, .sparsity_threshold = 0.9},
      {.layout = "NHWC", .blocksize = {2, 3}},
      {.layout = "NCHW", .kernel_size = 1, .blocksize = {2, 3}}};
  for (const Conv2dToSparse2Options& options : wanted) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, Conv2dToSparse2()(module));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                               Conv2dToSparse2(options)(typed));
    EXPECT_TRUE(result.SameAs(typed));
  }
}

TEST(Conv2dToSparse2Test, RefusesOptionsThatMakeNoSense) {
  const IRModule module = ConvWithConstant(false);
  EXPECT_THAT(Conv2dToSparse2({.layout = "CHWN"})(module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "layout=\"CHWN\" is neither NHWC nor NCHW"));
  EXPECT_THAT(Conv2dToSparse2({.kernel_size = 2})(module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "kernel_size=2 is not an odd positive number"));
  EXPECT_THAT(Conv2dToSparse2({.blocksize = {0, 1}})(module),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "blocksize must be the height and the width"));
}

}  // namespace
}  // namespace baton::relay
