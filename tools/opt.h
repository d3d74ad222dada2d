// The library behind `baton-opt`: takes modules, runs a pipeline, reports.

#ifndef BATON_TOOLS_OPT_H_
#define BATON_TOOLS_OPT_H_

#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/tools/run_options.h"

namespace baton {

struct OptOptions {
  // Where the module comes from: a file, `-` for standard input, or a built-in
  // workload such as `resnet{num_layers=18}`. One of the two must be given.
  std::string input;
  std::string workload;
  // Binds the workload's weights to the parameters of `main`.
  bool bind_params = false;
  // Whether lines `// -----` separate modules in the input. Each goes through
  // the pipeline by itself; such lines separate the results, too.
  bool split_input_file = false;

  RunOptions run;
  // The fields of `run` that were asked for. If the input is a reproducer, it
  // decides about all others.
  std::vector<std::string> given;

  // Where the module goes; empty or `-` for standard output.
  std::string output;
  std::string emit = "text";  // text, text-no-meta, binary, none

  std::string timing = "none";  // none, text, json
  // Whether to report calls per operator and how each pass changed them.
  bool op_diff = false;
  // A file for both as JSON, a line for each module:
  //   {"version":1,"passes":[...],"op_diff":[{"pass":...,"depth":...,
  //   "changes":{"add":-1}}]}
  // with passes as --timing=json has them.
  std::string report;
  // Regular expressions; see instrument/print_ir.h.
  std::string print_before;
  std::string print_after;
  std::string print_changed = "none";  // none, full, diff
  // A folder for the module after each pass; see instrument/dump.h. If there
  // are several modules, each has a folder in it: 1, 2, ...
  std::string dump_dir;
  // Where a reproducer goes if the passes fail: see tools/reproducer.h. Of
  // several modules it is about the first that failed. It is a binary file if
  // its name ends in `.baton`.
  std::string reproducer;
  // Whether to say on `reports`, a terminal, what is under way. What is printed
  // after each pass serves instead, if there is anything.
  bool progress = false;
};

struct OptStreams {
  std::istream& in;
  std::ostream& out;      // modules
  std::ostream& reports;  // all else
};

// Writes the resulting modules to `out` or to the output file, and reports to
// `reports`, among them what is wrong with the input. On an error nothing is
// written to either of the first two: a file appears whole or not at all.
absl::Status Opt(const OptOptions& options, const OptStreams& streams);

// What is linked into this binary, a line each.
void ListPasses(std::ostream& out);
void ListOps(std::ostream& out);  // says which operators have no kernel
void ListWorkloads(std::ostream& out);

}  // namespace baton

#endif  // BATON_TOOLS_OPT_H_
