#include "baton/relay/op/layout_rules.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/layout.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/normalize.h"
#include "baton/relay/op/nn/pool.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::HasSubstr;

Expr Typed(Type type) {
  return Expr(new VarNode("x", type, std::move(type), {}));
}

Expr Float(std::initializer_list<Dim> shape) {
  return Typed(TensorType(shape, DType::Float(32)));
}

Expr FloatTuple(std::initializer_list<std::initializer_list<Dim>> shapes) {
  std::vector<Type> fields;
  for (const auto& shape : shapes) {
    fields.push_back(TensorType(shape, DType::Float(32)));
  }
  return Typed(TupleType(std::move(fields)));
}

Layouts ParseAll(const std::vector<std::string>& texts) {
  Layouts result;
  for (const std::string& text : texts) result.push_back(*Layout::Parse(text));
  return result;
}

std::string AttrsText(const Attrs& attrs) {
  if (!attrs.defined()) return "";
  return AttrValue(attrs->fields().NonDefault(attrs->object())).ToString();
}

// Returns the result of the rule of `op`, as `inputs -> outputs {attributes}`.
// If `arrived` is empty, the rule is called for the unchanged call.
std::string Infer(absl::string_view op, std::vector<Expr> args, Attrs attrs,
                  const std::vector<std::string>& old_layouts,
                  const std::vector<std::string>& arrived = {}) {
  const Op callee = Op::Find(op);
  const LayoutInferenceRule* rule = LayoutInferenceRules().Get(callee);
  if (rule == nullptr) return "no rule";
  const Call call(callee, args, attrs);
  const Layouts old_inputs = ParseAll(old_layouts);
  const Layouts new_inputs = ParseAll(arrived);
  const std::optional<InferredLayouts> result =
      (*rule)({.call = *call,
               .attrs = attrs,
               .old_inputs = old_inputs,
               .changed = !arrived.empty(),
               .new_inputs = new_inputs});
  if (!result.has_value()) return "nothing";
  std::string text;
  for (const Layout& layout : result->inputs) {
    absl::StrAppend(&text, layout.defined() ? layout.ToString() : "_", " ");
  }
  absl::StrAppend(&text, "->");
  for (const Layout& layout : result->outputs) {
    absl::StrAppend(&text, " ", layout.defined() ? layout.ToString() : "_");
  }
  const std::string attrs_text = AttrsText(result->attrs);
  if (!attrs_text.empty()) absl::StrAppend(&text, " ", attrs_text);
  return text;
}

// Returns the result of the conversion rule of `op`, as `op {attributes}`.
absl::StatusOr<std::string> Convert(absl::string_view op,
                                    std::vector<Expr> args, Attrs attrs,
                                    const std::vector<std::string>& desired) {
  const Op callee = Op::Find(op);
  const ConvertLayoutRule* rule = ConvertLayoutRules().Get(callee);
  if (rule == nullptr) return absl::NotFoundError("no rule");
  const Call call(callee, args, attrs);
  const Layouts layouts = ParseAll(desired);
  absl::StatusOr<ConvertedCall> result = rule->convert(
      {.call = *call, .attrs = attrs, .inputs = args, .desired = layouts});
  if (!result.ok()) return result.status();
  return absl::StrCat(result->op->name(), " ", AttrsText(result->attrs));
}

TEST(InferElemwiseLayoutsTest, PassesOnWhatItGets) {
  const Expr x = Float({1, 8, 4, 4});
  EXPECT_EQ(Infer("nn.relu", {x}, {}, {""}), "nothing");
  EXPECT_EQ(Infer("nn.relu", {x}, {}, {"NCHW"}), "NCHW -> NCHW");
  EXPECT_EQ(Infer("nn.relu", {x}, {}, {"NCHW"}, {"NCHW4c"}),
            "NCHW4c -> NCHW4c");
}

