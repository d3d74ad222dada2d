#include "baton/relay/transform/fold_scale_axis.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/broadcast_axes.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/type_relation.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using Shape = std::vector<int64_t>;

// A constant with elements from `first` up.
Constant Scale(const Shape& shape, float first) {
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  std::vector<float> values(size);
  for (int64_t i = 0; i < size; ++i) values[i] = first + 0.125f * i;
  return Const(*Tensor::FromValues<float>(shape, values));
}
Constant Positive(const Shape& shape) { return Scale(shape, 0.5f); }
Constant Negative(const Shape& shape) { return Scale(shape, -100.0f); }

// A 3x3 convolution in some layout.
struct Layouts {
  std::string data = "NCHW";
  std::string kernel = "OIHW";
  std::string out = "";
  int groups = 1;
};
Expr Conv(Expr data, Expr weight, int64_t channels,
          const Layouts& layouts = {}) {
  return nn::Conv2D(std::move(data), std::move(weight),
                    {.padding = {1, 1},
                     .groups = layouts.groups,
                     .channels = Dim(channels),
                     .kernel_size = {3, 3},
                     .data_layout = layouts.data,
                     .kernel_layout = layouts.kernel,
                     .out_layout = layouts.out});
}

TEST(BackwardFoldScaleAxisTest, MovesThroughReluAndBias) {
  const Var x = TensorVar("x", {2, 4, 10, 10});
  const Var w = TensorVar("w", {8, 4, 3, 3});
  const Var b = TensorVar("b", {8, 1, 1});
  const Constant s = Positive({8, 1, 1});
  const Expr squeezed = Squeeze(s, Shape{1, 2});
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr,
      Function({x, w, b}, Multiply(nn::Relu(Add(Conv(x, w, 8), b)), s)),
      Function({x, w, b},
               nn::Relu(Add(Conv(x, Multiply(w, ExpandDims(squeezed, 1, 3)), 8),
                            Multiply(b, ExpandDims(squeezed, 1, 2))))));
}

TEST(BackwardFoldScaleAxisTest, BlockedLayout) {
  const Layouts blocked = {.data = "NCHW16c", .kernel = "OIHW1i16o"};
  const Var x = TensorVar("x", {2, 2, 10, 10, 16});
  const Var w = TensorVar("w", {4, 32, 3, 3, 1, 16});
  const Var b = TensorVar("b", {64});
  const Constant s = Positive({64});
  const Shape full = {1, 4, 1, 1, 16};
  const Expr squeezed = Squeeze(Reshape(s, full), Shape{0, 2, 3});
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr,
      Function({x, w, b}, Multiply(nn::LeakyRelu(Add(Conv(x, w, 64, blocked),
                                                     Reshape(b, full)),
                                                 0.1),
                                   Reshape(s, full))),
      Function(
          {x, w, b},
          nn::LeakyRelu(
              Add(Conv(x, Multiply(w, Reshape(squeezed, {4, 1, 1, 1, 1, 16})),
                       64, blocked),
                  Multiply(Reshape(b, full), Reshape(squeezed, full))),
              0.1)));
}

TEST(BackwardFoldScaleAxisTest, BothOperandsOfAnAdditionTakeTheScale) {
  const Var x = TensorVar("x", {2, 4, 10, 10});
  const Var w = TensorVar("w", {8, 4, 3, 3});
  const Constant s = Positive({8, 1, 1});
  const Expr squeezed = Squeeze(s, Shape{1, 2});
  const auto path = [&](const Expr& weight) {
    return nn::Relu(Conv(x, weight, 8));
  };
  const auto scaled = [&] { return Multiply(w, ExpandDims(squeezed, 1, 3)); };
  ExpectRewrites(BackwardFoldScaleAxisInExpr,
                 Function({x, w}, Multiply(Subtract(path(w), path(w)), s)),
                 Function({x, w}, Subtract(path(scaled()), path(scaled()))));
}

