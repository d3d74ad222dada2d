// Bounds of symbolic dimensions, as in `batch=1..64,length=128`.

#ifndef BATON_BACKEND_CPU_DIM_BOUNDS_H_
#define BATON_BACKEND_CPU_DIM_BOUNDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"

namespace baton {

// The sizes that a symbolic dimension may have, from `least` to `most`. A size
// may be 0.
struct DimBound {
  std::string name;
  int64_t least = 1;
  int64_t most = 1;
};

// An error if a bound has no sizes or a negative one, or a name has two bounds.
absl::Status CheckDimBounds(absl::Span<const DimBound> bounds);

// Parses `batch=1..64,length=128`. Errors also as CheckDimBounds.
absl::StatusOr<std::vector<DimBound>> ParseDimBounds(absl::string_view text);

// The name of a dimension; empty if it has none.
std::string DimName(const Dim& dim);

// Replaces the symbolic dimensions that are keys of `values` in all types and
// attributes of the module, and computes the dimensions that depend on them.
// The expressions that change have no types afterwards.
absl::StatusOr<IRModule> SubstituteDims(
    const IRModule& module, const FlatHashMap<const DimExprNode*, Dim>& values);

// Replaces the dimensions of the inputs of `function` that `bounds` names by
// `sizes`, in the order of `bounds`, and infers types again. Replaces them in
// the whole module, functions of loops included. `module` must have types.
absl::StatusOr<IRModule> BindDims(const IRModule& module,
                                  const std::string& function,
                                  const std::vector<DimBound>& bounds,
                                  const std::vector<int64_t>& sizes);

}  // namespace baton

#endif  // BATON_BACKEND_CPU_DIM_BOUNDS_H_
