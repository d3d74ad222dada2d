// Tests the law of gradients: for every operator with a gradient, the result of
// FirstOrderGradient for a call agrees with finite differences of the call.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/op/gradients.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"
#include "baton/relay/transform/first_order_gradient.h"
#include "baton/relay/transform/higher_order_gradient.h"
#include "baton/testing/parse_typed.h"
#include "baton/testing/status_matchers.h"
#include "baton/transform/pass.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using relay::Function;
using relay::Value;

// A function of tensors of float64, which are differentiated, and of integers
// and bools, which are not. Its result is one float64 tensor.
struct Sample {
  const char* op;
  const char* params;
  const char* body;
  // The range of the floating-point arguments.
  double low = 0.2;
  double high = 0.9;
};

constexpr char kX[] = "%x: Tensor[(2, 3), float64]";
constexpr char kXY[] = "%x: Tensor[(2, 3), float64], %y: Tensor[(3), float64]";
constexpr char kImage[] = "%x: Tensor[(2, 2, 5, 6), float64]";

const std::vector<Sample>& Samples() {
  static const auto* const kSamples = new std::vector<Sample>{
      {"abs", kX, "abs(%x)", -1, 1},
      {"acos", kX, "acos(%x)"},
      {"acosh", kX, "acosh(%x)", 1.2, 2},
      {"add", kXY, "add(%x, %y)"},
      {"annotation.checkpoint", kX, "annotation.checkpoint(%x)"},
      {"arange", "%x: float64, %y: float64, %z: float64",
       "arange(%x, add(%x, 2.3f64), add(multiply(%z, 0f64), 0.5f64), "
       "start=0f64, stop=2f64, step=1f64, dtype=\"float64\")"},
      {"asin", kX, "asin(%x)"},
      {"asinh", kX, "asinh(%x)"},
      {"atan", kX, "atan(%x)"},
      {"atanh", kX, "atanh(%x)"},
      {"cast", kX, "cast(cast(%x, dtype=\"float64\"), dtype=\"float64\")"},
      {"cast_like", kXY, "cast_like(%x, %y)"},
      {"clip", kX, "clip(%x, a_min=0.35f, a_max=0.6f)"},
      {"collapse_sum_like", kXY, "collapse_sum_like(%x, %y)"},
      {"collapse_sum_to", kX,
       "collapse_sum_to(%x, reshape(3, newshape=[1]), shape=[3])"},
      {"concatenate",
       "%x: Tensor[(2, 3), float64], %y: Tensor[(2, 1), float64], "
       "%z: Tensor[(2, 2), float64]",
       "concatenate((%x, %y, %z), axis=-1)"},
      {"contrib_reverse_reshape", kX,
       "contrib_reverse_reshape(%x, newshape=[-1])"},
      {"copy", kX, "copy(%x)"},
      {"cos", kX, "cos(%x)"},
      {"cosh", kX, "cosh(%x)"},
      {"divide", kXY, "divide(%x, %y)"},
      {"dyn.ones", "%s: Tensor[(2), int64]",
       "dyn.ones(%s, shape=None, dtype=\"float64\")"},
      {"dyn.reshape", "%x: Tensor[(2, 3), float64]",
       "dyn.reshape(%x, shape_of(%x, dtype=\"int64\"), newshape=[])"},
      {"dyn.zeros", "%s: Tensor[(2), int64]",
       "dyn.zeros(%s, shape=None, dtype=\"float64\")"},
      {"equal", kXY, "cast(equal(%x, %y), dtype=\"float64\")"},
      {"erf", kX, "erf(%x)", -1, 1},
      {"exp", kX, "exp(%x)"},
      {"expand_dims", kX, "expand_dims(%x, axis=1, num_newaxis=2)"},
      {"expand_dims", kX, "expand_dims(%x, axis=-2)"},
      {"gather_nd", "%x: Tensor[(2, 3), float64], %i: Tensor[(2, 4), int64]",
       "gather_nd(%x, %i, index_rank=2)"},
      {"gather_nd", "%x: Tensor[(2, 3), float64], %i: Tensor[(1, 3), int32]",
       "gather_nd(%x, %i)"},
      {"greater", kXY, "cast(greater(%x, %y), dtype=\"float64\")"},
      {"greater_equal", kXY, "cast(greater_equal(%x, %y), dtype=\"float64\")"},
      {"less", kXY, "cast(less(%x, %y), dtype=\"float64\")"},
      {"less_equal", kXY, "cast(less_equal(%x, %y), dtype=\"float64\")"},
      {"log", kX, "log(%x)"},
      {"log10", kX, "log10(%x)"},
      {"log2", kX, "log2(%x)"},
      {"logical_and", kXY,
       "cast(logical_and(less(%x, %y), less(%x, 0.5f64)), dtype=\"float64\")"},
      {"logical_not", kXY,
       "cast(logical_not(less(%x, %y)), dtype=\"float64\")"},
      {"logical_or", kXY,
       "cast(logical_or(less(%x, %y), less(%x, 0.5f64)), dtype=\"float64\")"},
      {"logical_xor", kXY,
       "cast(logical_xor(less(%x, %y), less(%x, 0.5f64)), dtype=\"float64\")"},
      {"max", kX, "max(%x)"},
      {"max", kX, "max(%x, keepdims=True)"},
      {"max", kX, "max(%x, axis=[-1])"},
      {"max", kX, "max(%x, axis=[0], keepdims=True, exclude=True)"},
      {"mean", kX, "mean(%x)"},
      {"mean", kX, "mean(%x, axis=[1])"},
      {"mean", kX, "mean(%x, axis=[-1], keepdims=True, exclude=True)"},
      {"multiply", kXY, "multiply(%x, %y)"},
      {"negative", kX, "negative(%x)"},
      {"nn.avg_pool2d", kImage,
       "nn.avg_pool2d(%x, pool_size=[2, 3], strides=[2, 1], "
       "padding=[1, 0, 0, 1])"},
      {"nn.avg_pool2d", kImage,
       "nn.avg_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
       "padding=[1, 1, 1, 1], ceil_mode=True, count_include_pad=True)"},
      {"nn.batch_flatten", kImage, "nn.batch_flatten(%x)"},
      {"nn.batch_matmul",
       "%x: Tensor[(2, 3, 4), float64], %y: Tensor[(2, 5, 4), float64]",
       "nn.batch_matmul(%x, %y, transpose_b=True)"},
      {"nn.batch_matmul",
       "%x: Tensor[(2, 3, 4), float64], %y: Tensor[(1, 4, 5), float64]",
       "nn.batch_matmul(%x, %y)"},
      {"nn.batch_matmul",
       "%x: Tensor[(2, 4, 3), float64], %y: Tensor[(2, 4, 5), float64]",
       "nn.batch_matmul(%x, %y, transpose_a=True)"},
      {"nn.batch_matmul",
       "%x: Tensor[(2, 4, 3), float64], %y: Tensor[(2, 5, 4), float64]",
       "nn.batch_matmul(%x, %y, transpose_a=True, transpose_b=True)"},
      {"nn.bias_add",
       "%x: Tensor[(2, 3, 2), float64], %y: Tensor[(3), float64]",
       "nn.bias_add(%x, %y)"},
      {"nn.bias_add",
       "%x: Tensor[(2, 3, 2), float64], %y: Tensor[(2), float64]",
       "nn.bias_add(%x, %y, axis=-1)"},
      {"nn.conv2d",
       "%x: Tensor[(2, 2, 5, 6), float64], %y: Tensor[(3, 2, 3, 2), float64]",
       "nn.conv2d(%x, %y, padding=[1, 0, 1, 1], kernel_size=[3, 2])"},
      {"nn.conv2d",
       "%x: Tensor[(1, 2, 6, 7), float64], %y: Tensor[(4, 1, 3, 3), float64]",
       "nn.conv2d(%x, %y, strides=[2, 2], padding=[1, 1, 1, 1], groups=2)"},
      {"nn.conv2d",
       "%x: Tensor[(1, 2, 7, 7), float64], %y: Tensor[(2, 2, 3, 3), float64]",
       "nn.conv2d(%x, %y, padding=[1, 1, 1, 1], dilation=[2, 2])"},
      {"nn.cross_entropy",
       "%x: Tensor[(2, 5), float64], %y: Tensor[(2, 5), float64]",
       "nn.cross_entropy(%x, %y)"},
      {"nn.cross_entropy_with_logits",
       "%x: Tensor[(2, 5), float64], %y: Tensor[(2, 5), float64]",
       "nn.cross_entropy_with_logits(%x, %y)"},
      {"nn.dense", "%x: Tensor[(2, 3), float64], %y: Tensor[(4, 3), float64]",
       "nn.dense(%x, %y, units=None)"},
      {"nn.global_avg_pool2d", kImage, "nn.global_avg_pool2d(%x)"},
      {"nn.global_avg_pool2d", kImage,
       "nn.global_avg_pool2d(%x, layout=\"NHWC\")"},
      {"nn.log_softmax", kX, "nn.log_softmax(%x)"},
      {"nn.matmul", "%x: Tensor[(2, 3), float64], %y: Tensor[(3, 4), float64]",
       "nn.matmul(%x, %y, units=None)"},
      {"nn.matmul", "%x: Tensor[(3, 2), float64], %y: Tensor[(3, 4), float64]",
       "nn.matmul(%x, %y, units=None, transpose_a=True)"},
      {"nn.matmul", "%x: Tensor[(2, 3), float64], %y: Tensor[(4, 3), float64]",
       "nn.matmul(%x, %y, units=None, transpose_b=True)"},
      {"nn.matmul", "%x: Tensor[(3, 2), float64], %y: Tensor[(4, 3), float64]",
       "nn.matmul(%x, %y, units=None, transpose_a=True, transpose_b=True)"},
      {"nn.max_pool2d", kImage,
       "nn.max_pool2d(%x, pool_size=[2, 3], strides=[2, 1], "
       "padding=[1, 0, 0, 1])"},
      {"nn.max_pool2d", kImage,
       "nn.max_pool2d(%x, pool_size=[3, 3], strides=[2, 2], "
       "padding=[0, 0, 0, 0], ceil_mode=True)"},
      {"nn.relu", kX, "nn.relu(%x)", -1, 1},
      {"nn.softmax", kX, "nn.softmax(%x)"},
      {"nn.softmax", kX, "nn.softmax(%x, axis=0)"},
      {"not_equal", kXY, "cast(not_equal(%x, %y), dtype=\"float64\")"},
      {"on_device", kX, "on_device(%x, virtual_device=\"cpu\")"},
      {"one_hot", "%i: Tensor[(2, 2), int32], %x: float64, %y: float64",
       "one_hot(%i, %x, %y, depth=3, axis=-1, dtype=\"float64\")"},
      {"ones", "%x: float64",
       "multiply(%x, ones(shape=[2, 3], dtype=\"float64\"))"},
      {"ones_like", kX, "ones_like(%x)"},
      {"reshape", kX, "reshape(%x, newshape=[3, 2])"},
      {"reshape_like", "%x: Tensor[(2, 3), float64], %y: Tensor[(6), float64]",
       "reshape_like(%x, %y)"},
      {"shape_of", kX,
       "cast(shape_of(%x, dtype=\"int32\"), dtype=\"float64\")"},
      {"sigmoid", kX, "sigmoid(%x)", -1, 1},
      {"sin", kX, "sin(%x)"},
      {"sinh", kX, "sinh(%x)"},
      {"sqrt", kX, "sqrt(%x)"},
      {"squeeze", "%x: Tensor[(1, 3, 1), float64]", "squeeze(%x, axis=[0])"},
      {"squeeze", "%x: Tensor[(1, 3, 1), float64]", "squeeze(%x)"},
      {"stack", "%x: Tensor[(2, 3), float64], %y: Tensor[(2, 3), float64]",
       "stack((%x, %y), axis=-1)"},
      {"strided_slice", kX,
       "strided_slice(%x, begin=[0, 1], end=[2, 3], strides=[1, 1], "
       "axes=None)"},
      {"strided_slice", "%x: Tensor[(5, 6), float64]",
       "strided_slice(%x, begin=[1, 5], end=[5, 0], strides=[2, -2], "
       "axes=None)"},
      {"strided_slice", "%x: Tensor[(5, 6), float64]",
       "strided_slice(%x, begin=[1, 2], end=[-1, 3], strides=[1], "
       "slice_mode=\"size\", axes=None)"},
      {"subtract", kXY, "subtract(%x, %y)"},
      {"sum", kX, "sum(%x)"},
      {"sum", kX, "sum(%x, axis=[0])"},
      {"sum", kX, "sum(%x, axis=[0], keepdims=True, exclude=True)"},
      {"take", "%x: Tensor[(2, 3), float64], %i: Tensor[(4), int32]",
       "take(%x, %i, axis=1)"},
      {"take", "%x: Tensor[(2, 3), float64], %i: Tensor[(4), int64]",
       "take(%x, %i)"},
      {"take", "%x: Tensor[(2, 3), float64], %i: int32",
       "take(%x, %i, axis=-2)"},
      {"tan", kX, "tan(%x)"},
      {"tanh", kX, "tanh(%x)", -1, 1},
      {"transpose", "%x: Tensor[(2, 3, 4), float64]",
       "transpose(%x, axes=[1, -1, 0])"},
      {"transpose", kX, "transpose(%x, axes=None)"},
      {"variance", kX, "variance(%x, mean(%x, keepdims=True))"},
      {"variance", kX,
       "variance(%x, mean(%x, axis=[1], keepdims=True), axis=[1], "
       "unbiased=True)"},
      {"where",
       "%c: Tensor[(2, 1), bool], %x: Tensor[(2, 3), float64], "
       "%y: Tensor[(3), float64]",
       "where(%c, %x, %y)"},
      {"zeros", "%x: float64",
       "add(%x, zeros(shape=[2, 3], dtype=\"float64\"))"},
      {"zeros_like", kX, "zeros_like(%x)"},
  };
  return *kSamples;
}

