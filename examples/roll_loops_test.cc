// The loops of example.roll compute what its kernel computes.

#include <cstdint>
#include <vector>

#include "baton/base/tensor.h"
#include "baton/examples/add_an_operator.h"
#include "baton/lower/lower_to_tir.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/status_matchers.h"
#include "baton/tir/interpreter/interpreter.h"
#include "gtest/gtest.h"

namespace baton::examples {
namespace {

TEST(RollLoopsTest, ComputeTheSame) {
  const std::vector<int64_t> shape = {2, 3};
  BATON_ASSERT_OK_AND_ASSIGN(
      const Tensor data, Tensor::FromValues<float>(shape, {0, 1, 2, 3, 4, 5}));
  for (const int64_t shift : {1, -1, 4}) {
    const relay::Var x("x", {2, 3});
    BATON_ASSERT_OK_AND_ASSIGN(
        const Expr typed,
        relay::InferTypeOf(relay::Function({x}, Roll(x, shift, -1))));
    const relay::Function function(typed.As<relay::FunctionNode>());
    BATON_ASSERT_OK_AND_ASSIGN(const lower::LoweredFunction lowered,
                               lower::LowerFunction(function, "roll"));
    BATON_ASSERT_OK_AND_ASSIGN(
        const relay::Value expected,
        relay::Evaluate(relay::Call(function, {relay::Constant(data)}),
                        nullptr));
    BATON_ASSERT_OK_AND_ASSIGN(const Tensor memory,
                               Tensor::Zeros(data.dtype(), shape));
    BATON_ASSERT_OK_AND_ASSIGN(
        const std::vector<Tensor> after,
        tir::Interpret(lowered.function,
                       {tir::Argument(data), tir::Argument(memory)}));
    EXPECT_EQ(after[1].bytes(), expected.tensor().bytes()) << shift;
  }
}

}  // namespace
}  // namespace baton::examples
