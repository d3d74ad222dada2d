// Computes sums of products over axes, given in Einstein notation.

#ifndef BATON_RUNTIME_KERNELS_EINSUM_H_
#define BATON_RUNTIME_KERNELS_EINSUM_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"

namespace baton::kernels {

// `equation` is as in NumPy: `ij,jk->ik`, `...ij,...jk`, `ii->i`. Letters name
// axes. An ellipsis matches leading axes, which broadcast, as do extents of 1.
// Without an arrow the result has the letters that occur once, in alphabetical
// order. The other operands are converted to the dtype of the first one, which
// is the dtype of the result.
absl::StatusOr<Tensor> Einsum(absl::Span<const Tensor> operands,
                              absl::string_view equation);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_EINSUM_H_
