#include "baton/transform/function_pass.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using toy::Function;

// The name of `function` in `module`.
std::string NameOf(const Function& function, const IRModule& module) {
  for (const IRModule::Definition& d : module.functions()) {
    if (d.function == function) return d.var->name();
  }
  return "?";
}

TEST(FunctionPassTest, TransformsEachFunctionAndInfersTypes) {
  const absl::StatusOr<IRModule> result = toy::AToB()(toy::Module(3));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(toy::Ops(*result), "main: b; f1: b; f2: b");
  EXPECT_TRUE(result->Find("f2")->type().defined());
}

TEST(FunctionPassTest, LeavesAloneWhatTheKindSkips) {
  IRModule module = toy::Module(3);
  const auto set = [&module](const char* name, AttrValue value) {
    module.Set(name, module.Find<Function>(name).WithAttr(
                         relay::attr::kSkipOptimization, std::move(value)));
  };
  set("f1", 1);
  set("f2", 0);
  EXPECT_EQ(toy::Ops(toy::AToB()(module).value()), "main: b; f1: a; f2: b");
}

TEST(FunctionPassTest, BodySeesTheModuleAsItWas) {
  std::vector<std::string> seen;
  const Pass pass = toy::CreateFunctionPass(
      [&seen](const Function& function, const IRModule& module,
              const PassContext& /*context*/) -> absl::StatusOr<Function> {
        seen.push_back(toy::Ops(module));
        return toy::Wrap(function, "toy.b");
      },
      {.name = "Look"});
  ASSERT_TRUE(pass(toy::Module(2)).ok());
  EXPECT_THAT(seen, ElementsAre("main: a; f1: a", "main: a; f1: a"));
}

TEST(FunctionPassTest, FunctionsThatDoNotChangeStayTheSame) {
  const IRModule module = toy::Module(3);
  const Pass pass = toy::CreateFunctionPass(
      [](const Function& function, const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return NameOf(function, module) == "f1" ? toy::Wrap(function, "toy.b")
                                                : function;
      },
      {.name = "OnlyF1"});
  const absl::StatusOr<IRModule> result = pass(module);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(toy::Ops(*result), "main: a; f1: b a; f2: a");
  EXPECT_EQ(result->Find("main"), module.Find("main"));
  EXPECT_EQ(result->Find("f2"), module.Find("f2"));
}

// Functions that a pass named `finish` completes; none if that is null.
class KindFinishedBy final : public FunctionKind<Function> {
 public:
  explicit KindFinishedBy(Pass finish) : finish_(std::move(finish)) {}
  Pass FinishingPass() const override { return finish_; }

 private:
  const Pass finish_;
};

Pass WrapAll(const FunctionKind<Function>& kind) {
  return CreateFunctionPass(
      kind,
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return toy::Wrap(function, "toy.b");
      },
      {.name = "WrapAll"});
}

TEST(FunctionPassTest, TheKindSaysHowToFinish) {
  const KindFinishedBy failing(toy::Fails("no types today"));
  EXPECT_EQ(WrapAll(failing)(toy::Module()).status().message(),
            "in pass #1 WrapAll > #2 Fails:\nno types today");
  // The finishing pass does not come from the registry.
  const PassRegistry empty;
  const KindFinishedBy none{Pass()};
  const absl::StatusOr<IRModule> result =
      PassContext({.registry = &empty}).Run([&] {
        return WrapAll(none)(toy::Module(2));
      });
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(toy::Ops(*result), "main: b a; f1: b a");
  EXPECT_FALSE(result->Find("main")->type().defined());
}

TEST(FunctionPassTest, NullResultIsAnError) {
  const Pass pass = toy::CreateFunctionPass(
      [](const Function& /*function*/, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return Function();
      },
      {.name = "Null"});
  EXPECT_EQ(pass(toy::Module()).status().message(),
            "in pass #1 Null, function @main:\n"
            "Null returned no function (a null handle)");
  EXPECT_EQ(toy::CreateFunctionPass(nullptr, {.name = "Empty"})(toy::Module())
                .status()
                .message(),
            "in pass #1 Empty:\nthe pass has no body");
}

