#include "baton/onnx/import.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "onnx/onnx.pb.h"

namespace baton {
namespace {

using relay::AsText;
using relay::EvaluateFunction;
using relay::Function;

using ::baton::testing::IsOk;
using ::baton::testing::kSmallStackBytes;
using ::baton::testing::RunWithStack;
using ::baton::testing::SmallStackBytesOfThisBuild;
using ::baton::testing::StatusIs;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Lt;
using ::testing::Not;

// A model of opset 17 whose graph is `graph`, as text.
::onnx::ModelProto ModelOf(const std::string& graph, int opset = 17) {
  ::onnx::ModelProto model;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      absl::StrCat("ir_version: 8 opset_import { version: ", opset,
                   " } graph { name: 'g' ", graph, " }"),
      &model));
  return model;
}

absl::StatusOr<IRModule> Import(const ::onnx::ModelProto& model,
                                const OnnxImportOptions& options = {}) {
  auto bytes = std::make_shared<const std::string>(model.SerializeAsString());
  return ImportOnnx(*bytes, bytes, options);
}

absl::StatusOr<IRModule> Import(const std::string& graph,
                                const OnnxImportOptions& options = {}) {
  return Import(ModelOf(graph), options);
}

// An input or output: `input { name: ... }` of floats.
std::string Value(absl::string_view role, absl::string_view name,
                  const std::vector<std::string>& dims, int elem_type = 1) {
  std::string shape;
  for (const std::string& dim : dims) {
    absl::StrAppend(&shape, "dim { ", dim, " } ");
  }
  return absl::StrCat(role, " { name: '", name,
                      "' type { tensor_type { elem_type: ", elem_type,
                      " shape { ", shape, "} } } } ");
}

std::string InOut(const std::vector<std::string>& dims) {
  return Value("input", "x", dims) + "output { name: 'y' } ";
}

constexpr char kOne[] = "dim_value: 1";
constexpr char kTwo[] = "dim_value: 2";
constexpr char kThree[] = "dim_value: 3";

TEST(ImportOnnxTest, NodesBecomeCalls) {
  const auto module = Import(
      "node { op_type: 'Relu' input: 'x' output: 'r' }"
      "node { op_type: 'Add' input: 'r' input: 'x' output: 'y' }" +
      InOut({kTwo, kThree}));
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(AsText(module->Find("main")),
            "#[version = \"0.0.5\"]\n"
            "fn (%x: Tensor[(2, 3), float32] /* ty=Tensor[(2, 3), float32] */,"
            " input_tensor_names=[\"x\"], output_tensor_names=[\"y\"])"
            " -> Tensor[(2, 3), float32] {\n"
            "  %0 = nn.relu(%x) /* ty=Tensor[(2, 3), float32] */;\n"
            "  add(%0, %x) /* ty=Tensor[(2, 3), float32] */\n"
            "} /* ty=fn (Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32]"
            " */");
}

TEST(ImportOnnxTest, EveryExpressionHasThePlaceOfItsNode) {
  const auto module = Import(
      "node { op_type: 'Relu' input: 'x' output: 'r' name: 'first' }"
      "node { op_type: 'Softplus' input: 'r' output: 'y' }" +
      InOut({kTwo}));
  ASSERT_THAT(module, IsOk());
  const auto main = module->Find<Function>("main");
  const Span& span = main->body()->span();
  ASSERT_TRUE(span.defined());
  EXPECT_EQ(
      span->source().text().substr(span->begin(), span->end() - span->begin()),
      "y");
  EXPECT_EQ(span->source().Line(1), "first: Relu(x) -> r");
}

TEST(ImportOnnxTest, TypeErrorsShowTheNode) {
  EXPECT_THAT(
      Import("node { op_type: 'Relu' input: 'x' output: 'r' }"
             "node { op_type: 'Add' input: 'r' input: 'c' output: 'y' }"
             "initializer { name: 'c' dims: 5 data_type: 1"
             "  float_data: [1, 2, 3, 4, 5] }" +
             InOut({kTwo, kThree}))
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "model.onnx:2:1: error: "));
}

// Heads of attention are split off and joined again by shapes that are computed
// from the data: no shape is left to compute.
TEST(ImportOnnxTest, ShapesThatAreComputedKeepTheirSymbols) {
  const auto module = Import(
      "node { op_type: 'Shape' input: 'x' output: 's' }"
      "node { op_type: 'Gather' input: 's' input: 'zero' output: 'n' }"
      "node { op_type: 'Unsqueeze' input: 'n' input: 'axis' output: 'n1' }"
      "node { op_type: 'Gather' input: 's' input: 'one' output: 'm' }"
      "node { op_type: 'Unsqueeze' input: 'm' input: 'axis' output: 'm1' }"
      "node { op_type: 'Concat' input: 'n1' input: 'm1' input: 'heads'"
      "  output: 'split' attribute { name: 'axis' type: INT i: 0 } }"
      "node { op_type: 'Reshape' input: 'x' input: 'split' output: 'h' }"
      "node { op_type: 'Relu' input: 'h' output: 'r' }"
      "node { op_type: 'Concat' input: 'n1' input: 'm1' input: 'all'"
      "  output: 'join' attribute { name: 'axis' type: INT i: 0 } }"
      "node { op_type: 'Reshape' input: 'r' input: 'join' output: 'y' }"
      "initializer { name: 'zero' data_type: 7 int64_data: 0 }"
      "initializer { name: 'one' data_type: 7 int64_data: 1 }"
      "initializer { name: 'axis' dims: 1 data_type: 7 int64_data: 0 }"
      "initializer { name: 'heads' dims: 2 data_type: 7 int64_data: [2, 3] }"
      "initializer { name: 'all' dims: 1 data_type: 7 int64_data: -1 }" +
      InOut({"dim_param: 'batch'", "dim_param: 'length'", "dim_value: 6"}));
  ASSERT_THAT(module, IsOk());
  const std::string text = AsText(module->Find("main"));
  EXPECT_THAT(text, HasSubstr("reshape(%x, newshape=[0, 0, 2, 3])"));
  EXPECT_THAT(text, HasSubstr("reshape(%1, newshape=[0, 0, -1])"));
  EXPECT_THAT(text, Not(HasSubstr("shape_of")));
}

// Extents that a shape says stay known beside those that only data decide, so
// that operators which need them can be imported.
TEST(ImportOnnxTest, ExtentsBesideUnknownOnesStayKnown) {
  const auto type_after = [](absl::string_view nodes) {
    const auto module = Import(
        absl::StrCat("node { op_type: 'NonZero' input: 'x' output: 'n' }"
                     "node { op_type: 'Shape' input: 'n' output: 's' }"
                     "node { op_type: 'Gather' input: 's' input: 'last'"
                     "  output: 'k' }",
                     nodes,
                     "initializer { name: 'one' data_type: 1 float_data: 1 }"
                     "initializer { name: 'zero' dims: 1 data_type: 7"
                     "  int64_data: 0 }"
                     "initializer { name: 'last' dims: 1 data_type: 7"
                     "  int64_data: 1 }"
                     "initializer { name: 'two' dims: 2 data_type: 7"
                     "  int64_data: [2, 2] }",
                     InOut({kTwo, kThree})));
    EXPECT_THAT(module, IsOk());
    if (!module.ok()) return std::string();
    const std::string text = AsText(module->Find("main"));
    const size_t begin = text.find("-> ") + 3;
    return text.substr(begin, text.find(" {", begin) - begin);
  };
  const std::string kFilled =
      "node { op_type: 'ConstantOfShape' input: 's' output: 'f' }";
  EXPECT_EQ(type_after(kFilled + "node { op_type: 'Relu' input: 'f'"
                                 "  output: 'y' }"),
            "Tensor[(2, ?), float32]");
  EXPECT_EQ(type_after("node { op_type: 'Expand' input: 'one' input: 's'"
                       "  output: 'y' }"),
            "Tensor[(2, ?), float32]");
  // The rows of the data, since 1 is the other's number.
  EXPECT_EQ(type_after(kFilled +
                       "node { op_type: 'Concat' input: 'last' input: 'k'"
                       "  output: 'to' attribute { name: 'axis' type: INT } }"
                       "node { op_type: 'Expand' input: 'f' input: 'to'"
                       "  output: 'y' }"),
            "Tensor[(2, ?), float32]");
  EXPECT_EQ(type_after(kFilled +
                       "node { op_type: 'Concat' input: 'last' input: 'k'"
                       "  output: 'reps' attribute { name: 'axis' type: INT } }"
                       "node { op_type: 'Tile' input: 'f' input: 'reps'"
                       "  output: 'y' }"),
            "Tensor[(2, ?), float32]");
  EXPECT_EQ(type_after(kFilled + "node { op_type: 'Slice' input: 'f'"
                                 "  input: 'zero' input: 'k' input: 'last'"
                                 "  output: 'y' }"),
            "Tensor[(2, ?), float32]");
  EXPECT_EQ(
      type_after(kFilled + "node { op_type: 'Concat' input: 'k' input: 'k'"
                           "  input: 'two' output: 'to'"
                           "  attribute { name: 'axis' type: INT } }"
                           "node { op_type: 'Reshape' input: 'f' input: 'to'"
                           "  output: 'y' }"),
      "Tensor[(?, ?, 2, 2), float32]");
}

TEST(ImportOnnxTest, RowsOfSuppressedBoxesHaveThreeIndices) {
  const auto module = Import(
      "node { op_type: 'NonMaxSuppression' input: 'b' input: 's' input: 'k'"
      "  input: 'iou' output: 'chosen' }"
      "node { op_type: 'GatherND' input: 's' input: 'chosen' output: 'y' }"
      "initializer { name: 'k' dims: 1 data_type: 7 int64_data: 2 }"
      "initializer { name: 'iou' dims: 1 data_type: 1 float_data: 0.5 }" +
      Value("input", "b", {kOne, kThree, "dim_value: 4"}) +
      Value("input", "s", {kOne, kOne, kThree}) + "output { name: 'y' } ");
  ASSERT_THAT(module, IsOk());
  // The second box is inside of the first.
  const auto result = EvaluateFunction(
      *module, "main",
      {*Tensor::FromValues<float>(
           {1, 3, 4}, {0.0f, 0.0f, 1.0f, 1.0f, 0.0f, 0.0f, 1.0f, 0.9f, 2.0f,
                       2.0f, 3.0f, 3.0f}),
       *Tensor::FromValues<float>({1, 1, 3}, {0.5f, 0.75f, 0.25f})});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->tensor(), *Tensor::FromValues<float>({2}, {0.75f, 0.25f}));
}

// Twice as large by the nearest element: each is repeated, so that the extents
// of the result are known to be even.
TEST(ImportOnnxTest, UnknownExtentsAreResizedByRepetition) {
  const auto module = Import(
      "node { op_type: 'Resize' input: 'x' input: '' input: 'scales'"
      "  output: 'y' }"
      "initializer { name: 'scales' dims: 3 data_type: 1"
      "  float_data: [1, 1, 2] }" +
      InOut({kOne, kTwo, "dim_param: 'width'"}));
  ASSERT_THAT(module, IsOk());
  const std::string text = AsText(module->Find("main"));
  EXPECT_THAT(text, HasSubstr("repeat(%x, repeats=2, axis=2)"));
}

TEST(ImportOnnxTest, WhatIsResizedToNothingHasNoElements) {
  const auto module = Import(
      "node { op_type: 'Resize' input: 'x' input: '' input: '' input: 'sizes'"
      "  output: 'y' attribute { name: 'mode' type: STRING s: 'linear' } }"
      "initializer { name: 'sizes' dims: 2 data_type: 7 int64_data: [0, 3] }" +
      InOut({kTwo, kThree}));
  // A scale of 0 is an error.
  EXPECT_THAT(module.status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "the scale 0"));
  const auto scaled = Import(
      "node { op_type: 'Resize' input: 'x' input: '' input: 'scales'"
      "  output: 'y' attribute { name: 'mode' type: STRING s: 'linear' } }"
      "initializer { name: 'scales' dims: 2 data_type: 1"
      "  float_data: [0.4, 1.5] }" +
      InOut({kTwo, kThree}));
  ASSERT_THAT(scaled, IsOk());
  EXPECT_THAT(AsText(scaled->Find("main")), HasSubstr("Tensor[(0, 4)"));
}

TEST(ImportOnnxTest, ExtentsOfNothingAreNoneThatAreKept) {
  const std::string zero = "dim_value: 0";
  struct Flattened {
    std::vector<std::string> shape;
    int axis;
    std::string result;
  };
  const Flattened cases[] = {
      {{kOne, zero, kTwo}, 2, "[(]0, 2[)]"},
      {{kOne, zero, kTwo}, 3, "[(]0, 1[)]"},
      {{kTwo, kThree, zero}, -1, "[(]6, 0[)]"},
      {{kTwo, zero, "dim_param: 'n'"}, 2, "[(]0, [^,]*[)]"},
      {{"dim_param: 'n'", kTwo, zero}, 2, "[(][^,]*, 0[)]"}};
  for (const Flattened& flattened : cases) {
    const auto module =
        Import(absl::StrCat("node { op_type: 'Flatten' input: 'x' output: 'y'"
                            " attribute { name: 'axis' type: INT i: ",
                            flattened.axis, " } }", InOut(flattened.shape)));
    ASSERT_THAT(module, IsOk());
    EXPECT_THAT(AsText(module->Find("main")),
                ContainsRegex(absl::StrCat("-> Tensor.", flattened.result)));
  }
  const auto products =
      Import("node { op_type: 'MatMul' input: 'x' input: 'w' output: 'y' }" +
             Value("input", "w", {kTwo, kOne, kThree, kTwo}) +
             InOut({kTwo, zero, kTwo, kThree}));
  ASSERT_THAT(products, IsOk());
  EXPECT_THAT(AsText(products->Find("main")),
              HasSubstr("-> Tensor[(2, 0, 2, 2)"));
}

// A vector of scales of one element stands for all channels, as PyTorch writes
// them, and its axis has no meaning.
// With padding that makes windows fit, ceil_mode adds none.
TEST(ImportOnnxTest, PoolsToTheSameExtentHaveNoFurtherWindow) {
  for (const char* op : {"AveragePool", "MaxPool"}) {
    for (const char* extent : {"dim_value: 6", "dim_param: 'n'"}) {
      const absl::StatusOr<IRModule> module = Import(
          absl::StrCat("node { op_type: '", op,
                       "' input: 'x' output: 'y' attribute { name: 'auto_pad'"
                       " type: STRING s: 'SAME_LOWER' } attribute {"
                       " name: 'ceil_mode' type: INT i: 1 } attribute {"
                       " name: 'kernel_shape' type: INTS ints: 2 } attribute {"
                       " name: 'strides' type: INTS ints: 3 } } ",
                       InOut({kOne, kOne, extent})));
      ASSERT_THAT(module, IsOk());
      const Tensor x =
          *Tensor::FromValues<float>({1, 1, 6}, {1, 2, 3, 4, 5, 6});
      const auto y = EvaluateFunction(*module, "main", {x});
      ASSERT_THAT(y, IsOk());
      EXPECT_EQ(y->tensor().TypeToString(), "float32[1, 1, 2]") << op << extent;
    }
  }
}

