// The type relations of the operators, by way of inference: what they accept,
// what they refuse, and what the messages say.

#include "baton/relay/op/type_relations.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/limits.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/op/nn/conv.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const Dim kAny = Dim::Any();

// A variable of a tensor type.
Var T(std::initializer_list<Dim> shape, DType dtype = DType::Float(32)) {
  return Var("x", shape, dtype);
}

// The type of `expr`, or the message of the error.
std::string TypeOf(const Expr& expr) {
  const absl::StatusOr<Expr> typed = InferTypeOf(expr);
  return typed.ok() ? (*typed)->type().ToString()
                    : std::string(typed.status().message());
}

// A call of any operator, with attributes from values.
Expr CallOf(absl::string_view name, std::vector<Expr> args,
            AttrMap values = {}) {
  const Op op = Op::Find(name);
  EXPECT_TRUE(op.defined()) << name;
  if (op->attrs_type() == nullptr) return Call(op, args);
  absl::StatusOr<Attrs> attrs = op->attrs_type()->FromValues(values);
  EXPECT_TRUE(attrs.ok()) << attrs.status();
  return Call(op, args, *attrs);
}

// The type that inference gives to `var`, a variable without annotation, where
// it is a parameter of a function with body `body`.
std::string InferredParam(const Var& var, const Expr& body) {
  const absl::StatusOr<IRModule> typed = InferTypes(ModuleFromExpr(body));
  if (!typed.ok()) return std::string(typed.status().message());
  const Function main = typed->Find<Function>("main");
  for (const Var& param : main->params()) {
    if (param->name() == var->name()) return param->annotation().ToString();
  }
  return "no such parameter";
}

TEST(BroadcastTest, GivesTheCommonShape) {
  EXPECT_EQ(TypeOf(Add(T({10, 4}), T({5, 10, 1}))),
            "Tensor[(5, 10, 4), float32]");
  EXPECT_EQ(TypeOf(Add(T({kAny, 4}), T({3, 1}))), "Tensor[(3, 4), float32]");
  EXPECT_EQ(TypeOf(Add(T({kAny}), T({1}))), "Tensor[(?), float32]");
  EXPECT_EQ(TypeOf(Less(T({2}), T({2}))), "Tensor[(2), bool]");
  EXPECT_EQ(TypeOf(Where(T({1, 4}, DType::Bool()), T({3, 1}), T({3, 4}))),
            "Tensor[(3, 4), float32]");
}

TEST(BroadcastTest, RefusesWhatDoesNotFit) {
  EXPECT_THAT(TypeOf(Add(T({2, 3}), T({4}))),
              AllOf(HasSubstr("add: "), HasSubstr("(2, 3)"), HasSubstr("(4)")));
  EXPECT_THAT(
      TypeOf(Multiply(T({2}), T({2}, DType::Int(8)))),
      AllOf(HasSubstr("multiply: "), HasSubstr("float32"), HasSubstr("int8")));
}

TEST(BroadcastTest, SharesTheTypeOfAnArgument) {
  const Var x = T({2, 3});
  const absl::StatusOr<Expr> typed = InferTypeOf(Add(x, T({3})));
  ASSERT_TRUE(typed.ok());
  const auto* call = typed->As<CallNode>();
  EXPECT_EQ(call->type(), call->arg(0)->type());
}