TEST(BackwardFoldScaleAxisTest, NegativeScalesDoNotPassRelu) {
  const Var x = TensorVar("x", {2, 4, 10, 10});
  const Var w = TensorVar("w", {4, 4, 3, 3});
  const Var v = TensorVar("v", {4, 1, 1});
  const Constant s = Negative({4, 1, 1});
  ExpectUnchanged(BackwardFoldScaleAxisInExpr,
                  Function({x, w}, Multiply(nn::Relu(Conv(x, w, 4)), s)));
  ExpectUnchanged(BackwardFoldScaleAxisInExpr,
                  Function({x, w, v}, Multiply(nn::Relu(Conv(x, w, 4)), v)));
  // Nor on one of two paths.
  ExpectUnchanged(
      BackwardFoldScaleAxisInExpr,
      Function({x, w},
               Multiply(Add(Conv(x, w, 4), nn::Relu(Conv(x, w, 4))), s)));
  // Without one they are folded, whatever they are.
  for (const Expr& scale : {Expr(s), Expr(v)}) {
    ExpectRewrites(
        BackwardFoldScaleAxisInExpr,
        Function({x, w, v}, Multiply(scale, Conv(x, w, 4))),
        Function(
            {x, w, v},
            Conv(x, Multiply(w, ExpandDims(Squeeze(scale, Shape{1, 2}), 1, 3)),
                 4)));
  }
}

TEST(BackwardFoldScaleAxisTest, OtherUsersKeepTheScaleOut) {
  const Var x = TensorVar("x", {2, 4, 10, 10});
  const Var w = TensorVar("w", {4, 4, 3, 3});
  const Constant s = Positive({4, 1, 1});
  const Expr conv = Conv(x, w, 4);
  ExpectUnchanged(BackwardFoldScaleAxisInExpr,
                  Function({x, w}, Add(Multiply(conv, s), nn::Relu(conv))));
}

TEST(BackwardFoldScaleAxisTest, PathsOfDifferentAxesDoNotMeet) {
  const Var x = TensorVar("x", {4, 4, 10, 10});
  const Var w = TensorVar("w", {4, 4, 3, 3});
  const Expr other = Conv(x, w, 4, {.out = "CNHW"});
  ExpectUnchanged(
      BackwardFoldScaleAxisInExpr,
      Function({x, w}, Multiply(Add(nn::Relu(Conv(x, w, 4)), nn::Relu(other)),
                                Positive({4, 1, 1}))));
}

TEST(BackwardFoldScaleAxisTest, EachUserOfAFoldedCallSeesTheSameCall) {
  const Var x = TensorVar("x", {2, 4, 10, 10});
  const Var w = TensorVar("w", {4, 4, 3, 3});
  const Constant s = Positive({4, 1, 1});
  const auto block = [&](const Expr& data) {
    return nn::Relu(Multiply(Conv(data, w, 4), s));
  };
  const auto folded = [&](const Expr& data) {
    const Expr squeezed = Squeeze(s, Shape{1, 2});
    return nn::Relu(Conv(data, Multiply(w, ExpandDims(squeezed, 1, 3)), 4));
  };
  const Expr y = block(x);
  const Expr z = folded(x);
  ExpectRewrites(BackwardFoldScaleAxisInExpr,
                 Function({x, w}, Add(block(y), block(y))),
                 Function({x, w}, Add(folded(z), folded(z))));
}

TEST(BackwardFoldScaleAxisTest, Dense) {
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {3, 4});
  const Var b = TensorVar("b", {3});
  const Constant s = Positive({3});
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr,
      Function({x, w, b}, Multiply(nn::Relu(Add(nn::Dense(x, w), b)), s)),
      Function({x, w, b},
               nn::Relu(Add(nn::Dense(x, Multiply(w, ExpandDims(s, 1))),
                            Multiply(b, s)))));
  // The last of three axes is not where the scale is looked for.
  const Var x3 = TensorVar("x", {2, 3, 4});
  ExpectUnchanged(BackwardFoldScaleAxisInExpr,
                  Function({x3, w}, Multiply(nn::Dense(x3, w), s)));
  ExpectUnchanged(
      BackwardFoldScaleAxisInExpr,
      Function({x3, w}, Multiply(nn::Dense(x3, w), Positive({3, 1}))));
}

