#include "baton/examples/add_an_operator.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"

namespace baton::examples {
namespace {

// [relation]
absl::StatusOr<Type> RollRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();  // asked again when more is known
  const int axis = context.attrs<RollAttrs>().axis;
  BATON_RETURN_IF_ERROR(
      relay::NormalizeAxis(context, axis, data->rank()).status());
  return context.arg(0);
}
// [/relation]

// [kernel]
absl::StatusOr<Tensor> ComputeRoll(const RollAttrs& attrs,
                                   absl::Span<const relay::Value> args) {
  const Tensor& data = args[0].tensor();
  if (data.num_elements() == 0) return data;
  const int axis = attrs.axis < 0 ? attrs.axis + data.rank() : attrs.axis;
  int64_t step = data.dtype().bytes();  // from one index to the next, in bytes
  for (int i = axis + 1; i < data.rank(); ++i) step *= data.shape()[i];
  const int64_t extent = data.shape()[axis];
  const int64_t shift = (attrs.shift % extent + extent) % extent;

  BATON_ASSIGN_OR_RETURN(MutableTensor result,
                         MutableTensor::Create(data.dtype(), data.shape()));
  const auto* in = static_cast<const char*>(data.data());
  auto* out = static_cast<char*>(result.data());
  const int64_t size = extent * step;
  for (int64_t begin = 0; begin < data.byte_size(); begin += size) {
    const char* end = in + begin + size;
    std::rotate_copy(in + begin, end - shift * step, end, out + begin);
  }
  return std::move(result).Freeze();
}
// [/kernel]

// [layout]
// The call works in every layout in which its axis is in one piece.
std::optional<relay::InferredLayouts> InferRollLayouts(
    const relay::LayoutQuery& query) {
  const relay::Layout& before = query.old_inputs[0];
  const auto* attrs = query.attrs.As<RollAttrs>();
  if (!before.defined() || attrs == nullptr) return std::nullopt;
  const relay::InferredLayouts stays = {{before}, {before}, query.attrs};
  if (!query.changed) return stays;

  const relay::Layout& now = query.new_inputs[0];
  const int axis = attrs->axis < 0 ? attrs->axis + before.ndim() : attrs->axis;
  if (axis < 0 || axis >= before.ndim()) return std::nullopt;
  const char letter = before.axis(axis).letter;
  if (!now.Contains(letter) ||
      now.FactorOf(letter) != before.FactorOf(letter)) {
    return stays;
  }
  RollAttrs moved = *attrs;
  moved.axis = now.IndexOf(letter);
  return relay::InferredLayouts{{now}, {now}, Attrs::Make(moved)};
}
// [/layout]

// [registration]
BATON_REGISTER_OP("example.roll")
    .Describe("Moves elements along an axis, around the end.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<RollAttrs>()
    .TypeRelation(RollRel)
    .Set(relay::Kernels(), relay::KernelOf<ComputeRoll>)
    .Set(relay::FusionPatterns(), relay::FusionPattern::kInjective)
    .Set(relay::LayoutInferenceRules(), InferRollLayouts);
// [/registration]

}  // namespace

// [builder]
Expr Roll(Expr data, int64_t shift, int axis) {
  return relay::Call(BATON_OP("example.roll"), {std::move(data)},
                     Attrs::Make(RollAttrs{.shift = shift, .axis = axis}));
}
// [/builder]

}  // namespace baton::examples
