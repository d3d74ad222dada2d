#include "baton/instrument/check_values.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/all_finite.h"
#include "baton/base/dtype.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/instrument/compare_values.h"
#include "baton/instrument/first_difference.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/instrument/nearby_inputs.h"
#include "baton/instrument/special_inputs.h"
#include "baton/instrument/tensor_error.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/value_promise.h"

namespace baton {
namespace {

using relay::Value;

// References that hold each other, and long lists, are looked at as far as this
// many parts.
constexpr int64_t kMaxParts = 1'000'000;

// The error of arguments that a reassociating pass may be amplified by: four
// roundings of float32.
constexpr double kFewRoundings = 4 * 0x1p-24;

// Functions that are evaluated on arguments with which no caller calls them may
// run for long.
constexpr int64_t kMaxCallDepth = 1'000;
constexpr int64_t kMaxCalls = 10'000;

// Calls `visit` with the tensors of two values, where both have the same
// structure, and not beyond functions. Returns whether they do, but for what is
// unknown.
template <typename Visit>
bool ForEachTensorPair(const Value& a, const Value& b, const Visit& visit) {
  bool same = true;
  std::vector<std::pair<const Value*, const Value*>> parts = {{&a, &b}};
  for (int64_t n = 0; !parts.empty() && n < kMaxParts; ++n) {
    const auto [x, y] = parts.back();
    parts.pop_back();
    if (relay::IsUnknown(*x) || relay::IsUnknown(*y)) continue;
    if (x->is_tensor() && y->is_tensor()) {
      visit(x->tensor(), y->tensor());
    } else if (x->is_cell() && y->is_cell()) {
      parts.emplace_back(&x->cell().content, &y->cell().content);
    } else if ((x->is_tuple() && y->is_tuple()) ||
               (x->is_data() && y->is_data())) {
      const auto fields = [](const Value& value) {
        return value.is_data() ? absl::MakeConstSpan(value.data().fields)
                               : value.fields();
      };
      const size_t size = std::min(fields(*x).size(), fields(*y).size());
      same = same && fields(*x).size() == fields(*y).size();
      for (size_t i = size; i-- > 0;) {
        parts.emplace_back(&fields(*x)[i], &fields(*y)[i]);
      }
    } else {
      same = same && x->is_closure() && y->is_closure();
    }
  }
  return same;
}

bool AllFinite(const Value& value) {
  bool finite = true;
  ForEachTensorPair(value, value, [&](const Tensor& tensor, const Tensor&) {
    finite = finite && (!tensor.dtype().is_float() || AllFinite(tensor));
  });
  return finite;
}

// The error of results of equal structure and dtypes (floating-point dtypes may
// differ); otherwise nullopt.
std::optional<TensorError> ResultError(const Value& expected,
                                       const Value& actual) {
  TensorError error;
  bool comparable = true;
  const auto add = [&](const Tensor& a, const Tensor& b) {
    comparable = comparable && a.shape() == b.shape() &&
                 (a.dtype() == b.dtype() ||
                  (a.dtype().is_float() && b.dtype().is_float()));
    if (comparable) error.Add(ErrorOf(a, b));
  };
  if (!ForEachTensorPair(expected, actual, add) || !comparable) {
    return std::nullopt;
  }
  return error;
}

// True if a pass keeps the meaning of the program, although it promises no
// accuracy of its results.
bool OnlyRounds(const PassInfo& info) {
  return !Keeps(info, "values") &&
         ValuePromiseOf(info) == ValuePromise::kPrecisionChanging;
}

bool HasReferences(const IRModule& module) {
  bool result = false;
  for (const auto& d : module.functions<relay::Function>()) {
    relay::PostOrderVisit(d.function, [&result](const ExprNode* node) {
      result = result || node->kind() == relay::ExprKind::kRefCreate ||
               node->kind() == relay::ExprKind::kRefRead ||
               node->kind() == relay::ExprKind::kRefWrite;
    });
  }
  return result;
}

// A function of `module` that is not Relay's, and its evaluator; null if the
// function is Relay's, does not exist, or has no evaluator.
struct OtherLevel {
  BaseFunc function;
  const FunctionEvaluator* evaluator = nullptr;
};
OtherLevel FindOtherLevel(const IRModule& module, absl::string_view name) {
  OtherLevel result{module.Find(name)};
  if (!result.function.defined() ||
      result.function.As<relay::FunctionNode>() != nullptr) {
    return {};
  }
  result.evaluator = FindFunctionEvaluator(result.function->kind());
  return result;
}

// The results of a call of such a function, as a tuple.
absl::StatusOr<Value> EvaluateOther(const IRModule& module,
                                    const OtherLevel& other,
                                    absl::Span<const Value> args) {
  std::vector<Tensor> tensors;
  for (const Value& arg : args) {
    if (!arg.is_tensor()) {
      return absl::InvalidArgumentError("an argument is not a tensor");
    }
    tensors.push_back(arg.tensor());
  }
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Tensor> results,
      other.evaluator->Evaluate(module, other.function, tensors,
                                FunctionEvaluator::kStepsOfCheck));
  return Value::MakeTuple({results.begin(), results.end()});
}

// Random arguments for such a function.
absl::StatusOr<std::vector<Value>> RandomArguments(const OtherLevel& other,
                                                   uint32_t seed) {
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Tensor> arguments,
      other.evaluator->MakeArguments(
          other.function,
          [&seed](DType dtype, absl::Span<const int64_t> shape) {
            return relay::RandomTensor(dtype, shape, seed++);
          }));
  return std::vector<Value>(arguments.begin(), arguments.end());
}