TEST(InferElemwiseLayoutsTest, LeavesAScalarThatLendsItsElementType) {
  EXPECT_EQ(Infer("cast_like", {Float({1, 8, 4, 4}), Float({})}, {},
                  {"NCHW", ""}, {"NHWC", ""}),
            "NHWC _ -> NHWC");
}

TEST(InferBroadcastLayoutsTest, TheSmallerOperandHasTheLastAxes) {
  const Expr large = Float({1, 8, 4, 4});
  EXPECT_EQ(Infer("add", {large, Float({8, 1, 1})}, {}, {"NCHW", ""}),
            "NCHW CHW -> NCHW");
  EXPECT_EQ(Infer("add", {Float({}), large}, {}, {"", "NCHW"}),
            "_ NCHW -> NCHW");
  // Nothing is known about the first axis of the result.
  EXPECT_EQ(Infer("add", {large, Float({8, 1, 1})}, {}, {"", "CHW"}),
            "nothing");
}

TEST(InferBroadcastLayoutsTest, TheSmallerOperandIsChangedLikeTheLarger) {
  const Expr large = Float({1, 8, 4, 4});
  EXPECT_EQ(Infer("add", {large, Float({8, 1, 1})}, {}, {"NCHW", "CHW"},
                  {"NHWC", "CHW"}),
            "NHWC NHWC -> NHWC");
  EXPECT_EQ(Infer("add", {large, Float({})}, {}, {"NCHW", ""}, {"NHWC", ""}),
            "NHWC _ -> NHWC");
  // Axes are matched by position, not by letter.
  EXPECT_EQ(
      Infer("add", {large, large}, {}, {"NCHW", "NCWH"}, {"NHWC", "NCWH"}),
      "NHWC NWHC -> NHWC");
}

TEST(InferBroadcastLayoutsTest, OneChannelIsNotSplit) {
  EXPECT_EQ(Infer("add", {Float({1, 8, 4, 4}), Float({1, 1, 4, 4})}, {},
                  {"NCHW", "NCHW"}, {"NCHW4c", "NCHW"}),
            "NCHW4c NCHW1c -> NCHW4c");
}

TEST(InferConvLayoutsTest, SaysWhatItsAttributesSay) {
  EXPECT_EQ(Infer("nn.conv2d", {Float({1, 4, 4, 8}), Float({3, 3, 8, 8})},
                  Attrs::Make(Conv2DAttrs{.data_layout = "NHWC",
                                          .kernel_layout = "HWIO",
                                          .out_layout = "NCHW"}),
                  {"", ""}),
            "NHWC HWIO -> NCHW "
            "{data_layout:NHWC,kernel_layout:HWIO,out_layout:NCHW}");
}

TEST(InferPoolLayoutsTest, FollowsUnlessTheWindowWouldBeSplit) {
  const Expr x = Float({1, 8, 4, 4});
  EXPECT_EQ(Infer("nn.global_avg_pool2d", {x}, {}, {"NCHW"}, {"NHWC"}),
            "NHWC -> NHWC {layout:NHWC}");
  EXPECT_EQ(Infer("nn.global_avg_pool2d", {x}, {}, {"NCHW"}, {"NCHW2h"}),
            "NCHW -> NCHW");
  EXPECT_EQ(Infer("nn.global_avg_pool2d", {x},
                  Attrs::Make(GlobalPool2DAttrs{.out_layout = "NCHW"}),
                  {"NCHW"}, {"NHWC"}),
            "NCHW -> NCHW {out_layout:NCHW}");
}

TEST(InferBatchNormLayoutsTest, MovesItsAxis) {
  const std::vector<Expr> args = {Float({1, 8, 4, 4}), Float({8}), Float({8}),
                                  Float({8}), Float({8})};
  EXPECT_EQ(Infer("nn.batch_norm", args, Attrs::Make(BatchNormAttrs{}),
                  {"NCHW", "C", "C", "C", "C"}, {"NHWC", "C", "C", "C", "C"}),
            "NHWC C C C C -> NHWC C C {axis:3}");
  // Channels in two axes are none that it could normalize.
  EXPECT_EQ(Infer("nn.batch_norm", args, Attrs::Make(BatchNormAttrs{}),
                  {"NCHW", "C", "C", "C", "C"}, {"NCHW4c", "C", "C", "C", "C"}),
            "NCHW C C C C -> NCHW C C {}");
}

