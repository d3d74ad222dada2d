// LibraryOptions: the flags of `baton-compile`.

#ifndef BATON_TOOLS_COMPILE_OPTIONS_H_
#define BATON_TOOLS_COMPILE_OPTIONS_H_

#include <string>

#include "baton/base/flags.h"

namespace baton {

// Each field in VisitFields is a flag of the same name.
struct LibraryOptions {
  std::string model;  // a text, .baton or .onnx file
  std::string output_dir = ".";
  std::string shared_dir;
  std::string name;       // empty: the name of the model's file
  std::string cpp_class;  // empty: `name`
  std::string passes = "default";
  std::string config;
  std::string dims;
  std::string input_values;
  std::string input_shapes;
  std::string inputs;
  std::string state;
  std::string isas;  // empty: all of the target
  std::string target = "x86_64";
  std::string llvm_target;
  bool threads = false;
  int max_threads = 8;
  bool profile = false;
  bool line_table = false;
  bool test = false;
  bool check_values = false;
  bool benchmark = false;
  bool report = false;
  std::string objects;
  double max_error = -1;  // negative: the measured difference
  int seed = 0;

  template <typename V>
  static void VisitFields(V& v) {
    v("output_dir", &LibraryOptions::output_dir,
      FlagSpec{.help = "The folder for NAME.h, NAME_ISA.cc, NAME_weights.o and "
                       "NAME.report.json.",
               .value = "FOLDER"});
    v("shared_dir", &LibraryOptions::shared_dir,
      FlagSpec{.help = "Folder for sources of single functions, named by "
                       "hashes: models with equal functions, and new versions "
                       "of this model, share files.",
               .value = "FOLDER"});
    v("name", &LibraryOptions::name,
      FlagSpec{.help = "The name of the files. Not given: that of MODEL.",
               .value = "NAME"});
    v("cpp_class", &LibraryOptions::cpp_class,
      FlagSpec{.help = "The class, with its namespaces: acme::Silero.",
               .value = "CLASS"});
    v("passes", &LibraryOptions::passes,
      FlagSpec{.help = "Passes that run before operators become loops; default "
                       "is SimplifyInference,FoldConstant, and for a model "
                       "with operators of qnn also passes that replace them.",
               .value = "PIPELINE"});
    v("config", &LibraryOptions::config,
      FlagSpec{.help = "Settings of passes, and limits.",
               .value = "KEY=VALUE,..."});
    v("dims", &LibraryOptions::dims,
      FlagSpec{.help = "Sizes of symbolic dimensions: batch=1,samples=512; or "
                       "bounds, within which each run chooses: batch=1..8.",
               .value = "NAME=N|LOW..HIGH,..."});
    v("input_shapes", &LibraryOptions::input_shapes,
      FlagSpec{.help = "Shapes of inputs of the model: x:[1,3,224,224].",
               .value = "SHAPES"});
    v("input_values", &LibraryOptions::input_values,
      FlagSpec{.help = "Inputs of an ONNX file as constants: "
                       "n:3,sizes:[4,5].",
               .value = "VALUES"});
    v("inputs", &LibraryOptions::inputs,
      FlagSpec{.help = "Inputs in place of random ones, in files as for "
                       "baton-run --inputs. The library of an ONNX file is "
                       "made for their shapes; an input on whose values a "
                       "shape depends becomes a constant.",
               .value = "FILE|FOLDER"});
    v("state", &LibraryOptions::state,
      FlagSpec{.help = "Outputs that are inputs of the next run.",
               .value = "OUT:IN,..."});
    v("isas", &LibraryOptions::isas,
      FlagSpec{.help = "Instruction sets: avx512, avx2, sse2; neon. The "
                       "library uses the first that the processor supports.",
               .value = "ISA,..."});
    v("target", &LibraryOptions::target,
      FlagSpec{.help = "The processor.",
               .value = "x86_64|aarch64",
               .choices = {"x86_64", "aarch64"}});
    v("llvm_target", &LibraryOptions::llvm_target,
      FlagSpec{.help = "Writes functions of loops as text of LLVM for that "
                       "target, NAME_loops.ll, in place of C++: "
                       "'llvm -mcpu=haswell -mattr=+fma'.",
               .value = "TARGET"});
    v("threads", &LibraryOptions::threads,
      FlagSpec{.help = "Adds a Run that uses threads of the caller."});
    v("max_threads", &LibraryOptions::max_threads,
      FlagSpec{.help = "With --threads: the most threads of a run.",
               .value = "N"});
    v("profile", &LibraryOptions::profile,
      FlagSpec{.help = "Adds RunProfiled, which measures steps."});
    v("line_table", &LibraryOptions::line_table,
      FlagSpec{.help =
                   "Adds NAME.model.txt, a line for each step, and #line "
                   "directives: debuggers and profilers show these lines."});
    v("test", &LibraryOptions::test,
      FlagSpec{.help = "Writes NAME_test.cc and NAME_test_data.o, which also "
                       "compare with the evaluator on random inputs."});
    v("check_values", &LibraryOptions::check_values,
      FlagSpec{.help =
                   "Compares values with the evaluator after each pass, at "
                   "each step of lowering to loops, for each step of the "
                   "executor's plan, and, with --test, for each step of the "
                   "library. The first wrong step is named."});
    v("benchmark", &LibraryOptions::benchmark,
      FlagSpec{.help = "Adds NAME_benchmark.cc, which measures runs."});
    v("report", &LibraryOptions::report,
      FlagSpec{.help = "Prints the steps: the bytes of their code, weights and "
                       "arena, and the reasons for their kernels."});
    v("objects", &LibraryOptions::objects,
      FlagSpec{.help = "Compiled sources, objects or archives: the report "
                       "divides their bytes among steps and nodes.",
               .value = "FILE,..."});
    v("max_error", &LibraryOptions::max_error,
      FlagSpec{
          .help =
              "With --test: kMaxError of the header, the limit of the "
              "difference from the model without passes, relative to the "
              "largest element, that the test checks. -1: the difference that "
              "is measured on random inputs.",
          .value = "X",
          .least = 0,
          .none = -1});
    v("seed", &LibraryOptions::seed,
      FlagSpec{.help = "Seed of the random inputs.", .value = "N"});
  }
};

}  // namespace baton

#endif  // BATON_TOOLS_COMPILE_OPTIONS_H_
