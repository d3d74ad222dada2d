#include "baton/runtime/kernels/loss_kernels.h"

#include <cmath>

#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/testing.h"
#include "gtest/gtest.h"

namespace baton::kernels {
namespace {

using ::baton::kernels::internal::Fails;
using ::baton::kernels::internal::Make;
using ::baton::kernels::internal::MakeFloat;
using ::baton::kernels::internal::Matches;

constexpr DType kFloat = DType::Float(32);

TEST(LossTest, CrossEntropy) {
  const Tensor x = MakeFloat({2, 2}, {0.5, 0.5, 0.25, 0.75});
  const Tensor y = MakeFloat({2, 2}, {1, 0, 0, 1});
  EXPECT_TRUE(Matches(CrossEntropy(x, y, false), kFloat, {},
                      {-(std::log(0.5) + std::log(0.75)) / 2}));
  EXPECT_TRUE(Matches(CrossEntropy(x, y, true), kFloat, {}, {-0.625}));
}

TEST(LossTest, NegativeLogLikelihood) {
  const Tensor x = MakeFloat({2, 3, 2}, {1, 2, 3, 4, 5, 6,  //
                                         7, 8, 9, 10, 11, 12});
  const Tensor targets = Make(DType::Int(32), {2, 2}, {0, 2, 1, 1});
  const Tensor weights = MakeFloat({3}, {1, 2, 4});
  EXPECT_TRUE(Matches(NllLoss(x, targets, weights, -1, Reduction::kNone),
                      kFloat, {2, 2}, {-1, -24, -18, -20}));
  EXPECT_TRUE(Matches(NllLoss(x, targets, weights, -1, Reduction::kSum), kFloat,
                      {}, {-63}));
  EXPECT_TRUE(Matches(NllLoss(x, targets, weights, -1, Reduction::kMean),
                      kFloat, {}, {-7}));
  EXPECT_TRUE(Matches(NllLoss(x, targets, weights, 1, Reduction::kMean), kFloat,
                      {}, {-5}));
  EXPECT_TRUE(Fails(NllLoss(x, Make(DType::Int(32), {2, 2}, {0, 3, 1, 1}),
                            weights, -1, Reduction::kSum)
                        .status(),
                    "nll_loss", "target 3 is none of the 3 classes"));
}

}  // namespace
}  // namespace baton::kernels