TEST(InferReduceLayoutsTest, DropsTheReducedAxes) {
  const Expr x = Float({1, 8, 4, 4});
  const auto infer = [&](ReduceAttrs attrs, std::string arrived) {
    return Infer("sum", {x}, Attrs::Make(std::move(attrs)), {"NCHW"},
                 {std::move(arrived)});
  };
  EXPECT_EQ(infer({.axis = {{2, 3}}}, "NHWC"), "NHWC -> NC {axis:[1,2]}");
  EXPECT_EQ(infer({.axis = {{-3}}, .keepdims = true}, "NCHW4c"),
            "NCHW4c -> NCHW1c {axis:[1,4],keepdims:true}");
  EXPECT_EQ(infer({.axis = {{0, 1}}, .exclude = true}, "NCHW4c"),
            "NCHW4c -> NC4c {axis:[0,1,4],exclude:true}");
  // A scalar is left, which has no layout.
  EXPECT_EQ(infer({}, "NHWC"), "nothing");
}

TEST(InferReduceLayoutsTest, KeepsTheOrderOfWhatItReduces) {
  const auto infer = [](const char* op, std::initializer_list<Dim> shape,
                        ReduceAttrs attrs, std::string arrived) {
    return Infer(op, {Float(shape)}, Attrs::Make(std::move(attrs)), {"NCHW"},
                 {std::move(arrived)});
  };
  // C is behind H and W in the new layout, whose sum has other last bits.
  EXPECT_EQ(infer("sum", {1, 8, 4, 4}, {.axis = {{1, 2}}}, "NHWC"),
            "NCHW -> NW {axis:[1,2]}");
  EXPECT_EQ(infer("mean", {1, 8, 4, 4}, {.axis = {{2, 3}}}, "NCWH"),
            "NCHW -> NC {axis:[2,3]}");
  EXPECT_EQ(infer("max", {1, 8, 4, 4}, {.axis = {{1, 3}}, .keepdims = true},
                  "NCHW4c"),
            "NCHW -> NCHW {axis:[1,3],keepdims:true}");
  // An axis of one element has no place in the order.
  EXPECT_EQ(infer("sum", {1, 8, 1, 4}, {.axis = {{1, 2}}}, "NHWC"),
            "NHWC -> NW {axis:[1,3]}");
  EXPECT_EQ(infer("sum", {1, 8, 4, 4}, {.axis = {{0, 2, 3}}}, "NCHW4c"),
            "NCHW4c -> C4c {axis:[0,2,3]}");
  // Two blocks of 4 have more than 6 channels.
  EXPECT_EQ(infer("mean", {1, 6, 4, 4}, {.axis = {{1}}}, "NCHW4c"),
            "NCHW -> NHW {axis:[1]}");
  EXPECT_EQ(infer("mean", {1, 6, 4, 4}, {.axis = {{2}}}, "NCHW4c"),
            "NCHW4c -> NCW4c {axis:[2]}");
}

TEST(InferReduceLayoutsTest, BlocksOfOneChannelAreNotReduced) {
  // The block has three further elements, which the reduction would count.
  EXPECT_EQ(
      Infer("mean", {Float({1, 1, 4, 4})},
            Attrs::Make(ReduceAttrs{.axis = {{1}}}), {"NCHW"}, {"NCHW4c"}),
      "NCHW -> NHW {axis:[1]}");
}

