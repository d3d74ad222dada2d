// Laws of the rewrite rules: both sides of each rule are equal, for all small
// integers and for random large ones.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "baton/testing/test_settings.h"
#include "baton/tir/arith/rewrite_rules.h"
#include "baton/tir/arith/rule.h"
#include "gtest/gtest.h"

namespace baton::tir {
namespace {

class RuleLaws : public ::testing::TestWithParam<int> {};

constexpr int64_t kWrong = -1000000000;

// The number of values that were tried where the pattern is defined and the
// condition is true; kWrong if the sides differ.
int64_t Check(const RuleSet& rules, size_t rule,
              const std::vector<int64_t>& slots, int lane) {
  const RuleSet::Sides sides = rules.Evaluate(rule, slots, lane);
  if (!sides.defined) return 0;
  if (sides.result_defined && sides.pattern == sides.result) return 1;
  ADD_FAILURE() << rules.text(rule) << "\nx=" << slots[0] << " y=" << slots[1]
                << " z=" << slots[2] << " b1=" << slots[3] << " b2=" << slots[4]
                << " s1=" << slots[5] << " s2=" << slots[6]
                << " c1=" << slots[7] << " c2=" << slots[8]
                << " c3=" << slots[9] << ": " << sides.pattern << " is not "
                << sides.result;
  return kWrong;
}

TEST_P(RuleLaws, BothSidesAreEqual) {
  const RuleSet& rules = RewriteRuleSet(static_cast<RewriteRules>(GetParam()));
  std::mt19937_64 random(GetParam());
  for (size_t rule = 0; rule < rules.size(); ++rule) {
    const unsigned used = rules.SlotsOf(rule);
    const unsigned truths = rules.TruthSlotsOf(rule);
    std::vector<int> names;
    for (int slot = 0; slot < RuleSet::kNumSlots; ++slot) {
      if ((used >> slot & 1) != 0) names.push_back(slot);
    }
    // All values of small magnitude: fewer of each where there are more names.
    constexpr int kLargest[] = {0, 40, 40, 12, 6, 3, 2, 2};
    const int largest = kLargest[std::min<size_t>(names.size(), 7)];
    std::vector<int64_t> slots(RuleSet::kNumSlots, 0);
    for (const int name : names) {
      slots[name] = (truths >> name & 1) != 0 ? 0 : -largest;
    }
    int64_t checked = 0;
    while (checked >= 0) {
      for (int lane = 0; lane < 2; ++lane) {
        checked += Check(rules, rule, slots, lane);
      }
      size_t i = 0;
      for (; i < names.size(); ++i) {
        const bool truth = (truths >> names[i] & 1) != 0;
        if (slots[names[i]] < (truth ? 1 : largest)) {
          ++slots[names[i]];
          break;
        }
        slots[names[i]] = truth ? 0 : -largest;
      }
      if (i == names.size()) break;
    }
    // Large values, and constants that often are multiples of each other.
    const int large = ::baton::testing::IsLongTest() ? 20000 : 2000;
    for (int i = 0; i < large && checked >= 0; ++i) {
      std::fill(slots.begin(), slots.end(), 0);
      for (const int name : names) {
        const int bits = static_cast<int>(random() % 18) + 1;
        slots[name] = static_cast<int64_t>(random() % (uint64_t{1} << bits)) -
                      static_cast<int64_t>(random() % 2 << (bits - 1));
        if ((truths >> name & 1) != 0) slots[name] &= 1;
      }
      const auto relate = [&](int a, int b) {
        switch (random() % 6) {
          case 0:
            slots[a] = slots[b];
            return;
          case 1:
            slots[a] = -slots[b];
            return;
          case 2:
            slots[a] = slots[b] * static_cast<int64_t>(random() % 9);
            return;
          case 3:
            slots[a] = slots[b] - 1;
            return;
          default:
            return;
        }
      };
      relate(RuleSet::kC1, RuleSet::kC2);
      relate(RuleSet::kC3, RuleSet::kC1);
      if (random() % 4 == 0) {
        slots[RuleSet::kC3] = slots[RuleSet::kC1] * slots[RuleSet::kC2];
      }
      if (random() % 4 == 0) {
        slots[RuleSet::kC2] =
            slots[RuleSet::kC1] * static_cast<int64_t>(random() % 9);
      }
      // Products of the largest must not overflow.
      if (std::any_of(slots.begin(), slots.end(), [](int64_t value) {
            return value > (1 << 24) || value < -(1 << 24);
          })) {
        continue;
      }
      checked += Check(rules, rule, slots, static_cast<int>(random() % 4));
    }
    EXPECT_NE(checked, 0) << rules.text(rule) << " was never tried";
  }
}

INSTANTIATE_TEST_SUITE_P(AllSets, RuleLaws,
                         ::testing::Range(0, NumValuesOf(RewriteRules())));

TEST(RuleSet, SaysWhereARuleIsWrong) {
  EXPECT_EQ(RuleSet::Parse("x + q -> x").status().message(),
            "unknown name `q` in the rule `x + q -> x`");
  EXPECT_EQ(RuleSet::Parse("x + y").status().message(),
            "expected `->` or `=>` in the rule `x + y`");
  EXPECT_EQ(RuleSet::Parse("min(x) -> x").status().message(),
            "expected `,`, not `)` in the rule `min(x) -> x`");
}

}  // namespace
}  // namespace baton::tir
