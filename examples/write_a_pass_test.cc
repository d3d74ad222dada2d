// Asserts what docs/write_a_pass.md and docs/write_a_test.md say.

#include "baton/examples/write_a_pass.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/instrument/recorder.h"
#include "baton/instrument/verify.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/inputs.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::examples {
namespace {

using testing::IsOk;
using testing::StatusIs;

namespace nn = relay::nn;

// [module]
// A typed module whose `main` applies `build` to a tensor %x.
absl::StatusOr<IRModule> ModuleOf(Expr (*build)(Expr x)) {
  const relay::Var x("x", {1, 4});
  return relay::InferTypes(
      relay::ModuleFromExpr(relay::Function({x}, build(x))));
}

Expr ReluOfRelu(Expr x) { return nn::Relu(nn::Relu(std::move(x))); }
Expr ReluOfSum(Expr x) { return nn::Relu(relay::Add(x, x)); }
// [/module]

// [call]
TEST(RemoveRedundantReluTest, IsCalledLikeAFunction) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ModuleOf(ReluOfRelu));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             RemoveRedundantRelu()(module));
  EXPECT_EQ(AsText(result, {.version = false, .types = false}),
            "def @main(%x: Tensor[(1, 4), float32])"
            " -> Tensor[(1, 4), float32] {\n"
            "  nn.relu(%x)\n"
            "}\n");
}
// [/call]

// [mutator]
// Puts the values of lets in the place of their variables.
class LetInliner final : public relay::ExprMutator {
 protected:
  // Called between the value of a let and its body, where the result stands
  // for the variable.
  Expr AfterLetValue(const relay::LetNode* let, const Expr& value) override {
    if (!value.Is<relay::FunctionNode>()) return value;
    return Fail(absl::UnimplementedError(
        absl::StrCat("%", let->var()->name(), " is a function")));
  }
  // `let` has its children rewritten already.
  Expr VisitLet(const relay::LetNode* /*original*/, relay::Let let) override {
    return let->body();
  }
};

TEST(LetInlinerTest, InlinesValuesButNotFunctions) {
  const relay::Var x("x", {4}), y("y"), f("f");
  BATON_ASSERT_OK_AND_ASSIGN(
      const Expr result,
      LetInliner().Mutate(relay::Let(y, nn::Relu(x), relay::Add(y, y))));
  const Expr relu = nn::Relu(x);  // one node, used twice
  EXPECT_TRUE(StructuralEqual(result, relay::Add(relu, relu)));
  EXPECT_THAT(LetInliner().Mutate(relay::Let(f, relay::Function({x}, x), f)),
              StatusIs(absl::StatusCode::kUnimplemented, "%f is a function"));
}
// [/mutator]

// [nothing_to_do]
TEST(RemoveRedundantReluTest, NothingToDoReturnsTheSameModule) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ModuleOf(ReluOfSum));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             RemoveRedundantRelu()(module));
  EXPECT_TRUE(result.SameAs(module));
}
// [/nothing_to_do]

// [input_is_untouched]
TEST(RemoveRedundantReluTest, InputIsUntouched) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ModuleOf(ReluOfRelu));
  const std::string before = AsText(module);
  ASSERT_THAT(RemoveRedundantRelu()(module), IsOk());
  EXPECT_EQ(AsText(module), before);
}
// [/input_is_untouched]

// [structure]
TEST(RemoveRedundantReluTest, MakesWhatIsWrittenByHand) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule module, ModuleOf([](Expr x) {
        return nn::Relu(nn::Relu(relay::Sigmoid(std::move(x))));
      }));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule want, ModuleOf([](Expr x) {
                               return relay::Sigmoid(std::move(x));
                             }));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             RemoveRedundantRelu()(module));
  EXPECT_EQ(FirstDifference(result, want).value_or(""), "");
}
// [/structure]

// [values]
TEST(RemoveRedundantReluTest, KeepsTheValues) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ModuleOf(ReluOfRelu));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             RemoveRedundantRelu()(module));
  BATON_ASSERT_OK_AND_ASSIGN(
      const std::vector<relay::Value> inputs,
      testing::RandomInputs(module.Find<relay::Function>("main"), /*seed=*/0));
  BATON_ASSERT_OK_AND_ASSIGN(const relay::Value before,
                             relay::EvaluateFunction(module, "main", inputs));
  BATON_ASSERT_OK_AND_ASSIGN(const relay::Value after,
                             relay::EvaluateFunction(result, "main", inputs));
  EXPECT_EQ(after.tensor(), before.tensor());
}
// [/values]

// [errors]
TEST(RemoveRedundantReluTest, UnknownOperatorIsAnError) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ModuleOf(ReluOfRelu));
  EXPECT_THAT(RemoveRedundantRelu({.non_negative = {"nn.rely"}})(module),
              StatusIs(absl::StatusCode::kNotFound,
                       "in pass #1 RemoveRedundantRelu, function @main:\n"
                       "unknown operator \"nn.rely\"; did you mean"));
}
// [/errors]

// [by_name]
TEST(RemoveRedundantReluTest, RunsByName) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ModuleOf(ReluOfRelu));
  BATON_ASSERT_OK_AND_ASSIGN(
      const Pass pipeline,
      ParsePipeline("RemoveRedundantRelu{non_negative=[sigmoid]}"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, pipeline(module));
  EXPECT_TRUE(result.SameAs(module));  // nn.relu is not in the list
}
// [/by_name]

// [level]
TEST(RemoveRedundantReluTest, RunsInASequenceFromLevel1On) {
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule module, ModuleOf(ReluOfRelu));
  BATON_ASSERT_OK_AND_ASSIGN(const Pass pipeline,
                             ParsePipeline("RemoveRedundantRelu"));
  for (const int level : {0, 1}) {
    const PassContext context({.opt_level = level});
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                               context.Run([&] { return pipeline(module); }));
    EXPECT_EQ(result.SameAs(module), level == 0);
  }
}
// [/level]

// [watched]
TEST(RemoveRedundantReluTest, LeavesResNetAsItIs) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const IRModule module,
      testing::GetWorkloadModule("resnet{num_layers=18}"));
  const auto recorder = std::make_shared<PassRecorder>();
  const PassContext context(
      {.instruments = {std::make_shared<VerifyInstrument>(), recorder}});
  const Pass pass = RemoveRedundantRelu();
  ASSERT_THAT(context.Run([&] { return pass(module); }), IsOk());
  EXPECT_EQ(recorder->ToString(),
            "1 RemoveRedundantRelu\n"
            "  2 InferType\n");
}
// [/watched]

TEST(RemoveRedundantReluTest, SaysOfItselfWhatTheDocSays) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const PassInfo info, PassRegistry::Global().Info("RemoveRedundantRelu"));
  EXPECT_EQ(info.opt_level, 1);
  EXPECT_TRUE(info.idempotent);
  EXPECT_TRUE(info.exact);
  BATON_ASSERT_OK_AND_ASSIGN(const std::string text,
                             PipelineToString(RemoveRedundantRelu()));
  EXPECT_EQ(text, "RemoveRedundantRelu");
  EXPECT_THAT(ParsePipeline("RemoveRedundantRelu{nonnegative=[exp]}"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "did you mean \"non_negative\""));
}

}  // namespace
}  // namespace baton::examples
