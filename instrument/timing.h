// PassTimingInstrument: measures the time of each pass and, optionally, its
// memory, its instructions, and the time per function and thread.
//
//   auto timing = std::make_shared<PassTimingInstrument>();
//   PassContext context({.instruments = {timing}});
//   context.Run([&]() -> absl::Status {
//     BATON_ASSIGN_OR_RETURN(module, pipeline(module));
//     BATON_ASSIGN_OR_RETURN(profile, timing->Render());  // before leaving
//     ...
//
// Instruments run in the order of the context's list. The time of a pass
// includes RunBeforePass of the instruments after this one, RunAfterPass of the
// instruments before it, and all hooks for passes inside it.
// MeasureInstruments() gives instruments separate times instead:
//
//   PassContext context(
//       {.instruments = MeasureInstruments({timing, checker}, timing)});

#ifndef BATON_INSTRUMENT_TIMING_H_
#define BATON_INSTRUMENT_TIMING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/instrument/history.h"
#include "baton/instrument/instruction_counter.h"
#include "baton/instrument/peak_memory.h"
#include "baton/ir/module.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// The execution of a function pass on one function.
struct FunctionProfile {
  std::string name;
  // Nanoseconds since the first pass began, with the time of instruments.
  int64_t start = 0;
  int64_t end = 0;
  int64_t total = 0;  // in nanoseconds, without the time of instruments
  int thread = 0;     // 0: the thread of the first pass
  int64_t nodes = 0;  // new nodes, if memory is measured
};

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

  // Set if Options request them.
  std::optional<PassMemory> memory = {};
  std::optional<int64_t> instructions = {};
  // In the order of the module, including functions that the pass did not
  // change; empty if the pass is no function pass.
  std::vector<FunctionProfile> functions = {};
};

// The time in all hooks of one instrument, in nanoseconds.
struct InstrumentTime {
  std::string name;
  int64_t total = 0;
  int64_t calls = 0;
  // True for the PassTimingInstrument, which measures more than time.
  bool is_timing = false;
};

// All executions of the passes with one name. Times are in nanoseconds.
struct PassSum {
  std::string name;
  int64_t runs = 0;
  int64_t total = 0;  // an execution inside another one counts once
  int64_t self = 0;   // without the passes inside
  std::optional<PassMemory> memory = {};     // as `total`; the largest peak
  std::optional<int64_t> instructions = {};  // as `self`
};

// The total of all function passes for one function, or on one thread.
struct FunctionSum {
  std::string name;
  int64_t runs = 0;
  int64_t total = 0;
};

// Measures passes, and keeps their profiles until the context exits.
class PassTimingInstrument final : public PassInstrument {
 public:
  struct Options {
    // Returns the time in nanoseconds since a fixed moment; null for the
    // machine's steady clock. Called on all threads on which passes run.
    std::function<int64_t()> clock;
    // The stream for warnings; null for standard error.
    std::ostream* warnings = nullptr;
    // The measurements besides time. Measuring memory makes the creation of
    // nodes slower: see docs/instrument_costs.md.
    bool functions = false;
    bool memory = false;
    // If the machine does not count instructions, prints a warning.
    bool instructions = false;
    // Keeps the data of RenderTrace().
    bool trace = false;
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

  // Sums() as a table, then the instruments as in Render(). One line combines
  // the passes whose own time is less than `min_percent` of the time of all
  // passes.
  absl::StatusOr<std::string> RenderSums(double min_percent = 0) const;

  // {"version":1,"passes":[{"name":...,"number":...,"depth":...,
  // "total_us":...,"self_us":...,"changed":...,"children":[...]}]} and a line
  // feed; if instruments are measured, with
  // "instruments":[{"name":...,"total_us":...,"calls":...}] behind the passes.
  absl::StatusOr<std::string> RenderJson() const;

  // The trace (trace_writer.h) shows passes, functions, hooks of measured
  // instruments, each on its thread, and the nodes and bytes of the module.
  // Requires Options::trace.
  absl::StatusOr<std::string> RenderTrace() const;