TEST(FunctionPassTest, ErrorNamesTheFunction) {
  const Pass pass = toy::CreateFunctionPass(
      [](const Function& function, const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (NameOf(function, module) == "f2") {
          throw std::runtime_error("boom");
        }
        return function;
      },
      {.name = "Throws"});
  const absl::Status status = pass(toy::Module(4)).status();
  EXPECT_EQ(status.message(),
            "in pass #1 Throws, function @f2:\n"
            "Throws threw an exception: boom");
}

// Everything below must come out the same on any number of threads.
class ParallelTest : public ::testing::TestWithParam<int> {
 protected:
  PassContextOptions Options() const {
    return {.config = {{"threads", GetParam()}}};
  }
  absl::StatusOr<IRModule> Run(const Pass& pass, const IRModule& module,
                               PassInstruments instruments = {}) const {
    PassContextOptions options = Options();
    options.instruments = std::move(instruments);
    return PassContext(std::move(options)).Run([&] { return pass(module); });
  }
};

INSTANTIATE_TEST_SUITE_P(Threads, ParallelTest,
                         ::testing::Values(1, 2, 3, 16, 0));

// Gives threads a chance to get in each other's way.
void DelayByName(const std::string& name) {
  if (name.size() % 2 == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

TEST_P(ParallelTest, Results) {
  const IRModule module = toy::Module(100);
  const Pass pass = toy::CreateFunctionPass(
      [](const Function& function, const IRModule& module,
         const PassContext& context) -> absl::StatusOr<Function> {
        const std::string name = NameOf(function, module);
        DelayByName(name);
        if (name.back() == '3') return function;
        EXPECT_TRUE(context == PassContext::Current());
        return toy::Wrap(function, name.back() == '7' ? "toy.b" : "toy.c");
      },
      {.name = "Mark"});
  const absl::StatusOr<IRModule> result = Run(pass, module);
  ASSERT_TRUE(result.ok()) << result.status();
  std::vector<std::string> expected;
  for (const IRModule::Definition& d : module.functions()) {
    const std::string& name = d.var->name();
    expected.push_back(absl::StrCat(name, ": ",
                                    name.back() == '3'   ? "a"
                                    : name.back() == '7' ? "b a"
                                                         : "c a"));
  }
  EXPECT_EQ(toy::Ops(*result), absl::StrJoin(expected, "; "));
  EXPECT_TRUE(Run(toy::BToA(), module)->SameAs(module));
}

TEST_P(ParallelTest, TheFirstErrorIsReported) {
  const Pass pass = toy::CreateFunctionPass(
      [](const Function& function, const IRModule& module,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const std::string name = NameOf(function, module);
        DelayByName(name);
        if (name == "main" || name.back() != '7') return function;
        return absl::NotFoundError(absl::StrCat("not in ", name));
      },
      {.name = "Fussy"});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Run(pass, toy::Module(60)).status().message(),
              "in pass #1 Fussy, function @f7:\nnot in f7");
  }
}

// Runs passes on a module of one function, from inside the body; the deeper
// one fails for the functions named.
Pass Nested(std::vector<std::string> failing = {}) {
  return toy::CreateFunctionPass(
      [failing = std::move(failing)](
          const Function& function, const IRModule& module,
          const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const std::string name = NameOf(function, module);
        DelayByName(name);
        IRModule one;
        one.Set("main", function);
        std::vector<Pass> passes = {toy::AToB()};
        if (std::find(failing.begin(), failing.end(), name) != failing.end()) {
          passes.push_back(toy::Fails());
        }
        BATON_ASSIGN_OR_RETURN(one, Sequential(passes, {.name = name})(one));
        return one.Find<Function>("main");
      },
      {.name = "Nested"});
}

TEST_P(ParallelTest, EventsComeInFunctionOrder) {
  const auto tree = std::make_shared<toy::Tree>();
  std::string expected = "1 Nested\n";
  int number = 1;
  for (int i = 0; i < 40; ++i) {
    const std::string name = i == 0 ? "main" : absl::StrCat("f", i);
    absl::StrAppend(&expected, "  ", number + 1, " ", name, "\n    ",
                    number + 2, " AToB\n      ", number + 3, " InferType\n");
    number += 3;
  }
  absl::StrAppend(&expected, "  ", number + 1, " InferType\n");
  const absl::StatusOr<IRModule> result =
      Run(Nested(), toy::Module(40), {tree});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(tree->text(), expected);
}

