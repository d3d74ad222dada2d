// The errors of the elements of one tensor against those of another.

#ifndef BATON_INSTRUMENT_TENSOR_ERROR_H_
#define BATON_INSTRUMENT_TENSOR_ERROR_H_

#include <cstdint>
#include <string>

#include "baton/base/tensor.h"

namespace baton {

// The largest errors over all elements that are finite in both tensors, and
// counts of elements that are not. NaN agrees with NaN, and an infinity with
// itself.
struct TensorError {
  double absolute = 0;
  // `absolute` over the largest finite magnitude of the expected elements;
  // infinite if all of these are zero and `absolute` is not.
  double of_largest = 0;
  double relative = 0;  // over the nonzero expected elements
  double ulp = 0;       // see base/ulp.h; 0 if the dtypes differ
  int64_t nans_made = 0;
  int64_t nans_lost = 0;
  int64_t infinities_made = 0;  // including infinities of the other sign
  int64_t infinities_lost = 0;

  // True if an element is NaN or infinite in only one tensor.
  bool IsSpecial() const {
    return nans_made + nans_lost + infinities_made + infinities_lost > 0;
  }
  // Takes the maximum of each error and adds the counts.
  void Add(const TensorError& other);
};

// The tensors must have equal shapes, and equal dtypes or two floating-point
// dtypes.
TensorError ErrorOf(const Tensor& expected, const Tensor& actual);

// `relative 0.5, 4.2e+06 ULP; NaN: 2 made, 1 lost; infinite: 1 made`.
std::string ToString(const TensorError& error);

}  // namespace baton

#endif  // BATON_INSTRUMENT_TENSOR_ERROR_H_
