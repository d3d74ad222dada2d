// SkipInstrument: skips chosen executions of passes, or all after one of them.

#ifndef BATON_INSTRUMENT_SKIP_H_
#define BATON_INSTRUMENT_SKIP_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct SkipOptions {
  // The numbers of executions to skip. A skipped execution takes no number: the
  // next execution gets it. So each number refers to a run in which the
  // executions with smaller numbers are already skipped.
  std::set<int64_t> numbers = {};
  // The executions to skip of the passes with these names, counted from 1 for
  // each name.
  std::map<std::string, std::set<int64_t>> of_pass = {};
  // The last execution that runs. Passes inside it run as well, unless it is a
  // sequence. Negative for no limit.
  int64_t stop_after = -1;
};

// Skips executions. Passes that the context requires cannot be skipped.
class SkipInstrument final : public PassInstrument {
 public:
  explicit SkipInstrument(SkipOptions options)
      : PassInstrument("SkipInstrument"), options_(std::move(options)) {}

  absl::Status EnterPassContext() override;
  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override;

 private:
  const SkipOptions options_;
  std::set<int64_t> left_out_;  // those of `numbers` that were skipped
  std::map<std::string, int64_t> asked_;
};

// Adds `FuseOps#2` to `of_pass`. Returns false if `text` has no `#`. An error
// if the part after `#` is not a number from 1.
absl::StatusOr<bool> AddExecutionOf(absl::string_view text,
                                    SkipOptions& options);

}  // namespace baton

#endif  // BATON_INSTRUMENT_SKIP_H_
