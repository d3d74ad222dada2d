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
  // Called with one line that says which parts of a result could not be
  // compared; may be null.
  std::function<void(absl::string_view line)> not_compared = {};
};

// Evaluates a function on random arguments before and after each pass that
// changes the module. An error names the first pass whose result computes
// something else: other bits, or, after a pass that is not exact (PassInfo), a
// tensor that differs by more than the pass's tolerance times its largest
// element. A program that cannot be evaluated is an error as well.
//
// Functions in a result are called; constructors are compared by name. A part
// that cannot be compared, such as a function with parameters for which no
// random values can be made, is reported to `not_compared` and is no error.
//
// The arguments are the same within a context: those of RandomRange::kPlain,
// or, if these make a result infinite or NaN, those of kMild.
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
  std::optional<std::vector<Value>> args_;  // nullopt until they are chosen
  // The module that was evaluated last, and what it computed.
  IRModule evaluated_;
  IRModule typed_;  // the same, with types
  Value value_;
};

struct CompareValuesOptions {
  // The modules in which the values were evaluated. CompareValues calls
  // functions among the values there, on random arguments of the types of their
  // parameters; if null, it does not call them.
  const IRModule* before = nullptr;
  const IRModule* after = nullptr;
  // The seed of these arguments.
  uint32_t seed = 0;
  // If not null, gets a line for each part that could not be compared.
  std::vector<std::string>* not_compared = nullptr;
};

// OK if a pass with the promises of `info` may turn `before` into `after`. The
// error says where they differ and how much. If all else agrees, but some parts
// could not be compared and options.not_compared is null, the error is
// Unimplemented and gives the reason for the first such part.
absl::Status CompareValues(const Value& before, const Value& after,
                           const PassInfo& info,
                           const CompareValuesOptions& options = {});

}  // namespace baton

#endif  // BATON_INSTRUMENT_CHECK_VALUES_H_
