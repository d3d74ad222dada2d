#include "baton/instrument/structural_diff.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/testing/small_stack.h"
#include "baton/testing/test_settings.h"
#include "baton/testing/workloads/workload.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

IRModule Parse(absl::string_view text) {
  absl::StatusOr<IRModule> module =
      ParseModule(absl::StrCat("#[version = \"0.0.5\"]\n", text));
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *module : IRModule();
}

// The difference of two texts, each read by itself: nothing is shared.
std::string Diff(absl::string_view before, absl::string_view after) {
  return StructuralDiffText(DiffStructure(Parse(before), Parse(after)));
}

// Leaves out the n-th call of `op`, from 0, in post-order: its users use its
// argument.
class WithoutCall final : public relay::ExprMutator {
 public:
  WithoutCall(const Op& op, int n) : op_(op), n_(n) {}

 protected:
  Expr VisitCall(const relay::CallNode* /*original*/,
                 relay::Call call) override {
    if (call->op() == op_ && n_-- == 0) return call->arg(0);
    return call;
  }

 private:
  Op op_;
  int n_;
};

IRModule LeaveOut(const IRModule& module, absl::string_view op, int n) {
  IRModule result = module;
  result.Set("main",
             *WithoutCall(*Op::Get(op), n)
                  .MutateFunction(module.Find<relay::Function>("main")));
  return result;
}

TEST(StructuralDiffTest, NothingDiffersFromItself) {
  const IRModule module = Parse("def @main(%x) { nn.relu(%x) }");
  EXPECT_TRUE(DiffStructure(module, module).empty());
  EXPECT_EQ(StructuralDiffText(DiffStructure(module, module)), "");
}

TEST(StructuralDiffTest, NamesAndNumbersDoNotCount) {
  EXPECT_EQ(Diff("def @main(%x) { let %a = nn.relu(%x); add(%a, %x) }",
                 "def @main(%y) { let %b = nn.relu(%y); add(%b, %y) }"),
            "");
  EXPECT_EQ(Diff("def @main(%x) { %3 = nn.relu(%x); add(%3, %3) }",
                 "def @main(%x) { %0 = nn.relu(%x); add(%0, %0) }"),
            "");
}

TEST(StructuralDiffTest, OneReluOfResNet18IsOneLine) {
  const absl::StatusOr<IRModule> module =
      testing::GetWorkloadModule("resnet{num_layers=18}");
  ASSERT_TRUE(module.ok()) << module.status();
  for (const int n : {0, 3, 8, 15}) {
    const IRModule after = LeaveOut(*module, "nn.relu", n);
    const StructuralDiff diff = DiffStructure(*module, after);
    ASSERT_EQ(diff.changes.size(), 1) << StructuralDiffText(diff);
    EXPECT_EQ(diff.changes[0].kind, NodeChange::Kind::kDropped);
    const std::string text = StructuralDiffText(diff);
    EXPECT_THAT(text, AllOf(HasSubstr("- @main %"), HasSubstr("= nn.relu(%"),
                            HasSubstr("takes its place\n")));
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
    // The difference in the other direction.
    const std::string back = StructuralDiffText(DiffStructure(after, *module));
    EXPECT_THAT(back, AllOf(HasSubstr("+ @main %"), HasSubstr("= nn.relu(%"),
                            HasSubstr("in place of %")));
    EXPECT_EQ(back.find('\n'), back.size() - 1) << back;
  }
}

TEST(StructuralDiffTest, AlsoWhereNothingIsShared) {
  const absl::StatusOr<IRModule> module =
      testing::GetWorkloadModule("resnet{num_layers=18}");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<IRModule> again = ParseModule(AsText(*module));
  ASSERT_TRUE(again.ok()) << again.status();
  // The text holds no inferred types.
  const StructuralDiff same = DiffStructure(*module, *again);
  EXPECT_TRUE(same.changes.empty()) << StructuralDiffText(same);
  const StructuralDiff diff =
      DiffStructure(*module, LeaveOut(*again, "nn.relu", 8));
  EXPECT_EQ(diff.changes.size(), 1) << StructuralDiffText(diff);
}

