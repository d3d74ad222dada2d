// Library of `baton-opt`: reads modules, runs a pipeline, reports.

#ifndef BATON_TOOLS_OPT_H_
#define BATON_TOOLS_OPT_H_

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/tools/input.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"

namespace baton {

// Each field in VisitFields is a flag of the same name; so are the fields of
// `run`.
struct OptOptions {
  // The source of the module: a file, `-` for standard input, or a built-in
  // workload such as `resnet{num_layers=18}`. Exactly one of the two must be
  // set.
  std::string input;
  std::string workload;
  // Binds the workload's weights to the parameters of `main`.
  bool bind_params = false;
  // In place of `input`: a history (--record) whose run is resumed after an
  // execution. `run.passes`, if not empty, takes the place of the rest of the
  // recorded pipeline.
  std::string resume;
  int64_t start_after = -1;  // see ResumeRun() in resume.h
  // Shapes of the inputs of the module: `x:[1,3,224,224]`.
  std::string input_shapes;
  // Inputs of an ONNX file that become constants: `rate:16000,sizes:[2,3]`.
  std::string input_values;
  // If true, lines `// -----` separate modules in the input. Each module goes
  // through the pipeline separately; such lines also separate the results.
  bool split_input_file = false;

  // If true, the errors of each module must match the comments in it
  // (tools/expected_diagnostics.h), and there is no other output.
  bool verify_diagnostics = false;

  RunOptions run;
  // The fields of `run` that were set by flags. If the input is a reproducer,
  // it determines all others.
  std::vector<std::string> given;

  // The output file; empty or `-` for standard output.
  std::string output;
  // If `given` does not contain `emit`: ONNX if the name of the output ends in
  // `.onnx`, binary if it ends in `.baton`, an executable if it ends in `.exe`,
  // LLVM's text if it ends in `.ll`.
  std::string emit = "text";
  // For ONNX: the version of its operators.
  int onnx_opset = 17;
  // If true, large tensors are written to a file `OUTPUT.data`.
  bool onnx_external_data = false;
  // For LLVM's text: see ModuleWriter::Options.
  std::string llvm_target = "llvm";
  bool line_table = false;
  // For executables: see ModuleWriter::Options.
  std::string kernel_costs;
  // A folder for the artifacts of code generators
  // (relay/runtime/code_generator.h). If there are several modules, each has a
  // folder in it: 1, 2, ...
  std::string artifacts;

  // A file for the times and what instruments add (InstrumentRun::in_json) as
  // JSON, a line for each module:
  //   {"version":1,"passes":[...],"op_diff":[{"pass":...,"number":...,
  //   "depth":...,"changes":{"add":-1}}]}
  // with passes as in --timing=json. With `timing=trace` the file is the trace,
  // which ui.perfetto.dev opens.
  std::string report;
  // The given flags of instruments that only report, by name: see IsReport().
  AttrMap report_flags = {};
  // If true, checks the result of the passes before it is written.
  bool verify_result = true;
  // The file for a reproducer if the passes fail or crash: see
  // tools/reproducer.h. If there are several modules, it is about the first
  // that failed. It is a binary file if its name ends in `.baton`.
  std::string reproducer;
  // A folder for a report about a failure: see tools/triage_report.h. The
  // passes run in a separate process, with the limits below. If the memory
  // limit is 0, it is three quarters of the machine's memory.
  std::string triage;
  double triage_seconds = 600;
  double triage_memory_gb = 0;
  // The name of this program in RUN lines.
  std::string program = "baton-opt";
  // The command line as words for a shell, for messages; may be empty.
  std::string command;
  // If true, shows the running pass on `reports`, which must be a terminal. No
  // effect if something is printed after each pass.
  bool progress = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("workload", &OptOptions::workload,
      FlagSpec{
          .help =
              "A built-in network in place of INPUT: 'resnet{num_layers=18}'.",
          .value = "SPEC",
          .group = kInputFlags});
    v("bind_params", &OptOptions::bind_params,
      FlagSpec{.help = "Binds the workload's weights as constants.",
               .group = kInputFlags});
    v("resume", &OptOptions::resume,
      FlagSpec{.help = "A history in place of INPUT: runs the rest of its "
                       "passes, or --passes.",
               .value = "FILE",
               .group = kInputFlags});
    v("start_after", &OptOptions::start_after,
      FlagSpec{
          .help = "Execution to begin after; -1: the last before a failure.",
          .value = "N",
          .group = kInputFlags,
          .least = 0,
          .none = -1});
    v("input_shapes", &OptOptions::input_shapes,
      FlagSpec{.help = "Shapes of inputs of the module: x:[1,3,224,224].",
               .value = "SHAPES",
               .group = kInputFlags});
    v("input_values", &OptOptions::input_values,
      FlagSpec{
          .help =
              "Inputs of an ONNX file that become constants: n:3,sizes:[4,5].",
          .value = "VALUES",
          .group = kInputFlags});
    v("split_input_file", &OptOptions::split_input_file,
      FlagSpec{.help = "Lines `// -----` separate the modules of INPUT.",
               .group = kInputFlags});

