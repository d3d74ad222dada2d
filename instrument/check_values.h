// CheckValuesInstrument: finds the pass that changes what a program computes.

#ifndef BATON_INSTRUMENT_CHECK_VALUES_H_
#define BATON_INSTRUMENT_CHECK_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct CheckValuesOptions {
  // The function that is evaluated.
  std::string function = "main";
  uint32_t seed = 0;
};

// Evaluates a function on random arguments before and after each pass that
// changes the module. An error names the first pass whose result computes
// something else: other bits, or, after a pass that is not exact (PassInfo), a
// tensor that is further off than the pass's tolerance times its largest
// element. A program that cannot be evaluated is an error as well.
//
// The arguments are the same in the whole context: those of
// RandomRange::kPlain, or if with these a result is infinite or no number,
// those of kMild.
class CheckValuesInstrument final : public PassInstrument {
 public:
  explicit CheckValuesInstrument(CheckValuesOptions options = {});

  absl::Status ExitPassContext() override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

 private:
  absl::StatusOr<Value> Evaluate(const IRModule& module);
  absl::StatusOr<Value> EvaluateFirst(const IRModule& module);

  const CheckValuesOptions options_;
  std::optional<std::vector<Value>> args_;  // once they are chosen
  // The module that was evaluated last, and what it computed.
  IRModule evaluated_;
  Value value_;
};

// OK if `after` is what a pass with the promises of `info` may make of
// `before`. The error says where they differ and how much.
absl::Status CompareValues(const Value& before, const Value& after,
                           const PassInfo& info);

}  // namespace baton

#endif  // BATON_INSTRUMENT_CHECK_VALUES_H_