TEST(InferReduceLayoutsTest, TheMeanOfAVarianceHasOneElementOfABlock) {
  EXPECT_EQ(Infer("variance", {Float({1, 8, 4, 4}), Float({1, 1, 4, 4})},
                  Attrs::Make(VarianceAttrs{.axis = {{1}}, .keepdims = true}),
                  {"NCHW", "NCHW"}, {"NCHW4c", "NCHW1c"}),
            "NCHW4c NCHW1c -> NCHW1c {axis:[1,4],keepdims:true}");
}

TEST(InferReduceLayoutsTest, PositionsAreCountedInOneOrder) {
  const auto infer = [](std::string arrived) {
    return Infer("argmax", {Float({1, 8, 4, 4})},
                 Attrs::Make(ArgReduceAttrs{.axis = {{1, 2}}}), {"NCHW"},
                 {std::move(arrived)});
  };
  EXPECT_EQ(infer("NHWC"), "NCHW -> NW {axis:[1,2]}");
  EXPECT_EQ(infer("NCWH"), "NCWH -> NW {axis:[1,3]}");
}

TEST(InferNormLayoutsTest, InstancesKeepTheirOrder) {
  const std::vector<Expr> args = {Float({2, 8, 4, 4}), Float({8}), Float({8})};
  const auto infer = [&](std::string arrived) {
    return Infer("nn.instance_norm", args, Attrs::Make(InstanceNormAttrs{}),
                 {"NCHW", "C", "C"}, {std::move(arrived), "C", "C"});
  };
  EXPECT_EQ(infer("NHWC"), "NHWC C C -> NHWC {axis:3}");
  EXPECT_EQ(infer("NHCW"), "NHCW C C -> NHCW {axis:2}");
  for (const char* const arrived : {"NCWH", "HWNC", "NCHW4c", "NCHW2n"}) {
    EXPECT_EQ(infer(arrived), "NCHW C C -> NCHW {}") << arrived;
  }
}

TEST(InferL2NormalizeLayoutsTest, AxesSayTheOrder) {
  const auto infer = [](std::vector<int64_t> axis, std::string arrived) {
    return Infer("nn.l2_normalize", {Float({2, 8, 4, 4})},
                 Attrs::Make(L2NormalizeAttrs{.axis = std::move(axis)}),
                 {"NCHW"}, {std::move(arrived)});
  };
  EXPECT_EQ(infer({1, 2}, "NHWC"), "NHWC -> NHWC {eps:0.0,axis:[3,1]}");
  EXPECT_EQ(infer({}, "NHWC"), "NCHW -> NCHW {eps:0.0,axis:[]}");
}

TEST(InferPoolLayoutsTest, SpatialAxesStayTogether) {
  const auto infer = [](std::string arrived) {
    return Infer("nn.avg_pool2d", {Float({1, 8, 4, 4})},
                 Attrs::Make(AvgPool2DAttrs{.pool_size = {2, 2}}), {"NCHW"},
                 {std::move(arrived)});
  };
  EXPECT_EQ(infer("HWNC"), "HWNC -> HWNC {pool_size:[2,2],layout:HWNC}");
  for (const char* const arrived : {"NHCW", "NCWH", "NCHW2h"}) {
    EXPECT_EQ(infer(arrived), "NCHW -> NCHW {pool_size:[2,2]}") << arrived;
  }
}

TEST(InferPadLayoutsTest, MovesPaddingAndDoesNotSplitPaddedAxes) {
  const std::vector<Expr> args = {Float({1, 8, 4, 4}), Float({})};
  const Attrs spatial =
      Attrs::Make(PadAttrs{.pad_width = {{0, 0}, {0, 0}, {1, 1}, {2, 2}}});
  EXPECT_EQ(Infer("nn.pad", args, spatial, {"NCHW", ""}, {"NHWC", ""}),
            "NHWC _ -> NHWC {pad_width:[[0,0],[1,1],[2,2],[0,0]]}");
  EXPECT_EQ(Infer("nn.pad", args, spatial, {"NCHW", ""}, {"NCHW4c", ""}),
            "NCHW4c _ -> NCHW4c {pad_width:[[0,0],[0,0],[1,1],[2,2],[0,0]]}");
  const Attrs channels =
      Attrs::Make(PadAttrs{.pad_width = {{0, 0}, {4, 0}, {0, 0}, {0, 0}}});
  EXPECT_EQ(Infer("nn.pad", args, channels, {"NCHW", ""}, {"NCHW4c", ""}),
            "NCHW _ -> NCHW {pad_width:[[0,0],[4,0],[0,0],[0,0]]}");
}

