// Tests functions of another level beside Relay's in one module: passes,
// analyses and instruments for Relay leave them unchanged, and nothing ends the
// program.

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/instrument/bisect.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/dump.h"
#include "baton/instrument/op_differ.h"
#include "baton/instrument/print_ir_instrument.h"
#include "baton/instrument/progress.h"
#include "baton/instrument/recorder.h"
#include "baton/instrument/timing.h"
#include "baton/instrument/verify.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/testing/script_level.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/ir/well_formed.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/script_passes.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Function;
using relay::InferTypes;
using script::Script;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using testing::ParseTyped;
using testing::StatusIs;

const Type& Vector() {
  static const auto& type = *new Type(TensorType({4}, DType::Float(32)));
  return type;
}

// Something for every pass to do, in two functions.
IRModule RelayOnly() {
  return ParseTyped(R"(
    def @main(%x: Tensor[(4), float32]) -> Tensor[(4), float32] {
      let %a = multiply(%x, add(1f, 2f));
      let %b = multiply(%x, add(1f, 2f));
      let %unused = tanh(%a);
      nn.relu(add(@helper(%a), nn.relu(%b)))
    }
    def @helper(%y: Tensor[(4), float32]) -> Tensor[(4), float32] {
      nn.bias_add(nn.dropout(%y).0, ones(shape=[4], dtype="float32"), axis=0)
    })");
}

Script Calling(const std::vector<std::string>& names, Type type = {}) {
  std::vector<GlobalVar> calls;
  for (const std::string& name : names) calls.push_back(GlobalVar(name));
  return Script(std::move(calls), std::move(type));
}

// `relay` with a script before and after.
IRModule Mixed(const IRModule& relay) {
  IRModule module;
  module.Set("first", Calling({"main", "main", "helper"}));
  for (const IRModule::Definition& d : relay.functions()) {
    module.Set(d.var, d.function);
  }
  module.Set("last", Calling({"first"}, FuncType({Vector()}, Vector())));
  return module;
}

// The module without its scripts.
IRModule WithoutScripts(const IRModule& mixed) {
  IRModule module;
  for (const relay::TypeData& type : mixed.types<relay::TypeData>())
    module.SetType(type);
  for (const auto& d : mixed.functions<Function>()) {
    module.Set(d.var, d.function);
  }
  return module;
}

std::vector<std::string> CallsOf(const IRModule& module, const char* name) {
  std::vector<std::string> names;
  for (const GlobalVar& call : module.Find<Script>(name)->calls()) {
    names.push_back(call->name());
  }
  return names;
}

TEST(MixedModuleTest, EveryRegisteredPassLeavesScriptsAlone) {
  const testing::SilentStderr silence;
  const IRModule relay = RelayOnly();
  const std::vector<std::string> passes = testing::RegisteredPasses();
  ASSERT_GT(passes.size(), 10u);
  for (const std::string& text : passes) {
    SCOPED_TRACE(text);
    BATON_ASSERT_OK_AND_ASSIGN(const Pass pass,
                               testing::GetRegisteredPass(text));
    BATON_ASSERT_OK_AND_ASSIGN(const IRModule input,
                               testing::RunRequiredPasses(pass, relay));
    const absl::StatusOr<IRModule> result_without = pass(input);
    if (!result_without.ok() && testing::MayRefuse(pass)) continue;
    ASSERT_THAT(result_without.status(), IsOk());
    const IRModule& expected = *result_without;
    const IRModule mixed = Mixed(input);
    for (const int threads : {1, 2}) {
      BATON_ASSERT_OK_AND_ASSIGN(
          const IRModule result,
          PassContext({.config = {{"threads", threads}}}).Run([&] {
            return pass(mixed);
          }));
      EXPECT_EQ(result.Find("first"), mixed.Find("first"));
      EXPECT_EQ(result.Find("last"), mixed.Find("last"));
      EXPECT_EQ(FirstDifference(WithoutScripts(result), expected),
                std::nullopt);
      EXPECT_TRUE(!expected.IdenticalTo(input) || result.SameAs(mixed));
    }
  }
}

TEST(MixedModuleTest, PassesOverScriptsLeaveRelayAlone) {
  const IRModule mixed = Mixed(RelayOnly());
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result,
                             script::MergeCalls()(mixed));
  EXPECT_THAT(CallsOf(result, "first"), ElementsAre("main", "helper"));
  EXPECT_EQ(result.Find("last"), mixed.Find("last"));
  EXPECT_EQ(result.Find("main"), mixed.Find("main"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule again,
                             script::MergeCalls()(result));
  EXPECT_TRUE(again.SameAs(result));
}

