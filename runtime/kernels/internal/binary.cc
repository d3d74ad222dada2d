#include "baton/runtime/kernels/internal/binary.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/runtime/kernels/internal/broadcast.h"
#include "baton/runtime/kernels/operand.h"

namespace baton::kernels::internal {
namespace {

absl::StatusOr<MutableTensor> ResultOf(Operand a, Operand b, DType dtype,
                                       const TensorShape& shape) {
  for (const Operand& operand : {a, b}) {
    std::optional<MutableTensor> reused = operand.Reuse(dtype, shape);
    if (reused.has_value()) return *std::move(reused);
  }
  return MutableTensor::Uninitialized(dtype, shape);
}

}  // namespace

absl::StatusOr<Tensor> ForEachBinaryRun(
    absl::string_view kernel, Operand a, Operand b, DType dtype,
    absl::FunctionRef<void(const BinaryRun&)> fill) {
  BATON_ASSIGN_OR_RETURN(const auto plan,
                         PlanBroadcast<2>(kernel, {a->shape(), b->shape()}));
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         ResultOf(a, b, dtype, plan.shape));
  const char* left = static_cast<const char*>(a->data());
  const char* right = static_cast<const char*>(b->data());
  char* out = static_cast<char*>(result.data());
  const int64_t in_size = a->dtype().bytes();
  const int64_t out_size = dtype.bytes();
  BinaryRun run;
  run.a_stride = plan.strides[0].back();
  run.b_stride = plan.strides[1].back();
  run.n = plan.dims.back();
  ForEachRun(plan, [&](const std::array<int64_t, 2>& at, int64_t to) {
    run.a = left + at[0] * in_size;
    run.b = right + at[1] * in_size;
    run.out = out + to * out_size;
    fill(run);
  });
  return std::move(result).Freeze();
}

}  // namespace baton::kernels::internal