TEST_P(ParallelTest, NumbersInErrors) {
  // With instruments and without, which count in different ways.
  for (int i = 0; i < 20; ++i) {
    for (const bool watched : {false, true}) {
      PassInstruments instruments;
      const auto tree = std::make_shared<toy::Tree>();
      if (watched) instruments.push_back(tree);
      const absl::Status status =
          Run(Sequential({toy::Nothing(), Nested({"f21", "f30", "f25"})}),
              toy::Module(40), std::move(instruments))
              .status();
      // sequential, Nothing, InferType, Nested; 21 times 3; f21, AToB,
      // InferType, Fails.
      EXPECT_EQ(status.message(),
                "in pass #1 sequential > #4 Nested, function @f21 > #68 f21 > "
                "#71 Fails:\nit went wrong");
      if (watched) {
        EXPECT_THAT(tree->text(), HasSubstr("71 Fails\n"));
        EXPECT_THAT(tree->text(), ::testing::Not(HasSubstr("f22")));
      }
    }
  }
}

TEST_P(ParallelTest, EventsAreBalancedOnErrors) {
  std::vector<std::string> lines;
  const absl::Status status = Run(Nested({"f1", "f2"}), toy::Module(20),
                                  {std::make_shared<toy::Log>("A", &lines)})
                                  .status();
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(
      lines,
      ElementsAre("A enter", "A before #1 Nested",         //
                  "A before #2 main", "A before #3 AToB",  //
                  "A before #4 InferType",                 //
                  "A after #4 InferType (changed)",        //
                  "A after #3 AToB (changed)", "A after #2 main (changed)",
                  "A before #5 f1", "A before #6 AToB",  //
                  "A before #7 InferType",               //
                  "A after #7 InferType (changed)",      //
                  "A after #6 AToB (changed)", "A before #8 Fails",
                  "A failed #8 Fails", "A failed #5 f1", "A failed #1 Nested",
                  "A exit"));
}

TEST_P(ParallelTest, FunctionPassesInsideFunctionPasses) {
  // Each body runs a pass on a module of twenty functions, whose bodies enter
  // a context with an instrument of its own.
  std::vector<std::string> lines;
  const auto log = std::make_shared<toy::Log>("A", &lines);
  const Pass inner = toy::CreateFunctionPass(
      [log](const Function& function, const IRModule& module,
            const PassContext& /*context*/) -> absl::StatusOr<Function> {
        DelayByName(NameOf(function, module));
        const absl::Status status = PassContext({.instruments = {log}}).Run([] {
          return toy::InferType()(toy::Module()).status();
        });
        if (!status.ok()) return status;
        return toy::Wrap(function, "toy.b");
      },
      {.name = "Inner"});
  const Pass outer = toy::CreateFunctionPass(
      [inner](const Function& function, const IRModule& /*module*/,
              const PassContext& /*context*/) -> absl::StatusOr<Function> {
        BATON_ASSIGN_OR_RETURN(const IRModule result, inner(toy::Module(20)));
        EXPECT_EQ(toy::Ops(result.Find<Function>("f19")), "b a");
        return function;
      },
      {.name = "Outer"});
  ASSERT_TRUE(Run(outer, toy::Module(10)).ok());
  // Outer is 1; each of its bodies has Inner, 20 InferType, and the one that
  // follows Inner.
  std::vector<std::string> expected;
  for (int body = 0; body < 10; ++body) {
    for (int i = 0; i < 20; ++i) {
      const int number = 2 + body * 22 + 1 + i;
      expected.insert(
          expected.end(),
          {"A enter", absl::StrCat("A before #", number, " InferType"),
           absl::StrCat("A after #", number, " InferType"), "A exit"});
    }
  }
  EXPECT_EQ(lines, expected);
}

// Writes down the functions that it saw, once all have run.
class NamesOfFunctions final : public FunctionObserver {
 public:
  NamesOfFunctions(IRModule module, std::vector<std::string>* names)
      : module_(std::move(module)), names_(names), calls_(module_.size()) {}