// The message is the status's with a beginning.
absl::Status Prefixed(absl::string_view beginning, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(beginning, status.message()));
}

}  // namespace

CheckValuesInstrument::CheckValuesInstrument(CheckValuesOptions options)
    : PassInstrument("CheckValuesInstrument"), options_(std::move(options)) {}

absl::Status CheckValuesInstrument::EnterPassContext() {
  error_log_.clear();
  cumulative_error_ = 0;
  error_before_ = 0;
  return absl::OkStatus();
}

absl::Status CheckValuesInstrument::ExitPassContext() {
  if (options_.error_log != nullptr && !error_log_.empty()) {
    options_.error_log(ErrorLogText());
  }
  StartNewProgram();
  is_other_ = false;
  noted_.clear();
  // Drops results that two rounds do not use.
  cache_.NextRound();
  cache_.NextRound();
  return absl::OkStatus();
}

void CheckValuesInstrument::StartNewProgram() {
  args_.clear();
  state_.reset();
  expected_.reset();
  first_.reset();
  is_other_ = true;
  error_before_ = cumulative_error_;
}

void CheckValuesInstrument::StartNewProgramAfter(const PassExecution& pass) {
  error_log_.push_back({.number = pass.number(),
                        .pass = pass.name(),
                        .rebased = true,
                        .cumulative = cumulative_error_});
  StartNewProgram();
}

Remark RemarkOf(const ErrorEntry& error) {
  const auto text = [](double value) { return absl::StrFormat("%.2g", value); };
  return {.kind = RemarkKind::kAnalysis,
          .reason = "the results differ from those before",
          .args = {{"error", text(error.added.of_largest)},
                   {"relative", text(error.added.relative)},
                   {"ulp", text(error.added.ulp)},
                   {"error_in_all", text(error.cumulative)}},
          .pass = error.pass,
          .execution = error.number};
}

std::string CheckValuesInstrument::ErrorLogText() const {
  std::string text;
  for (const ErrorEntry& entry : error_log_) {
    if (entry.rebased) {
      absl::StrAppendFormat(&text,
                            "#%d %s makes another program: what it adds is not "
                            "known; %.3g in all\n",
                            entry.number, entry.pass, entry.cumulative);
      continue;
    }
    absl::StrAppendFormat(
        &text, "#%d %s adds an error of %.3g of the largest element (%s); ",
        entry.number, entry.pass, entry.added.of_largest,
        ToString(entry.added));
    absl::StrAppendFormat(&text, "%.3g in all\n", entry.cumulative);
  }
  return text;
}

