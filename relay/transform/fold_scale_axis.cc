#include "baton/relay/transform/fold_scale_axis.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/ir/rewrite_gate.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/broadcast_axes.h"
#include "baton/relay/analysis/graph_queries.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/analysis/magnitude.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/nn/activation.h"
#include "baton/relay/op/nn/conv.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton::relay {

OpProperty<ForwardScaleRule>& ForwardScaleRules() {
  static auto* const rules = new OpProperty<ForwardScaleRule>;
  return *rules;
}

OpProperty<BackwardScaleRule>& BackwardScaleRules() {
  static auto* const rules = new OpProperty<BackwardScaleRule>;
  return *rules;
}

namespace {

// A scale with several axes is reshaped to the tensors that it meets, which
// needs their extents in numbers.
bool CanCarryScale(const ExprNode* node, AxisSet axes) {
  const TensorTypeNode* type = node->tensor_type();
  return type != nullptr &&
         (axes.size() <= 1 || IsStaticAlong(type->shape(), axes));
}

// The scale of a tensor of type `type`, in a form that broadcasts to it.
Expr Broadcastable(const Expr& scale, const TensorTypeNode& type,
                   AxisSet axes) {
  return ReshapeOrExpandToMatchAxis(scale, type.shape(), axes);
}

BATON_STATISTIC(kFoldedScales, "FoldScaleAxis", "scales",
                "Multiplications by a scale that weights took in.");

// Forward: multiplications are upstream, sinks downstream.
class ForwardFolder {
 public:
  explicit ForwardFolder(const IndexedGraph& graph)
      : graph_(graph), sinks_(graph_.size()) {}

  // The root, rewritten.
  Expr Run() {
    if (!CollectSinks()) return Expr(graph_.node(graph_.root()));
    rewriter_.emplace(graph_);
    scales_.resize(graph_.size());
    for (int i = 0; i < graph_.size(); ++i) Rewrite(i);
    return rewriter_->Result();
  }

 private:
  // The common request of the users of a node visited so far.
  struct Request {
    ScaleSink sink;
    bool has_users = false;
  };

  // The children of node `i` but for the variables that it binds.
  absl::Span<const int> UsedChildren(int i) const {
    const absl::Span<const int> children = graph_.children(i);
    switch (ExprKindOf(graph_.node(i))) {
      case ExprKind::kFunction:
        return children.subspan(children.size() - 1);
      case ExprKind::kLet:
        return children.subspan(1);
      case ExprKind::kVar:
      case ExprKind::kConstant:
      case ExprKind::kCall:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
      case ExprKind::kIf:
      case ExprKind::kRefCreate:
      case ExprKind::kRefRead:
      case ExprKind::kRefWrite:
      case ExprKind::kMatch:
      case ExprKind::kConstructor:
      case ExprKind::kGlobalVar:
      case ExprKind::kOp:
        break;
    }
    return children;
  }

  void Meet(int i, const ScaleSink& sink) {
    Request& request = sinks_[i];
    if (!request.has_users) {
      request = {sink, true};
    } else {
      // A part of the axes does not help a user that needs more of them.
      if (request.sink.axes != sink.axes) request.sink.axes = AxisSet();
      request.sink.non_negative_only |= sink.non_negative_only;
      request.sink.constant_only |= sink.constant_only;
      request.sink.min_scale_log2 =
          std::max(request.sink.min_scale_log2, sink.min_scale_log2);
    }
  }

  // Users first, so that a request is complete when its node is met. Returns
  // whether there may be anything to rewrite: a scale to take, or, beside
  // sinks, a field of a tuple that is built here.
  bool CollectSinks() {
    bool any_sink = false;
    bool takes_scale = false;
    bool takes_built_field = false;
    absl::InlinedVector<ScaleSink, 4> args;
    for (int i = graph_.root(); i >= 0; --i) {
      const bool has_sink = !sinks_[i].sink.empty();
      any_sink = any_sink || has_sink;
      const auto* call = graph_.As<CallNode>(i);
      const ForwardScaleRule* rule =
          call == nullptr ? nullptr : ForwardScaleRules().Get(call->op());
      if (rule == nullptr || rule->request == nullptr) {
        takes_scale = takes_scale ||
                      (has_sink && rule != nullptr && rule->rewrite != nullptr);
        takes_built_field =
            takes_built_field ||
            (graph_.kind(i) == ExprKind::kTupleGetItem &&
             graph_.kind(graph_.children(i)[0]) == ExprKind::kTuple);
        for (const int child : UsedChildren(i)) Meet(child, {});
        continue;
      }
      args.assign(call->num_args(), ScaleSink());
      rule->request(*call, sinks_[i].sink, absl::MakeSpan(args));
      for (int k = 0; k < call->num_args(); ++k) {
        if (!CanCarryScale(call->arg(k).get(), args[k].axes)) args[k] = {};
        Meet(graph_.args(i)[k], args[k]);
      }
    }
    return takes_scale || (any_sink && takes_built_field);
  }

