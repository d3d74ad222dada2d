// Evaluates tapes: each register holds a float32 tensor of shape (2, 3).

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/function_evaluator.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/testing/tape/tape.h"

namespace baton {
namespace tape {
namespace {

// The results of a call of a function of the module, of any level.
absl::StatusOr<std::vector<Tensor>> CallFunctionOfModule(
    const IRModule& module, const BaseFunc& function,
    absl::Span<const Tensor> arguments, int64_t max_steps) {
  const FunctionEvaluator* evaluator =
      function.defined() ? FindFunctionEvaluator(function->kind()) : nullptr;
  if (evaluator == nullptr) {
    return absl::UnimplementedError("a step calls what has no evaluator");
  }
  return evaluator->Evaluate(module, function, arguments, max_steps);
}

// A function of Relay that only calls the operator.
absl::StatusOr<std::vector<Tensor>> CallOperator(
    const Expr& op, absl::Span<const Tensor> arguments) {
  std::vector<Expr> args;
  for (const Tensor& tensor : arguments)
    args.push_back(relay::Constant(tensor));
  IRModule module;
  module.Set("main", relay::Function({}, relay::Call(op, args)));
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  return CallFunctionOfModule(module, module.Find("main"), {}, 1);
}

class TapeEvaluator final : public FunctionEvaluator {
 public:
  absl::StatusOr<std::vector<Tensor>> MakeArguments(
      const BaseFunc& function, MakeTensor make) const override {
    std::vector<Tensor> arguments;
    for (size_t i = 0; i < function.As<TapeNode>()->params().size(); ++i) {
      BATON_ASSIGN_OR_RETURN(Tensor argument, make(DType::Float(32), {2, 3}));
      arguments.push_back(std::move(argument));
    }
    return arguments;
  }

  absl::StatusOr<std::vector<Tensor>> Evaluate(
      const IRModule& module, const BaseFunc& function,
      absl::Span<const Tensor> arguments, int64_t max_steps) const override {
    const TapeNode& tape = *function.As<TapeNode>();
    if (arguments.size() != tape.params().size()) {
      return absl::InvalidArgumentError("a tape has other parameters");
    }
    FlatHashMap<const RegisterNode*, Tensor> values;
    for (size_t i = 0; i < arguments.size(); ++i) {
      values[tape.params()[i].get()] = arguments[i];
    }
    for (const Step& step : tape.steps()) {
      if (--max_steps < 0) {
        return absl::ResourceExhaustedError("a tape has too many steps");
      }
      std::vector<Tensor> args;
      for (const Register& arg : step->args()) {
        args.push_back(values[arg.get()]);
      }
      const auto* callee = step->callee().As<GlobalVarNode>();
      BATON_ASSIGN_OR_RETURN(
          std::vector<Tensor> results,
          callee == nullptr
              ? CallOperator(step->callee(), args)
              : CallFunctionOfModule(module, module.Find(callee->name()), args,
                                     max_steps));
      if (results.size() != 1) {
        return absl::UnimplementedError("a step has several results");
      }
      values[step->result().get()] = std::move(results[0]);
    }
    return std::vector<Tensor>{values[tape.result().get()]};
  }
};
BATON_REGISTER_FUNCTION_EVALUATOR(TapeNode, TapeEvaluator);

}  // namespace
}  // namespace tape
}  // namespace baton
