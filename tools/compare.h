// Compares tensors within a tolerance.

#ifndef BATON_TOOLS_COMPARE_H_
#define BATON_TOOLS_COMPARE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"
#include "baton/instrument/tensor_error.h"

namespace baton {

// The allowed error of an element.
struct Tolerance {
  // Floats: |got - want| <= atol + rtol * |want|. Integers and bools:
  // |got - want| <= atol, so they are compared exactly unless `atol` is 1 or
  // more: a relative error has no meaning for indices and labels.
  double rtol = 1e-3;
  double atol = 1e-7;
};

// The difference of two tensors.
struct Difference {
  // True if dtype and shape are equal, and every element is within the
  // tolerance; a NaN agrees with a NaN.
  bool is_within = true;
  bool has_other_type = false;
  int64_t num_outside = 0;  // elements outside of the tolerance
  // The row-major index of the element with the largest excess over its
  // tolerance, which may be negative. -1 if there are no elements.
  int64_t worst = -1;
  TensorError error;  // the largest errors over all elements
};

Difference Compare(const Tensor& got, const Tensor& want,
                   const Tolerance& tolerance);

// A line: `y: within tolerance; largest errors: absolute ..., relative ..., ...
// ULP`, or the kind and place of the difference.
std::string Describe(absl::string_view name, const Difference& difference,
                     const Tensor& got, const Tensor& want);

}  // namespace baton

#endif  // BATON_TOOLS_COMPARE_H_
