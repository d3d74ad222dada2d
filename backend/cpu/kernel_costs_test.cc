#include "baton/backend/cpu/kernel_costs.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/backend/cpu/built_in_costs.h"
#include "baton/runtime/kernels/blocked/kernels.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::cpu {
namespace {

using kernels::blocked::Width;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::StatusIs;

// The rule that makes C++ of the built-in table takes rows as they are.
TEST(KernelCostsTest, TheBuiltInTableHasAllRows) {
  std::vector<std::string> rows;
  for (size_t i = 0; i < kNumBuiltInCosts; ++i) {
    rows.emplace_back(kBuiltInCosts[i].row);
    for (const double value : kBuiltInCosts[i].values) {
      EXPECT_GT(value, 0) << rows.back();
    }
  }
  EXPECT_EQ(rows, KernelCosts::Rows());
  EXPECT_THAT(KernelCosts::BuiltIn().missing(), IsEmpty());
}

TEST(KernelCostsTest, ATextIsReadBack) {
  KernelCosts costs = KernelCosts::BuiltIn();
  costs.set_machine("a \"fast\" machine");
  costs.Set("peak", Width::k256, 77.5);
  costs.Set("conv.pointwise@16x64", Width::k512, 0.125);
  costs.Set("move", Width::k128, 3);
  BATON_ASSERT_OK_AND_ASSIGN(const KernelCosts read,
                             KernelCosts::Parse(costs.ToString(), "t"));
  EXPECT_EQ(read.ToString(), costs.ToString());
  EXPECT_EQ(read.machine(), "a \"fast\" machine");
  EXPECT_EQ(read.Get("peak", Width::kHalves512), 77.5);
  EXPECT_EQ(read.Get("conv.pointwise@16x64", Width::k512), 0.125);
  // A row of one value has it for all widths.
  EXPECT_EQ(read.Get("move", Width::k512), 3);
  EXPECT_THAT(read.missing(), IsEmpty());
}

TEST(KernelCostsTest, MissingRowsAreThoseOfTheBuiltInTable) {
  std::string text = KernelCosts::BuiltIn().ToString();
  const size_t begin = text.find(",\n  reduce = ");
  text.erase(begin, text.find(',', begin + 1) - begin);
  BATON_ASSERT_OK_AND_ASSIGN(KernelCosts costs, KernelCosts::Parse(text, "t"));
  EXPECT_THAT(costs.missing(), ElementsAre("reduce"));
  EXPECT_EQ(costs.Get("reduce", Width::k512),
            KernelCosts::BuiltIn().Get("reduce", Width::k512));
  // Rows that are missing are not written as if they were measured.
  EXPECT_EQ(costs.ToString(), text);
  BATON_ASSERT_OK_AND_ASSIGN(costs, KernelCosts::Parse("{}", "t"));
  EXPECT_EQ(costs.missing(), KernelCosts::Rows());
}

TEST(KernelCostsTest, ErrorsHaveAPlace) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"", "costs.txt:1:1: error: expected \"{\""},
      {"{\n  # rows\n  move = 6\n  copy = 8\n}",
       "costs.txt:4:3: error: expected \",\" or \"}\"\n"
       "  copy = 8\n"
       "  ^"},
      {"{\n  mov = 6\n}",
       "costs.txt:2:3: error: tables of costs have no row mov; did you mean "
       "\"move\""},
      {"{move = 0}",
       "costs.txt:1:9: error: move must be a number from 1e-9 to 1e12\n"
       "{move = 0}\n"
       "        ^"},
      {"{move = -2}", "move must be a number"},
      {"{move = fast}", "move must be a number"},
      {"{move = [1, 2, 3]}", "move must be a number"},
      {"{move = 1, move = 2}", "move is given twice"},
      {"{\n  conv@16x144 = [0.5, 0.5]}",
       "costs.txt:2:17: error: conv@16x144 must be three numbers from 1e-9 to "
       "1e12, for vectors of 128, 256 and 512 bits: [0.5,0.5,0.5]\n"
       "  conv@16x144 = [0.5, 0.5]}\n"
       "                ^~~~~~~~~~"},
      {"{peak = 7}", "peak must be three numbers"},
      {"{peak = [1, 2, none]}", "peak must be three numbers"},
      {"{conv@17x144 = [1, 1, 1]}", "tables of costs have no row conv@17x144"},
      {"{machine = 7}", "expected the machine's name, in quotes"},
      {"{move = 1} {", "expected the end"},
  };
  for (const auto& test : cases) {
    EXPECT_THAT(KernelCosts::Parse(test.text, "costs.txt").status(),
                StatusIs(absl::StatusCode::kInvalidArgument, test.error))
        << test.text;
  }
}

TEST(KernelCostsTest, PredictsTheTimesOfParts) {
  BATON_ASSERT_OK_AND_ASSIGN(
      const KernelCosts costs,
      KernelCosts::Parse("{step = 10, move = 4, copy = 2, memory = 8,\n"
                         " peak = [10, 20, 40],\n"
                         " conv.pointwise@16x64 = [0.5, 0.5, 0.5],\n"
                         " conv.pointwise@64x64 = [0.25, 0.25, 1],\n"
                         " conv.pointwise@16x512 = [1, 1, 1],\n"
                         " conv.pointwise@64x512 = [1, 1, 1]}",
                         "t"));
  const auto ns = [&costs](const Work& work) {
    return costs.PredictNs(work, Width::k256);
  };
  EXPECT_EQ(ns(Work()), 10);
  EXPECT_EQ(ns(Work::OfNs(3)), 3);
  EXPECT_EQ(ns(WorkOf(KernelRate::kMove, 40)), 20);
  // One after the other, and beside each other.
  EXPECT_EQ(ns(WorkOf(KernelRate::kMove, 40).Add(KernelRate::kCopy, 40)), 40);
  EXPECT_EQ(ns(WorkOf(KernelRate::kMove, 40).Beside(KernelRate::kCopy, 40)),
            30);
  EXPECT_EQ(ns(WorkOf(KernelRate::kStep, 2)), 30);
  // A class of shapes, one between two of them, and one beyond.
  const auto conv = [](double positions, double terms) {
    return Work().AddFlops(KernelFamily::kConvPointwise, 100, positions, terms);
  };
  EXPECT_EQ(ns(conv(16, 64)), 10 + 100 / (20 * 0.5));
  EXPECT_EQ(ns(conv(32, 64)), 10 + 100 / (20 * 0.375));
  EXPECT_EQ(ns(conv(16, 4096)), 10 + 100 / 20.0);
  EXPECT_EQ(costs.PredictNs(conv(64, 64), Width::k512), 10 + 100 / 40.0);
  EXPECT_EQ(costs.PredictNs(conv(64, 64), Width::kPlain128),
            10 + 100 / (10 * 0.25));
  // The memory of weights counts if it takes longer.
  EXPECT_EQ(ns(conv(16, 64).Beside(KernelRate::kMemory, 8)), 20);
  EXPECT_EQ(ns(conv(16, 64).Beside(KernelRate::kMemory, 800)), 110);
}

}  // namespace
}  // namespace baton::cpu
