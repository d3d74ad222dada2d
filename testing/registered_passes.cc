#include "baton/testing/registered_passes.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/value_promise.h"

namespace baton::testing {

std::vector<std::string> RegisteredPasses(const PassRegistry& registry) {
  std::vector<std::string> result;
  for (const std::string& name : registry.Names()) {
    const absl::StatusOr<PassInfo> info = registry.Info(name);
    // The test of a pass that cannot be made at all says why.
    if (!info.ok() || registry.Get(name).ok() || info->examples.empty()) {
      result.push_back(name);
    }
    if (!info.ok()) continue;
    for (const std::string& options : info->examples) {
      result.push_back(absl::StrCat(name, "{", options, "}"));
    }
  }
  return result;
}

absl::StatusOr<Pass> GetRegisteredPass(absl::string_view text) {
  absl::StatusOr<Pass> pipeline = ParsePipeline(text);
  if (!pipeline.ok()) {
    return absl::Status(
        pipeline.status().code(),
        absl::StrCat(pipeline.status().message(),
                     "\nA pass with options that must be given needs "
                     "PassInfo::examples."));
  }
  const absl::Span<const Pass> passes = pipeline->impl().listed_passes();
  return passes.size() == 1 ? passes[0] : *pipeline;
}

bool MayRefuse(const Pass& pass) { return !Keeps(pass.info(), "runs"); }

absl::StatusOr<IRModule> RunRequiredPasses(const Pass& pass, IRModule module) {
  for (const std::string& name : pass.info().required) {
    BATON_ASSIGN_OR_RETURN(const Pass required,
                           PassRegistry::Global().Get(name));
    BATON_ASSIGN_OR_RETURN(module, RunRequiredPasses(required, module));
    BATON_ASSIGN_OR_RETURN(module, required(module));
  }
  return module;
}

}  // namespace baton::testing