// The squares of these elements need more bits than a float has.
TEST(ImportOnnxTest, NearlyEqualElementsHaveAVariance) {
  const auto module = Import(
      "node { op_type: 'MeanVarianceNormalization' input: 'x' output: 'y'"
      "  attribute { name: 'axes' type: INTS ints: 0 } }" +
      InOut({"dim_value: 4"}));
  ASSERT_THAT(module, IsOk());
  const Tensor x = *Tensor::FromValues<float>(
      {4}, {10000.125, 10000.25, 10000.125, 10000.25});
  const auto y = EvaluateFunction(*module, "main", {x});
  ASSERT_THAT(y, IsOk());
  EXPECT_THAT(y->tensor().span<float>(), ::testing::ElementsAre(-1, 1, -1, 1));
}

TEST(ImportOnnxTest, OneScaleHasNoAxis) {
  const auto module = Import(
      "node { op_type: 'DequantizeLinear' input: 'q' input: 's' input: 'z'"
      "  output: 'w' }"
      "node { op_type: 'Add' input: 'w' input: 'x' output: 'y' }"
      "initializer { name: 'q' dims: 2 data_type: 3 int32_data: [5, -3] }"
      "initializer { name: 's' dims: 1 data_type: 1 float_data: [0.5] }"
      "initializer { name: 'z' dims: 1 data_type: 3 int32_data: [1] }" +
      InOut({kTwo}));
  ASSERT_THAT(module, IsOk());
  const Tensor x = *Tensor::FromValues<float>({2}, {1, 2});
  const auto result =
      EvaluateFunction(*module, "main", {baton::relay::Value(x)});
  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->tensor().span<float>()[0], 3);
  EXPECT_EQ(result->tensor().span<float>()[1], 0);
}

// Small weights of bytes stay bytes, as large ones do: a convolution or product
// of bytes may take them so. A bias becomes floats.
TEST(ImportOnnxTest, QuantizedWeightsStayBytes) {
  const auto module = Import(
      "node { op_type: 'DequantizeLinear' input: 'q' input: 's' input: 'z'"
      "  output: 'w' }"
      "node { op_type: 'DequantizeLinear' input: 'c' input: 's'  output: 'b' }"
      "node { op_type: 'Gemm' input: 'x' input: 'w' input: 'b' output: 'y' }"
      "initializer { name: 'q' dims: 2 dims: 2 data_type: 3"
      "  int32_data: [5, -3, 7, 1] }"
      "initializer { name: 'c' dims: 2 data_type: 6 int32_data: [5, -3] }"
      "initializer { name: 's' data_type: 1 float_data: [0.5] }"
      "initializer { name: 'z' data_type: 3 int32_data: [1] }" +
      InOut({kTwo, kTwo}));
  ASSERT_THAT(module, IsOk());
  const std::string text = AsText(module->Find("main"));
  EXPECT_THAT(text, HasSubstr("Tensor[(2, 2), int8]"));
  EXPECT_THAT(text, Not(HasSubstr("Tensor[(2), int32]")));
}

// Padding, and shapes to expand to, that depend on data; what stays of the
// extents is known.
TEST(ImportOnnxTest, PaddingCanBeComputed) {
  const std::string pads =
      Value("input", "x", {kTwo, kThree}) +
      "input { name: 'p' type { tensor_type { elem_type: 7 shape { dim {"
      " dim_value: 4 } } } } } output { name: 'y' } ";
  const Tensor x = *Tensor::FromValues<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  struct Case {
    std::string mode;
    std::vector<int64_t> pads;  // in front of both axes, then behind them
    std::vector<int64_t> shape;
    std::vector<float> values;
  };
  for (const Case& c : std::vector<Case>{
           {"constant", {0, 1, 1, -1}, {3, 3}, {0, 1, 2, 0, 4, 5, 0, 0, 0}},
           {"edge", {0, 1, 1, -1}, {3, 3}, {1, 1, 2, 4, 4, 5, 4, 4, 5}},
           {"reflect",
            {0, 2, 1, 1},
            {3, 6},
            {3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2}},
           {"wrap",
            {1, 0, 0, 2},
            {3, 5},
            {4, 5, 6, 4, 5, 1, 2, 3, 1, 2, 4, 5, 6, 4, 5}},
           // Cut first: what is cut off is not added again.
           {"wrap", {0, -1, 0, 2}, {2, 4}, {2, 3, 2, 3, 5, 6, 5, 6}},
           {"wrap", {-1, 1, 2, -1}, {3, 3}, {5, 4, 5, 5, 4, 5, 5, 4, 5}}}) {
    SCOPED_TRACE(c.mode);
    const auto known = Import(ModelOf(
        absl::StrCat("node { op_type: 'Pad' input: 'x' input: 'p' output: 'y'"
                     " attribute { name: 'mode' type: STRING s: '",
                     c.mode,
                     "' } } initializer { name: 'p' dims: 4 data_type: 7"
                     " int64_data: [",
                     absl::StrJoin(c.pads, ","), "] }", InOut({kTwo, kThree})),
        19));
    ASSERT_THAT(known, IsOk());
    const auto same =
        EvaluateFunction(*known, "main", {baton::relay::Value(x)});
    ASSERT_THAT(same, IsOk());
    EXPECT_THAT(same->tensor().span<float>(), ElementsAreArray(c.values));
    const auto module = Import(ModelOf(
        absl::StrCat("node { op_type: 'Pad' input: 'x' input: 'p' output: 'y'"
                     " attribute { name: 'mode' type: STRING s: '",
                     c.mode, "' } }", pads),
        19));
    ASSERT_THAT(module, IsOk());
    const auto result = EvaluateFunction(
        *module, "main",
        {baton::relay::Value(x),
         baton::relay::Value(*Tensor::FromValues<int64_t>({4}, c.pads))});
    ASSERT_THAT(result, IsOk());
    EXPECT_EQ(result->tensor().shape(), absl::MakeConstSpan(c.shape));
    const absl::Span<const float> values = result->tensor().span<float>();
    EXPECT_EQ(std::vector<float>(values.begin(), values.end()), c.values);
  }
  const auto module = Import(ModelOf(
      "node { op_type: 'Pad' input: 'x' input: 'p' input: '' input: 'a'"
      "  output: 'y' }"
      "initializer { name: 'a' dims: 1 data_type: 7 int64_data: [-1] }"
      "input { name: 'p' type { tensor_type { elem_type: 7 shape { dim {"
      " dim_value: 2 } } } } }" +
          InOut({"dim_param: 'n'", kThree}),
      19));
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(module->Find<Function>("main")->body()->type().ToString(),
            "Tensor[(n, ?), float32]");
}

TEST(ImportOnnxTest, ElementsOfAnotherTypeAreExpandedToAShape) {
  const auto module = Import(
      "node { op_type: 'Shape' input: 'x' output: 's' }"
      "node { op_type: 'Expand' input: 'c' input: 's' output: 'y' }"
      "initializer { name: 'c' dims: 1 data_type: 7 int64_data: [5] }" +
      InOut({"dim_param: 'n'", kThree}));
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(module->Find<Function>("main")->body()->type().ToString(),
            "Tensor[(n, 3), int64]");
}

TEST(ImportOnnxTest, AllUnsupportedOperatorsAreInOneError) {
  const absl::Status status =
      Import(
          "node { op_type: 'Foo' input: 'x' output: 'a' name: 'n1' }"
          "node { op_type: 'Bar' domain: 'com.acme' input: 'a' output: 'b' }"
          "node { op_type: 'If' input: 'x' output: 'y' attribute {"
          "  name: 'then_branch' type: GRAPH g {"
          "    node { op_type: 'Foo' input: 'b' output: 'c' name: 'n2' } } } "
          "}" +
          InOut({kTwo}))
          .status();
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnimplemented,
                               "2 operators are not supported:"));
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("Foo (opset 17): n1, n2"),
                    HasSubstr("Bar of com.acme (no opset imported): b")));
}

TEST(ImportOnnxTest, DimensionsWithNamesStaySymbolic) {
  const std::string graph = "node { op_type: 'Relu' input: 'x' output: 'y' }" +
                            InOut({"dim_param: 'batch'", kThree});
  const auto module = Import(graph);
  ASSERT_THAT(module, IsOk());
  const auto* type = module->Find<Function>("main")->params()[0]->tensor_type();
  ASSERT_NE(type, nullptr);
  ASSERT_TRUE(type->dim(0).is_symbolic());
  EXPECT_EQ(type->dim(0).expr()->name(), "batch");

  OnnxImportOptions options;
  options.input_shapes["x"] = {4, 3};
  const auto bound = Import(graph, options);
  ASSERT_THAT(bound, IsOk());
  EXPECT_TRUE(
      bound->Find<Function>("main")->body()->tensor_type()->dim(0).is_const(4));

  options.input_shapes["x"] = {INT64_MAX, 3};
  EXPECT_THAT(Import(graph, options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "input 'x' has a dimension of 9223372036854775807, more "
                       "than 2^60"));

  options.input_shapes = {{"z", {1}}};
  EXPECT_THAT(Import(graph, options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "'z'"));
}

// x.view(x.size(0), -1), as PyTorch exports it.
// Exporters give one extent two names.
TEST(ImportOnnxTest, DimensionsWhoseNamesContradictEachOtherAreUnknown) {
  const auto graph = [](const char* name) {
    return absl::StrCat(
        "node { op_type: 'Add' input: 'x' input: 'z' output: 'y' }",
        Value("input", "x", {"dim_param: 'n'", kTwo}),
        Value("input", "z", {absl::StrCat("dim_param: '", name, "'"), kTwo}),
        "output { name: 'y' }");
  };
  const auto extent = [](const IRModule& module) {
    return module.Find<Function>("main")->params()[0]->tensor_type()->dim(0);
  };
  const auto same = Import(graph("n"));
  ASSERT_THAT(same, IsOk());
  EXPECT_TRUE(extent(*same).is_symbolic());
  const auto other = Import(graph("m"));
  ASSERT_THAT(other, IsOk());
  EXPECT_TRUE(extent(*other).is_any());
  // An error for all extents shows the names.
  EXPECT_THAT(
      Import(absl::StrCat("node { op_type: 'Add' input: 'x' input: 'z'"
                          "  output: 'y' }",
                          Value("input", "x", {"dim_param: 'n'", kTwo}),
                          Value("input", "z", {"dim_param: 'n'", kThree}),
                          "output { name: 'y' }"))
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "(n, 2)"));
}

TEST(ImportOnnxTest, ArithmeticOnKnownShapesFolds) {
  const auto module = Import(
      "node { op_type: 'Shape' input: 'x' output: 's' }"
      "node { op_type: 'Gather' input: 's' input: 'i' output: 'n' }"
      "node { op_type: 'Unsqueeze' input: 'n' input: 'axes' output: 'n1' }"
      "node { op_type: 'Concat' input: 'n1' input: 'rest' output: 'shape'"
      "  attribute { name: 'axis' type: INT i: 0 } }"
      "node { op_type: 'Reshape' input: 'x' input: 'shape' output: 'y' }"
      "initializer { name: 'i' data_type: 7 int64_data: 0 }"
      "initializer { name: 'axes' dims: 1 data_type: 7 int64_data: 0 }"
      "initializer { name: 'rest' dims: 1 data_type: 7 int64_data: -1 }" +
      InOut({kTwo, kThree, kTwo}));
  ASSERT_THAT(module, IsOk());
  EXPECT_THAT(AsText(module->Find("main")),
              HasSubstr("  reshape(%x, newshape=[2, -1])"));
}

TEST(ImportOnnxTest, OneKnownDimensionOfAShapeFolds) {
  const auto module = Import(
      "node { op_type: 'Shape' input: 'x' output: 's' }"
      "node { op_type: 'Gather' input: 's' input: 'i' output: 'n' }"
      "node { op_type: 'ConstantOfShape' input: 'n' output: 'y' }"
      "initializer { name: 'i' dims: 1 data_type: 7 int64_data: 1 }" +
      InOut({"dim_param: 'batch'", kThree}));
  ASSERT_THAT(module, IsOk());
  const auto* type = module->Find<Function>("main")->body()->tensor_type();
  ASSERT_NE(type, nullptr);
  EXPECT_TRUE(type->dim(0).is_const(3));
}

// An import for other sizes than those of the inputs at hand, as for --dims.
TEST(ImportOnnxTest, ValuesOfOtherSizesAreNotTaken) {
  const std::string graph =
      "node { op_type: 'Add' input: 'x' input: 'z' output: 's' }"
      "node { op_type: 'Identity' input: 'ids' output: 'y' }" +
      Value("input", "ids", {"dim_param: 'n'"}, 7) +
      Value("input", "x", {"dim_param: 'n'"}) +
      Value("input", "z", {"dim_param: 'm'"}) +
      "output { name: 'y' } output { name: 's' }";
  OnnxImportOptions options;
  options.takes_all_shapes = true;
  const std::vector<int64_t> ids = {1, 2};
  options.values_at_hand.emplace(
      "ids", *Tensor::FromValues<int64_t>({2}, absl::MakeConstSpan(ids)));
  options.dims = {{"n", 3}, {"m", 3}};
  EXPECT_THAT(Import(graph, options), IsOk());
  // The error is that of the sizes.
  options.dims["m"] = 2;
  EXPECT_THAT(Import(graph, options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "add"));
}

