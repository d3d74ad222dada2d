// AlterOpLayout under rules that this test registers, and ConvertLayout where
// an IR file of testing/passes/ does not show it: on deep programs, with bad
// options given in C++, on programs without types.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/transform/alter_op_layout.h"
#include "baton/relay/transform/convert_layout.h"
#include "baton/relay/transform/infer_type.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/test_settings.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using testing::IsOk;
using testing::StatusIs;

// Targets of this test, with a rule or two each.

absl::StatusOr<Expr> Blocked(const AlterLayoutQuery& query) {
  auto attrs = *query.attrs.As<Conv2DAttrs>();
  attrs.data_layout = "NCHW16c";
  attrs.kernel_layout = "OIHW16i";
  return Call(query.call.op(), query.args, Attrs::Make(std::move(attrs)));
}
BATON_EXTEND_OP("nn.conv2d").Set(AlterLayoutRules("blocked"), Blocked);

absl::StatusOr<Expr> DoubledWeights(const AlterLayoutQuery& query) {
  return Call(query.call.op(),
              {query.args[0], Multiply(query.args[1], Const(2.0f))},
              query.attrs);
}
BATON_EXTEND_OP("nn.conv2d").Set(AlterLayoutRules("doubled"), DoubledWeights);

absl::StatusOr<Expr> Nothing(const AlterLayoutQuery& /*query*/) {
  return Expr();
}
BATON_EXTEND_OP("nn.conv2d").Set(AlterLayoutRules("nothing"), Nothing);

absl::StatusOr<Expr> Argument(const AlterLayoutQuery& query) {
  return query.args[0];
}
BATON_EXTEND_OP("nn.conv2d").Set(AlterLayoutRules("argument"), Argument);

absl::StatusOr<Expr> FewerArguments(const AlterLayoutQuery& query) {
  return Call(query.call.op(), {query.args[0]}, query.attrs);
}
BATON_EXTEND_OP("nn.conv2d").Set(AlterLayoutRules("fewer"), FewerArguments);

absl::StatusOr<Expr> FastErf(const AlterLayoutQuery& query) {
  return Call(Op::Find("fast_erf"), query.args);
}
BATON_EXTEND_OP("erf").Set(AlterLayoutRules("approximate"), FastErf);

absl::StatusOr<Expr> Joined(const AlterLayoutQuery& query) {
  return Call(Op::Find("concatenate"),
              {Tuple({query.args.begin(), query.args.end()})});
}
BATON_EXTEND_OP("add").Set(AlterLayoutRules("joined"), Joined);

absl::StatusOr<Expr> Added(const AlterLayoutQuery& query) {
  const auto* tuple = query.args[0].As<TupleNode>();
  return Call(Op::Find("add"), tuple->fields());
}
BATON_EXTEND_OP("concatenate").Set(AlterLayoutRules("added"), Added);

absl::StatusOr<IRModule> Alter(absl::string_view text,
                               const std::string& target) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, ParseModule(text));
  BATON_ASSIGN_OR_RETURN(const IRModule typed, InferType()(module));
  return AlterOpLayout({.target = target})(typed);
}

// Checks what the rules of `target` make of @main.
void ExpectAlters(const std::string& target, absl::string_view before,
                  absl::string_view after) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule altered, Alter(before, target));
  const Function result = altered.Find<Function>("main");
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule expected, ParseModule(after));
  EXPECT_EQ(FirstDifference(result, Typed(expected.Find<Function>("main"))),
            std::nullopt)
      << ToText(result);
}

constexpr char kConv[] =
    "nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3])";
constexpr char kParams[] =
    "%x: Tensor[(1, 64, 8, 8), float32], %w: Tensor[(64, 64, 3, 3), float32]";

std::string Main(absl::string_view body) {
  return absl::StrCat("def @main(", kParams, ") {\n", body, "\n}\n");
}

TEST(AlterOpLayoutTest, ArgumentsAreNew) {
  ExpectAlters("doubled", Main(absl::StrCat("nn.relu(", kConv, ")")),
               Main("nn.relu(nn.conv2d(%x, %w * 2f, padding=[1, 1, 1, 1], "
                    "channels=64, kernel_size=[3, 3]))"));
}

TEST(AlterOpLayoutTest, AsksTheTargetOfTheContext) {
  const PassContext context({.target = {.kind = "doubled"}});
  const std::string text = Main(kConv);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule by_context,
                             context.Run([&] { return Alter(text, ""); }));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule by_option, Alter(text, "doubled"));
  EXPECT_EQ(FirstDifference(by_context, by_option), std::nullopt);
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule other, context.Run([&] {
    return Alter(text, "nothing");
  }));
  EXPECT_NE(FirstDifference(other, by_option), std::nullopt);
}

TEST(AlterOpLayoutTest, NothingIsAltered) {
  for (const char* target : {"nothing", "unknown", ""}) {
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ParseModule(Main(kConv)));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, InferType()(module));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule altered,
                               AlterOpLayout({.target = target})(typed));
    EXPECT_TRUE(altered.SameAs(typed)) << target;
  }
}

