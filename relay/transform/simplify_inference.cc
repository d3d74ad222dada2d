#include "baton/relay/transform/simplify_inference.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/broadcast_axes.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/normalize.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/op/tensor/reduce.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<InferenceRule>& InferenceRules() {
  static auto* const rules = new OpProperty<InferenceRule>;
  return *rules;
}

namespace {

// The type of the data that `call` normalizes; null if it is not known or no
// constant can have its element type.
const TensorTypeNode* DataType(const CallNode& call) {
  const TensorTypeNode* type = call.arg(0)->tensor_type();
  return type != nullptr && type->dtype().IsStorable() ? type : nullptr;
}

// `axis` counted from the front; -1 if `type` has no such axis.
int NormalizedAxis(int axis, const TensorTypeNode& type) {
  if (axis < 0) axis += type.rank();
  return axis < type.rank() ? axis : -1;
}

// Epsilons are single precision, whatever the data.
Expr Epsilon(DType dtype, double value) {
  return Const(static_cast<float>(value), dtype);
}

// The arguments of a norm, `args`, as MatchExtents() gives them; none if their
// extents have different names.
std::vector<Expr> MatchedArgs(const CallNode& call, absl::Span<const Expr> args,
                              int axis) {
  std::vector<Expr> matched(args.begin(), args.end());
  if (!MatchExtents(call.args(), axis, absl::MakeSpan(matched))) return {};
  return matched;
}

Expr RewriteBatchNorm(const CallNode& call, absl::Span<const Expr> args) {
  const auto* attrs = call.attrs_as<BatchNormAttrs>();
  const TensorTypeNode* type = DataType(call);
  if (attrs == nullptr || type == nullptr) return {};
  const int axis = NormalizedAxis(attrs->axis, *type);
  if (axis < 0) return {};
  const std::vector<Expr> matched = MatchedArgs(call, args, axis);
  if (matched.empty()) return {};
  const Expr& data = matched[0];
  const Expr& gamma = matched[1];
  const Expr& beta = matched[2];
  const Expr& moving_mean = matched[3];
  const Expr& moving_var = matched[4];

  const Expr stddev =
      Sqrt(Add(moving_var, Epsilon(type->dtype(), attrs->epsilon)));
  Expr scale = Divide(Const(1.0, type->dtype()), stddev);
  if (attrs->scale) scale = Multiply(scale, gamma);
  Expr shift = Multiply(Negative(moving_mean), scale);
  if (attrs->center) shift = Add(shift, beta);
  return Add(Multiply(data, ExpandBiasToMatchAxis(scale, type->rank(), {axis})),
             ExpandBiasToMatchAxis(shift, type->rank(), {axis}));
}

Expr RewriteDropout(const CallNode& /*call*/, absl::Span<const Expr> args) {
  return args[0];
}

// (data - mean) / sqrt(variance + epsilon) over `axes`.
Expr Normalize(const Expr& data, const std::vector<int64_t>& axes,
               const Expr& epsilon) {
  const Expr mean = Mean(data, {.axis = axes, .keepdims = true});
  const Expr variance = Variance(data, mean, {.axis = axes, .keepdims = true});
  return Divide(Subtract(data, mean), Sqrt(Add(variance, epsilon)));
}

// T: the attributes of a norm that has a gamma and a beta along `axis`.
template <typename T>
Expr ScaleAndShift(Expr data, const Expr& gamma, const Expr& beta,
                   const T& attrs, int rank, int axis) {
  if (attrs.scale) {
    data = Multiply(data, ExpandBiasToMatchAxis(gamma, rank, {axis}));
  }
  if (attrs.center) {
    data = Add(data, ExpandBiasToMatchAxis(beta, rank, {axis}));
  }
  return data;
}

Expr RewriteLayerNorm(const CallNode& call, absl::Span<const Expr> args) {
  const auto* attrs = call.attrs_as<LayerNormAttrs>();
  const TensorTypeNode* type = DataType(call);
  if (attrs == nullptr || type == nullptr) return {};
  const int axis = NormalizedAxis(attrs->axis, *type);
  if (axis < 0) return {};
  const std::vector<Expr> matched = MatchedArgs(call, args, axis);
  if (matched.empty()) return {};
  const Expr normalized = Normalize(matched[0], {attrs->axis},
                                    Epsilon(type->dtype(), attrs->epsilon));
  return ScaleAndShift(normalized, matched[1], matched[2], *attrs, type->rank(),
                       axis);
}

Expr RewriteInstanceNorm(const CallNode& call, absl::Span<const Expr> args) {
  const auto* attrs = call.attrs_as<InstanceNormAttrs>();
  const TensorTypeNode* type = DataType(call);
  if (attrs == nullptr || type == nullptr) return {};
  const int axis = NormalizedAxis(attrs->axis, *type);
  if (axis < 0) return {};
  // All but the batch and the channels.
  std::vector<int64_t> reduced;
  for (int i = 1; i < type->rank(); ++i) {
    if (i != axis) reduced.push_back(i);
  }
  const std::vector<Expr> matched = MatchedArgs(call, args, axis);
  if (matched.empty()) return {};
  const Expr normalized =
      Normalize(matched[0], reduced, Epsilon(type->dtype(), attrs->epsilon));
  return ScaleAndShift(normalized, matched[1], matched[2], *attrs, type->rank(),
                       axis);
}

Expr RewriteGroupNorm(const CallNode& call, absl::Span<const Expr> args) {
  const auto* attrs = call.attrs_as<GroupNormAttrs>();
  const TensorTypeNode* type = DataType(call);
  if (attrs == nullptr || type == nullptr || !type->is_static() ||
      attrs->num_groups <= 0) {
    return {};
  }
  const int axis = NormalizedAxis(attrs->axis, *type);
  if (axis < 0) return {};
  const std::vector<Expr> matched = MatchedArgs(call, args, axis);
  if (matched.empty()) return {};
  // The channels are split in two axes, groups and channels of a group; all
  // that follows the groups is reduced.
  std::vector<int64_t> shape;
  std::vector<int64_t> split_shape;
  std::vector<int64_t> reduced;
  for (int i = 0; i < type->rank(); ++i) {
    const int64_t extent = type->dim(i).value();
    shape.push_back(extent);
    if (i == axis) {
      split_shape.push_back(attrs->num_groups);
      split_shape.push_back(extent / attrs->num_groups);
    } else {
      split_shape.push_back(extent);
    }
    if (i >= axis) reduced.push_back(i + 1);
  }
  const Expr normalized = Normalize(Reshape(matched[0], split_shape), reduced,
                                    Epsilon(type->dtype(), attrs->epsilon));
  return ScaleAndShift(Reshape(normalized, shape), matched[1], matched[2],
                       *attrs, type->rank(), axis);
}

Expr RewriteL2Normalize(const CallNode& call, absl::Span<const Expr> args) {
  const auto* attrs = call.attrs_as<L2NormalizeAttrs>();
  const TensorTypeNode* type = DataType(call);
  if (attrs == nullptr || type == nullptr) return {};
  const Expr& data = args[0];
  const Expr sum =
      Sum(Multiply(data, data), {.axis = attrs->axis, .keepdims = true});
  return Divide(data, Sqrt(Maximum(sum, Epsilon(type->dtype(), attrs->eps))));
}

BATON_EXTEND_OP("nn.batch_norm")
    .Set(InferenceRules(), InferenceRule{.rewrite = RewriteBatchNorm,
                                         .replaces_first_field = true});
BATON_EXTEND_OP("nn.dropout")
    .Set(InferenceRules(), InferenceRule{.rewrite = RewriteDropout,
                                         .replaces_first_field = true});
BATON_EXTEND_OP("nn.layer_norm")
    .Set(InferenceRules(), InferenceRule{RewriteLayerNorm});
BATON_EXTEND_OP("nn.instance_norm")
    .Set(InferenceRules(), InferenceRule{RewriteInstanceNorm});
BATON_EXTEND_OP("nn.group_norm")
    .Set(InferenceRules(), InferenceRule{RewriteGroupNorm});
BATON_EXTEND_OP("nn.l2_normalize")
    .Set(InferenceRules(), InferenceRule{RewriteL2Normalize});

class InferenceSimplifier {
 public:
  explicit InferenceSimplifier(const IndexedGraph& graph)
      : graph_(graph), rules_(graph_.size()), rewriter_(graph_) {}

