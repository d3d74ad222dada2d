// TextureFlatten: in TVM, lowers memory of the scope `global.texture` in
// schedules of tensor expressions to images. Not implemented here.

#ifndef BATON_TIR_TRANSFORM_TEXTURE_FLATTEN_H_
#define BATON_TIR_TRANSFORM_TEXTURE_FLATTEN_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Leaves functions unchanged. An error if a function that a schedule of tensor
// expressions made has memory of that scope.
Pass TextureFlatten();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_TEXTURE_FLATTEN_H_
