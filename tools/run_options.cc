#include "baton/tools/run_options.h"

#include <algorithm>

#include "absl/status/statusor.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"

namespace baton {
namespace {

constexpr int kDefaultOptLevel = 2;

}  // namespace

int OptLevel(const RunOptions& run) {
  if (run.opt_level >= 0) return run.opt_level;
  const absl::StatusOr<Pass> pipeline = ParsePipeline(run.passes);
  return std::max(kDefaultOptLevel, pipeline.ok() ? OptLevelOf(*pipeline) : 0);
}

void SetOptLevel(int level, const Pass& pipeline, RunOptions& run) {
  const bool is_default =
      level == kDefaultOptLevel && OptLevelOf(pipeline) == 0;
  run.opt_level = is_default ? -1 : level;
}

}  // namespace baton
