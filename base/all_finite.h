// AllFinite: true of tensors without infinities and NaNs.

#ifndef BATON_BASE_ALL_FINITE_H_
#define BATON_BASE_ALL_FINITE_H_

#include "baton/base/tensor.h"

namespace baton {

// True if no element is infinite or NaN; integers and bools are finite.
bool AllFinite(const Tensor& tensor);

}  // namespace baton

#endif  // BATON_BASE_ALL_FINITE_H_
