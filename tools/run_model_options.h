// The flags of `baton-run`.

#ifndef BATON_TOOLS_RUN_MODEL_OPTIONS_H_
#define BATON_TOOLS_RUN_MODEL_OPTIONS_H_

#include <ostream>
#include <string>

#include "baton/base/flags.h"

namespace baton {

// Each field in VisitFields is a flag of the same name.
struct RunModelOptions {
  // A file with a module: text, binary or ONNX; or an executable, which
  // baton-opt --emit=executable wrote. Or a folder in the layout of
  // ONNX's backend tests: model.onnx, and test_data_set_0 ... with input_0.pb,
  // output_0.pb ...; then the data sets provide inputs and expected outputs.
  std::string model;

  // A built-in workload in place of `model`: `resnet{num_layers=18}`. Its
  // weights are constants.
  std::string workload;

  std::string inputs;
  bool random_inputs = false;
  int seed = 0;
  std::string input_shapes;
  std::string dims;
  std::string input_values;
  std::string expect;
  double rtol = 1e-3;
  double atol = 1e-7;
  std::string against;
  std::string outputs;
  std::string passes;
  int opt_level = -1;  // see RunOptions
  std::string config;
  std::string executor;  // empty: cpu to measure, evaluator otherwise
  int threads = 1;
  int bench = 0;
  int warmup = 1;
  std::string profile;
  std::string report;
  std::string plan;
  std::string shadow;
  std::string state;
  std::string kernel_costs;
  std::string measure_kernels;

  // The stream (not a flag) for lines that are not results, such as the names
  // of inputs whose values the import took. Null: they are not written.
  std::ostream* notes = nullptr;

  // True (not a flag) if standard error is a terminal; then the running step is
  // shown if it takes long.
  bool progress = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("workload", &RunModelOptions::workload,
      FlagSpec{.help = "A built-in network, with its weights, in place of "
                       "MODEL: 'resnet{num_layers=18}'.",
               .value = "SPEC"});
    v("inputs", &RunModelOptions::inputs,
      FlagSpec{.help = "Arguments: .npz, .npy, .pb, or a folder of .pb.",
               .value = "FILE"});
    v("random_inputs", &RunModelOptions::random_inputs,
      FlagSpec{.help = "Makes random arguments."});
    v("seed", &RunModelOptions::seed,
      FlagSpec{.help = "Seed of the random arguments.", .value = "N"});
    v("input_shapes", &RunModelOptions::input_shapes,
      FlagSpec{.help = "Shapes of inputs of the model: x:[1,3,224,224].",
               .value = "SHAPES"});
    v("dims", &RunModelOptions::dims,
      FlagSpec{.help = "Sizes of the dimensions with names, for the executor "
                       "cpu: batch=1..64,length=128.",
               .value = "NAME=N,NAME=N..M"});
    v("input_values", &RunModelOptions::input_values,
      FlagSpec{.help = "Inputs of an ONNX file as constants: n:3,sizes:[4,5].",
               .value = "VALUES"});
    v("expect", &RunModelOptions::expect,
      FlagSpec{.help = "Expected results, in files as for --inputs.",
               .value = "FILE"});
    v("rtol", &RunModelOptions::rtol,
      FlagSpec{.help = "Allowed relative error.", .value = "X", .least = 0});
    v("atol", &RunModelOptions::atol,
      FlagSpec{.help = "Allowed absolute error.", .value = "X", .least = 0});
    v("against", &RunModelOptions::against,
      FlagSpec{.help = "A model whose results are expected; compares the "
                       "nodes, too, if they differ.",
               .value = "MODEL"});
    v("outputs", &RunModelOptions::outputs,
      FlagSpec{.help = "File for the results: .npz.", .value = "FILE"});
    v("passes", &RunModelOptions::passes,
      FlagSpec{.help = "Passes that run on MODEL first.", .value = "PIPELINE"});
    v("opt_level", &RunModelOptions::opt_level,
      FlagSpec{.help = "As --opt_level of baton-opt, for --passes.",
               .value = "N",
               .least = 0,
               .most = 5,
               .none = -1});
    v("config", &RunModelOptions::config,
      FlagSpec{.help = "Settings of passes, and limits.",
               .value = "KEY=VALUE,..."});
    v("executor", &RunModelOptions::executor,
      FlagSpec{
          .help =
              "cpu: the plan of the pipeline cpu. evaluator: the interpreter, "
              "which defines the right results, but is slow. jit: the "
              "evaluator, with functions of "
              "loops compiled by LLVM. Not given: cpu with --bench, --profile, "
              "--plan and --shadow, otherwise evaluator.",
          .value = "cpu|evaluator|jit",
          .choices = {"", "cpu", "evaluator", "jit"}});
    v("threads", &RunModelOptions::threads,
      FlagSpec{.help = "Threads for --passes and for the executor cpu; 0: the "
                       "number of processors.",
               .value = "N",
               .least = 0});
    v("bench", &RunModelOptions::bench,
      FlagSpec{.help = "Runs the model N times and reports the times.",
               .value = "N",
               .least = 0});
    v("warmup", &RunModelOptions::warmup,
      FlagSpec{.help = "Number of runs before the measured ones.",
               .value = "N",
               .least = 0});
    v("profile", &RunModelOptions::profile,
      FlagSpec{.help = "Reports the time of operators and of the slowest "
                       "calls; json and trace: all calls.",
               .value = "text|json|trace",
               .choices = {"", "text", "json", "trace"}});
    v("report", &RunModelOptions::report,
      FlagSpec{.help = "File for the profile; standard output by default.",
               .value = "FILE"});
    v("plan", &RunModelOptions::plan,
      FlagSpec{.help = "File for the plan of the executor cpu: steps and "
                       "arena. A .json file is for tools/check_plan.py.",
               .value = "FILE"});
    v("shadow", &RunModelOptions::shadow,
      FlagSpec{.help = "Computes each K-th step of the executor cpu again with "
                       "the evaluator; a difference is an error.",
               .value = "1/K"});
    v("state", &RunModelOptions::state,
      FlagSpec{.help = "Results that are inputs of the next run, zeros at "
                       "first: present:past.",
               .value = "OUT:IN,..."});
    v("kernel_costs", &RunModelOptions::kernel_costs,
      FlagSpec{.help = "Table of the costs of kernels, for the executor cpu; "
                       "the built-in table by default.",
               .value = "FILE"});
    v("measure_kernels", &RunModelOptions::measure_kernels,
      FlagSpec{.help = "Measures the costs of kernels on this machine and "
                       "writes the table; needs no MODEL.",
               .value = "FILE"});
  }
};

}  // namespace baton

#endif  // BATON_TOOLS_RUN_MODEL_OPTIONS_H_
