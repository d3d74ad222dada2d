// Converters of attention, and of the operators that language models use with
// it.

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/onnx/ops/extents.h"
#include "baton/onnx/ops/heads.h"
#include "baton/onnx/ops/matrix_products.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Attention {
 public:
  explicit Attention(NodeContext& node) : node_(node) {}

  absl::StatusOr<Outputs> Convert();

 private:
  absl::Status ReadInputs();
  // The summand of the products of queries and keys: zero where a query may
  // attend to a key, otherwise minus infinity. Null if there is no mask.
  absl::StatusOr<Expr> Bias();
  Expr Like(double value) const { return ScalarLike(value, query_); }
  Expr Masked(Expr allowed) const {
    return relay::Where(std::move(allowed), Like(0), Like(-kInfinity));
  }

  NodeContext& node_;
  Expr query_;  // (batch, heads, queries, size)
  Expr key_;    // (batch, kv_heads, keys, size), with those of the past
  Expr value_;
  int64_t shared_ = 1;  // so many heads of queries share one of keys
  int64_t size_ = 0;    // of a query
  bool has_three_axes_ = false;
};

absl::Status Attention::ReadInputs() {
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node_.Input(0)));
  has_three_axes_ = rank == 3;
  query_ = node_.Input(0);
  key_ = node_.Input(1);
  value_ = node_.Input(2);
  if (has_three_axes_) {
    const int64_t heads = node_.Int("q_num_heads", 0);
    const int64_t kv_heads = node_.Int("kv_num_heads", 0);
    BATON_ASSIGN_OR_RETURN(query_, SplitHeads(node_, query_, heads));
    BATON_ASSIGN_OR_RETURN(key_, SplitHeads(node_, key_, kv_heads));
    BATON_ASSIGN_OR_RETURN(value_, SplitHeads(node_, value_, kv_heads));
  }
  if (node_.HasInput(4) != node_.HasInput(5)) {
    return absl::InvalidArgumentError(
        "past_key and past_value must be given together");
  }
  if (node_.HasInput(4)) {
    BATON_ASSIGN_OR_RETURN(const int past_rank, RankOf(node_.Input(4)));
    if (past_rank != 4) {
      return absl::InvalidArgumentError("past_key must have rank 4");
    }
    BATON_ASSIGN_OR_RETURN(
        key_, node_.Typed(relay::Concatenate({node_.Input(4), key_}, 2)));
    BATON_ASSIGN_OR_RETURN(
        value_, node_.Typed(relay::Concatenate({node_.Input(5), value_}, 2)));
  }
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* query, TensorTypeOf(query_));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* key, TensorTypeOf(key_));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* value, TensorTypeOf(value_));
  for (const TensorTypeNode* type : {query, key, value}) {
    if (type->rank() != 4) {
      return absl::InvalidArgumentError(
          "the query, the key and the value must each have 4 axes");
    }
    if (!type->dim(1).is_const() || !type->dim(3).is_const()) {
      return absl::UnimplementedError(
          "the number and the size of heads must be known");
    }
  }
  const int64_t heads = query->dim(1).value();
  const int64_t kv_heads = key->dim(1).value();
  if (kv_heads != value->dim(1).value() || kv_heads < 1 ||
      heads % kv_heads != 0) {
    return absl::InvalidArgumentError(
        "the key and the value must have the same number of heads, and the "
        "query a multiple of it");
  }
  shared_ = heads / kv_heads;
  size_ = query->dim(3).value();
  return absl::OkStatus();
}