// Returns the number of occurrences of `what` in the text of `main`.
int CountIn(const IRModule& module, const std::string& what) {
  const std::string text = AsText(module.Find("main"));
  int count = 0;
  for (size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(ImportOnnxTest, OutputsOfANodeShareWhatTheyAreComputedFrom) {
  std::string graph;
  std::string x = "x";
  for (const char* k : {"0", "1", "2"}) {
    absl::StrAppend(&graph, "node { op_type: 'DynamicQuantizeLinear' input: '",
                    x, "' output: 'q", k, "' output: 's", k, "' output: 'z", k,
                    "' } node { op_type: 'MatMulInteger' input: 'q", k,
                    "' input: 'w' input: 'z", k, "' output: 'i", k,
                    "' } node { op_type: 'Cast' input: 'i", k, "' output: 'f",
                    k,
                    "'  attribute { name: 'to' type: INT i: 1 } }"
                    "node { op_type: 'Mul' input: 'f",
                    k, "' input: 's", k, "' output: 'y", k, "' }");
    x = absl::StrCat("y", k);
  }
  absl::StrAppend(&graph,
                  "initializer { name: 'w' dims: 3 dims: 3 data_type: 3"
                  "  int32_data: [1, 2, 3, 4, 5, 6, 7, 8, 9] }",
                  Value("input", "x", {"dim_param: 'n'", kThree}),
                  "output { name: 'y2' }");
  const auto module = Import(graph);
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(CountIn(*module, "= nn.dense("), 3);
  EXPECT_EQ(CountIn(*module, "= max("), 3);
  EXPECT_EQ(CountIn(*module, "= min("), 3);

  // Two outputs of one node.
  const auto norm = Import(
      "node { op_type: 'LayerNormalization' input: 'x' input: 'g'"
      "  output: 'a' output: 'b' output: 'c' }"
      "initializer { name: 'g' dims: 3 data_type: 1 float_data: [1, 2, 3] }" +
      Value("input", "x", {kTwo, kThree}) +
      "output { name: 'a' } output { name: 'b' } output { name: 'c' }");
  ASSERT_THAT(norm, IsOk());
  EXPECT_EQ(CountIn(*norm, "= mean(%x"), 1);
}

// torch.arange(n) of opsets without Range.
TEST(ImportOnnxTest, NonZeroOfAFillIsARange) {
  const auto graph = [](const char* dim, const char* value) {
    return absl::StrCat(
        "node { op_type: 'Shape' input: 'x' output: 's' }"
        "node { op_type: 'Slice' input: 's' output: 'n'"
        "  attribute { name: 'axes' type: INTS ints: 0 }"
        "  attribute { name: 'starts' type: INTS ints: 0 }"
        "  attribute { name: 'ends' type: INTS ints: 1 } }"
        "node { op_type: 'ConstantOfShape' input: 'n' output: 'f' attribute {"
        "  name: 'value' type: TENSOR t { data_type: 1 dims: 1 float_data: ",
        value,
        " } } }"
        "node { op_type: 'NonZero' input: 'f' output: 'y' }",
        InOut({dim, kThree}));
  };
  const auto import = [](const std::string& text) {
    return Import(ModelOf(text, 9));
  };
  const auto symbolic = import(graph("dim_param: 'batch'", "1"));
  ASSERT_THAT(symbolic, IsOk());
  EXPECT_THAT(AsText(symbolic->Find("main")),
              AllOf(HasSubstr("arange("), Not(HasSubstr("argwhere"))));
  // The number of elements that are not zero is known where they are.
  for (const auto& [value, count] : {std::pair{"1", 2}, std::pair{"0", 0}}) {
    const auto known = import(graph(kTwo, value));
    ASSERT_THAT(known, IsOk());
    const Tensor* tensor =
        relay::ConstantTensor(known->Find<Function>("main")->body());
    ASSERT_NE(tensor, nullptr);
    EXPECT_THAT(tensor->shape(), ElementsAre(1, count));
    for (int64_t i = 0; i < count; ++i) EXPECT_EQ(tensor->AtAsInt64(i), i);
  }
  const auto zeros = import(graph("dim_param: 'batch'", "0"));
  ASSERT_THAT(zeros, IsOk());
  EXPECT_THAT(AsText(zeros->Find("main")), HasSubstr("argwhere"));
}

std::string RawFloats(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(float));
}

// Weights of products of integers are bytes where these can hold them less
// their zero points.
TEST(ImportOnnxTest, WeightsOfIntegerProductsStayBytes) {
  const auto import = [](absl::string_view type, absl::string_view weights,
                         absl::string_view zero) {
    return Import(absl::StrCat(
        "node { op_type: 'MatMulInteger' input: 'x' input: 'w' input: ''",
        zero.empty() ? "" : " input: 'z'",
        " output: 'y' }"
        "initializer { name: 'w' dims: 2 dims: 2 data_type: ",
        type, " int32_data: [", weights, "] }",
        zero.empty() ? ""
                     : absl::StrCat("initializer { name: 'z' data_type: ", type,
                                    " ", zero, " }"),
        Value("input", "x", {kTwo, kTwo}, 2), "output { name: 'y' }"));
  };
  // uint8 is type 2, int8 is type 3.
  const struct {
    const char* type;
    const char* weights;
    const char* zero;
    int num_casts;  // of the data alone, or of the weights, too
  } cases[] = {{"3", "1, -128, 127, 0", "", 1},
               {"3", "1, -2, 127, 0", "int32_data: 0", 1},
               {"2", "0, 255, 127, 0", "int32_data: 128", 1},
               {"2", "0, 255, 5, 0", "dims: 2 int32_data: [7, 128]", 1},
               {"2", "0, 255, 5, 0", "dims: 2 int32_data: [128, 7]", 2},
               {"3", "1, -128, 127, 0", "int32_data: 1", 2}};
  for (const auto& c : cases) {
    const auto module = import(c.type, c.weights, c.zero);
    ASSERT_THAT(module, IsOk());
    EXPECT_EQ(CountIn(*module, "cast("), c.num_casts)
        << c.weights << "; " << c.zero;
  }
}

// Constant weights of convolutions become int8, for which there are fast
// products, whatever their zero points are.
TEST(ImportOnnxTest, WeightsOfIntegerConvolutionsBecomeSignedBytes) {
  constexpr int kUint8 = 2;
  constexpr int kInt8 = 3;
  constexpr int kDataZero = 7;
  const struct {
    int type;
    std::vector<int> weights;  // of two channels, each with two
    std::vector<int> zeros;    // of all weights, or of each channel
    int num_convolutions;
  } cases[] = {
      {kUint8, {0, 255, 128, 127}, {143}, 1},
      {kUint8, {0, 255, 128, 127}, {128}, 1},
      {kUint8, {10, 200, 30, 100}, {100}, 1},
      {kUint8, {0, 90, 128, 7}, {}, 1},
      {kUint8, {0, 90, 127, 7}, {}, 1},
      {kUint8, {0, 255, 100, 50}, {128, 60}, 1},
      {kUint8, {0, 255, 100, 50}, {129, 60}, 2},
      {kInt8, {-128, 127, 3, 4}, {5}, 1},
      {kInt8, {-128, 127, 3, 4}, {0}, 1},
      {kInt8, {-128, 100, 3, 4}, {-20, 9}, 1},
      {kInt8, {-128, 127, 3, 4}, {-1, 9}, 2},
  };
  for (const auto& c : cases) {
    for (int variant = 0; variant < 16; ++variant) {
      // One group, or a group for each channel; a zero point of the data that
      // is constant, or an input; one or two spatial axes.
      const int groups = variant % 2 == 0 ? 1 : 2;
      const int dilation = variant / 2 % 2 == 0 ? 1 : 2;
      const bool is_constant = variant / 4 % 2 == 0;
      const bool has_rows = variant / 8 == 0;
      const std::string label = absl::StrCat(
          absl::StrJoin(c.weights, " "), " less ", absl::StrJoin(c.zeros, " "),
          ", groups ", groups, ", dilation ", dilation, ", constant ",
          is_constant, ", rows ", has_rows);
      const std::string row = has_rows ? "1, " : "";
      std::vector<std::string> shape = {
          "dim_value: 1", absl::StrCat("dim_value: ", groups), "dim_value: 4"};
      if (has_rows) shape.insert(shape.begin() + 2, "dim_value: 1");
      const auto initializer = [](absl::string_view name, int type,
                                  absl::string_view dims,
                                  const std::vector<int>& values) {
        return absl::StrCat(
            "initializer { name: '", name, "' data_type: ", type, " dims: [",
            dims, "] int32_data: [", absl::StrJoin(values, ", "), "] }");
      };
      const auto module = Import(absl::StrCat(
          "node { op_type: 'ConvInteger' input: 'x' input: 'w' input: 'd'",
          c.zeros.empty() ? "" : " input: 'z'",
          " output: 'y' attribute { name: 'group' type: INT i: ", groups,
          " } attribute { name: 'pads' type: INTS ints: [",
          has_rows ? "0, " : "", dilation, has_rows ? ", 0" : "",
          ", 0] } attribute { name: 'dilations' type: INTS ints: [", row,
          dilation, "] } }",
          initializer("w", c.type, absl::StrCat("2, 1, ", row, "2"), c.weights),
          c.zeros.empty() ? ""
                          : initializer("z", c.type,
                                        c.zeros.size() > 1 ? "2" : "", c.zeros),
          Value("input", "x", shape, kUint8),
          is_constant ? initializer("d", kUint8, "", {kDataZero})
                      : Value("input", "d", {}, kUint8),
          "output { name: 'y' }"));
      ASSERT_THAT(module, IsOk()) << label;
      const std::string text = AsText(module->Find("main"));
      for (const char* const type : {"uint8", "int32"}) {
        EXPECT_THAT(
            text,
            Not(HasSubstr(absl::StrCat("Tensor[(2, 1, ", row, "2), ", type))))
            << label;
      }
      // Calls of qnn.conv2d are counted, too.
      if (dilation == 1 && has_rows) {
        EXPECT_EQ(CountIn(*module, "nn.conv2d("), c.num_convolutions) << label;
      }
      std::vector<uint8_t> x = {200, 255, 0, 7};
      if (groups == 2) x.insert(x.end(), {31, 0, 255, 3});
      TensorShape data_shape = {1, groups, 4};
      if (has_rows) data_shape.insert(data_shape.begin() + 2, 1);
      std::vector<baton::relay::Value> inputs = {
          baton::relay::Value(*Tensor::FromValues<uint8_t>(data_shape, x))};
      if (!is_constant) {
        inputs.emplace_back(Tensor::Scalar<uint8_t>(kDataZero));
      }
      const auto result = EvaluateFunction(*module, "main", inputs);
      ASSERT_THAT(result, IsOk()) << label;
      const absl::Span<const int32_t> y = result->tensor().span<int32_t>();
      ASSERT_EQ(y.size(), 8) << label;
      for (int i = 0; i < 8; ++i) {
        const int channel = i / 4;
        const int zero =
            c.zeros.empty() ? 0 : c.zeros[c.zeros.size() > 1 ? channel : 0];
        const int data = groups == 2 ? 4 * channel : 0;
        int want =
            (c.weights[2 * channel + 1] - zero) * (x[data + i % 4] - kDataZero);
        if (i % 4 >= dilation) {
          want += (c.weights[2 * channel] - zero) *
                  (x[data + i % 4 - dilation] - kDataZero);
        }
        EXPECT_EQ(y[static_cast<size_t>(i)], want) << label << " at " << i;
      }
    }
  }
}

TEST(ImportOnnxTest, SumsOfManyWeightsOfAConvolutionAreExact) {
  // More weights of one sign than have a sum of 16 bits, and some behind whole
  // vectors.
  constexpr int kTerms = 2103;
  constexpr int kUint8 = 2;
  constexpr int kInt8 = 3;
  const std::string terms = absl::StrCat(kTerms);
  std::vector<int> weights(kTerms, -128);
  weights.resize(2 * kTerms, 127);
  const auto module = Import(absl::StrCat(
      "node { op_type: 'ConvInteger' input: 'x' input: 'w' input: 'd'"
      " output: 'y' }"
      "initializer { name: 'w' data_type: ",
      kInt8, " dims: [2, 1, ", terms, "] int32_data: [",
      absl::StrJoin(weights, ", "),
      "] } initializer { name: 'd' data_type: ", kUint8, " int32_data: [3] }",
      Value("input", "x",
            {"dim_value: 1", "dim_value: 1", "dim_value: " + terms}, kUint8),
      "output { name: 'y' }"));
  ASSERT_THAT(module, IsOk());
  const auto result =
      EvaluateFunction(*module, "main",
                       {baton::relay::Value(*Tensor::FromValues<uint8_t>(
                           {1, 1, kTerms}, std::vector<uint8_t>(kTerms, 5)))});
  ASSERT_THAT(result, IsOk());
  const absl::Span<const int32_t> y = result->tensor().span<int32_t>();
  ASSERT_EQ(y.size(), 2);
  EXPECT_EQ(y[0], 2 * -128 * kTerms);
  EXPECT_EQ(y[1], 2 * 127 * kTerms);
}

TEST(ImportOnnxTest, WeightsCanBeKeptAsTheyAre) {
  const std::string graph =
      "node { op_type: 'MatMul' input: 'x' input: 'w' output: 'm' }"
      "node { op_type: 'Gemm' input: 'm' input: 'w' output: 'n' }"
      "node { op_type: 'MatMul' input: 'n' input: 'x' output: 'y' }"
      "initializer { name: 'w' dims: 2 dims: 2 data_type: 1"
      "  float_data: [1, 2, 3, 4] }" +
      InOut({kTwo, kTwo});
  OnnxImportOptions options;
  options.keeps_weights = true;
  const auto kept = Import(graph, options);
  ASSERT_THAT(kept, IsOk());
  EXPECT_EQ(CountIn(*kept, "nn.matmul("), 2);
  EXPECT_EQ(CountIn(*kept, "transpose("), 1);
  const auto transposed = Import(graph);
  ASSERT_THAT(transposed, IsOk());
  EXPECT_EQ(CountIn(*transposed, "nn.matmul("), 0);
  EXPECT_EQ(CountIn(*transposed, "transpose("), 3);
}

// The constant that is the right operand of the body.
const Tensor* Operand(const IRModule& module) {
  const auto* call =
      module.Find<Function>("main")->body().As<relay::CallNode>();
  return call == nullptr ? nullptr : relay::ConstantTensor(call->arg(1));
}

// Imports the sum of an input and an initializer w of `values`, whose data begin
// at each of four addresses in turn, so that they are aligned once. Calls `check`
// with the file and the tensor.
void ForEachAddress(
    const std::vector<float>& values,
    absl::FunctionRef<void(const std::string& file, const Tensor& tensor)>
        check) {
  ::onnx::ModelProto model = ModelOf(
      absl::StrCat("node { op_type: 'Add' input: 'x' input: 'w' output: 'y' }"
                   "initializer { name: 'w' dims: ",
                   values.size(), " data_type: 1 }",
                   InOut({absl::StrCat("dim_value: ", values.size())})));
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(
      RawFloats(values));
  for (int padding = 0; padding < 4; ++padding) {
    model.set_producer_name(std::string(padding, 'p'));
    auto bytes = std::make_shared<const std::string>(model.SerializeAsString());
    const auto module = ImportOnnx(*bytes, bytes);
    ASSERT_THAT(module, IsOk());
    const Tensor* tensor = Operand(*module);
    ASSERT_NE(tensor, nullptr);
    check(*bytes, *tensor);
  }
}

TEST(ImportOnnxTest, AlignedInitializersShareTheFile) {
  int calls = 0;
  int shared = 0;
  ForEachAddress(
      {1, 2, 3, 4}, [&](const std::string& file, const Tensor& tensor) {
        ++calls;
        EXPECT_EQ(tensor.span<float>()[3], 4);
        const auto* data = static_cast<const char*>(tensor.data());
        if (data >= file.data() && data < file.data() + file.size()) {
          ++shared;
        }
      });
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(shared, 1);
}

TEST(ImportOnnxTest, UnalignedInitializersShareTheFileUntilTheyAreRead) {
  std::vector<float> values(100);
  std::iota(values.begin(), values.end(), -3.5f);
  int calls = 0;
  ForEachAddress(values, [&](const std::string& file, const Tensor& tensor) {
    ++calls;
    EXPECT_GE(tensor.bytes().data(), file.data());
    EXPECT_LT(tensor.bytes().data(), file.data() + file.size());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data()) % alignof(float), 0);
    EXPECT_THAT(tensor.span<float>(), ElementsAreArray(values));
  });
  EXPECT_EQ(calls, 4);
}

// The bytes of the mapping that begins at `begin` that are in memory
// (proc(5), smaps).
int64_t ResidentBytes(const void* begin) {
  const std::string head = absl::StrCat(
      absl::Hex(reinterpret_cast<uintptr_t>(begin), absl::kZeroPad8), "-");
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.compare(0, head.size(), head) != 0) continue;
    while (std::getline(maps, line)) {
      int64_t kilobytes = 0;
      if (std::sscanf(line.c_str(), "Rss: %ld kB", &kilobytes) == 1) {
        return kilobytes * 1024;
      }
    }
  }
  return -1;
}

