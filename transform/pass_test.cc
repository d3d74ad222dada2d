#include "baton/transform/pass.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;

// Runs `pass` in a context that logs to two instruments, A and B.
struct Logged {
  absl::StatusOr<IRModule> result = absl::UnknownError("not run");
  std::vector<std::string> lines;
};
Logged RunLogged(const Pass& pass, const IRModule& module,
                 void (*prepare)(toy::Log& a, toy::Log& b),
                 PassContextOptions options = {}) {
  Logged logged;
  const auto a = std::make_shared<toy::Log>("A", &logged.lines);
  const auto b = std::make_shared<toy::Log>("B", &logged.lines);
  if (prepare != nullptr) prepare(*a, *b);
  options.instruments = {a, b};
  logged.result =
      PassContext(std::move(options)).Run([&] { return pass(module); });
  return logged;
}

TEST(PassTest, IsCalledLikeAFunction) {
  const IRModule module = toy::Module();
  const absl::StatusOr<IRModule> result = toy::AToB()(module);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(toy::Ops(*result), "b");
  EXPECT_EQ(toy::Ops(module), "a");
}

TEST(PassTest, NothingToDoReturnsTheSameModule) {
  const IRModule module = toy::Module();
  const absl::StatusOr<IRModule> result = toy::BToA()(module);
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result->SameAs(module));
}

