#include "baton/transform/pass_context.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_error.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/unread_config.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BATON_REGISTER_CONFIG(kDepth, int64_t, "toy.depth", 256, "How deep.");
BATON_REGISTER_CONFIG(kMode, std::string, "toy.mode", "fast", "How.");

// The instruments of the tutorial on pass instruments; they write what it
// prints.
class Example : public PassInstrument {
 public:
  Example(std::string name, std::string* out, std::string bad_hook = "")
      : PassInstrument(std::move(name)),
        out_(out),
        bad_hook_(std::move(bad_hook)) {}

  absl::Status EnterPassContext() override { return Say("enter_pass_ctx"); }
  absl::Status ExitPassContext() override { return Say("exit_pass_ctx"); }
  absl::StatusOr<bool> ShouldRun(const IRModule& /*module*/,
                                 const PassExecution& /*pass*/) override {
    BATON_RETURN_IF_ERROR(Say("should_run"));
    return true;
  }
  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& /*pass*/) override {
    return Say("run_before_pass");
  }
  absl::Status RunAfterPass(const IRModule& /*module*/,
                            const PassExecution& /*pass*/) override {
    return Say("run_after_pass");
  }

 private:
  absl::Status Say(const std::string& hook) {
    if (hook != bad_hook_) {
      absl::StrAppend(out_, name(), " ", hook, "\n");
      return absl::OkStatus();
    }
    absl::StrAppend(out_, name(), " bad ", hook, "!!!\n");
    return absl::InvalidArgumentError(absl::StrCat(name(), " bad ", hook));
  }

  std::string* out_;
  std::string bad_hook_;
};

// The tutorial's steps, each with what it printed.
class TutorialTest : public ::testing::Test {
 protected:
  PassInstruments FineBadFine(const std::string& name,
                              const std::string& bad_hook) {
    return {std::make_shared<Example>("PassFine_0", &out_),
            std::make_shared<Example>(name, &out_, bad_hook),
            std::make_shared<Example>("PassFine_1", &out_)};
  }

  // The output of the seed's `except ValueError`.
  void Catch(const absl::Status& status) {
    if (!status.ok()) {
      absl::StrAppend(&out_, "Catching ValueError: ", OriginalMessage(status),
                      "\n");
      // The last line of the message is the original one, too.
      EXPECT_TRUE(absl::EndsWith(status.message(), OriginalMessage(status)));
    }
  }

  absl::Status InferType() { return toy::InferType()(module_).status(); }

  std::string TakeOutput() { return std::exchange(out_, ""); }

  IRModule module_ = toy::Module();
  std::string out_;
};

TEST_F(TutorialTest, BadEnterContext) {
  const PassContext context(
      {.instruments = FineBadFine("PassBadEnterCtx", "enter_pass_ctx")});
  Catch(context.Run([&] { return InferType(); }));
  EXPECT_EQ(TakeOutput(),
            "PassFine_0 enter_pass_ctx\n"
            "PassBadEnterCtx bad enter_pass_ctx!!!\n"
            "PassFine_0 exit_pass_ctx\n"
            "Catching ValueError: PassBadEnterCtx bad enter_pass_ctx\n");
  EXPECT_THAT(context.instruments(), IsEmpty());
  EXPECT_TRUE(context.OverrideInstruments({}).ok());
  EXPECT_EQ(TakeOutput(), "");
}

TEST_F(TutorialTest, BadExitContext) {
  const PassContext context(
      {.instruments = FineBadFine("PassBadExitCtx", "exit_pass_ctx")});
  Catch(context.Run([&] { return InferType(); }));
  EXPECT_EQ(TakeOutput(),
            "PassFine_0 enter_pass_ctx\n"
            "PassBadExitCtx enter_pass_ctx\n"
            "PassFine_1 enter_pass_ctx\n"
            "PassFine_0 should_run\n"
            "PassBadExitCtx should_run\n"
            "PassFine_1 should_run\n"
            "PassFine_0 run_before_pass\n"
            "PassBadExitCtx run_before_pass\n"
            "PassFine_1 run_before_pass\n"
            "PassFine_0 run_after_pass\n"
            "PassBadExitCtx run_after_pass\n"
            "PassFine_1 run_after_pass\n"
            "PassFine_0 exit_pass_ctx\n"
            "PassBadExitCtx bad exit_pass_ctx!!!\n"
            "Catching ValueError: PassBadExitCtx bad exit_pass_ctx\n");
  EXPECT_THAT(context.instruments(), IsEmpty());
}

