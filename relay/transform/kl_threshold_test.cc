#include "baton/relay/transform/kl_threshold.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace baton::relay {
namespace {

TEST(KlThresholdTest, IsThatOfTheReference) {
  std::vector<float> laplace;
  for (int i = 1; i <= 2000; ++i) {
    laplace.push_back(static_cast<float>(-std::log(i / 2001.0)));
    laplace.push_back(static_cast<float>(std::log(i / 2001.0) * 0.5));
  }
  EXPECT_FLOAT_EQ(KlThreshold(laplace), 7.21947956f);
  std::vector<float> outliers = {40, -3};
  for (int i = 0; i < 3000; ++i) {
    outliers.push_back(static_cast<float>(std::sin(i * 0.37)));
  }
  EXPECT_FLOAT_EQ(KlThreshold(outliers), 3.80452442f);
  std::vector<float> steps;
  for (int i = 0; i < 500; ++i) steps.push_back(0.25f * (i % 17));
  EXPECT_FLOAT_EQ(KlThreshold(steps), 3.75103116f);
  EXPECT_EQ(KlThreshold({0, 0}), 0);
  EXPECT_TRUE(std::isnan(KlThreshold({1, std::nanf("")})));
}

}  // namespace
}  // namespace baton::relay