TEST(ImportOnnxTest, PagesOfCopiedInitializersAreLetGo) {
  constexpr size_t kElements = size_t{1} << 22;
  ::onnx::ModelProto model = ModelOf(
      "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' }"
      "initializer { name: 'w' dims: 4194304 data_type: 1 }" +
      InOut({"dim_value: 4194304"}));
  model.mutable_graph()->mutable_initializer(0)->set_raw_data(
      RawFloats(std::vector<float>(kElements, 7)));
  const std::string path = ::testing::TempDir() + "/mapped.onnx";
  for (int padding = 0; padding < 4; ++padding) {
    model.set_producer_name(std::string(padding, 'p'));
    const std::string bytes = model.SerializeAsString();
    std::ofstream(path, std::ios::binary) << bytes;
    const int file = open(path.c_str(), O_RDONLY);
    ASSERT_GE(file, 0);
    void* const begin =
        mmap(nullptr, bytes.size(), PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    ASSERT_NE(begin, MAP_FAILED);
    const std::shared_ptr<const void> owner(
        begin, [&](const void* /*p*/) { munmap(begin, bytes.size()); });
    OnnxImportOptions options;
    options.is_mapped = true;
    const auto module = ImportOnnx(
        {static_cast<const char*>(begin), bytes.size()}, owner, options);
    ASSERT_THAT(module, IsOk());
    const Tensor* tensor = Operand(*module);
    ASSERT_NE(tensor, nullptr);
    EXPECT_EQ(tensor->span<float>()[kElements - 1], 7);
    const auto* data = static_cast<const char*>(tensor->data());
    const bool is_shared =
        data >= begin && data < static_cast<const char*>(begin) + bytes.size();
    // Data that was not copied is at either end; a page there may be a huge
    // one.
    if (!is_shared) {
      EXPECT_THAT(ResidentBytes(begin), AllOf(Ge(0), Le(6 << 20))) << padding;
    }
    // The file is as it was.
    EXPECT_EQ(std::memcmp(begin, bytes.data(), bytes.size()), 0);
  }
}

class ExternalDataTest : public ::testing::Test {
 protected:
  ExternalDataTest()
      : folder_(std::filesystem::path(::testing::TempDir()) / "external") {
    std::filesystem::create_directories(folder_ / "model");
    std::ofstream(folder_ / "model" / "w.bin") << RawFloats({0, 1, 2, 3, 4});
    std::ofstream(folder_ / "secret.bin") << RawFloats({1, 2, 3, 4});
  }

  absl::StatusOr<IRModule> Import(absl::string_view location,
                                  absl::string_view offset,
                                  absl::string_view length) {
    OnnxImportOptions options;
    options.folder = (folder_ / "model").string();
    options.target_folder = target_folder_;
    return baton::Import(
        absl::StrCat(
            "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' }"
            "initializer { name: 'w' dims: 4 data_type: 1 data_location: "
            "EXTERNAL"
            "  external_data { key: 'location' value: '",
            location, "' } external_data { key: 'offset' value: '", offset,
            "' } external_data { key: 'length' value: '", length, "' } }") +
            InOut({"dim_value: 4"}),
        options);
  }

  std::filesystem::path folder_;
  std::string target_folder_;
};

TEST_F(ExternalDataTest, IsRead) {
  const auto module = Import("w.bin", "4", "16");
  ASSERT_THAT(module, IsOk());
  ASSERT_NE(Operand(*module), nullptr);
  EXPECT_EQ(Operand(*module)->span<float>()[0], 1);
  EXPECT_EQ(Operand(*module)->span<float>()[3], 4);
}

TEST_F(ExternalDataTest, StaysInTheFolderOfTheModel) {
  std::filesystem::create_symlink(folder_ / "secret.bin",
                                  folder_ / "model" / "link.bin");
  for (const std::string& location : std::vector<std::string>{
           "../secret.bin", (folder_ / "secret.bin").string(), "link.bin",
           "a/../../secret.bin", "", ".."}) {
    EXPECT_THAT(Import(location, "0", "16").status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "must be in the model's folder"))
        << location;
  }
  std::filesystem::remove(folder_ / "model" / "link.bin");
}

// As a sandbox of a build has it: a folder of links.
TEST_F(ExternalDataTest, LinksLeadWhereTheModelIs) {
  std::filesystem::create_directories(folder_ / "source");
  std::ofstream(folder_ / "source" / "v.bin") << RawFloats({1, 2, 3, 4});
  std::filesystem::create_symlink(folder_ / "source" / "v.bin",
                                  folder_ / "model" / "v.bin");
  std::filesystem::create_symlink(folder_ / "secret.bin",
                                  folder_ / "model" / "link.bin");
  const absl::Status refused = Import("v.bin", "0", "16").status();
  target_folder_ = std::filesystem::canonical(folder_ / "source").string();
  const auto module = Import("v.bin", "0", "16");
  const absl::Status elsewhere = Import("link.bin", "0", "16").status();
  const absl::Status outside = Import("../source/v.bin", "0", "16").status();
  std::filesystem::remove(folder_ / "model" / "v.bin");
  std::filesystem::remove(folder_ / "model" / "link.bin");
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(Operand(*module)->span<float>()[3], 4);
  for (const absl::Status& status : {refused, elsewhere, outside}) {
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                                 "must be in the model's folder"));
  }
}

TEST_F(ExternalDataTest, SizesAreThoseOfTheFile) {
  EXPECT_THAT(Import("w.bin", "8", "16").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "which has 20"));
  EXPECT_THAT(Import("w.bin", "18446744073709551615", "16").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "which has 20"));
  EXPECT_THAT(Import("w.bin", "0", "12").status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "16 bytes"));
  EXPECT_THAT(Import("absent.bin", "0", "16").status(),
              StatusIs(absl::StatusCode::kNotFound, "absent.bin"));
}

TEST(ImportOnnxTest, ShapesAreCheckedBeforeMemoryIsAskedFor) {
  EXPECT_THAT(Import("node { op_type: 'Add' input: 'x' input: 'w' output: 'y' }"
                     "initializer { name: 'w' dims: 1000000000000 data_type: 1"
                     "  raw_data: 'abcd' }" +
                     InOut({kOne}))
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "its shape takes 4000000000000 bytes, but it has 4"));
}

TEST(ImportOnnxTest, BytesThatAreCutOffAreErrors) {
  const std::string bytes =
      ModelOf(
          "node { op_type: 'Add' input: 'x' input: 'w' output: 'y' }"
          "initializer { name: 'w' dims: 2 data_type: 1"
          "  float_data: [1, 2] }" +
          InOut({kTwo}))
          .SerializeAsString();
  ASSERT_THAT(ImportOnnx(bytes, nullptr), IsOk());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ImportOnnx(bytes.substr(0, size), nullptr).ok()) << size;
  }
}

TEST(ImportOnnxTest, ValuesMustBeThereBeforeTheyAreUsed) {
  EXPECT_THAT(
      Import("node { op_type: 'Relu' input: 'y' output: 'z' }"
             "node { op_type: 'Relu' input: 'z' output: 'y' }" +
             InOut({kTwo}))
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "model.onnx:2:1: error: Relu: uses 'z', which depends on it: "
               "the graph has a cycle"));
  EXPECT_THAT(Import("node { op_type: 'Relu' input: 'x' output: 'y' }"
                     "node { op_type: 'Relu' input: 'x' output: 'y' }" +
                     InOut({kTwo}))
                  .status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "gives 'y', which there is already"));
}

// As converters to float16 leave them; graphs of nodes use values, too.
TEST(ImportOnnxTest, NodesMayBeInAnyOrder) {
  const auto module = Import(
      "node { op_type: 'Exp' input: 'a' output: 'e' }"
      "node { op_type: 'If' input: 'c' output: 'y'"
      "  attribute { name: 'then_branch' type: GRAPH g { name: 't'"
      "    node { op_type: 'Neg' input: 'n' output: 't' }"
      "    node { op_type: 'Abs' input: 'b' output: 'n' }"
      "    output { name: 't' } } }"
      "  attribute { name: 'else_branch' type: GRAPH g { name: 'f'"
      "    node { op_type: 'Identity' input: 'e' output: 'f' }"
      "    output { name: 'f' } } } }"
      "node { op_type: 'Relu' input: 'x' output: 'a' }"
      "node { op_type: 'Tanh' input: 'a' output: 'b' }"
      "input { name: 'c' type { tensor_type { elem_type: 9 shape { } } } }" +
      InOut({kTwo}));
  ASSERT_THAT(module, IsOk());
  const Tensor x = *Tensor::FromValues<float>({2}, {1, -1});
  for (const bool c : {true, false}) {
    const auto result = EvaluateFunction(
        *module, "main",
        {baton::relay::Value(Tensor::Scalar(c)), baton::relay::Value(x)});
    ASSERT_THAT(result, IsOk());
    EXPECT_FLOAT_EQ(result->tensor().span<float>()[0],
                    c ? -std::tanh(1.0f) : std::exp(1.0f));
    EXPECT_EQ(result->tensor().span<float>()[1], c ? 0 : 1);
  }
  // A node's place is its line in the file.
  const Span& span = module->Find<Function>("main")->body()->span();
  ASSERT_TRUE(span.defined());
  EXPECT_EQ(span->source().PositionOf(span->begin()).line, 2);
}

// Names in a body are those of the body, also where later nodes give them.
TEST(ImportOnnxTest, BodiesMayGiveNamesThatLaterNodesGive) {
  const auto module = Import(
      "node { op_type: 'If' input: 'c' output: 'z'"
      "  attribute { name: 'then_branch' type: GRAPH g { name: 't'"
      "    node { op_type: 'Neg' input: 'x' output: 'y' }"
      "    output { name: 'y' } } }"
      "  attribute { name: 'else_branch' type: GRAPH g { name: 'f'"
      "    node { op_type: 'Abs' input: 'x' output: 'y' }"
      "    output { name: 'y' } } } }"
      "node { op_type: 'Relu' input: 'z' output: 'y' }"
      "input { name: 'c' type { tensor_type { elem_type: 9 shape { } } } }" +
      InOut({kTwo}));
  ASSERT_THAT(module, IsOk());
  const Tensor x = *Tensor::FromValues<float>({2}, {1, -2});
  const auto result = EvaluateFunction(
      *module, "main",
      {baton::relay::Value(Tensor::Scalar(true)), baton::relay::Value(x)});
  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->tensor().span<float>(), ElementsAre(0, 2));
}

// The first node needs the last, and so on.
TEST(ImportOnnxTest, VeryManyNodesMayBeBackToFront) {
  const int num_nodes = testing::LongOrShort(100'000, 20'000);
  ::onnx::ModelProto model = ModelOf(InOut({kTwo}));
  for (int i = num_nodes; i-- > 0;) {
    ::onnx::NodeProto& node = *model.mutable_graph()->add_node();
    node.set_op_type("Relu");
    node.add_input(i == 0 ? std::string("x") : absl::StrCat("v", i - 1));
    node.add_output(i + 1 == num_nodes ? std::string("y")
                                       : absl::StrCat("v", i));
  }
  RunWithStack(SmallStackBytesOfThisBuild(),
               [&] { EXPECT_THAT(Import(model), IsOk()); });
}

TEST(ImportOnnxTest, LocalFunctionsAreInlined) {
  ::onnx::ModelProto model = ModelOf(
      "node { op_type: 'Leaky' domain: 'local' input: 'x' output: 'y'"
      "  attribute { name: 'slope' type: FLOAT f: 0.5 } }" +
      InOut({kTwo}));
  ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(
      "opset_import { domain: 'local' version: 1 }"
      "functions { name: 'Leaky' domain: 'local' input: 'a' output: 'b'"
      "  attribute: 'slope' opset_import { version: 17 }"
      "  node { op_type: 'LeakyRelu' input: 'a' output: 'b'"
      "    attribute { name: 'alpha' type: FLOAT ref_attr_name: 'slope' } } }",
      &model));
  const auto module = Import(model);
  ASSERT_THAT(module, IsOk());
  EXPECT_THAT(AsText(module->Find("main")),
              HasSubstr("nn.leaky_relu(%x, alpha=0.5"));
}

TEST(ImportOnnxTest, FunctionsThatCallThemselvesAreRefused) {
  ::onnx::ModelProto model =
      ModelOf("node { op_type: 'F' domain: 'local' input: 'x' output: 'y' }" +
              InOut({kTwo}));
  ASSERT_TRUE(google::protobuf::TextFormat::MergeFromString(
      "opset_import { domain: 'local' version: 1 }"
      "functions { name: 'F' domain: 'local' input: 'a' output: 'b'"
      "  opset_import { domain: 'local' version: 1 }"
      "  node { op_type: 'F' domain: 'local' input: 'a' output: 'b' } }",
      &model));
  RunWithStack(SmallStackBytesOfThisBuild(), [&] {
    EXPECT_THAT(Import(model).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, "too deeply"));
  });
}

TEST(ImportOnnxTest, GraphsInGraphsAreRefusedFromSomeDepthOn) {
  ::onnx::GraphProto graph;
  for (int depth = 0; depth < 90; ++depth) {
    ::onnx::GraphProto outer;
    ::onnx::NodeProto* node = outer.add_node();
    node->set_op_type("If");
    node->add_input("x");
    node->add_output("y");
    ::onnx::AttributeProto* branch = node->add_attribute();
    branch->set_name("then_branch");
    branch->set_type(::onnx::AttributeProto::GRAPH);
    *branch->mutable_g() = std::move(graph);
    graph = std::move(outer);
  }
  ::onnx::ModelProto model = ModelOf("");
  *model.mutable_graph() = std::move(graph);
  RunWithStack(SmallStackBytesOfThisBuild(), [&] {
    EXPECT_THAT(Import(model).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, "too deeply"));
  });
}

// Imports with a small stack; the seconds that takes.
double SecondsOfImport(::onnx::ModelProto model) {
  auto bytes = std::make_shared<const std::string>(model.SerializeAsString());
  model.Clear();
  std::clock_t ticks = 0;  // of the processor
  RunWithStack(SmallStackBytesOfThisBuild(), [&] {
    const std::clock_t begin = std::clock();
    EXPECT_THAT(ImportOnnx(*bytes, bytes), IsOk());
    ticks = std::clock() - begin;
  });
  return static_cast<double>(ticks) / CLOCKS_PER_SEC;
}

// Imports a chain of `nodes` nodes; the seconds that takes.
double ImportChain(int nodes) {
  ::onnx::ModelProto model = ModelOf(InOut({kTwo}));
  for (int i = 0; i < nodes; ++i) {
    ::onnx::NodeProto* node = model.mutable_graph()->add_node();
    node->set_op_type("Relu");
    node->add_input(i == 0 ? "x" : absl::StrCat("v", i));
    node->add_output(i + 1 == nodes ? "y" : absl::StrCat("v", i + 1));
  }
  return SecondsOfImport(std::move(model));
}

TEST(ImportOnnxTest, ManyNodesTakeLinearTimeAndLittleStack) {
  constexpr int kFactor = 10;
  // Sanitizers take their time.
  const bool is_fast = SmallStackBytesOfThisBuild() == kSmallStackBytes;
  const int few = is_fast && testing::IsLongTest() ? 100'000 : 4'000;
  const double least = std::min(ImportChain(few), ImportChain(few));
  EXPECT_LT(ImportChain(kFactor * few), 4 * kFactor * least);
}

