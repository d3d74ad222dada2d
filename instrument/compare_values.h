// Compares the values of a program before and after a pass.

#ifndef BATON_INSTRUMENT_COMPARE_VALUES_H_
#define BATON_INSTRUMENT_COMPARE_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass_info.h"

namespace baton {

struct CompareValuesOptions {
  // The modules in which the values were evaluated. CompareValues calls
  // functions among the values in these modules, on random arguments of the
  // types of their parameters. If null, CompareValues does not call them.
  const IRModule* before = nullptr;
  const IRModule* after = nullptr;
  // The seed of the random arguments.
  uint32_t seed = 0;
  // If not null, gets a line for each part that could not be compared.
  std::vector<std::string>* not_compared = nullptr;
  // The name of the value in messages.
  std::string name = "result";
};

// OK if a pass with the promise of `info` (transform/value_promise.h) may turn
// `before` into `after`.
// - An exact pass must keep every bit.
// - For any other pass, tensors may differ by at most the tolerance times their
//   largest element.
// - If the pass changes the precision, integers may differ by one, and
//   floating-point dtypes may change.
// - NaN agrees with NaN, and an infinity with itself. Unless the pass is exact,
//   NaN also agrees with an infinity: a sum of infinities may be NaN in one
//   order and infinite in another.
//
// The error says where the values differ and by how much. Unknown values
// (relay/runtime/evaluator.h) cannot be compared. If all other parts agree,
// some parts could not be compared, and options.not_compared is null, the error
// is Unimplemented and gives the reason for the first such part.
absl::Status CompareValues(const relay::Value& before,
                           const relay::Value& after, const PassInfo& info,
                           const CompareValuesOptions& options = {});

// Returns `info` with its tolerance raised to at least eight roundings of the
// shortest floating-point dtype in the two typed modules.
PassInfo WithRounding(PassInfo info, const IRModule& before,
                      const IRModule& after);

}  // namespace baton

#endif  // BATON_INSTRUMENT_COMPARE_VALUES_H_