TEST_F(TutorialTest, BadRunBefore) {
  const PassContext context(
      {.instruments = FineBadFine("PassBadRunBefore", "run_before_pass")});
  Catch(context.Run([&] { return InferType(); }));
  EXPECT_EQ(TakeOutput(),
            "PassFine_0 enter_pass_ctx\n"
            "PassBadRunBefore enter_pass_ctx\n"
            "PassFine_1 enter_pass_ctx\n"
            "PassFine_0 should_run\n"
            "PassBadRunBefore should_run\n"
            "PassFine_1 should_run\n"
            "PassFine_0 run_before_pass\n"
            "PassBadRunBefore bad run_before_pass!!!\n"
            "PassFine_0 exit_pass_ctx\n"
            "PassBadRunBefore exit_pass_ctx\n"
            "PassFine_1 exit_pass_ctx\n"
            "Catching ValueError: PassBadRunBefore bad run_before_pass\n");

  // The instruments are still there.
  EXPECT_TRUE(context.OverrideInstruments({}).ok());
  EXPECT_EQ(TakeOutput(),
            "PassFine_0 exit_pass_ctx\n"
            "PassBadRunBefore exit_pass_ctx\n"
            "PassFine_1 exit_pass_ctx\n");
}

TEST_F(TutorialTest, DefaultContext) {
  const PassContext current = PassContext::Current();
  EXPECT_TRUE(current
                  .OverrideInstruments(
                      FineBadFine("PassBadRunBefore", "run_before_pass"))
                  .ok());
  EXPECT_EQ(TakeOutput(),
            "PassFine_0 enter_pass_ctx\n"
            "PassBadRunBefore enter_pass_ctx\n"
            "PassFine_1 enter_pass_ctx\n");
  Catch(InferType());
  EXPECT_EQ(TakeOutput(),
            "PassFine_0 should_run\n"
            "PassBadRunBefore should_run\n"
            "PassFine_1 should_run\n"
            "PassFine_0 run_before_pass\n"
            "PassBadRunBefore bad run_before_pass!!!\n"
            "Catching ValueError: PassBadRunBefore bad run_before_pass\n");
  EXPECT_TRUE(current.OverrideInstruments({}).ok());
  EXPECT_EQ(TakeOutput(),
            "PassFine_0 exit_pass_ctx\n"
            "PassBadRunBefore exit_pass_ctx\n"
            "PassFine_1 exit_pass_ctx\n");
}

TEST(PassContextTest, Defaults) {
  const PassContext context = PassContext::Current();
  EXPECT_EQ(context.opt_level(), 2);
  EXPECT_THAT(context.required_pass(), IsEmpty());
  EXPECT_THAT(context.disabled_pass(), IsEmpty());
  EXPECT_THAT(context.config(), IsEmpty());
  EXPECT_THAT(context.instruments(), IsEmpty());
  EXPECT_TRUE(context == PassContext::Current());
}

TEST(UnreadConfigTest, NamesWhatNoPassHasRead) {
  const PassContext context({.config = {{"toy.depth", 8},
                                        {"toy.mode", "slow"},
                                        {"limits.max_rank", 9},
                                        {"toy.depth", 9}}});
  EXPECT_THAT(UnreadConfig(context), ElementsAre("toy.depth", "toy.mode"));
  EXPECT_EQ(context.Get(kDepth), 9);
  EXPECT_THAT(UnreadConfig(context), ElementsAre("toy.mode"));
  // Another thread reads it.
  std::thread([&context] { context.Get(kMode); }).join();
  EXPECT_THAT(UnreadConfig(context), IsEmpty());
  EXPECT_THAT(UnreadConfig(PassContext()), IsEmpty());
}