// Imports a chain of `layers` reshapes to shapes that are computed from the
// values before them, whose first dimension is `dim`; the seconds that takes.
double ImportReshapes(int layers, absl::string_view dim) {
  std::string nodes;
  for (int i = 0; i < layers; ++i) {
    const auto name = [&](absl::string_view what, int layer) {
      return layer == 0 && what == "v"        ? std::string("x")
             : layer == layers && what == "v" ? std::string("y")
                                              : absl::StrCat(what, layer);
    };
    absl::StrAppend(
        &nodes, "node { op_type: 'Shape' input: '", name("v", i), "' output: '",
        name("s", i), "' } node { op_type: 'Gather' input: '", name("s", i),
        "' input: 'zero' output: '", name("n", i),
        "' } node { op_type: 'Concat' input: '", name("n", i),
        "' input: 'all' output: '", name("t", i),
        "' attribute { name: 'axis' type: INT i: 0 } }"
        "node { op_type: 'Relu' input: '",
        name("v", i), "' output: '", name("r", i),
        "' } node { op_type: 'Reshape' input: '", name("r", i), "' input: '",
        name("t", i), "' output: '", name("v", i + 1), "' }");
  }
  return SecondsOfImport(ModelOf(absl::StrCat(
      nodes, "initializer { name: 'zero' dims: 1 data_type: 7 int64_data: 0 }",
      "initializer { name: 'all' dims: 1 data_type: 7 int64_data: -1 }",
      InOut({std::string(dim), kThree}))));
}

TEST(ImportOnnxTest, ShapesComputedInDeepModelsTakeLinearTime) {
  constexpr int kFactor = 8;
  const int few = SmallStackBytesOfThisBuild() == kSmallStackBytes
                      ? testing::LongOrShort(1000, 300)
                      : 200;
  for (const absl::string_view dim : {"dim_param: 'n'", ""}) {
    const double least =
        std::min(ImportReshapes(few, dim), ImportReshapes(few, dim));
    EXPECT_LT(ImportReshapes(kFactor * few, dim), 4 * kFactor * least);
  }
}

absl::StatusOr<onnx::Outputs> Twice(onnx::NodeContext& node) {
  return onnx::One(relay::Add(node.Input(0), node.Input(0)));
}

BATON_ONNX_CONVERTERS({{.op = "Twice",
                        .convert = Twice,
                        .first_opset = 2,
                        .last_opset = 3,
                        .domain = "com.acme"}});

TEST(ImportOnnxTest, OtherDomainsCanBeAdded) {
  ::onnx::ModelProto model = ModelOf(
      "node { op_type: 'Twice' domain: 'com.acme' input: 'x' output: 'y' }" +
      InOut({kTwo}));
  ::onnx::OperatorSetIdProto* opset = model.add_opset_import();
  opset->set_domain("com.acme");
  for (const auto& [version, is_served] :
       std::vector<std::pair<int, bool>>{{1, false}, {2, true}, {4, false}}) {
    opset->set_version(version);
    EXPECT_EQ(Import(model).ok(), is_served) << version;
  }
}

// Doubles a value until it is too large, and gives all values on the way.
TEST(ImportOnnxTest, LoopsThatDependOnDataAreFunctionsThatCallThemselves) {
  const auto module = Import(absl::StrCat(
      "node { op_type: 'Mul' input: 'x' input: 'x' output: 'square' }"
      "node { op_type: 'Loop' input: '' input: '' input: 'x' output: 'y'"
      "  output: 'all' attribute { name: 'body' type: GRAPH g {"
      "    node { op_type: 'Add' input: 'v' input: 'square' output: 'w' }"
      "    node { op_type: 'ReduceMax' input: 'w' output: 'm'"
      "      attribute { name: 'keepdims' type: INT i: 0 } }"
      "    node { op_type: 'Less' input: 'm' input: 'bound' output: 'c2' }"
      "    input { name: 'i' } input { name: 'c' } input { name: 'v' }"
      "    output { name: 'c2' } output { name: 'w' } output { name: 'm' }"
      "  } } }"
      "initializer { name: 'bound' data_type: 1 float_data: 10 }",
      InOut({kTwo}), "output { name: 'all' }"));
  ASSERT_THAT(module, IsOk());
  const std::string text = AsText(module->Find("main"));
  EXPECT_THAT(text, HasSubstr("let %loop"));
  // Values around the loop are computed once, and passed.
  EXPECT_THAT(text, HasSubstr("%captured_0"));
  const auto value = EvaluateFunction(
      *module, "main", {*Tensor::FromValues<float>({2}, {1.0f, 2.0f})});
  ASSERT_THAT(value, IsOk());
  EXPECT_EQ(value->fields()[0].tensor().AtAsDouble(0), 3.0);
  EXPECT_EQ(value->fields()[0].tensor().AtAsDouble(1), 10.0);
  EXPECT_EQ(value->fields()[1].tensor().TypeToString(), "float32[2]");
  EXPECT_EQ(value->fields()[1].tensor().AtAsDouble(0), 6.0);
}

// The result of the graph `graph`, whose output is `y`, for these inputs.
absl::StatusOr<Tensor> ResultOf(const std::string& graph,
                                const std::vector<Tensor>& inputs) {
  const auto module = Import(graph + " output { name: 'y' }");
  if (!module.ok()) return module.status();
  std::vector<relay::Value> args(inputs.begin(), inputs.end());
  auto value = EvaluateFunction(*module, "main", args);
  if (!value.ok()) return value.status();
  return value->tensor();
}

TEST(ImportOnnxTest, ShapesToExpandToMustFit) {
  const std::string expand =
      "node { op_type: 'Expand' input: 'x' input: 'shape' output: 'y' }" +
      Value("input", "x", {kTwo, kOne}) +
      Value("input", "shape", {kTwo}, /*elem_type=*/7);
  const Tensor x = *Tensor::FromValues<float>({2, 1}, {1, 2});
  const auto to = [&](std::vector<int64_t> shape) {
    return ResultOf(expand, {x, *Tensor::FromValues<int64_t>({2}, shape)});
  };
  const auto wider = to({1, 3});
  ASSERT_THAT(wider, IsOk());
  EXPECT_EQ(wider->TypeToString(), "float32[2, 3]");
  const auto none = to({2, 0});
  ASSERT_THAT(none, IsOk());
  EXPECT_EQ(none->TypeToString(), "float32[2, 0]");
  // The error names the operator and the node.
  EXPECT_THAT(std::string(to({3, 1}).status().message()),
              AllOf(HasSubstr("1:1: error: evaluating dyn.broadcast_to: "),
                    HasSubstr("y: Expand(x, shape) -> y")));
}

TEST(ImportOnnxTest, BoundsThatAreNoNumbersAreNone) {
  const Tensor x = *Tensor::FromValues<float>({3}, {0.5, -3, NAN});
  const auto clipped = ResultOf(
      "node { op_type: 'Clip' input: 'x' input: 'low' input: 'high'"
      "  output: 'y' }" +
          Value("input", "x", {kThree}) + Value("input", "low", {}) +
          Value("input", "high", {}),
      {x, Tensor::Scalar<float>(0), Tensor::Scalar<float>(NAN)});
  ASSERT_THAT(clipped, IsOk());
  EXPECT_EQ(clipped->AtAsDouble(0), 0.5);
  EXPECT_EQ(clipped->AtAsDouble(1), 0);
  EXPECT_TRUE(std::isnan(clipped->AtAsDouble(2)));
}

TEST(ImportOnnxTest, ASummandWithoutAFactorIsNotRead) {
  const Tensor one = *Tensor::FromValues<float>({1, 1}, {3});
  const auto sum = ResultOf(
      "node { op_type: 'Gemm' input: 'a' input: 'b' input: 'c' output: 'y'"
      "  attribute { name: 'beta' type: FLOAT f: 0 } }" +
          Value("input", "a", {kOne, kOne}) +
          Value("input", "b", {kOne, kOne}) + Value("input", "c", {kOne}),
      {one, one, *Tensor::FromValues<float>({1}, {NAN})});
  ASSERT_THAT(sum, IsOk());
  EXPECT_EQ(sum->AtAsDouble(0), 9);
}

TEST(ImportOnnxTest, ShiftsByAllBitsLeaveNone) {
  for (const char* direction : {"LEFT", "RIGHT"}) {
    const auto shifted = ResultOf(
        absl::StrCat("node { op_type: 'BitShift' input: 'x' input: 'by'"
                     "  output: 'y' attribute { name: 'direction'"
                     "  type: STRING s: '",
                     direction, "' } }") +
            Value("input", "x", {kThree}, /*elem_type=*/2) +
            Value("input", "by", {kThree}, /*elem_type=*/2),
        {*Tensor::FromValues<uint8_t>({3}, {255, 255, 255}),
         *Tensor::FromValues<uint8_t>({3}, {0, 8, 200})});
    ASSERT_THAT(shifted, IsOk());
    EXPECT_EQ(shifted->AtAsDouble(0), 255);
    EXPECT_EQ(shifted->AtAsDouble(1), 0);
    EXPECT_EQ(shifted->AtAsDouble(2), 0);
  }
}

TEST(ImportOnnxTest, InputsCanBecomeConstants) {
  const std::string graph =
      "node { op_type: 'Reshape' input: 'x' input: 's' output: 'y' }"
      "input { name: 's' type { tensor_type { elem_type: 7"
      "  shape { dim { dim_value: 1 } } } } }" +
      InOut({kTwo, kThree});
  const auto dynamic = Import(graph);
  ASSERT_THAT(dynamic, IsOk());
  EXPECT_THAT(AsText(dynamic->Find("main")), HasSubstr("dyn.reshape(%x, %s"));
  OnnxImportOptions options;
  options.input_values.emplace("s",
                               *Tensor::FromValues<int64_t>({1}, {int64_t{6}}));
  const auto known = Import(graph, options);
  ASSERT_THAT(known, IsOk());
  EXPECT_THAT(AsText(known->Find("main")),
              HasSubstr("reshape(%x, newshape=[6])"));
  EXPECT_EQ(known->Find<Function>("main")->params().size(), 1u);

  const auto error_of = [&](const std::string& name, Tensor value) {
    OnnxImportOptions wrong;
    wrong.input_values.emplace(name, std::move(value));
    const absl::Status status = Import(graph, wrong).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, ""));
    return std::string(status.message());
  };
  EXPECT_THAT(error_of("t", Tensor()), HasSubstr("no such input"));
  EXPECT_THAT(error_of("s", Tensor::Scalar<int64_t>(6)),
              HasSubstr("input 's' is int64, not Tensor[(1), int64]"));
  EXPECT_THAT(error_of("s", *Tensor::FromValues<int32_t>({1}, {6})),
              HasSubstr("is Tensor[(1), int32], not Tensor[(1), int64]"));
}

// The axes decide about the rank.
TEST(ImportOnnxTest, ValuesAtHandAreTakenWhereTheyAreNeeded) {
  const std::string graph =
      "node { op_type: 'ReduceMax' input: 'x' input: 'axes' output: 'm' "
      "attribute { name: 'keepdims' type: INT i: 0 } }"
      "node { op_type: 'Add' input: 'm' input: 'z' output: 'y' }"
      "input { name: 'axes' type { tensor_type { elem_type: 7"
      "  shape { dim { dim_param: 'k' } } } } }" +
      Value("input", "z", {kThree}) + InOut({kTwo, kThree});
  const ::onnx::ModelProto model = ModelOf(graph, 18);
  EXPECT_THAT(Import(model).status(),
              StatusIs(absl::StatusCode::kUnimplemented, "'axes'"));
  OnnxValuesUsed used;
  OnnxImportOptions options;
  options.used = &used;
  options.values_at_hand.emplace(
      "axes", *Tensor::FromValues<int64_t>({1}, {int64_t{0}}));
  options.values_at_hand.emplace(
      "z", *Tensor::FromValues<float>({3}, {1.0f, 2.0f, 3.0f}));
  const auto module = Import(model, options);
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(module->Find<Function>("main")->params().size(), 2u);
  EXPECT_EQ(used.values, std::vector<std::string>{"axes"});
  EXPECT_TRUE(used.shapes.empty());

  options.input_values.emplace("axes",
                               *Tensor::FromValues<int64_t>({1}, {int64_t{1}}));
  EXPECT_THAT(Import(model, options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, "input_values"));
}

TEST(ImportOnnxTest, OfInputsOnWhoseShapesMuchDependsTheShapesAreTaken) {
  const std::string graph =
      "node { op_type: 'MaxUnpool' input: 'x' input: 'i' output: 'y' "
      "attribute { name: 'kernel_shape' type: INTS ints: 2 ints: 2 } "
      "attribute { name: 'strides' type: INTS ints: 2 ints: 2 } }"
      "input { name: 'i' type { tensor_type { elem_type: 7 shape {"
      "  dim { dim_value: 1 } dim { dim_value: 1 }"
      "  dim { dim_param: 'h' } dim { dim_param: 'w' } } } } }" +
      InOut({kOne, kOne, "dim_param: 'h'", "dim_param: 'w'"});
  OnnxValuesUsed used;
  OnnxImportOptions options;
  options.used = &used;
  options.values_at_hand.emplace(
      "x", *Tensor::FromValues<float>({1, 1, 1, 2}, {1.0f, 2.0f}));
  options.values_at_hand.emplace(
      "i",
      *Tensor::FromValues<int64_t>({1, 1, 1, 2}, {int64_t{0}, int64_t{3}}));
  EXPECT_THAT(Import(graph, options), IsOk());
  EXPECT_TRUE(used.values.empty());
  EXPECT_EQ(used.shapes.size(), 2u);
}

TEST(ImportOnnxTest, AllShapesAreTakenForAModuleThatRunsWithThemOnly) {
  const std::string graph = "node { op_type: 'Relu' input: 'x' output: 'y' }" +
                            InOut({"dim_param: 'n'", kThree});
  OnnxValuesUsed used;
  OnnxImportOptions options;
  options.used = &used;
  options.takes_all_shapes = true;
  const auto import_with = [&](const TensorShape& shape) {
    options.values_at_hand.clear();
    options.values_at_hand.emplace("x",
                                   *Tensor::Zeros(DType::Float(32), shape));
    return Import(graph, options);
  };
  const auto module = import_with({2, 3});
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(module->Find<Function>("main")->params()[0]->type().ToString(),
            "Tensor[(2, 3), float32]");
  EXPECT_EQ(used.shapes, std::vector<std::string>{"x"});
  for (const TensorShape& other : {TensorShape{2, 4}, TensorShape{3}}) {
    EXPECT_THAT(import_with(other).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "input 'x' has the shape (n, 3), but the tensor that "
                         "was given for it has ("));
  }
}

TEST(ImportOnnxTest, ValuesThatDecideAboutShapesAreTakenWithThem) {
  const std::string graph =
      "node { op_type: 'ReduceSum' input: 'x' input: 'axes' output: 'y' }"
      "input { name: 'axes' type { tensor_type { elem_type: 7"
      "  shape { dim { dim_value: 1 } } } } }" +
      InOut({"dim_param: 'n'", kThree});
  OnnxValuesUsed used;
  OnnxImportOptions options;
  options.used = &used;
  options.values_at_hand.emplace(
      "axes", *Tensor::FromValues<int64_t>({1}, {int64_t{0}}));
  options.values_at_hand.emplace("x", *Tensor::Zeros(DType::Float(32), {2, 3}));
  EXPECT_THAT(Import(graph, options), IsOk());
  EXPECT_TRUE(used.values.empty());
  options.takes_all_shapes = true;
  const auto module = Import(graph, options);
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(used.values, std::vector<std::string>{"axes"});
  EXPECT_EQ(used.shapes, std::vector<std::string>{"x"});
  EXPECT_EQ(module->Find<Function>("main")->body()->type().ToString(),
            "Tensor[(1, 3), float32]");
}

