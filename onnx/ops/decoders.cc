// Converters of the domain com.microsoft that exporters of language models
// write.

#include <algorithm>
#include <cmath>
#include <cstdint>
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
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

// --- Rotation --------------------------------------------------------------

// Looks up the rows `places`, of shape (batch, length), in the table that is
// input `table`; all heads share them.
Expr RowsForHeads(NodeContext& node, int table, const Expr& places) {
  return relay::ExpandDims(relay::Take(node.Input(table), places, {.axis = 0}),
                           1);
}

// Returns the number of elements of a head that are rotated: twice the columns
// of the table of cosines.
absl::StatusOr<int64_t> RotatedBy(NodeContext& node, int table) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(node.Input(table)));
  if (type->rank() != 2) {
    return absl::InvalidArgumentError("the rank of the cos_cache is not 2");
  }
  if (!type->dim(1).is_const()) {
    return absl::UnimplementedError(
        "the number of columns of the cos_cache must be known");
  }
  return 2 * type->dim(1).value();
}

absl::StatusOr<Outputs> RotaryEmbedding(NodeContext& node) {
  Expr x = node.Input(0);
  if (node.Int("is_packed_batching", 0) != 0 || node.Float("scale", 1) != 1) {
    return absl::UnimplementedError(
        "is_packed_batching and a scale other than 1 are not supported");
  }
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(x));
  BATON_ASSIGN_OR_RETURN(const int64_t rotated, RotatedBy(node, 2));
  if (rank == 3) {
    int64_t heads = node.Int("num_heads", 0);
    const Dim width = x->tensor_type()->dim(2);
    if (heads == 0 && width.is_const() && rotated > 0) {
      heads = width.value() / rotated;
    }
    BATON_ASSIGN_OR_RETURN(x, SplitHeads(node, x, heads));
  }
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  if (type->rank() != 4 || !type->dim(3).is_const() ||
      type->dim(3).value() < rotated) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the data must have 4 axes, or 3 and num_heads, and heads of at least ",
        rotated, " elements"));
  }
  Expr places = node.Input(1);
  BATON_ASSIGN_OR_RETURN(const int places_rank, RankOf(places));
  if (places_rank == 1) {
    // The number of the first element.
    places = relay::ExpandDims(Add(Positions(x, 2, 0), places), 0);
  } else if (places_rank != 2) {
    return absl::InvalidArgumentError("position_ids must have rank 1 or 2");
  }
  Expr result =
      Rotate(x, type->dim(3).value(), rotated, node.Int("interleaved", 0) != 0,
             RowsForHeads(node, 2, places), RowsForHeads(node, 3, places));
  if (rank == 3) result = JoinHeads(std::move(result));
  return One(std::move(result));
}

// --- Attention with fewer heads of keys ------------------------------------

class GroupQueryAttention {
 public:
  explicit GroupQueryAttention(NodeContext& node) : node_(node) {}

  absl::StatusOr<Outputs> Convert();

 private:
  absl::Status CheckAttributes();
  absl::Status ReadHeads();
  absl::Status RotateHeads();
  // The past, which is input `past`, followed by `fresh`, for each batch at the
  // place where its past ends.
  absl::StatusOr<Expr> WithPast(int past, const Expr& fresh);
  // The attention_bias, with an element for each of `keys`.
  absl::StatusOr<Expr> BiasFor(const Expr& keys);
  Expr Like(double value) const { return ScalarLike(value, query_); }

  NodeContext& node_;
  int64_t heads_ = 0;
  int64_t kv_heads_ = 0;
  int64_t size_ = 0;  // of a head
  Expr query_;        // (batch, heads, length, size)
  Expr key_;          // (batch, kv_heads, length, size)
  Expr value_;        // as key_
  Expr past_;         // how many keys are before these, int64 (batch, 1)
  Expr places_;       // the numbers of the queries, int64 (batch, length)
};

