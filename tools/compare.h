// Comparison of tensors within a tolerance.

#ifndef BATON_TOOLS_COMPARE_H_
#define BATON_TOOLS_COMPARE_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "baton/base/tensor.h"

namespace baton {

struct Tolerance {
  // Of floats: |got - want| <= atol + rtol * |want|. Of integers and bools:
  // |got - want| <= atol, so that they are compared exactly unless `atol` is 1
  // or more: a relative error has no meaning for indices and labels.
  double rtol = 1e-3;
  double atol = 1e-7;
};

struct Difference {
  // Dtype and shape are the same, and every element is within the tolerance;
  // a NaN is where the other has one.
  bool is_within = true;
  bool has_other_type = false;
  int64_t num_outside = 0;  // elements outside of the tolerance
  // The element that is furthest outside, or nearest to it; row-major. -1 if
  // there are no elements.
  int64_t worst = -1;
  double max_absolute = 0;
  double max_relative = 0;  // of elements that are expected not to be zero
  // Floats of the type between the two; of integers, the difference.
  double max_ulp = 0;
};

Difference Compare(const Tensor& got, const Tensor& want,
                   const Tolerance& tolerance);

// A line: `y: within tolerance; largest errors: absolute ..., relative ..., ...
// ULP`, or what is wrong and where.
std::string Describe(absl::string_view name, const Difference& difference,
                     const Tensor& got, const Tensor& want);

}  // namespace baton

#endif  // BATON_TOOLS_COMPARE_H_
