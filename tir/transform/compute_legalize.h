// BF16ComputeLegalize, FP8ComputeLegalize: compute in a floating-point type
// that the processor has.
//
//   C[i] = A[i] + B[i]      C[i] = ConvertFloat(A[i]) + ConvertFloat(B[i])

#ifndef BATON_TIR_TRANSFORM_COMPUTE_LEGALIZE_H_
#define BATON_TIR_TRANSFORM_COMPUTE_LEGALIZE_H_

#include "baton/base/dtype.h"
#include "baton/transform/pass.h"

namespace baton::tir {

// Computes in float32 what is computed in bfloat16. Values that are loaded are
// converted, and so are those that are stored (float_bits.h). Memory of
// constant size that only loads and stores access has the type float32.
Pass BF16ComputeLegalize();

struct FP8ComputeLegalizeOptions {
  DType promote_dtype_str = DType::Float(32);

  template <typename V>
  static void VisitFields(V& v) {
    v("promote_dtype_str", &FP8ComputeLegalizeOptions::promote_dtype_str,
      "The floating-point type to compute in.");
  }
};

// As BF16ComputeLegalize(), for the floating-point types of eight bits.
Pass FP8ComputeLegalize(FP8ComputeLegalizeOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_COMPUTE_LEGALIZE_H_
