#include "baton/relay/transform/convert_layout.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using ::baton::testing::IsOk;
using ::baton::testing::StatusIs;

// The function of `params` with that body, after the pass. The text is that of
// the body, without types.
class ConvertLayoutTest : public ::testing::Test {
 protected:
  static Pass ToNhwc() {
    return ConvertLayout(
        {.desired_layouts = {{"nn.conv2d", AttrList{"NHWC", "default"}}}});
  }
  static Pass ToNchw() {
    return ConvertLayout(
        {.desired_layouts = {{"nn.conv2d", AttrList{"NCHW", "default"}}}});
  }

  static IRModule Typed(std::vector<Var> params, const Expr& body) {
    IRModule module;
    module.Set("main", Function(std::move(params), body));
    absl::StatusOr<IRModule> typed = InferTypes(module);
    EXPECT_THAT(typed, IsOk());
    return typed.value_or(module);
  }

  // Also checks that the result is well formed, and that the pass leaves its
  // own result alone.
  static std::string Run(const Pass& pass, std::vector<Var> params,
                         const Expr& body) {
    const absl::StatusOr<IRModule> result =
        pass(Typed(std::move(params), body));
    if (!result.ok()) return std::string(result.status().message());
    EXPECT_THAT(CheckWellFormed(*result), IsOk());
    EXPECT_THAT(testing::CheckRoundTrip(*result, /*typed=*/true), IsOk());
    const absl::StatusOr<IRModule> again = pass(*result);
    EXPECT_TRUE(again.ok() && again->SameAs(*result)) << "not idempotent";
    const std::string text =
        AsText(*result, {.version = false, .metadata = false, .types = false});
    return "\n" + text.substr(text.find('\n') + 1);
  }

  static Expr Conv(const Expr& x, const Expr& w) {
    return nn::Conv2D(x, w, {.padding = {1, 1}, .kernel_size = {3, 3}});
  }

  const Var x_{"x", {1, 8, 4, 4}};
  const Var w_{"w", {8, 8, 3, 3}};
};

TEST_F(ConvertLayoutTest, AgnosticOperatorsFollow) {
  EXPECT_EQ(Run(ToNhwc(), {x_, w_}, nn::Relu(Conv(x_, w_))), R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
  %2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %3 = nn.relu(%2);
  layout_transform(%3, src_layout="NHWC", dst_layout="NCHW")
}
)");
}

TEST_F(ConvertLayoutTest, NothingToDoGivesTheSameModule) {
  const IRModule module =
      Typed({x_, w_}, nn::Relu(nn::BatchFlatten(Conv(x_, w_))));
  absl::StatusOr<IRModule> result = ToNchw()(module);
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->SameAs(module));
  result = ConvertLayout()(module);
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->SameAs(module));
}

TEST_F(ConvertLayoutTest, ATransformIsShared) {
  // Both convolutions read the same data and the same weight, and the result of
  // one has two users that want the old layout.
  const Expr conv = Conv(x_, w_);
  EXPECT_EQ(Run(ToNhwc(), {x_, w_},
                Tuple({conv, nn::BatchFlatten(conv), Conv(x_, w_)})),
            R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
  %2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %3 = layout_transform(%2, src_layout="NHWC", dst_layout="NCHW");
  %4 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %5 = nn.batch_flatten(%3);
  %6 = layout_transform(%4, src_layout="NHWC", dst_layout="NCHW");
  (%3, %5, %6)
}
)");
}

TEST_F(ConvertLayoutTest, ALowerRankGetsAxesInFront) {
  const Var bias("bias", {8, 1, 1});
  EXPECT_EQ(Run(ToNhwc(), {x_, w_, bias},
                Multiply(Add(Conv(x_, w_), bias), Const(2.0f))),
            R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
  %2 = expand_dims(%bias, axis=0);
  %3 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %4 = layout_transform(%2, src_layout="NCHW", dst_layout="NHWC");
  %5 = add(%3, %4);
  %6 = multiply(%5, 2f);
  layout_transform(%6, src_layout="NHWC", dst_layout="NCHW")
}
)");
}

TEST_F(ConvertLayoutTest, BatchNormMovesItsAxis) {
  const Var c("c", {8});
  EXPECT_EQ(Run(ToNhwc(), {x_, w_, c},
                TupleGetItem(nn::BatchNorm(Conv(x_, w_), c, c, c, c), 0)),
            R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
  %2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %3 = nn.batch_norm(%2, %c, %c, %c, %c, axis=3);
  %4 = %3.0;
  layout_transform(%4, src_layout="NHWC", dst_layout="NCHW")
}
)");
}

TEST_F(ConvertLayoutTest, TuplesAreTakenApart) {
  const Expr halves = Split(Conv(x_, w_), 2, 1);
  EXPECT_EQ(
      Run(ToNhwc(), {x_, w_},
          Concatenate({TupleGetItem(halves, 1), TupleGetItem(halves, 0)}, 1)),
      R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
  %2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %3 = split(%2, indices_or_sections=2, axis=3);
  %4 = %3.1;
  %5 = %3.0;
  %6 = (%4, %5);
  %7 = concatenate(%6, axis=3);
  layout_transform(%7, src_layout="NHWC", dst_layout="NCHW")
}
)");
}

TEST_F(ConvertLayoutTest, ATupleResultIsPutBackFieldByField) {
  EXPECT_EQ(Run(ToNhwc(), {x_, w_}, Split(Conv(x_, w_), 2, 1)), R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
  %2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  %3 = split(%2, indices_or_sections=2, axis=3);
  %4 = %3.0;
  %5 = %3.1;
  %6 = layout_transform(%4, src_layout="NHWC", dst_layout="NCHW");
  %7 = layout_transform(%5, src_layout="NHWC", dst_layout="NCHW");
  (%6, %7)
}
)");
}

