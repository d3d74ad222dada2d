#include "baton/instrument/rewrite_filter.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/testing/status_matchers.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using testing::IsOk;
using testing::StatusIs;

// The operators of four functions after AToB, and the counts.
std::string RunPasses(const std::vector<std::string>& texts, int threads,
                      const Pass& passes) {
  std::vector<RewriteSelection> selections;
  for (const std::string& text : texts) {
    selections.push_back(ParseRewriteSelection(text).value());
  }
  std::string counts;
  const auto filter = std::make_shared<RewriteFilter>(
      selections, [&counts](absl::string_view text) {
        absl::StrAppend(&counts, "; ", text.substr(0, text.size() - 1));
      });
  const absl::StatusOr<IRModule> result =
      PassContext({.config = {{"threads", threads}}, .instruments = {filter}})
          .Run([&] { return passes(toy::Module(4)); });
  EXPECT_THAT(result.status(), IsOk());
  return toy::Ops(*result) + counts;
}

// A pass that does not divide its work rewrites functions, in their order.
TEST(RewriteFilterTest, FunctionsAreRewrites) {
  for (const int threads : {1, 3}) {
    EXPECT_EQ(RunPasses({"AToB:0-2"}, threads, toy::AToB()),
              "main: b; f1: b; f2: a; f3: a; "
              "--rewrites=AToB:0-2: 2 of 4 rewrites done");
    EXPECT_EQ(RunPasses({"AToB:2:4-"}, threads, toy::AToB()),
              "main: a; f1: b; f2: a; f3: b; "
              "--rewrites=AToB:2:4-: 2 of 4 rewrites done");
    EXPECT_EQ(RunPasses({"AToB:0"}, threads, toy::AToB()),
              "main: a; f1: a; f2: a; f3: a; "
              "--rewrites=AToB:0: 0 of 4 rewrites done");
  }
}

TEST(RewriteFilterTest, OfOneExecution) {
  const Pass passes = Sequential({toy::AToB(), toy::BToA(), toy::AToB()});
  EXPECT_EQ(RunPasses({"AToB#2:1"}, 1, passes),
            "main: b; f1: a; f2: a; f3: a; "
            "--rewrites=AToB#2:1: 1 of 4 rewrites done");
  // All executions together.
  EXPECT_EQ(RunPasses({"AToB:0-5", "BToA"}, 1, passes),
            "main: b; f1: a; f2: a; f3: a; "
            "--rewrites=AToB:0-5: 5 of 8 rewrites done; "
            "--rewrites=BToA: 4 of 4 rewrites done");
  EXPECT_EQ(RunPasses({"AToB#3:1"}, 1, passes),
            "main: b; f1: b; f2: b; f3: b; "
            "--rewrites=AToB#3:1: this run has 2 executions of AToB");
}

TEST(RewriteFilterTest, AModuleIsOneRewrite) {
  const Pass pass = CreateModulePass(
      [](const IRModule& module, const PassContext& /*context*/) {
        IRModule result = module;
        result.Set("main",
                   toy::Wrap(module.Find<relay::Function>("main"), "toy.b"));
        return absl::StatusOr<IRModule>(result);
      },
      {.name = "WrapMain"});
  EXPECT_EQ(RunPasses({"WrapMain:0"}, 1, pass),
            "main: a; f1: a; f2: a; f3: a; "
            "--rewrites=WrapMain:0: 0 of 1 rewrite done");
  EXPECT_EQ(RunPasses({"WrapMain"}, 1, pass),
            "main: b a; f1: a; f2: a; f3: a; "
            "--rewrites=WrapMain: 1 of 1 rewrite done");
}

TEST(RewriteFilterTest, CountsEachExecution) {
  EXPECT_EQ(RunPasses({}, 2, Sequential({toy::AToB(), toy::BToA()})),
            "main: a; f1: a; f2: a; f3: a; --rewrites: #2 AToB: 4 rewrites; "
            "--rewrites: #4 BToA: 4 rewrites");
}

TEST(RewriteFilterTest, WrongTexts) {
  for (const char* text :
       {"A#0:1", "A#x", "A:x", "A:3-1", "A:-3", "A:1-x", "A:"}) {
    EXPECT_THAT(ParseRewriteSelection(text).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, "expected a"))
        << text;
  }
}

}  // namespace
}  // namespace baton