TEST(ConvTest, InfersShapes) {
  const Var x = T({1, 3, 224, 224});
  EXPECT_EQ(TypeOf(nn::Conv2D(x, T({64, 3, 7, 7}),
                              {.strides = {2, 2},
                               .padding = {3, 3},
                               .channels = 64,
                               .kernel_size = {7, 7}})),
            "Tensor[(1, 64, 112, 112), float32]");
  // Channels and kernel size from the weight.
  EXPECT_EQ(TypeOf(nn::Conv2D(x, T({64, 3, 7, 7}), {.dilation = {2, 2}})),
            "Tensor[(1, 64, 212, 212), float32]");
  EXPECT_EQ(TypeOf(nn::Conv2D(T({kAny, 3, kAny, 8}), T({4, 3, 3, 3}))),
            "Tensor[(?, 4, ?, 6), float32]");
  EXPECT_EQ(
      TypeOf(nn::Conv2D(
          T({1, 8, 8, 3}), T({3, 3, 3, 16}),
          {.padding = {1}, .data_layout = "NHWC", .kernel_layout = "HWIO"})),
      "Tensor[(1, 8, 8, 16), float32]");
  EXPECT_EQ(TypeOf(nn::Conv2D(T({1, 2, 8, 8, 16}, DType::Int(8)),
                              T({4, 2, 3, 3, 16, 16}, DType::Int(8)),
                              {.data_layout = "NCHW16c",
                               .kernel_layout = "OIHW16i16o",
                               .out_layout = "NHWC",
                               .out_dtype = DType::Int(32)})),
            "Tensor[(1, 6, 6, 64), int32]");
  EXPECT_EQ(TypeOf(nn::Conv1D(T({1, 3, 10}), T({4, 3, 3}), {})),
            "Tensor[(1, 4, 8), float32]");
  EXPECT_EQ(TypeOf(nn::Conv3D(T({1, 3, 9, 9, 9}), T({4, 3, 3, 3, 3}),
                              {.strides = {2}})),
            "Tensor[(1, 4, 4, 4, 4), float32]");
  EXPECT_EQ(
      TypeOf(nn::Conv2DTranspose(
          T({1, 8, 4, 4}), T({8, 5, 3, 3}),
          {.strides = {2, 2}, .output_padding = {1, 1}, .padding = {1, 1}})),
      "Tensor[(1, 5, 8, 8), float32]");
}

TEST(ConvTest, Groups) {
  const Var x = T({1, 32, 8, 8});
  EXPECT_EQ(TypeOf(nn::Conv2D(x, T({64, 8, 3, 3}), {.groups = 4})),
            "Tensor[(1, 64, 6, 6), float32]");
  // Depthwise, with the multiplier on the axis I.
  EXPECT_EQ(
      TypeOf(nn::Conv2D(x, T({32, 2, 3, 3}),
                        {.groups = 32, .channels = 64, .kernel_size = {3, 3}})),
      "Tensor[(1, 64, 6, 6), float32]");
  EXPECT_THAT(TypeOf(nn::Conv2D(x, T({64, 8, 3, 3}), {.groups = 5})),
              AllOf(HasSubstr("nn.conv2d: "), HasSubstr("5 groups")));
  EXPECT_THAT(TypeOf(nn::Conv2D(x, T({64, 9, 3, 3}), {.groups = 4})),
              HasSubstr("the input channels of a group=8"));
}

TEST(ConvTest, InfersTheWeight) {
  const Var w("w");
  const Conv2DAttrs attrs = {.channels = 16, .kernel_size = {3, 5}};
  EXPECT_EQ(InferredParam(w, nn::Conv2D(T({1, 3, 8, 8}), w, attrs)),
            "Tensor[(16, 3, 3, 5), float32]");
  EXPECT_EQ(InferredParam(w, nn::Dense(T({4, 8}), w, {.units = 2})),
            "Tensor[(2, 8), float32]");
  EXPECT_EQ(InferredParam(w, nn::BiasAdd(T({1, 3, 8, 8}), w)),
            "Tensor[(3), float32]");
  EXPECT_EQ(InferredParam(w, nn::PRelu(T({1, 3, 8, 8}), w)),
            "Tensor[(3), float32]");
  EXPECT_EQ(InferredParam(w, nn::BatchNorm(T({1, 3, 8, 8}), w, w, w, w)),
            "Tensor[(3), float32]");
}

