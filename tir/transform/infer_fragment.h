// InferFragment: writes the shapes and layouts of fragments of matrix
// instructions beside their allocations.
//
//   frag = T.allocate(...)     T.attr(frag, "fragment_layout", "row_major")
//                              T.attr(frag, "fragment_shape", "16, 16, 16")
//                              frag = T.allocate(...)

#ifndef BATON_TIR_TRANSFORM_INFER_FRAGMENT_H_
#define BATON_TIR_TRANSFORM_INFER_FRAGMENT_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// The operands of a matrix product must have been loaded or filled, with one
// shape.
Pass InferFragment();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_INFER_FRAGMENT_H_
