// Tests a level that is defined outside of `ir/` and `transform/`, in one
// module with Relay's functions: everything that works on modules works on it.

#include "baton/testing/tape/tape.h"

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/text_file.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/dump.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_page.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/history_text.h"
#include "baton/instrument/op_differ.h"
#include "baton/instrument/print_ir_instrument.h"
#include "baton/instrument/recorder.h"
#include "baton/instrument/structural_diff.h"
#include "baton/instrument/timing.h"
#include "baton/instrument/verify.h"
#include "baton/ir/attrs.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_verifier.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_rebuild.h"
#include "baton/ir/op.h"
#include "baton/ir/origin.h"
#include "baton/ir/structural_equal.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/testing/pass_laws.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/round_trip.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/tape/passes.h"
#include "baton/testing/threads_sweep.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace tape {
namespace {

using ::baton::testing::CheckPassLaws;
using ::baton::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr absl::string_view kText = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = nn.relu(%x);
  %1 = multiply(1f, 2f);
  add(%0, %1)
}

tape @scaled(%x, %y) {
  %unused = add(%x, %y);
  %t = multiply(%x, %y);
  %t = @main(%t);
  return %t;
}

tape @twice(%x) {
  %a = @scaled(%x, %x);
  %b = @scaled(%a, %x);
  return %a;
}
)";

IRModule Parsed(absl::string_view text = kText) {
  absl::StatusOr<IRModule> module = ParseModule(text, "test.relay");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : IRModule();
}

IRModule Typed() { return *relay::InferTypes(Parsed()); }

// The error after a mistake in kText.
std::string Mistake(absl::string_view from, absl::string_view to) {
  return std::string(
      ParseModule(absl::StrReplaceAll(kText, {{from, to}}), "test.relay")
          .status()
          .message());
}

TEST(TapeTest, IsTextInOneModuleWithRelay) {
  const IRModule module = Parsed();
  EXPECT_EQ(AsText(module), kText);
  ASSERT_EQ(module.size(), 3);
  EXPECT_EQ(module.functions<relay::Function>().size(), 1);
  EXPECT_EQ(module.functions<Tape>().size(), 2);
  const Tape scaled = module.Find<Tape>("scaled");
  EXPECT_EQ(scaled->locals().size(), 2);
  EXPECT_EQ(scaled->steps()[2]->callee(), module.FindGlobalVar("main"));
  EXPECT_THAT(testing::CheckRoundTrip(module, /*typed=*/false), IsOk());
  EXPECT_THAT(testing::CheckRoundTrip(Typed(), /*typed=*/true), IsOk());
}

TEST(TapeTest, MistakesInItsTextAreLocated) {
  EXPECT_THAT(Mistake("multiply(%x, %y)", "multply(%x, %y)"),
              HasSubstr("test.relay:10:8: error: unknown operator"));
  EXPECT_THAT(Mistake("@main(%t)", "@main(%u)"),
              HasSubstr("test.relay:11:14: error: %u holds nothing here"));
  EXPECT_THAT(Mistake("tape @twice", "tpae @twice"),
              HasSubstr("test.relay:15:1: error: "));
  EXPECT_THAT(Mistake("tape @twice", "tape @main"),
              HasSubstr("test.relay:15:6: error: "));
  EXPECT_THAT(Mistake("return %a;", ""), HasSubstr("error: expected a step"));
}

TEST(TapeTest, IsComparedUpToTheNamesOfRegisters) {
  const IRModule module = Parsed();
  const IRModule renamed =
      Parsed(absl::StrReplaceAll(kText, {{"%t", "%other"}, {"%unused", "%u"}}));
  EXPECT_TRUE(StructuralEqual(module, renamed));
  EXPECT_EQ(StructuralHash(module), StructuralHash(renamed));
  for (const auto& [from, to] :
       std::vector<std::pair<const char*, const char*>>{
           {"multiply(%x, %y)", "multiply(%y, %x)"},
           {"multiply(%x, %y)", "subtract(%x, %y)"},
           {"%t = @main(%t)", "%t = @twice(%t)"},
           {"%t = @main(%t)", "%unused = @main(%t)"},
           {"return %a", "return %b"}}) {
    const IRModule other = Parsed(absl::StrReplaceAll(kText, {{from, to}}));
    EXPECT_FALSE(StructuralEqual(module, other)) << to;
    EXPECT_NE(StructuralHash(module), StructuralHash(other)) << to;
    EXPECT_THAT(FirstDifference(module, other).value_or(""), Not("")) << to;
  }
}

