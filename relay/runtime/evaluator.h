// Evaluator: an interpreter for Relay programs whose operators have kernels.
//
// Evaluation is strict and in order. It evaluates the arguments of a call
// before the call, the value of a let before its body, and only the chosen
// branch. A node that is used several times is computed once in each activation
// of the function around it. Neither deep graphs nor deep recursion of the
// program use the C++ stack. If a code generator made code of a function, that
// code runs in place of the function (code_generator.h).

#ifndef BATON_RELAY_RUNTIME_EVALUATOR_H_
#define BATON_RELAY_RUNTIME_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/kernel_cache.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {

struct EvaluateOptions {
  // The limit of the depth of calls of functions; exceeding it is an error. A
  // limit that is given counts tail calls, too. The default is kMaxCallDepth
  // without tail calls, which need no memory: so the rounds of a loop are
  // limited by the setting `limits.max_calls` only (base/limits.h).
  std::optional<int64_t> max_call_depth = std::nullopt;
  static constexpr int64_t kMaxCallDepth = 1'000'000;
  // The limit of the number of activations; exceeding it is an error. The
  // setting `limits.max_calls` limits them, too.
  int64_t max_calls = std::numeric_limits<int64_t>::max();
  // If not null, caches the results of calls of operators.
  KernelCache* cache = nullptr;
  // If not null, a call of an operator without kernel is not an error: this is
  // called, and the values that depend on the result are unknown (IsUnknown).
  std::function<void(const CallNode& call, absl::Span<const Value> args)>
      without_kernel = {};
  // If not null, evaluates the functions of other levels that the program
  // calls, in place of the registered evaluators (ir/function_evaluator.h).
  const FunctionEvaluator* other_level = nullptr;
  // If not null, called with each computed node and its value. Not called for
  // variables, constants, lets, ifs and matches, whose values are those of
  // other nodes.
  std::function<void(const ExprNode& node, const Value& value)> observe = {};
};

// True if the value depends on an operator without kernel. A value that is not
// unknown may have parts that are.
bool IsUnknown(const Value& value);

// The value of a closed expression. References to functions are looked up in
// `module`, which may be null. Calls must be typed if their kernels need the
// type. Errors name the operator that failed.
absl::StatusOr<Value> Evaluate(const Expr& expr, const IRModule* module,
                               const EvaluateOptions& options = {});

// Calls the function `name` of the typed `module`. `args` must have the dtypes
// and shapes of the parameters.
absl::StatusOr<Value> EvaluateFunction(const IRModule& module,
                                       absl::string_view name,
                                       absl::Span<const Value> args,
                                       const EvaluateOptions& options = {});

// Calls `function`, a closure that an evaluation in `module` returned. `args`
// as for EvaluateFunction.
absl::StatusOr<Value> CallFunction(const IRModule& module,
                                   const Value& function,
                                   absl::Span<const Value> args,
                                   const EvaluateOptions& options = {});

// Runs the kernel of one call of an operator on `args`.
absl::StatusOr<Value> RunKernel(const CallNode& call,
                                absl::Span<const Value> args);

// True if every operator in `expr` has a kernel. Otherwise, if `missing` is not
// null, sets `*missing` to the name of an operator without one.
bool HasKernels(const Expr& expr, std::string* missing = nullptr);

}  // namespace baton::relay

#endif  // BATON_RELAY_RUNTIME_EVALUATOR_H_
