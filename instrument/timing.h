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
// those before it.

#ifndef BATON_INSTRUMENT_TIMING_H_
#define BATON_INSTRUMENT_TIMING_H_

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
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
  // Empty, with a warning, if no pass was profiled. An error if called while a
  // pass is running.
  absl::StatusOr<std::string> Render() const;

  // {"version":1,"passes":[{"name":...,"number":...,"depth":...,
  // "total_us":...,"self_us":...,"changed":...,"children":[...]}]} and a line
  // feed.
  absl::StatusOr<std::string> RenderJson() const;

  // The profiles that Render() and RenderJson() show.
  absl::StatusOr<std::vector<PassProfile>> Profiles() const;

  // Clears the profiles.
  absl::Status ExitPassContext() override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;
  void PassFailed(const IRModule& module, const PassExecution& pass,
                  const absl::Status& error) override;

 private:
  struct Record {
    Pass pass;
    int64_t number;
    int64_t start;
    int64_t end;
    int parent;  // index; -1 at the outermost
    bool changed;
    bool failed;
  };

  int64_t Now() const;
  void Finish(bool changed, bool failed);

  Options options_;
  std::vector<Record> records_;  // in order of start
  int open_ = -1;  // index of the innermost that has not ended; -1 for none
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_TIMING_H_