TEST(TapeTest, IsWrittenToBinaryFiles) {
  IRModule module = Typed();
  const Tape twice = module.Find<Tape>("twice");
  module.Set("twice",
             Tape({twice->params().begin(), twice->params().end()},
                  {twice->steps().begin(), twice->steps().end()},
                  twice->result(), DictAttrs({{std::string(kFrozen), true}})));
  const absl::StatusOr<BinaryModule> written = WriteBinary(module);
  ASSERT_THAT(written.status(), IsOk());
  const absl::StatusOr<BinaryContent> read =
      ReadBinary(written->ToString(), /*owner=*/nullptr, "test.baton");
  ASSERT_THAT(read.status(), IsOk());
  EXPECT_EQ(FirstDifference(read->module, module), std::nullopt);
  EXPECT_EQ(AsText(read->module), AsText(module));
  EXPECT_TRUE(read->module.Find<Tape>("twice")->attrs().IsTrue(kFrozen));
  EXPECT_THAT(CheckWellFormed(read->module), IsOk());
}

TEST(TapeTest, NodesAreDescribedOnce) {
  const NodeClass* node_class = FindNodeClass(TapeKind::kTape);
  ASSERT_NE(node_class, nullptr);
  EXPECT_EQ(QualifiedNodeKindName(TapeKind::kTape), "tape.Tape");
  const Tape twice = Parsed().Find<Tape>("twice");
  std::vector<Expr> children;
  ForEachChildOf(*twice, [&](const Expr& e) { children.push_back(e); });
  ASSERT_EQ(children.size(), 1 + 2 + 2 + 1);
  const Register other("other");
  children.back() = other;
  const Tape copy = CopyWithChildren(*twice, children, {});
  EXPECT_EQ(copy->result(), other);
  EXPECT_EQ(copy->steps()[0], twice->steps()[0]);
}

TEST(TapeTest, IsVerifiedByItsOwnRules) {
  EXPECT_THAT(CheckWellFormed(Typed()), IsOk());
  EXPECT_THAT(CheckTypes(Typed()), IsOk());
  IRModule module = Typed();
  const Tape scaled = module.Find<Tape>("scaled");
  module.Set("scaled", Tape({scaled->params().begin(), scaled->params().end()},
                            {scaled->steps()[2]}, scaled->result()));
  EXPECT_THAT(std::string(CheckWellFormed(module).message()),
              HasSubstr("in @scaled: %t is read before a step writes it"));
  module.Remove("scaled");
  EXPECT_THAT(std::string(CheckWellFormed(module).message()),
              HasSubstr("in @twice: the module has no function @scaled"));
}

// Runs a pipeline under a recorder, whose account is returned.
std::string Account(const Pass& pass, const IRModule& module,
                    IRModule* result = nullptr) {
  const auto recorder = std::make_shared<PassRecorder>();
  const absl::StatusOr<IRModule> after =
      PassContext({.opt_level = 3, .instruments = {recorder}}).Run([&] {
        return pass(module);
      });
  EXPECT_THAT(after.status(), IsOk());
  if (result != nullptr && after.ok()) *result = *after;
  return recorder->ToString();
}

TEST(TapeTest, FunctionPassesAreOverOneKind) {
  const IRModule module = Typed();
  IRModule result;
  EXPECT_EQ(Account(RemoveDeadSteps(), module, &result),
            "1 RemoveDeadSteps *\n"
            "  2 CheckTapes\n");
  EXPECT_EQ(result.Find("main"), module.Find("main"));
  EXPECT_EQ(result.Find<Tape>("scaled")->steps().size(), 2);
  EXPECT_EQ(result.Find<Tape>("twice")->steps().size(), 1);
  // A pass without effect returns the same module.
  EXPECT_TRUE(RemoveDeadSteps()(result)->SameAs(result));

  const absl::StatusOr<Pass> fold = testing::GetRegisteredPass("FoldConstant");
  ASSERT_THAT(fold.status(), IsOk());
  EXPECT_EQ(Account(*fold, module, &result),
            "1 FoldConstant *\n"
            "  2 InferType *\n");
  EXPECT_NE(result.Find("main"), module.Find("main"));
  EXPECT_EQ(result.Find("scaled"), module.Find("scaled"));
  EXPECT_EQ(result.Find("twice"), module.Find("twice"));
}

TEST(TapeTest, KindsSayWhichFunctionsPassesLeaveAlone) {
  IRModule module = Typed();
  const Tape scaled = module.Find<Tape>("scaled");
  const Tape frozen({scaled->params().begin(), scaled->params().end()},
                    {scaled->steps().begin(), scaled->steps().end()},
                    scaled->result(),
                    DictAttrs({{std::string(kFrozen), true}}));
  module.Set("scaled", frozen);
  const absl::StatusOr<IRModule> result = RemoveDeadSteps()(module);
  ASSERT_THAT(result.status(), IsOk());
  EXPECT_EQ(result->Find("scaled"), frozen);
  EXPECT_EQ(result->Find<Tape>("twice")->steps().size(), 1);
}

