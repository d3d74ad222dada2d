// Converters of the domain com.microsoft, which ONNX Runtime's optimizer and
// exporters of language models write, and of operators that ONNX Runtime adds
// to ONNX's own domain.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/formulas.h"
#include "baton/onnx/ops/heads.h"
#include "baton/onnx/ops/matrix_products.h"
#include "baton/onnx/ops/spatial_windows.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Multiply;
using relay::Subtract;
using relay::operator*;
using Ints = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Expr ElementOf(const Expr& x, int64_t i) {
  return relay::Take(x, relay::Const(Tensor::Scalar<int64_t>(i)), {.axis = 0});
}

// --- Activations -----------------------------------------------------------

// The sum of inputs 0 and 1, typed; input 1 may be missing.
absl::StatusOr<Expr> WithBias(NodeContext& node) {
  if (!node.HasInput(1)) return node.Input(0);
  return node.Typed(Add(node.Input(0), node.Input(1)));
}

absl::StatusOr<Outputs> Gelu(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Expr x, WithBias(node));
  return One(GeluOf(x));
}

absl::StatusOr<Outputs> FastGelu(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Expr x, WithBias(node));
  return One(GeluByTanh(x));
}

absl::StatusOr<Outputs> QuickGelu(NodeContext& node) {
  const Expr& x = node.Input(0);
  const Expr alpha = ScalarLike(node.Float("alpha", 1.702), x);
  return One(Multiply(x, relay::Sigmoid(Multiply(x, alpha))));
}

// An activation by its name, with the numbers that it takes.
absl::StatusOr<Expr> Activated(NodeContext& node, Expr x,
                               const std::vector<double>& numbers) {
  const std::string name = node.String("activation", "");
  const auto number = [&numbers](size_t i, double otherwise) {
    return i < numbers.size() ? numbers[i] : otherwise;
  };
  if (name.empty()) return x;
  if (name == "Relu") return relay::nn::Relu(std::move(x));
  if (name == "Tanh") return relay::Tanh(std::move(x));
  if (name == "Sigmoid") return relay::Sigmoid(std::move(x));
  if (name == "LeakyRelu") {
    return relay::nn::LeakyRelu(std::move(x), number(0, 0.01));
  }
  if (name == "Clip") {
    return relay::Clip(std::move(x), number(0, -kInfinity),
                       number(1, kInfinity));
  }
  if (name == "HardSigmoid") {
    BATON_ASSIGN_OR_RETURN(x, node.Typed(std::move(x)));
    return relay::Clip(Add(Multiply(x, ScalarLike(number(0, 0.2), x)),
                           ScalarLike(number(1, 0.5), x)),
                       0, 1);
  }
  return absl::UnimplementedError(
      absl::StrCat("the activation '", name, "' is not supported"));
}

// --- Products --------------------------------------------------------------

absl::StatusOr<Outputs> FusedMatMul(NodeContext& node) {
  if (node.Int("transBatchA", 0) != 0 || node.Int("transBatchB", 0) != 0) {
    return absl::UnimplementedError(
        "transBatchA and transBatchB are not supported");
  }
  Expr operands[2];
  for (int i = 0; i < 2; ++i) {
    operands[i] = node.Input(i);
    BATON_ASSIGN_OR_RETURN(const int rank, RankOf(operands[i]));
    if (node.Int(i == 0 ? "transA" : "transB", 0) == 0 || rank < 2) continue;
    Ints order(rank);
    for (int k = 0; k < rank; ++k) order[k] = k;
    std::swap(order[rank - 1], order[rank - 2]);
    BATON_ASSIGN_OR_RETURN(operands[i], node.Typed(relay::Transpose(
                                            operands[i], std::move(order))));
  }
  BATON_ASSIGN_OR_RETURN(
      Expr result, MatrixProduct(node, operands[0], operands[1], DType()));
  if (const double alpha = node.Float("alpha", 1); alpha != 1) {
    result = Multiply(std::move(result), ScalarLike(alpha, operands[0]));
  }
  return One(std::move(result));
}

absl::StatusOr<Outputs> FusedGemm(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Expr product, GemmProduct(node));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         Activated(node, std::move(product),
                                   {node.Float("activation_alpha", 0.01),
                                    node.Float("activation_beta", 0)}));
  return One(std::move(result));
}