TEST(ConvTest, Refuses) {
  const Var x = T({1, 3, 8, 8});
  const Var w = T({4, 3, 3, 3});
  EXPECT_THAT(TypeOf(nn::Conv2D(x, T({4, 3, 3, 5}),
                                {.channels = 4, .kernel_size = {3, 3}})),
              AllOf(HasSubstr("argument 1 (weight)"),
                    HasSubstr("Tensor[(4, 3, 3, 5), float32]"),
                    HasSubstr("Tensor[(4, 3, 3, 3), float32]")));
  EXPECT_THAT(TypeOf(nn::Conv2D(x, w, {.strides = {0, 1}})),
              HasSubstr("strides=(0, 1) must be positive"));
  EXPECT_THAT(TypeOf(nn::Conv2D(x, w, {.strides = {-1, 1}})),
              HasSubstr("strides"));
  EXPECT_THAT(TypeOf(nn::Conv2D(x, w, {.padding = {1, 2, 3}})),
              HasSubstr("padding must have 1, 2 or 4 elements, but has 3"));
  EXPECT_THAT(TypeOf(nn::Conv2D(x, w, {.data_layout = "NC?W"})),
              HasSubstr("data_layout"));
  EXPECT_THAT(TypeOf(nn::Conv2D(x, w, {.data_layout = "NCW"})),
              HasSubstr("\"NCW\" cannot be converted to \"NCHW\""));
  EXPECT_THAT(TypeOf(nn::Conv2D(T({1, 3, 8}), w)),
              HasSubstr("has 4 axes, but the tensor has 3"));
  EXPECT_THAT(TypeOf(nn::Conv2D(T({1, 3, 1, 1}), T({4, 3, 5, 5}))),
              HasSubstr("-3 elements on spatial axis 0"));
  EXPECT_THAT(TypeOf(nn::Conv2D(Tuple({x, x}), w)),
              HasSubstr("must be a tensor"));
}

TEST(MatmulTest, InfersAndRefuses) {
  EXPECT_EQ(TypeOf(nn::Dense(T({2, 7, 8}), T({5, 8}))),
            "Tensor[(2, 7, 5), float32]");
  EXPECT_EQ(TypeOf(nn::Matmul(T({2, 8}), T({8, 5}))),
            "Tensor[(2, 5), float32]");
  EXPECT_EQ(TypeOf(nn::Matmul(T({8, 2}), T({5, 8}),
                              {.transpose_a = true, .transpose_b = true})),
            "Tensor[(2, 5), float32]");
  EXPECT_EQ(TypeOf(nn::BatchMatmul(T({1, 2, 8}), T({6, 5, 8}))),
            "Tensor[(6, 2, 5), float32]");
  EXPECT_EQ(TypeOf(nn::BatchMatmul(T({kAny, 2, 8}), T({6, 5, 8}))),
            "Tensor[(?, 2, 5), float32]");
  EXPECT_THAT(TypeOf(nn::Dense(T({2, 7}), T({5, 8}), {.units = 5})),
              AllOf(HasSubstr("nn.dense: argument 1 (weight)"),
                    HasSubstr("Tensor[(5, 7), float32]")));
  EXPECT_THAT(TypeOf(nn::BatchMatmul(T({3, 2, 8}), T({6, 5, 8}))),
              HasSubstr("the batches"));
}

TEST(PoolTest, InfersAndRefuses) {
  const Var x = T({1, 3, 9, 9});
  EXPECT_EQ(TypeOf(nn::MaxPool2D(
                x, {.pool_size = {3}, .strides = {2}, .padding = {1}})),
            "Tensor[(1, 3, 5, 5), float32]");
  EXPECT_EQ(
      TypeOf(nn::AvgPool2D(
          x, {.pool_size = {2, 2}, .strides = {2, 2}, .ceil_mode = true})),
      "Tensor[(1, 3, 5, 5), float32]");
  EXPECT_EQ(TypeOf(nn::GlobalAvgPool2D(x)), "Tensor[(1, 3, 1, 1), float32]");
  EXPECT_EQ(TypeOf(nn::GlobalAvgPool2D(T({1, 9, 9, 3}), {.layout = "NHWC"})),
            "Tensor[(1, 1, 1, 3), float32]");
  EXPECT_EQ(TypeOf(nn::AdaptiveAvgPool2D(x, {.output_size = {4}})),
            "Tensor[(1, 3, 4, 4), float32]");
  EXPECT_EQ(TypeOf(nn::MaxPool2D(T({1, 3, kAny, 9}), {.pool_size = {3}})),
            "Tensor[(1, 3, ?, 7), float32]");
  EXPECT_THAT(TypeOf(nn::MaxPool2D(x, {.pool_size = {3}, .strides = {0}})),
              HasSubstr("nn.max_pool2d: strides"));
  EXPECT_THAT(TypeOf(nn::GlobalAvgPool2D(x, {.layout = "NCHW4h"})),
              HasSubstr("an axis H that is not split"));
  EXPECT_THAT(TypeOf(nn::GlobalAvgPool2D(T({1, 3}))),
              HasSubstr("does not fit"));
}

