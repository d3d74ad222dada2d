#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/integer_arguments.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

BATON_EXTEND_OP("annotation.stop_fusion").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("annotation.checkpoint").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("annotation.bitpack_start").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("annotation.bitpack_end").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("annotation.cast_hint").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("annotation.compiler_begin").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("annotation.compiler_end").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("on_device").Set(Kernels(), IdentityKernel);
BATON_EXTEND_OP("device_copy").Set(Kernels(), IdentityKernel);

// Nothing that the evaluator holds ends before it is dropped.
absl::StatusOr<Value> KillKernel(const CallNode& /*call*/,
                                 absl::Span<const Value> /*args*/) {
  return Value::MakeTuple({});
}

BATON_EXTEND_OP("memory.kill").Set(Kernels(), KillKernel);

absl::StatusOr<Tensor> ComputeVmShapeOf(const ShapeOfAttrs& attrs,
                                        absl::Span<const Value> args) {
  const absl::Span<const int64_t> shape = args[0].tensor().shape();
  BATON_ASSIGN_OR_RETURN(
      const Tensor wide,
      Tensor::FromValues<int64_t>({static_cast<int64_t>(shape.size())}, shape));
  return attrs.dtype.is_void() ? wide : kernels::Cast(wide, attrs.dtype);
}

absl::StatusOr<Tensor> ComputeVmReshape(const Tensor& data,
                                        const Tensor& shape) {
  return data.Reshaped(Integers(shape));
}

BATON_EXTEND_OP("vm.shape_of").Set(Kernels(), KernelOf<ComputeVmShapeOf>);
BATON_EXTEND_OP("vm.reshape_tensor").Set(Kernels(), KernelOf<ComputeVmReshape>);

}  // namespace

}  // namespace baton::relay