TEST(BackwardFoldScaleAxisTest, BiasAdd) {
  const Var x = TensorVar("x", {2, 4, 10, 10});
  const Var w = TensorVar("w", {4, 4, 3, 3});
  const Var b = TensorVar("b", {4});
  const Constant s = Positive({4, 1, 1});
  const Expr squeezed = Squeeze(s, Shape{1, 2});
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr,
      Function({x, w, b}, Multiply(nn::Relu(nn::BiasAdd(Conv(x, w, 4), b)), s)),
      Function({x, w, b},
               nn::Relu(nn::BiasAdd(
                   Conv(x, Multiply(w, ExpandDims(squeezed, 1, 3)), 4),
                   Multiply(b, squeezed)))));
}

TEST(BackwardFoldScaleAxisTest, Conv3D) {
  const Var x = TensorVar("x", {2, 4, 10, 10, 10});
  const Var w = TensorVar("w", {8, 4, 3, 3, 3});
  const Constant s = Positive({8, 1, 1, 1});
  const auto conv = [&](const Expr& weight) {
    return nn::Conv3D(
        x, weight,
        {.padding = {1, 1, 1}, .channels = Dim(8), .kernel_size = {3, 3, 3}});
  };
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr, Function({x, w}, Multiply(conv(w), s)),
      Function({x, w}, conv(Multiply(
                           w, ExpandDims(Squeeze(s, Shape{1, 2, 3}), 1, 4)))));
}

TEST(BackwardFoldScaleAxisTest, ScalarsAreRepeated) {
  const Var x = TensorVar("x", {1, 3, 20, 20});
  const Var w = TensorVar("w", {16, 3, 3, 3});
  const Expr scale = Repeat(ExpandDims(Const(2.0f), 0), 16, 0);
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr,
      Function({x, w}, Multiply(nn::Relu(Conv(x, w, 16)), Const(2.0f))),
      Function({x, w},
               nn::Relu(Conv(x, Multiply(w, ExpandDims(scale, 1, 3)), 16))));
}

TEST(BackwardFoldScaleAxisTest, ScalarsFillBlockedAxes) {
  const Layouts blocked = {.data = "NCHW4c", .kernel = "OIHW4i4o"};
  const Var x = TensorVar("x", {1, 2, 5, 5, 4});
  const Var w = TensorVar("w", {3, 2, 3, 3, 4, 4});
  const Expr scale = Repeat(Repeat(ExpandDims(Const(2.0f), 0, 2), 3, 0), 4, 1);
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr,
      Function({x, w}, Multiply(Conv(x, w, 12, blocked), Const(2.0f))),
      Function({x, w}, Conv(x, Multiply(w, Reshape(scale, {3, 1, 1, 1, 1, 4})),
                            12, blocked)));
}

// The weight has all output channels, whatever the groups, but only the input
// channels of one.
TEST(FoldScaleAxisTest, GroupedConvolutionsTakeScalesOfTheirResults) {
  const Var x = TensorVar("x", {1, 8, 5, 5});
  const Constant s = Positive({8, 1, 1});
  for (const auto& [in, groups] : {std::pair(4, 2), std::pair(1, 8)}) {
    const Var w = TensorVar("w", {8, in, 3, 3});
    ExpectRewrites(
        BackwardFoldScaleAxisInExpr,
        Function({x, w}, Multiply(Conv(x, w, 8, {.groups = groups}), s)),
        Function({x, w},
                 Conv(x, Multiply(w, ExpandDims(Squeeze(s, Shape{1, 2}), 1, 3)),
                      8, {.groups = groups})));
  }
  const Var w = TensorVar("w", {8, 4, 3, 3});
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  Function({x, w}, Conv(Multiply(x, s), w, 8, {.groups = 2})));
}

