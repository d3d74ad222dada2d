#include "acme/hard_swish.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/lower/computation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/tir/ir/expr.h"

namespace acme {
namespace {

using baton::DType;
using baton::MutableTensor;
using baton::Tensor;

// The result has the type of the argument, which must be float32: the hardware
// knows no other.
absl::StatusOr<baton::Type> HardSwishRel(baton::TypeRelationContext& context) {
  const baton::TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return baton::Type();  // asked again when more is known
  if (data->dtype() != DType::Float(32)) {
    return context.Error("data is ", data->dtype().ToString(),
                         ", and must be float32");
  }
  return context.arg(0);
}

absl::StatusOr<Tensor> ComputeHardSwish(const Tensor& data) {
  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(data.dtype(), data.shape()));
  const auto* in = static_cast<const float*>(data.data());
  auto* out = static_cast<float*>(result.data());
  const int64_t size = data.num_elements();
  for (int64_t i = 0; i < size; ++i) {
    out[i] = in[i] * std::clamp(in[i] + 3.0f, 0.0f, 6.0f) / 6.0f;
  }
  return std::move(result).Freeze();
}

// Computes hard_swish in loops, for LowerToTir and what compiles its functions.
absl::Status LowerHardSwish(baton::lower::LoopBuilder& loops) {
  using baton::lower::Number;
  using baton::lower::Op2;
  using baton::tir::BinaryOp;
  const DType dtype = loops.dtype();
  loops.Store(loops.output(), [&](const baton::lower::Indices& at) {
    const baton::tir::PrimExpr x = loops.Load(0, at);
    const baton::tir::PrimExpr gate =
        Op2(BinaryOp::kMin,
            Op2(BinaryOp::kMax, Op2(BinaryOp::kAdd, x, Number(dtype, 3)),
                Number(dtype, 0)),
            Number(dtype, 6));
    return Op2(BinaryOp::kDiv, Op2(BinaryOp::kMul, x, gate), Number(dtype, 6));
  });
  return absl::OkStatus();
}

BATON_REGISTER_OP("acme.hard_swish")
    .Describe("x * clip(x + 3, 0, 6) / 6, in one instruction.")
    .Arguments({{"data", "The input."}})
    .TypeRelation(HardSwishRel)
    .Set(baton::relay::Kernels(), baton::relay::KernelOf<ComputeHardSwish>)
    .Set(baton::lower::Computations(), LowerHardSwish)
    .Set(baton::relay::FusionPatterns(), baton::relay::FusionPattern::kElemWise)
    .Set(baton::relay::LayoutInferenceRules(),
         baton::relay::InferElemwiseLayouts);

}  // namespace

baton::Expr HardSwish(baton::Expr data) {
  return baton::relay::Call(BATON_OP("acme.hard_swish"), {std::move(data)});
}

}  // namespace acme