IRModule ModuleOf(const Sample& sample) {
  return ParseTyped(
      absl::StrCat("def @main(", sample.params, ") { ", sample.body, " }"));
}

Tensor RandomTensor(const TensorTypeNode& type, double low, double high,
                    std::mt19937& random) {
  std::vector<int64_t> shape;
  int64_t n = 1;
  for (const Dim& dim : type.shape()) {
    shape.push_back(dim.value());
    n *= dim.value();
  }
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i) {
    const double unit = static_cast<double>(random()) / 4294967296.0;
    values.push_back(type.dtype().is_float() ? low + unit * (high - low)
                                             : std::floor(2 * unit));
  }
  const Tensor doubles = *Tensor::FromValues<double>(shape, values);
  return relay::Evaluate(relay::Cast(relay::Const(doubles), type.dtype()),
                         nullptr)
      ->tensor();
}

// The sum of the elements of the result.
absl::StatusOr<double> SumOf(const IRModule& module,
                             const std::vector<Value>& args) {
  const absl::StatusOr<Value> value =
      relay::EvaluateFunction(module, "main", args);
  if (!value.ok()) return value.status();
  double sum = 0;
  for (int64_t i = 0; i < value->tensor().num_elements(); ++i) {
    sum += value->tensor().AtAsDouble(i);
  }
  return sum;
}

