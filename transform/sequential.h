// Sequential, FixedPoint: passes that run other passes.

#ifndef BATON_TRANSFORM_SEQUENTIAL_H_
#define BATON_TRANSFORM_SEQUENTIAL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
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

// Runs passes one after the other, skipping those that the context does not
// enable. Before each pass it runs the passes in its PassInfo::required: every
// time, even those above the context's level or disabled, but not the passes
// that they require in turn.
Pass Sequential(std::vector<Pass> passes, SequentialOptions options = {});

// A Sequential with its own PassInfo: its text in a pipeline is its name and
// options, not the list of its passes.
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

// Runs a sequence of passes, as Sequential does, until a round leaves the
// module unchanged. An error if the limit is reached first, or if a round
// returns the module of an earlier round (a cycle); both errors name the passes
// that keep changing the module. Its name is FixedPoint, its level 0.
Pass FixedPoint(std::vector<Pass> passes, FixedPointOptions options = {});

namespace internal {

// Runs `passes` as Sequential does, for another pass that contains them, in
// `context`, which must be the current one.
absl::StatusOr<IRModule> RunInSequence(absl::Span<const Pass> passes,
                                       IRModule module,
                                       const PassContext& context);

// Sets the promises about values in the `info` of a pass that runs `passes` in
// sequence.
void PromiseLike(absl::Span<const Pass> passes, PassInfo& info);

// The passes that a Sequential, a FixedPoint or another composite pass runs;
// empty for other passes.
absl::Span<const Pass> PartsOf(const Pass& pass);

}  // namespace internal

}  // namespace baton

#endif  // BATON_TRANSFORM_SEQUENTIAL_H_
