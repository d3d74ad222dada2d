// BERT (Devlin et al., 2019): a transformer encoder for text. The reference has
// no such network; the default shapes are those of BERT-base, uncased.

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/workloads/layers.h"
#include "baton/testing/workloads/options.h"
#include "baton/testing/workloads/transformer.h"
#include "baton/testing/workloads/workload.h"

namespace baton::testing {
namespace {

using relay::Add;
using relay::Multiply;
using relay::Reshape;
using relay::Var;

struct BertOptions {
  int64_t num_layers = 12;
  int64_t hidden_size = 768;
  int64_t num_heads = 12;
  int64_t intermediate_size = 3072;
  int64_t vocab_size = 30522;
  int64_t max_position_embeddings = 512;
  int64_t batch_size = 1;
  int64_t sequence_length = 128;
  DType dtype = DType::Float(32);

  template <typename V>
  static void VisitFields(V& v) {
    using O = BertOptions;
    VisitTransformerFields<O>(v);
    v("vocab_size", &O::vocab_size, "Tokens that there are.");
    v("max_position_embeddings", &O::max_position_embeddings,
      "Length of the longest sequence.");
    v("batch_size", &O::batch_size, "Sequences at a time.");
    v("sequence_length", &O::sequence_length, "Tokens of a sequence.");
    v("dtype", &O::dtype, "float16, float32 or float64.");
  }
};

// The sum of three embeddings of the tokens `data` of the segments
// `%segment_ids`, normalized: [batch_size, sequence_length, hidden_size].
Expr Embedding(const Var& data, const BertOptions& options,
               const TransformerConfig& config) {
  const auto table = [&](const char* name, int64_t rows) {
    return Var(name, TensorType({rows, options.hidden_size}, options.dtype));
  };
  const Expr words = relay::Take(
      table("word_embedding_weight", options.vocab_size), data, {.axis = 0});
  const Var segment_ids("segment_ids", data->annotation());
  const Expr segments = relay::Take(table("segment_embedding_weight", 2),
                                    segment_ids, {.axis = 0});
  const Expr positions = relay::StridedSlice(
      table("position_embedding_weight", options.max_position_embeddings),
      {0, 0}, {options.sequence_length, options.hidden_size});
  return LayerNorm(Add(Add(words, segments), positions), "embedding_norm",
                   config);
}

// The summand of the attention scores: 0 for the tokens where `%mask` is 1, a
// large negative number for those where it is 0.
Expr AttentionMask(const BertOptions& options) {
  const DType dtype = options.dtype;
  const Var mask("mask",
                 TensorType({options.batch_size, options.sequence_length},
                            DType::Int(32)));
  const Expr attended = relay::Cast(
      Reshape(mask, {options.batch_size, 1, 1, options.sequence_length}),
      dtype);
  return Multiply(relay::Subtract(Scalar(1, dtype), attended),
                  Scalar(-10000, dtype));
}

// A tuple: the sequence [batch_size, sequence_length, hidden_size], and the
// pooled first vector of it [batch_size, hidden_size].
absl::StatusOr<relay::Function> BuildBert(const BertOptions& options) {
  const TransformerConfig config = {
      .batch_size = options.batch_size,
      .sequence_length = options.sequence_length,
      .hidden_size = options.hidden_size,
      .num_heads = options.num_heads,
      .intermediate_size = options.intermediate_size,
      .epsilon = 1e-12,
      .dtype = options.dtype,
  };
  BATON_RETURN_IF_ERROR(CheckTransformer(config));
  BATON_RETURN_IF_ERROR(CheckPositive("num_layers", options.num_layers));
  BATON_RETURN_IF_ERROR(CheckPositive("vocab_size", options.vocab_size));
  if (options.sequence_length > options.max_position_embeddings) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sequence_length=", options.sequence_length,
        " exceeds max_position_embeddings=", options.max_position_embeddings));
  }
  const Var data("data",
                 TensorType({options.batch_size, options.sequence_length},
                            DType::Int(32)));
  const Expr mask = AttentionMask(options);
  Expr body = Reshape(
      Embedding(data, options, config),
      {options.batch_size * options.sequence_length, options.hidden_size});
  for (int64_t i = 0; i < options.num_layers; ++i) {
    const std::string name = absl::StrCat("layer", i);
    body = LayerNorm(
        Add(body, SelfAttention(body, name + "_attention", mask, config)),
        name + "_attention_norm", config);
    body = LayerNorm(Add(body, FeedForward(body, name, config)),
                     name + "_output_norm", config);
  }
  const Expr pooled = relay::Tanh(DenseAddBias(FirstOfSequence(body, config),
                                               "pooler", options.hidden_size));
  const Expr sequence = Reshape(
      body, {options.batch_size, options.sequence_length, options.hidden_size});
  return FunctionOf(relay::Tuple({sequence, pooled}));
}

const WorkloadRegistration kBert(
    "bert", "BERT: a transformer encoder for text, with embeddings and pooler.",
    BuildBert);

}  // namespace
}  // namespace baton::testing
