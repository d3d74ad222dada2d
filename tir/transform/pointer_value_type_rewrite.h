// PointerValueTypeRewrite: gives memory that is accessed by vectors only a
// vector type as its element type.
//
//   A: T.Buffer((16,), "float32")        A: T.Buffer((4,), "float32x4")
//   A[i * 4:i * 4 + 4]                   A[i * 4 // 4]

#ifndef BATON_TIR_TRANSFORM_POINTER_VALUE_TYPE_REWRITE_H_
#define BATON_TIR_TRANSFORM_POINTER_VALUE_TYPE_REWRITE_H_

#include "baton/tir/ir/function.h"
#include "baton/transform/pass.h"

namespace baton::tir {

// Changes memory whose accesses are all aligned vectors of one length that
// divides the last extent. Loads of a scalar from a known lane load the vector
// and extract the lane.
Pass PointerValueTypeRewrite();

struct VectorizePointersOptions {
  // The kinds of memory that change.
  bool params = true;         // pointers among the parameters
  bool param_buffers = true;  // buffers of parameters
  bool constants = true;      // AllocateConst
  // Loads of scalars from known lanes do not prevent a change.
  bool scalar_loads = true;
  // A let of a pointer without an element type may be accessed.
  bool allow_untyped = false;
};
PrimFunc VectorizePointers(const PrimFunc& function,
                           const VectorizePointersOptions& options);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_POINTER_VALUE_TYPE_REWRITE_H_
