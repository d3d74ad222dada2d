// Checks the flags of baton-opt against each other.

#ifndef BATON_TOOLS_OPT_FLAGS_H_
#define BATON_TOOLS_OPT_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "baton/tools/opt.h"
#include "baton/tools/prepared_run.h"

namespace baton {

// An error if a flag needs another one that is not given, or excludes one that
// is given.
absl::Status CheckFlagsTogether(const OptOptions& options);

// As CheckFlagsTogether, for flags that a reproducer may set.
absl::Status CheckRunFlags(const OptOptions& options,
                           const PreparedRun& prepared);

// An error if two outputs are one file, if an output other than the result is
// the input, or if an output is another file that is read.
absl::Status CheckFiles(const OptOptions& options);

// As above, for files that are known after the input has been read: its
// external data, and what a reproducer names. The external data of a result may
// take the place of its input's if the result takes the place of the input.
absl::Status CheckFurtherFiles(const OptOptions& options, const OptJob& job);

// As above, for the files that code generators made, `artifacts`, whose names
// are known after the passes have run.
absl::Status CheckArtifactFiles(const OptOptions& options, const OptJob& job,
                                absl::Span<const std::string> artifacts);

}  // namespace baton

#endif  // BATON_TOOLS_OPT_FLAGS_H_
