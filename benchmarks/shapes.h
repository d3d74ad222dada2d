// Modules to measure on, by name and size.
//
//   BATON_ASSIGN_OR_RETURN(IRModule module, BuildShape("chain_calls/1000"));
//
// Each family grows in one way, so that what grows faster than the program
// shows by comparing sizes.

#ifndef BATON_BENCHMARKS_SHAPES_H_
#define BATON_BENCHMARKS_SHAPES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"

namespace baton::benchmarks {

struct ShapeFamily {
  std::string name;
  std::string doc;  // one line; `n` is the size
};

const std::vector<ShapeFamily>& ShapeFamilies();

// The module, untyped. `spec` is `NAME/SIZE`; errors name the families. Sizes
// are positive; those of `resnet` are its numbers of layers.
absl::StatusOr<IRModule> BuildShape(absl::string_view spec);

// IR nodes of all functions, each once for each function that uses it, without
// operators.
int64_t CountNodes(const IRModule& module);

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_SHAPES_H_