absl::Status GroupQueryAttention::CheckAttributes() {
  if (node_.Int("smooth_softmax", 0) > 0 || node_.HasInput(11)) {
    return absl::UnimplementedError(
        "smooth_softmax and head_sink are not supported");
  }
  for (const absl::string_view name : {"kv_cache_bit_width", "qk_output"}) {
    if (node_.Int(name, 0) != 0) {
      return absl::UnimplementedError(name);
    }
  }
  for (const int required : {0, 5, 6}) {
    if (!node_.HasInput(required)) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", required, " is missing"));
    }
  }
  heads_ = node_.Int("num_heads", 0);
  kv_heads_ = node_.Int("kv_num_heads", 0);
  if (heads_ < 1 || kv_heads_ < 1 || heads_ % kv_heads_ != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "num_heads=", heads_, " is no multiple of kv_num_heads=", kv_heads_));
  }
  return absl::OkStatus();
}

absl::Status GroupQueryAttention::ReadHeads() {
  Expr parts[3] = {node_.Input(0)};
  if (node_.HasInput(1) && node_.HasInput(2)) {
    parts[1] = node_.Input(1);
    parts[2] = node_.Input(2);
  } else {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(parts[0]));
    const int64_t all = heads_ + 2 * kv_heads_;
    if (type->rank() != 3 || !type->dim(2).is_const() ||
        type->dim(2).value() % all != 0) {
      return absl::InvalidArgumentError(
          "the packed queries, keys and values must have rank 3 and a last "
          "extent that num_heads + 2 * kv_num_heads divides");
    }
    const int64_t size = type->dim(2).value() / all;
    const Ints ends = {heads_ * size, (heads_ + kv_heads_) * size, all * size};
    int64_t begin = 0;
    const Expr packed = parts[0];
    for (int i = 0; i < 3; ++i) {
      BATON_ASSIGN_OR_RETURN(
          parts[i], node_.Typed(relay::StridedSlice(packed, {begin}, {ends[i]},
                                                    {.axes = Ints{2}})));
      begin = ends[i];
    }
  }
  BATON_ASSIGN_OR_RETURN(query_, SplitHeads(node_, parts[0], heads_));
  BATON_ASSIGN_OR_RETURN(key_, SplitHeads(node_, parts[1], kv_heads_));
  BATON_ASSIGN_OR_RETURN(value_, SplitHeads(node_, parts[2], kv_heads_));
  size_ = query_->tensor_type()->dim(3).value();
  return absl::OkStatus();
}