absl::StatusOr<Outputs> FusedConv(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(
      Expr result, Convolution(node, node.Input(0), node.Input(1), DType()));
  if (node.HasInput(2)) {
    result = relay::nn::BiasAdd(std::move(result), node.Input(2));
  }
  if (node.HasInput(3)) result = Add(std::move(result), node.Input(3));
  BATON_ASSIGN_OR_RETURN(result, Activated(node, std::move(result),
                                           node.Floats("activation_params")));
  return One(std::move(result));
}

// --- Normalization ---------------------------------------------------------

// For the sum of inputs 0, 1 and `bias`; `beta` is null in the simplified form.
absl::StatusOr<Outputs> SkipNorm(NodeContext& node, const Expr& beta, int bias,
                                 bool is_simplified) {
  Expr sum = Add(node.Input(0), node.Input(1));
  if (node.HasInput(bias)) sum = Add(std::move(sum), node.Input(bias));
  BATON_ASSIGN_OR_RETURN(sum, node.Typed(std::move(sum)));
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(sum));
  if (rank < 1) return absl::InvalidArgumentError("the data is a scalar");
  const double epsilon = node.Float("epsilon", 1e-12);
  Normalized result =
      is_simplified ? RmsNormOf(sum, node.Input(2), rank - 1, epsilon)
                    : LayerNormOf(sum, node.Input(2), beta, rank - 1, epsilon);
  if (is_simplified && node.HasOutput(1)) {
    return absl::UnimplementedError("the mean is not supported as an output");
  }
  return Outputs{std::move(result.y), std::move(result.mean),
                 std::move(result.inverse), std::move(sum)};
}

absl::StatusOr<Outputs> SkipLayerNormalization(NodeContext& node) {
  return SkipNorm(node, node.HasInput(3) ? node.Input(3) : Expr(), 4,
                  /*is_simplified=*/false);
}

absl::StatusOr<Outputs> SkipSimplifiedLayerNormalization(NodeContext& node) {
  return SkipNorm(node, {}, 3, /*is_simplified=*/true);
}

absl::StatusOr<Outputs> SimplifiedLayerNormalization(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", -1), rank));
  Normalized result =
      RmsNormOf(x, node.Input(1), axis, node.Float("epsilon", 1e-5));
  return Outputs{std::move(result.y), std::move(result.inverse)};
}

absl::StatusOr<Outputs> EmbedLayerNormalization(NodeContext& node) {
  const auto rows = [&node](int table, int ids) {
    return relay::Take(node.Input(table), node.Input(ids), {.axis = 0});
  };
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  if (rank != 2) {
    return absl::InvalidArgumentError("input_ids must have rank 2");
  }
  Expr sum = rows(2, 0);
  sum = Add(std::move(sum),
            node.HasInput(8)
                ? rows(3, 8)
                : relay::Take(node.Input(3), Positions(node.Input(0), 1, 0),
                              {.axis = 0}));
  if (node.HasInput(1) && node.HasInput(4))
    sum = Add(std::move(sum), rows(4, 1));
  BATON_ASSIGN_OR_RETURN(sum, node.Typed(std::move(sum)));
  Normalized result = LayerNormOf(sum, node.Input(5), node.Input(6), 2,
                                  node.Float("epsilon", 1e-12));
  Expr mask;
  if (node.HasOutput(1) && node.HasInput(7)) {
    // The number of elements of the mask that are 1.
    const Expr& given = node.Input(7);
    mask = relay::Sum(
        relay::Cast(relay::Equal(given, ScalarLike(1, given)), DType::Int(32)),
        {.axis = Ints{1}});
  } else if (node.HasOutput(1)) {
    // The lengths of no mask.
    mask = relay::Cast(
        Multiply(
            relay::Take(node.Input(0), relay::Const(Tensor::Scalar<int64_t>(0)),
                        {.axis = 1}),
            ScalarLike(0, node.Input(0))),
        DType::Int(32));
  }
  return Outputs{std::move(result.y), std::move(mask), std::move(sum)};
}

// --- Attention -------------------------------------------------------------

