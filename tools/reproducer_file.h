// Writes the file of --reproducer: a small module and the options of a run that
// failed.

#ifndef BATON_TOOLS_REPRODUCER_FILE_H_
#define BATON_TOOLS_REPRODUCER_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/tools/prepared_run.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"

namespace baton {

// Writes a reproducer (reproducer.h) to `path`, and the tensors of --inputs and
// --expect beside it. `module` is the argument of the passes, `error` the
// message of the run. Drops weights and nodes that `failure` does not need, in
// runs within `limits`. Returns a line that names the file, or an error.
std::string WriteReproducer(const IRModule& module, const PreparedRun& prepared,
                            const absl::Status& error, const Failure& failure,
                            const std::string& path, const ChildLimits& limits);

}  // namespace baton

#endif  // BATON_TOOLS_REPRODUCER_FILE_H_
