// ModelWriter: writes the C++ files of a compiled model.

#ifndef BATON_BACKEND_LIBRARY_MODEL_WRITER_H_
#define BATON_BACKEND_LIBRARY_MODEL_WRITER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/backend/cpu/step_source.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/library_class.h"
#include "baton/backend/library/library_model.h"
#include "baton/backend/library/library_report.h"
#include "baton/base/hash_table.h"
#include "baton/base/stable_hash.h"
#include "baton/base/tensor.h"
#include "baton/runtime/executor/plan.h"
#include "baton/tir/codegen/cpp_names.h"
#include "baton/tir/codegen/cpp_source.h"
#include "baton/tir/codegen/elf_object.h"

namespace baton::internal {

// If the caller of a run does not say how many threads there are, the first
// steps have at most this many parts, one for each thread.
inline constexpr int kPartsIfUnknown = 2;
// If a run does not know the number of threads, a step has at most as many
// parts as have run concurrently so far. Every step of this number that could
// have more parts gets them, to find out if there are more threads.
inline constexpr int kStepsToTryMoreParts = 8;
// The most pieces into which the work of a part is divided; a thread that is
// done takes pieces of other parts.
inline constexpr int kMostPieces = 8;

// `value` in 16 hexadecimal digits.
std::string Hex(uint64_t value);

// A member of Inputs or Outputs of the class.
struct LibraryMember {
  std::string name;
  const LibrarySlot* slot = nullptr;
  int index = 0;
  // The member with the extents, if the shape is data-dependent.
  std::string extents = "";
  std::string extents_of = "";  // the member that has these extents
};

// A function of a step, as text. The placeholders of StepSource (`@N@`, `@0@`)
// are replaced.
struct StepFunction {
  std::string name;
  unsigned texts = 0;       // StepSource::texts: the kernels that it calls
  std::string declaration;  // without specifiers
  std::string text;         // its definition, and what it uses
};

// Writes the files of a library.
class ModelWriter {
 public:
  ModelWriter(LibraryModel& model, const CompileModelOptions& options,
              ClassName cpp_class)
      : model_(model), options_(options), class_(std::move(cpp_class)) {}

  absl::StatusOr<CompiledModel> Write();

 private:
  // --- The text of the model: model_writer.cc ------------------------------

  std::string ModelTextName() const { return options_.name + ".model.txt"; }

  // Writes a line for each step, and the functions of loops. Replaces these by
  // the functions that a reader of the text makes, whose statements have places
  // in the text.
  void MakeModelText();

  // `statements` of step `i`, each line with the place of the step.
  std::string WithPlace(size_t i, absl::string_view statements) const;

  // --- Weights, functions that models share: model_writer_shared.cc --------

  // Smaller weights are not shared: the section group that each shared weight
  // needs in the object would cost more.
  static constexpr size_t kMinSharedBytes = 1024;

  // A table of the weights, of which those of some size are shared with other
  // models of a program: their symbols are hashes of their contents.
  tir::ElfObject Weights() const;

  static std::string SharedWeightsSymbol(absl::string_view bytes);

  // A hash of the texts that functions need, which are those of this version of
  // Baton.
  static uint64_t TextsHash() {
    StableHash hash(tir::CppPreludeHash());
    hash.AddString(Kernels(tir::CppIsa::kNone, ~0u));
    return hash.value();
  }

  // The options of a source with functions that use `texts`.
  tir::CppSourceOptions SharedOptions(tir::CppIsa isa, unsigned texts) const;

  // Names functions of loops by hashes of their texts, equal ones once.
  absl::Status ShareFunctions();

  // Writes functions of loops as text of LLVM, with names of C that no other
  // model has.
  absl::Status WriteLoopsAsLlvm(std::vector<CompiledModel::File>& files);

  // The declarations of functions that are text of LLVM.
  std::string ExternalFunctions() const;

  // Makes functions of the steps that have sources, equal ones once.
  void MakeStepFunctions();

  // The number of the function of `source` of step `i`.
  size_t FunctionOf(size_t i, const cpu::StepSource& source);

