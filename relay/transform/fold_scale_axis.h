// Folding of scales into weights.
//
// Where a tensor is multiplied by a scale that varies along its channels (what
// is left of a batch normalization after SimplifyInference), and a convolution
// or dense layer beside it can take the scale into its weight, the
// multiplication disappears:
//
//   BackwardFoldScaleAxis   conv2d(x, w) * s  becomes  conv2d(x, w * s)
//   ForwardFoldScaleAxis    conv2d(x * s, w)  becomes  conv2d(x, w * s)
//   FoldScaleAxis           both, and then FoldConstant
//
// Between the two there may be operators that a scale can move past: nn.relu
// if the scale is not negative, an addition if its other operand is scaled
// too. Forward, that operand is divided by the scale: only a scale that is
// known to have no zero, and no element so small that the quotient overflows,
// moves past an addition. Of an operand that is not constant, nothing is known:
// it is taken for small enough if the scale is at least the reciprocal of the
// largest square root (2^-64 for float32). Which operators take a scale or let
// it pass is said by rules, one for an operator and direction; any library can
// add rules, to operators of its own where it registers them, or to others:
//
//   BATON_EXTEND_OP("my.conv")
//       .Set(BackwardScaleRules(), {.accept = ..., .apply = ...});

#ifndef BATON_RELAY_TRANSFORM_FOLD_SCALE_AXIS_H_
#define BATON_RELAY_TRANSFORM_FOLD_SCALE_AXIS_H_

#include <cstdint>
#include <limits>

#include "absl/types/span.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/broadcast_axes.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// A place where a scale can be folded in: a tensor that may be replaced by
// itself without a scale along exactly `axes`, because the scale is taken over
// elsewhere. No axes: no such place.
struct ScaleSink {
  AxisSet axes;
  bool positive_only = false;  // holds for scales that are not negative
  // Holds for scales without an element smaller than 2^min_scale_log2 in
  // magnitude: something is divided by the scale on the way to the sink.
  // -infinity: for scales with zeros as well.
  double min_scale_log2 = -std::numeric_limits<double>::infinity();

  bool empty() const { return axes.empty(); }
};

// The expression `value * scale`, where `scale` has just `axes` of `value`; or
// `value` alone if `scale` is null.
struct ScaledExpr {
  Expr value;
  Expr scale;
  AxisSet axes;
};

// How an operator lets scales of its arguments move on to its users. Types are
// those of `call`, the call before any change. A member may be null.
struct ForwardScaleRule {
  // Which scales of its arguments the call can take over, or pass on to its
  // users, which take `out`. `args` has an element for each argument, empty at
  // first. The users of an argument must all agree.
  void (*request)(const CallNode& call, const ScaleSink& out,
                  absl::Span<ScaleSink> args) = nullptr;
  // The call with its arguments as they are now: those that were requested
  // may have a scale. The result may have a scale along `out.axes` if `out` is
  // not empty. A null value refuses, as does any other scale: scales are then
  // multiplied in before the call.
  // A rule without `request` may make a scale out of an argument; one with it
  // passes on those of its arguments.
  ScaledExpr (*rewrite)(const CallNode& call, absl::Span<const ScaledExpr> args,
                        const ScaleSink& out) = nullptr;
};
OpAttrMap<ForwardScaleRule>& ForwardScaleRules();

// What a call does with a scale of its result.
struct BackwardSink {
  ScaleSink sink;
  // Bit k: argument k, which must have a sink, is scaled instead.
  uint32_t scaled_args = 0;
};

// A call that is argument `arg`, scaled by `scale`.
struct ExtractedScale {
  int arg = -1;  // -1: it is not
  Expr scale;
};

// How an operator lets a scale of its result move to its arguments.
struct BackwardScaleRule {
  // Which scale of its result the call can take over, given the sinks of its
  // arguments.
  BackwardSink (*accept)(const CallNode& call,
                         absl::Span<const ScaleSink> args) = nullptr;
  // The call with its result scaled, as promised by `accept`. `args` are the
  // arguments as they are now, those of `sink.scaled_args` scaled already.
  Expr (*apply)(const CallNode& call, absl::Span<const Expr> args,
                const BackwardSink& sink, const Expr& scale) = nullptr;
  // For operators that multiply: the scale to fold into the sink of an
  // argument, in place of the call.
  ExtractedScale (*extract)(const CallNode& call,
                            absl::Span<const ScaleSink> args) = nullptr;
};
OpAttrMap<BackwardScaleRule>& BackwardScaleRules();

// Function passes of level 3, which require InferType.
Pass BackwardFoldScaleAxis();
Pass ForwardFoldScaleAxis();

// A sequence of level 0.
Pass FoldScaleAxis();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FOLD_SCALE_AXIS_H_
