// Computes sums of products over axes, given in Einstein notation.

#ifndef BATON_RUNTIME_KERNELS_EINSUM_H_
#define BATON_RUNTIME_KERNELS_EINSUM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

// The steps in which Einsum contracts its operands, two by two. Axes are named
// by characters; those of an ellipsis by the numbers from 1 on, counted from
// its end.
struct EinsumPlan {
  // The sum of products of two operands over the axes that are not kept, in the
  // order of `summed`, the last varying fastest. An operand is one of Einsum,
  // or the result of a step, whose numbers follow.
  struct Step {
    int left = 0;
    int right = -1;  // none
    std::string kept;
    std::string summed;
  };
  // The extents of all axes.
  std::map<char, int64_t> extents;
  // The axes of each operand, and of each result of a step. An axis that an
  // operand of Einsum has twice is a diagonal; one of extent 1 is repeated.
  std::vector<std::string> axes;
  // The last one gives the result.
  std::vector<Step> steps;
};

// The plan for operands of these shapes. Errors: as those of Einsum.
absl::StatusOr<EinsumPlan> PlanEinsum(
    absl::Span<const std::vector<int64_t>> shapes, absl::string_view equation);

}  // namespace baton::kernels

#endif  // BATON_RUNTIME_KERNELS_EINSUM_H_
