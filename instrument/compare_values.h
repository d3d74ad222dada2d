// Compares what a program computes before and after a pass.

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
  // functions among the values there, on random arguments of the types of their
  // parameters; if null, it does not call them.
  const IRModule* before = nullptr;
  const IRModule* after = nullptr;
  // The seed of these arguments.
  uint32_t seed = 0;
  // If not null, gets a line for each part that could not be compared.
  std::vector<std::string>* not_compared = nullptr;
  // What messages call the value.
  std::string name = "result";
};

// OK if a pass of the class of `info` (transform/value_promise.h) may turn
// `before` into `after`: the same bits, or, if it is not exact, tensors that
// differ by no more than its tolerance times their largest element; if it
// changes the precision, integers may differ by one, and floating-point dtypes
// may be other ones. NaN agrees with NaN, an infinity with itself, and the two
// with each other unless the pass is exact: a sum of infinities may be NaN in
// one order and infinite in another. The error says where they differ and how
// much. What is unknown (relay/runtime/evaluator.h) cannot be compared. If all
// else agrees, but some parts could not be compared and options.not_compared is
// null, the error is Unimplemented and gives the reason for the first such
// part.
absl::Status CompareValues(const Value& before, const Value& after,
                           const PassInfo& info,
                           const CompareValuesOptions& options = {});

// `info` with at least the tolerance that eight roundings of the shortest
// floating-point dtype in two typed modules make.
PassInfo WithRounding(PassInfo info, const IRModule& before,
                      const IRModule& after);

}  // namespace baton

#endif  // BATON_INSTRUMENT_COMPARE_VALUES_H_
