#include "baton/instrument/remarks.h"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using relay::Function;

using ::testing::HasSubstr;

BATON_STATISTIC(kSeen, "Talker", "seen", "Functions seen.");

std::atomic<int> filled = 0;  // remarks of Talker

// Tells of each function, and of what a pass that it runs inside tells.
Pass Talker() {
  return toy::CreateFunctionPass(
      [](const Function& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        kSeen.Add(2);
        if (WantsRemarks(RemarkKind::kPassed)) {
          LogRemark({.kind = RemarkKind::kPassed,
                     .node = function->body(),
                     .reason = "seen",
                     .args = {{"params", 1}},
                     .nodes = {{"first", function->params()[0]}}});
        }
        LogRemark(RemarkKind::kMissed, [](Remark& remark) {
          ++filled;
          remark.reason = "nothing to do";
        });
        return function;
      },
      {.name = "Talker"});
}

struct Told {
  std::vector<std::string> lines;
  std::vector<std::string> json;
  std::string statistics;
};

Told RunWith(const Pass& pass, const std::string& remarks, int threads = 1,
             int functions = 1) {
  Told run;
  const auto instrument = RemarkInstrument::Create(
      {.remarks = remarks,
       .statistics = true,
       .on_remark = [&run](const RenderedRemark& remark) {
         run.lines.push_back(FormatRemark(remark));
         run.json.push_back(RemarkJson(remark));
       }});
  EXPECT_TRUE(instrument.ok()) << instrument.status();
  const PassContext context({.config = {{ThreadsConfig().name(), threads}},
                             .instruments = {*instrument}});
  EXPECT_TRUE(context.Run([&] { return pass(toy::Module(functions)); }).ok());
  run.statistics = (*instrument)->StatisticsText();
  return run;
}

TEST(RemarksTest, SayWhatPassAndNode) {
  const Told run = RunWith(Sequential({Talker()}), "all");
  EXPECT_THAT(run.lines,
              ::testing::ElementsAre(
                  "passed #2 Talker @main toy.a: seen (params 1, first %x)",
                  "missed #2 Talker: nothing to do"));
  EXPECT_EQ(run.json[0],
            R"j({"kind":"passed","execution":2,"pass":"Talker",)j"
            R"j("function":"main","node":"toy.a","reason":"seen",)j"
            R"j("args":{"params":"1","first":"%x"}})j");
  EXPECT_EQ(run.statistics, "       2 Talker.seen  Functions seen.\n");
}

TEST(RemarksTest, OnlyThoseAskedFor) {
  EXPECT_EQ(RunWith(Talker(), "").lines.size(), 0);
  EXPECT_EQ(RunWith(Talker(), "missed").lines.size(), 1);
  EXPECT_EQ(RunWith(Talker(), "missed,passed").lines.size(), 2);
  EXPECT_EQ(RunWith(Talker(), "all:Talk").lines.size(), 0);
  EXPECT_EQ(RunWith(Talker(), "analysis,missed:T.*r").lines.size(), 1);
}

TEST(RemarksTest, MistakesAreErrors) {
  EXPECT_THAT(
      std::string(
          RemarkInstrument::Create({.remarks = "mised"}).status().message()),
      HasSubstr("did you mean \"missed\"?"));
  EXPECT_THAT(
      std::string(
          RemarkInstrument::Create({.remarks = "missed:("}).status().message()),
      HasSubstr("regular expression ("));
}

TEST(RemarksTest, TheSameOnAnyNumberOfThreads) {
  const Pass pass = Sequential({toy::AToB(), Talker(), Talker()});
  const Told one = RunWith(pass, "all", 1, 100);
  EXPECT_EQ(one.lines.size(), 400);
  EXPECT_EQ(one.statistics, "     400 Talker.seen  Functions seen.\n");
  for (const int threads : {2, 16}) {
    const Told run = RunWith(pass, "all", threads, 100);
    EXPECT_EQ(run.lines, one.lines);
    EXPECT_EQ(run.json, one.json);
    EXPECT_EQ(run.statistics, one.statistics);
  }
}

// A pass that fails in one function: what the functions before it told counts.
Pass FailsAt(std::string name) {
  return toy::CreateFunctionPass(
      [name](const Function& function, const IRModule& module,
             const PassContext& /*context*/) -> absl::StatusOr<Function> {
        kSeen.Add(1);
        LogRemark({.kind = RemarkKind::kAnalysis, .node = function->body()});
        if (module.Find<Function>(name) == function) {
          return absl::InternalError("no");
        }
        return function;
      },
      {.name = "FailsAt"});
}

TEST(RemarksTest, UpToAFailure) {
  std::string first;
  for (const int threads : {1, 2, 16}) {
    std::string told;
    const auto instrument = RemarkInstrument::Create(
        {.remarks = "all",
         .statistics = true,
         .on_remark = [&told](const RenderedRemark& remark) {
           absl::StrAppend(&told, FormatRemark(remark), "\n");
         }});
    const PassContext context({.config = {{ThreadsConfig().name(), threads}},
                               .instruments = {*instrument}});
    EXPECT_FALSE(
        context.Run([&] { return FailsAt("f7")(toy::Module(40)); }).ok());
    EXPECT_THAT(told, HasSubstr("@f7"));
    EXPECT_THAT(told, ::testing::Not(HasSubstr("@f8")));
    EXPECT_EQ((*instrument)->StatisticsText(),
              "       8 Talker.seen  Functions seen.\n");
    if (first.empty()) first = told;
    EXPECT_EQ(told, first);
  }
}

TEST(RemarksTest, NobodyListensOutside) {
  EXPECT_FALSE(SomeoneListens());
  RunWith(Talker(), "all");
  EXPECT_FALSE(SomeoneListens());
  EXPECT_FALSE(WantsRemarks(RemarkKind::kMissed));
}

TEST(RemarksTest, ListenersHearTheirs) {
  std::vector<std::string> a;
  std::vector<std::string> b;
  std::vector<std::string> c;
  const auto listen = [](std::string remarks, std::vector<std::string>* out) {
    return *RemarkInstrument::Create(
        {.remarks = std::move(remarks),
         .on_remark = [out](const RenderedRemark& r) {
           out->push_back(FormatRemark(r));
         }});
  };
  const PassContext context(
      {.instruments = {listen("missed", &c), listen("passed", &a),
                       listen("missed", &b)}});
  filled = 0;
  EXPECT_TRUE(context.Run([&] { return Talker()(toy::Module()); }).ok());
  EXPECT_EQ(a.size(), 1);
  EXPECT_THAT(b, ::testing::ElementsAre("missed #1 Talker: nothing to do"));
  EXPECT_EQ(c, b);
  EXPECT_EQ(filled, 1);
}

TEST(RemarksTest, NotFilledForNobody) {
  filled = 0;
  EXPECT_EQ(RunWith(Talker(), "passed").lines.size(), 1);
  EXPECT_EQ(filled, 0);
}

}  // namespace
}  // namespace baton
