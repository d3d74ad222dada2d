#include "baton/runtime/kernels/internal/product.h"

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/runtime/kernels/internal/util.h"

namespace baton::kernels::internal {

absl::StatusOr<DType> ProductDType(absl::string_view kernel, DType a, DType b,
                                   DType out) {
  bool wide = false;
  for (const DType dtype : {a, b, out}) {
    if (!dtype.IsStorable() || dtype.is_bool()) {
      return UnsupportedDType(kernel, dtype);
    }
    wide = wide || dtype.bits() == 64;
  }
  if (a.is_float() != b.is_float()) {
    return Error(kernel, "cannot multiply ", a.ToString(), " and ",
                 b.ToString());
  }
  if (a.is_float() || out.is_float()) return DType::Float(wide ? 64 : 32);
  return DType::Int(wide ? 64 : 32);
}

}  // namespace baton::kernels::internal
