#include "baton/runtime/kernels/internal/binary_dtypes.h"

#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/convert.h"
#include "baton/runtime/kernels/internal/util.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels::internal {

absl::StatusOr<Tensor> InFloat(
    absl::string_view name, Operand a, Operand b,
    absl::FunctionRef<absl::StatusOr<Tensor>(Operand a, Operand b)> fn) {
  if (!a->dtype().is_half() && !b->dtype().is_half()) return fn(a, b);
  BATON_ASSIGN_OR_RETURN(Tensor x, WidenHalf(name, *a));
  BATON_ASSIGN_OR_RETURN(Tensor y, WidenHalf(name, *b));
  BATON_ASSIGN_OR_RETURN(const Tensor result, fn(std::move(x), std::move(y)));
  return Convert(name, result, a->dtype());
}

}  // namespace baton::kernels::internal
