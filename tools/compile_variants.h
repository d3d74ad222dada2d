// Reads the model of a library, once for each choice of its dimensions.

#ifndef BATON_TOOLS_COMPILE_VARIANTS_H_
#define BATON_TOOLS_COMPILE_VARIANTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/ir/module.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/input.h"

namespace baton {

// A module for each choice of dimensions.
struct Variant {
  std::vector<int64_t> dims;  // of the bounds that leave a choice
  IRModule module;            // as it was read
};
// The variants of a model.
struct Variants {
  std::vector<DimBound> bounds;   // those that leave a choice
  std::vector<Variant> variants;  // the last bound varies fastest
  // The paths of further files that they were read from, such as external data.
  std::vector<std::string> further_files;
};

// `x:[1,3],y:[4]`: the shapes of the inputs of `module`.
std::string ShapesOfInputs(const IRModule& module);

// Reads the model of `options`, typed, for each choice that `--dims` leaves.
// `given`: the tensors of `--inputs`, or null. Errors name flags: the model has
// no function @main, inputs or results that cannot be members, dimensions
// without a size, or more than 64 choices.
absl::StatusOr<Variants> MakeVariants(const LibraryOptions& options,
                                      TensorsAtHand* given);

}  // namespace baton

#endif  // BATON_TOOLS_COMPILE_VARIANTS_H_
