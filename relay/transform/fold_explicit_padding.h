// FoldExplicitPadding: moves the padding of nn.pad into the operator that uses
// the padded data.
//
//   nn.conv2d(nn.pad(x, 0, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), w)
//       =>  nn.conv2d(x, w, padding=[1, 1, 1, 1])
//
// Folds constant padding of spatial axes only, if its value is the one with
// which the operator pads: 0 for convolutions and average pools, the zero point
// for quantized convolutions, the lowest value of the element type for maximum
// pools. The padding of nn.pad counts as elements of an average pool, also if
// the pool does not count its own padding (count_include_pad=False). In that
// case it is folded only if the pool has no padding of its own and no
// ceil_mode; the pool then gets count_include_pad=True.

#ifndef BATON_RELAY_TRANSFORM_FOLD_EXPLICIT_PADDING_H_
#define BATON_RELAY_TRANSFORM_FOLD_EXPLICIT_PADDING_H_

#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// Rules of an operator for taking over the padding of its first argument.
struct ExplicitPaddingRule {
  // True if the operator pads with the scalar `value`.
  bool (*pads_with)(const CallNode& call, const Tensor& value) = nullptr;
  // Returns `attrs`, the attributes of a call, with the padding of `pad` added;
  // null if that is impossible.
  Attrs (*with_padding)(const Attrs& attrs, const PadAttrs& pad) = nullptr;
};
OpProperty<ExplicitPaddingRule>& ExplicitPaddingRules();

// A function pass of level 0, which requires InferType.
Pass FoldExplicitPadding();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FOLD_EXPLICIT_PADDING_H_
