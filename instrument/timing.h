// PassTimingInstrument: how much time each pass took.
//
//   auto timing = std::make_shared<PassTimingInstrument>();
//   PassContext context({.instruments = {timing}});
//   context.Run([&]() -> absl::Status {
//     BATON_ASSIGN_OR_RETURN(module, pipeline(module));
//     BATON_ASSIGN_OR_RETURN(profile, timing->Render());  // before leaving
//     ...
//
// Instruments run in the order of the context's list. The time of a pass
// includes RunBeforePass of the instruments after this one and RunAfterPass of
// those before it, and all hooks that are called for passes inside it; with
// MeasureInstruments(), instruments have times of their own instead:
//
//   PassContext context(
//       {.instruments = MeasureInstruments({timing, checker}, timing)});

#ifndef BATON_INSTRUMENT_TIMING_H_
#define BATON_INSTRUMENT_TIMING_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// One execution of a pass and those inside it. Times are in nanoseconds.
struct PassProfile {
  std::string name;
  int64_t number = 0;  // PassExecution::number
  int depth = 0;       // 0 at the outermost profile
  int64_t total = 0;
  int64_t self = 0;  // without the passes inside
  bool changed = false;
  bool failed = false;
  std::vector<PassProfile> children;
};

// All calls of the hooks of one instrument, in nanoseconds.
struct InstrumentTime {
  std::string name;
  int64_t total = 0;
  int64_t calls = 0;
};

// All executions of the passes of one name. Times are in nanoseconds.
struct PassSum {
  std::string name;
  int64_t runs = 0;
  int64_t total = 0;  // an execution inside another one counts once
  int64_t self = 0;   // without the passes inside
};

class PassTimingInstrument final : public PassInstrument {
 public:
  struct Options {
    // The time now, in nanoseconds since some fixed moment; null for the
    // machine's steady clock.
    std::function<int64_t()> clock;
    // The stream for warnings; null for standard error.
    std::ostream* warnings = nullptr;
  };

  PassTimingInstrument() : PassTimingInstrument(Options()) {}
  explicit PassTimingInstrument(Options options);

  // One line for each pass: a tab for each level of nesting, then
  //   NAME: TOTALus [SELFus] (PART OF ALL%; PART OF PARENT%)
  // Then, if instruments are measured, one line for each of them:
  //   instrument NAME: TOTALus (CALLS calls)
  // Empty, with a warning, if no pass was profiled. An error if called while a
  // pass is running.
  absl::StatusOr<std::string> Render() const;

  // Sums() as a table, then the instruments as above. Passes whose own time is
  // less than `min_percent` of that of all passes share one line.
  absl::StatusOr<std::string> RenderSums(double min_percent = 0) const;

  // {"version":1,"passes":[{"name":...,"number":...,"depth":...,
  // "total_us":...,"self_us":...,"changed":...,"children":[...]}]} and a line
  // feed; if instruments are measured, with
  // "instruments":[{"name":...,"total_us":...,"calls":...}] behind the passes.
  absl::StatusOr<std::string> RenderJson() const;

  // The profiles that Render() and RenderJson() show.
  absl::StatusOr<std::vector<PassProfile>> Profiles() const;
  // The pass that took the most time itself first.
  absl::StatusOr<std::vector<PassSum>> Sums() const;
  // In the order of the context's list; empty without MeasureInstruments().
  const std::vector<InstrumentTime>& instrument_times() const {
    return instrument_times_;
  }

  // Clears the profiles.
  absl::Status ExitPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  friend class MeasuredInstrument;
  struct Record {
    Pass pass;
    int64_t number;
    int64_t start;
    int64_t end;  // both without the time of instruments
    int parent;   // index; -1 at the outermost
    bool changed;
    bool failed;
  };

  int64_t Now() const;
  // The time without that of measured instruments.
  int64_t PassNow() const { return Now() - instruments_total_; }
  void Finish(bool changed, bool failed);
  std::string InstrumentLines() const;

  Options options_;
  std::vector<Record> records_;  // in order of start
  int open_ = -1;  // index of the innermost that has not ended; -1 for none
  std::vector<InstrumentTime> instrument_times_;
  int64_t instruments_total_ = 0;
};

// The same instruments, whose hooks tell `timing`, one of them, how long they
// take: that time is theirs and not the passes'.
PassInstruments MeasureInstruments(
    PassInstruments instruments,
    const std::shared_ptr<PassTimingInstrument>& timing);

}  // namespace baton

#endif  // BATON_INSTRUMENT_TIMING_H_
