// CheckValuesInstrument: finds the pass that changes what a program computes.

#ifndef BATON_INSTRUMENT_CHECK_VALUES_H_
#define BATON_INSTRUMENT_CHECK_VALUES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct CheckValuesOptions {
  // The function that is evaluated.
  std::string function = "main";
  uint32_t seed = 0;
  // Is told, in one line, what parts of a result could not be compared; null
  // for nobody.
  std::function<void(absl::string_view line)> not_compared = {};
};

// Evaluates a function on random arguments before and after each pass that
// changes the module. An error names the first pass whose result computes
// something else: other bits, or, after a pass that is not exact (PassInfo), a
// tensor that is further off than the pass's tolerance times its largest
// element. A program that cannot be evaluated is an error as well.
//
// Functions in a result are called; constructors are compared by name. What
// cannot be compared, such as a function whose parameters no random value can
// be made for, is no error, but said (`not_compared`).
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
  IRModule typed_;  // the same, with types
  Value value_;
};

struct CompareValuesOptions {
  // Where the values were evaluated. Functions among them are called there, on
  // random arguments of the types of their parameters; null: they are not.
  const IRModule* before = nullptr;
  const IRModule* after = nullptr;
  // Of the arguments.
  uint32_t seed = 0;
  // Takes a line for each part that could not be compared, if not null.
  std::vector<std::string>* not_compared = nullptr;
};

// OK if `after` is what a pass with the promises of `info` may make of
// `before`. The error says where they differ and how much. If all else agrees,
// but there are parts that could not be compared and nobody takes their list,
// the error is Unimplemented and says why for the first.
absl::Status CompareValues(const Value& before, const Value& after,
                           const PassInfo& info,
                           const CompareValuesOptions& options = {});

}  // namespace baton

#endif  // BATON_INSTRUMENT_CHECK_VALUES_H_