absl::StatusOr<Expr> Attention::Bias() {
  const Dim& keys = key_->tensor_type()->dim(2);
  Expr result;
  const auto add = [&result](Expr bias) {
    result = result.defined() ? Add(std::move(result), std::move(bias))
                              : std::move(bias);
  };
  if (node_.HasInput(3)) {
    Expr mask = node_.Input(3);
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(mask));
    const DType dtype = type->dtype();
    const int rank = type->rank();
    const Dim length = rank > 0 ? type->dim(rank - 1) : Dim(1);
    const bool are_known = length.is_const() && keys.is_const();
    if (rank == 0 || (are_known && length.value() > keys.value())) {
      return absl::InvalidArgumentError(
          "attn_mask must have an axis, and a last extent of at most the "
          "number of keys");
    }
    if (are_known && length.value() < keys.value()) {
      // Keys without a mask are not looked at.
      BATON_ASSIGN_OR_RETURN(Ints shape, ShapeOf(mask));
      shape.back() = keys.value() - length.value();
      const double value = dtype.is_bool() ? 0 : -kInfinity;
      mask = relay::Concatenate(
          {mask, relay::Full(relay::Const(value, dtype), shape)}, rank - 1);
    }
    if (dtype.is_bool()) {
      add(Masked(std::move(mask)));
    } else {
      const DType own = query_->tensor_type()->dtype();
      add(dtype == own ? std::move(mask) : relay::Cast(std::move(mask), own));
    }
  }
  // The number of the first query: a scalar, or (batch, 1, 1, 1).
  Expr first = node_.HasInput(4) ? ExtentOf(node_.Input(4), 2) : IntScalar(0);
  Expr lengths;
  if (node_.HasInput(6)) {
    lengths = relay::Reshape(relay::Cast(node_.Input(6), DType::Int(64)),
                             {-1, 1, 1, 1});
    if (!node_.HasInput(4)) {
      first = Subtract(lengths, ExtentOf(query_, 2));
    }
  }
  const Expr key_places = Positions(key_, 2, 0);
  const Expr query_places = Add(Positions(query_, 2, 1), first);
  const auto within = [&](int64_t before, int64_t after) {
    const auto moved = [&](int64_t by) {
      return Add(query_places, IntScalar(by));
    };
    if (before >= 0) {
      add(Masked(relay::GreaterEqual(key_places, moved(-before))));
    }
    if (after >= 0) add(Masked(relay::LessEqual(key_places, moved(after))));
  };
  if (node_.Int("is_causal", 0) != 0) within(-1, 0);
  within(node_.Int("left_window_size", -1), node_.Int("right_window_size", -1));
  if (lengths.defined()) add(Masked(relay::Less(key_places, lengths)));
  return result;
}

absl::StatusOr<Outputs> Attention::Convert() {
  BATON_RETURN_IF_ERROR(ReadInputs());
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(query_));
  const double scale = std::sqrt(
      node_.Float("scale", 1 / std::sqrt(static_cast<double>(size_))));
  const auto for_all = [this](const Expr& x) {
    return shared_ == 1 ? x : relay::Repeat(x, shared_, 1);
  };
  BATON_ASSIGN_OR_RETURN(const Expr queries,
                         node_.Typed(Multiply(query_, Like(scale))));
  BATON_ASSIGN_OR_RETURN(
      const Expr keys,
      node_.Typed(relay::Transpose(Multiply(for_all(key_), Like(scale)),
                                   Ints{0, 1, 3, 2})));
  BATON_ASSIGN_OR_RETURN(const Expr raw,
                         MatrixProduct(node_, queries, keys, DType()));
  Expr scores = raw;
  if (const double cap = node_.Float("softcap", 0); cap > 0) {
    scores = Multiply(relay::Tanh(relay::Divide(scores, Like(cap))), Like(cap));
  }
  const Expr capped = scores;
  BATON_ASSIGN_OR_RETURN(Expr bias, Bias());
  if (bias.defined()) {
    BATON_ASSIGN_OR_RETURN(bias, node_.Typed(std::move(bias)));
    scores = Add(scores, bias);
  }
  DType precision = dtype;
  if (const int64_t type = node_.Int("softmax_precision", 0); type != 0) {
    BATON_ASSIGN_OR_RETURN(precision, DTypeOf(type));
  }
  Expr weights = relay::nn::Softmax(
      precision == dtype ? scores : relay::Cast(scores, precision));
  if (precision != dtype) weights = relay::Cast(std::move(weights), dtype);
  if (bias.defined()) {
    // A query that may look at no key has weights of zero.
    const Expr most = relay::Max(bias, {.axis = Ints{-1}, .keepdims = true});
    weights = relay::Where(relay::Equal(most, Like(-kInfinity)), Like(0),
                           std::move(weights));
  }
  BATON_ASSIGN_OR_RETURN(weights, node_.Typed(std::move(weights)));
  // The values may be of another type than queries and keys.
  BATON_ASSIGN_OR_RETURN(Expr values, node_.Typed(for_all(value_)));
  if (value_->tensor_type()->dtype() != dtype) {
    BATON_ASSIGN_OR_RETURN(values, node_.Typed(relay::Cast(values, dtype)));
  }
  BATON_ASSIGN_OR_RETURN(Expr result,
                         MatrixProduct(node_, weights, values, DType()));
  if (has_three_axes_) {
    result = JoinHeads(std::move(result));
  }
  // The value of the last output.
  const Expr steps[] = {raw, capped, scores, weights};
  const int64_t mode = node_.Int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    return absl::InvalidArgumentError(
        "qk_matmul_output_mode must be from 0 to 3");
  }
  return Outputs{std::move(result), key_, value_, steps[mode]};
}