absl::Status GroupQueryAttention::RotateHeads() {
  if (node_.Int("do_rotary", 0) == 0) return absl::OkStatus();
  if (!node_.HasInput(7) || !node_.HasInput(8)) {
    return absl::InvalidArgumentError("the cos_cache or sin_cache is missing");
  }
  BATON_ASSIGN_OR_RETURN(const int64_t rotated, RotatedBy(node_, 7));
  if (rotated > size_) {
    return absl::InvalidArgumentError("cos_cache is wider than a head");
  }
  const Expr places = node_.HasInput(9) ? node_.Input(9) : places_;
  const Expr cosine = RowsForHeads(node_, 7, places);
  const Expr sine = RowsForHeads(node_, 8, places);
  const bool interleaved = node_.Int("rotary_interleaved", 0) != 0;
  for (Expr* x : {&query_, &key_}) {
    BATON_ASSIGN_OR_RETURN(
        *x, node_.Typed(Rotate(*x, size_, rotated, interleaved, cosine, sine)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Expr> GroupQueryAttention::WithPast(int past,
                                                   const Expr& fresh) {
  if (!node_.HasInput(past)) return fresh;
  const Expr& before = node_.Input(past);
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(before));
  if (rank != 4) {
    return absl::InvalidArgumentError(
        "past_key and past_value must have rank 4");
  }
  const Expr room = ExtentOf(before, 2);
  const Expr length = ExtentOf(fresh, 2);
  BATON_ASSIGN_OR_RETURN(const Expr total, ScalarInput(node_, 6));
  const Expr all = relay::Maximum(relay::Cast(total, DType::Int(64)), room);
  const Expr at = relay::ExpandDims(
      relay::Arange(IntScalar(0), all, IntScalar(1), DType::Int(64)), 0);
  const Expr after =
      relay::Minimum(relay::Maximum(Subtract(at, past_), IntScalar(0)),
                     Subtract(length, IntScalar(1)));
  const Expr source =
      relay::Where(relay::Less(at, past_), at, Add(after, room));
  return node_.Typed(relay::Take(relay::Concatenate({before, fresh}, 2), source,
                                 {.batch_dims = 1, .axis = 2}));
}

absl::StatusOr<Expr> GroupQueryAttention::BiasFor(const Expr& keys) {
  const Expr& bias = node_.Input(10);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(bias));
  if (type->rank() != 4) {
    return absl::InvalidArgumentError("attention_bias must have rank 4");
  }
  if (relay::ProvablyEqual(type->dim(3), keys->tensor_type()->dim(2))) {
    return bias;
  }
  // Keys of the past's buffer after the last one have no weight.
  const Expr at = relay::Minimum(relay::Arange(IntScalar(0), ExtentOf(keys, 2),
                                               IntScalar(1), DType::Int(64)),
                                 Subtract(ExtentOf(bias, 3), IntScalar(1)));
  return relay::Take(bias, at, {.axis = 3});
}

absl::StatusOr<Outputs> GroupQueryAttention::Convert() {
  BATON_RETURN_IF_ERROR(CheckAttributes());
  BATON_RETURN_IF_ERROR(ReadHeads());
  // Input 5 is the number of the last key of each batch.
  past_ = relay::Maximum(
      Subtract(Add(relay::Reshape(relay::Cast(node_.Input(5), DType::Int(64)),
                                  {-1, 1}),
                   IntScalar(1)),
               ExtentOf(query_, 2)),
      IntScalar(0));
  places_ = Add(past_, relay::ExpandDims(Positions(query_, 2, 0), 0));
  BATON_RETURN_IF_ERROR(RotateHeads());
  BATON_ASSIGN_OR_RETURN(const Expr keys, WithPast(3, key_));
  BATON_ASSIGN_OR_RETURN(const Expr values, WithPast(4, value_));
  const auto for_all = [this](const Expr& x) {
    return heads_ == kv_heads_ ? x : relay::Repeat(x, heads_ / kv_heads_, 1);
  };
  BATON_ASSIGN_OR_RETURN(
      const Expr turned,
      node_.Typed(relay::Transpose(for_all(keys), Ints{0, 1, 3, 2})));
  double scale = node_.Float("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(size_));
  BATON_ASSIGN_OR_RETURN(Expr scores,
                         MatrixProduct(node_, query_, turned, DType()));
  scores = Multiply(std::move(scores), Like(scale));
  if (const double cap = node_.Float("softcap", 0); cap > 0) {
    scores = Multiply(relay::Tanh(relay::Divide(scores, Like(cap))), Like(cap));
  }
  const Expr queries_at = relay::ExpandDims(relay::ExpandDims(places_, 1), 3);
  const Expr keys_at = Positions(keys, 2, 0);
  Expr allowed = relay::LessEqual(keys_at, queries_at);
  // A query attends to its own key and `window` keys before it.
  if (const int64_t window = node_.Int("local_window_size", -1); window >= 0) {
    allowed = relay::LogicalAnd(
        std::move(allowed),
        relay::GreaterEqual(keys_at, Subtract(queries_at, IntScalar(window))));
  }
  if (node_.HasInput(10)) {
    BATON_ASSIGN_OR_RETURN(Expr bias, BiasFor(keys));
    scores = Add(std::move(scores), std::move(bias));
  }
  scores = relay::Where(std::move(allowed), std::move(scores), Like(-HUGE_VAL));
  BATON_ASSIGN_OR_RETURN(const Expr weights,
                         node_.Typed(relay::nn::Softmax(std::move(scores))));
  BATON_ASSIGN_OR_RETURN(const Expr summands, node_.Typed(for_all(values)));
  BATON_ASSIGN_OR_RETURN(Expr result,
                         MatrixProduct(node_, weights, summands, DType()));
  return Outputs{JoinHeads(std::move(result)), keys, values};
}

absl::StatusOr<Outputs> ConvertGroupQueryAttention(NodeContext& node) {
  return GroupQueryAttention(node).Convert();
}

// --- Weights of few bits ---------------------------------------------------

// The numbers of `bits` bits that lie in the bytes of `packed`, whose rank is
// `rank`, the lowest first, along its last axis.
Expr Unpacked(const Expr& packed, int rank, int64_t bits) {
  if (bits == 8) return packed;
  const auto byte = [](int64_t value) {
    return relay::Const(static_cast<double>(value), DType::UInt(8));
  };
  std::vector<Expr> parts;
  for (int64_t shift = 0; shift < 8; shift += bits) {
    parts.push_back(relay::BitwiseAnd(relay::RightShift(packed, byte(shift)),
                                      byte((1 << bits) - 1)));
  }
  return MergeAxes(relay::Stack(std::move(parts), rank), rank + 1, rank - 1, 2);
}

absl::StatusOr<Outputs> MatMulNBits(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
  const int64_t bits = node.Int("bits", 4);
  const int64_t k = node.Int("K", 0);
  const int64_t n = node.Int("N", 0);
  const int64_t block = node.Int("block_size", 0);
  if ((bits != 2 && bits != 4 && bits != 8) || k < 1 || n < 1 || block < 8 ||
      k > INT32_MAX || n > INT32_MAX || block > INT32_MAX) {
    return absl::InvalidArgumentError(
        "bits must be 2, 4 or 8, K and N positive, and block_size 8 or more");
  }
  if (node.HasInput(4)) {
    return absl::UnimplementedError("the input g_idx is not supported");
  }
  const int64_t blocks = (k + block - 1) / block;
  const Expr codes = relay::Cast(
      Unpacked(relay::Reshape(node.Input(1), {n, blocks, block * bits / 8}), 3,
               bits),
      dtype);
  Expr zero = ScalarLike(static_cast<double>(int64_t{1} << (bits - 1)), x);
  if (node.HasInput(3)) {
    BATON_ASSIGN_OR_RETURN(const DType zero_type, ElementTypeOf(node.Input(3)));
    if (zero_type == dtype) {
      zero = relay::Reshape(node.Input(3), {n, blocks, 1});
    } else {
      zero = relay::StridedSlice(
          Unpacked(relay::Reshape(node.Input(3), {n, -1}), 2, bits), {0},
          {blocks}, {.axes = Ints{1}});
      zero = relay::ExpandDims(relay::Cast(std::move(zero), dtype), 2);
    }
  }
  Expr weights = Multiply(Subtract(codes, std::move(zero)),
                          relay::Reshape(node.Input(2), {n, blocks, 1}));
  weights = relay::StridedSlice(
      relay::Reshape(std::move(weights), {n, blocks * block}), {0}, {k},
      {.axes = Ints{1}});
  BATON_ASSIGN_OR_RETURN(weights, node.Typed(relay::Transpose(weights)));
  BATON_ASSIGN_OR_RETURN(Expr result, MatrixProduct(node, x, weights, DType()));
  if (node.HasInput(5)) result = Add(std::move(result), node.Input(5));
  return One(std::move(result));
}

// The slices of input `i` that the indices name along axis `axis`.
absl::StatusOr<Expr> SlicesAt(NodeContext& node, int i, int axis) {
  const Expr& x = node.Input(i);
  const Expr& indices = node.Input(1);
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(indices));
  const Expr from_end = Add(indices, relay::Cast(ExtentOf(x, axis), dtype));
  return node.Typed(
      relay::Take(x,
                  relay::Where(relay::Less(indices, ScalarLike(0, indices)),
                               from_end, indices),
                  {.axis = axis}));
}

// Slices of weights of few bits, of which each block of `block_size` elements
// along one axis has a scale and a zero. Only what is gathered is unpacked.
absl::StatusOr<Outputs> GatherBlockQuantized(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(node.Input(0)));
  BATON_ASSIGN_OR_RETURN(const int indices_rank, RankOf(node.Input(1)));
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node.Input(2)));
  const int rank = type->rank();
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalAxis(node.Int("gather_axis", 0), rank));
  BATON_ASSIGN_OR_RETURN(const int by,
                         NormalAxis(node.Int("quantize_axis", 1), rank));
  const int64_t block = node.Int("block_size", 128);
  const int64_t bits = node.Int("bits", 4);
  // Bytes hold 8 / bits elements; those of 4 bits are imported as 8 bits each.
  const bool is_packed = type->dtype() == DType::UInt(8) &&
                         node.NarrowType(0) == ElementType::kUndefined;
  if (axis == by || block < 1 || block > INT32_MAX ||
      (bits != 4 && bits != 8) || (is_packed && by != rank - 1)) {
    return absl::InvalidArgumentError(
        "gather_axis and quantize_axis must differ (packed data: quantize_axis "
        "must be the last axis), bits be 4 or 8, and block_size be positive");
  }
  if (!type->dim(by).is_const()) {
    return absl::UnimplementedError(
        "the extent of the quantized axis must be known");
  }
  if (type->dim(by).value() > INT32_MAX) {
    return absl::InvalidArgumentError(
        "the quantized axis has too many elements");
  }
  const int64_t in_byte = is_packed ? 8 / bits : 1;
  const int64_t extent = type->dim(by).value() * in_byte;
  const int result_rank = rank + indices_rank - 1;
  const int quantized = by > axis ? by + indices_rank - 1 : by;
  const auto numbers = [&](const Expr& x) {
    return is_packed ? Unpacked(x, result_rank, bits) : x;
  };
  BATON_ASSIGN_OR_RETURN(const Expr data, SlicesAt(node, 0, axis));
  BATON_ASSIGN_OR_RETURN(const Expr scales, SlicesAt(node, 2, axis));
  // One number for each element of the data.
  const auto for_all = [&](Expr of_blocks) {
    return relay::StridedSlice(
        relay::Repeat(std::move(of_blocks), std::min(block, extent), quantized),
        {0}, {extent}, {.axes = Ints{quantized}});
  };
  Expr result = relay::Cast(numbers(data), dtype);
  if (node.HasInput(3)) {
    BATON_ASSIGN_OR_RETURN(const Expr zeros, SlicesAt(node, 3, axis));
    result = Subtract(std::move(result),
                      for_all(relay::Cast(numbers(zeros), dtype)));
  } else if (is_packed) {
    result = Subtract(
        std::move(result),
        ScalarLike(static_cast<double>(int64_t{1} << (bits - 1)), scales));
  }
  return One(Multiply(std::move(result), for_all(scales)));
}

BATON_ONNX_CONVERTERS({
    {.op = "GatherBlockQuantized",
     .convert = GatherBlockQuantized,
     .domain = kMicrosoftDomain},
    {.op = "GroupQueryAttention",
     .convert = ConvertGroupQueryAttention,
     .domain = kMicrosoftDomain},
    {.op = "MatMulNBits", .convert = MatMulNBits, .domain = kMicrosoftDomain},
    {.op = "RotaryEmbedding",
     .convert = RotaryEmbedding,
     .domain = kMicrosoftDomain},
});

}  // namespace
}  // namespace baton::onnx
