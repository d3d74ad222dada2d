// Evaluates functions of loops for checks of values (ir/function_evaluator.h).

#include "baton/ir/function_evaluator.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/interpreter/scalar.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"

namespace baton::tir {
namespace {

// Dimensions that are variables get this extent.
constexpr int64_t kFreeExtent = 3;
// The memory that pointers without a buffer point to has as many elements.
constexpr int64_t kPointedTo = 4096;
// Arguments beyond it are not made.
constexpr int64_t kMaxElements = int64_t{1} << 22;

// A variable that is the extent of an axis, or a part of one.
using Extents = NodeMap<bool>;

// The number that `extent` is where its variables are kFreeExtent. Nullopt for
// loads and other calculations than +, -, *, //, and for long ones.
std::optional<int64_t> ValueOfExtent(const PrimExpr& extent, Extents& vars,
                                     int depth = 0) {
  if (const auto* number = extent.As<IntImmNode>()) return number->value();
  if (const auto* var = extent.As<VarNode>()) {
    vars[var] = true;
    return kFreeExtent;
  }
  const auto* binary = extent.As<BinaryNode>();
  if (binary == nullptr || depth > 16) return std::nullopt;
  const std::optional<int64_t> a = ValueOfExtent(binary->a(), vars, depth + 1);
  const std::optional<int64_t> b = ValueOfExtent(binary->b(), vars, depth + 1);
  Scalar result;
  if (!a.has_value() || !b.has_value() ||
      !ComputeBinary(binary->op(), WithLanes(binary->a().dtype(), 1), {.i = *a},
                     {.i = *b}, result)) {
    return std::nullopt;
  }
  return result.i;
}

class PrimFuncEvaluator final : public FunctionEvaluator {
 public:
  absl::StatusOr<std::vector<Tensor>> MakeArguments(
      const BaseFunc& function, MakeTensor make) const override {
    const auto* node = function.As<PrimFuncNode>();
    std::vector<Tensor> arguments;
    Extents extents;
    for (size_t i = 0; i < node->params().size(); ++i) {
      const Buffer buffer = node->BufferOf(static_cast<int>(i));
      if (!buffer.defined()) continue;
      for (const PrimExpr& extent : buffer->shape()) {
        if (!ValueOfExtent(extent, extents).has_value()) {
          return absl::UnimplementedError(
              absl::StrCat("an extent of buffer ", buffer->name(),
                           " depends on other values"));
        }
      }
    }
    for (size_t i = 0; i < node->params().size(); ++i) {
      const Var& param = node->params()[i];
      const Buffer buffer = node->BufferOf(static_cast<int>(i));
      DType dtype = param.dtype();
      std::vector<int64_t> shape;
      if (buffer.defined()) {
        dtype = WithLanes(buffer.dtype(), 1);
        for (const PrimExpr& extent : buffer->shape()) {
          shape.push_back(*ValueOfExtent(extent, extents));
        }
        if (buffer.dtype().lanes() != 1) {
          shape.push_back(buffer.dtype().lanes());
        }
      } else if (param->typed_pointer()) {
        dtype = WithLanes(param->element(), 1);
        shape.push_back(kPointedTo);
      }
      if (!dtype.IsStorable()) {
        return absl::UnimplementedError(absl::StrCat(
            "parameter ", param->name(), " is a ", dtype.ToString()));
      }
      const absl::StatusOr<int64_t> elements = NumElements(dtype, shape);
      if (!elements.ok() || *elements > kMaxElements) {
        return absl::UnimplementedError(
            absl::StrCat("parameter ", param->name(), " has more than ",
                         kMaxElements, " elements"));
      }
      if (extents.Contains(param.get())) {
        arguments.push_back(Tensor::ScalarOf(dtype, kFreeExtent));
        continue;
      }
      BATON_ASSIGN_OR_RETURN(Tensor argument, make(dtype, shape));
      arguments.push_back(std::move(argument));
    }
    return arguments;
  }

  absl::StatusOr<std::vector<Tensor>> Evaluate(
      const IRModule& module, const BaseFunc& function,
      absl::Span<const Tensor> arguments, int64_t max_steps) const override {
    const PrimFunc prim_func(function.As<PrimFuncNode>());
    BATON_ASSIGN_OR_RETURN(const std::vector<Argument> values,
                           ToArguments(prim_func, arguments));
    // A program may read what nothing wrote, if nothing depends on it; and what
    // blocks name is another question than what they compute.
    return Interpret(prim_func, values,
                     {.module = &module,
                      .check_initialized = false,
                      .check_regions = false,
                      .check_order = true,
                      .max_steps = max_steps});
  }
};
BATON_REGISTER_FUNCTION_EVALUATOR(PrimFuncNode, PrimFuncEvaluator);

}  // namespace
}  // namespace baton::tir
