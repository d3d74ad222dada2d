// The evaluator: an interpreter for Relay programs whose operators have
// kernels.
//
// Evaluation is strict and in order: it evaluates the arguments of a call
// before the call, the value of a let before its body, and only the branch that
// is taken. A node that is used several times is computed once in each
// activation of the function around it. Neither deep graphs nor deep recursion
// of the program use the C++ stack. Code that a code generator made of a
// function runs in place of it (code_generator.h).

#ifndef BATON_RELAY_RUNTIME_EVALUATOR_H_
#define BATON_RELAY_RUNTIME_EVALUATOR_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/kernel_cache.h"
#include "baton/relay/runtime/value.h"

namespace baton {

struct EvaluateOptions {
  // The most calls of functions inside one another; more are an error. A call
  // that is the last of its function counts, too, but needs no memory.
  int64_t max_call_depth = 1'000'000;
  // The most activations in all; more are an error.
  int64_t max_calls = std::numeric_limits<int64_t>::max();
  // If not null, calls of operators that it knows are not computed again.
  KernelCache* cache = nullptr;
  // If not null, a call of an operator without kernel is no error: this is
  // called, and what depends on the result is unknown (IsUnknown).
  std::function<void(const CallNode& call, absl::Span<const Value> args)>
      without_kernel = {};
  // If not null, called with each node that is computed, and its value. Not
  // with variables, constants, lets, ifs and matches, whose values others have.
  std::function<void(const ExprNode& node, const Value& value)> observe = {};
};

// Whether a value depends on an operator without kernel. A value that is not
// unknown may have parts that are.
bool IsUnknown(const Value& value);

// The value of a closed expression. References to functions are looked up in
// `module`, which may be null. The expression must be typed where kernels need
// the type of a call. Errors name the operator that failed.
absl::StatusOr<Value> Evaluate(const Expr& expr, const IRModule* module,
                               const EvaluateOptions& options = {});

// Calls function `name` of the (typed) module with `args`, whose dtypes and
// shapes must be those of the parameters.
absl::StatusOr<Value> EvaluateFunction(const IRModule& module,
                                       absl::string_view name,
                                       absl::Span<const Value> args,
                                       const EvaluateOptions& options = {});

// Calls `function`, a closure that an evaluation in `module` returned, with
// `args` as for EvaluateFunction.
absl::StatusOr<Value> CallFunction(const IRModule& module,
                                   const Value& function,
                                   absl::Span<const Value> args,
                                   const EvaluateOptions& options = {});

// Runs the kernel of one call of an operator on given arguments.
absl::StatusOr<Value> RunKernel(const CallNode& call,
                                absl::Span<const Value> args);

// True if every operator in `expr` has a kernel; else sets `*missing` (if not
// null) to the name of one that has none.
bool HasKernels(const Expr& expr, std::string* missing = nullptr);

}  // namespace baton

#endif  // BATON_RELAY_RUNTIME_EVALUATOR_H_