TEST(PassContextTest, PassEnabled) {
  const PassContext context({.opt_level = 2,
                             .required_pass = {"Required", "Both"},
                             .disabled_pass = {"Disabled", "Both"}});
  EXPECT_TRUE(context.PassEnabled({.name = "X", .opt_level = 2}));
  EXPECT_FALSE(context.PassEnabled({.name = "X", .opt_level = 3}));
  EXPECT_TRUE(context.PassEnabled({.name = "Required", .opt_level = 3}));
  EXPECT_FALSE(context.PassEnabled({.name = "Disabled", .opt_level = 0}));
  EXPECT_FALSE(context.PassEnabled({.name = "Both", .opt_level = 0}));
}

TEST(PassContextTest, ScopesNest) {
  const PassContext outer({.opt_level = 3});
  const PassContext inner({.opt_level = 1});
  const PassContext before = PassContext::Current();
  {
    absl::StatusOr<PassContext::Scope> a = outer.Enter();
    ASSERT_TRUE(a.ok());
    EXPECT_TRUE(PassContext::Current() == outer);
    {
      absl::StatusOr<PassContext::Scope> b = inner.Enter();
      ASSERT_TRUE(b.ok());
      EXPECT_EQ(PassContext::Current().opt_level(), 1);
      EXPECT_TRUE(b->Exit().ok());
      EXPECT_TRUE(b->Exit().ok());  // again, which does nothing
      EXPECT_TRUE(PassContext::Current() == outer);
    }
    EXPECT_TRUE(PassContext::Current() == outer);
  }
  EXPECT_TRUE(PassContext::Current() == before);
}

TEST(PassContextTest, ScopesLeftInTheWrongOrder) {
  const PassContext outer;
  const PassContext inner;
  const PassContext before = PassContext::Current();
  absl::StatusOr<PassContext::Scope> a = outer.Enter();
  absl::StatusOr<PassContext::Scope> b = inner.Enter();
  EXPECT_EQ(a->Exit().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(PassContext::Current() == inner);
  EXPECT_TRUE(b->Exit().ok());
  EXPECT_TRUE(PassContext::Current() == before);
}

TEST(PassContextTest, ScopeMoves) {
  std::vector<std::string> lines;
  const PassContext context(
      {.instruments = {std::make_shared<toy::Log>("A", &lines)}});
  {
    absl::StatusOr<PassContext::Scope> scope = context.Enter();
    ASSERT_TRUE(scope.ok());
    const PassContext::Scope moved = *std::move(scope);
    EXPECT_THAT(lines, ElementsAre("A enter"));
  }
  EXPECT_THAT(lines, ElementsAre("A enter", "A exit"));
}

TEST(PassContextTest, ScopeDestructorReportsErrors) {
  std::vector<std::string> lines;
  const auto log = std::make_shared<toy::Log>("A", &lines);
  log->fails_in = "exit";
  const PassContext context({.instruments = {log}});
  ::testing::internal::CaptureStderr();
  { EXPECT_TRUE(context.Enter().ok()); }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("A exit"));
}

TEST(PassContextTest, RunReturnsWhatTheFunctionReturns) {
  const PassContext context({.opt_level = 0});
  EXPECT_EQ(context
                .Run([]() -> absl::StatusOr<int> {
                  return PassContext::Current().opt_level() + 41;
                })
                .value(),
            41);
  EXPECT_EQ(context.Run([] { return absl::NotFoundError("x"); }).code(),
            absl::StatusCode::kNotFound);
}

TEST(PassContextTest, RunCatchesExceptionsAndLeaves) {
  const PassContext context;
  const absl::Status status =
      context.Run([]() -> absl::Status { throw std::runtime_error("boom"); });
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("boom"));
  EXPECT_FALSE(PassContext::Current() == context);
}

TEST(PassContextTest, BodyAndExitBothFail) {
  std::vector<std::string> lines;
  const auto log = std::make_shared<toy::Log>("A", &lines);
  log->fails_in = "exit";
  const absl::Status status = PassContext({.instruments = {log}}).Run([] {
    return absl::NotFoundError("the body failed");
  });
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            "then also failed: instrument A, ExitPassContext: A exit\n"
            "the body failed");
  EXPECT_EQ(OriginalMessage(status), "the body failed");
}

