#include "baton/relay/transform/fast_math.h"

#include "baton/relay/transform/rewrite_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

TEST(FastMathTest, FourOperatorsHaveFastCounterparts) {
  ExpectRewrites(FastMathInExpr, R"(
      def @main(%x: Tensor[(2, 8), float32]) {
        nn.softmax(erf(tanh(exp(%x))), axis=0)
      })",
                 R"(
      def @main(%x: Tensor[(2, 8), float32]) {
        nn.fast_softmax(fast_erf(fast_tanh(fast_exp(%x))), axis=0)
      })");
}

TEST(FastMathTest, OthersStay) {
  ExpectUnchanged(FastMathInExpr, R"(
      def @main(%x: Tensor[(2, 8), float32]) {
        nn.log_softmax(sigmoid(fast_exp(%x)))
      })");
}

}  // namespace
}  // namespace baton::relay