TEST(NormTest, InfersAndRefuses) {
  const Var x = T({1, 3, 8, 8});
  const Var c = T({3});
  EXPECT_EQ(TypeOf(nn::BatchNorm(x, c, c, c, c)),
            "(Tensor[(1, 3, 8, 8), float32], Tensor[(3), float32], "
            "Tensor[(3), float32])");
  EXPECT_EQ(TypeOf(nn::LayerNorm(x, T({8}), T({8}))),
            "Tensor[(1, 3, 8, 8), float32]");
  EXPECT_EQ(TypeOf(nn::Dropout(x)), "Tensor[(1, 3, 8, 8), float32]");
  EXPECT_EQ(TypeOf(nn::Softmax(x)), "Tensor[(1, 3, 8, 8), float32]");
  EXPECT_THAT(TypeOf(nn::BatchNorm(x, c, c, T({4}), c)),
              HasSubstr("argument 3 (moving_mean)"));
  EXPECT_THAT(TypeOf(nn::BatchNorm(x, c, c, c, c, {.axis = 4})),
              HasSubstr("axis=4"));
  EXPECT_THAT(TypeOf(nn::Softmax(x, 4)), HasSubstr("axis=4"));
  EXPECT_THAT(TypeOf(nn::BiasAdd(x, c, 7)), HasSubstr("axis=7"));
  EXPECT_THAT(TypeOf(nn::InstanceNorm(T({1, 3}), c, c)),
              HasSubstr("more than 2 dimensions"));
}

TEST(ReduceTest, InfersAndRefuses) {
  const Var x = T({2, 3, 4});
  EXPECT_EQ(TypeOf(Sum(x)), "float32");
  EXPECT_EQ(TypeOf(Sum(x, {.axis = {{1}}})), "Tensor[(2, 4), float32]");
  EXPECT_EQ(TypeOf(Mean(x, {.axis = {{-1, 0}}, .keepdims = true})),
            "Tensor[(1, 3, 1), float32]");
  EXPECT_EQ(TypeOf(Max(x, {.axis = {{1}}, .exclude = true})),
            "Tensor[(3), float32]");
  EXPECT_EQ(TypeOf(ArgMax(x, {.axis = {{2}}})), "Tensor[(2, 3), int32]");
  EXPECT_EQ(TypeOf(Variance(x, {.axis = {{2}}})), "Tensor[(2, 3), float32]");
  EXPECT_THAT(TypeOf(Sum(x, {.axis = {{3}}})), HasSubstr("axis=3"));
  EXPECT_THAT(TypeOf(Sum(x, {.axis = {{0, -3}}})), HasSubstr("given twice"));
}

