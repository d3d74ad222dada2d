#include "baton/relay/op/tensor/shape.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/op/tensor/reshape.h"
#include "baton/relay/op/tensor/scheduled_layout.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/layout_kernels.h"
#include "baton/runtime/kernels/rearrange.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

absl::StatusOr<Tensor> ComputeTranspose(const TransposeAttrs& attrs,
                                        absl::Span<const Value> args) {
  return kernels::Transpose(args[0].tensor(),
                            attrs.axes.has_value()
                                ? absl::Span<const int64_t>(*attrs.axes)
                                : absl::Span<const int64_t>());
}

absl::StatusOr<Tensor> ComputeLayoutTransform(const LayoutTransformAttrs& attrs,
                                              absl::Span<const Value> args) {
  return kernels::LayoutTransform(args[0].tensor(), attrs.src_layout,
                                  attrs.dst_layout);
}

// Splits each axis of the data into its parts, and puts those in order.
absl::StatusOr<Tensor> ComputeAutoSchedulerLayoutTransform(
    const AutoSchedulerLayoutTransformAttrs& attrs,
    absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  BATON_ASSIGN_OR_RETURN(
      const ScheduledLayout src,
      ScheduledLayout::Parse("src_layout", attrs.src_layout));
  BATON_ASSIGN_OR_RETURN(
      const ScheduledLayout dst,
      ScheduledLayout::Parse("dst_layout", attrs.dst_layout));
  TensorShape parts;
  std::vector<int64_t> order(dst.axes.size(), -1);
  bool fits = src.axes.size() == x.shape().size() &&
              dst.axes.size() == dst.extents.size();
  for (size_t axis = 0; fits && axis < src.axes.size(); ++axis) {
    int64_t extent = 1;
    for (size_t i = 0; i < dst.axes.size(); ++i) {
      if (dst.axes[i] != src.axes[axis]) continue;
      fits = fits && order[i] < 0 &&
             !__builtin_mul_overflow(extent, dst.extents[i], &extent);
      order[i] = static_cast<int64_t>(parts.size());
      parts.push_back(dst.extents[i]);
    }
    fits = fits && extent == x.shape()[axis];
  }
  if (!fits || absl::c_linear_search(order, -1)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "data of shape (", absl::StrJoin(x.shape(), ", "),
        ") cannot be rearranged from src_layout=\"", attrs.src_layout,
        "\" to dst_layout=\"", attrs.dst_layout, "\""));
  }
  BATON_ASSIGN_OR_RETURN(const Tensor split, x.Reshaped(parts));
  return kernels::Transpose(split, order);
}

template <bool kReverse>
absl::StatusOr<Tensor> ComputeReshape(const ReshapeAttrs& attrs,
                                      absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  const Dims old_shape(x.shape().begin(), x.shape().end());
  BATON_ASSIGN_OR_RETURN(
      const Dims shape,
      kReverse
          ? ReverseReshapedShape(old_shape, attrs.newshape, attrs.allowzero)
          : ReshapedShape(old_shape, attrs.newshape, attrs.allowzero));
  BATON_ASSIGN_OR_RETURN(const auto numbers, ConcreteDims(shape));
  return x.Reshaped(numbers);
}

absl::StatusOr<Tensor> ComputeReshapeLike(const ReshapeLikeAttrs& attrs,
                                          absl::Span<const Value> args) {
  const Tensor& x = args[0].tensor();
  const absl::Span<const int64_t> like = args[1].tensor().shape();
  BATON_ASSIGN_OR_RETURN(
      const Dims shape,
      ReshapedLikeShape(Dims(x.shape().begin(), x.shape().end()),
                        Dims(like.begin(), like.end()), attrs));
  BATON_ASSIGN_OR_RETURN(const auto numbers, ConcreteDims(shape));
  return x.Reshaped(numbers);
}

absl::StatusOr<Tensor> ComputeSqueeze(const SqueezeAttrs& attrs,
                                      absl::Span<const Value> args) {
  if (!attrs.axis.has_value()) return kernels::Squeeze(args[0].tensor());
  return kernels::Squeeze(args[0].tensor(),
                          absl::Span<const int64_t>(*attrs.axis));
}

std::vector<Tensor> FieldTensors(const Value& tuple) {
  std::vector<Tensor> tensors;
  for (const Value& field : tuple.fields()) tensors.push_back(field.tensor());
  return tensors;
}

absl::StatusOr<Tensor> ComputeConcatenate(const ConcatenateAttrs& attrs,
                                          absl::Span<const Value> args) {
  return kernels::Concatenate(FieldTensors(args[0]), attrs.axis);
}

