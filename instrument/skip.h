// SkipInstrument: skips chosen executions of passes, or all after one of them.

#ifndef BATON_INSTRUMENT_SKIP_H_
#define BATON_INSTRUMENT_SKIP_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct SkipOptions {
  // The numbers of the executions to skip. With `count_inside` they are those
  // of a run in which nothing is skipped: a skipped execution, and those that
  // would run inside it, keep their numbers. Without, a skipped execution takes
  // no number: the next execution gets it.
  std::set<int64_t> numbers = {};
  // The executions to skip of the passes with these names, counted from 1 for
  // each name.
  std::map<std::string, std::set<int64_t>> of_pass = {};
  // The last execution of the run, with the passes inside it. Negative for no
  // limit; 0 skips all.
  int64_t stop_after = -1;
  // Counts the executions that would run inside `pass`; may be null.
  std::function<int64_t(const Pass& pass, const IRModule& module)>
      count_inside = nullptr;
};

// Skips executions. Passes that the context requires cannot be skipped.
class SkipInstrument final : public PassInstrument {
 public:
  explicit SkipInstrument(SkipOptions options)
      : PassInstrument("SkipInstrument"), options_(std::move(options)) {}

  // The module after execution `stop_after`; nullopt if the run ended before
  // that. It is not always the result of the run: a pass around that execution
  // which is no sequence goes on and may change the module.
  const std::optional<IRModule>& stopped() const { return stopped_; }

  // A line for each option that had no effect on the run:
  //   --skip_execution=9: the last execution of this run is #4
  //   --disabled_pass=FuseOps#3: this run has 2 executions of FuseOps
  std::vector<std::string> Unmet() const;

  absl::Status EnterPassContext() override;
  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override;
  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

 private:
  const SkipOptions options_;
  std::set<int64_t> skipped_;   // of options_.numbers
  std::set<int64_t> required_;  // of options_.numbers, which ran all the same
  std::map<std::string, int64_t> starts_;  // ShouldRun() calls by pass
  int64_t last_number_ = 0;  // of the executions so far, skipped ones too
  std::optional<IRModule> stopped_;
};

// Adds `FuseOps#2` to `of_pass`. Returns false if `text` has no `#`. An error
// if the part after `#` is not a number from 1.
absl::StatusOr<bool> AddExecutionOf(absl::string_view text,
                                    SkipOptions& options);

}  // namespace baton

#endif  // BATON_INSTRUMENT_SKIP_H_