// `x`, of the type of input 0 of the one graph that the attribute `name` is, as
// that graph's result; `x` itself if there is none.
absl::StatusOr<Expr> Modified(NodeContext& node, absl::string_view name,
                              Expr x) {
  BATON_ASSIGN_OR_RETURN(x, node.Typed(std::move(x)));
  if (!node.HasAttr(name)) return x;
  BATON_ASSIGN_OR_RETURN(const absl::string_view graph, node.Graph(name));
  BATON_ASSIGN_OR_RETURN(const Outputs results,
                         node.graphs().ConvertGraph(graph, {&x, 1}, name));
  if (results.size() != 1 || !results[0].defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the graph ", name, " must have one output"));
  }
  return results[0];
}

// Attention whose scores and weights go through graphs that the node has.
absl::StatusOr<Outputs> FlexAttention(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* query,
                         TensorTypeOf(node.Input(0)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* key,
                         TensorTypeOf(node.Input(1)));
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* value,
                         TensorTypeOf(node.Input(2)));
  for (const TensorTypeNode* type : {query, key, value}) {
    if (type->rank() != 4 || !type->dim(1).is_const() ||
        !type->dim(3).is_const() || type->dim(1).value() < 1) {
      return absl::UnimplementedError(
          "the number and the size of heads must be known");
    }
  }
  const int64_t heads = query->dim(1).value();
  const int64_t kv_heads = key->dim(1).value();
  if (value->dim(1).value() != kv_heads || heads % kv_heads != 0) {
    return absl::InvalidArgumentError(
        "the key and the value must have the same number of heads, and the "
        "query a multiple of it");
  }
  const DType dtype = query->dtype();
  DType precision = dtype == DType::Float(64) ? dtype : DType::Float(32);
  if (const int64_t type = node.Int("softmax_precision", 0); type != 0) {
    BATON_ASSIGN_OR_RETURN(precision, DTypeOf(type));
  }
  const auto in = [](Expr x, DType from, DType to) {
    return from == to ? x : relay::Cast(std::move(x), to);
  };
  const auto for_all = [heads, kv_heads](const Expr& x) {
    return heads == kv_heads ? x : relay::Repeat(x, heads / kv_heads, 1);
  };
  const Expr scale = ScalarLike(
      std::sqrt(node.Float(
          "scale", 1 / std::sqrt(static_cast<double>(query->dim(3).value())))),
      node.Input(0));
  BATON_ASSIGN_OR_RETURN(const Expr queries,
                         node.Typed(Multiply(node.Input(0), scale)));
  BATON_ASSIGN_OR_RETURN(
      const Expr keys,
      node.Typed(relay::Transpose(Multiply(for_all(node.Input(1)), scale),
                                  Ints{0, 1, 3, 2})));
  BATON_ASSIGN_OR_RETURN(Expr scores,
                         MatrixProduct(node, queries, keys, DType()));
  BATON_ASSIGN_OR_RETURN(
      scores,
      Modified(node, "score_mod", in(std::move(scores), dtype, precision)));
  BATON_ASSIGN_OR_RETURN(
      const Expr weights,
      Modified(node, "prob_mod", relay::nn::Softmax(std::move(scores))));
  BATON_ASSIGN_OR_RETURN(
      const Expr values,
      node.Typed(in(for_all(node.Input(2)), value->dtype(), precision)));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         MatrixProduct(node, weights, values, DType()));
  return One(in(std::move(result), precision, value->dtype()));
}

