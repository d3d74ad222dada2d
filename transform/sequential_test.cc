#include "baton/transform/sequential.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/target.h"
#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pass_registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;

// A pass of each level, and one with required passes.
Pass Level(int level) {
  return toy::Nothing(
      {.name = absl::StrCat("Level", level), .opt_level = level});
}

// The passes that ran, as a tree.
std::string Trace(const Pass& pass, PassContextOptions options = {}) {
  const auto tree = std::make_shared<toy::Tree>();
  options.instruments.push_back(tree);
  const absl::StatusOr<IRModule> result =
      PassContext(std::move(options)).Run([&] { return pass(toy::Module()); });
  EXPECT_TRUE(result.ok()) << result.status();
  return tree->text();
}

TEST(SequentialTest, RunsInOrder) {
  EXPECT_EQ(Trace(Sequential({toy::AToB(), toy::BToA()})),
            "1 sequential\n"
            "  2 AToB\n"
            "    3 InferType\n"
            "  4 BToA\n"
            "    5 InferType\n");
}

TEST(SequentialTest, EmptyOneReturnsTheSameModule) {
  const IRModule module = toy::Module();
  EXPECT_TRUE(Sequential({})(module)->SameAs(module));
}

TEST(SequentialTest, LeavesOutHigherLevels) {
  const Pass all = Sequential({Level(0), Level(2), Level(3), Level(4)});
  EXPECT_EQ(Trace(all, {.opt_level = 2}),
            "1 sequential\n"
            "  2 Level0\n"
            "    3 InferType\n"
            "  4 Level2\n"
            "    5 InferType\n");
  EXPECT_EQ(Trace(Sequential({Level(0)}), {.opt_level = -1}), "1 sequential\n");
}

TEST(SequentialTest, PassRunDirectlyRunsWhateverItsLevel) {
  EXPECT_EQ(Trace(Level(4), {.opt_level = 0, .disabled_pass = {"Level4"}}),
            "1 Level4\n  2 InferType\n");
}

TEST(SequentialTest, RequiredAndDisabledByContext) {
  const Pass all = Sequential({Level(0), Level(3)});
  EXPECT_EQ(
      Trace(all, {.required_pass = {"Level3"}, .disabled_pass = {"Level0"}}),
      "1 sequential\n"
      "  2 Level3\n"
      "    3 InferType\n");
  EXPECT_EQ(Trace(all, {.required_pass = {"Level3"},
                        .disabled_pass = {"Level0", "Level3"}}),
            "1 sequential\n");
}

Pass Needy(std::vector<std::string> required, int level = 0) {
  return toy::Nothing(
      {.name = "Needy", .opt_level = level, .required = std::move(required)});
}

TEST(SequentialTest, RunsWhatAPassRequires) {
  // Every time, at the same depth, whatever the context disables.
  EXPECT_EQ(Trace(Sequential({Needy({"InferType", "InferType"}), Needy({})}),
                  {.disabled_pass = {"InferType"}}),
            "1 sequential\n"
            "  2 InferType\n"
            "  3 InferType\n"
            "  4 Needy\n"
            "    5 InferType\n"
            "  6 Needy\n"
            "    7 InferType\n");
  // Required passes do not run for a pass that is left out, nor for one that is
  // run directly.
  EXPECT_EQ(Trace(Sequential({Needy({"InferType"}, 3)})), "1 sequential\n");
  EXPECT_EQ(Trace(Needy({"InferType"})), "1 Needy\n  2 InferType\n");
}

TEST(SequentialTest, RequiredPassesRunWhateverTheirLevelWithoutTheirOwn) {
  PassRegistry registry(PassRegistry::Global());
  registry.Override("Costly", [] {
    return toy::Nothing(
        {.name = "Costly", .opt_level = 4, .required = {"NoSuchPass"}});
  });
  EXPECT_EQ(Trace(Sequential({Needy({"Costly"})}),
                  {.opt_level = 0, .registry = &registry}),
            "1 sequential\n"
            "  2 Costly\n"
            "    3 InferType\n"
            "  4 Needy\n"
            "    5 InferType\n");
}

TEST(SequentialTest, UnknownRequiredPass) {
  EXPECT_EQ(Sequential({Needy({"InferTyp"})})(toy::Module()).status().message(),
            "in pass #1 sequential:\n"
            "Needy requires InferTyp: unknown pass InferTyp; did you mean "
            "\"InferType\"?");
}