TEST(ImportOnnxTest, IntegersAndBoolsThatDecideAboutShapesAreTakenWithThem) {
  const std::string graph =
      "node { op_type: 'Range' input: 'from' input: 'to' input: 'step'"
      "  output: 'all' }"
      "node { op_type: 'Compress' input: 'all' input: 'chosen' output: 'y' }" +
      Value("input", "from", {}, /*elem_type=*/7) +
      Value("input", "to", {}, /*elem_type=*/7) +
      Value("input", "step", {}, /*elem_type=*/7) +
      Value("input", "chosen", {kThree}, /*elem_type=*/9) +
      "output { name: 'y' }";
  OnnxValuesUsed used;
  OnnxImportOptions options;
  options.used = &used;
  options.takes_all_shapes = true;
  options.values_at_hand.emplace("from", Tensor::Scalar<int64_t>(1));
  options.values_at_hand.emplace("to", Tensor::Scalar<int64_t>(4));
  options.values_at_hand.emplace("step", Tensor::Scalar<int64_t>(1));
  options.values_at_hand.emplace(
      "chosen", *Tensor::FromValues<bool>({3}, {true, false, true}));
  const auto module = Import(graph, options);
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(used.values,
            (std::vector<std::string>{"from", "to", "step", "chosen"}));
  EXPECT_EQ(module->Find<Function>("main")->body()->type().ToString(),
            "Tensor[(2), int64]");
}

TEST(ImportOnnxTest, FlagsDecideBetweenBranchesOfTwoRanks) {
  // A branch removes an axis of one element.
  const std::string graph =
      "node { op_type: 'Shape' input: 'x' output: 's' }"
      "node { op_type: 'Gather' input: 's' input: 'i' output: 'n' }"
      "node { op_type: 'Equal' input: 'n' input: 'rate' output: 'is_one' }"
      "node { op_type: 'If' input: 'is_one' output: 'y'"
      "  attribute { name: 'then_branch' type: GRAPH g { name: 't'"
      "    node { op_type: 'Squeeze' input: 'x' input: 'i' output: 'a' }"
      "    output { name: 'a' } } }"
      "  attribute { name: 'else_branch' type: GRAPH g { name: 'e'"
      "    node { op_type: 'Identity' input: 'x' output: 'b' }"
      "    output { name: 'b' } } } }"
      "initializer { name: 'i' data_type: 7 dims: 1 int64_data: 0 }"
      "input { name: 'rate' type { tensor_type { elem_type: 7"
      "  shape { dim { dim_value: 1 } } } } }" +
      InOut({"dim_param: 'n'", kThree});
  EXPECT_THAT(
      Import(graph).status(),
      StatusIs(absl::StatusCode::kUnimplemented,
               "it depends on inputs: give --input_values=rate:VALUE and "
               "--input_shapes=x:[...]; baton-run takes them from --inputs"));
  OnnxImportOptions options;
  // A branch that is not taken does not suit these shapes.
  options.input_shapes.emplace("x", std::vector<int64_t>{2, 3});
  EXPECT_THAT(
      Import(graph, options).status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "it depends on inputs: give --input_values=rate:VALUE;"));
  options.input_values.emplace("rate",
                               *Tensor::FromValues<int64_t>({1}, {int64_t{1}}));
  EXPECT_THAT(Import(graph, options), IsOk());
  options.input_shapes["x"] = {1, 3};
  EXPECT_THAT(Import(graph, options), IsOk());
}

TEST(ImportOnnxTest, DataDecidesBetweenBranchesOfTwoExtents) {
  const std::string graph =
      "node { op_type: 'ReduceMax' input: 'x' output: 't'"
      "  attribute { name: 'keepdims' type: INT i: 0 } }"
      "node { op_type: 'Greater' input: 't' input: 'z' output: 'c' }"
      "node { op_type: 'If' input: 'c' output: 'y'"
      "  attribute { name: 'then_branch' type: GRAPH g { name: 't'"
      "    node { op_type: 'Concat' input: 'x' input: 'x' output: 'a'"
      "      attribute { name: 'axis' type: INT i: 0 } }"
      "    output { name: 'a' } } }"
      "  attribute { name: 'else_branch' type: GRAPH g { name: 'e'"
      "    node { op_type: 'Identity' input: 'x' output: 'b' }"
      "    output { name: 'b' } } } }"
      "initializer { name: 'z' data_type: 1 float_data: 1 }" +
      InOut({kTwo});
  EXPECT_THAT(Import(graph).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "model.onnx:3:1: error: If: the branches give tensors "
                       "of the shapes (4) and (2): the condition must be "
                       "known"));
  OnnxImportOptions options;
  options.values_at_hand.emplace("x", *Tensor::FromValues<float>({2}, {1, 2}));
  const auto module = Import(graph, options);
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(module->Find<Function>("main")->body()->type().ToString(),
            "Tensor[(4), float32]");
}

// A sequence of two tensors and an optional of none.
TEST(ImportOnnxTest, SequencesBecomeParametersForTheirTensors) {
  const std::string graph =
      "node { op_type: 'SequenceInsert' input: 's' input: 'x' output: 't' }"
      "node { op_type: 'ConcatFromSequence' input: 't' output: 'y' "
      "attribute { name: 'axis' type: INT i: 0 } }"
      "node { op_type: 'OptionalHasElement' input: 'o' output: 'h' }"
      "input { name: 's' type { sequence_type { elem_type { tensor_type {"
      "  elem_type: 1 } } } } }"
      "input { name: 'o' type { optional_type { elem_type { tensor_type {"
      "  elem_type: 1 } } } } }"
      "output { name: 'h' type { tensor_type { elem_type: 9 } } }" +
      InOut({kTwo});
  const ::onnx::ModelProto model = ModelOf(graph, 18);
  EXPECT_THAT(Import(model).status(),
              StatusIs(absl::StatusCode::kUnimplemented, "must be given"));
  OnnxValuesUsed used;
  OnnxImportOptions options;
  options.used = &used;
  options.parts_at_hand["o"] = {};
  options.parts_at_hand["s"].tensors = {
      *Tensor::FromValues<float>({1}, {1.0f}),
      *Tensor::FromValues<float>({3}, {2.0f, 3.0f, 4.0f})};
  const auto module = Import(model, options);
  ASSERT_THAT(module, IsOk());
  const Function main = module->Find<Function>("main");
  ASSERT_EQ(main->params().size(), 3u);
  EXPECT_EQ(main->params()[0]->name(), "s_0");
  EXPECT_EQ(main->params()[1]->type().ToString(), "Tensor[(3), float32]");
  EXPECT_EQ(main->body()->type().ToString(), "(bool, Tensor[(6), float32])");
  EXPECT_EQ(used.shapes, (std::vector<std::string>{"s", "o"}));
  EXPECT_THAT(
      Import(ModelOf("input { name: 's_1' type { tensor_type { elem_type: 1"
                     "  shape { dim { dim_value: 2 } } } } }" +
                         graph,
                     18),
             options)
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "would have the name 's_1', which another input has"));
}

TEST(ImportOnnxTest, AxesThatAreComputedReduceAtRunTime) {
  const std::string graph =
      "node { op_type: 'ReduceSum' input: 'x' input: 'axes' output: 'y' }"
      "input { name: 'axes' type { tensor_type { elem_type: 7"
      "  shape { dim { dim_param: 'k' } } } } }" +
      InOut({kTwo, kThree});
  const auto module = Import(graph);
  ASSERT_THAT(module, IsOk());
  const Tensor x =
      *Tensor::FromValues<float>({2, 3}, {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f});
  const auto sum_over = [&](const std::vector<int64_t>& axes) {
    const auto result =
        EvaluateFunction(*module, "main",
                         {*Tensor::FromValues<int64_t>(
                              {static_cast<int64_t>(axes.size())}, axes),
                          x});
    EXPECT_THAT(result, IsOk());
    return result.ok() ? result->tensor() : Tensor();
  };
  EXPECT_EQ(sum_over({-1}), *Tensor::FromValues<float>({2, 1}, {6.0f, 15.0f}));
  EXPECT_EQ(sum_over({0}),
            *Tensor::FromValues<float>({1, 3}, {5.0f, 7.0f, 9.0f}));
  EXPECT_EQ(sum_over({}), *Tensor::FromValues<float>({1, 1}, {21.0f}));
}

// Vectors of unknown numbers say how many they are by their shape.
TEST(ImportOnnxTest, AbsurdNumbersOfAxesAreRefused) {
  const std::string numbers =
      "input { name: 's' type { tensor_type { elem_type: 7 shape {"
      "  dim { dim_value: 1152921504606846975 } } } } }" +
      InOut({kTwo, kThree});
  EXPECT_THAT(
      Import("node { op_type: 'Expand' input: 'x' input: 's' output: 'y' }" +
             numbers)
          .status(),
      StatusIs(absl::StatusCode::kResourceExhausted, "limits.max_rank"));
  EXPECT_THAT(
      Import("node { op_type: 'Slice' input: 'x' input: 's' input: 's'"
             "  output: 'y' }" +
             numbers)
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, "more starts than axes"));
}

// Exporters write them where a shape decides whether an axis is removed.
TEST(ImportOnnxTest, BranchesOfOtherRanks) {
  const std::string graph =
      "node { op_type: 'Shape' input: 'x' output: 's' }"
      "node { op_type: 'Equal' input: 's' input: 'one' output: 'c' }"
      "initializer { name: 'one' data_type: 7 dims: 1 int64_data: 1 }"
      "initializer { name: 'zero' data_type: 7 dims: 1 int64_data: 0 }"
      "node { op_type: 'If' input: 'c' output: 'y' attribute {"
      "  name: 'then_branch' type: GRAPH g { name: 't' node {"
      "    op_type: 'Squeeze' input: 'x' input: 'zero' output: 'a' } output { "
      "name: 'a' } } }"
      " attribute { name: 'else_branch' type: GRAPH g { name: 'e' node {"
      "    op_type: 'Identity' input: 'x' output: 'b' } output { name: 'b' } } "
      "} }" +
      InOut({"dim_param: 'n'"});
  EXPECT_THAT(Import(graph).status(),
              StatusIs(absl::StatusCode::kUnimplemented, "input_shapes"));
  OnnxImportOptions options;
  options.input_shapes["x"] = {3};
  EXPECT_THAT(Import(graph, options), IsOk());
}

// `count` numbers between -1/2 and 1/2, as the data of an initializer.
std::string FloatData(int64_t count, int start) {
  std::string result = "float_data: [";
  for (int64_t i = 0; i < count; ++i) {
    absl::StrAppend(&result, i == 0 ? "" : ", ",
                    ((start + 37 * i) % 101 - 50) / 100.0);
  }
  return result + "]";
}

// The results of a recurrent network of 5 steps of 3 elements, a batch of 2 and
// 4 hidden elements, whose number of steps has a symbol or is known.
absl::StatusOr<baton::relay::Value> SequenceResults(
    const std::string& op, int gates, const std::string& direction,
    bool has_lengths, bool knows_steps) {
  const int directions = direction == "bidirectional" ? 2 : 1;
  const int rows = gates * 4;
  const auto initializer = [&](const char* name, int columns, int start) {
    const std::string extent =
        columns > 0 ? absl::StrCat(" dims: ", rows, " dims: ", columns)
                    : absl::StrCat(" dims: ", 2 * rows);
    return absl::StrCat(
        "initializer { name: '", name, "' data_type: 1 dims: ", directions,
        extent, " ", FloatData(directions * rows * std::max(columns, 2), start),
        "}");
  };
  const bool has_cell = op == "LSTM";
  const absl::StatusOr<IRModule> module = Import(absl::StrCat(
      "node { op_type: '", op,
      "' input: 'x' input: 'w' input: 'r' input: 'b' input: '",
      has_lengths ? "lengths" : "", "' output: 'y' output: 'h' ",
      has_cell ? "output: 'c'" : "",
      " attribute { name: 'hidden_size' type: INT i: 4 }"
      " attribute { name: 'direction' type: STRING s: '",
      direction, "' } }", initializer("w", 3, 1), initializer("r", 4, 2),
      initializer("b", 0, 3),
      "initializer { name: 'lengths' data_type: 6 dims: 2 int32_data: [5, 3] }",
      Value(
          "input", "x",
          {knows_steps ? "dim_value: 5" : "dim_param: 'steps'", kTwo, kThree}),
      "output { name: 'y' } output { name: 'h' }",
      has_cell ? "output { name: 'c' }" : ""));
  if (!module.ok()) return module.status();
  EXPECT_EQ(AsText(module->Find("main")).find("let %loop") == std::string::npos,
            knows_steps);
  std::vector<float> data;
  for (int i = 0; i < 30; ++i) data.push_back(((i * 31) % 17 - 8) / 8.0f);
  return EvaluateFunction(
      *module, "main",
      {*Tensor::FromValues<float>({5, 2, 3}, absl::MakeConstSpan(data))});
}

TEST(ImportOnnxTest, AnUnknownNumberOfStepsGivesTheSameResults) {
  for (const auto& [op, gates] :
       {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (const bool has_lengths : {false, true}) {
        SCOPED_TRACE(absl::StrCat(op, " ", direction, " ", has_lengths));
        const auto known =
            SequenceResults(op, gates, direction, has_lengths, true);
        const auto unknown =
            SequenceResults(op, gates, direction, has_lengths, false);
        ASSERT_THAT(known, IsOk());
        ASSERT_THAT(unknown, IsOk());
        ASSERT_EQ(known->fields().size(), unknown->fields().size());
        for (size_t i = 0; i < known->fields().size(); ++i) {
          const Tensor& a = known->fields()[i].tensor();
          const Tensor& b = unknown->fields()[i].tensor();
          ASSERT_EQ(a.TypeToString(), b.TypeToString());
          EXPECT_EQ(a.bytes(), b.bytes());
        }
      }
    }
  }
}

// Each input of a recurrent network in turn has an extent too many or too few.
TEST(ImportOnnxTest, ShapesOfRecurrentNetworksMustFit) {
  const std::vector<std::pair<std::string, std::vector<int64_t>>> shapes = {
      {"X", {5, 2, 3}},         {"W", {1, 16, 3}},
      {"R", {1, 16, 4}},        {"B", {1, 32}},
      {"sequence_lens", {2}},   {"initial_h", {1, 2, 4}},
      {"initial_c", {1, 2, 4}}, {"P", {1, 12}}};
  const auto import = [&shapes](size_t changed, size_t axis, int64_t by) {
    std::string graph = "node { op_type: 'LSTM' output: 'y' ";
    std::string inputs;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const auto& [name, shape] = shapes[i];
      absl::StrAppend(&graph, "input: '", name, "' ");
      std::vector<std::string> dims;
      for (size_t k = 0; k < shape.size(); ++k) {
        const bool is_changed = i == changed && k == axis;
        dims.push_back(
            absl::StrCat("dim_value: ", shape[k] + (is_changed ? by : 0)));
      }
      absl::StrAppend(
          &inputs, Value("input", name, dims, name == "sequence_lens" ? 6 : 1));
    }
    absl::StrAppend(&graph,
                    "attribute { name: 'hidden_size' type: INT i: 4 } } ",
                    inputs, "output { name: 'y' } ");
    return Import(graph).status();
  };
  ASSERT_THAT(import(shapes.size(), 0, 0), IsOk());
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t axis = 0; axis < shapes[i].second.size(); ++axis) {
      if (i == 0 && axis == 0) continue;  // the number of steps
      for (const int64_t by : {-1, 1, 5}) {
        EXPECT_EQ(import(i, axis, by).code(),
                  absl::StatusCode::kInvalidArgument)
            << shapes[i].first << " axis " << axis << " by " << by;
      }
    }
  }
}