absl::StatusOr<Outputs> ConvertAttention(NodeContext& node) {
  return Attention(node).Convert();
}

absl::StatusOr<Outputs> RotaryEmbedding(NodeContext& node) {
  Expr x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  if (rank == 3) {
    BATON_ASSIGN_OR_RETURN(x, SplitHeads(node, x, node.Int("num_heads", 0)));
  }
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  if (type->rank() != 4) {
    return absl::InvalidArgumentError("the input must have rank 3 or 4");
  }
  if (!type->dim(3).is_const()) {
    return absl::UnimplementedError("the size of heads must be known");
  }
  const int64_t size = type->dim(3).value();
  int64_t rotated = node.Int("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = size;
  if (rotated < 2 || rotated > size || rotated % 2 != 0) {
    return absl::InvalidArgumentError(
        "rotary_embedding_dim must be even, and from 2 to the size of a head");
  }
  // (batch, 1, length, half)
  const auto cache = [&node](int i) {
    Expr values = node.Input(i);
    if (node.HasInput(3)) {
      values = relay::Take(values, node.Input(3), {.axis = 0});
    }
    return relay::ExpandDims(std::move(values), 1);
  };
  Expr result = Rotate(x, size, rotated, node.Int("interleaved", 0) != 0,
                       cache(1), cache(2));
  if (rank == 3) {
    result = JoinHeads(std::move(result));
  }
  return One(std::move(result));
}

// Writes a block into a cache, at a place of its own for each batch.
absl::StatusOr<Outputs> TensorScatter(NodeContext& node) {
  const Expr& cache = node.Input(0);
  const Expr& update = node.Input(1);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(cache));
  BATON_ASSIGN_OR_RETURN(const int update_rank, RankOf(update));
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("axis", -2), rank));
  if (update_rank != rank || axis == 0) {
    return absl::InvalidArgumentError(
        "the cache and the update must have equal ranks, and the axis must not "
        "be 0");
  }
  Expr places = Positions(update, axis, rank - axis - 1);
  if (node.HasInput(2)) {
    Ints first(rank, 1);
    first[0] = -1;
    places = Add(std::move(places),
                 relay::Reshape(relay::Cast(node.Input(2), DType::Int(64)),
                                std::move(first)));
  }
  if (node.String("mode", "linear") == "circular") {
    places = relay::FloorMod(std::move(places), ExtentOf(cache, axis));
  }
  const absl::StatusOr<Ints> block = ShapeOf(update);
  places = block.ok() ? relay::BroadcastTo(std::move(places), *block)
                      : BroadcastTo(std::move(places), ShapeVector(update));
  return One(relay::Call(
      BATON_OP("scatter_elements"), {cache, std::move(places), update},
      Attrs::Make(relay::ScatterElementsAttrs{.axis = axis})));
}

BATON_ONNX_CONVERTERS({
    {"Attention", ConvertAttention, 23},
    {"RotaryEmbedding", RotaryEmbedding, 23},
    {"TensorScatter", TensorScatter, 24},
    {.op = "FlexAttention",
     .convert = FlexAttention,
     .domain = "ai.onnx.preview"},
});

}  // namespace
}  // namespace baton::onnx
