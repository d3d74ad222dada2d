// The instruments of a run of baton-opt over one module.

#ifndef BATON_TOOLS_OPT_INSTRUMENTS_H_
#define BATON_TOOLS_OPT_INSTRUMENTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/instrument/bisect.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/op_differ.h"
#include "baton/instrument/remarks.h"
#include "baton/instrument/skip.h"
#include "baton/instrument/timing.h"
#include "baton/ir/module.h"
#include "baton/tools/console.h"
#include "baton/tools/opt.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/unused_flags.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// An error if a flag of an instrument is wrong by itself, beside another flag,
// or for `prepared`.
absl::Status CheckInstrumentFlags(const OptOptions& options,
                                  const PreparedRun& prepared);

class RunInstruments {
 public:
  // `module_number`: among `num_modules`, from 1. Remarks for a file go to
  // `remarks`.
  static absl::StatusOr<RunInstruments> Create(
      const OptOptions& options, const PreparedRun& prepared,
      size_t module_number, size_t num_modules, Console& console,
      std::shared_ptr<std::string> remarks);

  // Adds an instrument that precedes all others.
  void AddFirst(const std::shared_ptr<PassInstrument>& instrument) {
    instruments_.insert(instruments_.begin(), instrument);
    first_ = instrument;
  }

  // True if there will be a report.
  bool has_report() const {
    return bisect_ != nullptr || shows_timing_ || shows_diff_ || prints_ ||
           remarks_ != nullptr || has_registered_;
  }

  // The result of the passes on a module, and the reports about it.
  struct Outcome {
    IRModule module;
    std::string report;
    std::string json_report;  // empty if not requested
    // The lines about flags without effect, and about what was checked.
    std::vector<std::string> unused;
    std::string checked;
  };
  // Runs the pipeline over `module`. If a pass fails, `outcome` has the reports
  // up to there.
  absl::Status Run(const PreparedRun& prepared, IRModule module,
                   Outcome* outcome) const;

  // Writes the history, if one is recorded.
  absl::Status WriteRecord(int signal = 0) const;
  // The statistics of the passes, also if a pass failed.
  std::string Statistics() const {
    return remarks_ == nullptr ? "" : remarks_->StatisticsText();
  }

 private:
  // Runs the passes once more, to check values.
  absl::Status CheckValuesSeparately(const Pass& pipeline,
                                     const IRModule& module,
                                     PassContextOptions context) const;
  // Adds the measurements to the history; the context must not have exited.
  absl::Status RecordMeasurements() const;
  // The report after the passes; the context must not have exited.
  absl::StatusOr<std::string> Report() const;
  // The report for OptOptions::report, which must be set.
  absl::StatusOr<std::string> JsonReport() const;

  PassInstruments instruments_;
  // Makes the instruments of a second run that checks values; null if there is
  // none.
  std::function<absl::StatusOr<CheckingInstruments>(const Pass& pipeline)>
      make_value_checks_;
  std::shared_ptr<PassInstrument> first_;     // null if there is none
  std::shared_ptr<PassInstrument> progress_;  // null if there is none
  std::shared_ptr<SkipInstrument> skip_;      // null if there is none
  std::shared_ptr<BisectInstrument> bisect_;
  std::shared_ptr<PassTimingInstrument> timing_;
  std::shared_ptr<OpDiffer> differ_;
  std::shared_ptr<RemarkInstrument> remarks_;
  // True after the first remark.
  std::shared_ptr<bool> any_remark_ = std::make_shared<bool>(false);
  bool wants_remarks_ = false;  // --remarks writes to standard error
  std::string remarks_flag_;
  bool shows_statistics_ = false;
  std::shared_ptr<HistoryRecorder> recorder_;
  std::shared_ptr<ExecutedPasses> executed_;
  PassPatterns patterns_;
  // The functions that instruments gave to InstrumentRun::at_end.
  std::shared_ptr<std::vector<std::function<std::string()>>> at_end_ =
      std::make_shared<std::vector<std::function<std::string()>>>();
  // The checks of the last run: of the second one, if values are checked apart.
  mutable CheckingInstruments checks_;
  std::string record_;
  bool record_tensors_ = false;
  bool measures_memory_ = false;
  bool shows_timing_ = false;
  bool shows_diff_ = false;
  std::string timing_format_;
  double timing_threshold_ = 0;
  bool trace_to_file_ = false;
  bool reports_ = false;  // to OptOptions::report
  bool prints_ = false;   // --print_after and the like
  bool has_registered_ = false;
};

}  // namespace baton

#endif  // BATON_TOOLS_OPT_INSTRUMENTS_H_
