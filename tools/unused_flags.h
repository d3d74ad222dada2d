// Finds the flags that name passes which a run does not have.

#ifndef BATON_TOOLS_UNUSED_FLAGS_H_
#define BATON_TOOLS_UNUSED_FLAGS_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/tools/prepared_run.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Records the names of the passes that ran.
class ExecutedPasses final : public PassInstrument {
 public:
  ExecutedPasses() : PassInstrument("ExecutedPasses") {}

  const std::set<std::string>& names() const { return names_; }

  absl::Status RunBeforePass(const IRModule& /*module*/,
                             const PassExecution& pass) override {
    names_.insert(pass.name());
    return absl::OkStatus();
  }

 private:
  std::set<std::string> names_;
};

// True if UnusedFlags() may have a line.
bool MayHaveUnusedFlags(const PreparedRun& prepared);

// A line for each name that no pass of the run has: the passes of `pipeline`,
// and the `executed` ones:
//   --disabled_pass=FuseOps: this run has no such pass
std::vector<std::string> UnusedFlags(const PreparedRun& prepared,
                                     const Pass& pipeline,
                                     const std::set<std::string>& executed);

// A line for each setting of `config`, the text of --config, that no pass has
// read in `context`:
//   --config=relay.FuseOps.max_depth: no pass of this run reads it
// Settings of the run itself (limits.*, threads) have none.
std::vector<std::string> UnreadSettings(const std::string& config,
                                        const PassContext& context);

// A line if `pipeline` has LowerToTir and `result` no function of loops: it
// lowers primitive functions only.
std::vector<std::string> NothingLowered(const Pass& pipeline,
                                        const IRModule& result);

}  // namespace baton

#endif  // BATON_TOOLS_UNUSED_FLAGS_H_