void CheckValuesInstrument::Note(const PassInfo& info, absl::string_view line) {
  if (options_.not_compared == nullptr) return;
  if (!noted_.emplace(line).second) return;
  options_.not_compared(absl::StrCat("after pass ", info.name, ", ", line));
}

CheckValuesInstrument::Result CheckValuesInstrument::Apply(
    const IRModule& typed, const std::string& name,
    const std::vector<Value>& args) {
  Result result;
  if (const OtherLevel other = FindOtherLevel(typed, name);
      other.evaluator != nullptr) {
    result.value = EvaluateOther(typed, other, args);
    return result;
  }
  relay::EvaluateOptions options;
  if (!is_main(name)) {
    options.max_call_depth = kMaxCallDepth;
    options.max_calls = kMaxCalls;
  }
  options.cache = &cache_;
  options.without_kernel = [&result](const relay::CallNode& call,
                                     absl::Span<const Value> values) {
    result.cuts.push_back({relay::Call(&call), {values.begin(), values.end()}});
  };
  result.value = relay::EvaluateFunction(typed, name, args, options);
  return result;
}

CheckValuesInstrument::Result CheckValuesInstrument::EvaluateOne(
    const IRModule& typed, const std::string& name) {
  const auto known = args_.find(name);
  if (known != args_.end()) return Apply(typed, name, known->second);
  if (const OtherLevel other = FindOtherLevel(typed, name);
      other.evaluator != nullptr) {
    absl::StatusOr<std::vector<Value>> args =
        RandomArguments(other, options_.seed);
    if (!args.ok()) return {.value = args.status()};
    args_[name] = *std::move(args);
    return Apply(typed, name, args_[name]);
  }
  const absl::StatusOr<relay::Function> function =
      typed.Lookup<relay::Function>(name);
  if (!function.ok()) return {.value = function.status()};
  if (is_main(name) && options_.given != nullptr && !is_other_) {
    absl::StatusOr<GivenValues> given = options_.given(*function);
    if (!given.ok()) return {.value = given.status()};
    expected_ = std::move(given->expected);
    args_[name] = std::move(given->args);
    return Apply(typed, name, args_[name]);
  }
  Result result;
  for (const relay::RandomRange range :
       {relay::RandomRange::kPlain, relay::RandomRange::kMild}) {
    absl::StatusOr<std::vector<Value>> args =
        relay::RandomInputs(*function, options_.seed, range);
    if (!args.ok()) return {.value = args.status()};
    result = Apply(typed, name, *args);
    args_[name] = *std::move(args);
    if (!result.value.ok() || AllFinite(*result.value)) break;
  }
  return result;
}

absl::Status CheckValuesInstrument::Evaluate(const IRModule& module,
                                             State& state) {
  cache_.NextRound();
  state.module = module;
  // A pass may leave types to be inferred.
  BATON_ASSIGN_OR_RETURN(state.typed, relay::InferTypes(module));
  const std::string& main = options_.function;
  state.results[main] = EvaluateOne(state.typed, main);
  BATON_RETURN_IF_ERROR(state.results[main].value.status());
  if (!options_.other_functions) return absl::OkStatus();
  for (const auto& [var, function] : state.typed.functions()) {
    if (is_main(var->name())) continue;
    const bool is_relay = function.As<relay::FunctionNode>() != nullptr;
    if (!is_relay && FindFunctionEvaluator(function->kind()) == nullptr) {
      continue;
    }
    state.results[var->name()] = EvaluateOne(state.typed, var->name());
  }
  return absl::OkStatus();
}