TEST(AlterOpLayoutTest, OtherOperatorsFollow) {
  ExpectAlters(
      "blocked",
      Main(absl::StrCat("%0 = ", kConv,
                        ";\n"
                        "%1 = nn.max_pool2d(nn.relu(%0), pool_size=[2, 2]);\n"
                        "nn.batch_flatten(%1)")),
      Main("%0 = layout_transform(%x, src_layout=\"NCHW\", "
           "dst_layout=\"NCHW16c\");\n"
           "%1 = layout_transform(%w, src_layout=\"OIHW\", "
           "dst_layout=\"OIHW16i\");\n"
           "%2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], channels=64, "
           "kernel_size=[3, 3], data_layout=\"NCHW16c\", "
           "kernel_layout=\"OIHW16i\");\n"
           "%3 = nn.max_pool2d(nn.relu(%2), pool_size=[2, 2], "
           "layout=\"NCHW16c\");\n"
           "%4 = layout_transform(%3, src_layout=\"NCHW16c\", "
           "dst_layout=\"NCHW\");\n"
           "nn.batch_flatten(%4)"));
}

TEST(AlterOpLayoutTest, OneTensorIsTransformedOnce) {
  // Both convolutions take %x, and so does the tuple.
  ExpectAlters("blocked", Main(absl::StrCat("(", kConv, ", ", kConv, ", %x)")),
               Main("%0 = layout_transform(%x, src_layout=\"NCHW\", "
                    "dst_layout=\"NCHW16c\");\n"
                    "%1 = layout_transform(%w, src_layout=\"OIHW\", "
                    "dst_layout=\"OIHW16i\");\n"
                    "%2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], channels=64, "
                    "kernel_size=[3, 3], data_layout=\"NCHW16c\", "
                    "kernel_layout=\"OIHW16i\");\n"
                    "%3 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1], channels=64, "
                    "kernel_size=[3, 3], data_layout=\"NCHW16c\", "
                    "kernel_layout=\"OIHW16i\");\n"
                    "(layout_transform(%2, src_layout=\"NCHW16c\", "
                    "dst_layout=\"NCHW\"),\n"
                    " layout_transform(%3, src_layout=\"NCHW16c\", "
                    "dst_layout=\"NCHW\"), %x)"));
}

TEST(AlterOpLayoutTest, OperatorsMayBeOthers) {
  ExpectAlters("approximate", Main(absl::StrCat("exp(erf(", kConv, "))")),
               Main(absl::StrCat("exp(fast_erf(", kConv, "))")));
}

TEST(AlterOpLayoutTest, ArgumentsMustBeTheSameTuples) {
  EXPECT_THAT(
      Alter(Main(absl::StrCat("concatenate((", kConv, ", %x))")), "added")
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "a call of 1 arguments is replaced by one of 2"));
  EXPECT_THAT(
      Alter(Main(absl::StrCat("add(", kConv, ", %x)")), "joined").status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "a call of 2 arguments is replaced by one of 1"));
}

// As in the reference.
TEST(AlterOpLayoutTest, CallsWhoseLayoutsAreNotKnownStay) {
  constexpr char kErf[] = "def @main(%x: Tensor[(4), float32]) { erf(%x) }";
  ExpectAlters("approximate", kErf, kErf);
}

TEST(AlterOpLayoutTest, ErrorsNameTheOperator) {
  EXPECT_THAT(Alter(Main(kConv), "argument"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nn.conv2d: a rule for layouts makes something else "
                       "than a call of an operator"));
  EXPECT_THAT(Alter(Main(kConv), "fewer"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "nn.conv2d: a call of 2 tensors is replaced by one of "
                       "1"));
}

Pass ToNhwc() {
  return ConvertLayout(
      {.desired_layouts = {{"nn.conv2d", AttrList{"NHWC", "default"}}}});
}

IRModule TypedModule(std::vector<Var> params, const Expr& body) {
  const absl::StatusOr<IRModule> typed =
      InferTypes(ModuleFromExpr(Function(std::move(params), body)));
  EXPECT_THAT(typed, IsOk());
  return typed.value_or(IRModule());
}

class ConvertLayoutTest : public ::testing::Test {
 protected:
  static Expr Conv(const Expr& x, const Expr& w) {
    return nn::Conv2D(x, w, {.padding = {1, 1}, .kernel_size = {3, 3}});
  }

  const Var x_{"x", {1, 8, 4, 4}};
  const Var w_{"w", {8, 8, 3, 3}};
};

TEST_F(ConvertLayoutTest, DeepGraphsDoNotRecurse) {
  Expr body = Conv(x_, w_);
  const int depth = testing::LongOrShort(100'000, 20'000);
  for (int i = 0; i < depth; ++i) body = nn::Relu(body);
  for (int i = 0; i < depth; ++i) body = Tuple({body});
  for (int i = 0; i < depth; ++i) body = TupleGetItem(body, 0);
  const absl::StatusOr<IRModule> result = ToNhwc()(TypedModule({x_, w_}, body));
  EXPECT_THAT(result, IsOk());

  // A tuple of tuples that is put back into the old layout.
  const Expr condition = Const(true);
  Expr value = Conv(x_, w_);
  for (int i = 0; i < 500; ++i) value = Tuple({value});
  body = If(condition, value, value);
  for (int i = 0; i < 500; ++i) body = TupleGetItem(body, 0);
  EXPECT_THAT(ToNhwc()(TypedModule({x_, w_}, body)), IsOk());
}

TEST_F(ConvertLayoutTest, BadOptionsAreNamed) {
  const IRModule module = TypedModule({x_, w_}, Conv(x_, w_));
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
  EXPECT_THAT(ToNhwc()(ModuleFromExpr(Function({x_, w_}, Conv(x_, w_)))),
              StatusIs(absl::StatusCode::kFailedPrecondition, "InferType"));
}

}  // namespace
}  // namespace baton::relay
