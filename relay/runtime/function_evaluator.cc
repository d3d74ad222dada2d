// Registers the evaluator of Relay's functions (ir/function_evaluator.h).

#include "baton/ir/function_evaluator.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/value.h"

namespace baton::relay {
namespace {

class RelayEvaluator final : public FunctionEvaluator {
 public:
  absl::StatusOr<std::vector<Tensor>> MakeArguments(
      const BaseFunc& function, MakeTensor make) const override {
    std::vector<Tensor> arguments;
    for (const Var& param : function.As<FunctionNode>()->params()) {
      const auto* type = param->annotation().As<TensorTypeNode>();
      if (type == nullptr || !type->is_static()) {
        return absl::UnimplementedError(
            absl::StrCat("parameter ", param->name(),
                         " is not a tensor of a shape that is known"));
      }
      std::vector<int64_t> shape;
      for (const Dim& dim : type->shape()) shape.push_back(dim.value());
      BATON_ASSIGN_OR_RETURN(Tensor argument, make(type->dtype(), shape));
      arguments.push_back(std::move(argument));
    }
    return arguments;
  }

  // A result that is a tuple is its tensors. A step is a call of a function.
  absl::StatusOr<std::vector<Tensor>> Evaluate(
      const IRModule& module, const BaseFunc& function,
      absl::Span<const Tensor> arguments, int64_t max_steps) const override {
    std::vector<Expr> args;
    for (const Tensor& tensor : arguments) args.push_back(Constant(tensor));
    BATON_ASSIGN_OR_RETURN(
        const Value result,
        ::baton::relay::Evaluate(Call(function, std::move(args)), &module,
                                 {.max_calls = max_steps}));
    std::vector<Tensor> tensors;
    for (const Value& value : result.is_tuple()
                                  ? result.fields()
                                  : absl::MakeConstSpan(&result, 1)) {
      if (!value.is_tensor()) {
        return absl::UnimplementedError("a result is not a tensor");
      }
      tensors.push_back(value.tensor());
    }
    return tensors;
  }
};
BATON_REGISTER_FUNCTION_EVALUATOR(FunctionNode, RelayEvaluator);

}  // namespace
}  // namespace baton::relay