// `tensor` with `delta` added to element `k`.
Tensor Moved(const Tensor& tensor, int64_t k, double delta) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    values.push_back(tensor.AtAsDouble(i) + (i == k ? delta : 0));
  }
  return *Tensor::FromValues<double>(tensor.shape(), values);
}

// Checks that the result of `pass` agrees with finite differences of `module`.
void ExpectAgreement(const Pass& pass, const IRModule& module,
                     const std::vector<Value>& args) {
  SCOPED_TRACE(pass.name());
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule differentiated, pass(module));
  BATON_ASSERT_OK_AND_ASSIGN(
      const Value pair, relay::EvaluateFunction(differentiated, "main", args));
  BATON_ASSERT_OK_AND_ASSIGN(const Value before,
                             relay::EvaluateFunction(module, "main", args));
  EXPECT_TRUE(pair.fields()[0].tensor() == before.tensor());
  for (size_t p = 0; p < args.size(); ++p) {
    const Tensor& x = args[p].tensor();
    const Tensor& gradient = pair.fields()[1].fields()[p].tensor();
    ASSERT_EQ(gradient.shape(), x.shape());
    ASSERT_EQ(gradient.dtype(), x.dtype());
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      double difference = 0;
      if (x.dtype().is_float()) {
        constexpr double kStep = 1e-6;
        std::vector<Value> moved = args;
        moved[p] = Moved(x, i, kStep);
        BATON_ASSERT_OK_AND_ASSIGN(const double above, SumOf(module, moved));
        moved[p] = Moved(x, i, -kStep);
        BATON_ASSERT_OK_AND_ASSIGN(const double below, SumOf(module, moved));
        difference = (above - below) / (2 * kStep);
      }
      EXPECT_NEAR(gradient.AtAsDouble(i), difference,
                  1e-6 + 1e-6 * std::abs(difference))
          << "argument " << p << ", element " << i;
    }
  }
}