    v("output", &OptOptions::output,
      FlagSpec{.help =
                   "Not given: standard output. .onnx, .baton, .exe, .ll set "
                   "--emit.",
               .value = "FILE",
               .group = kOutputFlags});
    v("emit", &OptOptions::emit,
      FlagSpec{
          .help = "text, text-no-meta, binary, onnx, executable, llvm, none.",
          .value = "FORMAT",
          .group = kOutputFlags,
          .choices = {"text", "text-no-meta", "binary", "onnx", "executable",
                      "llvm", "none"}});
    v("onnx_opset", &OptOptions::onnx_opset,
      FlagSpec{.help = "Version of the operators in an ONNX result: 13 to 21.",
               .value = "N",
               .group = kOutputFlags,
               .least = 13,
               .most = 21});
    v("onnx_external_data", &OptOptions::onnx_external_data,
      FlagSpec{
          .help =
              "Writes the tensors of an ONNX result to the file OUTPUT.data.",
          .group = kOutputFlags});
    v("llvm_target", &OptOptions::llvm_target,
      FlagSpec{.help = "For loops without a target: llvm -mcpu=C -mattr=+A.",
               .value = "TARGET",
               .group = kOutputFlags});
    v("line_table", &OptOptions::line_table,
      FlagSpec{.help = "Adds places of statements in the input to LLVM's text.",
               .group = kOutputFlags});
    v("kernel_costs", &OptOptions::kernel_costs,
      FlagSpec{.help = "Table of the costs of kernels, for an executable.",
               .value = "FILE",
               .group = kOutputFlags});
    v("artifacts", &OptOptions::artifacts,
      FlagSpec{.help = "Folder for the files that code generators make.",
               .value = "DIR",
               .group = kOutputFlags});

    v("report", &OptOptions::report,
      FlagSpec{
          .help =
              "File for times and changes of calls as JSON, or for the trace.",
          .value = "FILE",
          .group = kReportFlags});
    v("verify_result", &OptOptions::verify_result,
      FlagSpec{.help = "Checks the result before it is written; on by default.",
               .group = kFaultFlags});
    v("reproducer", &OptOptions::reproducer,
      FlagSpec{.help =
                   "If the run fails: file for module, passes, settings; an "
                   "INPUT.",
               .value = "FILE",
               .group = kFaultFlags});
    v("verify_diagnostics", &OptOptions::verify_diagnostics,
      FlagSpec{.help = "Compares errors with comments such as "
                       "`expected-error@+1 {{...}}`.",
               .group = kFaultFlags});
    v("triage", &OptOptions::triage,
      FlagSpec{.help = "Folder for a report if the run fails: the guilty pass, "
                       "a small program.",
               .value = "DIR",
               .group = kFaultFlags});
    v("triage_seconds", &OptOptions::triage_seconds,
      FlagSpec{.help = "With --triage: limit of processor time.",
               .value = "X",
               .group = kFaultFlags,
               .least = 0});
    v("triage_memory_gb", &OptOptions::triage_memory_gb,
      FlagSpec{.help = "Memory limit of --triage; 0: three quarters of all.",
               .value = "X",
               .group = kFaultFlags,
               .least = 0});
  }
};

// The streams of a run of baton-opt.
struct OptStreams {
  std::istream& in;
  std::ostream& out;      // modules
  std::ostream& reports;  // everything else
};

// Writes the resulting modules to `out` or to the output file, and reports to
// `reports`, including the errors of the input. On an error, writes no modules:
// a file is written atomically.
absl::Status Opt(const OptOptions& options, const OptStreams& streams);

// The modules of a run, and how passes run over them.
struct OptJob {
  std::string name;  // of the input, for messages
  std::vector<InputModule> modules;
  PreparedRun prepared;
  // The paths of further files that were read, such as external data.
  std::vector<std::string> further_files;
  // True if the input is small enough to stay in memory during the run, so that
  // a result that is the unchanged input is not checked.
  bool is_small = false;
};

// Reads the input. Writes its errors to `streams.reports`.
absl::StatusOr<OptJob> LoadOptJob(const OptOptions& options,
                                  const OptStreams& streams);

}  // namespace baton

#endif  // BATON_TOOLS_OPT_H_