TEST(PassContextTest, FailingEnterExitsLastFirst) {
  std::vector<std::string> lines;
  const auto a = std::make_shared<toy::Log>("A", &lines);
  const auto b = std::make_shared<toy::Log>("B", &lines);
  const auto c = std::make_shared<toy::Log>("C", &lines);
  a->fails_in = "exit";
  c->fails_in = "enter";
  const PassContext context({.instruments = {a, b, c}});
  const absl::Status status = context.Enter().status();
  EXPECT_EQ(status.message(),
            "instrument C, EnterPassContext:\n"
            "then also failed: instrument A, ExitPassContext: A exit\n"
            "C enter");
  EXPECT_THAT(lines,
              ElementsAre("A enter", "B enter", "C enter", "B exit", "A exit"));
  EXPECT_FALSE(PassContext::Current() == context);
  // It can be entered now: nobody is left to object.
  EXPECT_TRUE(context.Enter().ok());
}

TEST(PassContextTest, OverrideExitsOldAndEntersNew) {
  std::vector<std::string> lines;
  const PassContext context(
      {.instruments = {std::make_shared<toy::Log>("A", &lines),
                       std::make_shared<toy::Log>("B", &lines)}});
  ASSERT_TRUE(context
                  .Run([&] {
                    return context.OverrideInstruments(
                        {std::make_shared<toy::Log>("C", &lines)});
                  })
                  .ok());
  EXPECT_THAT(lines, ElementsAre("A enter", "B enter", "A exit", "B exit",
                                 "C enter", "C exit"));
}

TEST(PassContextTest, OverrideWithFailingExitKeepsNoInstrument) {
  std::vector<std::string> lines;
  const auto a = std::make_shared<toy::Log>("A", &lines);
  a->fails_in = "exit";
  const PassContext context({.instruments = {a}});
  EXPECT_FALSE(
      context.OverrideInstruments({std::make_shared<toy::Log>("B", &lines)})
          .ok());
  EXPECT_THAT(lines, ElementsAre("A exit"));
  EXPECT_THAT(context.instruments(), IsEmpty());
}

