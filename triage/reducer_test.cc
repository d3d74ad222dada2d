#include "baton/triage/reducer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/deep_loops.h"
#include "baton/testing/status_matchers.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::Le;

constexpr int kMany = 20'000;
constexpr absl::string_view kHead =
    "@T.prim_func\n"
    "def main(A: T.Buffer((16,), \"int32\"), n: T.int32):\n";

class PredicateOracle final : public Oracle {
 public:
  explicit PredicateOracle(std::function<bool(const IRModule&)> pred)
      : pred_(std::move(pred)) {}

  absl::StatusOr<std::unique_ptr<OracleRun>> Start(
      const ReducedCase& reduced) const override {
    return std::make_unique<Run>(pred_(reduced.module));
  }

 private:
  class Run final : public OracleRun {
   public:
    explicit Run(bool result) : result_(result) {}
    bool Wait() override { return result_; }

   private:
    const bool result_;
  };

  const std::function<bool(const IRModule&)> pred_;
};

// The number of constants in loops with that value.
int CountOf(const IRModule& module, int64_t value) {
  int count = 0;
  for (const auto& [var, function] : module.functions<tir::PrimFunc>()) {
    tir::PostOrderVisit(
        function->body(),
        [&](const tir::PrimExpr& e) {
          const auto* imm = e.As<tir::IntImmNode>();
          if (imm != nullptr && imm->value() == value) ++count;
        },
        [](const tir::Stmt& /*stmt*/) {});
  }
  return count;
}

ReduceResult ReduceTo(const IRModule& module,
                      std::function<bool(const IRModule&)> pred) {
  absl::StatusOr<ReduceResult> result =
      Reduce({.module = module, .passes = {}}, PredicateOracle(std::move(pred)),
             {.start_tests = 1});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? *std::move(result) : ReduceResult();
}

IRModule Parse(absl::string_view text) {
  absl::StatusOr<IRModule> module = ParseModule(text);
  EXPECT_TRUE(module.ok()) << module.status();
  return module.ok() ? *std::move(module) : IRModule();
}

TEST(ReducerTest, TwoOfManyStatements) {
  std::string text(kHead);
  for (int i = 0; i < kMany; ++i) {
    absl::StrAppend(&text,
                    "    A[n] = ", i == kMany / 3 || i == kMany / 2 ? 12345 : 7,
                    "\n");
  }
  const ReduceResult result = ReduceTo(
      Parse(text), [](const IRModule& m) { return CountOf(m, 12345) == 2; });
  EXPECT_THAT(AsText(result.best.module), EndsWith("n: T.int32):\n"
                                                   "        A[n] = 12345\n"
                                                   "        A[n] = 12345\n"));
  EXPECT_THAT(result.tests, Le(150));
}

TEST(ReducerTest, OneOfManyComparisons) {
  std::string text = absl::StrCat(kHead, "    if n < 0");
  for (int i = 0; i < kMany; ++i) {
    absl::StrAppend(&text, " and ", i == kMany / 3 ? 12345 : i % 7, " < n");
  }
  absl::StrAppend(&text, ":\n        A[n] = 7\n");
  const ReduceResult result = ReduceTo(
      Parse(text), [](const IRModule& m) { return CountOf(m, 12345) == 1; });
  EXPECT_THAT(AsText(result.best.module),
              EndsWith("n: T.int32):\n"
                       "        if T.LT(12345, 0):\n"
                       "            T.evaluate(0)\n"));
  EXPECT_THAT(result.tests, Le(150));
}

TEST(ReducerTest, StatementsInManyOthers) {
  for (const absl::string_view kind : testing::KindsOfDeepLoops()) {
    SCOPED_TRACE(kind);
    IRModule module;
    module.Set("main", testing::DeepLoops(kind, kMany / 10));
    const ReduceResult result = ReduceTo(module, [](const IRModule& m) {
      bool stores = false;
      for (const auto& [var, function] : m.functions<tir::PrimFunc>()) {
        tir::PostOrderVisit(
            function->body(), [](const tir::PrimExpr& /*e*/) {},
            [&](const tir::Stmt& stmt) {
              stores = stores || stmt.Is<tir::BufferStoreNode>();
            });
      }
      return stores;
    });
    EXPECT_THAT(AsText(result.best.module),
                ContainsRegex("int32...:\n +A.0. = [01]\n$"));
    EXPECT_THAT(result.tests, Le(150));
  }
}

TEST(ReducerTest, OneOfManyFunctions) {
  IRModule module;
  const IRModule one = Parse(absl::StrCat(kHead, "    A[n] = 12345\n"));
  const IRModule other = Parse(absl::StrCat(kHead, "    A[n] = 7\n"));
  for (int i = 0; i < kMany / 20; ++i) {
    module.Set(absl::StrCat("f", i), (i == 700 ? one : other).Find("main"));
  }
  const ReduceResult result = ReduceTo(
      module, [](const IRModule& m) { return CountOf(m, 12345) == 1; });
  EXPECT_EQ(result.best.module.size(), 1);
  EXPECT_THAT(result.tests, Le(50));
}

}  // namespace
}  // namespace baton