TEST(InferConcatenateLayoutsTest, FollowsInputsThatAgree) {
  const std::vector<Expr> args = {FloatTuple({{1, 8, 4, 4}, {1, 6, 4, 4}})};
  const Attrs channels = Attrs::Make(ConcatenateAttrs{.axis = 1});
  EXPECT_EQ(Infer("concatenate", args, channels, {"", "NCHW"}),
            "NCHW NCHW -> NCHW {axis:1}");
  EXPECT_EQ(
      Infer("concatenate", args, channels, {"NCHW", "NCHW"}, {"NHWC", "NHWC"}),
      "NHWC NHWC -> NHWC {axis:3}");
  EXPECT_EQ(
      Infer("concatenate", args, channels, {"NCHW", "NCHW"}, {"NHWC", "NCHW"}),
      "NCHW NCHW -> NCHW {axis:1}");
  // Six channels would be padded to eight, in the middle of the result.
  EXPECT_EQ(Infer("concatenate", args, channels, {"NCHW", "NCHW"},
                  {"NCHW4c", "NCHW4c"}),
            "NCHW NCHW -> NCHW {axis:1}");
}

TEST(InferTransposeLayoutsTest, AbsorbsTheChange) {
  const Attrs to_nhwc = Attrs::Make(TransposeAttrs{.axes = {{0, 2, 3, 1}}});
  EXPECT_EQ(Infer("transpose", {Float({1, 8, 4, 4})}, to_nhwc, {"NCHW"}),
            "NCHW -> NHWC {axes:[0,2,3,1]}");
  EXPECT_EQ(
      Infer("transpose", {Float({1, 8, 4, 4})}, to_nhwc, {"NCHW"}, {"NHWC"}),
      "NHWC -> NHWC {axes:[0,1,2,3]}");
}

TEST(InferSqueezeLayoutsTest, NamesTheAxesThatAreLeft) {
  EXPECT_EQ(
      Infer("squeeze", {Float({1, 8, 1, 1})},
            Attrs::Make(SqueezeAttrs{.axis = {{-2, 3}}}), {"NCHW"}, {"NHWC"}),
      "NHWC -> NC {axis:[1,2]}");
  EXPECT_EQ(Infer("squeeze", {Float({1, 8, 1, 1})}, Attrs::Make(SqueezeAttrs{}),
                  {"NCHW"}),
            "NCHW -> C {}");
}

TEST(InferStridedSliceLayoutsTest, MovesSlices) {
  const Expr x = Float({1, 28, 28, 32});
  EXPECT_EQ(Infer("strided_slice", {x},
                  Attrs::Make(StridedSliceAttrs{.begin = {{0, 16}},
                                                .end = {{1, 33}},
                                                .strides = {{1, 1}},
                                                .axes = {{0, 3}}}),
                  {"NHWC"}, {"NCHW"}),
            "NCHW -> NCHW "
            "{begin:[0,16],end:[1,33],strides:[1,1],axes:[0,1]}");
  EXPECT_EQ(Infer("strided_slice", {x},
                  Attrs::Make(StridedSliceAttrs{
                      .begin = {{0, 4}}, .end = {{1, 8}}, .strides = {{1, 2}}}),
                  {"NHWC"}, {"NCHW"}),
            "NCHW -> NCHW {begin:[0,0,4,0],end:[1,32,8,28],"
            "strides:[1,1,2,1],axes:none}");
  // Lists of different lengths.
  EXPECT_EQ(Infer("strided_slice", {x},
                  Attrs::Make(StridedSliceAttrs{.begin = {{0, 1}},
                                                .end = {{1, -1, 10}},
                                                .strides = {{1, 1, 2, 1}}}),
                  {"NHWC"}, {"NCHW"}),
            "NCHW -> NCHW {begin:[0,0,1,0],end:[1,32,-1,10],"
            "strides:[1,1,1,2],axes:none}");
}

