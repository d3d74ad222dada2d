#include "baton/relay/op/device/device.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/device/device_placement.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

// Its argument, with a note.
OpRegistration Annotation(absl::string_view name, absl::string_view doc,
                          CodeLocation location = CodeLocation::Current()) {
  return OpRegistration(name, location)
      .Describe(doc)
      .Arguments({{"data", "The input."}})
      .TypeRelation(IdentityRel)
      .Set(FusionPatterns(), FusionPattern::kOpaque)
      .Set(LayoutInferenceRules(), InferElemwiseLayouts);
}

[[maybe_unused]] const OpRegistration kAnnotations[] = {
    Annotation("annotation.stop_fusion", "Keeps fusion from crossing it.")
        .Set(StopFusionOps(), true),
    Annotation("annotation.checkpoint",
               "Marks what gradients compute again rather than keep."),
    Annotation("annotation.bitpack_start", "Begins a region of packed bits."),
    Annotation("annotation.bitpack_end", "Ends a region of packed bits."),
    Annotation("annotation.cast_hint", "Names a type that would do.")
        .TakesAttrs<CastHintAttrs>(),
    Annotation("annotation.compiler_begin",
               "Begins a region for an external compiler.")
        .TakesAttrs<CompilerAttrs>(),
    Annotation("annotation.compiler_end",
               "Ends a region for an external compiler.")
        .TakesAttrs<CompilerAttrs>(),
    Annotation("on_device", "Says where its argument is computed.")
        .Arguments({{"body", "The argument."}})
        .TakesAttrs<OnDeviceAttrs>()
        .Set(NonComputationalOps(), true),
    Annotation("device_copy", "Copies a tensor to another device.")
        .TakesAttrs<DeviceCopyAttrs>()
        .Set(DeviceCopyOps(), true),
};

// Storage.

Type StorageType() {
  static const TypeCall& kStorage = *new TypeCall(GlobalTypeVar("Storage"), {});
  return kStorage;
}

absl::StatusOr<Type> AllocStorageRel(TypeRelationContext& context) {
  BATON_RETURN_IF_ERROR(ExpectArg(context, 0, {}, DType::Int(64)));
  BATON_RETURN_IF_ERROR(ExpectArg(context, 2, {}, DType::Int(64)));
  if (context.Tensor(1) == nullptr) return Type();
  return StorageType();
}

absl::StatusOr<Type> AllocTensorRel(TypeRelationContext& context) {
  BATON_RETURN_IF_ERROR(context.AssignArg(0, StorageType()));
  const TensorTypeNode* shape = context.Tensor(2);
  if (context.Tensor(1) == nullptr || shape == nullptr) return Type();
  const auto& attrs = context.attrs<AllocTensorAttrs>();
  std::vector<int64_t> known;
  if (attrs.const_shape.As<AttrList>() != nullptr &&
      AttrTraits<std::vector<int64_t>>::FromValue(attrs.const_shape, &known)
          .ok()) {
    return Type(TensorType(Dims(known.begin(), known.end()), attrs.dtype));
  }
  if (!attrs.assert_shape.empty()) {
    return Type(TensorType(attrs.assert_shape, attrs.dtype));
  }
  const std::optional<std::vector<int64_t>> extents =
      ConstantInts(context.operand(2));
  if (!extents.has_value()) {
    return context.Error(
        "the shape must be a constant, or assert_shape be "
        "given");
  }
  return Type(TensorType(Dims(extents->begin(), extents->end()), attrs.dtype));
}

absl::StatusOr<Type> KillRel(TypeRelationContext& /*context*/) {
  return Type(TupleType(std::vector<Type>()));
}

BATON_REGISTER_OP("memory.alloc_storage")
    .Describe("A region of memory.")
    .Arguments({{"size", "Bytes."},
                {"shape", "The shape of what it is for."},
                {"alignment", "Bytes."}})
    .TakesAttrs<AllocStorageAttrs>()
    .TypeRelation(AllocStorageRel)
    .Set(DevicePlacements(),
         DevicePlacement{.host_args = {0, 1, 2},
                         .result = DevicePlacement::Result::kAttribute})
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(NonComputationalOps(), true);

BATON_REGISTER_OP("memory.alloc_tensor")
    .Describe("A tensor in a region of memory.")
    .Arguments({{"storage", "The region."},
                {"offset", "The offset in the region."},
                {"shape", "The shape of the tensor."}})
    .TakesAttrs<AllocTensorAttrs>()
    .TypeRelation(AllocTensorRel)
    .Set(DevicePlacements(), DevicePlacement{.host_args = {1, 2}})
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(NonComputationalOps(), true);

BATON_REGISTER_OP("memory.kill")
    .Describe("Ends the life of a tensor or region.")
    .Arguments({{"to_free", "The storage or tensor that is no longer used."}})
    .TypeRelation(KillRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(StatefulOps(), true)
    .Set(NonComputationalOps(), true);

// The virtual machine.

absl::StatusOr<Type> VmShapeOfRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const Dims shape(data->rank() == 0 ? 0 : 1, Dim(data->rank()));
  return Type(TensorType(shape, context.attrs<ShapeOfAttrs>().dtype));
}

absl::StatusOr<Type> VmReshapeTensorRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  return TensorLike(context, 0, context.attrs<ReshapeTensorAttrs>().newshape,
                    data->dtype());
}

BATON_REGISTER_OP("vm.shape_of")
    .Describe("The shape of a tensor, as a vector.")
    .Arguments({{"tensor", "The input."}})
    .TakesAttrs<ShapeOfAttrs>()
    .TypeRelation(VmShapeOfRel)
    .Set(DevicePlacements(),
         DevicePlacement{.result = DevicePlacement::Result::kHost})
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(NonComputationalOps(), true)
    .Set(ShapeQueries(), ShapeQuery::kShape);

BATON_REGISTER_OP("vm.reshape_tensor")
    .Describe("The same memory under another shape.")
    .Arguments({{"data", "The input."}, {"shape", "The shape wanted."}})
    .TakesAttrs<ReshapeTensorAttrs>()
    .TypeRelation(VmReshapeTensorRel)
    .Set(DevicePlacements(), DevicePlacement{.host_args = {1}})
    .Set(FusionPatterns(), FusionPattern::kOpaque)
    .Set(NonComputationalOps(), true);

}  // namespace

// Builders.

Expr StopFusion(Expr data) {
  return Call(BATON_OP("annotation.stop_fusion"), {std::move(data)});
}

}  // namespace baton::relay