TEST_F(ConvertLayoutTest, ATupleResultInItsOldLayoutIsTheCallItself) {
  const IRModule module = Typed({x_, w_}, Split(Conv(x_, w_), 2, 1));
  const absl::StatusOr<IRModule> result = ToNchw()(module);
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->SameAs(module));
}

TEST_F(ConvertLayoutTest, ATransposeAbsorbsTheChange) {
  EXPECT_EQ(Run(ToNhwc(), {x_, w_}, Transpose(Conv(x_, w_), {{0, 2, 3, 1}})),
            R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="HWIO");
  %2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO");
  transpose(%2, axes=[0, 1, 2, 3])
}
)");
}

TEST_F(ConvertLayoutTest, TilesWithANewOperator) {
  const Pass pass = ConvertLayout(
      {.desired_layouts = {{"nn.conv2d", AttrList{"NCHW4c", "OIHW4i4o"}}}});
  EXPECT_EQ(Run(pass, {x_, w_}, nn::GlobalMaxPool2D(Conv(x_, w_))), R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NCHW4c");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="OIHW4i4o");
  %2 = nn.contrib_conv2d_NCHWc(%0, %1, padding=[1, 1, 1, 1], channels=8, kernel_size=[3, 3], data_layout="NCHW4c", kernel_layout="OIHW4i4o");
  %3 = nn.global_max_pool2d(%2, layout="NCHW4c");
  layout_transform(%3, src_layout="NCHW4c", dst_layout="NCHW")
}
)");
}

TEST_F(ConvertLayoutTest, OperatorsCanDisagree) {
  const Pass pass = ConvertLayout(
      {.desired_layouts = {{"nn.conv2d", AttrList{"NHWC", "OHWI"}},
                           {"nn.max_pool2d", AttrList{"NCHW"}}}});
  EXPECT_EQ(
      Run(pass, {x_, w_}, nn::MaxPool2D(Conv(x_, w_), {.pool_size = {2, 2}})),
      R"(
  %0 = layout_transform(%x, src_layout="NCHW", dst_layout="NHWC");
  %1 = layout_transform(%w, src_layout="OIHW", dst_layout="OHWI");
  %2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], kernel_size=[3, 3], data_layout="NHWC", kernel_layout="OHWI");
  %3 = layout_transform(%2, src_layout="NHWC", dst_layout="NCHW");
  nn.max_pool2d(%3, pool_size=[2, 2], padding=[0, 0, 0, 0], out_layout="NCHW")
}
)");
}

TEST_F(ConvertLayoutTest, DeepGraphsDoNotRecurse) {
  Expr body = Conv(x_, w_);
  for (int i = 0; i < 100000; ++i) body = nn::Relu(body);
  for (int i = 0; i < 100000; ++i) body = Tuple({body});
  for (int i = 0; i < 100000; ++i) body = TupleGetItem(body, 0);
  const absl::StatusOr<IRModule> result = ToNhwc()(Typed({x_, w_}, body));
  EXPECT_THAT(result, IsOk());

  // A tuple of tuples that is put back into the old layout.
  const Expr condition = Const(true);
  Expr value = Conv(x_, w_);
  for (int i = 0; i < 500; ++i) value = Tuple({value});
  body = If(condition, value, value);
  for (int i = 0; i < 500; ++i) body = TupleGetItem(body, 0);
  EXPECT_THAT(ToNhwc()(Typed({x_, w_}, body)), IsOk());
}

TEST_F(ConvertLayoutTest, BadOptionsAreNamed) {
  const IRModule module = Typed({x_, w_}, Conv(x_, w_));
  const auto error = [&](AttrMap desired) {
    return ConvertLayout({.desired_layouts = std::move(desired)})(module)
        .status();
  };
  const absl::Status unknown = error({{"nn.conv2dd", AttrList{"NHWC"}}});
  EXPECT_THAT(unknown, StatusIs(absl::StatusCode::kInvalidArgument,
                                "nn.conv2dd: no such operator"));
  EXPECT_THAT(unknown, StatusIs(absl::StatusCode::kInvalidArgument,
                                "nn.conv2d, nn.conv2d_backward_weight"));
  EXPECT_THAT(error({{"nn.relu", AttrList{"NHWC"}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nn.relu: the layout of this operator cannot be "
                       "chosen"));
  EXPECT_THAT(error({{"nn.conv2d", AttrList{"NHWC"}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nn.conv2d: expected 2 layouts (data, kernel), not 1"));
  EXPECT_THAT(error({{"nn.conv2d", AttrList{"NH?C", "HWIO"}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nn.conv2d: invalid layout \"NH?C\""));
  EXPECT_THAT(error({{"nn.conv2d", AttrList{"default", "HWIO"}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nn.conv2d: the data layout cannot be `default`"));
  // Well formed, but not for four axes.
  EXPECT_THAT(error({{"nn.conv2d", AttrList{"NWC", "WIO"}}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nn.conv2d: there is no way from layout \"NCHW\" to "
                       "layout \"NWC\""));
  // By name, when the pass is made.
  EXPECT_THAT(
      PassRegistry::Global().Create(
          "ConvertLayout", {{"desired_layouts", AttrMap{{"nn.conv2d", 1}}}}),
      StatusIs(absl::StatusCode::kInvalidArgument, "nn.conv2d"));
}

TEST_F(ConvertLayoutTest, UntypedFunctionsAreRefused) {
  IRModule module;
  module.Set("main", Function({x_, w_}, Conv(x_, w_)));
  EXPECT_THAT(ToNhwc()(module),
              StatusIs(absl::StatusCode::kFailedPrecondition, "InferType"));
}

}  // namespace
}  // namespace baton::relay
