// Converters of recurrent attention with a state of fixed size, and of the
// causal convolution that goes with it.

#include <cmath>
#include <cstdint>
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
#include "baton/onnx/ops/heads.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {
namespace {

using relay::Add;
using relay::Cast;
using relay::Multiply;
using relay::Subtract;
using Ints = std::vector<int64_t>;

// Steps are unrolled.
constexpr int64_t kMaxSteps = 10'000;

constexpr DType kFloat32 = DType::Float(32);

// Converts one node: the state S is updated in each step.
class LinearAttention {
 public:
  explicit LinearAttention(NodeContext& node) : node_(node) {}

  absl::StatusOr<Outputs> Convert();

 private:
  absl::Status ReadInputs();
  // (batch, heads, steps, size) of input `i`, in float32.
  absl::StatusOr<Expr> Heads(int i, int64_t heads);
  // Step `t` of `x`, as (batch, heads, size, 1), or (batch, heads, 1, size).
  static Expr ColumnAt(const Expr& x, int64_t t);
  static Expr RowAt(const Expr& x, int64_t t);
  // The state after step `t`; `state` is null before the first one if there is
  // no past.
  Expr Next(const Expr& state, int64_t t) const;

  NodeContext& node_;
  int64_t heads_ = 0;
  int64_t kv_heads_ = 0;
  int64_t steps_ = 0;
  Expr query_, key_, value_, decay_, beta_;
  double scale_ = 1;
};

absl::StatusOr<Expr> LinearAttention::Heads(int i, int64_t heads) {
  BATON_ASSIGN_OR_RETURN(const Expr wide,
                         node_.Typed(Cast(node_.Input(i), kFloat32)));
  return SplitHeads(node_, wide, heads);
}

absl::Status LinearAttention::ReadInputs() {
  heads_ = node_.Int("q_num_heads", 0);
  kv_heads_ = node_.Int("kv_num_heads", 0);
  if (kv_heads_ < 1 || heads_ < 1 || heads_ % kv_heads_ != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("q_num_heads is ", heads_, " and kv_num_heads ", kv_heads_,
                     ": the one must be a multiple of the other"));
  }
  BATON_ASSIGN_OR_RETURN(query_, Heads(0, heads_));
  BATON_ASSIGN_OR_RETURN(key_, Heads(1, kv_heads_));
  BATON_ASSIGN_OR_RETURN(value_, Heads(2, kv_heads_));
  const std::string rule = node_.String("update_rule", "gated_delta");
  const bool is_gated = rule == "gated" || rule == "gated_delta";
  const bool is_delta = rule == "delta" || rule == "gated_delta";
  if (!is_gated && !is_delta && rule != "linear") {
    return absl::InvalidArgumentError(
        absl::StrCat("the update_rule '", rule,
                     "' is none of linear, gated, delta and gated_delta"));
  }
  if (is_gated) {
    BATON_ASSIGN_OR_RETURN(decay_, Heads(4, kv_heads_));
  }
  if (is_delta) {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                           TensorTypeOf(node_.Input(5)));
    const bool is_shared =
        kv_heads_ > 1 && type->rank() == 3 && type->dim(2).is_const(1);
    BATON_ASSIGN_OR_RETURN(beta_, Heads(5, is_shared ? 1 : kv_heads_));
  }
  const Dim& steps = query_->tensor_type()->dim(2);
  if (!steps.is_const()) {
    return absl::UnimplementedError("the number of steps must be known");
  }
  steps_ = steps.value();
  if (steps_ < 1 || steps_ > kMaxSteps) {
    return absl::UnimplementedError(
        absl::StrCat("a sequence must have from 1 to ", kMaxSteps,
                     " steps, but has ", steps_));
  }
  const int64_t size = query_->tensor_type()->dim(3).value();
  scale_ = node_.Float("scale", 0);
  if (scale_ == 0) scale_ = 1 / std::sqrt(static_cast<double>(size));
  return absl::OkStatus();
}

Expr LinearAttention::RowAt(const Expr& x, int64_t t) {
  return relay::StridedSlice(x, {t}, {t + 1}, {.axes = Ints{2}});
}

Expr LinearAttention::ColumnAt(const Expr& x, int64_t t) {
  return relay::Transpose(RowAt(x, t), Ints{0, 1, 3, 2});
}