  // The time in nanoseconds without the time of measured instruments; the clock
  // stops in their hooks. For instruments that record when passes ran.
  int64_t PassClock() const { return in_hook_ ? hook_began_ : PassNow(); }

  // True if RenderTrace() has data.
  bool keeps_trace() const { return options_.trace; }
  // The profiles that Render() and RenderJson() show.
  absl::StatusOr<std::vector<PassProfile>> Profiles() const;
  // The sums by pass name, the largest own time first.
  absl::StatusOr<std::vector<PassSum>> Sums() const;
  // The sums by function, and by thread (`thread 0`, ...); the longest first.
  absl::StatusOr<std::vector<FunctionSum>> FunctionSums() const;
  absl::StatusOr<std::vector<FunctionSum>> ThreadSums() const;
  // In the order of the context's list. Without MeasureInstruments(), contains
  // at most this instrument, if it measures memory or keeps a trace.
  const std::vector<InstrumentTime>& instrument_times() const {
    return instrument_times_;
  }

  // Calls `fn`, and adds its time to that of the instrument `name`. For work of
  // an instrument while no pass is running.
  void MeasureInstrument(const std::string& name, absl::FunctionRef<void()> fn);

  // Clears the profiles.
  bool needs_untyped_modules() const override { return false; }
  absl::Status ExitPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  friend class MeasuredInstrument;
  // Monotonic counters, without the cost of measured instruments.
  struct Reading {
    int64_t time = 0;
    int64_t nodes = 0;
    int64_t node_bytes = 0;
    int64_t instructions = 0;
  };
  // Set if Options request them.
  struct More {
    PassMemory memory;
    std::vector<FunctionProfile> functions;
    // The size of the module after the pass, if it changed; for traces.
    std::optional<NodesMade> size;
  };
  struct Record {
    Pass pass;
    int64_t number;
    int parent;  // index; -1 at the outermost
    Reading start = {};
    Reading end = {};
    int64_t clock_start = 0;  // Now()
    int64_t clock_end = 0;
    int thread = 0;
    bool changed = false;
    bool failed = false;
    std::unique_ptr<More> more = nullptr;  // null if Options request nothing
  };
  // A call of a hook of a measured instrument.
  struct HookCall {
    size_t instrument;  // index
    const char* hook;
    int thread;
    int64_t start;  // Now()
    int64_t end;
  };
  class Observer;

  int64_t Now() const;
  int64_t PassNow() const { return Now() - instruments_.time; }
  Reading ReadNow() const;      // with the time of instruments
  Reading ReadForPass() const;  // without
  // Adds the peak since the last call to the running passes.
  void TakePeak();
  void DropPeak();
  int ThreadIndex(std::thread::id thread);
  void Finish(const IRModule* result, const PassExecution& pass, bool failed);
  // Adds the cost since `start` to this instrument.
  void ChargeSelf(int64_t start);
  std::string InstrumentLines() const;

  Options options_;
  std::optional<InstructionCounter> counter_;
  std::unique_ptr<PeakMemory> peak_;
  FunctionWatch watch_;
  std::vector<const FunctionWatch*> outer_watches_;
  std::vector<Record> records_;  // in order of start
  int open_ = -1;                // index of the innermost open one; -1 for none
  std::vector<InstrumentTime> instrument_times_;
  std::vector<HookCall> hook_calls_;
  std::vector<std::thread::id> threads_;
  std::optional<NodesMade> first_size_;  // of the module before all passes
  int64_t began_ = 0;                    // Now() at the first pass
  Reading instruments_;                  // the sum over all measured
                                         // instruments
  bool in_hook_ = false;
  int64_t hook_began_ = 0;  // the result of PassClock() in a hook
};

// Wraps the instruments so that `timing`, one of them, records the time of
// their hooks separately from the time of the passes.
PassInstruments MeasureInstruments(
    PassInstruments instruments,
    const std::shared_ptr<PassTimingInstrument>& timing);

}  // namespace baton

#endif  // BATON_INSTRUMENT_TIMING_H_
