#include "baton/testing/loops_values.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/function_evaluator.h"
#include "baton/tir/interpreter/interpreter.h"
#include "baton/tir/interpreter/scalar.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"

namespace baton::testing {

absl::StatusOr<Tensor> SmallIntegers(DType dtype,
                                     absl::Span<const int64_t> shape) {
  BATON_ASSIGN_OR_RETURN(MutableTensor tensor,
                         MutableTensor::Create(dtype, shape));
  auto* bytes = static_cast<char*>(tensor.data());
  const int64_t size = tir::ElementBytes(dtype);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    const int64_t value =
        i * 7919 % 5 - (dtype.is_uint() || dtype.is_bool() ? 0 : 2);
    tir::StoreScalar(dtype,
                     tir::ConvertScalar({.i = value}, DType::Int(64), dtype),
                     bytes + i * size);
  }
  return std::move(tensor).Freeze();
}

absl::StatusOr<std::vector<Tensor>> RunOnSmallIntegers(
    const tir::PrimFunc& function, const tir::InterpretOptions& options) {
  const FunctionEvaluator* evaluator =
      FindFunctionEvaluator(tir::PrimFuncNode::kKind);
  if (evaluator == nullptr) {
    return absl::FailedPreconditionError(
        "the program links no evaluator of loops");
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors,
                         evaluator->MakeArguments(function, SmallIntegers));
  std::vector<tir::Argument> arguments;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i];
    if (function->params()[i].dtype() == tir::kHandle) {
      arguments.emplace_back(tensor);
    } else if (tensor.dtype().is_float()) {
      arguments.emplace_back(tensor.AtAsDouble(0));
    } else {
      arguments.emplace_back(tensor.AtAsInt64(0));
    }
  }
  return tir::Interpret(function, arguments, options);
}

std::optional<std::string> FirstOtherNumber(absl::Span<const Tensor> a,
                                            absl::Span<const Tensor> b,
                                            double tolerance) {
  if (a.size() != b.size()) {
    return absl::StrCat(b.size(), " buffers, and there were ", a.size());
  }
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k].dtype() != b[k].dtype() ||
        a[k].num_elements() != b[k].num_elements()) {
      return absl::StrCat("buffer ", k, " is a ", b[k].TypeToString(),
                          ", and was a ", a[k].TypeToString());
    }
    for (int64_t i = 0; i < a[k].num_elements(); ++i) {
      if (!a[k].dtype().is_float()) {
        const int64_t x = a[k].AtAsInt64(i);
        const int64_t y = b[k].AtAsInt64(i);
        if (x == y) continue;
        return absl::StrCat("element ", i, " of buffer ", k, " is ", y,
                            ", and was ", x);
      }
      const double x = a[k].AtAsDouble(i);
      const double y = b[k].AtAsDouble(i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (std::abs(x - y) <= tolerance * (1 + std::abs(x))) continue;
      return absl::StrCat("element ", i, " of buffer ", k, " is ", y,
                          ", and was ", x);
    }
  }
  return std::nullopt;
}

}  // namespace baton::testing
