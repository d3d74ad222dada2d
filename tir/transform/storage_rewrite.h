// StorageRewrite: lets buffers whose lives do not overlap share memory.
//
//   a = T.allocate([8])              a = T.allocate([8])
//   ... reads and writes a           ... reads and writes a
//   b = T.allocate([8])              ... reads and writes a
//   ... reads and writes b

#ifndef BATON_TIR_TRANSFORM_STORAGE_REWRITE_H_
#define BATON_TIR_TRANSFORM_STORAGE_REWRITE_H_

#include "baton/transform/pass.h"

namespace baton::tir {

// Plans the memory of flat allocations and moves each to the begin of the
// function, or of the thread or parallel loop that it belongs to. Memory is
// shared by allocations of one scope whose sizes differ by at most a factor of
// 16, in registers and small arrays never. A buffer takes the memory of the one
// that it is computed from, element by element, in the statement where the
// latter dies. Afterwards allocations have vectors as elements if all accesses
// do (PointerValueTypeRewrite). Vectorized loops must be lowered before.
Pass StorageRewrite();

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_STORAGE_REWRITE_H_