// Slice and Resize with an input whose shape does not fit the others, computed.
TEST(ImportOnnxTest, VectorsOfAxesMustFit) {
  const auto import = [](const std::string& op,
                         const std::vector<std::vector<int64_t>>& shapes) {
    std::string graph =
        absl::StrCat("node { op_type: '", op, "' output: 'y' input: 'x' ");
    std::string inputs = Value("input", "x", {kThree, kThree});
    for (size_t i = 0; i < shapes.size(); ++i) {
      const std::string name = absl::StrCat("i", i);
      const bool is_absent = shapes[i] == std::vector<int64_t>{-1};
      absl::StrAppend(&graph, "input: '", is_absent ? "" : name, "' ");
      if (is_absent) continue;
      std::vector<std::string> dims;
      for (const int64_t dim : shapes[i]) {
        dims.push_back(absl::StrCat("dim_value: ", dim));
      }
      absl::StrAppend(&inputs, Value("input", name, dims, 7));
    }
    return Import(absl::StrCat(graph, "} ", inputs, "output { name: 'y' } "))
        .status()
        .code();
  };
  const std::vector<int64_t> absent = {-1};
  const auto invalid = absl::StatusCode::kInvalidArgument;
  const auto ok = absl::StatusCode::kOk;
  EXPECT_EQ(import("Slice", {{2}, {2}, {2}, {2}}), ok);
  for (size_t i = 0; i < 4; ++i) {
    for (const std::vector<int64_t>& shape :
         {std::vector<int64_t>{}, {1}, {3}, {0}, {2, 1}}) {
      std::vector<std::vector<int64_t>> shapes(4, {2});
      shapes[i] = shape;
      EXPECT_EQ(import("Slice", shapes), invalid) << i;
    }
  }
  EXPECT_EQ(import("Resize", {absent, absent, {2}}), ok);
  EXPECT_EQ(import("Resize", {absent, absent, {0}}), invalid);
  EXPECT_EQ(import("Resize", {absent, absent, {3}}), invalid);
  EXPECT_EQ(import("Resize", {absent, absent, {}}), invalid);
}

// The result of Einsum for operands of these shapes. If the first extent is
// symbolic, the operator einsum computes it.
absl::StatusOr<baton::relay::Value> EinsumResult(
    absl::string_view equation, const std::vector<std::vector<int64_t>>& shapes,
    bool knows_extents) {
  std::string graph = "node { op_type: 'Einsum' output: 'y' ";
  std::string inputs;
  std::vector<baton::relay::Value> values;
  for (const std::vector<int64_t>& shape : shapes) {
    const std::string name = absl::StrCat("x", values.size());
    absl::StrAppend(&graph, "input: '", name, "' ");
    std::vector<std::string> dims;
    int64_t size = 1;
    for (const int64_t extent : shape) {
      dims.push_back(absl::StrCat("dim_value: ", extent));
      size *= extent;
    }
    if (!knows_extents && values.empty()) dims[0] = "dim_param: 'n'";
    absl::StrAppend(&inputs, Value("input", name, dims));
    std::vector<float> data;
    for (int64_t i = 0; i < size; ++i) {
      data.push_back(static_cast<float>((i * 31) % 17 - 8) / 8.0f);
    }
    values.push_back(
        *Tensor::FromValues<float>(shape, absl::MakeConstSpan(data)));
  }
  absl::StrAppend(&graph, "attribute { name: 'equation' type: STRING s: '",
                  equation, "' } } ", inputs, "output { name: 'y' } ");
  const absl::StatusOr<IRModule> module = Import(graph);
  if (!module.ok()) return module.status();
  const bool has_product =
      AsText(module->Find("main")).find("batch_matmul") != std::string::npos;
  EXPECT_EQ(has_product,
            knows_extents && equation.find('k') != absl::string_view::npos)
      << equation;
  return EvaluateFunction(*module, "main", values);
}

// Products of matrices, which have an axis k, and all others.
TEST(ImportOnnxTest, EinsumOfKnownExtents) {
  struct Case {
    const char* equation;
    std::vector<std::vector<int64_t>> shapes;
  };
  for (const Case& c :
       std::vector<Case>{{"i,j->ij", {{3}, {4}}},
                         {"ij,ij->ij", {{3, 4}, {3, 4}}},
                         {"ij,i->ji", {{3, 4}, {3}}},
                         {"j,ij->ij", {{4}, {3, 4}}},
                         {"ij,ij->j", {{3, 4}, {3, 4}}},
                         {"ij,j->i", {{3, 4}, {4}}},
                         {"bij,bj->ib", {{2, 3, 4}, {2, 4}}},
                         {"ij,jl->l", {{3, 4}, {4, 5}}},
                         {"ii->i", {{3, 3}}},
                         {"iji->ji", {{3, 2, 3}}},
                         {"...ii,...i->...", {{2, 3, 3}, {2, 3}}},
                         {"...i,...j->...ij", {{2, 3}, {2, 4}}},
                         {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
                         {"ij,j,jk->ki", {{3, 4}, {4}, {4, 5}}}}) {
    const auto known = EinsumResult(c.equation, c.shapes, true);
    const auto unknown = EinsumResult(c.equation, c.shapes, false);
    ASSERT_THAT(known, IsOk()) << c.equation;
    ASSERT_THAT(unknown, IsOk()) << c.equation;
    const Tensor& x = known->tensor();
    const Tensor& y = unknown->tensor();
    ASSERT_EQ(x.TypeToString(), y.TypeToString()) << c.equation;
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      EXPECT_NEAR(x.AtAsDouble(i), y.AtAsDouble(i), 1e-5) << c.equation;
    }
  }
}

// --- Random numbers --------------------------------------------------------

// The result of `main` of a graph without inputs; a tuple for several outputs.
absl::StatusOr<baton::relay::Value> RandomValue(const std::string& graph) {
  absl::StatusOr<IRModule> module = Import(graph);
  if (!module.ok()) return module.status();
  return EvaluateFunction(*module, "main", {});
}

std::vector<float> RandomFloats(const std::string& node) {
  const auto value = RandomValue(node + "output { name: 'y' }");
  EXPECT_THAT(value, IsOk());
  if (!value.ok()) return {};
  const auto floats = value->tensor().span<float>();
  return {floats.begin(), floats.end()};
}

std::string RandomNode(absl::string_view op, absl::string_view more) {
  return absl::StrCat("node { op_type: '", op, "' output: 'y' attribute {",
                      " name: 'shape' type: INTS ints: 2 ints: 4096 } ", more,
                      " } ");
}

std::string FloatAttribute(absl::string_view name, double value) {
  return absl::StrCat("attribute { name: '", name, "' type: FLOAT f: ", value,
                      " } ");
}

TEST(ImportOnnxTest, RandomNumbersAreFunctionsOfTheSeed) {
  const auto draw = [](const std::string& more) {
    return RandomFloats(RandomNode("RandomUniform", more));
  };
  const std::vector<float> first = draw(FloatAttribute("seed", 1));
  ASSERT_EQ(first.size(), 8192u);
  EXPECT_EQ(first, draw(FloatAttribute("seed", 1)));
  EXPECT_NE(first, draw(FloatAttribute("seed", 2)));
  EXPECT_NE(draw(FloatAttribute("seed", 0.25)),
            draw(FloatAttribute("seed", 0.5)));
  // Without a seed: that of the output's name.
  EXPECT_EQ(draw(""), draw(""));
  EXPECT_NE(draw(""), first);
  const auto two = RandomValue(
      "node { op_type: 'RandomUniform' output: 'y' attribute {"
      "  name: 'shape' type: INTS ints: 8 } }"
      "node { op_type: 'RandomUniform' output: 'z' attribute {"
      "  name: 'shape' type: INTS ints: 8 } }"
      "output { name: 'y' } output { name: 'z' }");
  ASSERT_THAT(two, IsOk());
  EXPECT_FALSE(two->fields()[0].tensor() == two->fields()[1].tensor());
}

TEST(ImportOnnxTest, RandomNumbersHaveTheirDistribution) {
  const std::vector<float> uniform = RandomFloats(RandomNode(
      "RandomUniform", FloatAttribute("low", 2) + FloatAttribute("high", 6)));
  const std::vector<float> normal = RandomFloats(RandomNode(
      "RandomNormal", FloatAttribute("mean", 3) + FloatAttribute("scale", 2)));
  const auto mean = [](const std::vector<float>& x) {
    double sum = 0;
    for (const float v : x) sum += v;
    return sum / static_cast<double>(x.size());
  };
  const auto deviation = [&mean](const std::vector<float>& x) {
    const double middle = mean(x);
    double sum = 0;
    for (const float v : x) sum += (v - middle) * (v - middle);
    return std::sqrt(sum / static_cast<double>(x.size()));
  };
  EXPECT_THAT(uniform, ::testing::Each(AllOf(Ge(2), Lt(6))));
  // Four standard errors of 8192 numbers.
  EXPECT_NEAR(mean(uniform), 4, 0.051);
  EXPECT_NEAR(deviation(uniform), 4 / std::sqrt(12), 0.051);
  EXPECT_NEAR(mean(normal), 3, 0.088);
  EXPECT_NEAR(deviation(normal), 2, 0.063);
}

TEST(ImportOnnxTest, RandomNumbersHaveTheTypeAndShapeOfAnInput) {
  const auto module = Import(
      "node { op_type: 'RandomNormalLike' input: 'x' output: 'y' }"
      "node { op_type: 'RandomUniformLike' input: 'x' output: 'z' attribute {"
      "  name: 'dtype' type: INT i: 10 } }" +
      InOut({kTwo, kThree}) + "output { name: 'z' }");
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(module->Find<Function>("main")->result_type().ToString(),
            "(Tensor[(2, 3), float32], Tensor[(2, 3), float16])");
}

TEST(ImportOnnxTest, CategoriesAreDrawnByTheirProbabilities) {
  // Logarithms of probabilities: of 0, 3/4 and 1/4.
  const auto value = RandomValue(
      "initializer { name: 'x' data_type: 1 dims: 1 dims: 3"
      "  float_data: -1000 float_data: 1.0986123 float_data: 0 }"
      "node { op_type: 'Multinomial' input: 'x' output: 'y' attribute {"
      "  name: 'sample_size' type: INT i: 4096 } attribute {"
      "  name: 'dtype' type: INT i: 7 } } output { name: 'y' }");
  ASSERT_THAT(value, IsOk());
  int counts[3] = {};
  for (const int64_t k : value->tensor().span<int64_t>()) ++counts[k];
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 3072, 111);
  EXPECT_EQ(counts[1] + counts[2], 4096);
}

TEST(ImportOnnxTest, BernoulliAndDropoutChooseElements) {
  const std::string ones =
      "node { op_type: 'ConstantOfShape' input: 's' output: 'x' attribute {"
      "  name: 'value' type: TENSOR t { data_type: 1 dims: 1 float_data: 0.25"
      "  } } } initializer { name: 's' data_type: 7 dims: 1 int64_data: 4096 }";
  int chosen = 0;
  for (const float v : RandomFloats(
           ones + "node { op_type: 'Bernoulli' input: 'x' output: 'y' }")) {
    EXPECT_THAT(v, AnyOf(0, 1));
    chosen += v == 1 ? 1 : 0;
  }
  EXPECT_NEAR(chosen, 1024, 111);
  const auto value = RandomValue(
      ones +
      "initializer { name: 'r' data_type: 1 float_data: 0.75 }"
      "initializer { name: 't' data_type: 9 int32_data: 1 }"
      "node { op_type: 'Dropout' input: 'x' input: 'r' input: 't' output: 'y'"
      "  output: 'm' attribute { name: 'seed' type: INT i: 3 } } output { "
      "name: 'y' } output { name: 'm' }");
  ASSERT_THAT(value, IsOk());
  int kept = 0;
  for (int64_t i = 0; i < 4096; ++i) {
    const bool is_kept = value->fields()[1].tensor().AtAsInt64(i) != 0;
    kept += is_kept ? 1 : 0;
    EXPECT_EQ(value->fields()[0].tensor().AtAsDouble(i), is_kept ? 1 : 0);
  }
  EXPECT_NEAR(kept, 1024, 111);
}

TEST(ImportOnnxTest, RandomNumbersThatCannotBeAreErrors) {
  EXPECT_THAT(
      Import("node { op_type: 'RandomUniform' output: 'y' attribute {"
             "  name: 'shape' type: INTS ints: -1 } } output { name: 'y' }"),
      StatusIs(absl::StatusCode::kInvalidArgument, "the extent -1"));
  EXPECT_THAT(Import(RandomNode("RandomNormal",
                                "attribute { name: 'dtype' type: INT i: 6 }") +
                     "output { name: 'y' }"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "random numbers of type int32"));
}

// The elements of the result, for x of ones; empty if there is an error.
std::vector<double> ValuesOf(const std::string& graph,
                             const TensorShape& shape) {
  const auto module = Import(graph);
  EXPECT_THAT(module, IsOk());
  if (!module.ok()) return {};
  const auto value = EvaluateFunction(
      *module, "main",
      {baton::relay::Value(*Tensor::Ones(DType::Float(32), shape))});
  EXPECT_THAT(value, IsOk());
  std::vector<double> result;
  for (int64_t i = 0; value.ok() && i < value->tensor().num_elements(); ++i) {
    result.push_back(value->tensor().AtAsDouble(i));
  }
  return result;
}

// `indices` and `dims` of a tensor with the values 7 and 8.
std::string Sparse(absl::string_view field, absl::string_view indices,
                   absl::string_view dims) {
  return absl::StrCat(field,
                      " { values { name: 'a' dims: 2 data_type: 1"
                      " float_data: [7, 8] } indices { data_type: 7 ",
                      indices, " } ", dims, " } ");
}

TEST(ImportOnnxTest, SparseTensorsAreFilledUp) {
  const std::string add =
      "node { op_type: 'Add' input: 'x' input: 'a' output: 'y' }" +
      InOut({kTwo, kThree});
  const std::string dims = "dims: 2 dims: 3";
  for (const char* indices : {"dims: 2 int64_data: [1, 5]",
                              "dims: [2, 2] int64_data: [0, 1, 1, 2]"}) {
    const std::string initializer = Sparse("sparse_initializer", indices, dims);
    EXPECT_THAT(ValuesOf(initializer + add, {2, 3}),
                ElementsAre(1, 8, 1, 1, 1, 9));
    const std::string constant = absl::StrCat(
        "node { op_type: 'Constant' output: 'a' attribute { name:"
        " 'sparse_value' type: SPARSE_TENSOR ",
        Sparse("sparse_tensor", indices, dims), " } }");
    EXPECT_THAT(ValuesOf(constant + add, {2, 3}),
                ElementsAre(1, 8, 1, 1, 1, 9));
  }
  EXPECT_THAT(ValuesOf("sparse_initializer { values { name: 'a' dims: 0"
                       " data_type: 1 } dims: 2 dims: 3 }" +
                           add,
                       {2, 3}),
              ElementsAre(1, 1, 1, 1, 1, 1));
  const auto refusal = [&](absl::string_view indices, absl::string_view dims) {
    return Import(Sparse("sparse_initializer", indices, dims) + add).status();
  };
  EXPECT_THAT(refusal("dims: 2 int64_data: [1, 6]", dims),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the index 6 of a value is out of 0 to 5"));
  EXPECT_THAT(refusal("dims: [2, 2] int64_data: [0, 1, 1, -1]", dims),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "the index -1 of a value is out of 0 to 2"));
  EXPECT_THAT(
      refusal("dims: 3 int64_data: [1, 2, 3]", dims),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "its indices are int64[3], not int64[2] or int64[2, 2]"));
  EXPECT_THAT(
      refusal("dims: 2 int64_data: [1, 5]", "dims: 1000000 dims: 1000000"),
      StatusIs(absl::StatusCode::kResourceExhausted,
               "its shape has 1000000000000 elements"));
}

