// Passes made of passes.

#ifndef BATON_TRANSFORM_SEQUENTIAL_H_
#define BATON_TRANSFORM_SEQUENTIAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"

namespace baton {

struct SequentialOptions {
  std::string name = "sequential";
  int opt_level = 0;
  std::vector<std::string> required = {};

  template <typename V>
  static void VisitFields(V& v) {
    v("name", &SequentialOptions::name, "Name of the pass.");
    v("opt_level", &SequentialOptions::opt_level, "Level of the pass.");
    v("required", &SequentialOptions::required,
      "Passes that an enclosing sequence runs before this one.");
  }
};

// Runs passes one after the other. A pass that the context does not enable is
// left out. Before a pass, each pass that it requires runs, whatever its level
// and even if it is disabled, every time; not those that these require.
Pass Sequential(std::vector<Pass> passes, SequentialOptions options = {});

// A Sequential that is a pass in its own right: in a pipeline's text it is
// written by its name and options, not as the list of its passes.
Pass CreateSequentialPass(std::vector<Pass> passes, PassInfo info,
                          PassOptions options = {});

struct FixedPointOptions {
  int64_t limit = 10;

  template <typename V>
  static void VisitFields(V& v) {
    v("limit", &FixedPointOptions::limit,
      "Rounds after which the passes must have stopped changing the module.");
  }
};

// Runs a sequence of passes, as Sequential does, until a round of it leaves
// the module as it is. An error if the limit is reached first, or if a module
// comes back that an earlier round had already produced; both name the passes
// that keep changing it. Its name is FixedPoint, its level 0.
Pass FixedPoint(std::vector<Pass> passes, FixedPointOptions options = {});

}  // namespace baton

#endif  // BATON_TRANSFORM_SEQUENTIAL_H_
