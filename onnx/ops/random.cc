// Converters of random numbers. Each node has its own generator, which is a
// function of its seed. So a model gives the same numbers in each run.

#include "baton/relay/op/random/random.h"

#include <bit>
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
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/model.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/tensor/elementwise.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

// The seed of a node that has none: from the name of its output, so that nodes
// differ and a model is always the same. FNV-1a.
uint64_t SeedOfName(absl::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  return hash;
}

// The key of the reference's threefry_key(seed): the seed as 32 bytes, the most
// significant one first, then an empty path.
absl::StatusOr<Expr> Key(NodeContext& node) {
  uint64_t seed;
  const AttributeProto* given = node.node().Find("seed");
  if (given == nullptr) {
    seed = SeedOfName(node.num_outputs() > 0
                          ? absl::string_view(node.node().outputs[0])
                          : absl::string_view());
  } else if (given->type == AttributeProto::Type::kInt) {  // of Dropout
    seed = static_cast<uint64_t>(node.Int("seed", 0));
  } else {
    // A whole number, as a rule; of others the bits.
    const float value = static_cast<float>(node.Float("seed", 0));
    seed = std::abs(value) < 0x1p63f && std::trunc(value) == value
               ? static_cast<uint64_t>(static_cast<int64_t>(value))
               : std::bit_cast<uint32_t>(value);
  }
  const uint64_t words[10] = {0, 0, 0, __builtin_bswap64(seed), 0,
                              0, 0, 0, uint64_t{1} << 63,       0};
  BATON_ASSIGN_OR_RETURN(Tensor key, Tensor::FromValues<uint64_t>({10}, words));
  return relay::Const(std::move(key));
}

// The type in which numbers for results of `dtype` are made.
DType Made(DType dtype) {
  return dtype == DType::Float(64) ? dtype : DType::Float(32);
}

// Floats of `shape`, made in Made(dtype) by an operator of two parameters.
template <typename A>
absl::StatusOr<Expr> Drawn(NodeContext& node, const Op& op, double first,
                           double second, Ints shape, DType dtype) {
  if (!dtype.is_float()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "random numbers of type ", dtype.ToString(), " are not supported"));
  }
  for (const int64_t extent : shape) {
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the shape has the extent ", extent));
    }
  }
  const DType made = Made(dtype);
  BATON_ASSIGN_OR_RETURN(Expr key, Key(node));
  Expr result = relay::TupleGetItem(
      relay::Call(
          op,
          {std::move(key), relay::Const(Tensor::ScalarOf(made, first)),
           relay::Const(Tensor::ScalarOf(made, second))},
          Attrs::Make(A{.out_shape = std::move(shape), .out_dtype = made})),
      1);
  return made == dtype ? result : relay::Cast(std::move(result), dtype);
}

absl::StatusOr<Expr> Uniform(NodeContext& node, double low, double high,
                             Ints shape, DType dtype) {
  return Drawn<relay::UniformAttrs>(node, BATON_OP("random.uniform"), low, high,
                                    std::move(shape), dtype);
}

// The element type that the attribute `dtype` names.
absl::StatusOr<DType> DTypeAttr(NodeContext& node, int64_t otherwise) {
  return DTypeOf(node.Int("dtype", otherwise));
}

struct Wanted {
  Ints shape;
  DType dtype;
};

// The type of the result: from attributes, or that of input 0.
template <bool kLike>
absl::StatusOr<Wanted> WantedOf(NodeContext& node) {
  Wanted wanted;
  if constexpr (kLike) {
    BATON_ASSIGN_OR_RETURN(wanted.shape, ShapeOf(node.Input(0)));
    BATON_ASSIGN_OR_RETURN(wanted.dtype, ElementTypeOf(node.Input(0)));
    if (!node.HasAttr("dtype")) return wanted;
  } else {
    wanted.shape = node.Ints("shape").value_or(Ints());
  }
  BATON_ASSIGN_OR_RETURN(wanted.dtype, DTypeAttr(node, /*float32*/ 1));
  return wanted;
}

template <bool kLike>
absl::StatusOr<Outputs> RandomUniform(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Wanted wanted, WantedOf<kLike>(node));
  BATON_ASSIGN_OR_RETURN(
      Expr result, Uniform(node, node.Float("low", 0), node.Float("high", 1),
                           std::move(wanted.shape), wanted.dtype));
  return One(std::move(result));
}