  void Rewrite(int i) {
    if (const auto* item = graph_.As<TupleGetItemNode>(i)) {
      return RewriteTupleGetItem(i, item);
    }
    if (const auto* call = graph_.As<CallNode>(i)) {
      if (RewriteByRule(i, call)) return;
      for (const int arg : graph_.args(i)) Realize(arg);
    }
    rewriter_->Rebuild(i);
  }

  // A field of a tuple that is built here is that field.
  void RewriteTupleGetItem(int i, const TupleGetItemNode* item) {
    const Expr tuple = rewriter_->Get(graph_.children(i)[0]);
    const auto* node = tuple.As<TupleNode>();
    if (node != nullptr &&
        static_cast<size_t>(item->index()) < node->fields().size()) {
      rewriter_->Replace(i, node->fields()[item->index()]);
    } else {
      rewriter_->Rebuild(i);
    }
  }

  bool RewriteByRule(int i, const CallNode* call) {
    const ForwardScaleRule* rule = ForwardScaleRules().Get(call->op());
    if (rule == nullptr || rule->rewrite == nullptr) return false;
    const ScaleSink& out = sinks_[i].sink;
    const absl::Span<const int> children = graph_.args(i);
    if (out.empty() &&
        std::none_of(children.begin(), children.end(),
                     [this](int child) { return HasScale(child); })) {
      return false;
    }
    absl::InlinedVector<ScaledExpr, 4> args;
    for (const int child : children) {
      args.push_back({rewriter_->Get(child)});
      if (HasScale(child)) {
        args.back().scale = scales_[child];
        args.back().axes = sinks_[child].sink.axes;
      }
    }
    ScaledExpr result = rule->rewrite(*call, args, out);
    const bool takes = rule->request == nullptr;  // where scales come from
    if (!result.value.defined() ||
        (result.scale.defined() && (out.empty() || result.axes != out.axes))) {
      if (takes && WantsRemarks(RemarkKind::kMissed)) {
        LogRemark({.kind = RemarkKind::kMissed,
                   .node = Expr(call),
                   .reason = "no operand of it is a scale that the weights "
                             "below take"});
      }
      return false;
    }
    if (takes && !MayRewrite()) return false;
    if (takes) {
      kFoldedScales.Add(1);
      if (WantsRemarks(RemarkKind::kPassed)) {
        LogRemark({.kind = RemarkKind::kPassed,
                   .node = Expr(call),
                   .reason = "the scale moves down into weights"});
      }
    }
    rewriter_->Replace(i, std::move(result.value));
    scales_[i] = std::move(result.scale);
    return true;
  }

  bool HasScale(int i) const { return scales_[i].defined(); }

  // Multiplies an outstanding scale into its node.
  void Realize(int i) {
    if (!HasScale(i)) return;
    const Expr scale = Broadcastable(scales_[i], *graph_.node(i)->tensor_type(),
                                     sinks_[i].sink.axes);
    rewriter_->Replace(i, Multiply(rewriter_->Get(i), scale));
    scales_[i] = Expr();
  }

  const IndexedGraph& graph_;
  std::vector<Request> sinks_;
  std::optional<GraphRewriter> rewriter_;
  // Outstanding scales, along the axes of the node's sink.
  std::vector<Expr> scales_;
};

// Backward: sinks are upstream, multiplications downstream.
class BackwardFolder {
 public:
  explicit BackwardFolder(const IndexedGraph& graph)
      : graph_(graph), nodes_(graph_.size()) {}

  // The root, rewritten.
  Expr Run() {
    if (!CollectSinks() || !PushScales()) {
      return Expr(graph_.node(graph_.root()));
    }
    GraphRewriter rewriter(graph_);
    for (int i = 0; i < graph_.size(); ++i) {
      const NodeInfo& info = nodes_[i];
      if (info.replaced_by >= 0) {
        kFoldedScales.Add(1);
        if (WantsRemarks(RemarkKind::kPassed)) {
          LogRemark({.kind = RemarkKind::kPassed,
                     .node = Expr(graph_.node(i)),
                     .reason = "the scale moves up into a weight"});
        }
        rewriter.Replace(i, rewriter.Get(info.replaced_by));
      } else if (info.scale.defined()) {
        const auto* call = graph_.As<CallNode>(i);
        rewriter.Replace(
            i, BackwardScaleRules()
                   .Get(call->op())
                   ->apply(*call, rewriter.Args(i), info.sink, info.scale));
      } else {
        rewriter.Rebuild(i);
      }
    }
    return rewriter.Result();
  }