// Labels beside a network, and nodes that no output needs.
TEST(ImportOnnxTest, ValuesThatNoOutputNeedsMayHaveTypesThatThereAreNot) {
  const std::string labels =
      "initializer { name: 's' dims: 2 data_type: 8 string_data: ['a', 'b'] }";
  const std::string relu =
      "node { op_type: 'Relu' input: 'x' output: 'y' }" + InOut({kTwo});
  EXPECT_THAT(ValuesOf(labels + relu, {2}), ElementsAre(1, 1));
  const std::string unused =
      "node { op_type: 'Constant' output: 't'"
      "  attribute { name: 'value_string' type: STRING s: 'a' } }"
      "node { op_type: 'Identity' input: 't' output: 't2' }"
      "node { op_type: 'Identity' input: 's' output: 's2' }";
  EXPECT_THAT(ValuesOf(labels + unused + relu, {2}), ElementsAre(1, 1));
  // An output that needs the labels is an error.
  EXPECT_THAT(Import(labels + relu + "output { name: 's' }").status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "tensor 's': elements that are string"));
  EXPECT_THAT(Import(labels + unused + relu + "output { name: 's2' }").status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "model.onnx:3:1: error: Identity: tensor 's': elements "
                       "that are string"));
  EXPECT_THAT(Import(labels + unused + relu + "output { name: 't2' }").status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "model.onnx:1:1: error: Constant: constants that are "
                       "strings are not supported"));
  // A mistake is one wherever it is.
  EXPECT_THAT(Import("node { op_type: 'Relu' input: 'z' output: 'w' }" + relu),
              StatusIs(absl::StatusCode::kInvalidArgument, "uses 'z'"));
}

TEST(ImportOnnxTest, LoopsMayCarryNothing) {
  EXPECT_THAT(
      ValuesOf("node { op_type: 'Loop' input: 'n' input: '' output: 'y'"
               "  attribute { name: 'body' type: GRAPH g { name: 'b'"
               "    node { op_type: 'Identity' input: 'c' output: 'd' }"
               "    node { op_type: 'Add' input: 'x' input: 'x' output: 'z' }" +
                   Value("input", "i", {}, 7) + Value("input", "c", {}, 9) +
                   "output { name: 'd' } output { name: 'z' } } } }"
                   "initializer { name: 'n' data_type: 7 int64_data: 2 }" +
                   InOut({kTwo}),
               {2}),
      ElementsAre(2, 2, 2, 2));
}

TEST(ImportOnnxTest, SizesOfDimensionsWhoseNamesAreFormulas) {
  const std::string graph =
      "node { op_type: 'Relu' input: 'x' output: 'y' }" +
      InOut({"dim_param: 'past + 1'", "dim_param: 'past'"}) +
      Value("input", "z", {"dim_param: 'other + 1'"});
  OnnxValuesUsed used;
  OnnxImportOptions options;
  options.used = &used;
  options.dims = {{"past", 4}};
  const auto module = Import(graph, options);
  ASSERT_THAT(module, IsOk());
  EXPECT_EQ(module->Find<Function>("main")->params()[0]->type().ToString(),
            "Tensor[(5, 4), float32]");
  EXPECT_THAT(used.dims, ElementsAre(ElementsAre("past + 1", "past"),
                                     ElementsAre("other + 1")));
  options.dims = {{"past", int64_t{1} << 60}};
  EXPECT_THAT(Import(graph, options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "input 'x' has a dimension of 1152921504606846977, more "
                       "than 2^60"));
  options.dims = {{"past", 0}};
  EXPECT_THAT(Import(graph, options), IsOk());
  options.dims = {{"other", 4}};
  EXPECT_THAT(Import(graph, options), IsOk());
  options.dims = {{"pas", 4}};
  EXPECT_THAT(Import(graph, options).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "no input of the model has a dimension pas"));
}

std::string Int64s(absl::string_view name, const std::vector<int64_t>& values) {
  return absl::StrCat("initializer { name: '", name, "' dims: ", values.size(),
                      " data_type: 7 int64_data: [", absl::StrJoin(values, ","),
                      "] } ");
}

TEST(ImportOnnxTest, AxesAreNamedOnce) {
  const std::string axes = Int64s("a", {1, -1});
  const std::string attribute =
      "attribute { name: 'axes' type: INTS ints: [1, -1] } ";
  const std::string starts =
      Value("input", "s", {kTwo}, 7) + Int64s("e", {2, 2});
  for (const std::string& graph : {
           "node { op_type: 'Pad' input: ['x', 'p', '', 'a'] output: 'y' }" +
               axes + Int64s("p", {1, 1, 1, 1}),
           "node { op_type: 'Pad' input: ['x', 'p', '', 'a'] output: 'y' }" +
               axes + Value("input", "p", {"dim_value: 4"}, 7),
           "node { op_type: 'Slice' input: ['x', 's', 'e', 'a'] output: 'y' }" +
               axes + starts,
           "node { op_type: 'Slice' input: ['x', 'e', 'e', 'a'] output: 'y' }" +
               axes + Int64s("e", {1, 1}),
           "node { op_type: 'Resize' input: ['x', '', '', 's'] output: 'y' " +
               attribute + "}" + Int64s("s", {4, 4}),
           "node { op_type: 'CenterCropPad' input: ['x', 's'] output: 'y' " +
               attribute + "}" + Int64s("s", {4, 4}),
           "node { op_type: 'Unsqueeze' input: ['x', 'a'] output: 'y' }" +
               Int64s("a", {1, 1}),
           "node { op_type: 'ReduceSum' input: ['x', 'a'] output: 'y' }" + axes,
           "node { op_type: 'MeanVarianceNormalization' input: 'x'"
           " output: 'y' " +
               attribute + "}",
       }) {
    EXPECT_THAT(
        Import(ModelOf(graph + InOut({kTwo, kThree}), 19)).status(),
        StatusIs(absl::StatusCode::kInvalidArgument, "an axis is named twice"))
        << graph;
  }
}

TEST(ImportOnnxTest, PaddingCutsNoMoreThanThereIs) {
  for (const std::string mode : {"constant", "edge", "reflect", "wrap"}) {
    for (const std::vector<int64_t>& pads :
         {std::vector<int64_t>{0, -2, 0, -2},
          {0, -4, 0, 3},
          {0, 1, 0, std::numeric_limits<int64_t>::min()}}) {
      EXPECT_THAT(
          Import(
              ModelOf(absl::StrCat("node { op_type: 'Pad' input: 'x' input: 'p'"
                                   " output: 'y' attribute { name: 'mode' type:"
                                   " STRING s: '",
                                   mode, "' } }", Int64s("p", pads),
                                   InOut({kTwo, kThree})),
                      19))
              .status(),
          StatusIs(absl::StatusCode::kInvalidArgument,
                   "cuts more than the 3 elements of axis 1"))
          << mode;
    }
  }
}

TEST(ImportOnnxTest, SplitsAreEvenUnlessTheirNumberIsGiven) {
  const std::string graph =
      "node { op_type: 'Split' input: 'x' output: 'y' output: 'z' " +
      std::string("attribute { name: 'axis' type: INT i: 1 } ");
  for (const int opset : {11, 13, 18}) {
    EXPECT_THAT(
        Import(ModelOf(graph + "}" + InOut({kTwo, kThree}), opset)).status(),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 "an axis of 3 elements has no 2 parts of one size"));
  }
  EXPECT_THAT(Import(ModelOf(
                  graph + "attribute { name: 'num_outputs' type: INT i: 2 } }" +
                      InOut({kTwo, kThree}),
                  18)),
              IsOk());
}

TEST(ImportOnnxTest, ResultsOfEinsumHaveEachLabelOnce) {
  for (const std::string equation : {"ij->iij", "...j->......j"}) {
    EXPECT_THAT(
        Import("node { op_type: 'Einsum' input: 'x' output: 'y' attribute {"
               " name: 'equation' type: STRING s: '" +
               equation + "' } }" + InOut({kTwo, kThree}))
            .status(),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 "the result has a label twice"));
  }
}

// Which element is the nearest, and what is outside of the data, are decided in
// float32.
TEST(ImportOnnxTest, PlacesOfResizedElementsAreOfFloat32) {
  const auto values_of = [](const std::string& mode, const std::string& extent,
                            const std::string& inputs, int count) {
    const auto module = Import(ModelOf(
        "node { op_type: 'Resize' output: 'y' " + inputs + mode +
            " } initializer { name: 's' dims: 1 data_type: 1 float_data: 0.6 }"
            "initializer { name: 'r' dims: 2 data_type: 1"
            " float_data: [0.2, 1.2] }" +
            Int64s("z", {11}) + Int64s("one", {1}) + InOut({extent}),
        19));
    EXPECT_THAT(module, IsOk());
    std::vector<float> data(count);
    std::iota(data.begin(), data.end(), 0.0f);
    const auto result = EvaluateFunction(
        *module, "main",
        {baton::relay::Value(*Tensor::FromValues<float>({count}, data))});
    EXPECT_THAT(result, IsOk());
    const auto span = result->tensor().span<float>();
    return std::vector<float>(span.begin(), span.end());
  };
  const std::string nearest =
      "attribute { name: 'coordinate_transformation_mode' type: STRING"
      " s: 'half_pixel_symmetric' }"
      "attribute { name: 'nearest_mode' type: STRING s: 'floor' }";
  for (const std::string extent : {"dim_value: 5", "dim_param: 'n'"}) {
    EXPECT_THAT(values_of(nearest, extent, "input: ['x', '', 's'] ", 5),
                ElementsAre(0, 2, 3));
  }
  // 1 / 49 * 49 is less than 1 in float64.
  EXPECT_THAT(values_of("attribute { name: 'mode' type: STRING s: 'linear' }"
                        "attribute { name: 'coordinate_transformation_mode'"
                        " type: STRING s: 'half_pixel_symmetric' }",
                        "dim_value: 49", "input: ['x', '', '', 'one'] ", 49),
              ElementsAre(24));
  const std::vector<float> crop = values_of(
      "attribute { name: 'coordinate_transformation_mode' type: STRING"
      " s: 'tf_crop_and_resize' }"
      "attribute { name: 'mode' type: STRING s: 'linear' }"
      "attribute { name: 'extrapolation_value' type: FLOAT f: 9 }",
      "dim_value: 7", "input: ['x', 'r', '', 'z'] ", 7);
  ASSERT_EQ(crop.size(), 11);
  EXPECT_FLOAT_EQ(crop[8], 6);
  EXPECT_EQ(crop[9], 9);
}

// 11 * 9.272727 is 102 in float32, in which ONNX's shape inference computes
// it, and less in float64.
TEST(ImportOnnxTest, ScaledExtentsAreOfFloat32) {
  const std::string node =
      "node { op_type: 'Resize' input: ['x', '', 's'] output: 'y' }";
  constexpr float kScale = 9.272727f;
  const std::string known =
      "initializer { name: 's' dims: 1 data_type: 1 float_data: 9.272727 }";
  const std::string computed = Value("input", "s", {kOne});
  for (const std::string& given : {known, computed}) {
    for (const std::string extent : {"dim_value: 11", "dim_param: 'n'"}) {
      const auto module = Import(node + InOut({extent}) + given);
      ASSERT_THAT(module, IsOk());
      std::vector<baton::relay::Value> args = {
          baton::relay::Value(*Tensor::Ones(DType::Float(32), {11}))};
      if (given == computed) {
        args.emplace_back(*Tensor::FromValues<float>({1}, {kScale}));
      }
      const auto result = EvaluateFunction(*module, "main", args);
      ASSERT_THAT(result, IsOk());
      EXPECT_EQ(result->tensor().num_elements(), 102) << extent;
    }
  }
}

// As ONNX Runtime has it: opset 10 does not say which element is the nearest.
TEST(ImportOnnxTest, OldResizeTakesTheElementAboveForSmallerResults) {
  const std::string node =
      "node { op_type: 'Resize' input: 'x' input: 's' output: 'y' }";
  const Tensor x = *Tensor::FromValues<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor scales = *Tensor::FromValues<float>({2}, {1.5f, 0.6f});
  const std::string known =
      "initializer { name: 's' dims: 2 data_type: 1 float_data: [1.5, 0.6] }";
  const std::string computed = Value("input", "s", {kTwo});
  for (const std::string& given : {known, computed}) {
    for (const std::string extent : {"dim_value: 4", "dim_param: 'n'"}) {
      const auto module =
          Import(ModelOf(node + InOut({kTwo, extent}) + given, /*opset=*/10));
      ASSERT_THAT(module, IsOk());
      std::vector<baton::relay::Value> args = {baton::relay::Value(x)};
      if (given == computed) args.emplace_back(scales);
      const auto result = EvaluateFunction(*module, "main", args);
      ASSERT_THAT(result, IsOk());
      EXPECT_THAT(result->tensor().span<float>(), ElementsAre(0, 2, 0, 2, 4, 6))
          << extent;
    }
  }
}

// The shapes that a body says are those of what it is given, unless the model
// runs with other shapes than it says.
TEST(ImportOnnxTest, BodiesOfScansHaveTheShapesOfTheirInputs) {
  const auto graph = [](const std::string& state, const std::string& element,
                        const std::string& length, int elem_type = 1) {
    return "node { op_type: 'Scan' input: ['s', 'x'] output: ['t', 'y']"
           " attribute { name: 'num_scan_inputs' type: INT i: 1 }"
           " attribute { name: 'body' type: GRAPH g { name: 'b'"
           "   node { op_type: 'Identity' input: 'a' output: 'c' }"
           "   node { op_type: 'Identity' input: 'b' output: 'd' } " +
           Value("input", "a", {state}) +
           Value("input", "b", {element}, elem_type) +
           "output { name: 'c' } output { name: 'd' } } } }" +
           Value("input", "s", {kThree}) +
           Value("input", "x", {length, kThree}) +
           "output { name: 't' } output { name: 'y' }";
  };
  for (const std::string length : {"dim_value: 4", "dim_param: 'n'"}) {
    EXPECT_THAT(Import(graph(kThree, "dim_param: 'm'", length)), IsOk());
    EXPECT_THAT(Import(graph(kTwo, kThree, length)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "model.onnx:1:1: error: Scan: the input of the graph "
                         "'a' has the shape (3), but the model says (2)"));
    EXPECT_THAT(Import(graph(kThree, kOne, length)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "'b' has the shape (3), but the model says (1)"));
    EXPECT_THAT(
        Import(graph(kThree, "dim_value: 3 } dim { dim_value: 1", length))
            .status(),
        StatusIs(absl::StatusCode::kInvalidArgument,
                 "the shape (3), but the model says (3, 1)"));
    EXPECT_THAT(Import(graph(kThree, kThree, length, 7)).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         "'b' has elements that are float, but the model says "
                         "int64"));
  }
  OnnxImportOptions options;
  options.input_shapes = {{"s", {2}}, {"x", {5, 2}}};
  EXPECT_THAT(Import(graph(kThree, kThree, "dim_value: 4"), options), IsOk());
}

}  // namespace
}  // namespace baton