  // The declarations of all functions that sources share.
  std::string Declarations() const;

  // The name of the kernels that a function calls: functions of these are in
  // one source. Empty for others.
  static std::string FamilyOf(unsigned texts);

  // Appends a source for each function, and one for the functions that call
  // kernels of a family. Names of files are hashes of their functions.
  absl::Status WriteSharedFiles(tir::CppIsa isa,
                                std::vector<CompiledModel::File>& files) const;

  // Sets code_hash_, of all that sources must agree on (functions, sizes of
  // weights, places, steps with their operands), and hash_, of that and the
  // weights, on which header and object must agree. Other weights can be linked
  // to the same code.
  void MakeHashes();

  // Makes the members of Inputs and Outputs.
  void MakeMembers();

  // --- Names ---------------------------------------------------------------

  std::string WeightsSymbol() const {
    return absl::StrCat(tir::CppIdentifier(options_.name), "_model_",
                        Hex(hash_));
  }
  // The namespace of the functions that models share.
  std::string SharedNameSpace(tir::CppIsa isa) const {
    return absl::StrCat("baton_", Hex(texts_hash_), "_", tir::CppIsaName(isa));
  }
  // The namespace of the steps for these instructions; no other model has it.
  std::string NameSpace(tir::CppIsa isa) const {
    return absl::StrCat(tir::CppIdentifier(options_.name), "_", Hex(code_hash_),
                        "_", tir::CppIsaName(isa));
  }
  // Returns the name of the function that the header calls.
  std::string Dispatch() const {
    return absl::StrCat(tir::CppIdentifier(options_.name), "_", Hex(code_hash_),
                        "_dispatch");
  }
  std::string QualifiedClass() const {
    std::vector<std::string> parts = class_.namespaces;
    parts.push_back(class_.name);
    return absl::StrCat("::", absl::StrJoin(parts, "::"));
  }
  absl::string_view ResultType() const { return can_fail_ ? "int" : "void"; }

  std::vector<std::string> Head(tir::CppIsa isa) const {
    return {absl::StrCat("The model ", options_.model, " for ",
                         tir::CppIsaName(isa), ": see ", options_.name, ".h."),
            "Written by baton-compile. Do not edit."};
  }

  // --- The header: model_writer_header.cc ----------------------------------

  void AppendMembers(absl::string_view type,
                     const std::vector<LibraryMember>& members, bool is_const,
                     std::string& text) const;

  // Totals of the largest variant.
  size_t NumSteps() const;
  int64_t Flops() const;

  std::string Header() const;

  // The numerical contract.
  std::string Contract() const;

  // The value of kMaxError.
  std::string MaxErrorText() const;

  // The arguments of a run without threads, times or checks.
  static constexpr absl::string_view kNone = "nullptr, nullptr";
  static constexpr absl::string_view kOneThread = "nullptr, nullptr, 1";

  // The statements of a member that runs the model.
  std::string RunBody(absl::string_view threads, absl::string_view profile,
                      absl::string_view check) const;

  // The functions that the header calls. Run is noexcept in the header only: an
  // object with a noexcept function that calls one that may throw needs the C++
  // library.
  std::string Declared() const;

  // Declarations of the runs that options add.
  std::string FurtherRuns() const;

  // `step 3, nn_softmax of nn.softmax, Softmax_12`. The name of a step that
  // belongs to no node of the model, such as a change of layout, contains the
  // name of the step whose result it takes.
  std::string NameOfStep(size_t i) const;

  // Appends the names of the nodes that compute the operands of step `i`, in
  // their order in the step of the executor.
  void AddOriginsOfOperands(size_t i, std::vector<std::string>& origins) const;

  // --- Steps: model_writer_steps.cc ----------------------------------------

  // Calls of `check` with the inputs of step `i`, or with its results.
  std::string ChecksOf(size_t i, bool is_result) const;

  // The parameters of the functions that run all steps. `space` is that of
  // types of fixed width.
  std::string RunParams(absl::string_view space = "") const;

