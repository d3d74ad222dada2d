// Layers of transformer encoders (Vaswani et al., 2017). Their data is a matrix
// [batch_size * sequence_length, hidden_size]; parameters are named and typed
// as in layers.h.

#ifndef BATON_TESTING_WORKLOADS_TRANSFORMER_H_
#define BATON_TESTING_WORKLOADS_TRANSFORMER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "baton/base/dtype.h"
#include "baton/relay/ir/expr.h"

namespace baton::testing {

// The sizes of a transformer.
struct TransformerConfig {
  int64_t batch_size;
  int64_t sequence_length;
  int64_t hidden_size;
  int64_t num_heads;          // divides hidden_size
  int64_t intermediate_size;  // of the layer between two dense layers
  double epsilon;             // of normalizations
  DType dtype;
};

// The error names the wrong option.
absl::Status CheckTransformer(const TransformerConfig& config);

// A scalar constant.
relay::Constant Scalar(double value, DType dtype);

// nn.layer_norm over the last axis, with `%NAME_gamma` and `%NAME_beta`.
Expr LayerNorm(const Expr& data, const std::string& name,
               const TransformerConfig& config);

// Multi-head self-attention. `mask`, if it is defined, is added to the scores,
// which are [batch_size, num_heads, sequence_length, sequence_length].
Expr SelfAttention(const Expr& data, const std::string& name, const Expr& mask,
                   const TransformerConfig& config);

// Two dense layers with GELU (in terms of erf) between them.
Expr FeedForward(const Expr& data, const std::string& name,
                 const TransformerConfig& config);

// The first vector of each sequence: [batch_size, hidden_size].
Expr FirstOfSequence(const Expr& data, const TransformerConfig& config);

// The options that all transformers have, in the order in which they are
// listed. A is a struct of options.
template <typename A, typename V>
void VisitTransformerFields(V& v) {
  v("num_layers", &A::num_layers, "Encoder layers.");
  v("hidden_size", &A::hidden_size, "Elements of a vector of the sequence.");
  v("num_heads", &A::num_heads, "Heads of attention; divides hidden_size.");
  v("intermediate_size", &A::intermediate_size,
    "Elements between the two dense layers that follow attention.");
}

}  // namespace baton::testing

#endif  // BATON_TESTING_WORKLOADS_TRANSFORMER_H_
