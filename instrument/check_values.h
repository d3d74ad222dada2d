// CheckValuesInstrument: finds the pass that changes the values of a program.

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
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// Arguments of a function, and the expected results if they are known.
struct GivenValues {
  std::vector<relay::Value> args;
  std::optional<relay::Value> expected;
};

// The error that one pass added to the results of CheckValuesOptions::function.
struct ErrorEntry {
  int64_t number = 0;  // the number of the execution
  std::string pass;
  // True if the pass changed the meaning of the program; then `added` is
  // unknown.
  bool rebased = false;
  TensorError added;
  // TensorError::of_largest of the results, compared with the results before
  // the first pass. After a pass with `rebased`, the comparison starts anew
  // from that pass's results, and the error before that pass is added.
  double cumulative = 0;
};

struct CheckValuesOptions {
  // The function to check, which must exist and be possible to evaluate.
  // `given` and `max_error` apply to it.
  std::string function = "main";
  // If true, checks each other function separately, if random arguments suffice
  // to evaluate it.
  bool other_functions = true;
  uint32_t seed = 0;
  // If true, bit-exact passes must also keep every bit for special numbers
  // (special_inputs.h) in the arguments. For a pass that reassociates,
  // `not_compared` is called where the pass changes the sign of a zero.
  bool special_values = false;
  // Returns the arguments of the function, and the expected results if they are
  // known. `function` is the typed function before the first pass. If null, the
  // arguments are random.
  std::function<absl::StatusOr<GivenValues>(const relay::Function& function)>
      given = {};
  // The limit of the error of the results against the expected results,
  // relative to the largest element of each expected tensor. Checked before the
  // first pass and after each pass.
  double expected_tolerance = 1e-3;
  // The limit of ErrorEntry::cumulative; null for no limit.
  std::optional<double> max_error = {};
  // Called with one line that names the parts of a result that could not be
  // compared, or the functions that could not be evaluated; may be null.
  std::function<void(absl::string_view line)> not_compared = {};
  // Called with ErrorLogText(), unless it is empty, when the context exits; may
  // be null.
  std::function<void(absl::string_view text)> error_log = {};
  // Called with each new entry of the error log; may be null.
  std::function<void(const ErrorEntry& error)> added = {};
};

// Renders an entry for the history of the run: a remark with the arguments
// `error` and `error_in_all` (relative to the largest element), `relative` and
// `ulp`.
Remark RemarkOf(const ErrorEntry& error);

// Evaluates functions before and after each pass that changes the module, on
// the arguments of CheckValuesOptions::given or on random ones. The error names
// the first pass whose result computes other values (compare_values.h), and the
// first node with another value (first_difference.h). A program that cannot be
// evaluated is an error as well. Exception: if a kernel is missing, the
// instrument compares the values that do not depend on it.
//
// The allowed error depends on the promise of the pass
// (transform/value_promise.h). A precision-changing pass is allowed the error
// that moving the arguments by its tolerance causes (nearby_inputs.h), and a
// reassociating pass that of moving them by a few roundings of float32, since
// rounding inside of a program may be amplified; `not_compared` receives a line
// about it. A pass that promises no accuracy (ToMixedPrecision) is measured for
// the error log only; from then on the results are not compared with the
// expected results. The program counts as a new program after a pass that
// promises nothing about results, after a pass that promises nothing for
// programs with references if the program has references, and after a pass that
// changes the type of the results. A new program gets random arguments and need
// not be possible to evaluate.
//
// If a result has functions, the instrument calls them with random arguments
// and compares what they return. It compares constructors of data types by
// name. It reports a part that cannot be compared to `not_compared`, without an
// error: for example a function with parameters for which no random values can
// be made.
//
// The arguments of a function stay the same until the context exits or the
// program counts as new. Random ones are from RandomRange::kPlain, or from
// RandomRange::kMild if kPlain makes a result infinite or NaN. Values that two
// states of the program share are computed once (relay/runtime/kernel_cache.h).
class CheckValuesInstrument final : public PassInstrument {
 public:
  explicit CheckValuesInstrument(CheckValuesOptions options = {});