 private:
  struct NodeInfo {
    BackwardSink sink;
    int replaced_by = -1;  // the node that this one becomes
    Expr scale;            // to be folded in
  };

  // The sinks of the arguments of call `i`, valid until the next call.
  absl::Span<const ScaleSink> ArgSinks(int i) {
    arg_sinks_.clear();
    for (const int arg : graph_.args(i)) {
      arg_sinks_.push_back(nodes_[arg].sink.sink);
    }
    return arg_sinks_;
  }

  // True if each argument in the bit set `scaled_args` has a sink.
  static bool AllTakeScales(absl::Span<const ScaleSink> args,
                            uint32_t scaled_args) {
    for (size_t k = 0; scaled_args != 0; ++k, scaled_args >>= 1) {
      if ((scaled_args & 1u) != 0 && (k >= args.size() || args[k].empty())) {
        return false;
      }
    }
    return true;
  }

  // Children first. Returns whether any node has a sink.
  bool CollectSinks() {
    bool any = false;
    for (int i = 0; i < graph_.size(); ++i) {
      // A scale that moves up must not reach other users of the node.
      const auto* call = graph_.As<CallNode>(i);
      if (call == nullptr || graph_.num_uses(i) != 1) continue;
      const BackwardScaleRule* rule = BackwardScaleRules().Get(call->op());
      if (rule == nullptr || !rule->accept || !rule->apply) continue;
      const absl::Span<const ScaleSink> args = ArgSinks(i);
      const BackwardSink sink = rule->accept(*call, args);
      if (sink.sink.empty() || !CanCarryScale(call, sink.sink.axes) ||
          !AllTakeScales(args, sink.scaled_args)) {
        continue;
      }
      nodes_[i].sink = sink;
      any = true;
    }
    return any;
  }

  // Users first. Returns whether there is any scale to fold.
  bool PushScales() {
    bool any = false;
    for (int i = graph_.root(); i >= 0; --i) {
      const auto* call = graph_.As<CallNode>(i);
      if (call == nullptr) continue;
      const absl::Span<const int> args = graph_.args(i);
      NodeInfo& info = nodes_[i];
      if (info.scale.defined()) {
        for (size_t k = 0; k < args.size(); ++k) {
          if (((info.sink.scaled_args >> k) & 1u) != 0) {
            nodes_[args[k]].scale = info.scale;
          }
        }
        continue;
      }
      const BackwardScaleRule* rule = BackwardScaleRules().Get(call->op());
      if (rule == nullptr || rule->extract == nullptr) continue;
      ExtractedScale extracted = rule->extract(*call, ArgSinks(i));
      if (extracted.arg < 0) {
        if (WantsRemarks(RemarkKind::kMissed)) {
          LogRemark({.kind = RemarkKind::kMissed,
                     .node = Expr(call),
                     .reason = "no operand of it leads up to a weight that "
                               "takes the scale"});
        }
        continue;
      }
      if (!MayRewrite()) continue;
      info.replaced_by = args[extracted.arg];
      nodes_[info.replaced_by].scale = std::move(extracted.scale);
      any = true;
    }
    return any;
  }