class Attention {
 public:
  explicit Attention(NodeContext& node) : node_(node) {}

  // All projections of one input.
  absl::StatusOr<Outputs> OfInput();
  // As OfInput, of an input and weights that are quantized.
  absl::StatusOr<Outputs> OfQuantizedInput();
  // Converts query, key and value.
  absl::StatusOr<Outputs> OfHeads();

 private:
  // Converts the projections `all` of query, key and value. The other arguments
  // are numbers of inputs.
  absl::StatusOr<Outputs> OfProjections(Expr all, int mask, int past,
                                        int attention_bias);
  // Puts the past in front of keys and values.
  absl::Status AddPast(const Expr& key, const Expr& value);
  absl::Status AddMask(int input);
  void AddBias(Expr bias) {
    bias_ = bias_.defined() ? Add(std::move(bias_), std::move(bias))
                            : std::move(bias);
  }
  // The summand of the scores: `otherwise` where `allowed` is false.
  Expr Masked(Expr allowed, double otherwise) const {
    return relay::Where(std::move(allowed), ScalarLike(0, query_),
                        ScalarLike(otherwise, query_));
  }
  // From masks on: the arguments are numbers of inputs; -1: there is none.
  absl::StatusOr<Expr> Result(int mask, int attention_bias);

  NodeContext& node_;
  Expr query_;  // (batch, heads, length, size), as are the others
  Expr key_;
  Expr value_;
  Expr past_;  // how many keys are in front of those of the queries; or null
  Expr bias_;  // to be added to the products of queries and keys; or null
};

absl::Status Attention::AddPast(const Expr& key, const Expr& value) {
  BATON_ASSIGN_OR_RETURN(const Expr past_key, node_.Typed(key));
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(past_key));
  if (rank != 4) return absl::InvalidArgumentError("the past must have rank 4");
  past_ = ExtentOf(past_key, 2);
  BATON_ASSIGN_OR_RETURN(key_,
                         node_.Typed(relay::Concatenate({past_key, key_}, 2)));
  BATON_ASSIGN_OR_RETURN(value_,
                         node_.Typed(relay::Concatenate({value, value_}, 2)));
  return absl::OkStatus();
}

absl::Status Attention::AddMask(int input) {
  if (!node_.HasInput(input)) return absl::OkStatus();
  const Expr& mask = node_.Input(input);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(mask));
  const double masked = node_.Float("mask_filter_value", -10000);
  const auto is_set = [&] {
    return relay::NotEqual(mask, ScalarLike(0, mask));
  };
  if (type->rank() == 2) {
    AddBias(Masked(relay::ExpandDims(is_set(), 1, 2), masked));
  } else if (type->rank() == 3) {
    AddBias(Masked(relay::ExpandDims(is_set(), 1, 1), masked));
  } else if (type->rank() == 1 &&
             relay::ProvablyEqual(type->dim(0),
                                  query_->tensor_type()->dim(0))) {
    // The mask hides keys from the number of keys on.
    AddBias(Masked(relay::Less(Positions(key_, 2, 0),
                               relay::ExpandDims(AsInt64(mask), 1, 3)),
                   masked));
  } else if (type->rank() == 1 &&
             relay::ProvablyEqual(type->dim(0),
                                  query_->tensor_type()->dim(0) * 2)) {
    // The ends of the keys that there are, and their beginnings.
    const Expr limits = relay::Reshape(AsInt64(mask), {2, -1});
    const auto limit = [&limits](int64_t i) {
      return relay::ExpandDims(ElementOf(limits, i), 1, 3);
    };
    const Expr places = Positions(key_, 2, 0);
    AddBias(Masked(relay::LogicalAnd(relay::Less(places, limit(0)),
                                     relay::GreaterEqual(places, limit(1))),
                   masked));
  } else {
    return absl::UnimplementedError(
        "the mask has a form that is not supported");
  }
  return absl::OkStatus();
}