  // The root, rewritten.
  Expr Run() {
    for (int i = 0; i < graph_.size(); ++i) {
      if (const auto* call = graph_.As<CallNode>(i)) {
        rules_[i] = InferenceRules().Get(call->op());
      }
    }
    for (int i = 0; i < graph_.size(); ++i) {
      Rewrite(i);
    }
    return rewriter_.Result();
  }

 private:
  void Rewrite(int i) {
    if (const InferenceRule* rule = rules_[i]) {
      // If a rule replaces field 0 of a call, the call waits until another user
      // needs it.
      if (rule->replaces_first_field || Replace(i, i)) return;
    } else if (const auto* item = graph_.As<TupleGetItemNode>(i);
               item != nullptr && item->index() == 0) {
      const int call = graph_.children(i)[0];
      if (ReplacesFirstField(call) && Replace(i, call)) return;
    }
    for (const int child : graph_.children(i)) {
      if (ReplacesFirstField(child) && !rewriter_.changed(child)) {
        rewriter_.Rebuild(child);
      }
    }
    rewriter_.Rebuild(i);
  }

  bool ReplacesFirstField(int i) const {
    return rules_[i] != nullptr && rules_[i]->replaces_first_field;
  }

  // Replaces node `i` by what the rule of `call` gives, if it gives anything.
  bool Replace(int i, int call) {
    Expr result =
        rules_[call]->rewrite(*graph_.As<CallNode>(call), rewriter_.Args(call));
    if (!result.defined() || !MayRewrite()) return false;
    rewriter_.Replace(i, std::move(result));
    return true;
  }

  const IndexedGraph& graph_;
  std::vector<const InferenceRule*> rules_;
  GraphRewriter rewriter_;
};

}  // namespace

Pass SimplifyInference() {
  return CreateFunctionPass(
      [](Function function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (!CallsOpOf(function, InferenceRules())) return function;
        const Expr result = InferenceSimplifier(IndexedGraph(function)).Run();
        return Function(result.As<FunctionNode>());
      },
      {.name = "SimplifyInference",
       .required = {"InferType"},
       .doc = "Replaces normalizations and dropout by the arithmetic that they "
              "are at inference time, in the element type of the data: squares "
              "and epsilons that are out of its range are infinite or zero.",
       .invalidates = {"a_normal_form"},
       .idempotent = true,
       .exact = false});
}
BATON_REGISTER_PASS(SimplifyInference);

}  // namespace baton::relay
