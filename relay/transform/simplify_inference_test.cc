#include "baton/relay/transform/simplify_inference.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn.h"
#include "baton/relay/op/nn/normalize.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/transform/rewrite_test_util.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

using Axes = std::vector<int64_t>;

// Checks what becomes of `before`, and that nothing is left to do then.
void ExpectBecomes(const Function& before, const Function& after) {
  ExpectRewrites(SimplifyInferenceInExpr, before, after);
  ExpectUnchanged(SimplifyInferenceInExpr, after);
}

// Parameters of batch norms of ten channels.
struct Params {
  explicit Params(DType dtype = DType::Float(32))
      : gamma(TensorVar("gamma", {10}, dtype)),
        beta(TensorVar("beta", {10}, dtype)),
        mean(TensorVar("mean", {10}, dtype)),
        var(TensorVar("var", {10}, dtype)) {}
  std::vector<Var> With(Var data) const {
    return {std::move(data), gamma, beta, mean, var};
  }
  Expr BatchNorm(Expr data, BatchNormAttrs attrs = {}) const {
    return nn::BatchNorm(std::move(data), gamma, beta, mean, var, attrs);
  }
  Var gamma, beta, mean, var;
};

// The number of axes after the channels.
Expr Expand(const Expr& vector, int axes_after) {
  return axes_after == 0 ? vector : ExpandDims(vector, 1, axes_after);
}

TEST(SimplifyInferenceTest, BatchNorm) {
  struct Case {
    int rank;
    int axis;
    int axes_after;
    bool scale;
    bool center;
  };
  const Params p;
  for (const Case& c : {Case{2, 1, 0, true, true}, Case{4, 1, 2, true, true},
                        Case{4, 0, 3, true, true}, Case{4, -1, 0, true, true},
                        Case{4, 2, 1, false, true}, Case{3, 1, 1, true, false},
                        Case{3, 1, 1, false, false}}) {
    const Var x = TensorVar("x", Axes(c.rank, 10));
    const Expr norm = p.BatchNorm(Add(x, Const(1.0f)), {.axis = c.axis,
                                                        .epsilon = 0.01,
                                                        .center = c.center,
                                                        .scale = c.scale});
    Expr scale = Divide(Const(1.0f), Sqrt(Add(p.var, Const(0.01f))));
    if (c.scale) scale = Multiply(scale, p.gamma);
    Expr shift = Multiply(Negative(p.mean), scale);
    if (c.center) shift = Add(shift, p.beta);
    ExpectBecomes(Function(p.With(x), TupleGetItem(norm, 0)),
                  Function(p.With(x), Add(Multiply(Add(x, Const(1.0f)),
                                                   Expand(scale, c.axes_after)),
                                          Expand(shift, c.axes_after))));
  }
}

TEST(SimplifyInferenceTest, ScalarsHaveTheElementTypeOfTheData) {
  const Params p{DType::Float(16)};
  const Var x = TensorVar("x", {10, 10}, DType::Float(16));
  const Expr scale =
      Multiply(Divide(Const(1.0, DType::Float(16)),
                      Sqrt(Add(p.var, Const(0.01f, DType::Float(16))))),
               p.gamma);
  ExpectBecomes(
      Function(p.With(x), TupleGetItem(p.BatchNorm(x, {.epsilon = 0.01}), 0)),
      Function(p.With(x), Add(Multiply(x, scale),
                              Add(Multiply(Negative(p.mean), scale), p.beta))));
}

TEST(SimplifyInferenceTest, TheOtherFieldsKeepTheCall) {
  const Params p;
  const Var x = TensorVar("x", {10, 10});
  const auto dropped = [&] { return nn::Dropout(x); };
  // The call is rebuilt with its new argument.
  ExpectBecomes(Function(p.With(x), TupleGetItem(p.BatchNorm(dropped()), 1)),
                Function(p.With(x), TupleGetItem(p.BatchNorm(x), 1)));
  ExpectBecomes(Function(p.With(x), p.BatchNorm(dropped())),
                Function(p.With(x), p.BatchNorm(x)));

  const Expr norm = p.BatchNorm(x);
  const Expr scale =
      Multiply(Divide(Const(1.0f), Sqrt(Add(p.var, Const(1e-5f)))), p.gamma);
  ExpectBecomes(
      Function(p.With(x),
               Tuple({TupleGetItem(norm, 0), TupleGetItem(norm, 2)})),
      Function(p.With(x),
               Tuple({Add(Multiply(x, scale),
                          Add(Multiply(Negative(p.mean), scale), p.beta)),
                      TupleGetItem(norm, 2)})));
}

TEST(SimplifyInferenceTest, Dropout) {
  const Var x = TensorVar("x", {10, 10});
  ExpectBecomes(Function({x}, nn::Relu(nn::Dropout(nn::Dropout(x)))),
                Function({x}, nn::Relu(x)));
}

