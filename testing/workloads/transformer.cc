#include "baton/testing/workloads/transformer.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/workloads/layers.h"
#include "baton/testing/workloads/options.h"

namespace baton::testing {

using relay::Add;
using relay::Multiply;
using relay::Reshape;
using relay::Transpose;
namespace nn = relay::nn;

absl::Status CheckTransformer(const TransformerConfig& config) {
  BATON_RETURN_IF_ERROR(CheckPositive("batch_size", config.batch_size));
  BATON_RETURN_IF_ERROR(
      CheckPositive("sequence_length", config.sequence_length));
  BATON_RETURN_IF_ERROR(CheckPositive("hidden_size", config.hidden_size));
  BATON_RETURN_IF_ERROR(CheckPositive("num_heads", config.num_heads));
  BATON_RETURN_IF_ERROR(
      CheckPositive("intermediate_size", config.intermediate_size));
  if (config.hidden_size % config.num_heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("num_heads=", config.num_heads,
                     " does not divide hidden_size=", config.hidden_size));
  }
  return CheckDType(config.dtype);
}

relay::Constant Scalar(double value, DType dtype) {
  return relay::Constant(Tensor::ScalarOf(dtype, value));
}

Expr LayerNorm(const Expr& data, const std::string& name,
               const TransformerConfig& config) {
  return nn::LayerNorm(data, relay::Var(name + "_gamma"),
                       relay::Var(name + "_beta"),
                       {.axis = -1, .epsilon = config.epsilon});
}

Expr SelfAttention(const Expr& data, const std::string& name, const Expr& mask,
                   const TransformerConfig& config) {
  const int64_t batch = config.batch_size, length = config.sequence_length;
  const int64_t heads = config.num_heads, hidden = config.hidden_size;
  const int64_t head_size = hidden / heads;
  const auto split_heads = [&](const char* part, std::vector<int64_t> axes) {
    const Expr dense =
        DenseAddBias(data, absl::StrCat(name, "_", part), hidden);
    return Transpose(Reshape(dense, {batch, length, heads, head_size}), axes);
  };
  // nn.batch_matmul multiplies by the transpose of its second argument.
  const Expr query = Reshape(split_heads("query", {0, 2, 1, 3}),
                             {batch * heads, length, head_size});
  const Expr key = Reshape(split_heads("key", {0, 2, 1, 3}),
                           {batch * heads, length, head_size});
  const Expr value = Reshape(split_heads("value", {0, 2, 3, 1}),
                             {batch * heads, head_size, length});
  Expr scores = Multiply(
      nn::BatchMatmul(query, key),
      Scalar(1 / std::sqrt(static_cast<double>(head_size)), config.dtype));
  if (mask.defined()) {
    scores = Add(Reshape(scores, {batch, heads, length, length}), mask);
    scores = Reshape(nn::Softmax(scores), {batch * heads, length, length});
  } else {
    scores = nn::Softmax(scores);
  }
  Expr context = Reshape(nn::BatchMatmul(scores, value),
                         {batch, heads, length, head_size});
  context = Reshape(Transpose(context, std::vector<int64_t>{0, 2, 1, 3}),
                    {batch * length, hidden});
  return DenseAddBias(context, name + "_output", hidden);
}

Expr FeedForward(const Expr& data, const std::string& name,
                 const TransformerConfig& config) {
  const Expr x =
      DenseAddBias(data, name + "_intermediate", config.intermediate_size);
  const Expr erf =
      relay::Erf(Multiply(x, Scalar(std::sqrt(0.5), config.dtype)));
  const Expr gelu = Multiply(Multiply(x, Scalar(0.5, config.dtype)),
                             Add(Scalar(1, config.dtype), erf));
  return DenseAddBias(gelu, name + "_output", config.hidden_size);
}

Expr FirstOfSequence(const Expr& data, const TransformerConfig& config) {
  const Expr sequences = Reshape(
      data, {config.batch_size, config.sequence_length, config.hidden_size});
  return relay::Take(sequences, Scalar(0, DType::Int(32)), {.axis = 1});
}

}  // namespace baton::testing
