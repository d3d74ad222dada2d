// The instruments of a run of baton-opt over one module.

#ifndef BATON_TOOLS_OPT_INSTRUMENTS_H_
#define BATON_TOOLS_OPT_INSTRUMENTS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/instrument_registry.h"
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

// The texts of files that instruments write (InstrumentRun::output), by name.
using OutputTexts = std::map<std::string, std::shared_ptr<std::string>>;

class RunInstruments {
 public:
  // `module_number`: among `num_modules`, from 1. Instruments append to the
  // texts of `files`, by name.
  static absl::StatusOr<RunInstruments> Create(const OptOptions& options,
                                               const PreparedRun& prepared,
                                               size_t module_number,
                                               size_t num_modules,
                                               Console& console,
                                               OutputTexts& files);

  // Adds an instrument that precedes all others.
  void AddFirst(const std::shared_ptr<PassInstrument>& instrument) {
    instruments_.insert(instruments_.begin(), instrument);
    first_ = instrument;
  }

  // True if there will be a report.
  bool has_report() const {
    return !texts_->report.empty() || prints_ || has_registered_;
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

  // Writes the files of instruments (InstrumentRun::at_exit). `signal`: the one
  // that ends the process; 0 for none.
  absl::Status WriteFiles(int signal = 0) const;

 private:
  // Runs the passes once more, to check values.
  absl::Status CheckValuesSeparately(const Pass& pipeline,
                                     const IRModule& module,
                                     PassContextOptions context) const;
  // The report for OptOptions::report, which must be set.
  absl::StatusOr<std::string> JsonReport() const;

  PassInstruments instruments_;
  // Makes the instruments of a second run that checks values; null if there is
  // none.
  std::function<absl::StatusOr<CheckingInstruments>(const Pass& pipeline)>
      make_value_checks_;
  std::shared_ptr<PassInstrument> first_;     // null if there is none
  std::shared_ptr<PassInstrument> progress_;  // null if there is none
  std::shared_ptr<PassTimingInstrument> timing_;
  std::shared_ptr<HistoryRecorder> recorder_;
  std::shared_ptr<ExecutedPasses> executed_;
  // The functions that instruments gave to the InstrumentRun.
  struct Texts {
    std::vector<InstrumentReport> report;  // the last one first
    std::vector<InstrumentText> at_end;
    std::vector<std::pair<std::string, InstrumentText>> json;
    std::vector<std::function<absl::Status()>> after_passes;
    std::function<std::optional<IRModule>()> result;  // null if there is none
    std::vector<std::function<absl::Status(int signal)>> at_exit;
  };
  std::shared_ptr<Texts> texts_ = std::make_shared<Texts>();
  // The checks of the last run: of the second one, if values are checked apart.
  mutable CheckingInstruments checks_;
  bool reports_ = false;  // to OptOptions::report
  bool prints_ = false;   // --print_after and the like
  bool has_registered_ = false;
};

}  // namespace baton

#endif  // BATON_TOOLS_OPT_INSTRUMENTS_H_
