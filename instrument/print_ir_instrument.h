// PrintIrInstrument: prints the module before and after passes. To print at one
// place of a pipeline, use the pass PrintIR (transform/print_ir.h). baton-opt
// has it as --print_before, --print_after, --print_changed.

#ifndef BATON_INSTRUMENT_PRINT_IR_INSTRUMENT_H_
#define BATON_INSTRUMENT_PRINT_IR_INSTRUMENT_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/transform/pass_instrument.h"

namespace re2 {
class RE2;
}

namespace baton {

struct PrintIrOptions {
  // Regular expressions (RE2) that the name of a pass must match as a whole.
  // Empty matches nothing.
  std::string before = {};
  std::string after = {};
  // Selects the output after each pass that changed the module, whatever its
  // name. Skips sequences, since their passes are printed, and the type
  // inference inside a function pass, since that pass is printed.
  enum class Changed {
    kNone,
    kFull,        // the module
    kDiff,        // DiffLines of each function whose text changed
    kStructural,  // StructuralDiffText, instrument/structural_diff.h
  };
  Changed changed = Changed::kNone;
  // Filters; each that is empty lets all through. The numbers of executions,
  // the name of a function, and a regular expression that must match the name
  // of an operator, as a whole: prints functions that call it.
  std::set<int64_t> numbers = {};
  std::string function = {};
  std::string op = {};
  TextOptions text = {
      .version = false, .metadata = false, .note_omitted_metadata = false};
  // Null for standard error.
  std::ostream* out = nullptr;
  // Receives the output in place of `out`, unless it is null.
  std::function<void(absl::string_view)> write = nullptr;
};

// Prints a comment that names the pass, and then the module:
//
//   // IR after #3 FoldConstant, in #1 sequential
//   def @main(...) { ... }
//
// and then an empty line. Differences are in the unified format:
//
//   // IR changed by #3 FoldConstant, in #1 sequential
//   --- @main
//   +++ @main
//   @@ -1,3 +1,3 @@
//    def @main(...) {
//   -  add(1f, 2f)
//   +  3f
//    }
class PrintIrInstrument final : public PassInstrument {
 public:
  // An error if a regular expression is ill-formed.
  static absl::StatusOr<std::shared_ptr<PrintIrInstrument>> Create(
      PrintIrOptions options);
  ~PrintIrInstrument() override;

  // A line for each option that had no effect on the run:
  //   --print_after=FuseOps: this run has no pass that matches
  //   --print_executions=9: the last execution of this run is #4
  std::string Unmatched() const;

  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

 private:
  explicit PrintIrInstrument(PrintIrOptions options);
  void Print(absl::string_view where, const PassExecution& pass,
             const std::string& text);
  void PrintModule(absl::string_view where, const PassExecution& pass,
                   const IRModule& module);
  bool HasFilter() const {
    return !options_.function.empty() || op_ != nullptr;
  }
  // A line for each of `numbers` that the run did not reach.
  std::string MissedNumbers() const;
  // The functions of `module` that the filters let through in `module` or in
  // `other`; `module` itself without filters.
  IRModule Filtered(const IRModule& module, const IRModule& other) const;

  PrintIrOptions options_;
  std::unique_ptr<const re2::RE2> before_;  // null if it matches nothing
  std::unique_ptr<const re2::RE2> after_;
  std::unique_ptr<const re2::RE2> op_;
  bool matched_before_ = false;
  bool matched_after_ = false;
  bool matched_function_ = false;
  bool any_change_ = false;
  std::set<int64_t> reached_;  // of options_.numbers
  int64_t last_number_ = 0;
  bool has_printed_ = false;
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_PRINT_IR_INSTRUMENT_H_