TEST(InferStridedSliceLayoutsTest, CutsBetweenBlocks) {
  const Expr x = Float({1, 32, 28, 28});
  const auto infer = [&](int64_t begin, int64_t end) {
    return Infer(
        "strided_slice", {x},
        Attrs::Make(StridedSliceAttrs{
            .begin = {{0, begin}}, .end = {{1, end}}, .strides = {{1, 1}}}),
        {"NCHW"}, {"NCHW4c"});
  };
  EXPECT_EQ(infer(8, 32),
            "NCHW4c -> NCHW4c "
            "{begin:[0,2],end:[1,8],strides:[1,1],axes:none}");
  EXPECT_EQ(infer(8, 30), "nothing");
}

TEST(InferSplitLayoutsTest, MovesAxisAndCuts) {
  const Expr x = Float({1, 16, 4, 4});
  const auto infer = [&](AttrValue cuts, std::string arrived) {
    return Infer("split", {x},
                 Attrs::Make(SplitAttrs{.indices_or_sections = std::move(cuts),
                                        .axis = 1}),
                 {"NCHW"}, {std::move(arrived)});
  };
  EXPECT_EQ(infer(2, "NHWC"),
            "NHWC -> NHWC NHWC {indices_or_sections:2,axis:3}");
  EXPECT_EQ(infer(AttrList{8}, "NCHW4c"),
            "NCHW4c -> NCHW4c NCHW4c {indices_or_sections:[2],axis:1}");
  EXPECT_EQ(infer(AttrList{6}, "NCHW4c"),
            "NCHW -> NCHW NCHW {indices_or_sections:[6],axis:1}");
}

TEST(ConvertConv2DTest, DefaultKernelDependsOnDepthwise) {
  EXPECT_EQ(Convert("nn.conv2d", {Float({1, 8, 4, 4}), Float({16, 8, 3, 3})},
                    Attrs::Make(Conv2DAttrs{.padding = {1, 2}}), {"NHWC", ""})
                .value(),
            "nn.conv2d "
            "{padding:[1,2,1,2],data_layout:NHWC,kernel_layout:HWIO}");
  EXPECT_EQ(Convert("nn.conv2d", {Float({1, 8, 4, 4}), Float({8, 1, 3, 3})},
                    Attrs::Make(Conv2DAttrs{.groups = 8}), {"NHWC", ""})
                .value(),
            "nn.conv2d {padding:[0,0,0,0],groups:8,data_layout:NHWC,"
            "kernel_layout:HWOI}");
  // The channels of blocks count.
  EXPECT_EQ(
      Convert("nn.conv2d", {Float({1, 4, 4, 2, 4}), Float({3, 3, 1, 2, 1, 4})},
              Attrs::Make(Conv2DAttrs{.groups = 8,
                                      .data_layout = "NHWC4c",
                                      .kernel_layout = "HWIO1i4o"}),
              {"NHWC", ""})
          .value(),
      "nn.conv2d {padding:[0,0,0,0],groups:8,data_layout:NHWC,"
      "kernel_layout:HWOI}");
}

TEST(ConvertConv2DTest, TilesUnlessAnInputDoesNotDivide) {
  const std::vector<std::string> desired = {"NCHW4c", "OIHW4i4o"};
  EXPECT_EQ(Convert("nn.conv2d", {Float({1, 8, 4, 4}), Float({8, 8, 3, 3})},
                    Attrs::Make(Conv2DAttrs{}), desired)
                .value(),
            "nn.contrib_conv2d_NCHWc {padding:[0,0,0,0],channels:8,"
            "kernel_size:[3,3],data_layout:NCHW4c,kernel_layout:OIHW4i4o}");
  EXPECT_EQ(Convert("nn.conv2d", {Float({1, 3, 4, 4}), Float({8, 3, 3, 3})},
                    Attrs::Make(Conv2DAttrs{}), desired)
                .value(),
            "nn.conv2d {padding:[0,0,0,0]}");
}