class GradientLawTest : public ::testing::TestWithParam<Sample> {};

TEST_P(GradientLawTest, AgreesWithFiniteDifferences) {
  const Sample& sample = GetParam();
  SCOPED_TRACE(sample.body);
  std::mt19937 random(7);
  IRModule module = ModuleOf(sample);
  // Elements of the result get weights, so that each counts in its own way.
  const Function function = module.Find<Function>("main");
  ASSERT_TRUE(function.defined());
  const TensorTypeNode* result = function->body()->tensor_type();
  ASSERT_NE(result, nullptr);
  ASSERT_EQ(result->dtype(), DType::Float(64));
  bool is_static = true;
  for (const Dim& dim : result->shape()) is_static &= dim.is_const();
  if (is_static) {
    const Tensor weights = RandomTensor(*result, 0.5, 1.5, random);
    const absl::StatusOr<IRModule> weighted =
        relay::InferTypes(relay::ModuleFromExpr(Function(
            {function->params().begin(), function->params().end()},
            relay::Multiply(function->body(), relay::Const(weights)))));
    ASSERT_THAT(weighted.status(), IsOk());
    module = *weighted;
  }
  BATON_ASSERT_OK_AND_ASSIGN(const IRModule differentiated,
                             relay::FirstOrderGradient()(module));
  std::string missing;
  if (!relay::HasKernels(differentiated.Find("main"), &missing)) {
    GTEST_SKIP() << missing << " has no kernel";
  }

  std::vector<Value> args;
  for (const relay::Var& param : module.Find<Function>("main")->params()) {
    args.push_back(
        RandomTensor(*param->tensor_type(), sample.low, sample.high, random));
  }
  ExpectAgreement(relay::FirstOrderGradient(), module, args);
  ExpectAgreement(relay::HigherOrderGradient(), module, args);
}

INSTANTIATE_TEST_SUITE_P(Operators, GradientLawTest,
                         ::testing::ValuesIn(Samples()),
                         [](const ::testing::TestParamInfo<Sample>& info) {
                           std::string name =
                               absl::StrCat(info.param.op, "_", info.index);
                           for (char& c : name) {
                             if (c == '.') c = '_';
                           }
                           return name;
                         });

TEST(GradientLawsTest, EveryGradientHasASample) {
  absl::flat_hash_set<std::string> sampled;
  for (const Sample& sample : Samples()) sampled.insert(sample.op);
  int count = 0;
  for (const OpNode* op : OpRegistry::Global().List()) {
    if (relay::Gradients().Get(*op) == nullptr) continue;
    EXPECT_TRUE(sampled.contains(op->name())) << op->name();
    ++count;
  }
  EXPECT_GE(count, 70);
}

}  // namespace
}  // namespace baton::testing
