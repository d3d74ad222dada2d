// The library behind `baton-opt`: takes a module, runs a pipeline, reports.

#ifndef BATON_TOOLS_OPT_H_
#define BATON_TOOLS_OPT_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace baton {

struct OptOptions {
  // A built-in workload: `resnet{num_layers=18}`.
  std::string workload;
  // Binds the workload's weights to the parameters of `main`.
  bool bind_params = false;
  // The pipeline; empty for none.
  std::string passes;
  int opt_level = 2;
  std::vector<std::string> disabled_pass;
  std::vector<std::string> required_pass;
  // `KEY=VALUE,...`; see transform/config.h.
  std::string config;
  // Where the module goes; empty for `out`.
  std::string output;
  std::string emit = "text";    // text, text-no-meta, none
  std::string timing = "none";  // none, text, json
  // Whether to report calls per operator and how each pass changed them.
  bool op_diff = false;
};

// Writes the resulting module to `out` or to the output file, and reports to
// `reports`. On an error nothing is written to either of the first two: a file
// appears whole or not at all.
absl::Status Opt(const OptOptions& options, std::ostream& out,
                 std::ostream& reports);

// What is linked into this binary, a line each.
void ListPasses(std::ostream& out);
void ListOps(std::ostream& out);  // says which operators have no kernel
void ListWorkloads(std::ostream& out);

}  // namespace baton

#endif  // BATON_TOOLS_OPT_H_