TEST(ReshapeTest, SpecialValues) {
  const Var x = T({2, 3, 4});
  EXPECT_EQ(TypeOf(Reshape(x, {6, 4})), "Tensor[(6, 4), float32]");
  EXPECT_EQ(TypeOf(Reshape(x, {4, -1})), "Tensor[(4, 6), float32]");
  EXPECT_EQ(TypeOf(Reshape(x, {0, -1})), "Tensor[(2, 12), float32]");
  EXPECT_EQ(TypeOf(Reshape(x, {-2})), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(TypeOf(Reshape(x, {-3, -2})), "Tensor[(6, 4), float32]");
  EXPECT_EQ(TypeOf(Reshape(x, {-4, 1, 2, -2})),
            "Tensor[(1, 2, 3, 4), float32]");
  EXPECT_EQ(TypeOf(Reshape(x, {2, -4, -1, 3, -2})),
            "Tensor[(2, 1, 3, 4), float32]");
  EXPECT_EQ(TypeOf(ReverseReshape(T({8, 3}), {-1, 0})),
            "Tensor[(8, 3), float32]");
  EXPECT_EQ(TypeOf(ReverseReshape(T({6, 8, 7}), {-3, 0})),
            "Tensor[(48, 7), float32]");
  EXPECT_EQ(TypeOf(Reshape(T({kAny, 4}), {-1, 2})), "Tensor[(?, 2), float32]");
  // Axes that are copied need not be known.
  EXPECT_EQ(TypeOf(Reshape(T({kAny, 4, 5}), {0, -1})),
            "Tensor[(?, 20), float32]");
}

TEST(ReshapeTest, Refuses) {
  const Var x = T({2, 3, 4});
  EXPECT_THAT(TypeOf(Reshape(x, {5, 5})),
              AllOf(HasSubstr("reshape: "), HasSubstr("(2, 3, 4)"),
                    HasSubstr("[5, 5]")));
  EXPECT_THAT(TypeOf(Reshape(x, {-1, -1})), HasSubstr("-1 is given twice"));
  EXPECT_THAT(TypeOf(Reshape(x, {2, 3, 4, 0})), HasSubstr("too few axes"));
  EXPECT_THAT(TypeOf(Reshape(x, {-7})), HasSubstr("-7 has no meaning"));
  EXPECT_THAT(TypeOf(Reshape(x, {-4, -1})), HasSubstr("must follow -4"));
}

TEST(ShapeTest, InfersAndRefuses) {
  const Var x = T({2, 1, 4});
  EXPECT_EQ(TypeOf(Transpose(x)), "Tensor[(4, 1, 2), float32]");
  EXPECT_EQ(TypeOf(Transpose(x, {{0, -1, 1}})), "Tensor[(2, 4, 1), float32]");
  EXPECT_EQ(TypeOf(Squeeze(x)), "Tensor[(2, 4), float32]");
  EXPECT_EQ(TypeOf(Squeeze(x, {{}})), "Tensor[(2, 1, 4), float32]");
  EXPECT_EQ(TypeOf(ExpandDims(x, -1, 2)), "Tensor[(2, 1, 4, 1, 1), float32]");
  EXPECT_EQ(TypeOf(Concatenate({x, T({2, 5, 4})}, 1)),
            "Tensor[(2, 6, 4), float32]");
  EXPECT_EQ(TypeOf(Stack({x, x}, 0)), "Tensor[(2, 2, 1, 4), float32]");
  EXPECT_EQ(TypeOf(Split(x, 2, 2)),
            "(Tensor[(2, 1, 2), float32], Tensor[(2, 1, 2), float32])");
  EXPECT_EQ(TypeOf(SplitAt(x, {1}, 2)),
            "(Tensor[(2, 1, 1), float32], Tensor[(2, 1, 3), float32])");
  EXPECT_EQ(TypeOf(Tile(T({2, 3}), {2, 1, 2})), "Tensor[(2, 2, 6), float32]");
  EXPECT_EQ(TypeOf(Repeat(x, 3, 2)), "Tensor[(2, 1, 12), float32]");
  EXPECT_EQ(TypeOf(BroadcastTo(x, {2, 3, 4})), "Tensor[(2, 3, 4), float32]");
  EXPECT_EQ(TypeOf(LayoutTransform(T({1, 8, 2, 2}), "NCHW", "NHWC4c")),
            "Tensor[(1, 2, 2, 2, 4), float32]");
  EXPECT_EQ(TypeOf(Zeros({2, 3}, DType::Int(8))), "Tensor[(2, 3), int8]");
  EXPECT_EQ(TypeOf(Full(Const(2), {3})), "Tensor[(3), int32]");
  EXPECT_EQ(TypeOf(Arange(Const(0), Const(7), Const(2), DType::Int(32))),
            "Tensor[(4), int32]");

  EXPECT_THAT(TypeOf(Transpose(x, {{0, 1}})), HasSubstr("2 axes"));
  EXPECT_THAT(TypeOf(Transpose(x, {{0, 1, 1}})), HasSubstr("given twice"));
  EXPECT_THAT(TypeOf(Squeeze(x, {{0}})), HasSubstr("axis 0"));
  EXPECT_THAT(TypeOf(Concatenate({x, T({3, 1, 4})}, 1)),
              AllOf(HasSubstr("(2, 1, 4)"), HasSubstr("(3, 1, 4)")));
  EXPECT_THAT(TypeOf(Concatenate({x, T({2, 4})}, 1)), HasSubstr("rank"));
  EXPECT_THAT(TypeOf(Split(x, 3, 2)), HasSubstr("4 elements on axis 2"));
  EXPECT_THAT(TypeOf(SplitAt(x, {2, 1}, 2)), HasSubstr("ascending"));
  EXPECT_THAT(TypeOf(BroadcastTo(x, {2, 3, 5})), HasSubstr("broadcast_to: "));
  EXPECT_THAT(TypeOf(BroadcastTo(T({2, 3, 4}), {2, 1, 4})),
              HasSubstr("cannot be broadcast"));
  EXPECT_THAT(TypeOf(LayoutTransform(x, "NCHW", "NCW")),
              HasSubstr("src_layout=\"NCHW\""));
}

TEST(IndexingTest, InfersAndRefuses) {
  const Var x = T({3, 4, 5});
  const Var i = T({2, 7}, DType::Int(32));
  EXPECT_EQ(TypeOf(StridedSlice(x, {1, 0}, {3, -1}, {.strides = {1, 2}})),
            "Tensor[(2, 2, 5), float32]");
  EXPECT_EQ(TypeOf(StridedSlice(x, {-1}, {-4}, {.strides = {-1}})),
            "Tensor[(3, 4, 5), float32]");
  EXPECT_EQ(TypeOf(StridedSlice(x, {1, 1}, {-1, 2}, {.slice_mode = "size"})),
            "Tensor[(2, 2, 5), float32]");
  EXPECT_EQ(TypeOf(StridedSlice(x, {1}, {4}, {.axes = {{-1}}})),
            "Tensor[(3, 4, 3), float32]");
  EXPECT_EQ(TypeOf(StridedSlice(T({kAny, 4}), {0}, {1})),
            "Tensor[(?, 4), float32]");
  EXPECT_EQ(TypeOf(Take(x, i)), "Tensor[(2, 7), float32]");
  EXPECT_EQ(TypeOf(Take(x, i, {.axis = 1})), "Tensor[(3, 2, 7, 5), float32]");
  EXPECT_EQ(TypeOf(GatherNd(x, i)), "Tensor[(7, 5), float32]");
  EXPECT_EQ(TypeOf(OneHot(i, Const(1.0f), Const(0.0f),
                          {.depth = 9, .dtype = DType::Float(32)})),
            "Tensor[(2, 7, 9), float32]");
  EXPECT_EQ(TypeOf(SliceLike(x, T({2, 2}))), "Tensor[(2, 2, 5), float32]");

  EXPECT_THAT(TypeOf(StridedSlice(x, {0}, {1}, {.strides = {0}})),
              HasSubstr("stride 0 on axis 0"));
  EXPECT_THAT(TypeOf(StridedSlice(x, {2}, {1})), HasSubstr("is invalid"));
  EXPECT_THAT(TypeOf(Take(x, T({2}))), HasSubstr("must hold integers"));
  EXPECT_THAT(TypeOf(Take(x, i, {.axis = 5})), HasSubstr("axis=5"));
  EXPECT_THAT(TypeOf(SliceLike(x, T({9}))), HasSubstr("9 are wanted"));
}

// Sizes in a program are compared with the limits before memory of that size is
// allocated.
TEST(LimitsTest, OfRanks) {
  const Expr x = T({2, 3});
  constexpr char kOver[] =
      "dimensions is over the limit (limits.max_rank=1024)";
  EXPECT_THAT(
      TypeOf(ExpandDims(x, 0, 2147483647)),
      HasSubstr("expand_dims: a tensor of 2147483649 dimensions is over "
                "the limit (limits.max_rank=1024)"));
  EXPECT_THAT(TypeOf(ExpandDims(x, 0, 1023)), HasSubstr(kOver));
  EXPECT_THAT(TypeOf(ExpandDims(x, 0, 1022)), HasSubstr("Tensor[(1, 1, "));
  const Expr shape =
      Constant(*Tensor::Zeros(DType::Int(64), {int64_t{1} << 20}));
  const AttrMap no_shape = {{"shape", AttrValue()}};
  EXPECT_THAT(TypeOf(CallOf("collapse_sum_to", {x, shape}, no_shape)),
              HasSubstr(kOver));
  EXPECT_THAT(TypeOf(CallOf("collapse_sum_to",
                            {x, Var("s", {int64_t{1} << 61}, DType::Int(64))},
                            no_shape)),
              HasSubstr(kOver));
  // A list that is there already may be too long for a shape.
  EXPECT_THAT(TypeOf(Tile(x, std::vector<int64_t>(1000000, 1))),
              HasSubstr("tile: the result would not do: a tensor of 1000000 "
                        "dimensions is over the limit"));
  EXPECT_THAT(TypeOf(Zeros(std::vector<int64_t>(1000000, 1), DType::Bool())),
              HasSubstr(kOver));
  EXPECT_THAT(TypeOf(Stack({T(std::initializer_list<Dim>{})}, 0)),
              HasSubstr("Tensor[(1), float32]"));

  const Limits few = {.max_rank = 3};
  const ScopedLimits scope(few);
  EXPECT_THAT(TypeOf(ExpandDims(x, 0, 1)), HasSubstr("Tensor[(1, 2, 3)"));
  EXPECT_THAT(TypeOf(ExpandDims(x, 0, 2)), HasSubstr("limits.max_rank=3"));
}

TEST(LimitsTest, OfFields) {
  const std::string over =
      "split: a tuple of 4611686018427387904 fields is over the limit "
      "(limits.max_fields=1048576)";
  EXPECT_THAT(TypeOf(Split(T({kAny}), int64_t{1} << 62, 0)), HasSubstr(over));
  EXPECT_THAT(TypeOf(Split(T({int64_t{1} << 40}), int64_t{1} << 40, 0)),
              HasSubstr("fields is over the limit"));
}

TEST(LimitsTest, OfDimensions) {
  for (const int64_t extent : {INT64_MAX, INT64_MAX / 2 + 1, INT64_MIN}) {
    EXPECT_THAT(TypeOf(Zeros({extent}, DType::Bool())),
                extent < 0 ? HasSubstr("is negative")
                           : HasSubstr("a dimension is out of range"))
        << extent;
  }
  EXPECT_EQ(TypeOf(Zeros({INT64_MAX / 2}, DType::Bool())),
            "Tensor[(4611686018427387903), bool]");
  EXPECT_THAT(
      TypeOf(CallOf("nn.correlation", {T({1, 1, 9, 9}), T({1, 1, 9, 9})},
                    {{"kernel_size", 1},
                     {"max_displacement", 2147483647},
                     {"stride1", 1},
                     {"stride2", 1},
                     {"padding", AttrList{0}},
                     {"is_multiply", true},
                     {"layout", "NCHW"}})),
      HasSubstr("nn.correlation: the result would have the type "
                "Tensor[(1, ?, -4294967285, -4294967285), float32]"));
}

TEST(LimitsTest, AxesAreCheckedBeforeTheyAreUsed) {
  for (const int axis : {2147483647, 2147483646, 3, -1, -2147483647 - 1}) {
    EXPECT_THAT(TypeOf(CallOf("sliding_window", {T({2, 3})},
                              {{"axis", axis},
                               {"window_shape", AttrList{3}},
                               {"strides", AttrList{2}}})),
                HasSubstr("do not fit the shape (2, 3)"))
        << axis;
  }
  EXPECT_EQ(TypeOf(CallOf("sliding_window", {T({2, 3})},
                          {{"axis", 1},
                           {"window_shape", AttrList{3}},
                           {"strides", AttrList{2}}})),
            "Tensor[(2, 1, 3), float32]");
}

TEST(ShapeTest, EveryResultHasAnElementType) {
  EXPECT_THAT(TypeOf(CallOf("vm.shape_of", {T({2})})),
              HasSubstr("the result would have no element type"));
}

// Crops and paddings only take away and add: kernels rely on it.
TEST(ShapeTest, NegativeCropsAndPaddings) {
  const AttrList pair = {AttrValue(AttrList{3, -1})};
  EXPECT_THAT(TypeOf(CallOf("nn.batch_to_space_nd", {T({5, 8, 2, 3})},
                            {{"block_shape", AttrList{1}}, {"crops", pair}})),
              HasSubstr("crops[0]=[3, -1] is negative"));
  EXPECT_THAT(
      TypeOf(CallOf("nn.space_to_batch_nd", {T({5, 8, 2, 3})},
                    {{"block_shape", AttrList{1}}, {"paddings", pair}})),
      HasSubstr("paddings[0]=[3, -1] is negative"));
}

// None is the size of the data, as if no size were given.
TEST(PoolTest, NoOutputSize) {
  const AttrMap none = {{"output_size", AttrValue()}};
  EXPECT_EQ(TypeOf(CallOf("nn.adaptive_avg_pool1d", {T({1, 2, 7})}, none)),
            "Tensor[(1, 2, 7), float32]");
  EXPECT_EQ(TypeOf(CallOf("nn.adaptive_max_pool2d", {T({1, 2, 7, 8})}, none)),
            "Tensor[(1, 2, 7, 8), float32]");
  // As the reference prints it; no elements are the default.
  EXPECT_THAT(ToText(CallOf("nn.adaptive_avg_pool1d", {T({1, 2, 7})}, none)),
              HasSubstr("(%x, output_size=None)"));
  EXPECT_THAT(ToText(CallOf("nn.adaptive_avg_pool1d", {T({1, 2, 7})},
                            {{"output_size", AttrList()}})),
              HasSubstr("(%x)"));
}

TEST(FamiliesTest, InferAsTheReferenceDoes) {
  const Var x = T({1, 4, 8, 8});
  EXPECT_EQ(
      TypeOf(CallOf("nn.pad", {x, Const(0.0f)},
                    {{"pad_width", AttrList{AttrList{0, 0}, AttrList{0, 0},
                                            AttrList{1, 2}, AttrList{3, 4}}}})),
      "Tensor[(1, 4, 11, 15), float32]");
  EXPECT_EQ(TypeOf(nn::UpSampling(x, {.scale_h = 2, .scale_w = 1.5})),
            "Tensor[(1, 4, 16, 12), float32]");
  EXPECT_EQ(TypeOf(CallOf("nn.depth_to_space", {x}, {{"block_size", 2}})),
            "Tensor[(1, 1, 16, 16), float32]");
  EXPECT_EQ(TypeOf(CallOf("image.resize2d", {x},
                          {{"size", AttrList{10, 20}},
                           {"roi", AttrList{0.0, 0.0, 0.0, 0.0}}})),
            "Tensor[(1, 4, 10, 20), float32]");
  EXPECT_EQ(
      TypeOf(CallOf("vision.roi_align", {x, T({32, 5})},
                    {{"pooled_size", AttrList{7, 7}}, {"spatial_scale", 0.5}})),
      "Tensor[(32, 4, 7, 7), float32]");
  EXPECT_EQ(TypeOf(CallOf("cumsum", {x})), "Tensor[(256), float32]");
  EXPECT_EQ(TypeOf(CallOf("topk", {x}, {{"k", 3}, {"axis", 1}})),
            "(Tensor[(1, 3, 8, 8), float32], Tensor[(1, 3, 8, 8), int32])");
  EXPECT_EQ(TypeOf(CallOf("einsum", {Tuple({T({2, 3}), T({3, 4})})},
                          {{"equation", "ij,jk->ik"}})),
            "Tensor[(2, 4), float32]");
  EXPECT_EQ(TypeOf(CallOf("dyn.reshape", {x, T({2}, DType::Int(64))},
                          {{"newshape", AttrList{}}})),
            "Tensor[(?, ?), float32]");
  const Var key = T({10}, DType::UInt(64));
  EXPECT_EQ(TypeOf(CallOf("random.threefry_split", {key})),
            "(Tensor[(10), uint64], Tensor[(10), uint64])");
}

TEST(FamiliesTest, Quantized) {
  const Var x = T({1, 4, 8, 8});
  const Expr scale = Const(0.5f);
  const Expr zero = Const(3);
  const AttrMap int8 = {{"out_dtype", DType::Int(8)}};
  EXPECT_EQ(TypeOf(CallOf("qnn.quantize", {x, scale, zero}, int8)),
            "Tensor[(1, 4, 8, 8), int8]");
  EXPECT_THAT(
      TypeOf(CallOf("qnn.quantize", {x, zero, zero}, int8)),
      AllOf(HasSubstr("argument 1 (output_scale)"), HasSubstr("float32")));
  const Var q = T({1, 4, 8, 8}, DType::Int(8));
  EXPECT_EQ(TypeOf(CallOf(
                "qnn.conv2d",
                {q, T({2, 4, 3, 3}, DType::Int(8)), zero, zero, scale, scale},
                {{"out_dtype", DType::Int(32)}})),
            "Tensor[(1, 2, 6, 6), int32]");
}

}  // namespace
}  // namespace baton::relay