  void Before(size_t i) override { calls_[i] += 1; }
  void After(size_t i) override { calls_[i] += 10; }
  void Done(size_t num_functions) override {
    for (size_t i = 0; i < num_functions; ++i) {
      names_->push_back(
          absl::StrCat(module_.functions()[i].var->name(), " ", calls_[i]));
    }
  }

 private:
  const IRModule module_;
  std::vector<std::string>* const names_;
  std::vector<int> calls_;
};

TEST_P(ParallelTest, ObserversSeeEachFunctionOnce) {
  std::vector<std::string> names;
  const FunctionWatch watch = [&names](const IRModule& module) {
    return std::make_unique<NamesOfFunctions>(module, &names);
  };
  const FunctionWatch* before = SetFunctionWatch(&watch);
  EXPECT_EQ(before, nullptr);
  const IRModule module = toy::Module(5);
  const absl::StatusOr<IRModule> result = Run(toy::AToB(), module);
  std::vector<std::string> of_first;
  std::swap(names, of_first);
  const absl::StatusOr<IRModule> failed =
      Run(toy::CreateFunctionPass(
              [](const Function& function, const IRModule& module,
                 const PassContext& /*context*/) -> absl::StatusOr<Function> {
                if (NameOf(function, module) != "f2") return function;
                return absl::InternalError("no");
              },
              {.name = "Refuse"}),
          module);
  EXPECT_EQ(SetFunctionWatch(before), &watch);
  ASSERT_TRUE(Run(toy::Nothing(), module).ok());
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(toy::Ops(*result), "main: b; f1: b; f2: b; f3: b; f4: b");
  // The finishing pass of the toy functions is a function pass, too.
  ASSERT_GE(of_first.size(), 5);
  of_first.resize(5);
  EXPECT_THAT(of_first,
              ElementsAre("main 11", "f1 11", "f2 11", "f3 11", "f4 11"));
  EXPECT_THAT(names, ElementsAre("main 11", "f1 11", "f2 11"));
}

TEST_P(ParallelTest, ErrorDeepInside) {
  const Pass inner = Nested({"f3"});
  const Pass outer = toy::CreateFunctionPass(
      [inner](const Function& function, const IRModule& module,
              const PassContext& /*context*/) -> absl::StatusOr<Function> {
        const bool fails = NameOf(function, module) == "f2";
        BATON_RETURN_IF_ERROR(inner(toy::Module(fails ? 10 : 2)).status());
        return function;
      },
      {.name = "Outer"});
  // Outer 1; each good body: Nested, 2 * 3, InferType; then Nested, 3 * 3, f3,
  // AToB, InferType, Fails.
  EXPECT_EQ(Run(outer, toy::Module(9)).status().message(),
            "in pass #1 Outer, function @f2 > #18 Nested, function @f3 > "
            "#28 f3 > #31 Fails:\nit went wrong");
}

TEST_P(ParallelTest, NumbersGoOnAfterwards) {
  EXPECT_EQ(Run(Sequential({Nested(), toy::Fails()}), toy::Module(10))
                .status()
                .message(),
            "in pass #1 sequential > #34 Fails:\nit went wrong");
}

TEST_P(ParallelTest, TextIsTheSame) {
  PassContextOptions one;
  const IRModule module = toy::Module(50);
  const Pass pass = Sequential({Nested(), toy::Grow(), toy::AToB()});
  const absl::StatusOr<IRModule> expected =
      PassContext().Run([&] { return pass(module); });
  const absl::StatusOr<IRModule> result = Run(pass, module);
  ASSERT_TRUE(expected.ok() && result.ok());
  EXPECT_EQ(toy::Text(*result), toy::Text(*expected));
}

TEST(ParallelismTest, BodiesDoRunAtTheSameTime) {
  // Each body waits for another one, for a while.
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  const Pass pass = toy::CreateFunctionPass(
      [&](const Function& function, const IRModule& /*module*/,
          const PassContext& /*context*/) -> absl::StatusOr<Function> {
        ++inside;
        for (int i = 0; i < 5000 && !met; ++i) {
          if (inside > 1) met = true;
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        --inside;
        return function;
      },
      {.name = "Meet"});
  ASSERT_TRUE(PassContext({.config = {{"threads", 2}}})
                  .Run([&] { return pass(toy::Module(2)); })
                  .ok());
  EXPECT_TRUE(met);
}

}  // namespace
}  // namespace baton
