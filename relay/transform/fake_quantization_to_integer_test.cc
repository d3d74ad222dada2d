#include "baton/relay/transform/fake_quantization_to_integer.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/op/qnn/qnn.h"
#include "baton/relay/transform/pass_test_util.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

void ExpectBecomes(absl::string_view before, absl::string_view after,
                   FakeQuantizationToIntegerOptions options = {}) {
  const IRModule module = ParseTyped(before);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             FakeQuantizationToInteger(options)(module));
  EXPECT_TRUE(StructuralEqual(result, ParseTyped(after))) << AsText(result);
}

void ExpectStays(absl::string_view text,
                 FakeQuantizationToIntegerOptions options = {}) {
  const IRModule module = ParseTyped(text);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             FakeQuantizationToInteger(options)(module));
  EXPECT_TRUE(result.SameAs(module)) << AsText(result);
}

std::string Program(absl::string_view body) {
  return absl::StrCat(
      "def @main(%x: Tensor[(1, 4), int8], %y: Tensor[(1, 4), float32]) {\n",
      body, "\n}");
}

TEST(FakeQuantizationToIntegerTest, LeavesRegionsThatReachOtherValues) {
  for (const char* body :
       {"qnn.quantize(nn.relu(%y), 1f, 0, out_dtype=\"int8\")",
        "qnn.quantize(add(%y, qnn.dequantize(%x, 1f, 0, "
        "out_dtype=\"float32\")), 1f, 0, out_dtype=\"int8\")",
        "qnn.quantize(1f, 1f, 0, out_dtype=\"int8\")"}) {
    ExpectStays(Program(body));
    ExpectStays(Program(body), {.hard_fail = true});
  }
}

TEST(FakeQuantizationToIntegerTest, RegionsWithoutRules) {
  const std::string text = Program(
      "qnn.quantize(nn.log_softmax(qnn.dequantize(%x, 1f, 0, "
      "out_dtype=\"float32\")), 1f, 0, out_dtype=\"int8\")");
  ExpectStays(text);
  EXPECT_THAT(
      FakeQuantizationToInteger({.hard_fail = true})(ParseTyped(text)).status(),
      StatusIs(absl::StatusCode::kUnimplemented, "nn.log_softmax"));
}

TEST(FakeQuantizationToIntegerTest, RegionsThatARuleCannotFollow) {
  // The scale of the result must be a scalar.
  const std::string text = R"(
    def @main(%x: Tensor[(1, 2), int8], %s: float32) {
      %0 = qnn.dequantize(%x, 1f, 0, out_dtype="float32");
      qnn.quantize(add(%0, %0), %s, 0, out_dtype="int8")
    })";
  ExpectStays(text);
  EXPECT_THAT(
      FakeQuantizationToInteger({.hard_fail = true})(ParseTyped(text)).status(),
      StatusIs(absl::StatusCode::kUnimplemented, "add: "));
}

TEST(FakeQuantizationToIntegerTest, UnknownOptionalOperators) {
  EXPECT_THAT(FakeQuantizationToInteger({.optional_qnn_ops = {"nn.softmix"}})(
                  ParseTyped(Program("%x")))
                  .status(),
              StatusIs(absl::StatusCode::kNotFound, "nn.softmix"));
}

// A region may begin at the end of another one, if that left nothing to call.
TEST(FakeQuantizationToIntegerTest, RegionsInARow) {
  ExpectBecomes(R"(
    def @main(%x: Tensor[(1, 4), int8]) {
      %0 = qnn.dequantize(%x, 0.5f, 1, out_dtype="float32");
      %1 = qnn.quantize(%0, 0.5f, 1, out_dtype="int8");
      %2 = qnn.dequantize(%1, 0.5f, 1, out_dtype="float32");
      qnn.quantize(reshape(%2, newshape=[4]), 0.5f, 1, out_dtype="int8")
    })",
                R"(
    def @main(%x: Tensor[(1, 4), int8]) { reshape(%x, newshape=[4]) })");
}

