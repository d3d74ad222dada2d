// FoldExplicitPadding: moves the padding of nn.pad into the operator that the
// padded data goes to.
//
//   nn.conv2d(nn.pad(x, 0, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]), w)
//       nn.conv2d(x, w, padding=[1, 1, 1, 1])
//
// That is done for constant padding of spatial axes alone, with what the
// operator itself pads with: convolutions and average pools with 0, quantized
// convolutions with their zero point, maximum pools with the lowest value of
// the element type. An average pool that does not count its own padding counts
// that of nn.pad: it is folded if the pool has none, and counts it then.

#ifndef BATON_RELAY_TRANSFORM_FOLD_EXPLICIT_PADDING_H_
#define BATON_RELAY_TRANSFORM_FOLD_EXPLICIT_PADDING_H_

#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// How an operator takes over what its first argument is padded with.
struct ExplicitPaddingRule {
  // Whether the scalar `value` is what the operator pads with.
  bool (*pads_with)(const CallNode& call, const Tensor& value) = nullptr;
  // The attributes of a call, those of `call` being `attrs`, that pads as `pad`
  // does in addition; null if there are none.
  Attrs (*with_padding)(const Attrs& attrs, const PadAttrs& pad) = nullptr;
};
OpAttrMap<ExplicitPaddingRule>& ExplicitPaddingRules();

// A function pass of level 0, which requires InferType.
Pass FoldExplicitPadding();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FOLD_EXPLICIT_PADDING_H_
