// Checks tensors against declared types.

#ifndef BATON_RELAY_IR_TENSOR_FITS_H_
#define BATON_RELAY_IR_TENSOR_FITS_H_

#include "baton/base/tensor.h"
#include "baton/ir/type.h"

namespace baton::relay {

// True if `tensor` has the element type and the rank of `type`, and its extents
// where these are numbers.
inline bool TensorFits(const Tensor& tensor, const TensorTypeNode& type) {
  if (tensor.dtype() != type.dtype() || tensor.rank() != type.rank()) {
    return false;
  }
  for (int i = 0; i < type.rank(); ++i) {
    const Dim& dim = type.dim(i);
    if (dim.is_const() && dim.value() != tensor.shape()[i]) return false;
  }
  return true;
}

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_TENSOR_FITS_H_