absl::StatusOr<Tensor> ComputeStack(const StackAttrs& attrs,
                                    absl::Span<const Value> args) {
  return kernels::Stack(FieldTensors(args[0]), attrs.axis);
}

absl::StatusOr<Value> ComputeSplit(const CallNode& call,
                                   absl::Span<const Value> args) {
  const auto* attrs = call.attrs_as<SplitAttrs>();
  if (attrs == nullptr) {
    return absl::InvalidArgumentError("split has no attributes");
  }
  const Tensor& data = args[0].tensor();
  std::vector<Tensor> parts;
  if (const auto* sections = attrs->indices_or_sections.As<int64_t>()) {
    BATON_ASSIGN_OR_RETURN(parts, kernels::Split(data, *sections, attrs->axis));
  } else {
    std::vector<int64_t> indices;
    BATON_RETURN_IF_ERROR(AttrTraits<std::vector<int64_t>>::FromValue(
        attrs->indices_or_sections, &indices));
    BATON_ASSIGN_OR_RETURN(parts, kernels::SplitAt(data, indices, attrs->axis));
  }
  return Value::MakeTuple({parts.begin(), parts.end()});
}

absl::StatusOr<Tensor> ComputeRepeat(const RepeatAttrs& attrs,
                                     absl::Span<const Value> args) {
  return kernels::Repeat(args[0].tensor(), attrs.repeats,
                         attrs.axis.value_or(0));
}

absl::StatusOr<Tensor> ComputeReverse(const ReverseAttrs& attrs,
                                      absl::Span<const Value> args) {
  return kernels::Reverse(args[0].tensor(), attrs.axis.value_or(0));
}

absl::StatusOr<Value> Meshgrid(const CallNode& call,
                               absl::Span<const Value> args) {
  const auto* attrs = call.attrs_as<MeshgridAttrs>();
  BATON_ASSIGN_OR_RETURN(
      const std::vector<Tensor> grids,
      kernels::Meshgrid(FieldTensors(args[0]),
                        attrs != nullptr && attrs->indexing == "xy"));
  return Value::MakeTuple({grids.begin(), grids.end()});
}

BATON_EXTEND_OP("expand_dims")
    .Set(Kernels(), KernelOf<kernels::ExpandDims, &ExpandDimsAttrs::axis,
                             &ExpandDimsAttrs::num_newaxis>);
BATON_EXTEND_OP("squeeze").Set(Kernels(), KernelOf<ComputeSqueeze>);
BATON_EXTEND_OP("transpose").Set(Kernels(), KernelOf<ComputeTranspose>);
BATON_EXTEND_OP("layout_transform")
    .Set(Kernels(), KernelOf<ComputeLayoutTransform>);
BATON_EXTEND_OP("auto_scheduler_layout_transform")
    .Set(Kernels(), KernelOf<ComputeAutoSchedulerLayoutTransform>);
BATON_EXTEND_OP("reshape").Set(Kernels(), KernelOf<ComputeReshape<false>>);
BATON_EXTEND_OP("contrib_reverse_reshape")
    .Set(Kernels(), KernelOf<ComputeReshape<true>>);
BATON_EXTEND_OP("reshape_like").Set(Kernels(), KernelOf<ComputeReshapeLike>);
BATON_EXTEND_OP("concatenate").Set(Kernels(), KernelOf<ComputeConcatenate>);
BATON_EXTEND_OP("stack").Set(Kernels(), KernelOf<ComputeStack>);
BATON_EXTEND_OP("meshgrid").Set(Kernels(), Meshgrid);
BATON_EXTEND_OP("split").Set(Kernels(), ComputeSplit);
BATON_EXTEND_OP("repeat").Set(Kernels(), KernelOf<ComputeRepeat>);
BATON_EXTEND_OP("tile").Set(Kernels(),
                            KernelOf<kernels::Tile, &TileAttrs::reps>);
BATON_EXTEND_OP("reverse").Set(Kernels(), KernelOf<ComputeReverse>);
BATON_EXTEND_OP("reverse_sequence")
    .Set(Kernels(),
         KernelOf<kernels::ReverseSequence, &ReverseSequenceAttrs::seq_axis,
                  &ReverseSequenceAttrs::batch_axis>);
BATON_EXTEND_OP("sliding_window")
    .Set(Kernels(), KernelOf<kernels::SlidingWindow, &SlidingWindowAttrs::axis,
                             &SlidingWindowAttrs::window_shape,
                             &SlidingWindowAttrs::strides>);

}  // namespace

}  // namespace baton::relay