TEST(BackwardFoldScaleAxisTest, WeightsTakeOnlyTheirOwnElementType) {
  const Var x = TensorVar("x", {2, 4}, DType::Float(16));
  const Var w = TensorVar("w", {3, 4}, DType::Float(16));
  const Expr dense =
      nn::Dense(x, w, {.units = std::nullopt, .out_dtype = DType::Float(32)});
  ExpectUnchanged(BackwardFoldScaleAxisInExpr,
                  Function({x, w}, Multiply(dense, Positive({3}))));
}

TEST(ForwardFoldScaleAxisTest, MovesThroughReluAndBias) {
  const Var x = TensorVar("x", {2, 4, 10, 10});
  const Var w = TensorVar("w", {2, 4, 3, 3});
  const Var b = TensorVar("b", {4, 1, 1});
  const Constant s = Positive({4, 1, 1});
  const Expr squeezed = Squeeze(s, Shape{1, 2});
  ExpectRewrites(
      ForwardFoldScaleAxisInExpr,
      Function({x, w, b}, Conv(Add(nn::Relu(Multiply(x, s)), b), w, 2)),
      Function({x, w, b},
               Conv(Add(nn::Relu(x), Divide(b, ExpandDims(squeezed, 1, 2))),
                    Multiply(w, ExpandDims(squeezed, 1, 2)), 2)));
}

TEST(ForwardFoldScaleAxisTest, BlockedLayout) {
  // The channels are blocked by 2 in the data and by 4 in the weight.
  const Layouts blocked = {.data = "NCHW2c", .kernel = "OIHW4i2o"};
  const Var x = TensorVar("x", {2, 2, 10, 10, 2});
  const Var w = TensorVar("w", {4, 1, 3, 3, 4, 2});
  const Constant s = Negative({1, 2, 1, 1, 2});
  ExpectRewrites(
      ForwardFoldScaleAxisInExpr,
      Function({x, w}, Conv(Multiply(x, s), w, 8, blocked)),
      Function({x, w}, Conv(x,
                            Multiply(w, Reshape(Squeeze(s, Shape{0, 2, 3}),
                                                {1, 1, 1, 1, 4, 1})),
                            8, blocked)));
}

TEST(ForwardFoldScaleAxisTest, BlocksMustFollowTheirAxis) {
  const Layouts odd = {.data = "N2cHWC", .kernel = "OIHW2i2o"};
  const Var x = TensorVar("x", {1, 2, 5, 5, 2});
  const Var w = TensorVar("w", {2, 2, 3, 3, 2, 2});
  const Constant s = Positive({1, 2, 1, 1, 2});
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  Function({x, w}, Conv(Multiply(x, s), w, 4, odd)));
}

TEST(ForwardFoldScaleAxisTest, AllUsersMustTakeTheScale) {
  const Layouts nhwc = {.data = "NHWC", .kernel = "HWIO", .groups = 3};
  const Var x = TensorVar("x", {2, 4, 10, 3});
  const Var w = TensorVar("w", {3, 3, 1, 3});
  const Var b = TensorVar("b", {3});
  const Constant s = Positive({3});
  const Expr y = Subtract(nn::Relu(Multiply(s, x)), b);
  const Expr z = Subtract(nn::Relu(x), Divide(b, s));
  const auto scaled = [&] { return Multiply(w, s); };
  // Two depthwise convolutions do.
  ExpectRewrites(
      ForwardFoldScaleAxisInExpr,
      Function({x, w, b}, Add(Conv(y, w, 3, nhwc), Conv(y, w, 3, nhwc))),
      Function({x, w, b},
               Add(Conv(z, scaled(), 3, nhwc), Conv(z, scaled(), 3, nhwc))));
  // An addition of the data itself does not.
  const Expr scaled_data = Multiply(x, s);
  ExpectUnchanged(
      ForwardFoldScaleAxisInExpr,
      Function({x, w}, Add(Conv(nn::LeakyRelu(scaled_data, 0.1), w, 3, nhwc),
                           scaled_data)));
  // Nor do a variable, a tuple, a reference or a branch.
  const Var v("v");
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  Function({x, w}, Let(v, scaled_data,
                                       Add(Conv(v, w, 3, nhwc), scaled_data))));
  ExpectUnchanged(
      ForwardFoldScaleAxisInExpr,
      Function({x, w}, Tuple({Conv(scaled_data, w, 3, nhwc), scaled_data})));
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  Function({x, w}, Tuple({Conv(scaled_data, w, 3, nhwc),
                                          RefCreate(scaled_data)})));
  const Var c = TensorVar("c", {}, DType::Bool());
  ExpectUnchanged(
      ForwardFoldScaleAxisInExpr,
      Function({c, x, w}, If(c, Conv(scaled_data, w, 3, nhwc), scaled_data)));
}