TEST(PassContextTest, NoOverrideWhileAPassRuns) {
  class Overrider final : public PassInstrument {
   public:
    Overrider() : PassInstrument("Overrider") {}
    absl::Status RunBeforePass(const IRModule& /*module*/,
                               const PassExecution& /*pass*/) override {
      return PassContext::Current().OverrideInstruments({});
    }
  };
  const PassContext context({.instruments = {std::make_shared<Overrider>()}});
  const absl::Status status =
      context.Run([] { return toy::InferType()(toy::Module()).status(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(context.instruments().size(), 1);
}

TEST(PassContextTest, NullInstrumentIsAnError) {
  EXPECT_FALSE(PassContext({.instruments = {nullptr}}).Enter().ok());
  EXPECT_FALSE(PassContext().OverrideInstruments({nullptr}).ok());
}

TEST(ConfigTest, TypedValuesAndDefaults) {
  const PassContext context({.config = {{"toy.depth", 8}}});
  ASSERT_TRUE(context.status().ok());
  EXPECT_EQ(context.Get(kDepth), 8);
  EXPECT_EQ(context.Get(kMode), "fast");
}

TEST(ConfigTest, UnknownKeySuggestsAndListsKnownOnes) {
  const PassContext context({.config = {{"toy.dept", 8}}});
  const std::string message(context.status().message());
  EXPECT_THAT(message, HasSubstr("config toy.dept: there is no such setting"));
  EXPECT_THAT(message, HasSubstr("did you mean \"toy.depth\"?"));
  EXPECT_THAT(message, HasSubstr("toy.mode"));
  EXPECT_EQ(context.Enter().status().message(), message);
  EXPECT_EQ(context.Run([] { return absl::OkStatus(); }).message(), message);
}

TEST(ConfigTest, WrongTypeIsAnError) {
  EXPECT_EQ(PassContext({.config = {{"toy.depth", "deep"}}}).status().message(),
            "config toy.depth: expected an integer, found deep");
}

TEST(ConfigTest, Listing) {
  const absl::StatusOr<std::vector<ConfigInfo>> configs = ListConfigs();
  ASSERT_TRUE(configs.ok()) << configs.status();
  bool found = false;
  for (const ConfigInfo& info : *configs) {
    if (info.name != "toy.depth") continue;
    found = true;
    EXPECT_EQ(info.type_name, "int");
    EXPECT_EQ(info.default_value, AttrValue(256));
    EXPECT_EQ(info.doc, "How deep.");
  }
  EXPECT_TRUE(found);
}

TEST(ConfigTest, OfATest) {
  {
    const ScopedOverride<ConfigInfo> scoped(
        &ConfigRegistry(), "toy.scoped",
        {"toy.scoped", "int", 1, "",
         [](const AttrValue&) { return absl::InvalidArgumentError("never"); }});
    EXPECT_EQ(CheckConfig("toy.scoped", 1).message(),
              "config toy.scoped: never");
  }
  EXPECT_THAT(std::string(CheckConfig("toy.scoped", 1).message()),
              HasSubstr("there is no such setting"));
}

// The last of this registry: it spoils it.
TEST(ConfigTest, RegisteredTwice) {
  BATON_REGISTER_CONFIG(kTwice, int64_t, "toy.twice", 1, "");
  const int line = __LINE__ - 1;
  EXPECT_TRUE(PassContext({.config = {{"toy.twice", 1}}}).status().ok());
  BATON_REGISTER_CONFIG(kTwiceToo, int64_t, "toy.twice", 1, "");
  const std::string message(
      PassContext({.config = {{"toy.twice", 1}}}).status().message());
  EXPECT_THAT(message, HasSubstr("config toy.twice is registered twice: "));
  EXPECT_THAT(message,
              HasSubstr(absl::StrCat("pass_context_test.cc:", line, " and ")));
  EXPECT_EQ(ListConfigs().status().message(), message);
  EXPECT_EQ(RegistrationErrors().message(), message);
}

TEST(PassContextThreadsTest, EachThreadHasItsOwnStack) {
  const PassContext context({.opt_level = 4});
  const absl::StatusOr<PassContext::Scope> scope = context.Enter();
  ASSERT_TRUE(scope.ok());
  std::optional<PassContext> other_default;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      EXPECT_EQ(PassContext::Current().opt_level(), 2);
      std::vector<std::string> lines;
      const PassContext own(
          {.opt_level = i,
           .instruments = {std::make_shared<toy::Log>("A", &lines)}});
      for (int k = 0; k < 50; ++k) {
        ASSERT_TRUE(own.Run([&] {
                         EXPECT_EQ(PassContext::Current().opt_level(), i);
                         return toy::AToB()(toy::Module());
                       })
                        .ok());
      }
      EXPECT_EQ(lines.size(), 50 * 6);
      EXPECT_EQ(PassContext::Current().opt_level(), 2);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(PassContext::Current().opt_level(), 4);
}

TEST(PassContextThreadsTest, InstrumentsKeepAContextToOneThread) {
  std::vector<std::string> lines;
  const PassContext context(
      {.instruments = {std::make_shared<toy::Log>("A", &lines)}});
  const PassContext plain;
  {
    const absl::StatusOr<PassContext::Scope> a = context.Enter();
    const absl::StatusOr<PassContext::Scope> b = plain.Enter();
    // Again on the same thread is fine.
    EXPECT_TRUE(context.Enter().ok());
    std::thread([&] {
      EXPECT_EQ(context.Enter().status().code(),
                absl::StatusCode::kFailedPrecondition);
      EXPECT_TRUE(plain.Enter().ok());
    }).join();
  }
  std::thread([&] { EXPECT_TRUE(context.Enter().ok()); }).join();
}

TEST(PassContextThreadsTest, ScopeIsLeftWhereItWasEntered) {
  const PassContext context;
  absl::StatusOr<PassContext::Scope> scope = context.Enter();
  ASSERT_TRUE(scope.ok());
  std::thread([&] {
    EXPECT_EQ(scope->Exit().code(), absl::StatusCode::kFailedPrecondition);
  }).join();
  EXPECT_TRUE(scope->Exit().ok());
}

}  // namespace
}  // namespace baton