  // A pointer to a slot; `type` is that of an element.
  std::string PointerTo(const LibrarySlot& slot, absl::string_view type) const;

  static std::string ElementOf(absl::string_view pointer) {
    return std::string(pointer.substr(0, pointer.find('*')));
  }

  // The text of the kernels that steps use.
  static std::string Kernels(tir::CppIsa isa, unsigned texts);

  bool CanFail(const LibraryStep& step) const {
    return step.function >= 0 &&
           model_.emitted[static_cast<size_t>(step.function)].can_fail;
  }
  static int64_t NumElements(const LibrarySlot& slot) {
    int64_t elements = 1;
    for (const int64_t extent : slot.shape) elements *= extent;
    return elements;
  }
  static int64_t ItemsOf(const LibraryStep& step) {
    return step.sources.empty() ? step.groups : step.sources[0].items;
  }

  // An expression that is texts[k] for the k-th of ThreadCounts(); texts[0] is
  // for all if there is no other.
  static std::string ByThreads(const std::vector<std::string>& texts);

  // The statements of step `i`.
  std::string StatementsOf(size_t i) const;

  // True if threads divide a step.
  bool IsDivided(const LibraryStep& step) const;

  // The C++ statement for step `i` if it begins or ends a branch or a loop
  // (LibraryStep::control): `if (...) {`, `}`.
  std::string ControlOf(size_t i) const;

  // The statements that run step `i`.
  std::string RunOf(size_t i) const;

  // The function of step `i`.
  std::string StepText(size_t i) const;

  // The steps, and what runs them in order.
  std::string RunFunction(tir::CppIsa isa) const;

  // --- Dispatch, copies of weights, benchmark: model_writer_sources.cc -----

  // Statements that find the place of `threads` among ThreadCounts().
  std::string LevelOfThreads() const;

  // The condition that the processor has the instructions of `isa`.
  static absl::string_view CpuTest(tir::CppIsa isa);

  // The functions that the header calls, compiled without special instructions.
  std::string Implementation() const;

  // A copy of the weights is a table of pointers, and what these point to.
  int64_t TableBytes() const {
    return executor::AlignUp(
        static_cast<int64_t>(8 * std::max<size_t>(model_.constants.size(), 1)));
  }
  int64_t CopyBytes() const;
  std::string CopyFunction() const;

  // Expressions of pointers to `count` tensors of `from`; `nullptr` for tensors
  // that are no members.
  static std::vector<std::string> PointersOf(
      absl::string_view from, const std::vector<LibraryMember>& members,
      size_t count);

  // A program that measures runs.
  std::string Benchmark() const;

  // --- The report: model_writer.cc -----------------------------------------

  // The functions that a step calls, symbols of the objects; equal steps call
  // the same ones.
  std::vector<std::string> FunctionsOfStep(size_t i) const;

  // Collects the input of the report on `library`, whose weights are in an
  // object of `object_bytes` bytes.
  ReportInput Reported(const CompiledModel& library,
                       int64_t object_bytes) const;

  LibraryModel& model_;
  const CompileModelOptions& options_;
  ClassName class_;
  std::string model_text_;
  std::vector<int> step_lines_;  // in model_text_
  uint64_t texts_hash_ = 0;
  std::vector<StepFunction> step_functions_;
  FlatHashMap<std::string, size_t> step_function_numbers_;  // by name
  // The functions of each step, of its sources.
  std::vector<std::vector<size_t>> step_functions_of_;
  std::vector<std::vector<int>> function_constants_;
  std::vector<LibraryMember> inputs_;
  std::vector<std::string> dims_;  // the members of options_.bounds
  std::vector<LibraryMember> outputs_;
  unsigned texts_ = 0;
  int64_t weight_bytes_ = 0;
  uint64_t code_hash_ = 0;
  uint64_t hash_ = 0;  // of code and weights
  std::vector<std::string>
      shared_symbols_;  // of constants; empty for small ones
  bool can_fail_ = false;
};

}  // namespace baton::internal

#endif  // BATON_BACKEND_LIBRARY_MODEL_WRITER_H_