  const IndexedGraph& graph_;
  std::vector<NodeInfo> nodes_;
  absl::InlinedVector<ScaleSink, 4> arg_sinks_;
};

// nn.relu, nn.leaky_relu: f(x * s) = f(x) * s where s >= 0.

void RequestThroughRelu(const CallNode& /*call*/, const ScaleSink& out,
                        absl::Span<ScaleSink> args) {
  args[0] = out;
  args[0].non_negative_only = true;
}

ScaledExpr MoveForwardThroughRelu(const CallNode& call,
                                  absl::Span<const ScaledExpr> args,
                                  const ScaleSink& /*out*/) {
  if (!args[0].scale.defined()) return {};
  return {WithArgs(call, {args[0].value}), args[0].scale, args[0].axes};
}

BackwardSink AcceptThroughRelu(const CallNode& /*call*/,
                               absl::Span<const ScaleSink> args) {
  ScaleSink sink = {args[0].axes, /*non_negative_only=*/true};
  sink.constant_only = args[0].constant_only;
  return {.sink = sink, .scaled_args = 1};
}

Expr MoveBackwardThroughRelu(const CallNode& call, absl::Span<const Expr> args,
                             const BackwardSink& /*sink*/,
                             const Expr& /*scale*/) {
  return WithArgs(call, args);
}

// add, subtract: x * s + y = (x + y / s) * s, and (x + y) * s = x * s + y * s.

// The smallest scale, as ScaleSink::min_scale_log2, by which `value` may be
// divided. Every quotient by such a scale is less than half the largest number
// of `dtype`.
double SmallestDivisor(const Expr& value, DType dtype) {
  const double limit = MaxExponent(dtype);
  const MagnitudeBounds bounds = BoundMagnitude(value);
  if (bounds.unbounded()) return -limit / 2;
  // Zero is no divisor, however small the value.
  return std::max(bounds.max_log2 + 1 - limit,
                  std::numeric_limits<double>::lowest());
}

void RequestThroughAdd(const CallNode& call, const ScaleSink& out,
                       absl::Span<ScaleSink> args) {
  const TensorTypeNode* lhs = call.arg(0)->tensor_type();
  const TensorTypeNode* rhs = call.arg(1)->tensor_type();
  if (out.empty() || lhs == nullptr || rhs == nullptr) return;
  // Integers cannot be divided without loss.
  if (!lhs->dtype().is_float()) return;
  int k;  // the operand that is scaled; the other is divided by the scale
  if (MatchBroadcastToLeftAxes(*lhs, *rhs, out.axes)) {
    k = 0;
  } else if (MatchBroadcastToLeftAxes(*rhs, *lhs, out.axes)) {
    k = 1;
  } else {
    return;
  }
  args[k] = out;
  args[k].min_scale_log2 = std::max(
      out.min_scale_log2, SmallestDivisor(call.arg(1 - k), lhs->dtype()));
}

ScaledExpr MoveForwardThroughAdd(const CallNode& call,
                                 absl::Span<const ScaledExpr> args,
                                 const ScaleSink& /*out*/) {
  const int k = args[0].scale.defined() ? 0 : 1;
  const ScaledExpr& scaled = args[k];
  const ScaledExpr& other = args[1 - k];
  if (!scaled.scale.defined() || other.scale.defined()) return {};
  const Expr divisor =
      Broadcastable(scaled.scale, *call.arg(k)->tensor_type(), scaled.axes);
  Expr new_args[2];
  new_args[k] = scaled.value;
  new_args[1 - k] = Divide(other.value, divisor);
  return {WithArgs(call, new_args), scaled.scale, scaled.axes};
}

BackwardSink AcceptThroughAdd(const CallNode& call,
                              absl::Span<const ScaleSink> args) {
  const TensorTypeNode* lhs = call.arg(0)->tensor_type();
  const TensorTypeNode* rhs = call.arg(1)->tensor_type();
  if (lhs == nullptr || rhs == nullptr) return {};
  const ScaleSink& l = args[0];
  const ScaleSink& r = args[1];
  const auto rhs_fits_lhs = [&](AxisSet axes) {
    return MatchBroadcastToLeftAxes(*lhs, *rhs, axes);
  };
  const auto lhs_fits_rhs = [&](AxisSet axes) {
    return MatchBroadcastToLeftAxes(*rhs, *lhs, axes);
  };
  if (!l.empty() && !r.empty()) {
    // Both operands take the scale.
    if (l.axes != r.axes || !(rhs_fits_lhs(l.axes) || lhs_fits_rhs(l.axes) ||
                              lhs->shape() == rhs->shape())) {
      return {};
    }
    ScaleSink sink = {l.axes, l.non_negative_only || r.non_negative_only};
    sink.constant_only = l.constant_only || r.constant_only;
    return {.sink = sink, .scaled_args = 3};
  }
  if (!l.empty() && rhs_fits_lhs(l.axes)) return {.sink = l, .scaled_args = 1};
  if (!r.empty() && lhs_fits_rhs(r.axes)) return {.sink = r, .scaled_args = 2};
  return {};
}

Expr MoveBackwardThroughAdd(const CallNode& call, absl::Span<const Expr> args,
                            const BackwardSink& sink, const Expr& scale) {
  if (sink.scaled_args == 3) return WithArgs(call, args);
  const int k = sink.scaled_args == 1 ? 0 : 1;
  Expr new_args[2] = {args[0], args[1]};
  new_args[1 - k] = Multiply(
      args[1 - k],
      Broadcastable(scale, *call.arg(k)->tensor_type(), sink.sink.axes));
  return WithArgs(call, new_args);
}

// nn.bias_add

// False if an extent of `a` along `a_axes` and that of `b` along `b_axes` have
// different names, or one has a name and the other one is a number: they are
// not broadcast to each other.
bool HaveSameExtents(const ExprNode* a, AxisSet a_axes, const ExprNode* b,
                     AxisSet b_axes) {
  const TensorTypeNode* a_type = a->tensor_type();
  const TensorTypeNode* b_type = b->tensor_type();
  if (a_type == nullptr || b_type == nullptr) return false;
  auto other = b_axes.begin();
  for (const int axis : a_axes) {
    if (axis >= a_type->rank() || other == b_axes.end() ||
        *other >= b_type->rank()) {
      return false;
    }
    const Dim& x = a_type->dim(axis);
    const Dim& y = b_type->dim(*other++);
    if (x.is_any() || y.is_any() || (x.is_const() && y.is_const())) continue;
    if (!ProvablyEqual(x, y)) return false;
  }
  return true;
}

BackwardSink AcceptThroughBiasAdd(const CallNode& call,
                                  absl::Span<const ScaleSink> args) {
  const auto* attrs = call.attrs_as<BiasAddAttrs>();
  if (attrs == nullptr || args[0].empty() ||
      args[0].axes != AxisSet{attrs->axis} ||
      !HaveSameExtents(call.arg(0).get(), args[0].axes, call.arg(1).get(),
                       {0})) {
    return {};
  }
  return {.sink = args[0], .scaled_args = 1};
}

Expr MoveBackwardThroughBiasAdd(const CallNode& call,
                                absl::Span<const Expr> args,
                                const BackwardSink& /*sink*/,
                                const Expr& scale) {
  return WithArgs(call, {args[0], Multiply(args[1], scale)});
}

// True if constants alone decide `expr`. Expressions of many nodes are not
// looked through.
bool IsMadeOfConstants(const Expr& expr) {
  constexpr int kMaxNodes = 64;
  absl::InlinedVector<const ExprNode*, 8> work = {expr.get()};
  for (int visited = 0; !work.empty(); ++visited) {
    const ExprNode* const node = work.back();
    work.pop_back();
    if (node->kind() == ExprKind::kConstant) continue;
    if (node->kind() != ExprKind::kCall || visited == kMaxNodes) return false;
    const auto* call = static_cast<const CallNode*>(node);
    if (call->op()->kind() != ExprKind::kOp) return false;
    for (const Expr& arg : call->args()) work.push_back(arg.get());
  }
  return true;
}

// multiply: where scales come from.

// The scale if `value * scale` scales `value`, and `sink` takes it; else null.
Expr ScaleFor(const ScaleSink& sink, const Expr& value, const Expr& scale,
              const Expr& new_scale) {
  const TensorTypeNode* value_type = value->tensor_type();
  const TensorTypeNode* scale_type = scale->tensor_type();
  if (value_type == nullptr || scale_type == nullptr) return {};
  if (sink.non_negative_only && !IsNonNegativeConstant(new_scale)) return {};
  if (sink.constant_only && !IsMadeOfConstants(new_scale)) return {};
  if (std::isfinite(sink.min_scale_log2) &&
      BoundMagnitude(new_scale).min_log2 < sink.min_scale_log2) {
    return {};
  }
  return SqueezeToLeftAxes(*value_type, *scale_type, sink.axes, new_scale);
}

ScaledExpr TakeForwardFromMultiply(const CallNode& call,
                                   absl::Span<const ScaledExpr> args,
                                   const ScaleSink& out) {
  if (out.empty()) return {};
  for (const int k : {0, 1}) {
    Expr scale = ScaleFor(out, call.arg(k), call.arg(1 - k), args[1 - k].value);
    if (scale.defined()) return {args[k].value, std::move(scale), out.axes};
  }
  return {};
}

ExtractedScale TakeBackwardFromMultiply(const CallNode& call,
                                        absl::Span<const ScaleSink> args) {
  const int k = !args[0].empty() ? 0 : 1;
  if (args[k].empty()) return {};
  // The scale itself is left as it is: nothing is folded inside it.
  Expr scale = ScaleFor(args[k], call.arg(k), call.arg(1 - k), call.arg(1 - k));
  if (!scale.defined()) return {};
  return {k, std::move(scale)};
}

// nn.conv2d, nn.conv3d, nn.dense: where scales go.

Expr ScaleWeight(const CallNode& call, const Expr& weight, const Expr& scale,
                 AxisSet axes) {
  return Multiply(weight,
                  Broadcastable(scale, *call.arg(1)->tensor_type(), axes));
}

// A scale along `axes` of the data or the result, for the weight of `call`.
ScaleSink SinkOfWeight(const CallNode& call, AxisSet axes) {
  ScaleSink sink = {axes};
  sink.constant_only = IsMadeOfConstants(call.arg(1));
  return sink;
}

// A weight can take in only what has its own element type.
bool HasTypeOfWeight(const CallNode& call, const ExprNode* node) {
  const TensorTypeNode* type = node->tensor_type();
  const TensorTypeNode* weight = call.arg(1)->tensor_type();
  return type != nullptr && weight != nullptr &&
         type->dtype() == weight->dtype();
}

// The axes of the channels of a convolution.
struct ConvAxes {
  AxisSet channels;  // of the data or result
  AxisSet in;        // of the weight
  AxisSet out;
  bool depthwise = false;
  bool grouped = false;  // and not depthwise
};

// The axes of letter `big` and of its part, `small`, in `layout`. A part must
// follow its whole, so that channels are counted alike in all tensors.
std::optional<AxisSet> FindAxes(const Layout& layout, char big) {
  const int big_axis = layout.IndexOf(big);
  const int small_axis = layout.IndexOf(Layout::ToSub(big));
  if (big_axis < 0) return std::nullopt;
  if (small_axis < 0) return AxisSet{big_axis};
  if (small_axis < big_axis) return std::nullopt;
  return AxisSet{big_axis, small_axis};
}

// The extent of these axes together; -1 if it is not known.
int64_t Extent(const TensorTypeNode& type, AxisSet axes) {
  int64_t product = 1;
  for (const int axis : axes) {
    if (!type.dim(axis).is_const()) return -1;
    product *= type.dim(axis).value();
  }
  return product;
}

// Nullopt for convolutions that are blocked in some but not all of the channel
// axes.
std::optional<ConvAxes> FindConvAxes(const CallNode& call, int groups,
                                     const std::string& tensor_layout,
                                     const std::string& kernel_layout) {
  const TensorTypeNode* weight = call.arg(1)->tensor_type();
  const absl::StatusOr<Layout> tensor = Layout::Parse(tensor_layout);
  const absl::StatusOr<Layout> kernel = Layout::Parse(kernel_layout);
  if (!tensor.ok() || !kernel.ok() || weight == nullptr ||
      kernel->ndim() != weight->rank()) {
    return std::nullopt;
  }
  const std::optional<AxisSet> channels = FindAxes(*tensor, 'C');
  const std::optional<AxisSet> in = FindAxes(*kernel, 'I');
  const std::optional<AxisSet> out = FindAxes(*kernel, 'O');
  if (!channels || !in || !out || channels->size() != in->size() ||
      channels->size() != out->size()) {
    return std::nullopt;
  }
  ConvAxes result = {*channels, *in, *out};
  result.depthwise =
      Extent(*weight, *out) == groups && Extent(*weight, *in) == 1;
  result.grouped = groups != 1 && !result.depthwise;
  return result;
}

// For convolutions whose weight can take in a scale of the data. In a grouped
// convolution an input channel of the weight corresponds to one of each group.
template <typename T>
std::optional<ConvAxes> ForwardConvAxes(const CallNode& call) {
  const T* attrs = call.attrs_as<T>();
  if (attrs == nullptr) return std::nullopt;
  const std::optional<ConvAxes> axes = FindConvAxes(
      call, attrs->groups, attrs->data_layout, attrs->kernel_layout);
  return axes && !axes->grouped ? axes : std::nullopt;
}

// For convolutions whose weight can take in a scale of the result.
template <typename T>
std::optional<ConvAxes> BackwardConvAxes(const CallNode& call) {
  const T* attrs = call.attrs_as<T>();
  if (attrs == nullptr) return std::nullopt;
  const std::optional<ConvAxes> axes = FindConvAxes(
      call, attrs->groups,
      attrs->out_layout.empty() ? attrs->data_layout : attrs->out_layout,
      attrs->kernel_layout);
  if (!axes || !axes->grouped) return axes;
  const TensorTypeNode* result = call.tensor_type();
  const int64_t channels =
      result == nullptr ? -1 : Extent(*result, axes->channels);
  return channels >= 0 &&
                 channels == Extent(*call.arg(1)->tensor_type(), axes->out)
             ? axes
             : std::nullopt;
}

template <typename T>
void RequestByConv(const CallNode& call, const ScaleSink& /*out*/,
                   absl::Span<ScaleSink> args) {
  const std::optional<ConvAxes> axes = ForwardConvAxes<T>(call);
  if (!axes || !HasTypeOfWeight(call, call.arg(0).get())) return;
  const AxisSet weight_axes = axes->depthwise ? axes->out : axes->in;
  if (!CanCarryScale(call.arg(1).get(), weight_axes) ||
      !HaveSameExtents(call.arg(0).get(), axes->channels, call.arg(1).get(),
                       weight_axes)) {
    return;
  }
  args[0] = SinkOfWeight(call, axes->channels);
}

template <typename T>
ScaledExpr TakeForwardIntoConv(const CallNode& call,
                               absl::Span<const ScaledExpr> args,
                               const ScaleSink& /*out*/) {
  if (!args[0].scale.defined()) return {};
  const std::optional<ConvAxes> axes = ForwardConvAxes<T>(call);
  if (!axes) return {};
  // The input channels of a depthwise convolution are its output channels.
  return {WithArgs(
      call,
      {args[0].value, ScaleWeight(call, args[1].value, args[0].scale,
                                  axes->depthwise ? axes->out : axes->in)})};
}

template <typename T>
BackwardSink AcceptByConv(const CallNode& call,
                          absl::Span<const ScaleSink> /*args*/) {
  const std::optional<ConvAxes> axes = BackwardConvAxes<T>(call);
  if (!axes || !HasTypeOfWeight(call, &call) ||
      !CanCarryScale(call.arg(1).get(), axes->out) ||
      !HaveSameExtents(&call, axes->channels, call.arg(1).get(), axes->out)) {
    return {};
  }
  return {.sink = SinkOfWeight(call, axes->channels)};
}

template <typename T>
Expr TakeBackwardIntoConv(const CallNode& call, absl::Span<const Expr> args,
                          const BackwardSink& /*sink*/, const Expr& scale) {
  const std::optional<ConvAxes> axes = BackwardConvAxes<T>(call);
  return WithArgs(call,
                  {args[0], ScaleWeight(call, args[1], scale, axes->out)});
}

bool IsMatrix(const ExprNode* node) {
  const TensorTypeNode* type = node->tensor_type();
  return type != nullptr && type->rank() == 2;
}

void RequestByDense(const CallNode& call, const ScaleSink& /*out*/,
                    absl::Span<ScaleSink> args) {
  if (IsMatrix(call.arg(0).get()) && IsMatrix(call.arg(1).get()) &&
      HasTypeOfWeight(call, call.arg(0).get()) &&
      HaveSameExtents(call.arg(0).get(), {1}, call.arg(1).get(), {1})) {
    args[0] = SinkOfWeight(call, {1});
  }
}

ScaledExpr TakeForwardIntoDense(const CallNode& call,
                                absl::Span<const ScaledExpr> args,
                                const ScaleSink& /*out*/) {
  if (!args[0].scale.defined()) return {};
  return {WithArgs(call, {args[0].value, ScaleWeight(call, args[1].value,
                                                     args[0].scale, {1})})};
}

BackwardSink AcceptByDense(const CallNode& call,
                           absl::Span<const ScaleSink> /*args*/) {
  if (!IsMatrix(&call) || !IsMatrix(call.arg(1).get()) ||
      !HasTypeOfWeight(call, &call) ||
      !HaveSameExtents(&call, {1}, call.arg(1).get(), {0})) {
    return {};
  }
  return {.sink = SinkOfWeight(call, {1})};
}

Expr TakeBackwardIntoDense(const CallNode& call, absl::Span<const Expr> args,
                           const BackwardSink& /*sink*/, const Expr& scale) {
  return WithArgs(call, {args[0], ScaleWeight(call, args[1], scale, {0})});
}

constexpr ForwardScaleRule kForwardRelu = {RequestThroughRelu,
                                           MoveForwardThroughRelu};
constexpr BackwardScaleRule kBackwardRelu = {AcceptThroughRelu,
                                             MoveBackwardThroughRelu};
constexpr ForwardScaleRule kForwardAdd = {RequestThroughAdd,
                                          MoveForwardThroughAdd};
constexpr BackwardScaleRule kBackwardAdd = {AcceptThroughAdd,
                                            MoveBackwardThroughAdd};
template <typename T>
constexpr ForwardScaleRule kForwardConv = {RequestByConv<T>,
                                           TakeForwardIntoConv<T>};
template <typename T>
constexpr BackwardScaleRule kBackwardConv = {AcceptByConv<T>,
                                             TakeBackwardIntoConv<T>};

BATON_EXTEND_OP("nn.relu")
    .Set(ForwardScaleRules(), kForwardRelu)
    .Set(BackwardScaleRules(), kBackwardRelu);
BATON_EXTEND_OP("nn.leaky_relu")
    .Set(ForwardScaleRules(), kForwardRelu)
    .Set(BackwardScaleRules(), kBackwardRelu);
BATON_EXTEND_OP("add")
    .Set(ForwardScaleRules(), kForwardAdd)
    .Set(BackwardScaleRules(), kBackwardAdd);
BATON_EXTEND_OP("subtract")
    .Set(ForwardScaleRules(), kForwardAdd)
    .Set(BackwardScaleRules(), kBackwardAdd);
BATON_EXTEND_OP("nn.bias_add")
    .Set(BackwardScaleRules(),
         BackwardScaleRule{AcceptThroughBiasAdd, MoveBackwardThroughBiasAdd});
BATON_EXTEND_OP("multiply")
    .Set(ForwardScaleRules(),
         ForwardScaleRule{.rewrite = TakeForwardFromMultiply})
    .Set(BackwardScaleRules(),
         BackwardScaleRule{.extract = TakeBackwardFromMultiply});
BATON_EXTEND_OP("nn.conv2d")
    .Set(ForwardScaleRules(), kForwardConv<Conv2DAttrs>)
    .Set(BackwardScaleRules(), kBackwardConv<Conv2DAttrs>);
BATON_EXTEND_OP("nn.conv3d")
    .Set(ForwardScaleRules(), kForwardConv<Conv3DAttrs>)
    .Set(BackwardScaleRules(), kBackwardConv<Conv3DAttrs>);
BATON_EXTEND_OP("nn.dense")
    .Set(ForwardScaleRules(),
         ForwardScaleRule{RequestByDense, TakeForwardIntoDense})
    .Set(BackwardScaleRules(),
         BackwardScaleRule{AcceptByDense, TakeBackwardIntoDense});

// True if a call from which a scale can be extracted has an argument that can
// take it in: otherwise no scale moves up.
bool MayMoveBackward(const Expr& root) {
  return AnyInnerNode(root, [](const ExprNode* node) {
    if (node->kind() != ExprKind::kCall) return false;
    const auto* call = static_cast<const CallNode*>(node);
    const BackwardScaleRule* rule = BackwardScaleRules().Get(call->op());
    if (rule == nullptr || !rule->extract) return false;
    const auto takes_scale = [](const Expr& arg) {
      if (arg->kind() != ExprKind::kCall) return false;
      const BackwardScaleRule* rule = BackwardScaleRules().Get(
          static_cast<const CallNode*>(arg.get())->op());
      return rule != nullptr && rule->accept && rule->apply;
    };
    return absl::c_any_of(call->args(), takes_scale);
  });
}

// True if a call that takes scales in has an argument from which a scale can be
// extracted, or there is a projection of a tuple that is built in place:
// otherwise no scale moves down.
bool MayMoveForward(const Expr& root) {
  return AnyInnerNode(root, [](const ExprNode* node) {
    if (node->kind() == ExprKind::kTupleGetItem) {
      return static_cast<const TupleGetItemNode*>(node)->tuple()->kind() ==
             ExprKind::kTuple;
    }
    if (node->kind() != ExprKind::kCall) return false;
    const auto* call = static_cast<const CallNode*>(node);
    const ForwardScaleRule* rule = ForwardScaleRules().Get(call->op());
    if (rule == nullptr || !rule->request) return false;
    const auto gives_scale = [](const Expr& arg) {
      if (arg->kind() != ExprKind::kCall) return false;
      const ForwardScaleRule* rule = ForwardScaleRules().Get(
          static_cast<const CallNode*>(arg.get())->op());
      return rule != nullptr && !rule->request && rule->rewrite;
    };
    return absl::c_any_of(call->args(), gives_scale);
  });
}

// A function pass whose body is `fold`.
Pass CreateFoldPass(absl::StatusOr<Expr> (*fold)(const Expr& expr),
                    PassInfo info) {
  return CreateFunctionPass(
      [fold](const Function& function, const IRModule& /*module*/,
             const PassContext& /*context*/) -> absl::StatusOr<Function> {
        BATON_ASSIGN_OR_RETURN(const Expr result, fold(function));
        return Function(result.As<FunctionNode>());
      },
      std::move(info));
}

absl::StatusOr<Expr> FoldBackward(const Expr& expr) {
  // With remarks, every scale that does not move is looked at, for the reason.
  if (!WantsRemarks(RemarkKind::kMissed) && !MayMoveBackward(expr)) return expr;
  return BackwardFolder(IndexedGraph(expr)).Run();
}
absl::StatusOr<Expr> FoldForward(const Expr& expr) {
  if (!MayMoveForward(expr)) return expr;
  return ForwardFolder(IndexedGraph(expr)).Run();
}

}  // namespace

