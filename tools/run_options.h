// Options that determine how passes run and their result.

#ifndef BATON_TOOLS_RUN_OPTIONS_H_
#define BATON_TOOLS_RUN_OPTIONS_H_

#include <string>
#include <vector>

#include "baton/base/attr_value.h"
#include "baton/base/flags.h"
#include "baton/instrument/instrument_registry.h"  // kReportFlags
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pipeline.h"

namespace baton {

// The headings of baton-opt's flags, in the order of its help.
inline constexpr char kInputFlags[] = "Input";
inline constexpr char kOutputFlags[] = "Output";
inline constexpr char kListFlags[] = "Lists of passes, operators and others";

// The options of baton-opt that a reproducer contains: equal modules and
// RunOptions give equal results.
struct RunOptions {
  std::string passes;  // see transform/pipeline.h; empty for none
  // A file of steps that run after the passes; see tools/schedule_file.h.
  std::string schedule;
  // Files of rules for the pass Rewrite; see relay/pattern/rule_text.h.
  std::vector<std::string> rules;
  // Negative: the level of the pipeline, see OptLevel.
  int opt_level = -1;
  std::vector<std::string> disabled_pass;  // `NAME#k`: skips one execution
  std::vector<std::string> required_pass;
  std::string config;  // `KEY=VALUE,...`; see transform/config.h
  std::string target;  // see base/target.h
  int threads = 1;     // 0: the number of processors
  bool insert_required = false;
  std::string inputs;  // files of --check_values: see tools/tensor_files.h
  std::string expect;  // needs `inputs`
  // True if the input of the passes has types.
  bool typed_input = false;
  // The given flags of instruments (instrument/instrument_registry.h), by name,
  // except those that only report.
  AttrMap instrument_flags = {};

  template <typename V>
  static void VisitFields(V& v) {
    v("passes", &RunOptions::passes,
      FlagSpec{
          .help = "As in "
                  "'InferType,FixedPoint{limit=5}(SimplifyExpr,FoldConstant)'.",
          .value = "PIPELINE",
          .group = kPassFlags});
    v("schedule", &RunOptions::schedule,
      FlagSpec{.help = "Steps on loops that run after the passes, one line of "
                       "JSON each.",
               .value = "FILE",
               .group = kPassFlags});
    v("rules", &RunOptions::rules,
      FlagSpec{.help = "Files of rules for the pass Rewrite.",
               .value = "FILE,FILE",
               .group = kPassFlags});
    v("opt_level", &RunOptions::opt_level,
      FlagSpec{
          .help = "Highest level of passes; -1: any for those of --passes.",
          .value = "N",
          .group = kPassFlags,
          .least = 0,
          .most = 5,
          .none = -1});
    v("disabled_pass", &RunOptions::disabled_pass,
      FlagSpec{
          .help =
              "Passes that sequences skip; A#k: only the k-th execution of A.",
          .value = "A,B",
          .group = kPassFlags});
    v("required_pass", &RunOptions::required_pass,
      FlagSpec{.help = "Passes that run whatever their level is.",
               .value = "A,B",
               .group = kPassFlags});
    v("insert_required", &RunOptions::insert_required,
      FlagSpec{.help = "Inserts the passes that passes of the pipeline need.",
               .group = kPassFlags});
    v("config", &RunOptions::config,
      FlagSpec{.help = "Settings of passes: see docs/reference_options.md.",
               .value = "KEY=VALUE,...",
               .group = kPassFlags});
    v("target", &RunOptions::target,
      FlagSpec{
          .help = "The machine to compile for, as in 'llvm -mcpu=skylake'.",
          .value = "TARGET",
          .group = kPassFlags});
    v("threads", &RunOptions::threads,
      FlagSpec{
          .help = "Threads for function passes; 0: the number of processors.",
          .value = "N",
          .group = kPassFlags,
          .least = 0});
    v("inputs", &RunOptions::inputs,
      FlagSpec{.help = "Arguments of main for --check_values: .npz, .npy, .pb, "
                       "or a folder.",
               .value = "FILE",
               .group = kFaultFlags});
    v("expect", &RunOptions::expect,
      FlagSpec{.help = "Expected results of main for --inputs, in files of the "
                       "same kinds.",
               .value = "FILE",
               .group = kFaultFlags});
    v("typed_input", &RunOptions::typed_input,
      "Infer types before the passes run.");
  }
};

// True if `run` has --check_values.
bool ChecksValues(const RunOptions& run);

// Sets a flag of an instrument.
void SetInstrumentFlag(const std::string& name, AttrValue value,
                       RunOptions& run);

// The flags of instruments whose values are not the defaults, sorted by
// instrument.
AttrMap SortedInstrumentFlags(const RunOptions& run);

// The level of the context for `opt_level`, the value of --opt_level. If it is
// negative: 2, or the level of a named pipeline in `pipeline` if that is
// higher.
int OptLevel(int opt_level, const Pass& pipeline);
int OptLevel(const RunOptions& run);

// The rule for the passes that --passes names: they run at any level unless
// --opt_level was given. `opt_level` is negative if it was not.
NamedPasses NamedPassesFor(int opt_level);

// Describes the passes that `pipeline` names and that do not run in `context`:
// `not run: FuseOps (--disabled_pass), FoldScaleAxis (level 3, --opt_level=2)`.
// Empty if all run.
std::string DescribeSkippedPasses(const Pass& pipeline,
                                  const PassContext& context);

// Sets the level of the context of `run`, for any part of `pipeline`. Leaves
// the option unset where the default gives the same level.
void SetOptLevel(int level, const Pass& pipeline, RunOptions& run);

}  // namespace baton

#endif  // BATON_TOOLS_RUN_OPTIONS_H_
