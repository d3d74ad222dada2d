// Chooses the dtype in which convolutions and matrix products are computed.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_PRODUCT_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_PRODUCT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"

namespace baton::kernels::internal {

// float32, float64, int32 or int64: wide enough for both operands, which must
// be both floating or both integral, and for the result.
absl::StatusOr<DType> ProductDType(absl::string_view kernel, DType a, DType b,
                                   DType out);

// Calls fn<T>() with the C++ type for the result of ProductDType; integers as
// unsigned types, which wrap.
template <typename Fn>
auto VisitProduct(DType dtype, const Fn& fn) {
  if (dtype == DType::Float(32)) return fn.template operator()<float>();
  if (dtype == DType::Float(64)) return fn.template operator()<double>();
  if (dtype == DType::Int(64)) return fn.template operator()<uint64_t>();
  return fn.template operator()<uint32_t>();
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_PRODUCT_H_