absl::StatusOr<Expr> Attention::Result(int mask, int attention_bias) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* query, TensorTypeOf(query_));
  if (!query->dim(3).is_const()) {
    return absl::UnimplementedError("the size of heads must be known");
  }
  BATON_RETURN_IF_ERROR(AddMask(mask));
  if (attention_bias >= 0 && node_.HasInput(attention_bias)) {
    AddBias(node_.Input(attention_bias));
  }
  if (node_.Int("unidirectional", 0) != 0) {
    Expr places = Positions(query_, 2, 1);
    if (past_.defined()) places = Add(std::move(places), past_);
    AddBias(Masked(relay::LessEqual(Positions(key_, 2, 0), std::move(places)),
                   -kInfinity));
  }
  double scale = node_.Float("scale", 0);
  if (scale == 0) {
    scale = 1 / std::sqrt(static_cast<double>(query->dim(3).value()));
  }
  BATON_ASSIGN_OR_RETURN(const Expr keys,
                         node_.Typed(relay::Transpose(key_, Ints{0, 1, 3, 2})));
  BATON_ASSIGN_OR_RETURN(Expr scores,
                         MatrixProduct(node_, query_, keys, DType()));
  scores = Multiply(std::move(scores), ScalarLike(scale, query_));
  if (bias_.defined()) scores = Add(std::move(scores), bias_);
  BATON_ASSIGN_OR_RETURN(const Expr weights,
                         node_.Typed(relay::nn::Softmax(std::move(scores))));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         MatrixProduct(node_, weights, value_, DType()));
  return JoinHeads(std::move(result));
}

absl::StatusOr<Outputs> Attention::OfInput() {
  BATON_ASSIGN_OR_RETURN(
      Expr all, MatrixProduct(node_, node_.Input(0), node_.Input(1), DType()));
  if (node_.HasInput(2)) all = Add(std::move(all), node_.Input(2));
  return OfProjections(std::move(all), 3, 4, 5);
}

absl::StatusOr<Outputs> Attention::OfQuantizedInput() {
  const DType kInt32 = DType::Int(32);
  const auto centered = [&](int input, int zero_point) {
    Expr x = relay::Cast(node_.Input(input), kInt32);
    if (node_.HasInput(zero_point)) {
      x = Subtract(std::move(x), relay::Cast(node_.Input(zero_point), kInt32));
    }
    return node_.Typed(std::move(x));
  };
  BATON_ASSIGN_OR_RETURN(const Expr lhs, centered(0, 6));
  BATON_ASSIGN_OR_RETURN(const Expr rhs, centered(1, 7));
  BATON_ASSIGN_OR_RETURN(Expr product, MatrixProduct(node_, lhs, rhs, kInt32));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node_.Input(2)));
  Expr all = Add(Multiply(relay::Cast(std::move(product), dtype),
                          Multiply(node_.Input(3), node_.Input(4))),
                 node_.Input(2));
  return OfProjections(std::move(all), 5, 8, -1);
}