TEST(PassTest, NullPassIsAnError) {
  EXPECT_EQ(Pass()(toy::Module()).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(Pass().ToString().ok());
}

TEST(PassTest, ModulePassWithoutBodyIsAnError) {
  const Pass pass = CreateModulePass(nullptr, {.name = "Empty"});
  EXPECT_EQ(pass(toy::Module()).status().message(),
            "in pass #1 Empty:\nthe pass has no body");
}

TEST(PassTest, HooksInOrder) {
  const Logged logged =
      RunLogged(toy::AToB(), toy::Module(), [](toy::Log& a, toy::Log& b) {
        a.logs_should_run = b.logs_should_run = true;
      });
  ASSERT_TRUE(logged.result.ok());
  EXPECT_THAT(logged.lines,
              ElementsAre("A enter", "B enter",                              //
                          "A should_run #1 AToB", "B should_run #1 AToB",    //
                          "A before #1 AToB", "B before #1 AToB",            //
                          "A should_run #2 InferType",                       //
                          "B should_run #2 InferType",                       //
                          "A before #2 InferType", "B before #2 InferType",  //
                          "A after #2 InferType (changed)",                  //
                          "B after #2 InferType (changed)",                  //
                          "A after #1 AToB (changed)",
                          "B after #1 AToB (changed)", "A exit", "B exit"));
}

TEST(PassTest, EveryInstrumentIsAskedAndOneNoSkips) {
  const IRModule module = toy::Module();
  const Logged logged =
      RunLogged(toy::AToB(), module, [](toy::Log& a, toy::Log& b) {
        a.logs_should_run = b.logs_should_run = true;
        a.refused = {"AToB"};
      });
  ASSERT_TRUE(logged.result.ok());
  EXPECT_TRUE(logged.result->SameAs(module));
  EXPECT_THAT(logged.lines,
              ElementsAre("A enter", "B enter", "A should_run #1 AToB",
                          "B should_run #1 AToB", "A exit", "B exit"));
}

TEST(PassTest, RequiredPassIsNotAskedAbout) {
  const Logged logged = RunLogged(toy::AToB(), toy::Module(),
                                  [](toy::Log& a, toy::Log& b) {
                                    a.logs_should_run = b.logs_should_run =
                                        true;
                                    a.refused = {"AToB", "InferType"};
                                  },
                                  {.required_pass = {"AToB"}});
  ASSERT_TRUE(logged.result.ok());
  EXPECT_THAT(
      logged.lines,
      ElementsAre("A enter", "B enter", "A before #1 AToB", "B before #1 AToB",
                  "A should_run #2 InferType", "B should_run #2 InferType",
                  "A after #1 AToB (changed)", "B after #1 AToB (changed)",
                  "A exit", "B exit"));
}

TEST(PassTest, RefusingInferTypeLeavesTheModuleUntyped) {
  const Logged logged = RunLogged(
      toy::AToB(), toy::Module(),
      [](toy::Log& a, toy::Log& /*b*/) { a.refused = {"InferType"}; });
  ASSERT_TRUE(logged.result.ok());
  EXPECT_FALSE(
      logged.result->Find<relay::Function>("main")->body()->type().defined());
}

TEST(PassTest, FailureIsToldLastFirst) {
  const Logged logged = RunLogged(toy::Fails(), toy::Module(), nullptr);
  EXPECT_EQ(logged.result.status().message(),
            "in pass #1 Fails:\nit went wrong");
  EXPECT_THAT(logged.lines,
              ElementsAre("A enter", "B enter", "A before #1 Fails",
                          "B before #1 Fails", "B failed #1 Fails",
                          "A failed #1 Fails", "A exit", "B exit"));
}

TEST(PassTest, FailureInsideIsToldAtEachLevel) {
  const Logged logged =
      RunLogged(Sequential({toy::Fails()}), toy::Module(), nullptr);
  EXPECT_THAT(logged.lines,
              ElementsAre("A enter", "B enter", "A before #1 sequential",
                          "B before #1 sequential", "A before #2 Fails",
                          "B before #2 Fails", "B failed #2 Fails",
                          "A failed #2 Fails", "B failed #1 sequential",
                          "A failed #1 sequential", "A exit", "B exit"));
}

TEST(PassTest, FailingShouldRun) {
  const Logged logged = RunLogged(
      toy::AToB(), toy::Module(),
      [](toy::Log& a, toy::Log& /*b*/) { a.fails_in = "should_run"; });
  EXPECT_EQ(logged.result.status().message(),
            "in pass #1 AToB: instrument A, ShouldRun:\nA should_run");
  EXPECT_THAT(logged.lines,
              ElementsAre("A enter", "B enter", "A should_run #1 AToB",
                          "A exit", "B exit"));
}

TEST(PassTest, FailingBefore) {
  const Logged logged =
      RunLogged(toy::AToB(), toy::Module(),
                [](toy::Log& /*a*/, toy::Log& b) { b.fails_in = "before"; });
  EXPECT_EQ(logged.result.status().message(),
            "in pass #1 AToB: instrument B, RunBeforePass:\nB before");
  EXPECT_THAT(
      logged.lines,
      ElementsAre("A enter", "B enter", "A before #1 AToB", "B before #1 AToB",
                  "A failed #1 AToB", "A exit", "B exit"));
}

TEST(PassTest, FailingAfter) {
  const Logged logged =
      RunLogged(toy::InferType(), toy::Module(),
                [](toy::Log& a, toy::Log& /*b*/) { a.fails_in = "after"; });
  EXPECT_EQ(logged.result.status().message(),
            "in pass #1 InferType: instrument A, RunAfterPass:\nA after");
  EXPECT_THAT(logged.lines,
              ElementsAre("A enter", "B enter", "A before #1 InferType",
                          "B before #1 InferType", "A after #1 InferType",
                          "B failed #1 InferType", "A exit", "B exit"));
}

TEST(PassTest, ExceptionBecomesAnErrorThatNamesThePass) {
  const Logged logged = RunLogged(Sequential({toy::Nothing(), toy::Throws()}),
                                  toy::Module(), nullptr);
  EXPECT_EQ(logged.result.status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(logged.result.status().message(),
            "in pass #1 sequential > #4 Throws:\n"
            "Throws threw an exception: boom");
  const std::optional<PassError> error = GetPassError(logged.result.status());
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->frames.back().pass, "Throws");
  EXPECT_EQ(error->frames.back().number, 4);
  EXPECT_EQ(logged.lines.back(), "B exit");
  // The context is gone, and another run starts afresh.
  EXPECT_EQ(toy::Throws("x")(toy::Module()).status().message(),
            "in pass #1 Throws:\nThrows threw an exception: x");
}

class ThrowingInstrument final : public PassInstrument {
 public:
  explicit ThrowingInstrument(std::string hook)
      : PassInstrument("Rude"), hook_(std::move(hook)) {}
  absl::Status EnterPassContext() override { return Do("enter"); }
  absl::Status ExitPassContext() override { return Do("exit"); }
  absl::StatusOr<bool> ShouldRun(const IRModule& /*module*/,
                                 const PassExecution& /*pass*/) override {
    Do("should_run").IgnoreError();
    return true;
  }
  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& /*pass*/) override {
    return Do("before");
  }
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& /*pass*/) override {
    return Do("after");
  }
  void PassFailed(const IRModule& /*module*/, const PassExecution& /*pass*/,
                  const absl::Status& /*error*/) override {
    Do("failed").IgnoreError();
  }

 private:
  absl::Status Do(absl::string_view hook) {
    if (hook == hook_) throw 42;
    return absl::OkStatus();
  }
  std::string hook_;
};

std::string ErrorWithThrowing(const std::string& hook, const Pass& pass) {
  const IRModule module = toy::Module();
  const PassContext context(
      {.instruments = {std::make_shared<ThrowingInstrument>(hook)}});
  const absl::StatusOr<IRModule> result =
      context.Run([&] { return pass(module); });
  EXPECT_FALSE(PassContext::Current() == context);
  return std::string(result.status().message());
}

