// CheckValuesInstrument: finds the pass that changes what a program computes.

#ifndef BATON_INSTRUMENT_CHECK_VALUES_H_
#define BATON_INSTRUMENT_CHECK_VALUES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/instrument/compare_values.h"
#include "baton/instrument/tensor_error.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/kernel_cache.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/finished_results.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

struct GivenValues {
  std::vector<Value> args;
  std::optional<Value> expected;
};

// The error that a pass added to the results of CheckValuesOptions::function.
struct AddedError {
  int64_t number = 0;  // of the execution
  std::string pass;
  // Whether it made another program, so that `added` is not known.
  bool is_other = false;
  TensorError added;
  // TensorError::of_largest of the results, compared with those before the
  // first pass. Where a pass makes another program, those are its results, and
  // the error before it is added.
  double in_all = 0;
};

struct CheckValuesOptions {
  // The function that must be there and be possible to evaluate, and to which
  // `given` and `max_error` belong.
  std::string function = "main";
  // Whether the other functions are checked, each by itself, as far as they can
  // be evaluated on random arguments.
  bool other_functions = true;
  uint32_t seed = 0;
  // Whether passes that promise to keep every bit must do so for special
  // numbers (special_inputs.h) in the arguments, too. Of a pass that
  // reassociates, `not_compared` is told where it changes the sign of a zero.
  bool special_values = false;
  // Gives the arguments, and what must be computed of them if that is known, of
  // the function as the first pass was given it, with types. Null: random
  // arguments.
  std::function<absl::StatusOr<GivenValues>(const Function& function)> given =
      {};
  // The results must be within so much of the largest element of each expected
  // tensor, before the first pass and after each.
  double expected_tolerance = 1e-3;
  // The most that AddedError::in_all may be; null for no limit.
  std::optional<double> max_error = {};
  // Called with one line that says which parts of a result could not be
  // compared, or which functions could not be evaluated; may be null.
  std::function<void(absl::string_view line)> not_compared = {};
  // Called with LedgerText(), if there is any, when the context exits; may be
  // null.
  std::function<void(absl::string_view text)> ledger = {};
  // Called with each entry of the ledger when it is made; may be null.
  std::function<void(const AddedError& error)> added = {};
};

// For the history of the run: what the execution did to the results, with the
// particulars `error` and `error_in_all` (of the largest element), `relative`
// and `ulp`.
Remark RemarkOf(const AddedError& error);

// Evaluates functions on random arguments before and after each pass that
// changes the module. An error names the first pass whose result computes
// something else (compare_values.h), and the first node that does
// (first_difference.h). A program that cannot be evaluated is an error as well,
// unless what is missing is a kernel: then what does not depend on it is
// compared.
//
// Each pass is held to its class (transform/value_promise.h). One that changes
// the precision rounds inside of a program, which may amplify that: its results
// may be as far off as those of arguments that are off by what it promises
// (nearby_inputs.h), and `not_compared` is told. One that promises no accuracy
// (ToMixedPrecision) is not held to any, but measured for the ledger; what is
// expected of the results is not asked any more. After a pass that promises
// nothing about results, or nothing for programs with references and there are
// some, or that makes results of another type, the program counts as another
// one: it gets random arguments, and need not be possible to evaluate.
//
// Functions in a result are called; constructors are compared by name. A part
// that cannot be compared, such as a function with parameters for which no
// random values can be made, is reported to `not_compared` and is no error.
//
// The arguments of a function are the same within a context: those of
// RandomRange::kPlain, or, if these make a result infinite or NaN, those of
// kMild. What two states of the program share is computed once
// (relay/runtime/kernel_cache.h).
class CheckValuesInstrument final : public PassInstrument,
                                    public SeesFinishedResults {
 public:
  explicit CheckValuesInstrument(CheckValuesOptions options = {});

  // In the order of the executions: those that change a bit of the results, and
  // those that make another program. Of this context, or of the last one until
  // another is entered.
  const std::vector<AddedError>& ledger() const { return ledger_; }
  // A line for each, empty if there is none:
  //   #7 FoldScaleAxis adds an error of 3.1e-07 of the largest element
  //   (relative 2.6e-06, 31 ULP); 3.1e-07 in all
  //   #9 ToCPS makes another program: what it adds is not known; 3.1e-07 in all
  std::string LedgerText() const;
  const KernelCache& cache() const { return cache_; }

  absl::Status EnterPassContext() override;
  absl::Status ExitPassContext() override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

 private:
  // A call of an operator without kernel, and what it was given.
  struct Cut {
    Call call;
    std::vector<Value> args;
  };
  // What a function computed.
  struct Result {
    absl::StatusOr<Value> value;
    std::vector<Cut> cuts;  // in the order of evaluation
  };
  // A module whose functions were evaluated.
  struct State {
    IRModule module;
    IRModule typed;  // the same, with types
    std::map<std::string, Result> results;
  };

  // Evaluates all functions; an error if `function` cannot be evaluated.
  absl::Status Evaluate(const IRModule& module, State& state);
  Result EvaluateOne(const IRModule& typed, const std::string& name);
  Result Apply(const IRModule& typed, const std::string& name,
               const std::vector<Value>& args);
  absl::Status CheckFirst(const State& state);
  // What options.expected asks of the results.
  absl::Status CompareExpected(const Value& actual) const;
  // Compares what `name` computes in both.
  absl::Status Compare(const State& before, const State& after,
                       const std::string& name, const PassInfo& info);
  // By how much what `name` computes moves, as TensorError::of_largest, if its
  // arguments move by what `info` promises.
  double ErrorOfNearbyArguments(const State& before, const std::string& name,
                                const PassInfo& info);
  // Notes where zeros in the arguments give a zero of another sign.
  void NoteSignsOfZeros(const State& before, const State& after,
                        const std::string& name, const PassInfo& info);
  absl::Status CompareSpecial(const State& before, const State& after,
                              const std::string& name, const PassInfo& info);
  // `status`, in words about `name`, with the first node that differs.
  absl::Status Explain(const absl::Status& status, const State& before,
                       const State& after, const std::string& name,
                       const std::vector<Value>& args, const PassInfo& info);
  absl::Status CompareCuts(const Result& before, const Result& after,
                           const PassInfo& info) const;
  // Adds to the ledger, and holds the results to the budget. False if the
  // results cannot be compared.
  absl::StatusOr<bool> AddError(const State& before, const State& after,
                                const PassExecution& pass);
  absl::Status CheckExpected(const State& after, const PassInfo& info) const;
  // What comes is another program.
  void BeginAgain();
  // The same, since `pass` made it.
  void BecomesOther(const PassExecution& pass);
  // Reports a line that was not reported before.
  void Note(const PassInfo& info, absl::string_view line);
  bool is_main(absl::string_view name) const {
    return name == options_.function;
  }

  const CheckValuesOptions options_;
  KernelCache cache_;
  // Of each function, once they are chosen.
  std::map<std::string, std::vector<Value>> args_;
  // The module that was evaluated last.
  std::optional<State> state_;
  std::optional<Value> expected_;
  std::optional<Value> first_;  // what `function` computed first
  // Whether `function` is not the one any more that options.given is about.
  bool is_other_ = false;
  std::set<std::string> noted_;
  std::vector<AddedError> ledger_;
  double error_in_all_ = 0;
  double error_before_ = 0;  // when the program became what it is
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_CHECK_VALUES_H_