absl::Status CheckValuesInstrument::CompareCuts(const Result& before,
                                                const Result& after,
                                                const PassInfo& info) const {
  const bool same_calls =
      std::equal(before.cuts.begin(), before.cuts.end(), after.cuts.begin(),
                 after.cuts.end(), [](const Cut& a, const Cut& b) {
                   return a.call->op_node() == b.call->op_node() &&
                          a.args.size() == b.args.size();
                 });
  if (!same_calls) return absl::OkStatus();
  for (size_t k = 0; k < before.cuts.size(); ++k) {
    const Cut& a = before.cuts[k];
    const Cut& b = after.cuts[k];
    for (size_t i = 0; i < a.args.size(); ++i) {
      const bool same_type =
          a.args[i].is_tensor() && b.args[i].is_tensor() &&
          a.args[i].tensor().dtype() == b.args[i].tensor().dtype() &&
          a.args[i].tensor().shape() == b.args[i].tensor().shape();
      if (!same_type) continue;
      BATON_RETURN_IF_ERROR(CompareValues(
          a.args[i], b.args[i], info,
          {.name =
               absl::StrCat("argument ", i, " of ", a.call->op_node()->name(),
                            ", which has no kernel")}));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckValuesInstrument::Compare(const State& before,
                                            const State& after,
                                            const std::string& name,
                                            const PassInfo& info) {
  const Result& was = before.results.at(name);
  const Result& is = after.results.at(name);
  for (const Result* result : {&was, &is}) {
    if (result->value.ok()) continue;
    const bool is_new =
        was.value.ok() && !absl::IsResourceExhausted(result->value.status());
    if (is_new) {
      return Prefixed(
          absl::StrCat("@", name, " cannot be evaluated any more after pass ",
                       info.name, ": "),
          result->value.status());
    }
    if (before.module.Find(name) != after.module.Find(name)) {
      Note(info, absl::StrCat("@", name, " is not checked: ",
                              result->value.status().message()));
    }
    return absl::OkStatus();
  }
  std::set<std::string> without_kernel;
  for (const Result* result : {&was, &is}) {
    for (const Cut& cut : result->cuts) {
      without_kernel.insert(cut.call->op_node()->name());
    }
  }
  ++num_compared_;
  std::vector<std::string> not_compared;
  const auto compare = [&](const PassInfo& held) {
    return CompareValues(
        *was.value, *is.value, held,
        {.before = &before.typed,
         .after = &after.typed,
         .seed = options_.seed,
         .not_compared = &not_compared,
         .name = is_main(name) ? "result" : absl::StrCat("result of @", name)});
  };
  absl::Status status = compare(info);
  const ValuePromise promise = ValuePromiseOf(info);
  if (!status.ok() && (promise == ValuePromise::kPrecisionChanging ||
                       promise == ValuePromise::kReassociating)) {
    const bool rounds = promise == ValuePromise::kReassociating;
    PassInfo amplified = info;
    amplified.tolerance = ErrorOfNearbyArguments(before, name, info);
    not_compared.clear();
    if (compare(amplified).ok()) {
      status = absl::OkStatus();
      Note(info, absl::StrCat("results of @", name,
                              " differ no more than those of arguments ",
                              rounds ? "that are off by a few roundings"
                                     : "as far off as the pass may be"));
    }
  }
  if (status.ok()) status = CompareCuts(was, is, info);
  for (const std::string& line : not_compared) Note(info, line);
  for (const std::string& op : without_kernel) {
    Note(info, absl::StrCat("@", name, " calls ", op,
                            ", which has no kernel: what depends on it is not "
                            "compared"));
  }
  if (!status.ok()) {
    return Explain(status, before, after, name, args_.at(name), info);
  }
  return options_.special_values ? CompareSpecial(before, after, name, info)
                                 : status;
}

double CheckValuesInstrument::ErrorOfNearbyArguments(const State& before,
                                                     const std::string& name,
                                                     const PassInfo& info) {
  const bool rounds = ValuePromiseOf(info) == ValuePromise::kReassociating;
  const double tolerance = rounds ? kFewRoundings : info.tolerance;
  double error = 0;
  for (const NearbyInputs which :
       {NearbyInputs::kAbove, NearbyInputs::kBelow, NearbyInputs::kEitherWay}) {
    std::vector<Value> args = args_.at(name);
    for (Value& arg : args) {
      // Roundings move no integers.
      if (!rounds || (arg.is_tensor() && arg.tensor().dtype().is_float())) {
        arg = MovedBy(arg, tolerance, which);
      }
    }
    const Result moved = Apply(before.typed, name, args);
    if (!moved.value.ok()) continue;
    const std::optional<TensorError> of_results =
        ResultError(*before.results.at(name).value, *moved.value);
    if (of_results.has_value()) error = std::max(error, of_results->of_largest);
  }
  return error;
}

namespace {

// The first element that is a zero in both tensors and has another sign: `[5]`.
// Empty if there is none.
std::string OtherSignOfZero(const Value& was, const Value& is) {
  if (!was.is_tensor() || !is.is_tensor() || !was.tensor().dtype().is_float() ||
      was.tensor().dtype() != is.tensor().dtype() ||
      was.tensor().shape() != is.tensor().shape()) {
    return "";
  }
  for (int64_t i = 0; i < was.tensor().num_elements(); ++i) {
    const double a = was.tensor().AtAsDouble(i);
    const double b = is.tensor().AtAsDouble(i);
    if (a == 0 && b == 0 && std::signbit(a) != std::signbit(b)) {
      return absl::StrCat("[", i, "]");
    }
  }
  return "";
}

}  // namespace

void CheckValuesInstrument::NoteSignsOfZeros(const State& before,
                                             const State& after,
                                             const std::string& name,
                                             const PassInfo& info) {
  std::vector<Value> args = args_.at(name);
  for (Value& arg : args) arg = WithZeros(arg);
  const Result was = Apply(before.typed, name, args);
  const Result is = Apply(after.typed, name, args);
  if (!was.value.ok() || !is.value.ok()) return;
  std::string place = OtherSignOfZero(*was.value, *is.value);
  if (was.value->is_tuple() && is.value->is_tuple() &&
      was.value->fields().size() == is.value->fields().size()) {
    for (size_t i = 0; i < was.value->fields().size() && place.empty(); ++i) {
      place = OtherSignOfZero(was.value->fields()[i], is.value->fields()[i]);
      if (!place.empty()) place = absl::StrCat(".", i, place);
    }
  }
  if (place.empty()) return;
  Note(info, absl::StrCat("for zeros in the arguments, the result of @", name,
                          " has a zero of another sign at ", place));
}

absl::Status CheckValuesInstrument::CompareSpecial(const State& before,
                                                   const State& after,
                                                   const std::string& name,
                                                   const PassInfo& info) {
  const ValuePromise promise = ValuePromiseOf(info);
  if (promise == ValuePromise::kReassociating) {
    NoteSignsOfZeros(before, after, name, info);
  }
  if (promise != ValuePromise::kBitExact &&
      promise != ValuePromise::kExactButSpecial) {
    return absl::OkStatus();
  }
  std::vector<Value> args = args_.at(name);
  for (Value& arg : args) arg = WithSpecialNumbers(arg);
  const Result was = Apply(before.typed, name, args);
  const Result is = Apply(after.typed, name, args);
  // A loop may not end for such numbers.
  if (!was.value.ok() || !is.value.ok()) return absl::OkStatus();
  std::vector<std::string> not_compared;  // what Compare() reports already
  const absl::Status status = CompareValues(*was.value, *is.value, info,
                                            {.not_compared = &not_compared});
  if (status.ok()) return status;
  return Explain(Prefixed("for NaN, infinities and the like, ", status), before,
                 after, name, args, info);
}

absl::Status CheckValuesInstrument::Explain(const absl::Status& status,
                                            const State& before,
                                            const State& after,
                                            const std::string& name,
                                            const std::vector<Value>& args,
                                            const PassInfo& info) {
  std::string message = absl::StrCat("pass ", info.name, " changed what @",
                                     name, " computes: ", status.message());
  if (FindOtherLevel(before.typed, name).evaluator != nullptr) {
    return absl::Status(status.code(), message);
  }
  relay::EvaluateOptions options;
  options.cache = &cache_;
  options.without_kernel = [](const relay::CallNode&, absl::Span<const Value>) {
  };
  const std::string first =
      FirstDifference(before.typed, after.typed, name, args, info, options);
  if (!first.empty()) absl::StrAppend(&message, "\n", first);
  return absl::Status(status.code(), message);
}

absl::Status CheckValuesInstrument::CheckFirst(const State& state) {
  const Result& result = state.results.at(options_.function);
  if (!first_.has_value()) first_ = *result.value;
  if (!expected_.has_value() || !error_log_.empty()) {
    return absl::OkStatus();
  }
  const absl::Status expected = CompareExpected(*result.value);
  if (expected.ok()) return expected;
  return Prefixed(
      absl::StrCat("before any pass changed it, @", options_.function,
                   " does not compute what is expected: "),
      expected);
}

absl::Status CheckValuesInstrument::CheckInput(const IRModule& module) {
  State given;
  const absl::Status status = Evaluate(module, given);
  if (!status.ok()) {
    return Prefixed(absl::StrCat("@", options_.function,
                                 " cannot be evaluated before any pass runs: "),
                    status);
  }
  BATON_RETURN_IF_ERROR(CheckFirst(given));
  state_ = std::move(given);
  return absl::OkStatus();
}

absl::Status CheckValuesInstrument::CompareExpected(const Value& actual) const {
  std::vector<std::string> not_compared;  // what Compare() reports already
  return CompareValues(
      *expected_, actual,
      {.name = "", .exact = false, .tolerance = options_.expected_tolerance},
      {.not_compared = &not_compared});
}

absl::StatusOr<bool> CheckValuesInstrument::AddError(
    const State& before, const State& after, const PassExecution& pass) {
  const std::string& main = options_.function;
  const Value& is = *after.results.at(main).value;
  const std::optional<TensorError> added =
      ResultError(*before.results.at(main).value, is);
  const std::optional<TensorError> total = ResultError(*first_, is);
  if (!added.has_value() || !total.has_value()) return false;
  if (added->absolute == 0 && !added->IsSpecial()) return true;
  cumulative_error_ = error_before_ + total->of_largest;
  error_log_.push_back({.number = pass.number(),
                        .pass = pass.name(),
                        .added = *added,
                        .cumulative = cumulative_error_});
  if (options_.added != nullptr) options_.added(error_log_.back());
  if (options_.max_error.has_value() &&
      (cumulative_error_ > *options_.max_error || total->IsSpecial())) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "after pass %s, the error of @%s is over the budget: %.3g of the "
        "largest element, allowed %.3g",
        pass.name(), main, cumulative_error_, *options_.max_error));
  }
  return true;
}

