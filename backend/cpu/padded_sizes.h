// Gives constant sizes to tensors with data-dependent shapes: those whose
// extents depend on values, not only on shapes.
//
//   argwhere(x), of x with 6 elements:  Tensor[(?, 2)]  ->  Tensor[(6, 2)] and
//   the number of rows that are its own
//
// Each such tensor gets the largest extents that it may have. Its own elements
// are in front on each axis; the others are padding, on which no element of a
// result depends. So a plan, and a C++ library, can have non-maximum
// suppression, NonZero or Compress, and what follows them.

#ifndef BATON_BACKEND_CPU_PADDED_SIZES_H_
#define BATON_BACKEND_CPU_PADDED_SIZES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"

namespace baton::cpu {

struct PaddedModule {
  IRModule module;
  // The results of @main with data-dependent shapes, in order: numbers of
  // fields, or 0 if the result is a tensor. @main returns a tuple of all
  // results, then for each of these its extents, an int64 vector. The elements
  // of such a result are in row-major order at the beginning of its memory.
  std::vector<int> sized_by_values;
};

// `module` is typed. Returns `module` itself if no shape is data-dependent, or
// if inputs have dimensions without a size. Adds an error for each call whose
// result has no bounds, or which cannot compute with padded arguments; the
// result is not to be used then.
absl::StatusOr<PaddedModule> PadToBounds(const IRModule& module,
                                         Diagnostics& problems);

}  // namespace baton::cpu

#endif  // BATON_BACKEND_CPU_PADDED_SIZES_H_
