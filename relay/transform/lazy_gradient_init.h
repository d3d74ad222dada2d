// LazyGradientInit: tensors of zeros and ones are made only where they are
// needed.
//
// Gradients begin as zeros, and most of the additions and multiplications that
// they go through could be left out. Each tensor of a function becomes a
// GradCell, which holds the tensor or says how to make zeros or ones;
// @AddGradCell and @MultiplyGradCell look which:
//
//   add(%x, zeros_like(%x))
//     -> @AddGradCell(fn (l, r) { add(l, r) }, %x, Zero(fn () { zeros ... }))
//
// Functions keep their types: arguments are put into cells, and results taken
// out of them.

#ifndef BATON_RELAY_TRANSFORM_LAZY_GRADIENT_INIT_H_
#define BATON_RELAY_TRANSFORM_LAZY_GRADIENT_INIT_H_

#include "baton/ir/op.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// What cells know of an operator.
enum class GradCellForm { kSum, kProduct, kOnes, kZeros };
OpAttrMap<GradCellForm>& GradCellForms();

// A module pass of level 2. It adds the type GradCell and its functions to a
// module that has none. Functions stay as they are if they refer to other
// functions of the module, or to data types.
Pass LazyGradientInit();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_LAZY_GRADIENT_INIT_H_