TEST(ConvertConv2DTest, BlocksCountAsChannels) {
  EXPECT_EQ(
      Convert("nn.conv2d", {Float({1, 2, 4, 4, 4}), Float({2, 8, 3, 3, 4})},
              Attrs::Make(Conv2DAttrs{.data_layout = "NCHW4c",
                                      .kernel_layout = "OIHW4o"}),
              {"NCHW8c", "OIHW8i8o"})
          .value(),
      "nn.contrib_conv2d_NCHWc {padding:[0,0,0,0],channels:8,"
      "kernel_size:[3,3],data_layout:NCHW8c,kernel_layout:OIHW8i8o}");
}

TEST(ConvertConv2DTest, ErrorsNameWhatIsPossible) {
  const std::vector<Expr> args = {Float({1, 8, 4, 4}), Float({8, 8, 3, 3})};
  EXPECT_THAT(Convert("nn.conv2d", args, {}, {"CHWN", ""}).status().message(),
              HasSubstr("only for NCHW, NHWC, HWNC"));
  EXPECT_THAT(Convert("nn.conv2d", args, {}, {"", "OIHW"}).status().message(),
              HasSubstr("data layout cannot be `default`"));
}

// Attributes and operators of another repository, for which the shared rules
// are as good as for Baton's own.

struct StencilAttrs {
  Dims padding = {1, 1};
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "test.attrs.StencilAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("padding", &StencilAttrs::padding, "As of nn.conv2d.");
    v("data_layout", &StencilAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &StencilAttrs::kernel_layout, "Layout of the weight.");
    v("out_layout", &StencilAttrs::out_layout, "Layout of the result.");
  }
};

struct WindowAttrs {
  Dims pool_size = {2, 2};
  Dims padding = {1, 1};
  std::string layout = "NCHW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "test.attrs.WindowAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pool_size", &WindowAttrs::pool_size, "Size of the window.");
    v("padding", &WindowAttrs::padding, "As of nn.max_pool2d.");
    v("layout", &WindowAttrs::layout, "Layout of the data.");
    v("out_layout", &WindowAttrs::out_layout, "Layout of the result.");
  }
};

struct CollapseAttrs {
  std::optional<std::vector<int64_t>> axis;
  bool keepdims = false;
  bool exclude = false;

  static constexpr char kTypeKey[] = "test.attrs.CollapseAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &CollapseAttrs::axis, "The axes that go.");
    v("keepdims", &CollapseAttrs::keepdims, "Whether they stay, as 1.");
    v("exclude", &CollapseAttrs::exclude, "Whether it is the others that go.");
  }
};

struct ScaleAttrs {
  int axis = 1;

  static constexpr char kTypeKey[] = "test.attrs.ScaleAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ScaleAttrs::axis, "The axis of the channels.");
  }
};

absl::StatusOr<ConvertedCall> ConvertStencil(const ConvertLayoutQuery& query) {
  static constexpr layouts::DefaultKernel kKernels[] = {{"NCHW", "OIHW"},
                                                        {"NHWC", "HWIO"}};
  return ConvertConv<StencilAttrs>(query, /*num_spatial_axes=*/2, kKernels);
}

BATON_REGISTER_OP("test.stencil")
    .Describe("A convolution of another repository.")
    .TakesAttrs<StencilAttrs>()
    .Set(LayoutInferenceRules(), InferConvLayouts<StencilAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "kernel"}, ConvertStencil});