TEST(StructuralDiffTest, ChangedFields) {
  EXPECT_EQ(Diff("def @main(%x) { nn.relu(nn.softmax(%x, axis=1)) }",
                 "def @main(%x) { nn.relu(nn.softmax(%x, axis=2)) }"),
            "~ @main %0 = nn.softmax(%x, axis=2): attrs.axis 1 -> 2\n");
  EXPECT_EQ(Diff("def @main(%x, %y) { %0 = (%x, %y); nn.relu(%0.0) }",
                 "def @main(%x, %y) { %0 = (%x, %y); nn.relu(%0.1) }"),
            "~ @main %1 = %0.1: index 0 -> 1\n");
  EXPECT_EQ(
      Diff("def @main(%x) { add(%x, 1f) }", "def @main(%x) { add(%x, 2f) }"),
      "~ @main add(%x, 2): args[1] 1 -> 2\n");
  EXPECT_EQ(Diff("def @main(%x, %y) { nn.relu(add(%x, %y)) }",
                 "def @main(%x, %y) { nn.relu(add(%x, %x)) }"),
            "~ @main %0 = add(%x, %x): args[1] %y -> %x\n");
  EXPECT_EQ(Diff("def @main(%x) { %x }",
                 "def @main(%x, %y: int32, Primitive=1) { %x }"),
            "~ @main fn (%x, %y): attrs.Primitive none -> 1, params[1] none -> "
            "%y: int32\n");
}

TEST(StructuralDiffTest, MadeAndDroppedAtOnePlace) {
  EXPECT_EQ(Diff("def @main(%x) { nn.relu(exp(%x)) }",
                 "def @main(%x) { nn.relu(tanh(%x)) }"),
            "- @main %0 = exp(%x); %0 takes its place\n"
            "+ @main %0 = tanh(%x) in place of %0\n");
}

TEST(StructuralDiffTest, OperatorsAreFoundBehindWhatIsPutBefore) {
  // As a change of layouts does.
  EXPECT_EQ(
      Diff("def @main(%x, %w) { nn.relu(nn.conv2d(%x, %w, channels=8)) }",
           "def @main(%x, %w) {\n"
           "  %0 = layout_transform(%x, src_layout=\"NCHW\", "
           "dst_layout=\"NHWC\");\n"
           "  %1 = layout_transform(%w, src_layout=\"OIHW\", "
           "dst_layout=\"HWIO\");\n"
           "  nn.relu(nn.conv2d(%0, %1, channels=8, data_layout=\"NHWC\"))\n"
           "}"),
      "+ @main %0 = layout_transform(%x, src_layout=NCHW, dst_layout=NHWC) in "
      "place of %x\n"
      "+ @main %1 = layout_transform(%w, src_layout=OIHW, dst_layout=HWIO) in "
      "place of %w\n"
      "~ @main %2 = nn.conv2d(%0, %1, channels=8, data_layout=NHWC): "
      "attrs.data_layout NCHW -> NHWC\n");
}

TEST(StructuralDiffTest, WhatIsFusedHasMoved) {
  EXPECT_EQ(Diff("def @main(%x, %y) { tanh(nn.relu(add(%x, %y))) }",
                 "def @main(%x, %y) {\n"
                 "  %1 = fn (%p0, %p1, Primitive=1) {\n"
                 "    %0 = add(%p0, %p1);\n"
                 "    nn.relu(%0)\n"
                 "  };\n"
                 "  tanh(%1(%x, %y))\n"
                 "}"),
            "> @main add, nn.relu into %1 = fn\n"
            "+ 2 lets, local functions and calls of them\n");
}

TEST(StructuralDiffTest, LetsAreSeenThrough) {
  EXPECT_EQ(Diff("def @main(%x, %y) { nn.relu(add(%x, %y)) }",
                 "def @main(%x, %y) {\n"
                 "  let %a = add(%x, %y);\n"
                 "  let %b = nn.relu(%a);\n"
                 "  %b\n"
                 "}"),
            "+ 2 lets, local functions and calls of them\n");
}

TEST(StructuralDiffTest, ACallInPlaceOfWhatANewFunctionDoes) {
  EXPECT_EQ(Diff("def @main(%x) { nn.relu(exp(%x)) }",
                 "def @f(%y) { exp(%y) }\n"
                 "def @main(%x) { nn.relu(@f(%x)) }"),
            "+ @f\n"
            "- @main %0 = exp(%x); %0 takes its place\n"
            "+ @f exp(%y)\n"
            "+ @main %0 = @f(%x) in place of %0\n");
}

