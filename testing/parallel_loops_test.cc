// Tests that passes are found which make a loop parallel whose iterations
// depend on one another.

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/check_values.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/loops_laws.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using ::testing::HasSubstr;

class ParallelMaker final : public tir::Rewriter {
 protected:
  tir::Stmt VisitFor(const tir::ForNode* node) override {
    const tir::Stmt rewritten = Rewriter::VisitFor(node);
    tir::ForNode::Parts parts = rewritten.As<tir::ForNode>()->parts();
    if (parts.kind != tir::ForKind::kSerial) return rewritten;
    parts.kind = tir::ForKind::kParallel;
    return tir::For(std::move(parts), node->span());
  }
};

// Makes all serial loops parallel.
Pass MakeParallel() {
  return tir::CreatePrimFuncPass(
      [](tir::PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<tir::PrimFunc> {
        return ParallelMaker().RewriteBody(function);
      },
      {.name = "tir.MakeParallel", .doc = "Makes loops parallel."});
}

IRModule Module(absl::string_view statement) {
  const absl::StatusOr<IRModule> module =
      ParseModule(absl::StrCat("@T.prim_func\n"
                               "def main(A: T.Buffer((8,), \"float32\"), "
                               "B: T.Buffer((8,), \"float32\")):\n"
                               "    for i in range(7):\n"
                               "        ",
                               statement, "\n"),
                  "loops.tir");
  EXPECT_TRUE(module.ok()) << module.status();
  return module.value_or(IRModule());
}

absl::Status Checked(const IRModule& module) {
  const auto values = std::make_shared<CheckValuesInstrument>();
  return PassContext({.instruments = {values}})
      .Run([&] { return MakeParallel()(module); })
      .status();
}

constexpr absl::string_view kCarried = "B[i + 1] = B[i] + A[i]";
constexpr absl::string_view kIndependent = "B[i + 1] = A[i]";
constexpr absl::string_view kGuilty =
    "iterations of parallel loop i depend on one another. In another order "
    "(seed 1), element ";

TEST(ParallelLoopsTest, CheckValuesFindsDependentIterations) {
  const std::string message(Checked(Module(kCarried)).message());
  EXPECT_THAT(message, HasSubstr("after pass tir.MakeParallel"));
  EXPECT_THAT(message, HasSubstr(kGuilty));
  EXPECT_EQ(Checked(Module(kIndependent)), absl::OkStatus());
}

TEST(ParallelLoopsTest, LawsFindDependentIterations) {
  const std::string message(
      CheckLoopsLaws(MakeParallel(), Module(kCarried)).message());
  EXPECT_THAT(message, HasSubstr("checked: "));
  EXPECT_THAT(message, HasSubstr(kGuilty));
  EXPECT_EQ(CheckLoopsLaws(MakeParallel(), Module(kIndependent)),
            absl::OkStatus());
}

// A pass that does not keep loops in bounds must still keep values.
TEST(ParallelLoopsTest, UncheckedPassesKeepValues) {
  EXPECT_THAT(std::string(CheckLoopsLaws(MakeParallel(), Module(kCarried),
                                         {.waivers = {{"checked", "toy"}}})
                              .message()),
              HasSubstr("values: "));
}

// The laws are broken on random functions, too.
TEST(ParallelLoopsTest, RandomFunctionsHaveDependentIterations) {
  EXPECT_THAT(
      std::string(
          CheckLoopsLawsOnRandomFunctions(MakeParallel(), 0, 64).message()),
      HasSubstr("depend on one another"));
}

}  // namespace
}  // namespace baton::testing