template <bool kLike>
absl::StatusOr<Outputs> RandomNormal(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(Wanted wanted, WantedOf<kLike>(node));
  BATON_ASSIGN_OR_RETURN(
      Expr result,
      Drawn<relay::NormalAttrs>(node, BATON_OP("random.normal"),
                                node.Float("mean", 0), node.Float("scale", 1),
                                std::move(wanted.shape), wanted.dtype));
  return One(std::move(result));
}

// 1 with the probability that the input says.
absl::StatusOr<Outputs> Bernoulli(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const Wanted wanted, WantedOf<true>(node));
  BATON_ASSIGN_OR_RETURN(const DType given, ElementTypeOf(node.Input(0)));
  const DType made = Made(given);
  BATON_ASSIGN_OR_RETURN(const Expr uniform,
                         Uniform(node, 0, 1, wanted.shape, made));
  return One(relay::Cast(
      relay::Less(uniform, made == given ? node.Input(0)
                                         : relay::Cast(node.Input(0), made)),
      wanted.dtype));
}

// The input has logarithms of probabilities, up to a summand.
absl::StatusOr<Outputs> Multinomial(NodeContext& node) {
  BATON_ASSIGN_OR_RETURN(const DType dtype, DTypeAttr(node, /*int32*/ 6));
  if (dtype != DType::Int(32) && dtype != DType::Int(64)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "samples must be of int32 or int64, but are of ", dtype.ToString()));
  }
  BATON_ASSIGN_OR_RETURN(const int rank, RankOf(node.Input(0)));
  const int64_t samples = node.Int("sample_size", 1);
  if (rank != 2 || samples < 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the input must have 2 axes, but has ", rank,
        ", and sample_size must not be negative, but is ", samples));
  }
  BATON_ASSIGN_OR_RETURN(Expr key, Key(node));
  Expr result = relay::TupleGetItem(
      relay::Call(
          BATON_OP("random.multinomial"),
          {std::move(key), relay::nn::Softmax(node.Input(0), /*axis=*/-1)},
          Attrs::Make(relay::MultinomialAttrs{.num_samples = samples})),
      1);
  if (dtype != DType::Int(32)) result = relay::Cast(std::move(result), dtype);
  return One(std::move(result));
}

// In training an element is dropped with the probability `ratio`, others are
// scaled; else the input stays.
absl::StatusOr<Outputs> Dropout(NodeContext& node) {
  const Expr& x = node.Input(0);
  double ratio = 0;
  if (node.opset() >= 12 && node.HasInput(2)) {
    BATON_ASSIGN_OR_RETURN(const Tensor training, node.Constant(2));
    if (training.num_elements() == 1 && training.AtAsInt64(0) != 0) {
      ratio = 0.5;
      if (node.HasInput(1)) {
        BATON_ASSIGN_OR_RETURN(const Tensor given, node.Constant(1));
        if (given.num_elements() == 1) ratio = given.AtAsDouble(0);
      }
      if (!(ratio >= 0 && ratio < 1)) {
        return absl::InvalidArgumentError(
            absl::StrCat("the ratio ", ratio, " is out of range [0, 1)"));
      }
    }
  }
  if (ratio > 0) {
    BATON_ASSIGN_OR_RETURN(Ints shape, ShapeOf(x));
    BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(x));
    BATON_ASSIGN_OR_RETURN(const Expr uniform,
                           Uniform(node, 0, 1, std::move(shape), Made(dtype)));
    const Expr kept = relay::GreaterEqual(
        uniform, relay::Const(Tensor::ScalarOf(Made(dtype), ratio)));
    const Expr scale = relay::Const(Tensor::ScalarOf(dtype, 1 / (1 - ratio)));
    return Outputs{relay::Where(kept, relay::Multiply(x, scale),
                                relay::Const(Tensor::ScalarOf(dtype, 0))),
                   kept};
  }
  Outputs result = One(x);
  if (node.HasOutput(1)) {
    const bool is_bool = node.opset() >= 10;
    result.push_back(is_bool ? relay::Cast(relay::OnesLike(x), DType::Bool())
                             : relay::OnesLike(x));
  }
  return result;
}

BATON_ONNX_CONVERTERS({
    {"Bernoulli", Bernoulli, 15},
    {"Dropout", Dropout},
    {"Multinomial", Multinomial, 7},
    {"RandomNormal", RandomNormal<false>},
    {"RandomNormalLike", RandomNormal<true>},
    {"RandomUniform", RandomUniform<false>},
    {"RandomUniformLike", RandomUniform<true>},
});

}  // namespace
}  // namespace baton::onnx
