// Library of `baton-run`: runs a model.

#ifndef BATON_TOOLS_RUN_MODEL_H_
#define BATON_TOOLS_RUN_MODEL_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "baton/tools/run_model_options.h"

namespace baton {

// Returns true if all comparisons succeed. Prints comparisons and measurements
// to `out`; prints the results if neither is requested. Errors are those of
// files, of the model and of its evaluation.
absl::StatusOr<bool> RunModel(const RunModelOptions& options,
                              std::ostream& out);

}  // namespace baton

#endif  // BATON_TOOLS_RUN_MODEL_H_
