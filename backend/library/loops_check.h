// LoopsCheck: finds the first step of lowering after which a function of loops
// computes other values than the function of Relay from which it was made.
//
//   auto check = std::make_shared<LoopsCheck>(/*seed=*/0);
//   BATON_RETURN_IF_ERROR(check->AddFunction(relay, "nn_softmax", {}, origin));
//   BATON_RETURN_IF_ERROR(check->Check(loops, "nn_softmax", "the lowering"));
//   context.instruments.push_back(check);  // after each pass

#ifndef BATON_BACKEND_LIBRARY_LOOPS_CHECK_H_
#define BATON_BACKEND_LIBRARY_LOOPS_CHECK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

class LoopsCheck final : public PassInstrument {
 public:
  explicit LoopsCheck(uint32_t seed);

  // Evaluates the function `name` of a typed module on random arguments: loops
  // of that name must give its results, bit for bit; any NaN equals any other.
  // `constants` are further arguments of the loops. `origin`, for messages, has
  // a line for each node that calls the function. A function that cannot be
  // evaluated on random arguments is not compared.
  absl::Status AddFunction(const IRModule& relay, const std::string& name,
                           absl::Span<const relay::Constant> constants,
                           const std::string& origin);

  // Runs the loops `name` of `loops`. The error for other results names `step`,
  // such as `the lowering to loops`, and the node. Does nothing for functions
  // that were not added, and for those that take longer than a check may.
  absl::Status Check(const IRModule& loops, const std::string& name,
                     absl::string_view step);

  // Checks the functions that the pass changed.
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

  // The number of results that were compared.
  int64_t num_compared() const { return num_compared_; }
  // A line for each function that is not compared.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Expected {
    std::string origin;             // the first line
    std::vector<Tensor> arguments;  // inputs, constants, memory for results
    std::vector<Tensor> results;
    BaseFunc checked;  // the loops that were compared last
    bool is_skipped = false;
  };

  const uint32_t seed_;
  std::map<std::string, Expected> functions_;
  std::vector<std::string> notes_;
  int64_t num_compared_ = 0;
};

}  // namespace baton

#endif  // BATON_BACKEND_LIBRARY_LOOPS_CHECK_H_