// The same tensor, taken for different numbers.
TEST(FakeQuantizationToIntegerTest, TwoScalesOfOneTensor) {
  ExpectBecomes(R"(
    def @main(%x: Tensor[(4), int8]) {
      %0 = qnn.dequantize(%x, 0.5f, 0, out_dtype="float32");
      %1 = qnn.dequantize(%x, 2f, 0, out_dtype="float32");
      qnn.quantize(add(%0, %1), 1f, 0, out_dtype="int8")
    })",
                R"(
    def @main(%x: Tensor[(4), int8]) {
      qnn.add(%x, %x, 0.5f, 0, 2f, 0, 1f, 0)
    })");
}

// What is computed for two regions is computed once, scales too.
TEST(FakeQuantizationToIntegerTest, SharesScales) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             FakeQuantizationToInteger()(ParseTyped(R"(
    def @main(%x: Tensor[(1, 2), int8], %w: Tensor[(2, 2), int8], %s: float32) {
      %0 = qnn.dequantize(%x, %s, 0, out_dtype="float32");
      %1 = qnn.dequantize(%w, %s, 0, out_dtype="float32");
      %2 = nn.dense(%0, %1, units=2);
      (qnn.quantize(%2, 1f, 0, out_dtype="int8"),
       qnn.quantize(%2, 2f, 0, out_dtype="int8"))
    })")));
  EXPECT_EQ(
      AsText(result, {.version = false, .types = false}),
      R"(def @main(%x: Tensor[(1, 2), int8], %w: Tensor[(2, 2), int8], %s: float32) -> (Tensor[(1, 2), int8], Tensor[(1, 2), int8]) {
  %0 = multiply(%s, %s);
  %1 = zeros_like(%0);
  %2 = qnn.dense(%x, %w, 0, 0, %s, %s, units=2, out_dtype="int32");
  %3 = cast(%1, dtype="int32");
  %4 = qnn.requantize(%2, %0, %3, 1f, 0, axis=1, out_dtype="int8");
  %5 = qnn.requantize(%2, %0, %3, 2f, 0, axis=1, out_dtype="int8");
  (%4, %5)
}
)");
}

// The padding gets the element type of the data.
TEST(FakeQuantizationToIntegerTest, Padding) {
  ExpectBecomes(R"(
    def @main(%x: Tensor[(4), uint8]) {
      %0 = qnn.dequantize(%x, 0.5f, 128, out_dtype="float32");
      qnn.quantize(nn.pad(%0, 0f, pad_width=[[1, 1]]), 0.5f, 128, out_dtype="uint8")
    })",
                R"(
    def @main(%x: Tensor[(4), uint8]) {
      nn.pad(%x, qnn.quantize(0f, 0.5f, 128, out_dtype="uint8"), pad_width=[[1, 1]])
    })");
}

TEST(FakeQuantizationToIntegerTest, LeakyRelu) {
  ExpectBecomes(R"(
    def @main(%x: Tensor[(4), uint8]) {
      %0 = qnn.dequantize(%x, 0.5f, 128, out_dtype="float32");
      qnn.quantize(nn.leaky_relu(%0, alpha=0.1f), 2f, 3, out_dtype="uint8")
    })",
                R"(
    def @main(%x: Tensor[(4), uint8]) {
      qnn.leaky_relu(%x, 0.5f, 128, 2f, 3, alpha=0.1f)
    })");
}

TEST(FakeQuantizationToIntegerTest, SingleCalls) {
  const std::string text = Program(
      "nn.relu(reshape(qnn.dequantize(%x, 0.5f, 1, out_dtype=\"float32\"), "
      "newshape=[4]))");
  ExpectStays(text);
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule result,
      FakeQuantizationToInteger({.use_qat = true})(ParseTyped(text)));
  EXPECT_THAT(AsText(result), AllOf(HasSubstr("%0 = reshape(%x, newshape=[4])"),
                                    HasSubstr("%1 = maximum(%0, "),
                                    HasSubstr("qnn.dequantize(%1, 0.5f"),
                                    Not(HasSubstr("nn.relu"))));
}