absl::Status CheckValuesInstrument::CheckExpected(const State& after,
                                                  const PassInfo& info) const {
  if (!expected_.has_value()) return absl::OkStatus();
  const std::string& main = options_.function;
  const absl::Status expected = CompareExpected(*after.results.at(main).value);
  if (expected.ok()) return expected;
  return Prefixed(absl::StrCat("after pass ", info.name, ", @", main,
                               " does not compute what is expected any more: "),
                  expected);
}

absl::Status CheckValuesInstrument::RunAfterPass(const IRModule& module,
                                                 const PassExecution& pass) {
  const PassInfo& info = pass.info();
  const IRModule& before = pass.before();
  const bool evaluated = state_.has_value() && state_->module.SameAs(before);
  if (info.always_run || module.IdenticalTo(before)) {
    // Types and tables may differ; computed values may not.
    if (evaluated) state_->module = module;
    return absl::OkStatus();
  }
  // The result of a sequence was checked when its last pass returned it.
  if (info.granularity == PassGranularity::kSequence) return absl::OkStatus();
  const bool only_rounds = OnlyRounds(info);
  if (!only_rounds && (!Keeps(info, "values") ||
                       (!Keeps(info, "effects") && HasReferences(before)))) {
    Note(info, "results are not compared: it promises nothing about them");
    StartNewProgramAfter(pass);
    return absl::OkStatus();
  }
  const std::string& main = options_.function;
  if (!evaluated) {
    State given;
    const absl::Status status = Evaluate(before, given);
    if (!status.ok() && is_other_) {
      Note(info,
           absl::StrCat("@", main, " is not checked: ", status.message()));
      args_.clear();
      return absl::OkStatus();
    }
    if (!status.ok()) {
      return Prefixed(absl::StrCat("@", main, " cannot be evaluated as pass ",
                                   info.name, " was given it: "),
                      status);
    }
    BATON_RETURN_IF_ERROR(CheckFirst(given));
    state_ = std::move(given);
  }
  State result;
  const absl::Status status = Evaluate(module, result);
  if (!status.ok() && only_rounds) {
    Note(info, absl::StrCat("results are not compared: ", status.message()));
    StartNewProgramAfter(pass);
    return absl::OkStatus();
  }
  if (!status.ok()) {
    return Prefixed(
        absl::StrCat("@", main, " cannot be evaluated any more after pass ",
                     info.name, ": "),
        status);
  }
  const State given = std::move(*state_);
  state_ = std::move(result);
  if (only_rounds) {
    Note(info, "results are only measured: it promises no accuracy");
    expected_.reset();
  } else {
    const PassInfo held = WithRounding(info, given.typed, state_->typed);
    BATON_RETURN_IF_ERROR(Compare(given, *state_, main, held));
    for (const auto& [name, function_result] : given.results) {
      if (is_main(name) || state_->results.count(name) == 0) continue;
      BATON_RETURN_IF_ERROR(Compare(given, *state_, name, held));
    }
  }
  BATON_ASSIGN_OR_RETURN(const bool measured, AddError(given, *state_, pass));
  if (!measured) {
    Note(info, "results are of another type");
    StartNewProgramAfter(pass);
    return absl::OkStatus();
  }
  return CheckExpected(*state_, info);
}

