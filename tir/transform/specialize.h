// Specialize: gives parameters of a function their values.
//
//   def f(a: T.handle, n: T.int32):            def f(A: T.Buffer((8, 4))):
//       m = T.int32()
//       A = T.match_buffer(a, (m, n))
//       for i, j in T.grid(m, n): ...              for i, j in T.grid(8, 4): ...
//
// where a is a buffer of the shape (8, 4).

#ifndef BATON_TIR_TRANSFORM_SPECIALIZE_H_
#define BATON_TIR_TRANSFORM_SPECIALIZE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/transform/pass.h"

namespace baton::tir {

// The value of a parameter: an expression, or, for a parameter that has a
// buffer, another buffer.
struct ParamValue {
  Var param;
  PrimExpr value;
};

// Replaces the parameters, and removes them. A parameter with a buffer stays:
// its buffer gets the extents, strides and the offset of the other one, which
// give variables of the function their values. Operations on a value that is
// replaced are folded.
//
// An error if a variable would have two values, if the two buffers differ in
// something that is no variable, or if an entry is of the wrong sort.
absl::StatusOr<PrimFunc> Specialized(const PrimFunc& function,
                                     absl::Span<const ParamValue> values);

struct SpecializeOptions {
  AttrMap params;
  std::string function = "main";

  template <typename V>
  static void VisitFields(V& v) {
    v("params", &SpecializeOptions::params,
      "Values by the names of parameters or of their buffers: a number, the "
      "extents of a buffer, or {shape:[...],strides:[...],elem_offset:...}.");
    v("function", &SpecializeOptions::function, "The name of the function.");
  }
};

// Specialized() for one function of a module. An error if another function
// calls it and it loses parameters.
Pass Specialize(SpecializeOptions options = {});

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_SPECIALIZE_H_