// A function of integers with a scale for each channel.
std::string ByChannel(absl::string_view result) {
  return absl::StrCat(
      "def @main(%x: Tensor[(1, 2, 2, 2), int8], %s: Tensor[(2), float32]) {\n",
      result, "\n}");
}

// The channels of a result are where the operator puts those of its argument.
TEST(FakeQuantizationToIntegerTest, ChannelsMove) {
  struct Case {
    const char* call;
    int from;
    int to;
  };
  for (const Case& c : std::vector<Case>{
           {"transpose($0, axes=[0, 2, 3, 1])", 1, 3},
           {"transpose($0, axes=None)", 1, 2},
           {"transpose($0, axes=[0, 2, 3, 1])", -1, 2},
           {"expand_dims($0, axis=1)", 1, 2},
           {"expand_dims($0, axis=2)", 1, 1},
           {"squeeze($0, axis=[0])", 3, 2},
           {"reshape($0, newshape=[2, 4])", 1, 0},
           {"reshape($0, newshape=[4, 2])", 3, 1},
           {"max($0, axis=[0, 2])", 3, 1},
           {"max($0, axis=[0, 2], keepdims=True)", 3, 3},
           {"broadcast_to($0, shape=[3, 1, 2, 2, 2])", 1, 2},
           {"nn.max_pool2d($0, pool_size=[3, 3], padding=[1, 1, 1, 1])", 1, 1},
           {"nn.max_pool2d($0, pool_size=[2, 2], layout=\"NHWC\")", 3, 3},
           {"strided_slice($0, begin=[0, 0, 1, 1], end=[1, 2, 2, 2], "
            "strides=[1], axes=None)",
            1, 1}}) {
    const IRModule module = ParseTyped(ByChannel(absl::Substitute(
        c.call,
        absl::Substitute(
            "qnn.dequantize(%x, exp(%s), 0, out_dtype=\"float32\", axis=$0)",
            c.from))));
    const IRModule result =
        RunChecked(FakeQuantizationToInteger({.use_qat = true}), module);
    const CallNode* end = result.Find<Function>("main")->body().As<CallNode>();
    ASSERT_EQ(end->op_node()->name(), "qnn.dequantize") << AsText(result);
    EXPECT_EQ(end->attrs_as<DequantizeAttrs>()->axis, c.to) << AsText(result);
  }
}

TEST(FakeQuantizationToIntegerTest, ChannelsThatDoNotStay) {
  for (const char* call :
       {"max($0, axis=[1])", "nn.batch_flatten($0)",
        "reshape($0, newshape=[4, 2])", "take($0, 0, axis=1)",
        "strided_slice($0, begin=[0, -1], end=[1, -3], strides=[1, -1], "
        "axes=None)",
        "nn.max_pool2d($0, pool_size=[3, 3], padding=[1, 1, 1, 1], "
        "layout=\"NHWC\")",
        "nn.pad($0, 0f, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]])",
        "split($0, indices_or_sections=2, axis=1).0"}) {
    ExpectStays(
        ByChannel(absl::Substitute(
            call,
            "qnn.dequantize(%x, exp(%s), 0, out_dtype=\"float32\", axis=1)")),
        {.use_qat = true});
  }
}

// Not all quantized operators take a scale for each channel.
TEST(FakeQuantizationToIntegerTest, OperatorsOfOneScale) {
  const std::string text = ByChannel(
      "%0 = abs(qnn.dequantize(%x, exp(%s), 0, out_dtype=\"float32\", "
      "axis=1));\n"
      "qnn.quantize(%0, 1f, 0, out_dtype=\"int8\")");
  ExpectStays(text);
  EXPECT_THAT(
      FakeQuantizationToInteger({.hard_fail = true})(ParseTyped(text)).status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "abs: "));
}

}  // namespace
}  // namespace baton::relay
