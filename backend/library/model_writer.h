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

// If a run does not know its number of threads, steps have at first at most
// this many parts.
inline constexpr int kPartsIfUnknown = 2;
// One in so many steps that could have more parts than have run concurrently
// has them, to find out whether there are more threads.
inline constexpr int kStepsToTryMoreParts = 8;
// The most pieces of a part.
inline constexpr int kMostPieces = 8;

// `value` in 16 hexadecimal digits.
std::string Hex(uint64_t value);

// A member of Inputs or Outputs of the class.
struct LibraryMember {
  std::string name;
  const LibrarySlot* slot = nullptr;
  int index = 0;
  // The member with the extents, if values decide them.
  std::string extents = "";
  std::string extents_of = "";  // the member that has these extents
};

// A function of a step, as text; `@N@` and the numbers of operands are
// replaced.
struct StepFunction {
  std::string name;
  unsigned texts = 0;
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

  // Smaller weights are not shared: a group in the object costs more.
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

  // The statement of C++ that step `i`, a beginning or an end, stands for.
  std::string ControlOf(size_t i) const;

  // The statements that run step `i`.
  std::string RunOf(size_t i) const;

  // The function of step `i`.
  std::string StepText(size_t i) const;

  // The steps, and what runs them in order.
  std::string RunFunction(tir::CppIsa isa) const;

  // --- Dispatch, copies of weights, benchmark: model_writer_sources.cc -----

  // Divides a step among threads. Each part has a share of the items, divided
  // into pieces of which each is half of what is left of the share, so that the
  // last ones are small: a thread that has computed its share takes pieces of
  // others. So a thread that begins late, or is slow, does not hold up the step.
  static constexpr char kDivide[] =
      R"(
// A step that threads divide.
struct Parts {
  const Memory* m;
  void (*step)(const Memory&, unsigned char*, bool, int64_t, int64_t);
  unsigned char* workspace;
  int64_t workspace_bytes;
  int64_t items;
  int64_t parts;  // at most
};
// The number of pieces of a part's share that threads have taken; in a cache
// line of its own.
struct alignas(64) Share {
  uint32_t taken;
};
// The state that the threads of a step share.
struct Division {
  Parts parts;
  uint32_t pieces;  // of a share
  Share shares[@most@];
  // Counts the parts that run concurrently.
  unsigned char runs[@most@];
  int at_once[@most@];
};
// The number of the next piece of a share.
static uint32_t TakePiece(Share& share) {
#if defined(__aarch64__)
  // An atomic addition may be a function of libgcc here.
  uint32_t piece, next, failed;
  __asm__ volatile(
      "1: ldxr %w0, [%3]\n"
      "   add %w1, %w0, #1\n"
      "   stxr %w2, %w1, [%3]\n"
      "   cbnz %w2, 1b"
      : "=&r"(piece), "=&r"(next), "=&r"(failed)
      : "r"(&share.taken)
      : "memory");
  return piece;
#else
  return __atomic_fetch_add(&share.taken, 1u, __ATOMIC_RELAXED);
#endif
}
// Computes the pieces of a part's share, then those that are left of others.
static void RunPart(void* ctx, int part) {
  Division& d = *static_cast<Division*>(ctx);
  const Parts& p = d.parts;
  unsigned char* const workspace = p.workspace + p.workspace_bytes * part;
  bool resumes = false;
  for (int64_t i = 0; i < p.parts; ++i) {
    const int64_t share = (part + i) % p.parts;
    const int64_t last = p.items * (share + 1) / p.parts;
    const int64_t size = last - p.items * share / p.parts;
    uint32_t piece;
    while ((piece = TakePiece(d.shares[share])) < d.pieces) {
      const int64_t begin = last - (size >> piece);
      const int64_t end =
          piece + 1 < d.pieces ? last - (size >> (piece + 1)) : last;
      if (begin == end) continue;
      p.step(*p.m, workspace, resumes, begin, end);
      resumes = true;
    }
  }
}
static void RunCountedPart(void* ctx, int part) {
  Division& d = *static_cast<Division*>(ctx);
  __atomic_store_n(&d.runs[part], 1, __ATOMIC_RELAXED);
  for (int64_t i = 0; i < d.parts.parts; ++i) {
    d.at_once[part] += __atomic_load_n(&d.runs[i], __ATOMIC_RELAXED);
  }
  RunPart(&d, part);
  __atomic_store_n(&d.runs[part], 0, __ATOMIC_RELAXED);
}
[[maybe_unused]] static void Divide(Parts p,
    void (*parallel)(void*, int, void (*)(void*, int), void*),
    void* ctx) {
  ConcurrencySeen* const seen = p.m->seen;
  int64_t worth = p.parts;
  if (worth > p.items) worth = p.items;
  if (p.parts > p.m->threads) p.parts = p.m->threads;
  if (p.parts > p.items) p.parts = p.items;
  // Parts repeat some work: a step has no more than have run
  // concurrently, but some steps try more.
  if (seen != nullptr && p.parts > seen->most_at_once) {
    if (p.parts > seen->most_parts) {
      seen->most_parts = p.parts;
    } else if (++seen->limited_steps % @try@ != 0) {
      p.parts = seen->most_at_once;
    }
  }
  if (p.parts < 2) {
    p.step(*p.m, p.workspace, false, 0, p.items);
    return;
  }
  // Each share has as many pieces as halve what is worth a thread.
  Division d;
  d.parts = p;
  d.pieces = 1;
  for (int64_t n = p.parts; n < worth && d.pieces < @pieces@; n *= 2) ++d.pieces;
  for (int64_t i = 0; i < p.parts; ++i) d.shares[i].taken = 0;
  const int n = static_cast<int>(p.parts);
  if (seen == nullptr || p.parts <= seen->most_at_once) {
    parallel(ctx, n, RunPart, &d);
    return;
  }
  for (int i = 0; i < n; ++i) d.runs[i] = 0, d.at_once[i] = 0;
  parallel(ctx, n, RunCountedPart, &d);
  for (int i = 0; i < n; ++i) {
    if (d.at_once[i] > seen->most_at_once) seen->most_at_once = d.at_once[i];
  }
}
)";

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

  static constexpr char kLargePages[] =
      "\nstatic void* LargePages(std::size_t bytes) {\n"
      "  const std::size_t page = std::size_t{2} << 20;\n"
      "  bytes = (bytes + page - 1) / page * page;\n"
      "  void* const memory = std::aligned_alloc(page, bytes);\n"
      "#ifdef __linux__\n"
      "  if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);\n"
      "#endif\n  return memory;\n}\n";

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