TEST(StructuralDiffTest, DataTypes) {
  EXPECT_EQ(Diff("type T { A(int32), }\ndef @main(%x: T[]) { %x }",
                 "type T { A(int64), }\ndef @main(%x: T[]) { %x }"),
            "~ type T\n");
}

TEST(StructuralDiffTest, TypesThatAreFoundAreCounted) {
  const IRModule module =
      Parse("def @main(%x: Tensor[(2, 3), float32]) { nn.relu(exp(%x)) }");
  const absl::StatusOr<IRModule> typed = relay::InferTypes(module);
  ASSERT_TRUE(typed.ok()) << typed.status();
  EXPECT_THAT(StructuralDiffText(DiffStructure(module, *typed)),
              HasSubstr(" types\n"));
}

TEST(StructuralDiffTest, Json) {
  const StructuralDiff diff =
      DiffStructure(Parse("def @main(%x) { exp(nn.softmax(%x, axis=1)) }"),
                    Parse("def @main(%x) { nn.softmax(%x, axis=2) }"));
  EXPECT_EQ(
      StructuralDiffJson(diff),
      R"j({"dropped_functions":[],"made_functions":[],"changed_types":[],)j"
      R"j("wrappers_made":0,"wrappers_dropped":0,"types_found":0,)j"
      R"j("types_lost":0,"changes":[{"kind":"dropped","function":"main",)j"
      R"j("before":"exp(%0)","place":"nn.softmax"},{"kind":"changed",)j"
      R"j("function":"main","before":"%0 = nn.softmax(%x, axis=1)",)j"
      R"j("after":"nn.softmax(%x, axis=2)","fields":[{"field":"attrs.axis",)j"
      R"j("before":"1","after":"2"}]}]})j");
}

// A function of another level is compared by the lines of its text.
TEST(StructuralDiffTest, LoopsByLines) {
  const auto loops = [](absl::string_view value) {
    const absl::StatusOr<IRModule> module =
        ParseModule(absl::StrCat("@T.prim_func\n"
                                 "def loops(A: T.Buffer((4,), \"float32\")):\n"
                                 "    for i in range(4):\n"
                                 "        A[i] = ",
                                 value, "\n"));
    EXPECT_TRUE(module.ok()) << module.status();
    return *module;
  };
  const StructuralDiff diff =
      DiffStructure(loops("T.float32(1)"), loops("T.float32(2)"));
  EXPECT_EQ(StructuralDiffText(diff),
            "~ @loops A[i] = T.float32(1) -> A[i] = T.float32(2)\n");
  EXPECT_THAT(
      StructuralDiffJson(diff),
      HasSubstr(
          R"j("lines":[{"kind":"changed","before":"A[i] = T.float32(1)",)j"
          R"j("after":"A[i] = T.float32(2)",)j"
          R"j("under":"for i in range(4):"}])j"));
  EXPECT_TRUE(
      DiffStructure(loops("T.float32(1)"), loops("T.float32(1)")).empty());
}

// A million in the long form of tests.
TEST(StructuralDiffTest, ManyCallsInASmallStack) {
  const int num_calls = testing::LongOrShort(1'000'000, 100'000);
  const Op relu = *Op::Get("nn.relu");
  const Op tanh = *Op::Get("tanh");
  const relay::Var x("x");
  const auto chain = [&](int without) {
    Expr body = x;
    for (int i = 0; i < num_calls; ++i) {
      if (i != without) body = relay::Call(i % 3 == 0 ? relu : tanh, {body});
    }
    IRModule module;
    module.Set("main", relay::Function({x}, body));
    return module;
  };
  const IRModule before = chain(-1);
  const IRModule after = chain(num_calls / 2 + 1);
  testing::RunWithStack(testing::SmallStackBytesOfThisBuild(), [&] {
    const StructuralDiff diff = DiffStructure(before, after);
    EXPECT_EQ(diff.changes.size(), 1);
  });
}

}  // namespace
}  // namespace baton
