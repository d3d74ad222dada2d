#include "baton/relay/op/dyn/dyn.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/kernels/dynamic_forms.h"
#include "baton/relay/kernels/integer_arguments.h"
#include "baton/relay/kernels/kernel_adapters.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/nn/spatial.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/reshape.h"
#include "baton/relay/op/tensor/sequence.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/kernels/shape_kernels.h"

namespace baton::relay {
namespace {

absl::StatusOr<Tensor> DynReshape(const ReshapeAttrs& attrs,
                                  absl::Span<const Value> args) {
  const Tensor& data = args[0].tensor();
  const Dims old_shape(data.shape().begin(), data.shape().end());
  BATON_ASSIGN_OR_RETURN(
      const Dims shape,
      ReshapedShape(old_shape, Integers(args[1].tensor()), attrs.allowzero));
  BATON_ASSIGN_OR_RETURN(const auto numbers, ConcreteDims(shape));
  return data.Reshaped(numbers);
}

absl::StatusOr<Tensor> DynTile(const Tensor& data, const Tensor& reps) {
  return kernels::Tile(data, Integers(reps));
}

absl::StatusOr<Tensor> DynBroadcastTo(const Tensor& data, const Tensor& shape) {
  return kernels::BroadcastTo(data, Integers(shape));
}

absl::StatusOr<Tensor> DynZeros(const InitOpAttrs& attrs,
                                absl::Span<const Value> args) {
  return Tensor::Zeros(attrs.dtype, Integers(args[0].tensor()));
}

absl::StatusOr<Tensor> DynOnes(const InitOpAttrs& attrs,
                               absl::Span<const Value> args) {
  return Tensor::Ones(attrs.dtype, Integers(args[0].tensor()));
}

absl::StatusOr<Tensor> DynFull(const InitOpAttrs& attrs,
                               absl::Span<const Value> args) {
  return kernels::Full(args[0].tensor(), Integers(args[1].tensor()),
                       attrs.dtype);
}

absl::StatusOr<Tensor> DynOneHot(const OneHotAttrs& attrs,
                                 absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const int64_t depth,
                         IntegerArgument("depth", args[3]));
  return kernels::OneHot(args[0].tensor(), args[1].tensor(), args[2].tensor(),
                         depth, attrs.axis, attrs.dtype);
}

absl::StatusOr<Tensor> DynStridedSlice(const StridedSliceAttrs& attrs,
                                       absl::Span<const Value> args) {
  StridedSliceAttrs slice;
  slice.begin = Integers(args[1].tensor());
  slice.end = Integers(args[2].tensor());
  slice.strides = Integers(args[3].tensor());
  slice.slice_mode = attrs.slice_mode;
  return SliceOf(args[0].tensor(), slice);
}

absl::StatusOr<Tensor> DynExpandDims(const DynExpandDimsAttrs& attrs,
                                     absl::Span<const Value> args) {
  BATON_ASSIGN_OR_RETURN(const int64_t axis, IntegerArgument("axis", args[1]));
  return kernels::ExpandDims(args[0].tensor(), axis, attrs.num_newaxis);
}

absl::StatusOr<Tensor> DynSqueeze(const Tensor& data, const Tensor& axes) {
  const std::vector<int64_t> numbers = Integers(axes);
  return kernels::Squeeze(data, absl::Span<const int64_t>(numbers));
}

absl::StatusOr<Value> DynTopK(const TopKAttrs& attrs,
                              absl::Span<const Value> args) {
  TopKAttrs with_k = attrs;
  BATON_ASSIGN_OR_RETURN(with_k.k, IntegerArgument("k", args[1]));
  if (with_k.k == 0) {
    // A computed 0 gives no elements; as an attribute it means all.
    const Tensor& data = args[0].tensor();
    std::vector<int64_t> shape(data.shape().begin(), data.shape().end());
    const int64_t axis = attrs.axis < 0 ? attrs.axis + data.rank() : attrs.axis;
    if (axis < 0 || axis >= data.rank()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "axis ", attrs.axis, " is out of range for ", data.TypeToString()));
    }
    shape[axis] = 0;
    BATON_ASSIGN_OR_RETURN(Tensor values, Tensor::Zeros(data.dtype(), shape));
    BATON_ASSIGN_OR_RETURN(
        Tensor indices,
        Tensor::Zeros(attrs.dtype.is_void() ? DType::Int(32) : attrs.dtype,
                      shape));
    if (attrs.ret_type == "values") return Value(std::move(values));
    if (attrs.ret_type == "indices") return Value(std::move(indices));
    return Value::MakeTuple({std::move(values), std::move(indices)});
  }
  return TopKOf(args[0].tensor(), with_k);
}