TEST(ForwardFoldScaleAxisTest, UsersMustAskForTheSameAxes) {
  const Var x = TensorVar("x", {1, 4, 4, 4});
  const Var w = TensorVar("w", {4, 4, 3, 3});
  const Expr y = Multiply(x, Const(2.0f));
  ExpectUnchanged(
      ForwardFoldScaleAxisInExpr,
      Function({x, w}, Add(Conv(y, w, 4), Conv(y, w, 4, {.data = "NHWC"}))));
}

TEST(ForwardFoldScaleAxisTest, NegativeScalesDoNotPassRelu) {
  const Var x = TensorVar("x", {2, 4, 10, 10});
  const Var w = TensorVar("w", {4, 4, 3, 3});
  const Var v = TensorVar("v", {4, 1, 1});
  const Constant s = Negative({4, 1, 1});
  for (const Expr& scale : {Expr(s), Expr(v)}) {
    ExpectUnchanged(
        ForwardFoldScaleAxisInExpr,
        Function({x, w, v}, Conv(nn::Relu(Multiply(x, scale)), w, 4)));
    ExpectRewrites(
        ForwardFoldScaleAxisInExpr,
        Function({x, w, v}, Conv(Multiply(x, scale), w, 4)),
        Function(
            {x, w, v},
            Conv(x, Multiply(w, ExpandDims(Squeeze(scale, Shape{1, 2}), 1, 2)),
                 4)));
  }
}

TEST(ForwardFoldScaleAxisTest, Dense) {
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {3, 4});
  const Var b = TensorVar("b", {4});
  const Constant s = Positive({4});
  ExpectRewrites(
      ForwardFoldScaleAxisInExpr,
      Function({x, w, b}, nn::Dense(Add(nn::Relu(Multiply(x, s)), b), w)),
      Function({x, w, b},
               nn::Dense(Add(nn::Relu(x), Divide(b, s)), Multiply(w, s))));
}

// x * s + b is not (x + b / s) * s where s is zero, or b / s too large.
TEST(ForwardFoldScaleAxisTest, ScalesThatCannotDivideDoNotPassAdditions) {
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {3, 4});
  const Var b = TensorVar("b", {4});
  const Var any = TensorVar("any", {4});
  const auto vector = [](std::vector<float> values) {
    return Const(*Tensor::FromValues<float>({4}, absl::MakeConstSpan(values)));
  };
  const auto program = [&](const Expr& scale, const Expr& bias) {
    return Function({x, w, b, any},
                    nn::Dense(Add(Multiply(x, scale), bias), w));
  };
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  program(vector({1, -1, 0, 2}), b));
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  program(vector({1, -1, -0.0f, 2}), b));
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  program(vector({1, 1e-30f, 3, 2}), b));
  ExpectUnchanged(ForwardFoldScaleAxisInExpr, program(any, b));
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  program(Multiply(Rsqrt(any), any), b));
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  program(vector({1e-10f, 1, 1, 1}), vector({1e30f, 1, 1, 1})));
  // These can.
  for (const Expr& scale :
       {Expr(vector({1, -1, 1e-10f, 2})), Expr(Rsqrt(any))}) {
    ExpectRewrites(ForwardFoldScaleAxisInExpr, program(scale, b),
                   Function({x, w, b, any}, nn::Dense(Add(x, Divide(b, scale)),
                                                      Multiply(w, scale))));
  }
  const Constant tiny = vector({1e-30f, 1, 1, 1});
  const Constant small = vector({1e-5f, 1, 1, 1});
  ExpectRewrites(ForwardFoldScaleAxisInExpr, program(tiny, small),
                 Function({x, w, b, any}, nn::Dense(Add(x, Divide(small, tiny)),
                                                    Multiply(w, tiny))));
}