  // An entry for each execution that changed the results, if only by a bit, or
  // the meaning of the program, in order. The entries are those of the current
  // context, or of the last one if none is entered.
  const std::vector<ErrorEntry>& error_log() const { return error_log_; }
  // A line for each entry of error_log(); empty if there is none:
  //   #7 FoldScaleAxis adds an error of 3.1e-07 of the largest element
  //   (relative 2.6e-06, 31 ULP); 3.1e-07 in all
  //   #9 ToCPS makes another program: what it adds is not known; 3.1e-07 in all
  std::string ErrorLogText() const;
  const relay::KernelCache& cache() const { return cache_; }
  // The number of results that were compared: one for each function and pass.
  int64_t num_compared() const { return num_compared_; }

  // Evaluates `module`, the argument of the first pass, and compares its
  // results with the expected ones of GivenValues. Call it in the context,
  // before passes run: no pass is to blame for an error.
  absl::Status CheckInput(const IRModule& module);

  bool needs_untyped_modules() const override { return false; }
  absl::Status EnterPassContext() override;
  absl::Status ExitPassContext() override;
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

 private:
  // A call of an operator without kernel, and the values of its arguments.
  struct Cut {
    relay::Call call;
    std::vector<relay::Value> args;
  };
  // The result of one evaluation of a function.
  struct Result {
    absl::StatusOr<relay::Value> value;
    std::vector<Cut> cuts;  // in the order of evaluation
  };
  // A module whose functions were evaluated.
  struct State {
    IRModule module;
    IRModule typed;  // `module` with types
    std::map<std::string, Result> results;
  };

  // Evaluates all functions; an error if `function` cannot be evaluated.
  absl::Status Evaluate(const IRModule& module, State& state);
  Result EvaluateOne(const IRModule& typed, const std::string& name);
  Result Apply(const IRModule& typed, const std::string& name,
               const std::vector<relay::Value>& args);
  absl::Status CheckFirst(const State& state);
  // Compares `actual` with `expected_`.
  absl::Status CompareExpected(const relay::Value& actual) const;
  // Compares the results of the function `name` in both states.
  absl::Status Compare(const State& before, const State& after,
                       const std::string& name, const PassInfo& info);
  // The error of the results of `name`, as TensorError::of_largest, if its
  // arguments move by the tolerance of `info`, or by a few roundings if the
  // pass reassociates.
  double ErrorOfNearbyArguments(const State& before, const std::string& name,
                                const PassInfo& info);
  // Notes where zeros in the arguments give a zero of another sign.
  void NoteSignsOfZeros(const State& before, const State& after,
                        const std::string& name, const PassInfo& info);
  absl::Status CompareSpecial(const State& before, const State& after,
                              const std::string& name, const PassInfo& info);
  // Extends `status` with the name of the function and the first node that
  // differs.
  absl::Status Explain(const absl::Status& status, const State& before,
                       const State& after, const std::string& name,
                       const std::vector<relay::Value>& args,
                       const PassInfo& info);
  // Compares the arguments of the calls for which a kernel is missing.
  absl::Status CompareCuts(const Result& before, const Result& after,
                           const PassInfo& info) const;
  // Adds an entry to the error log and checks it against the limits. Returns
  // false if the results cannot be compared.
  absl::StatusOr<bool> AddError(const State& before, const State& after,
                                const PassExecution& pass);
  absl::Status CheckExpected(const State& after, const PassInfo& info) const;
  // Treats the module from now on as a new program.
  void StartNewProgram();
  // As StartNewProgram; the error log gets an entry for `pass`, which made it.
  void StartNewProgramAfter(const PassExecution& pass);
  // Reports `line` unless it was reported before.
  void Note(const PassInfo& info, absl::string_view line);
  bool is_main(absl::string_view name) const {
    return name == options_.function;
  }

  const CheckValuesOptions options_;
  relay::KernelCache cache_;
  // The arguments of each function, once they are chosen.
  std::map<std::string, std::vector<relay::Value>> args_;
  // The module that was evaluated last.
  std::optional<State> state_;
  std::optional<relay::Value> expected_;  // GivenValues::expected
  std::optional<relay::Value> first_;     // the first result of `function`
  // True if `function` is no longer the function to which options.given
  // applies.
  bool is_other_ = false;
  std::set<std::string> noted_;
  std::vector<ErrorEntry> error_log_;
  int64_t num_compared_ = 0;
  double cumulative_error_ = 0;
  double error_before_ = 0;  // the error when the current program began
};

}  // namespace baton

#endif  // BATON_INSTRUMENT_CHECK_VALUES_H_