// (data - mean) / sqrt(variance + epsilon)
Expr Normalized(const Expr& data, const Axes& axes, float epsilon) {
  const Expr mean = Mean(data, {.axis = axes, .keepdims = true});
  const Call variance(
      Op::Find("variance"), {data, mean},
      Attrs::Make(VarianceAttrs{.axis = axes, .keepdims = true}));
  return Divide(Subtract(data, mean), Sqrt(Add(variance, Const(epsilon))));
}

TEST(SimplifyInferenceTest, LayerNorm) {
  const Var x = TensorVar("x", {2, 10, 3});
  const Var g = TensorVar("g", {3});
  const Var b = TensorVar("b", {3});
  ExpectBecomes(
      Function({x, g, b}, nn::LayerNorm(x, g, b)),
      Function({x, g, b}, Add(Multiply(Normalized(x, {-1}, 1e-5f), g), b)));
  const Var g1 = TensorVar("g", {10});
  const Var b1 = TensorVar("b", {10});
  ExpectBecomes(
      Function({x, g1, b1},
               nn::LayerNorm(x, g1, b1, {.axis = 1, .center = false})),
      Function({x, g1, b1},
               Multiply(Normalized(x, {1}, 1e-5f), ExpandDims(g1, 1))));
}

TEST(SimplifyInferenceTest, InstanceNorm) {
  const Var x = TensorVar("x", {2, 10, 3, 4});
  const Var g = TensorVar("g", {10});
  const Var b = TensorVar("b", {10});
  ExpectBecomes(
      Function({x, g, b}, nn::InstanceNorm(x, g, b, {.epsilon = 0.5})),
      Function({x, g, b},
               Add(Multiply(Normalized(x, {2, 3}, 0.5f), ExpandDims(g, 1, 2)),
                   ExpandDims(b, 1, 2))));
}

TEST(SimplifyInferenceTest, GroupNorm) {
  const Var x = TensorVar("x", {2, 10, 3, 4});
  const Var g = TensorVar("g", {10});
  const Var b = TensorVar("b", {10});
  const Expr groups = Normalized(Reshape(x, {2, 5, 2, 3, 4}), {2, 3, 4}, 1e-5f);
  ExpectBecomes(Function({x, g, b}, nn::GroupNorm(x, g, b, {.num_groups = 5})),
                Function({x, g, b}, Add(Multiply(Reshape(groups, {2, 10, 3, 4}),
                                                 ExpandDims(g, 1, 2)),
                                        ExpandDims(b, 1, 2))));
}

TEST(SimplifyInferenceTest, L2Normalize) {
  const Var x = TensorVar("x", {2, 10});
  ExpectBecomes(
      Function({x}, nn::L2Normalize(x, 0.001, {1})),
      Function({x},
               Divide(x, Sqrt(Maximum(Sum(Multiply(x, x),
                                          {.axis = Axes{1}, .keepdims = true}),
                                      Const(0.001f))))));
}

TEST(SimplifyInferenceTest, UnknownExtents) {
  const Params p;
  const Var x("x", {Dim::Any(), 10, Dim::Any()});
  const Expr scale =
      Multiply(Divide(Const(1.0f), Sqrt(Add(p.var, Const(1e-5f)))), p.gamma);
  ExpectBecomes(
      Function(p.With(x), TupleGetItem(p.BatchNorm(x), 0)),
      Function(
          p.With(x),
          Add(Multiply(x, ExpandDims(scale, 1)),
              ExpandDims(Add(Multiply(Negative(p.mean), scale), p.beta), 1))));
  // Groups are formed by a reshape, which takes numbers.
  ExpectUnchanged(
      SimplifyInferenceInExpr,
      Function({x, p.gamma, p.beta},
               nn::GroupNorm(x, p.gamma, p.beta, {.num_groups = 5})));
}

TEST(SimplifyInferenceTest, NothingToDo) {
  const Var x = TensorVar("x", {10, 10});
  ExpectUnchanged(SimplifyInferenceInExpr, Function({x}, nn::Relu(Add(x, x))));
}

TEST(SimplifyInferenceTest, LongChains) {
  const Params p;
  const Var x = TensorVar("x", {2, 10});
  Expr expr = x;
  for (int i = 0; i < 20'000; ++i) {
    expr = nn::Dropout(TupleGetItem(p.BatchNorm(expr), 0));
  }
  const Function input = Typed(Function(p.With(x), expr));
  const Function output(SimplifyInferenceInExpr(input)->As<FunctionNode>());
  EXPECT_NE(output, input);
  EXPECT_EQ(*SimplifyInferenceInExpr(output), output);
}

TEST(SimplifyInferenceTest, Info) {
  EXPECT_EQ(SimplifyInference().info().ToString(),
            "The meta data of the pass - pass name: SimplifyInference, "
            "opt_level: 0, required passes: [\nInferType, ]\n");
}

}  // namespace
}  // namespace baton::relay
