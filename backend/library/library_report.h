// The report of a library: its bytes by step, ONNX node and file.

#ifndef BATON_BACKEND_LIBRARY_LIBRARY_REPORT_H_
#define BATON_BACKEND_LIBRARY_LIBRARY_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/backend/library/arena_blocks.h"
#include "baton/backend/library/code_sizes.h"
#include "baton/backend/library/compile_model.h"
#include "baton/backend/library/library_model.h"
#include "baton/base/hash_table.h"
#include "baton/base/json.h"

namespace baton {

// A step, as the writer of the sources describes it.
struct ReportedStep {
  // The functions that the step calls, symbols of the objects: the first one
  // with one thread. Equal steps call the same ones.
  std::vector<std::string> functions;
  int64_t items = 1;                // that the most threads divide
  int64_t text_bytes = 0;           // of its source
  std::vector<int> constants = {};  // of its function of loops, by number
};

// A member of Inputs or Outputs.
struct ReportedMember {
  std::string name;
  const LibrarySlot* slot = nullptr;
};

// The input of a report. `model`, `options` and `library` outlive the report.
struct ReportInput {
  const LibraryModel& model;
  const CompileModelOptions& options;
  const CompiledModel& library;  // the files and the weights
  std::vector<ReportedStep> steps;
  std::vector<ReportedMember> inputs;
  std::vector<ReportedMember> outputs;
  std::string hash;       // of code and weights
  std::string code_hash;  // without weights; in the names of steps
  int64_t weight_bytes = 0;
  int64_t weights_object_bytes = 0;
  std::string max_error;  // of options.contract
};

class LibraryReport {
 public:
  // An error if an object in options.objects cannot be read.
  static absl::StatusOr<LibraryReport> Create(ReportInput input);

  // NAME.report.json, for files that are in `library` by now. The bytes of
  // steps and the rest of a file are those of the file.
  std::string Json() const;
  // A text for people: a line for each step, with sums; then the files.
  std::string Text() const;

 private:
  // The sizes of steps that have the same nodes, together.
  struct NodeSizes {
    std::string origin;
    int64_t text = 0;
    int64_t code = 0;
    int64_t weights = 0;
    int64_t arena = 0;
  };
  using StepsByHash = FlatHashMap<std::string, std::vector<size_t>>;

  explicit LibraryReport(ReportInput input) : input_(std::move(input)) {}
  absl::Status FindSizes();
  std::vector<int64_t> WeightsOfSteps() const;
  // The steps of a symbol of C++: names of functions end in their hashes, and
  // names of steps in numbers.
  std::vector<size_t> StepsOfSymbol(absl::string_view symbol,
                                    const StepsByHash& steps_of_hash) const;
  std::vector<NodeSizes> SizesOfNodes() const;
  // The sizes of a variant's dimensions, in the order of options.bounds.
  std::vector<int64_t> SizesOfVariant(size_t variant) const;
  void WriteArena(JsonWriter& json) const;
  // The bytes of steps, of sections and of tables are those of an object's file.
  void WriteObjects(JsonWriter& json) const;

  ReportInput input_;
  // By step.
  std::vector<int64_t> weights_of_;
  std::vector<int64_t> arena_of_;
  std::vector<int64_t> code_of_;    // in all objects
  std::vector<CodeSizes> objects_;  // as options.objects
};

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_LIBRARY_REPORT_H_