absl::StatusOr<Tensor> DynPad(const PadAttrs& attrs,
                              absl::Span<const Value> args) {
  const std::vector<int64_t> widths = Integers(args[1].tensor());
  std::vector<int64_t> before, after;
  for (size_t i = 0; i + 1 < widths.size(); i += 2) {
    before.push_back(widths[i]);
    after.push_back(widths[i + 1]);
  }
  if (attrs.pad_mode != "constant") {
    return absl::UnimplementedError(
        absl::StrCat("pad_mode=\"", attrs.pad_mode,
                     "\" is not supported: only \"constant\" is"));
  }
  return kernels::Pad(args[0].tensor(), before, after,
                      kernels::PadMode::kConstant, args[2].tensor());
}

absl::StatusOr<Tensor> DynSparseToDense(const SparseToDenseAttrs& /*attrs*/,
                                        absl::Span<const Value> args) {
  SparseToDenseAttrs attrs;
  attrs.output_shape = Integers(args[3].tensor());
  return ComputeSparseToDense(attrs, args);
}

// The number in a tensor of one element.
absl::StatusOr<double> FactorArgument(const Value& value) {
  if (value.tensor().num_elements() != 1) {
    return absl::InvalidArgumentError("a factor must be a scalar");
  }
  return value.tensor().AtAsDouble(0);
}

absl::StatusOr<Tensor> DynUpSampling(const UpSamplingAttrs& attrs,
                                     absl::Span<const Value> args) {
  UpSamplingAttrs scaled = attrs;
  BATON_ASSIGN_OR_RETURN(scaled.scale_h, FactorArgument(args[1]));
  BATON_ASSIGN_OR_RETURN(scaled.scale_w, FactorArgument(args[2]));
  return ComputeUpSampling(scaled, args);
}

absl::StatusOr<Tensor> DynUpSampling3D(const UpSampling3DAttrs& attrs,
                                       absl::Span<const Value> args) {
  UpSampling3DAttrs scaled = attrs;
  BATON_ASSIGN_OR_RETURN(scaled.scale_d, FactorArgument(args[1]));
  BATON_ASSIGN_OR_RETURN(scaled.scale_h, FactorArgument(args[2]));
  BATON_ASSIGN_OR_RETURN(scaled.scale_w, FactorArgument(args[3]));
  return ComputeUpSampling3D(scaled, args);
}

absl::StatusOr<Tensor> DynResize2D(const Resize2DAttrs& attrs,
                                   absl::Span<const Value> args) {
  const Tensor& roi = args[2].tensor();
  std::vector<double> region(roi.num_elements());
  for (size_t i = 0; i < region.size(); ++i) region[i] = roi.AtAsDouble(i);
  if (args[1].tensor().num_elements() != 2) {
    return absl::InvalidArgumentError("size must have 2 elements");
  }
  return ResizeTo(attrs, args[0].tensor(), Integers(args[1].tensor()),
                  std::move(region));
}

BATON_EXTEND_OP("dyn.reshape").Set(Kernels(), KernelOf<DynReshape>);
BATON_EXTEND_OP("dyn.tile").Set(Kernels(), KernelOf<DynTile>);
BATON_EXTEND_OP("dyn.broadcast_to").Set(Kernels(), KernelOf<DynBroadcastTo>);
BATON_EXTEND_OP("dyn.zeros").Set(Kernels(), KernelOf<DynZeros>);
BATON_EXTEND_OP("dyn.ones").Set(Kernels(), KernelOf<DynOnes>);
BATON_EXTEND_OP("dyn.full").Set(Kernels(), KernelOf<DynFull>);
BATON_EXTEND_OP("dyn.one_hot").Set(Kernels(), KernelOf<DynOneHot>);
BATON_EXTEND_OP("dyn.strided_slice").Set(Kernels(), KernelOf<DynStridedSlice>);
BATON_EXTEND_OP("dyn.sparse_to_dense")
    .Set(Kernels(), KernelOf<DynSparseToDense>);
BATON_EXTEND_OP("dyn.expand_dims").Set(Kernels(), KernelOf<DynExpandDims>);
BATON_EXTEND_OP("dyn.squeeze").Set(Kernels(), KernelOf<DynSqueeze>);
BATON_EXTEND_OP("dyn.topk").Set(Kernels(), KernelOf<DynTopK>);
BATON_EXTEND_OP("dyn.nn.pad").Set(Kernels(), KernelOf<DynPad>);
BATON_EXTEND_OP("dyn.nn.upsampling").Set(Kernels(), KernelOf<DynUpSampling>);
BATON_EXTEND_OP("dyn.nn.upsampling3d")
    .Set(Kernels(), KernelOf<DynUpSampling3D>);
BATON_EXTEND_OP("dyn.image.resize2d").Set(Kernels(), KernelOf<DynResize2D>);

}  // namespace

}  // namespace baton::relay
