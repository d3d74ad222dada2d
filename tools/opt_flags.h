// Checks the flags of baton-opt against each other.

#ifndef BATON_TOOLS_OPT_FLAGS_H_
#define BATON_TOOLS_OPT_FLAGS_H_

#include "absl/status/status.h"
#include "baton/tools/opt.h"
#include "baton/tools/prepared_run.h"

namespace baton {

// An error if a flag needs another one that is not given, or excludes one that
// is given.
absl::Status CheckFlagsTogether(const OptOptions& options);

// As CheckFlagsTogether, for flags that a reproducer may set.
absl::Status CheckRunFlags(const OptOptions& options,
                           const PreparedRun& prepared);

// An error if two outputs are one file, or if an output other than the result
// is the input.
absl::Status CheckFiles(const OptOptions& options);

}  // namespace baton

#endif  // BATON_TOOLS_OPT_FLAGS_H_