TEST(MixedModuleTest, InstrumentsWatchBothLevels) {
  std::vector<Pass> passes = {script::MergeCalls()};
  for (const char* const name :
       {"SimplifyInference", "FoldConstant", "EliminateCommonSubexpr",
        "DeadCodeElimination", "FuseOps"}) {
    BATON_ASSERT_OK_AND_ASSIGN(passes.emplace_back(),
                               testing::GetRegisteredPass(name));
  }
  const Pass pipeline = Sequential(passes);
  std::ostringstream printed;
  BATON_ASSERT_OK_AND_ASSIGN(
      const auto full,
      PrintIrInstrument::Create({.before = ".*",
                                 .after = ".*",
                                 .changed = PrintIrOptions::Changed::kFull,
                                 .out = &printed}));
  BATON_ASSERT_OK_AND_ASSIGN(
      const auto diff,
      PrintIrInstrument::Create(
          {.changed = PrintIrOptions::Changed::kDiff, .out = &printed}));
  const auto recorder = std::make_shared<PassRecorder>();
  const auto verify = std::make_shared<VerifyInstrument>();
  int shown = 0;
  const PassContext context(
      {.opt_level = 3,
       .instruments = {recorder, verify, full, diff,
                       std::make_shared<PassTimingInstrument>(),
                       std::make_shared<OpDiffer>(),
                       std::make_shared<DumpInstrument>(absl::StrCat(
                           ::testing::TempDir(), "/mixed_module_dump")),
                       std::make_shared<CheckValuesInstrument>(),
                       std::make_shared<BisectInstrument>(100),
                       std::make_shared<ProgressInstrument>(
                           pipeline, [&shown](std::string) { ++shown; })}});
  const IRModule mixed = Mixed(RelayOnly());
  absl::StatusOr<IRModule> result =
      context.Run([&] { return pipeline(mixed); });
  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(CallsOf(*result, "first"), ElementsAre("main", "helper"));
  EXPECT_THAT(printed.str(), HasSubstr("def @main"));
  EXPECT_GT(shown, 0);
}

TEST(MixedModuleTest, ModulesOfScriptsAreTypedAndWellFormed) {
  IRModule scripts;
  scripts.Set("s", Calling({"s"}));
  EXPECT_THAT(CheckWellFormed(scripts), IsOk());
  EXPECT_THAT(CheckTypes(scripts), IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, InferTypes(scripts));
  EXPECT_TRUE(typed.SameAs(scripts));
  const IRModule mixed = Mixed(RelayOnly());
  EXPECT_THAT(CheckWellFormed(mixed), IsOk());
  EXPECT_THAT(CheckTypes(mixed), IsOk());
}

// A module whose @main calls @script.
IRModule Caller(const Script& script) {
  const relay::Var x("x", Vector());
  IRModule module;
  module.Set("script", script);
  module.Set("main", Function({x}, relay::Call(GlobalVar("script"), {x})));
  return module;
}

TEST(MixedModuleTest, RelayCallsAScript) {
  const IRModule module = Caller(Calling({}, FuncType({Vector()}, Vector())));
  EXPECT_THAT(CheckWellFormed(module), IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule typed, InferTypes(module));
  EXPECT_TRUE(
      TypeEqual(typed.Find<Function>("main")->body()->type(), Vector()));
  EXPECT_THAT(CheckTypes(typed), IsOk());
  EXPECT_THAT(relay::EvaluateFunction(typed, "script", {}).status().message(),
              HasSubstr("Script"));
  EXPECT_THAT(InferTypes(Caller(Calling({}))),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "@script has no type: it is a Script"));
}

TEST(MixedModuleTest, CallsOfScriptsMayHaveEffects) {
  const relay::Var x("x", Vector());
  const relay::Var unused("unused");
  IRModule module;
  module.Set("script", Calling({}, FuncType({Vector()}, Vector())));
  module.Set(
      "main",
      Function({x},
               relay::Let(unused, relay::Call(GlobalVar("script"), {x}), x)));
  BATON_ASSERT_OK_AND_ASSIGN(module, InferTypes(module));
  BATON_ASSERT_OK_AND_ASSIGN(const Pass eliminate,
                             testing::GetRegisteredPass("DeadCodeElimination"));
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule result, eliminate(module));
  EXPECT_TRUE(result.SameAs(module));
}

// A script that stands where an expression of Relay belongs.
TEST(MixedModuleTest, ScriptsInsideRelayExpressionsAreReported) {
  const Script script = Calling({});
  const relay::Tuple tuple({script, script});
  int visited = 0;
  relay::PostOrderVisit(tuple, [&visited](const ExprNode*) { ++visited; });
  EXPECT_EQ(visited, 2);
  EXPECT_EQ(relay::IndexedGraph(tuple).size(), 2);
  BATON_ASSERT_OK_AND_ASSIGN(const Expr same,
                             relay::ExprMutator().Mutate(tuple));
  EXPECT_EQ(same, tuple);
  EXPECT_TRUE(relay::FreeVars(tuple).empty());
  EXPECT_THAT(CheckWellFormed(tuple),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "a Script is not an expression of Relay"));
  EXPECT_THAT(relay::InferTypeOf(tuple),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "cannot infer the type of a Script"));
  EXPECT_THAT(relay::Evaluate(tuple, nullptr).status().message(),
              HasSubstr("cannot evaluate a Script"));
}

}  // namespace
}  // namespace baton
