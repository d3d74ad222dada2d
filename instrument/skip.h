// SkipInstrument: leaves out single executions of passes, or all from one on.

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
  // Executions, by number, that are left out. A pass that is left out takes no
  // number: the execution after it gets that number. So a number is that of the
  // run which already leaves out the smaller ones.
  std::set<int64_t> numbers = {};
  // By name of a pass, from 1, the executions of that pass that are left out.
  std::map<std::string, std::set<int64_t>> of_pass = {};
  // The last execution that takes place, with what runs inside of it unless it
  // is a sequence; negative for all.
  int64_t stop_after = -1;
};

// Passes that the context requires cannot be left out.
class SkipInstrument final : public PassInstrument {
 public:
  explicit SkipInstrument(SkipOptions options)
      : PassInstrument("SkipInstrument"), options_(std::move(options)) {}

  absl::Status EnterPassContext() override;
  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override;

 private:
  const SkipOptions options_;
  std::set<int64_t> left_out_;  // of `numbers`
  std::map<std::string, int64_t> asked_;
};

// Adds `FuseOps#2` to `of_pass`. False if `text` has no `#`; an error if what
// follows it is not a number from 1.
absl::StatusOr<bool> AddExecutionOf(absl::string_view text,
                                    SkipOptions& options);

}  // namespace baton

#endif  // BATON_INSTRUMENT_SKIP_H_