Expr LinearAttention::Next(const Expr& state, int64_t t) const {
  const Expr key = ColumnAt(key_, t);
  Expr value = RowAt(value_, t);
  Expr before = state;
  if (before.defined() && decay_.defined()) {
    before = Multiply(relay::Exp(ColumnAt(decay_, t)), before);
  }
  if (beta_.defined()) {
    if (before.defined()) {
      value = Subtract(std::move(value),
                       relay::Sum(Multiply(before, key),
                                  {.axis = Ints{2}, .keepdims = true}));
    }
    value = Multiply(RowAt(beta_, t), std::move(value));
  }
  Expr product = Multiply(key, std::move(value));
  return before.defined() ? Add(std::move(before), std::move(product))
                          : product;
}

absl::StatusOr<Outputs> LinearAttention::Convert() {
  BATON_RETURN_IF_ERROR(ReadInputs());
  BATON_ASSIGN_OR_RETURN(const DType dtype, ElementTypeOf(node_.Input(0)));
  DType state_dtype = dtype;
  Expr state;
  if (node_.HasInput(3)) {
    BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                           TensorTypeOf(node_.Input(3)));
    if (type->rank() != 4) {
      return absl::InvalidArgumentError("the past_state has no 4 axes");
    }
    state_dtype = type->dtype();
    state = Cast(node_.Input(3), kFloat32);
  }
  const Expr scale = relay::Const(scale_, kFloat32);
  std::vector<Expr> rows;
  for (int64_t t = 0; t < steps_; ++t) {
    state = Next(state, t);
    const int64_t shared = heads_ / kv_heads_;
    const Expr of_all = shared == 1 ? state : relay::Repeat(state, shared, 1);
    rows.push_back(Multiply(relay::Sum(Multiply(ColumnAt(query_, t), of_all),
                                       {.axis = Ints{2}, .keepdims = true}),
                            scale));
  }
  BATON_ASSIGN_OR_RETURN(
      const Expr result,
      node_.Typed(rows.size() == 1 ? rows[0]
                                   : relay::Concatenate(std::move(rows), 2)));
  return Outputs{Cast(JoinHeads(result), dtype),
                 Cast(std::move(state), state_dtype)};
}

absl::StatusOr<Outputs> ConvertLinearAttention(NodeContext& node) {
  return LinearAttention(node).Convert();
}

// A convolution of each channel with what was before.
absl::StatusOr<Outputs> CausalConvWithState(NodeContext& node) {
  const Expr& x = node.Input(0);
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  BATON_ASSIGN_OR_RETURN(const Ints weight, ShapeOf(node.Input(1)));
  if (type->rank() != 3 || weight.size() != 3 || weight[1] != 1 ||
      weight[2] < 1) {
    return absl::InvalidArgumentError(
        "the input must have 3 axes, and the weight the shape (channels, 1,"
        " size)");
  }
  if (type->dim(1).is_const() && type->dim(1).value() != weight[0]) {
    return absl::InvalidArgumentError(
        absl::StrCat("the input has ", type->dim(1).value(),
                     " channels and the weight ", weight[0]));
  }
  const int64_t before = weight[2] - 1;
  Expr all = x;
  if (node.HasInput(3)) {
    all = relay::Concatenate({node.Input(3), x}, 2);
  } else if (before > 0) {
    all = relay::nn::Pad(x, {{0, 0}, {0, 0}, {before, 0}}, ScalarLike(0, x));
  }
  BATON_ASSIGN_OR_RETURN(all, node.Typed(std::move(all)));
  relay::Conv1DAttrs attrs;
  attrs.groups = static_cast<int>(weight[0]);
  attrs.channels = weight[0];
  attrs.kernel_size = {Dim(weight[2])};
  Expr result = relay::nn::Conv1D(all, node.Input(1), attrs);
  if (node.HasInput(2)) {
    result = Add(std::move(result), relay::ExpandDims(node.Input(2), 1));
  }
  const std::string activation = node.String("activation", "none");
  if (activation == "silu" || activation == "swish") {
    result = Multiply(result, relay::Sigmoid(result));
  } else if (activation != "none") {
    return absl::InvalidArgumentError(absl::StrCat(
        "the activation '", activation, "' is none of none, silu and swish"));
  }
  // The last ones of all.
  Expr state =
      relay::StridedSlice(all, {-before}, {1 << 30}, {.axes = Ints{2}});
  if (before == 0) {
    state = relay::StridedSlice(all, {0}, {0}, {.axes = Ints{2}});
  }
  return Outputs{std::move(result), std::move(state)};
}

BATON_ONNX_CONVERTERS({
    {"CausalConvWithState", CausalConvWithState, 27},
    {"LinearAttention", ConvertLinearAttention, 27},
});

}  // namespace
}  // namespace baton::onnx