TEST(ForwardFoldScaleAxisTest, IntegersAreNotDivided) {
  const DType int32 = DType::Int(32);
  const Var x = TensorVar("x", {2, 4}, int32);
  const Var w = TensorVar("w", {3, 4}, int32);
  const Var b = TensorVar("b", {4}, int32);
  const Var s = TensorVar("s", {4}, int32);
  ExpectUnchanged(ForwardFoldScaleAxisInExpr,
                  Function({x, w, b, s}, nn::Dense(Add(Multiply(x, s), b), w)));
  ExpectRewrites(ForwardFoldScaleAxisInExpr,
                 Function({x, w, s}, nn::Dense(Multiply(x, s), w)),
                 Function({x, w, s}, nn::Dense(x, Multiply(w, s))));
}

TEST(ForwardFoldScaleAxisTest, FieldsOfTuplesAreTakenOut) {
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {3, 4});
  const Expr dense = nn::Dense(x, w);
  const Expr tuple = Tuple({dense, w});
  ExpectRewrites(ForwardFoldScaleAxisInExpr,
                 Function({x, w}, nn::Relu(TupleGetItem(tuple, 0))),
                 Function({x, w}, nn::Relu(dense)));
}

TEST(FoldScaleAxisTest, UnknownExtents) {
  const Var x("x", {Dim::Any(), 4, Dim::Any(), Dim::Any()});
  const Var w = TensorVar("w", {4, 4, 3, 3});
  const Constant s = Negative({4, 1, 1});
  const Expr squeezed = Squeeze(s, Shape{1, 2});
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr, Function({x, w}, Multiply(Conv(x, w, 4), s)),
      Function({x, w}, Conv(x, Multiply(w, ExpandDims(squeezed, 1, 3)), 4)));
  // Scales of two axes are reshaped, which takes numbers.
  const Layouts blocked = {.data = "NCHW4c", .kernel = "OIHW4i4o"};
  const Var blocked_x("x", {1, Dim::Any(), 5, 5, 4});
  const Var blocked_w("w", {3, Dim::Any(), 3, 3, 4, 4});
  ExpectUnchanged(
      ForwardFoldScaleAxisInExpr,
      Function({blocked_x, blocked_w},
               Conv(Multiply(blocked_x, Const(2.0f)), blocked_w, 12, blocked)));
}

// A sink in registered operators: a user's own layer, which takes scales of
// its data along the last axis in forward direction, but refuses.
BATON_REGISTER_OP("toy.refuses")
    .Arguments({{"data", ""}})
    .TypeRelation([](TypeRelationContext& context) -> absl::StatusOr<Type> {
      return context.arg(0);
    })
    .Set(ForwardScaleRules(),
         ForwardScaleRule{
             .request = [](const CallNode& /*call*/, const ScaleSink& /*out*/,
                           absl::Span<ScaleSink> args) { args[0].axes = {1}; },
             .rewrite = [](const CallNode& /*call*/,
                           absl::Span<const ScaledExpr> /*args*/,
                           const ScaleSink& /*out*/) -> ScaledExpr {
               return {};
             }});
// An operator linear in its data, which passes scales on in both directions.
BATON_REGISTER_OP("toy.linear")
    .Arguments({{"data", ""}})
    .TypeRelation([](TypeRelationContext& context) -> absl::StatusOr<Type> {
      return context.arg(0);
    })
    .Set(ForwardScaleRules(),
         ForwardScaleRule{
             .request = [](const CallNode& /*call*/, const ScaleSink& out,
                           absl::Span<ScaleSink> args) { args[0] = out; },
             .rewrite = [](const CallNode& call,
                           absl::Span<const ScaledExpr> args,
                           const ScaleSink& /*out*/) -> ScaledExpr {
               return {WithArgs(call, {args[0].value}), args[0].scale,
                       args[0].axes};
             }})
    .Set(BackwardScaleRules(),
         BackwardScaleRule{
             .accept = [](const CallNode& /*call*/,
                          absl::Span<const ScaleSink> args) -> BackwardSink {
               return {.sink = args[0], .scaled_args = 1};
             },
             .apply =
                 [](const CallNode& call, absl::Span<const Expr> args,
                    const BackwardSink& /*sink*/,
                    const Expr& /*scale*/) { return WithArgs(call, args); }});