TEST(SequentialTest, InstrumentMayRefuseARequiredPass) {
  std::vector<std::string> lines;
  const auto log = std::make_shared<toy::Log>("A", &lines);
  log->refused = {"InferType"};
  ASSERT_TRUE(
      PassContext({.instruments = {log}})
          .Run([] { return Sequential({Needy({"InferType"})})(toy::Module()); })
          .ok());
  EXPECT_THAT(lines, ElementsAre("A enter", "A before #1 sequential",
                                 "A before #2 Needy", "A after #2 Needy",
                                 "A after #1 sequential", "A exit"));
}

TEST(SequentialTest, IsAPassWithNameAndLevel) {
  const Pass inner = Sequential({Level(0)}, {.name = "mine", .opt_level = 3});
  EXPECT_EQ(Trace(Sequential({inner})), "1 sequential\n");
  EXPECT_EQ(Trace(Sequential({inner}), {.opt_level = 3}),
            "1 sequential\n"
            "  2 mine\n"
            "    3 Level0\n"
            "      4 InferType\n");
}

TEST(SequentialTest, RequiredBySequential) {
  EXPECT_EQ(Trace(Sequential({Sequential({}, {.required = {"InferType"}})})),
            "1 sequential\n"
            "  2 InferType\n"
            "  3 sequential\n");
}

TEST(SequentialTest, ErrorSaysWhereItHappened) {
  const absl::Status status =
      Sequential({Level(0), Sequential({toy::Fails("no\nway")})})(toy::Module())
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "in pass #1 sequential > #4 sequential > #5 Fails:\nno\nway");
  EXPECT_EQ(OriginalMessage(status), "no\nway");
}

TEST(SequentialTest, NullPassIsAnError) {
  EXPECT_EQ(Sequential({toy::AToB(), Pass()})(toy::Module()).status().message(),
            "in pass #1 sequential:\npass 2 of the sequence is null");
}

TEST(SequentialTest, PromisesWhatItsPassesPromise) {
  const Pass exact = toy::Nothing({.name = "Exact"});
  const Pass rough =
      toy::Nothing({.name = "Rough", .exact = false, .tolerance = 0.25});
  EXPECT_TRUE(Sequential({exact}).info().exact);
  EXPECT_FALSE(Sequential({exact, rough}).info().exact);
  EXPECT_EQ(Sequential({rough, exact, rough}).info().tolerance, 0.5);
  EXPECT_EQ(Sequential({}).info().granularity, PassGranularity::kSequence);
}

TEST(SequentialTest, RulesOfTheTargetAreNotExact) {
  class Promises final : public PassInstrument {
   public:
    Promises() : PassInstrument("Promises") {}
    absl::Status RunBeforePass(const IRModule& /*module*/,
                               const PassExecution& pass) override {
      if (pass.depth() < 2) {
        text += absl::StrCat(pass.name(), pass.info().exact ? " exact," : ",");
      }
      return absl::OkStatus();
    }
    std::string text;
  };
  const Pass pass =
      Sequential({toy::Nothing({.name = "A", .uses_target = true}),
                  toy::Nothing({.name = "B"})});
  const auto promises = [&pass](Target target) {
    const auto instrument = std::make_shared<Promises>();
    const PassContext context(
        {.instruments = {instrument}, .target = std::move(target)});
    EXPECT_TRUE(context.Run([&] { return pass(IRModule()); }).ok());
    return instrument->text;
  };
  EXPECT_EQ(promises({}), "sequential exact,A exact,B exact,");
  EXPECT_EQ(promises({.kind = "llvm"}), "sequential,A,B exact,");
}

TEST(SequentialTest, CreateSequentialPassIsWrittenByItsName) {
  const Pass pass = CreateSequentialPass({toy::AToB()}, {.name = "Whole"});
  EXPECT_EQ(pass.ToString().value(), "Whole");
  EXPECT_EQ(Trace(pass), "1 Whole\n  2 AToB\n    3 InferType\n");
}

TEST(FixedPointTest, RunsUntilNothingChanges) {
  const Pass pass = FixedPoint({toy::AToB()});
  EXPECT_EQ(Trace(pass),
            "1 FixedPoint\n"
            "  2 AToB\n"
            "    3 InferType\n"
            "  4 AToB\n"
            "    5 InferType\n");
  EXPECT_EQ(toy::Ops(pass(toy::Module()).value()), "b");
}

