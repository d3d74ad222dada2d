// TextureFlatten: lowers memory of the scope `global.texture` that schedules of
// tensor expressions realize to images.

#ifndef BATON_TIR_TRANSFORM_TEXTURE_FLATTEN_H_
#define BATON_TIR_TRANSFORM_TEXTURE_FLATTEN_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Functions with blocks have none, and stay. Memory of that scope in functions
// of such schedules is an error.
Pass TextureFlatten();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_TEXTURE_FLATTEN_H_