absl::StatusOr<Outputs> Attention::OfProjections(Expr all, int mask, int past,
                                                 int attention_bias) {
  const int64_t heads = node_.Int("num_heads", 0);
  if (node_.Int("do_rotary", 0) != 0 ||
      node_.Int("past_present_share_buffer", 0) != 0) {
    return absl::UnimplementedError(
        "do_rotary and past_present_share_buffer are not supported");
  }
  BATON_ASSIGN_OR_RETURN(all, node_.Typed(std::move(all)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(all));
  if (type->rank() != 3 || !type->dim(2).is_const()) {
    return absl::InvalidArgumentError(
        "the projections must have 3 axes, and their last extent must be "
        "known");
  }
  Ints sizes = node_.Ints("qkv_hidden_sizes").value_or(Ints());
  if (sizes.empty()) sizes.assign(3, type->dim(2).value() / 3);
  if (sizes.size() != 3) {
    return absl::InvalidArgumentError("qkv_hidden_sizes must have 3 elements");
  }
  Expr* const parts[] = {&query_, &key_, &value_};
  int64_t begin = 0;
  for (int i = 0; i < 3; ++i) {
    BATON_ASSIGN_OR_RETURN(
        const Expr part,
        node_.Typed(relay::StridedSlice(all, {begin}, {begin + sizes[i]},
                                        {.axes = Ints{2}})));
    begin += sizes[i];
    BATON_ASSIGN_OR_RETURN(*parts[i], SplitHeads(node_, part, heads));
  }
  if (node_.HasInput(past)) {
    BATON_RETURN_IF_ERROR(AddPast(ElementOf(node_.Input(past), 0),
                                  ElementOf(node_.Input(past), 1)));
  }
  BATON_ASSIGN_OR_RETURN(Expr result, Result(mask, attention_bias));
  return Outputs{std::move(result), relay::Stack({key_, value_}, 0)};
}

absl::StatusOr<Outputs> Attention::OfHeads() {
  const int64_t heads = node_.Int("num_heads", 0);
  if (!node_.HasInput(1) || !node_.HasInput(2)) {
    return absl::UnimplementedError(
        "packed queries, keys and values are not supported");
  }
  Expr* const parts[] = {&query_, &key_, &value_};
  Expr bias;
  if (node_.HasInput(3)) bias = node_.Input(3);
  int64_t begin = 0;
  for (int i = 0; i < 3; ++i) {
    Expr part = node_.Input(i);
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(part));
    if (type->rank() == 4 && !bias.defined()) {
      *parts[i] = std::move(part);
      continue;
    }
    if (type->rank() != 3 || !type->dim(2).is_const()) {
      return absl::UnimplementedError(
          "the queries, keys and values must have rank 3 and a known last "
          "extent, or rank 4 without bias");
    }
    if (bias.defined()) {
      const int64_t size = type->dim(2).value();
      BATON_ASSIGN_OR_RETURN(
          part,
          node_.Typed(Add(std::move(part),
                          relay::StridedSlice(bias, {begin}, {begin + size}))));
      begin += size;
    }
    BATON_ASSIGN_OR_RETURN(*parts[i], SplitHeads(node_, part, heads));
  }
  if (node_.HasInput(6) != node_.HasInput(7)) {
    return absl::InvalidArgumentError(
        "past_key and past_value must be given together");
  }
  if (node_.HasInput(6)) {
    BATON_RETURN_IF_ERROR(AddPast(node_.Input(6), node_.Input(7)));
  }
  BATON_ASSIGN_OR_RETURN(Expr result, Result(4, 5));
  return Outputs{std::move(result), key_, value_};
}

absl::StatusOr<Outputs> ConvertAttention(NodeContext& node) {
  return Attention(node).OfInput();
}

absl::StatusOr<Outputs> QAttention(NodeContext& node) {
  return Attention(node).OfQuantizedInput();
}

absl::StatusOr<Outputs> MultiHeadAttention(NodeContext& node) {
  return Attention(node).OfHeads();
}

BATON_ONNX_CONVERTERS({
    {.op = "Attention",
     .convert = ConvertAttention,
     .domain = kMicrosoftDomain},
    {.op = "BiasGelu", .convert = Gelu, .domain = kMicrosoftDomain},
    {.op = "EmbedLayerNormalization",
     .convert = EmbedLayerNormalization,
     .domain = kMicrosoftDomain},
    {.op = "FastGelu", .convert = FastGelu, .domain = kMicrosoftDomain},
    {.op = "FusedConv", .convert = FusedConv, .domain = kMicrosoftDomain},
    {.op = "FusedGemm", .convert = FusedGemm, .domain = kMicrosoftDomain},
    {.op = "FusedMatMul", .convert = FusedMatMul, .domain = kMicrosoftDomain},
    {.op = "Gelu", .convert = Gelu, .domain = kMicrosoftDomain},
    {.op = "MultiHeadAttention",
     .convert = MultiHeadAttention,
     .domain = kMicrosoftDomain},
    {.op = "QAttention", .convert = QAttention, .domain = kMicrosoftDomain},
    {.op = "QuickGelu", .convert = QuickGelu, .domain = kMicrosoftDomain},
    {.op = "SimplifiedLayerNormalization",
     .convert = SimplifiedLayerNormalization},
    {.op = "SkipLayerNormalization",
     .convert = SkipLayerNormalization,
     .domain = kMicrosoftDomain},
    {.op = "SkipSimplifiedLayerNormalization",
     .convert = SkipSimplifiedLayerNormalization,
     .domain = kMicrosoftDomain},
    {.op = "TransposeMatMul",
     .convert = FusedMatMul,
     .domain = kMicrosoftDomain},
});

}  // namespace
}  // namespace baton::onnx