BATON_REGISTER_OP("test.window")
    .Describe("Pooling of another repository.")
    .TakesAttrs<WindowAttrs>()
    .Set(LayoutInferenceRules(), InferPoolLayouts<WindowAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data"}, ConvertPool<WindowAttrs>});
BATON_REGISTER_OP("test.scale_up")
    .Describe("Scaling of another repository.")
    .TakesAttrs<WindowAttrs>()
    .Set(LayoutInferenceRules(), InferUpSamplingLayouts<WindowAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data"}, ConvertResize<WindowAttrs>});
BATON_REGISTER_OP("test.resize")
    .Describe("Scaling in any layout, of another repository.")
    .TakesAttrs<WindowAttrs>()
    .Set(LayoutInferenceRules(), InferResizeLayouts<WindowAttrs>);
BATON_REGISTER_OP("test.regions")
    .Describe("Regions, of another repository.")
    .TakesAttrs<WindowAttrs>()
    .Set(LayoutInferenceRules(), InferRoiLayouts<WindowAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "rois"}, ConvertRoi<WindowAttrs>});
BATON_REGISTER_OP("test.collapse")
    .Describe("A reduction of another repository.")
    .TakesAttrs<CollapseAttrs>()
    .Set(LayoutInferenceRules(), InferReduceLayouts<CollapseAttrs>);
BATON_REGISTER_OP("test.scale")
    .Describe("A normalization of another repository.")
    .TakesAttrs<ScaleAttrs>()
    .Set(LayoutInferenceRules(), InferNormLayouts<ScaleAttrs>);

TEST(RulesOfOtherRepositoriesTest, Infer) {
  const Expr x = Float({1, 8, 4, 4});
  const Expr w = Float({8, 8, 3, 3});
  const Expr c = Float({8});
  EXPECT_EQ(Infer("test.stencil", {x, w}, {}, {"", ""}), "NCHW OIHW -> NCHW");
  EXPECT_EQ(Infer("test.window", {x}, {}, {"NCHW"}, {"NHWC"}),
            "NHWC -> NHWC {layout:NHWC}");
  EXPECT_EQ(Infer("test.scale_up", {x}, {}, {"NCHW"}, {"NCHW4c"}),
            "NCHW4c -> NCHW4c {layout:NCHW4c}");
  EXPECT_EQ(Infer("test.resize", {x}, {}, {"NCHW"}, {"NHWC"}),
            "NHWC -> NHWC {layout:NHWC}");
  EXPECT_EQ(Infer("test.regions", {x, Float({5, 5})}, {}, {"", ""}),
            "NCHW NX -> NCHW");
  EXPECT_EQ(
      Infer("test.collapse", {x},
            Attrs::Make(CollapseAttrs{.axis = std::vector<int64_t>{2, 3}}),
            {"NCHW"}, {"NHWC"}),
      "NHWC -> NC {axis:[1,2]}");
  EXPECT_EQ(Infer("test.scale", {x, c, c}, {}, {"NCHW", "C", "C"},
                  {"NHWC", "C", "C"}),
            "NHWC C C -> NHWC {axis:3}");
}

TEST(RulesOfOtherRepositoriesTest, Convert) {
  const Expr x = Float({1, 8, 4, 4});
  const Expr w = Float({8, 8, 3, 3});
  EXPECT_EQ(*Convert("test.stencil", {x, w}, {}, {"NHWC", ""}),
            "test.stencil {padding:[1,1,1,1],data_layout:NHWC,"
            "kernel_layout:HWIO}");
  EXPECT_EQ(*Convert("test.window", {x}, {}, {"NHWC"}),
            "test.window {padding:[1,1,1,1],layout:NHWC,"
            "out_layout:NHWC}");
  EXPECT_EQ(*Convert("test.scale_up", {x}, {}, {"NHWC"}),
            "test.scale_up {layout:NHWC}");
  EXPECT_EQ(*Convert("test.regions", {x, w}, {}, {"NHWC", ""}),
            "test.regions {layout:NHWC}");
}

}  // namespace
}  // namespace baton::relay