// A pass that breaks tapes.
Pass DropFirstStep() {
  return CreateFunctionPass(
      Tapes(),
      [](const Tape& tape, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Tape> {
        return Tape({tape->params().begin(), tape->params().end()},
                    {tape->steps().begin() + 1, tape->steps().end()},
                    tape->result());
      },
      {.name = "DropFirstStep"});
}

TEST(TapeTest, TheFinishingPassSeesWhatAPassBreaks) {
  const IRModule broken = *RemoveDeadSteps()(Typed());
  EXPECT_THAT(std::string(DropFirstStep()(broken).status().message()),
              HasSubstr("in pass #1 DropFirstStep > #2 CheckTapes"));
}

TEST(TapeTest, InstrumentsSeeAllKinds) {
  const auto verify = std::make_shared<VerifyInstrument>();
  const auto timing = std::make_shared<PassTimingInstrument>();
  const auto op_differ = std::make_shared<OpDiffer>();
  const auto values = std::make_shared<CheckValuesInstrument>();
  const std::string folder = absl::StrCat(std::getenv("TEST_TMPDIR"), "/dump");
  const auto dump = std::make_shared<DumpInstrument>(folder);
  const absl::StatusOr<Pass> fold = testing::GetRegisteredPass("FoldConstant");
  ASSERT_THAT(fold.status(), IsOk());
  const absl::StatusOr<IRModule> result =
      PassContext({.opt_level = 3,
                   .instruments = {verify, timing, op_differ, values, dump}})
          .Run([&] {
            return Sequential({RemoveDeadSteps(), *fold})(Typed());
          });
  ASSERT_THAT(result.status(), IsOk());
  EXPECT_GT(verify->num_checked(), 0);
  EXPECT_THAT(op_differ->ToString(), HasSubstr("FoldConstant multiply -1"));
  const absl::StatusOr<std::string> text =
      ReadTextFile(folder + "/0002.RemoveDeadSteps.changed.relay");
  ASSERT_THAT(text.status(), IsOk());
  const absl::StatusOr<IRModule> dumped = ParseModule(*text);
  ASSERT_THAT(dumped.status(), IsOk());
  EXPECT_EQ(dumped->Find<Tape>("twice")->steps().size(), 1);
}

// Subtracts where tapes add, which is wrong.
Pass SubtractForAdd() {
  return CreateFunctionPass(
      Tapes(),
      [](const Tape& tape, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Tape> {
        std::vector<Step> steps;
        for (const Step& step : tape->steps()) {
          steps.push_back(step);
          if (step->callee() != Op::Find("add")) continue;
          steps.back() = Step(step->result(), Op::Find("subtract"),
                              {step->args().begin(), step->args().end()});
          LogOrigins(steps.back(), step.get());
        }
        return Tape({tape->params().begin(), tape->params().end()},
                    std::move(steps), tape->result());
      },
      {.name = "SubtractForAdd"});
}

TEST(TapeTest, OpDiffCountsItsCalls) {
  const auto op_differ = std::make_shared<OpDiffer>();
  ASSERT_THAT(
      PassContext({.instruments = {op_differ}})
          .Run([&] {
            return Sequential({RemoveDeadSteps(), SubtractForAdd()})(Parsed(
                absl::StrReplaceAll(kText, {{"%t = multiply", "%t = add"}})));
          })
          .status(),
      IsOk());
  EXPECT_EQ(op_differ->ToString(),
            "1 RemoveDeadSteps add -1\n"
            "1 SubtractForAdd add -1, subtract +1\n"
            "0 sequential add -2, subtract +1\n");
}

TEST(TapeTest, IsInHistories) {
  const auto recorder = std::make_shared<HistoryRecorder>();
  ASSERT_THAT(PassContext({.instruments = {recorder}})
                  .Run([&] { return SubtractForAdd()(Typed()); })
                  .status(),
              IsOk());
  const absl::StatusOr<HistoryBytes> bytes = WriteHistory(recorder->history());
  ASSERT_THAT(bytes.status(), IsOk());
  const auto file = std::make_shared<const std::string>(bytes->ToString());
  const absl::StatusOr<History> read = ReadHistory(*file, file, "tape.history");
  ASSERT_THAT(read.status(), IsOk());
  EXPECT_THAT(*HistoryShow(*read, 1, "scaled"),
              HasSubstr("%unused = subtract(%x, %y);"));
  // The difference names the function, and no other one.
  const absl::StatusOr<StructuralDiff> diff = HistoryDiff(*read, 0, 1, "");
  ASSERT_THAT(diff.status(), IsOk());
  ASSERT_EQ(diff->changes.size(), 1);
  EXPECT_EQ(diff->changes[0].function, "scaled");
  EXPECT_EQ(diff->changes[0].kind, NodeChange::Kind::kChanged);
  // Nodes are found in it.
  EXPECT_EQ(*HistoryFind(*read, {.has = "subtract"}), "#1 SubtractForAdd\n");
  // Provenance: which pass made the step, and what from.
  const absl::StatusOr<std::vector<NodeBlame>> blame =
      HistoryBlame(*read, 1, {.op = "subtract"});
  ASSERT_THAT(blame.status(), IsOk());
  EXPECT_EQ(BlameText(*blame),
            "@scaled subtract\n"
            "  #1 SubtractForAdd made subtract from add\n"
            "  test.relay:9:3: add\n");
  // The page has its nodes.
  const std::string page = HistoryPage(*read, "tape");
  EXPECT_THAT(page, HasSubstr("\n\"subtract\""));
  EXPECT_THAT(page, HasSubstr("\n\"unused\""));
  EXPECT_THAT(CheckPageSize(*read, 20), Not(IsOk()));
  EXPECT_THAT(CheckPageSize(*read, 100), IsOk());
}

TEST(TapeTest, ItsValuesAreChecked) {
  const auto run = [](const Pass& pass, const IRModule& module) {
    const auto values = std::make_shared<CheckValuesInstrument>();
    const absl::Status status = PassContext({.instruments = {values}}).Run([&] {
      return pass(module).status();
    });
    // @main, @scaled and @twice.
    if (status.ok()) {
      EXPECT_EQ(values->num_compared(), 3);
    }
    return status;
  };
  EXPECT_THAT(run(RemoveDeadSteps(), Typed()), IsOk());
  // The result of @scaled is not used.
  EXPECT_THAT(run(SubtractForAdd(), Typed()), IsOk());
  const IRModule adds = *relay::InferTypes(
      Parsed(absl::StrReplaceAll(kText, {{"%t = multiply", "%t = add"}})));
  EXPECT_THAT(std::string(run(SubtractForAdd(), adds).message()),
              HasSubstr("result of @scaled"));
}

TEST(TapeTest, TheVerifyInstrumentNamesThePassThatBreaksATape) {
  const auto verify = std::make_shared<VerifyInstrument>();
  const Pass pass = CreateModulePass(
      [](IRModule module, const PassContext&) -> absl::StatusOr<IRModule> {
        module.Remove("scaled");
        return module;
      },
      {.name = "DropScaled"});
  const absl::Status status = PassContext({.instruments = {verify}}).Run([&] {
    return pass(Typed()).status();
  });
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("pass DropScaled broke the module:\n"));
}

TEST(TapeTest, NumbersOfThreadsDoNotShow) {
  IRModule module = Typed();
  for (int i = 0; i < 40; ++i) {
    module.Set(absl::StrCat("copy", i),
               module.Find(i % 2 == 0 ? "scaled" : "twice"));
  }
  EXPECT_EQ(testing::FindThreadsDifference(RemoveDeadSteps(), module), "");
  EXPECT_EQ(testing::FindThreadsDifference(DropFirstStep(), module), "");
}

TEST(TapeTest, SnapshotsAreKept) {
  const IRModule before = Typed();
  const IRModule snapshot = before;
  const std::string text = AsText(before);
  ASSERT_THAT(RemoveDeadSteps()(before).status(), IsOk());
  EXPECT_TRUE(snapshot.SameAs(before));
  EXPECT_EQ(AsText(snapshot), text);
}

class TapeLawsTest : public ::testing::TestWithParam<std::string> {};

// Passes over tapes, and all of Relay's, keep the laws on modules of both
// kinds.
TEST_P(TapeLawsTest, HoldOnModulesOfTwoLevels) {
  const absl::StatusOr<Pass> pass = testing::GetRegisteredPass(GetParam());
  ASSERT_THAT(pass.status(), IsOk());
  EXPECT_THAT(CheckPassLaws(*pass, Typed()), IsOk());
}

INSTANTIATE_TEST_SUITE_P(Tapes, TapeLawsTest,
                         ::testing::ValuesIn(testing::RegisteredPasses()),
                         testing::PassTestName);

}  // namespace
}  // namespace tape
}  // namespace baton
