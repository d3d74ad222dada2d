// Modules for benchmarks, by name and size.
//
//   BATON_ASSIGN_OR_RETURN(IRModule module, BuildShape("chain_calls/1000"));
//
// Each family grows in one way: comparing the times of two sizes shows which
// costs grow faster than the program.

#ifndef BATON_BENCHMARKS_SHAPES_H_
#define BATON_BENCHMARKS_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"

namespace baton::benchmarks {

// A family of modules of one shape and any size.
struct ShapeFamily {
  std::string name;
  std::string doc;  // one line; `n` is the size
};

const std::vector<ShapeFamily>& ShapeFamilies();

// Builds a module, untyped. `spec` is `NAME/SIZE`; errors name the families.
// SIZE is positive; the SIZE of `resnet` is its number of layers.
absl::StatusOr<IRModule> BuildShape(absl::string_view spec);

// The number of IR nodes in all functions, without operators. A node counts
// once for each function that uses it.
int64_t CountNodes(const IRModule& module);

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_SHAPES_H_
