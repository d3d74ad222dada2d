// Loops over one operand.

#ifndef BATON_RUNTIME_KERNELS_INTERNAL_UNARY_H_
#define BATON_RUNTIME_KERNELS_INTERNAL_UNARY_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/half.h"
#include "baton/runtime/kernels/internal/vectorize.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels::internal {

// Calls run(from, n, to) with the elements of `x` and of a tensor of `dtype` in
// the shape of `x`: in the buffer of `x` if it may be reused.
using Run = absl::FunctionRef<void(const void* from, int64_t n, void* to)>;
absl::StatusOr<Tensor> MapInPlace(Operand x, DType dtype, Run run);

// A new tensor of the dtype of `x`, computed by `of_float` from elements of
// float32, and of bfloat16 as float32, and by `of_double` from float64.
// Converts bfloat16 in parts that stay in the first-level cache.
template <typename T>
using RunOf = absl::FunctionRef<void(const T* from, int64_t n, T* to)>;
absl::StatusOr<Tensor> MapFloats(absl::string_view name, const Tensor& x,
                                 RunOf<float> of_float,
                                 RunOf<double> of_double);

// A new float16 tensor, computed from float16 as it is stored.
absl::StatusOr<Tensor> MapStoredHalves(const Tensor& x, RunOf<uint16_t> run);

// A tensor of `dtype`, stored as R, that holds fn(v) for the elements of `x`,
// stored as T: in the buffer of `x` if it may be reused.
template <typename R, typename T, Vectors kWidest, typename Fn>
absl::StatusOr<Tensor> Map(Operand x, DType dtype, const Fn& fn) {
  return MapInPlace(x, dtype, [&fn](const void* from, int64_t n, void* to) {
    MapRun<kWidest>(static_cast<const T*>(from), n, static_cast<R*>(to), fn);
  });
}

// Calls run(from, n, to) for floats, as MapFloats does.
template <typename Fn>
absl::StatusOr<Tensor> MapFloatRuns(absl::string_view name, const Tensor& x,
                                    const Fn& run) {
  return MapFloats(name, x, run, run);
}

// Applies fn(float) -> float to float16.
template <Vectors kWidest = Vectors::k512, typename Fn>
absl::StatusOr<Tensor> MapFloat16(const Tensor& x, const Fn& fn) {
  return MapStoredHalves(x,
                         [&fn](const uint16_t* from, int64_t n, uint16_t* to) {
                           MapHalves<kWidest>(from, n, to, fn);
                         });
}

}  // namespace baton::kernels::internal

#endif  // BATON_RUNTIME_KERNELS_INTERNAL_UNARY_H_
