// Evaluates functions of any level whose arguments and results are tensors: the
// oracle of the checks of values. Each level brings the evaluator of its kind
// of functions:
//
//   class LoopEvaluator final : public FunctionEvaluator { ... };
//   BATON_REGISTER_FUNCTION_EVALUATOR(LoopFunctionNode, LoopEvaluator);

#ifndef BATON_IR_FUNCTION_EVALUATOR_H_
#define BATON_IR_FUNCTION_EVALUATOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/registry.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_kind.h"

namespace baton {

// Evaluates one kind of functions. Safe to call from several threads.
class FunctionEvaluator {
 public:
  virtual ~FunctionEvaluator() = default;

  // Makes a tensor of a data type and shape.
  using MakeTensor = absl::FunctionRef<absl::StatusOr<Tensor>(
      DType dtype, absl::Span<const int64_t> shape)>;
  // Returns an argument for each parameter, made by `make`. An error if the
  // type of a parameter is not a tensor of known shape.
  virtual absl::StatusOr<std::vector<Tensor>> MakeArguments(
      const BaseFunc& function, MakeTensor make) const = 0;

  // The limit of steps (statements and expressions that are evaluated) of a
  // check. So many take a fraction of a second.
  static constexpr int64_t kStepsOfCheck = 2'000'000;
  // Returns the results of a call. For a function that writes to its arguments
  // these are the arguments after the call. More than `max_steps` steps are a
  // ResourceExhausted error.
  virtual absl::StatusOr<std::vector<Tensor>> Evaluate(
      const IRModule& module, const BaseFunc& function,
      absl::Span<const Tensor> arguments, int64_t max_steps) const = 0;
};

// The evaluators, by the names of node classes: `tir.PrimFunc`.
Registry<std::shared_ptr<const FunctionEvaluator>>& FunctionEvaluators();

// Returns the evaluator of functions of that kind; null if none is linked.
const FunctionEvaluator* FindFunctionEvaluator(NodeKind kind);

// Calls a function of another level from its caller: passes `arguments`, and
// behind them tensors that the function fills with its results. The type of the
// function is a FuncType. Returns the results. If `evaluator` is null, uses the
// registered one.
absl::StatusOr<std::vector<Tensor>> CallByType(
    const IRModule& module, const BaseFunc& function,
    absl::Span<const Tensor> arguments,
    const FunctionEvaluator* evaluator = nullptr);

// Registers E for the functions whose node class is N. Use it in the library
// that defines E; the library needs `alwayslink = True`.
#define BATON_REGISTER_FUNCTION_EVALUATOR(N, E)                                \
  [[maybe_unused]] static const bool baton_function_evaluator_registered_##N = \
      ::baton::internal::RegisterFunctionEvaluator(                            \
          N::kKind, std::make_shared<const E>())

namespace internal {
bool RegisterFunctionEvaluator(
    NodeKind kind, std::shared_ptr<const FunctionEvaluator> evaluator,
    CodeLocation location = CodeLocation::Current());
}  // namespace internal

}  // namespace baton

#endif  // BATON_IR_FUNCTION_EVALUATOR_H_