namespace {

struct CheckValuesFlags {
  bool check_values = false;
  bool special_values = false;  // see CheckValuesOptions
  int64_t seed = 0;
  double max_error = -1;  // CheckValuesOptions::max_error; negative: no limit

  template <typename V>
  static void VisitFields(V& v) {
    v("check_values", &CheckValuesFlags::check_values,
      FlagSpec{.help = "Evaluates the module before and after each pass; names "
                       "the guilty one.",
               .group = kFaultFlags});
    v("special_values", &CheckValuesFlags::special_values,
      FlagSpec{.help = "With --check_values: also NaN, infinities and zeros of "
                       "both signs.",
               .group = kFaultFlags});
    v("seed", &CheckValuesFlags::seed,
      FlagSpec{.help = "Seed of the random inputs of --check_values.",
               .value = "N",
               .group = kFaultFlags});
    v("max_error", &CheckValuesFlags::max_error,
      FlagSpec{
          .help = "Limit of the error that all passes together add; -1: none.",
          .value = "X",
          .group = kFaultFlags,
          .least = 0,
          .none = -1});
  }
};

InstrumentFactory::Made MakeCheckValues(const CheckValuesFlags& flags,
                                        const InstrumentRun& run) {
  if (!flags.check_values) {
    const char* flag = flags.special_values   ? "--special_values"
                       : flags.max_error >= 0 ? "--max_error"
                       : flags.seed != 0      ? "--seed"
                                              : nullptr;
    if (flag == nullptr) return nullptr;
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": needs --check_values"));
  }
  CheckValuesOptions options = {.seed = static_cast<uint32_t>(flags.seed),
                                .special_values = flags.special_values,
                                .given = run.given_values};
  if (flags.max_error >= 0) {
    options.max_error = flags.max_error;
    options.error_log = run.report;
  }
  options.not_compared = [report = run.report](absl::string_view line) {
    report(absl::StrCat("--check_values: ", line, "\n"));
  };
  if (const auto recorder = run.Find<HistoryRecorder>()) {
    options.added = [recorder](const ErrorEntry& error) {
      recorder->AddRemark(RemarkOf(error));
    };
  }
  auto values = std::make_shared<CheckValuesInstrument>(std::move(options));
  values->set_name("--check_values");
  if (run.has_expected_values) {
    // The results of the argument of the passes are compared, too.
    run.before_passes([values](const IRModule& module) {
      const absl::Status status = values->CheckInput(module);
      if (status.ok()) return status;
      return absl::Status(status.code(),
                          absl::StrCat("--expect: ", status.message()));
    });
  }
  run.checked([values] {
    return CheckedLine("check_values", "compared", values->num_compared(),
                       "result", "no pass changed what it evaluates");
  });
  return values;
}

BATON_REGISTER_INSTRUMENT("check_values", "Finds passes that change values.",
                          MakeCheckValues, InstrumentPhase::kCheckValues);

}  // namespace

}  // namespace baton