TEST(FixedPointTest, ReturnsTheSameModuleIfNothingEverChanges) {
  const IRModule module = toy::Module();
  EXPECT_TRUE(FixedPoint({toy::BToA()})(module)->SameAs(module));
}

TEST(FixedPointTest, FollowsTheRulesOfSequential) {
  EXPECT_EQ(Trace(FixedPoint({Level(3), Needy({"InferType"})})),
            "1 FixedPoint\n"
            "  2 InferType\n"
            "  3 Needy\n"
            "    4 InferType\n");
}

TEST(FixedPointTest, PassThatLiesAboutChangeDoesNotRunForever) {
  const absl::StatusOr<IRModule> result =
      FixedPoint({toy::Liar()}, {.limit = 3})(toy::Module());
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(toy::Ops(*result), "a");
}

TEST(FixedPointTest, FixedPointsOfFixedPointsDoNotDouble) {
  for (const Pass& inner : {toy::Liar(), toy::AToB(), toy::BToA()}) {
    Pass pass = inner;
    for (int i = 0; i < 60; ++i) pass = FixedPoint({pass});
    EXPECT_TRUE(pass(toy::Module()).ok()) << inner.name();
  }
}

TEST(FixedPointTest, LimitReachedIsAnErrorThatNamesThePasses) {
  const absl::Status status =
      FixedPoint({toy::AToB(), toy::Liar(), toy::Grow()},
                 {.limit = 4})(toy::Module())
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_EQ(status.message(),
            "in pass #1 FixedPoint:\n"
            "no fixed point after 4 rounds; still changing the module: "
            "AToB, Grow");
}

TEST(FixedPointTest, LimitThatIsJustEnough) {
  EXPECT_TRUE(FixedPoint({toy::AToB()}, {.limit = 2})(toy::Module()).ok());
  EXPECT_FALSE(FixedPoint({toy::AToB()}, {.limit = 1})(toy::Module()).ok());
  EXPECT_EQ(FixedPoint({}, {.limit = 0})(toy::Module()).status().message(),
            "in pass #1 FixedPoint:\nlimit is 0; it must be at least 1");
}

// a -> b -> c -> a.
Pass Rotate() {
  return Sequential({toy::Replace("toy.c", "toy.d", {.name = "CToD"}),
                     toy::Replace("toy.b", "toy.c", {.name = "BToC"}),
                     toy::Replace("toy.a", "toy.b", {.name = "AToB"}),
                     toy::Replace("toy.d", "toy.a", {.name = "DToA"})},
                    {.name = "Rotate"});
}

TEST(FixedPointTest, CycleIsAnErrorThatNamesThePasses) {
  // Within one round.
  EXPECT_EQ(FixedPoint({toy::Liar(), toy::AToB(), toy::BToA()})(toy::Module())
                .status()
                .message(),
            "in pass #1 FixedPoint:\n"
            "no fixed point: after round 1 the module is again what it was at "
            "the start; undoing each other's work: AToB, BToA");
  // Over three rounds.
  EXPECT_EQ(
      FixedPoint({Rotate(), toy::Liar()})(toy::Module()).status().message(),
      "in pass #1 FixedPoint:\n"
      "no fixed point: after round 3 the module is again what it was at "
      "the start; undoing each other's work: Rotate");
}

TEST(FixedPointTest, CycleThatDoesNotBeginAtTheStart) {
  // c becomes a, and then a and b take turns.
  const Pass to_a = toy::Replace("toy.c", "toy.a", {.name = "CToA"});
  const Pass swap =
      Sequential({toy::Replace("toy.a", "toy.d", {.name = "AToD"}), toy::BToA(),
                  toy::Replace("toy.d", "toy.b", {.name = "DToB"})},
                 {.name = "Swap"});
  IRModule module = toy::Module();
  module = *toy::Replace("toy.a", "toy.c", {.name = "AToC"})(std::move(module));
  EXPECT_EQ(FixedPoint({swap, to_a})(module).status().message(),
            "in pass #1 FixedPoint:\n"
            "no fixed point: after round 3 the module is again what it was "
            "after round 1; undoing each other's work: Swap");
}

}  // namespace
}  // namespace baton
