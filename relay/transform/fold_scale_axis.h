// FoldScaleAxis: folds channel scales into weights.
//
// A tensor may be multiplied by a scale that varies along its channels;
// SimplifyInference leaves such scales of a batch normalization. If a
// convolution or dense layer beside it can take the scale into its weight, the
// multiplication disappears:
//
//   BackwardFoldScaleAxis   conv2d(x, w) * s  becomes  conv2d(x, w * s)
//   ForwardFoldScaleAxis    conv2d(x * s, w)  becomes  conv2d(x, w * s)
//   FoldScaleAxis           both, and then FoldConstant
//
// There may be operators in between past which a scale can move: nn.relu if the
// scale is not negative, an addition if its other operand is scaled too.
// Forward, the other operand is divided by the scale: only a scale without a
// zero, and without an element so small that the quotient overflows, moves past
// an addition. If the operand is not constant, its magnitude is unknown: it is
// assumed to be small enough if the scale is at least the reciprocal of the
// largest square root (2^-64 for float32). A weight that is constant takes no
// scale that is not: the gate of a recurrent unit stays with the data. Rules
// say which operators take a scale or let it pass, one rule for an operator and
// direction. Any library can add rules to its operators where it registers
// them, or to others:
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

// A place where a scale can be folded in: a tensor that may be replaced by the
// tensor without a scale along exactly `axes`, because the scale is taken over
// elsewhere. If `axes` is empty, there is no such place.
struct ScaleSink {
  AxisSet axes;
  bool non_negative_only = false;  // only for scales that are not negative
  // Only for scales whose elements have at least the magnitude
  // 2^min_scale_log2: a value is divided by the scale on the way to the sink.
  // -infinity allows scales with zeros.
  double min_scale_log2 = -std::numeric_limits<double>::infinity();
  // Only for scales that are made of constants: a constant weight times another
  // one would be computed anew in each run.
  bool constant_only = false;

  bool empty() const { return axes.empty(); }
};

// The expression `value * scale`, where `scale` has exactly the axes `axes` of
// `value`; `value` alone if `scale` is null.
struct ScaledExpr {
  Expr value;
  Expr scale;
  AxisSet axes;
};

// Rules of an operator for moving scales of its arguments on to its users.
// Types are those of `call`, the original call. A member may be null.
struct ForwardScaleRule {
  // Sets `args` to the scales of the arguments that the call can take over, or
  // pass on to its users, which take `out`. `args` has an element for each
  // argument, initially empty. The users of an argument must all agree.
  void (*request)(const CallNode& call, const ScaleSink& out,
                  absl::Span<ScaleSink> args) = nullptr;
  // Rewrites the call with its current arguments. Arguments that were requested
  // may have a scale. The result may have a scale along `out.axes` if `out` is
  // not empty. A null value refuses, as does any other scale: scales are then
  // multiplied in before the call. A rule without `request` may make a scale
  // out of an argument; a rule with it passes on the scales of its arguments.
  ScaledExpr (*rewrite)(const CallNode& call, absl::Span<const ScaledExpr> args,
                        const ScaleSink& out) = nullptr;
};
OpProperty<ForwardScaleRule>& ForwardScaleRules();

// The use of a scale of its result by a call.
struct BackwardSink {
  ScaleSink sink;
  // Bit k: argument k, which must have a sink, is scaled instead.
  uint32_t scaled_args = 0;
};

// The argument `arg`, scaled by `scale`, as the value of a call.
struct ExtractedScale {
  int arg = -1;  // -1 if the call has no such form
  Expr scale;
};

// Rules of an operator for moving a scale of its result to its arguments.
struct BackwardScaleRule {
  // The scales of its result that the call can take over, given the sinks of
  // its arguments.
  BackwardSink (*accept)(const CallNode& call,
                         absl::Span<const ScaleSink> args) = nullptr;
  // Rewrites the call with its result scaled, as promised by `accept`. `args`
  // are the current arguments; those of `sink.scaled_args` are already scaled.
  Expr (*apply)(const CallNode& call, absl::Span<const Expr> args,
                const BackwardSink& sink, const Expr& scale) = nullptr;
  // For operators that multiply: the scale to fold into the sink of an
  // argument, in place of the call.
  ExtractedScale (*extract)(const CallNode& call,
                            absl::Span<const ScaleSink> args) = nullptr;
};
OpProperty<BackwardScaleRule>& BackwardScaleRules();

// Function passes of level 3, which require InferType.
Pass BackwardFoldScaleAxis();
Pass ForwardFoldScaleAxis();

// A sequence of level 0.
Pass FoldScaleAxis();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FOLD_SCALE_AXIS_H_
