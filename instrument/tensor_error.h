// By how much the elements of one tensor differ from those of another.

#ifndef BATON_INSTRUMENT_TENSOR_ERROR_H_
#define BATON_INSTRUMENT_TENSOR_ERROR_H_

#include <cstdint>
#include <string>

#include "baton/base/tensor.h"

namespace baton {

// The largest errors over all elements that are finite in both tensors, and
// how many are not. NaN agrees with NaN, an infinity with itself.
struct TensorError {
  double absolute = 0;
  // `absolute` over the largest finite magnitude of the expected elements;
  // infinite if all of these are zero and `absolute` is not.
  double of_largest = 0;
  double relative = 0;  // of elements that are expected not to be zero
  double ulp = 0;       // see base/ulp.h; 0 if the dtypes differ
  int64_t nans_made = 0;
  int64_t nans_lost = 0;
  int64_t infinities_made = 0;  // or of the other sign
  int64_t infinities_lost = 0;

  // Whether an element is NaN or infinite in one tensor only.
  bool IsSpecial() const {
    return nans_made + nans_lost + infinities_made + infinities_lost > 0;
  }
  // The larger of each error; the counts add up.
  void Add(const TensorError& other);
};

// The tensors have one shape, and one dtype or two of floats.
TensorError ErrorOf(const Tensor& expected, const Tensor& actual);

// `relative 0.5, 4.2e+06 ULP; NaN: 2 made, 1 lost; infinite: 1 made`.
std::string ToString(const TensorError& error);

}  // namespace baton

#endif  // BATON_INSTRUMENT_TENSOR_ERROR_H_