Pass BackwardFoldScaleAxis() {
  return CreateFoldPass(
      FoldBackward,
      {.name = "BackwardFoldScaleAxis",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Folds a scale of the result of a convolution or dense layer "
              "into its weight.",
       .invalidates = {"a_normal_form"},
       .exact = false});
}
BATON_REGISTER_PASS(BackwardFoldScaleAxis);
BATON_REGISTER_REMARKS("BackwardFoldScaleAxis",
                       {.passed = "a scale moved up into a weight",
                        .missed = "why a multiplication was not moved up"});

Pass ForwardFoldScaleAxis() {
  return CreateFoldPass(
      FoldForward,
      {.name = "ForwardFoldScaleAxis",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Folds a scale of the data of a convolution or dense layer into "
              "its weight.",
       .invalidates = {"a_normal_form"},
       .exact = false});
}
BATON_REGISTER_PASS(ForwardFoldScaleAxis);
BATON_REGISTER_REMARKS("ForwardFoldScaleAxis",
                       {.passed = "a scale moved down into weights",
                        .missed = "why a multiplication was not moved down"});

Pass FoldScaleAxis() {
  return CreateSequentialPass(
      {BackwardFoldScaleAxis(), ForwardFoldScaleAxis(), FoldConstant()},
      {.name = "FoldScaleAxis",
       .doc = "Folds scales into the weights of convolutions and dense layers.",
       .invalidates = {"a_normal_form"},
       .exact = false});
}
BATON_REGISTER_PASS(FoldScaleAxis);

}  // namespace baton::relay
