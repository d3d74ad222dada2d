// LazyGradientInit: makes tensors of zeros and ones only where they are needed.
//
// Gradients begin as zeros, and most of the additions and multiplications on
// them could be omitted. Each tensor of a function becomes a GradCell, which
// contains the tensor or a function that makes zeros or ones. @AddGradCell and
// @MultiplyGradCell distinguish the cases:
//
//   add(%x, zeros_like(%x))
//     -> @AddGradCell(fn (l, r) { add(l, r) }, %x, Zero(fn () { zeros ... }))
//
// Functions keep their types: arguments are wrapped in cells, and results are
// unwrapped.

#ifndef BATON_RELAY_TRANSFORM_LAZY_GRADIENT_INIT_H_
#define BATON_RELAY_TRANSFORM_LAZY_GRADIENT_INIT_H_

#include "baton/ir/op.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// The effect of an operator on cells.
enum class GradCellForm { kSum, kProduct, kOnes, kZeros };
OpProperty<GradCellForm>& GradCellForms();

// A module pass of level 2. Adds the type GradCell and its functions to a
// module that lacks them. Functions that refer to other functions of the
// module, or to data types, stay unchanged.
Pass LazyGradientInit();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_LAZY_GRADIENT_INIT_H_
