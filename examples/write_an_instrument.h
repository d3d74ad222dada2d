// The examples of docs/write_an_instrument.md: GrowthInstrument, which records
// how the size of the program changes, and SkipInstrument, which keeps passes
// from running.

#ifndef BATON_EXAMPLES_WRITE_AN_INSTRUMENT_H_
#define BATON_EXAMPLES_WRITE_AN_INSTRUMENT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton::examples {

// The number of nodes in the functions of `module`, without operators.
int64_t CountNodes(const IRModule& module);

// [growth_declaration]
// Records the size of the program around each pass that changed it. A pass that
// makes it more than `limit` times as large fails.
class GrowthInstrument final : public PassInstrument {
 public:
  struct Change {
    std::string pass;
    int64_t before;
    int64_t after;
  };

  explicit GrowthInstrument(double limit)
      : PassInstrument("GrowthInstrument"), limit_(limit) {}

  const std::vector<Change>& changes() const { return changes_; }

  absl::Status EnterPassContext() override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

 private:
  const double limit_;
  std::vector<Change> changes_;
};
// [/growth_declaration]

// [skip]
// Keeps the named passes from running, wherever they are called from.
class SkipInstrument final : public PassInstrument {
 public:
  explicit SkipInstrument(std::vector<std::string> names)
      : PassInstrument("SkipInstrument"), names_(std::move(names)) {}

  absl::StatusOr<bool> ShouldRun(const IRModule& module,
                                 const PassExecution& pass) override;

 private:
  const std::vector<std::string> names_;
};
// [/skip]

}  // namespace baton::examples

#endif  // BATON_EXAMPLES_WRITE_AN_INSTRUMENT_H_
