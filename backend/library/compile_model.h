// Makes a C++ library of a model.
//
//   CompileModelOptions options;
//   options.name = "mlp";
//   options.cpp_class = "acme::Mlp";
//   BATON_ASSIGN_OR_RETURN(CompiledModel model, CompileModel(module, options));
//
// `module` is Relay after the pipeline cpu. The library computes the steps of
// the executor's plan for it. The sources have a copy of the executor's kernels
// for convolutions, products and the like; other operators become loops. If the
// main function calls functions of loops, made by the pass LowerToTir and the
// passes of lowering after it, the library computes these calls instead. The
// result is the header with the class, a source for each set of instructions,
// the weights as an object, and a report. Equal modules give equal files. Equal
// functions and weights of several models are in a program once.

#ifndef BATON_BACKEND_LIBRARY_COMPILE_MODEL_H_
#define BATON_BACKEND_LIBRARY_COMPILE_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/dim_bounds.h"
#include "baton/backend/cpu/padded_sizes.h"
#include "baton/backend/library/loops_check.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/codegen/llvm_source.h"
#include "baton/transform/pass_context.h"

namespace baton {

// The limit of the difference between the outputs of the library and those of
// the model without passes. The test of the library checks it on its inputs.
struct NumericalContract {
  std::string passes;  // of the library
  std::string inputs;  // `random inputs of seed 0`
  // The limit of TensorError::of_largest of each output.
  double max_error = 0;
};

// Each thread of a run has a workspace in the arena.
inline constexpr int kMostLibraryThreads = 64;

struct CompileModelOptions {
  std::string name;       // of the files: `NAME.h`
  std::string cpp_class;  // `acme::Mlp`
  std::string model;      // the path of the model, for comments
  // The names of the parameters of main and of its results.
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  // The instruction sets, from the largest to the smallest. The library uses
  // the first that the processor supports, and the last without a check.
  std::vector<tir::CppIsa> isas;
  tir::ElfMachine machine = tir::ElfMachine::kX86_64;
  // Outputs whose values are those of inputs in the next run.
  std::vector<std::pair<std::string, std::string>> state;
  // Adds a Run that divides steps among the caller's threads.
  bool threads = false;
  // The most threads of a run, from 1 to kMostLibraryThreads.
  int max_threads = 8;
  // Adds RunProfiled, which measures steps.
  bool profile = false;
  // Adds NAME.model.txt, a text of the steps and their functions of loops; in
  // the line tables of objects, the code of steps has the lines of that text.
  bool line_table = false;
  // Puts each function into a source of its own, and all functions that call
  // kernels of one kind into one source: shared_files. NAME_ISA.cc has only the
  // steps.
  bool split = false;
  // Functions of loops are text of LLVM, NAME_loops.ll, not C++. The C++ that
  // calls them is then for one set of instructions.
  std::optional<tir::LlvmTarget> llvm = {};
  // Adds RunChecked, which shows the operands of steps.
  bool check_values = false;
  // The context of the passes that lower functions of loops to flat loops.
  PassContextOptions lowering = {};
  // If not null, receives that context after the passes.
  std::function<void(const PassContext&)> lowered = nullptr;
  // If not null, checks these functions at each step.
  std::shared_ptr<LoopsCheck> check = nullptr;
  // Compiled sources. The report divides their bytes among the steps.
  struct Object {
    std::string name;
    std::string bytes;  // the contents of an ELF file
  };
  std::vector<Object> objects = {};
  // If it has a value, the header has it as kMaxError.
  std::optional<NumericalContract> contract = {};
  // Dimensions that each run chooses, as members of the class's Inputs.
  std::vector<DimBound> bounds;
};

struct CompiledModel {
  struct File {
    std::string name;
    std::string text;
  };
  std::vector<File> files;  // the header, the sources, the report
  // With options.split. A name is a hash of the functions in a file: files of
  // equal names are equal, also those of other models.
  std::vector<File> shared_files;
  std::string benchmark;   // the source of a program that measures runs
  std::string report;      // NAME.report.json in words, for people
  tir::ElfObject weights;  // refers to `tensors`
  std::vector<Tensor> tensors;
  int64_t arena_bytes = 0;
  int64_t arena_lower_bound = 0;
  int64_t weight_bytes = 0;
  int64_t num_steps = 0;
  // A step, for messages.
  struct Step {
    std::string name;  // `step 3, nn_softmax of nn.softmax, Softmax_12`
    // The origin of an operand, by its place among the operands of the
    // executor's step: `the weights`; empty for those that the step does not
    // have.
    std::vector<std::string> operands;
    // The numbers of the library's steps that take its inputs and give its
    // results: those of a branch or a loop are several.
    size_t first = 0;
    size_t last = 0;
  };
  std::vector<Step> steps;       // of the executor's plan
  std::vector<size_t> variants;  // the first step of each variant, in `steps`
  // The module of each variant's plan; empty for functions of loops.
  std::vector<cpu::PaddedModule> padded;
};

// Refuses options that are wrong whatever the model is. Errors name them as
// flags of baton-compile. CompileModel() calls this first.
absl::Status CheckOptions(const CompileModelOptions& options);

// An error names all operators that cannot be compiled, with their places.
absl::StatusOr<CompiledModel> CompileModel(const IRModule& module,
                                           const CompileModelOptions& options);
// As above, for dimensions with bounds: `variants` has a module for each
// combination of sizes in options.bounds, of which the last one varies fastest.
absl::StatusOr<CompiledModel> CompileModel(absl::Span<const IRModule> variants,
                                           const CompileModelOptions& options);

// The C++ type of the elements of a member of Inputs or Outputs, without its
// namespace.
std::string MemberElement(DType dtype);

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_COMPILE_MODEL_H_