Expr CallToy(const char* name, Expr data) {
  return Call(Op::Find(name), {std::move(data)});
}

TEST(FoldScaleAxisTest, RulesCanBeAdded) {
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {3, 4});
  const Var s = TensorVar("s", {4});
  const Var t = TensorVar("t", {3});
  ExpectRewrites(
      ForwardFoldScaleAxisInExpr,
      Function({x, w, s}, nn::Dense(CallToy("toy.linear", Multiply(x, s)), w)),
      Function({x, w, s}, nn::Dense(CallToy("toy.linear", x), Multiply(w, s))));
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr,
      Function({x, w, t}, Multiply(CallToy("toy.linear", nn::Dense(x, w)), t)),
      Function(
          {x, w, t},
          CallToy("toy.linear", nn::Dense(x, Multiply(w, ExpandDims(t, 1))))));
}

TEST(FoldScaleAxisTest, ARefusedScaleIsMultipliedIn) {
  const Var x = TensorVar("x", {2, 4});
  const Var s = TensorVar("s", {4});
  ExpectRewrites(
      ForwardFoldScaleAxisInExpr,
      Function({x, s},
               CallToy("toy.refuses", CallToy("toy.linear", Multiply(x, s)))),
      Function({x, s},
               CallToy("toy.refuses", Multiply(CallToy("toy.linear", x), s))));
}

TEST(FoldScaleAxisTest, LongChains) {
  constexpr int kLength = 100'000;
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {4, 4});
  const Constant s = Positive({4});
  const auto relus = [](Expr expr) {
    for (int i = 0; i < kLength; ++i) expr = nn::Relu(expr);
    return expr;
  };
  ExpectRewrites(ForwardFoldScaleAxisInExpr,
                 Function({x, w}, nn::Dense(relus(Multiply(x, s)), w)),
                 Function({x, w}, nn::Dense(relus(x), Multiply(w, s))));
  ExpectRewrites(
      BackwardFoldScaleAxisInExpr,
      Function({x, w}, Multiply(relus(nn::Dense(x, w)), s)),
      Function({x, w}, relus(nn::Dense(x, Multiply(w, ExpandDims(s, 1))))));
}

TEST(FoldScaleAxisTest, IsASequenceOfThree) {
  const Pass pass = FoldScaleAxis();
  EXPECT_EQ(pass.name(), "FoldScaleAxis");
  EXPECT_EQ(pass.info().opt_level, 0);
  EXPECT_EQ(BackwardFoldScaleAxis().info().ToString(),
            "The meta data of the pass - pass name: BackwardFoldScaleAxis, "
            "opt_level: 3, required passes: [\nInferType, ]\n");
  EXPECT_EQ(ForwardFoldScaleAxis().info().opt_level, 3);

  // At level 2 only FoldConstant is left of it.
  const Var x = TensorVar("x", {2, 4});
  const Var w = TensorVar("w", {3, 4});
  const IRModule module = ModuleFromExpr(
      Typed(Function({x, w}, nn::Dense(Multiply(x, Positive({4})), w))));
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule at_2,
      PassContext({.opt_level = 2}).Run([&] { return pass(module); }));
  EXPECT_TRUE(at_2.SameAs(module));
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule at_3,
      PassContext({.opt_level = 3}).Run([&] { return pass(module); }));
  const IRModule expected = ModuleFromExpr(
      Typed(Function({x, w}, nn::Dense(x, Multiply(w, Positive({4}))))));
  EXPECT_EQ(FirstDifference(at_3, expected), std::nullopt);
}

}  // namespace
}  // namespace baton::relay