TEST(PassTest, ExceptionsOfInstruments) {
  const std::string message =
      "Rude threw something that is not a "
      "std::exception";
  EXPECT_EQ(ErrorWithThrowing("enter", toy::InferType()),
            "instrument Rude, EnterPassContext:\n" + message);
  EXPECT_EQ(ErrorWithThrowing("exit", toy::InferType()),
            "instrument Rude, ExitPassContext:\n" + message);
  EXPECT_EQ(ErrorWithThrowing("should_run", toy::InferType()),
            "in pass #1 InferType: instrument Rude, ShouldRun:\n" + message);
  EXPECT_EQ(
      ErrorWithThrowing("before", toy::InferType()),
      "in pass #1 InferType: instrument Rude, RunBeforePass:\n" + message);
  EXPECT_EQ(ErrorWithThrowing("after", toy::InferType()),
            "in pass #1 InferType: instrument Rude, RunAfterPass:\n" + message);
  EXPECT_EQ(
      ErrorWithThrowing("failed", toy::Fails()),
      "in pass #1 Fails:\nthen also failed: " + message + "\nit went wrong");
}

TEST(PassTest, NumbersCountInTheScope) {
  const IRModule module = toy::Module();
  std::vector<std::string> lines;
  const PassContext context(
      {.instruments = {std::make_shared<toy::Log>("A", &lines)}});
  ASSERT_TRUE(context
                  .Run([&]() -> absl::Status {
                    EXPECT_TRUE(toy::InferType()(module).ok());
                    // A context inside counts for itself.
                    EXPECT_EQ(PassContext()
                                  .Run([&] { return toy::Fails()(module); })
                                  .status()
                                  .message(),
                              "in pass #1 Fails:\nit went wrong");
                    return toy::InferType()(module).status();
                  })
                  .ok());
  EXPECT_THAT(
      lines,
      ElementsAre("A enter", "A before #1 InferType", "A after #1 InferType",
                  "A before #2 InferType", "A after #2 InferType", "A exit"));
}

TEST(PassTest, NumbersGoOnInAContextInsideAPass) {
  const IRModule module = toy::Module();
  const Pass outer = CreateModulePass(
      [](IRModule module, const PassContext& /*context*/) {
        return PassContext({.opt_level = 0}).Run([&] {
          return toy::Fails()(std::move(module));
        });
      },
      {.name = "Outer"});
  EXPECT_EQ(outer(module).status().message(),
            "in pass #1 Outer > #2 Fails:\nit went wrong");
}

TEST(PassTest, InstrumentSeesTheModuleBefore) {
  class Check final : public PassInstrument {
   public:
    Check() : PassInstrument("Check") {}
    absl::Status RunAfterPass(const IRModule& module,
                              const PassExecution& pass) override {
      if (pass.depth() > 0) return absl::OkStatus();
      before = toy::Ops(pass.before());
      after = toy::Ops(module);
      return absl::OkStatus();
    }
    std::string before;
    std::string after;
  };
  const auto check = std::make_shared<Check>();
  ASSERT_TRUE(PassContext({.instruments = {check}})
                  .Run([&] { return toy::AToB()(toy::Module()); })
                  .ok());
  EXPECT_EQ(check->before, "a");
  EXPECT_EQ(check->after, "b");
}

struct Options {
  int64_t depth = 3;
  std::string mode = "fast";
  FunctionOption<bool(int)> filter;

  template <typename V>
  static void VisitFields(V& v) {
    v("depth", &Options::depth, "How deep.");
    v("mode", &Options::mode, "How.");
    v("filter", &Options::filter, "Which.");
  }
};

Pass WithOptions(Options options) {
  return CreateModulePass([](IRModule module, const PassContext& /*context*/)
                              -> absl::StatusOr<IRModule> { return module; },
                          {.name = "WithOptions"}, std::move(options));
}

TEST(PassTest, TextListsOptionsThatAreNotDefaults) {
  EXPECT_EQ(WithOptions({}).ToString().value(), "WithOptions");
  EXPECT_EQ(WithOptions({.depth = 4, .mode = "two words"}).ToString().value(),
            "WithOptions{depth=4,mode=\"two words\"}");
  EXPECT_EQ(Sequential({toy::AToB(), FixedPoint({toy::BToA()}, {.limit = 3})},
                       {.name = "mine"})
                .ToString()
                .value(),
            "Sequential{name=mine}(AToB,FixedPoint{limit=3}(BToA))");
}

TEST(PassTest, FunctionOptionHasNoText) {
  const Pass pass = WithOptions({.filter = [](int x) { return x > 0; }});
  EXPECT_EQ(pass.ToString().status().message(),
            "pass WithOptions: option filter is a function, which has no text");
  EXPECT_FALSE(Sequential({pass}).ToString().ok());
}

}  // namespace
}  // namespace baton
