#include "baton/relay/op/nn/conv.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/dim_math.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/type_relations.h"
#include "baton/relay/op/window_math.h"

namespace baton::relay {
namespace {

// The layouts in which one kind of convolution is defined.
struct ConvLayouts {
  explicit ConvLayouts(absl::string_view data, absl::string_view kernel,
                       absl::string_view grouped_kernel)
      : data(*Layout::Parse(data)),
        kernel(*Layout::Parse(kernel)),
        grouped_kernel(*Layout::Parse(grouped_kernel)) {}
  Layout data;
  Layout kernel;
  Layout grouped_kernel;  // with an axis G
};

const ConvLayouts& LayoutsOf(int num_spatial, bool transposed) {
  static const auto* const kLayouts = new ConvLayouts[6]{
      ConvLayouts("NCW", "OIW", "GOIW"),
      ConvLayouts("NCHW", "OIHW", "GOIHW"),
      ConvLayouts("NCDHW", "OIDHW", "GOIDHW"),
      ConvLayouts("NCW", "IOW", "GIOW"),
      ConvLayouts("NCHW", "IOHW", "GIOHW"),
      ConvLayouts("NCDHW", "IODHW", "GIODHW"),
  };
  return kLayouts[num_spatial - 1 + (transposed ? 3 : 0)];
}

// A convolution, with what the attribute structs have in common.
class Convolution {
 public:
  // The check of the weight: of its shape, or none.
  enum class WeightCheck { kShape, kNone };

  template <typename A>
  Convolution(TypeRelationContext& context, const A& attrs, int num_spatial,
              bool transposed, int weight_index = 1)
      : context_(context),
        num_spatial_(num_spatial),
        transposed_(transposed),
        weight_index_(weight_index),
        strides_(attrs.strides),
        padding_(attrs.padding),
        dilation_(attrs.dilation),
        kernel_size_(attrs.kernel_size),
        groups_(attrs.groups),
        channels_(attrs.channels.has_value() ? &*attrs.channels : nullptr),
        data_layout_text_(attrs.data_layout),
        kernel_layout_text_(attrs.kernel_layout),
        out_layout_text_(attrs.out_layout.empty() ? attrs.data_layout
                                                  : attrs.out_layout),
        out_dtype_(attrs.out_dtype) {}

  void set_output_padding(absl::Span<const Dim> output_padding) {
    output_padding_ = output_padding;
  }

  absl::StatusOr<Type> Infer(WeightCheck check);

  // After Infer() gave a type: sizes in canonical layout.
  const Dims& canonical_data() const { return data_; }
  const Dims& canonical_result() const { return result_; }
  const Dims& kernel_extents() const { return kernel_extents_; }
  const Layout& data_layout() const { return *data_layout_; }

 private:
  absl::Status ParseLayouts(WeightCheck check);
  absl::Status CheckAttrs() const;
  // False if the weight is needed and not known yet.
  absl::StatusOr<bool> InferKernel(const TensorTypeNode& data,
                                   const TensorTypeNode* weight);
  absl::StatusOr<bool> AssignWeight(const TensorTypeNode& data,
                                    const TensorTypeNode* weight);
  absl::StatusOr<bool> ReadWeight(const TensorTypeNode* weight);

  bool grouped_kernel() const {
    return groups_ > 1 && absl::string_view(kernel_layout_text_).find('G') !=
                              absl::string_view::npos;
  }

  TypeRelationContext& context_;
  const int num_spatial_;
  const bool transposed_;
  const int weight_index_;
  const absl::Span<const Dim> strides_;
  const absl::Span<const Dim> padding_;
  const absl::Span<const Dim> dilation_;
  const absl::Span<const Dim> kernel_size_;  // empty if not given
  absl::Span<const Dim> output_padding_;
  const int groups_;
  const Dim* const channels_;  // null if not given
  const std::string& data_layout_text_;
  const std::string& kernel_layout_text_;
  const std::string& out_layout_text_;
  const DType out_dtype_;

  // Canonical layouts, or what follows them.
  const Layout* data_layout_ = nullptr;
  const Layout* kernel_layout_ = nullptr;
  const Layout* out_layout_ = nullptr;
  const Layout* canonical_kernel_ = nullptr;
  Layout parsed_data_layout_;
  Layout parsed_kernel_layout_;
  Layout parsed_out_layout_;
  Dims data_;    // N, C, spatial
  Dims result_;  // N, C, spatial
  Dim out_channels_;
  Dims kernel_extents_;  // spatial
};

absl::Status Convolution::ParseLayouts(WeightCheck check) {
  const ConvLayouts& layouts = LayoutsOf(num_spatial_, transposed_);
  BATON_ASSIGN_OR_RETURN(data_layout_,
                         ParseLayout(context_, "data_layout", data_layout_text_,
                                     layouts.data, parsed_data_layout_));
  if (check == WeightCheck::kShape) {
    canonical_kernel_ =
        grouped_kernel() ? &layouts.grouped_kernel : &layouts.kernel;
    BATON_ASSIGN_OR_RETURN(
        kernel_layout_,
        ParseLayout(context_, "kernel_layout", kernel_layout_text_,
                    *canonical_kernel_, parsed_kernel_layout_));
  }
  if (out_layout_text_ == data_layout_text_) {
    out_layout_ = data_layout_;
    return absl::OkStatus();
  }
  BATON_ASSIGN_OR_RETURN(out_layout_,
                         ParseLayout(context_, "out_layout", out_layout_text_,
                                     layouts.data, parsed_out_layout_));
  return absl::OkStatus();
}

absl::Status Convolution::CheckAttrs() const {
  BATON_RETURN_IF_ERROR(
      ExpectPositive(context_, "strides", strides_, num_spatial_));
  BATON_RETURN_IF_ERROR(
      ExpectPositive(context_, "dilation", dilation_, num_spatial_));
  if (!kernel_size_.empty()) {
    BATON_RETURN_IF_ERROR(
        ExpectPositive(context_, "kernel_size", kernel_size_, num_spatial_));
  }
  if (groups_ <= 0) {
    return context_.Error("groups=", groups_, " is not positive");
  }
  if (channels_ != nullptr && channels_->is_const()) {
    if (channels_->value() <= 0) {
      return context_.Error("channels=", channels_->value(),
                            " is not positive");
    }
    if (channels_->value() % groups_ != 0) {
      return context_.Error("channels=", channels_->value(),
                            " cannot be divided into ", groups_, " groups");
    }
  }
  if (data_[1].is_const() && data_[1].value() % groups_ != 0) {
    return context_.Error("the ", data_[1].value(),
                          " channels of the data cannot be divided into ",
                          groups_, " groups");
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Convolution::InferKernel(const TensorTypeNode& data,
                                              const TensorTypeNode* weight) {
  return channels_ != nullptr && !kernel_size_.empty()
             ? AssignWeight(data, weight)
             : ReadWeight(weight);
}

// Channels and kernel size are given: they determine the weight.
absl::StatusOr<bool> Convolution::AssignWeight(const TensorTypeNode& data,
                                               const TensorTypeNode* weight) {
  const Dim groups = groups_;
  const Dim& in_channels = data_[1];
  out_channels_ = *channels_;
  kernel_extents_.assign(kernel_size_.begin(), kernel_size_.end());

  Dims shape;
  if (grouped_kernel()) {
    const Dim in = FloorDiv(in_channels, groups);
    const Dim out = FloorDiv(*channels_, groups);
    shape = transposed_ ? Dims{groups, in, out} : Dims{groups, out, in};
  } else if (transposed_) {
    shape = {in_channels, FloorDiv(*channels_, groups)};
  } else {
    shape = {*channels_, FloorDiv(in_channels, groups)};
    if (groups_ > 1 && num_spatial_ == 2) {
      // A depthwise convolution may keep the multiplier on the axis I.
      if (weight == nullptr) return false;
      BATON_ASSIGN_OR_RETURN(
          const Dims actual,
          ConvertArgShape(context_, weight_index_, *weight, *kernel_layout_,
                          *canonical_kernel_));
      if (in_channels == groups && actual[0] == groups) {
        shape = {in_channels, FloorDiv(*channels_, in_channels)};
      }
    }
  }
  shape.insert(shape.end(), kernel_size_.begin(), kernel_size_.end());
  BATON_ASSIGN_OR_RETURN(const Dims stored,
                         ToLayout(context_, std::move(shape),
                                  *canonical_kernel_, *kernel_layout_));
  BATON_RETURN_IF_ERROR(
      ExpectArg(context_, weight_index_, stored,
                weight != nullptr ? weight->dtype() : data.dtype()));
  return true;
}

// Channels or kernel size are taken from the weight.
absl::StatusOr<bool> Convolution::ReadWeight(const TensorTypeNode* weight) {
  if (weight == nullptr) return false;
  BATON_ASSIGN_OR_RETURN(Dims shape,
                         ConvertArgShape(context_, weight_index_, *weight,
                                         *kernel_layout_, *canonical_kernel_));
  const auto mismatch = [&](absl::string_view what, const Dim& expected) {
    return context_.Error(
        "the weight has shape ", ShapeToString(weight->shape()), " (",
        kernel_layout_->ToString(), "), which does not match ", what, "=",
        expected.ToString());
  };
  // Without the axis of the groups: channels of the whole.
  if (grouped_kernel()) {
    if (ProvablyDiffer(shape[0], groups_)) return mismatch("groups", groups_);
    shape.erase(shape.begin());
    Dim& out = shape[transposed_ ? 1 : 0];
    if (!transposed_) out = out * Dim(groups_);
    if (transposed_) shape[0] = shape[0] * Dim(groups_);
  }
  for (size_t i = 0; i < kernel_size_.size(); ++i) {
    if (ProvablyDiffer(kernel_size_[i], shape[i + 2])) {
      return mismatch("kernel_size", kernel_size_[i]);
    }
  }
  const Dim groups = groups_;
  const Dim in_channels = transposed_ ? data_[1] : FloorDiv(data_[1], groups);
  const Dim& weight_in = shape[transposed_ ? 0 : 1];
  out_channels_ = transposed_ ? shape[1] * groups : shape[0];
  if (ProvablyDiffer(in_channels, weight_in)) {
    return mismatch("the input channels of a group", in_channels);
  }
  if (channels_ != nullptr && ProvablyDiffer(*channels_, out_channels_)) {
    return mismatch("channels", *channels_);
  }
  kernel_extents_.assign(shape.begin() + 2, shape.end());
  return true;
}

absl::StatusOr<Type> Convolution::Infer(WeightCheck check) {
  const TensorTypeNode* data = context_.Tensor(0);
  if (data == nullptr) return Type();
  const TensorTypeNode* weight = context_.Tensor(weight_index_);
  BATON_RETURN_IF_ERROR(context_.status());
  BATON_RETURN_IF_ERROR(ParseLayouts(check));
  const Layout& canonical = LayoutsOf(num_spatial_, transposed_).data;
  BATON_ASSIGN_OR_RETURN(
      data_, ConvertArgShape(context_, 0, *data, *data_layout_, canonical));
  BATON_RETURN_IF_ERROR(CheckAttrs());
  BATON_ASSIGN_OR_RETURN(const Dims pad,
                         TotalPadding(context_, padding_, num_spatial_));
  if (check == WeightCheck::kShape) {
    BATON_ASSIGN_OR_RETURN(const bool known, InferKernel(*data, weight));
    if (!known) return Type();
  } else {
    if (channels_ == nullptr || kernel_size_.empty()) {
      return context_.Error("channels and kernel_size must be given");
    }
    out_channels_ = *channels_;
    kernel_extents_.assign(kernel_size_.begin(), kernel_size_.end());
  }

  result_ = {data_[0], out_channels_};
  for (int i = 0; i < num_spatial_; ++i) {
    const Dim window = DilatedExtent(kernel_extents_[i], dilation_[i]);
    Dim extent;
    if (transposed_) {
      extent = strides_[i] * (data_[i + 2] - Dim(1)) + window - pad[i];
      if (!output_padding_.empty()) extent = extent + output_padding_[i];
    } else {
      extent = WindowCount(data_[i + 2], pad[i], window, strides_[i],
                           /*ceil=*/false);
    }
    BATON_RETURN_IF_ERROR(ExpectNotNegative(context_, extent, i));
    result_.push_back(std::move(extent));
  }
  DType dtype = out_dtype_;
  if (dtype.is_void()) dtype = data->dtype();
  if (out_layout_ == &canonical) {
    return TensorLike(context_, 0, result_, dtype);
  }
  BATON_ASSIGN_OR_RETURN(const Dims stored,
                         ToLayout(context_, result_, canonical, *out_layout_));
  return TensorLike(context_, 0, stored, dtype);
}

template <typename A, int kNumSpatial>
absl::StatusOr<Type> ConvRel(TypeRelationContext& context) {
  return Convolution(context, context.attrs<A>(), kNumSpatial,
                     /*transposed=*/false)
      .Infer(Convolution::WeightCheck::kShape);
}

// The weight is in a form of its own, which is not checked.
template <typename A, int kNumSpatial>
absl::StatusOr<Type> ConvTransformedWeightRel(TypeRelationContext& context) {
  return Convolution(context, context.attrs<A>(), kNumSpatial,
                     /*transposed=*/false)
      .Infer(Convolution::WeightCheck::kNone);
}

template <typename A, int kNumSpatial>
absl::StatusOr<Type> ConvTransposeRel(TypeRelationContext& context) {
  const A& attrs = context.attrs<A>();
  if (attrs.output_padding.size() != kNumSpatial) {
    return context.Error("output_padding must have ", kNumSpatial,
                         " elements, but has ", attrs.output_padding.size());
  }
  Convolution conv(context, attrs, kNumSpatial, /*transposed=*/true);
  conv.set_output_padding(attrs.output_padding);
  return conv.Infer(Convolution::WeightCheck::kShape);
}

absl::StatusOr<Type> DeformableConv2DRel(TypeRelationContext& context) {
  const auto& attrs = context.attrs<DeformableConv2DAttrs>();
  Convolution conv(context, attrs, 2, /*transposed=*/false,
                   /*weight_index=*/2);
  BATON_ASSIGN_OR_RETURN(Type result,
                         conv.Infer(Convolution::WeightCheck::kShape));
  if (!result.defined()) return result;
  const Dims& out = conv.canonical_result();
  const Dims offset = {
      out[0],
      Dim(2) * Product(conv.kernel_extents()) * Dim(attrs.deformable_groups),
      out[2], out[3]};
  BATON_ASSIGN_OR_RETURN(
      const Dims stored,
      ToLayout(context, offset, LayoutsOf(2, false).data, conv.data_layout()));
  BATON_RETURN_IF_ERROR(
      ExpectArg(context, 1, stored, context.Tensor(0)->dtype()));
  return result;
}

// The gradient of conv2d with respect to its weight. The attributes' layouts
// are those of the gradient, the data and the weight, in this order.
absl::StatusOr<Type> Conv2DBackwardWeightRel(TypeRelationContext& context) {
  const TensorTypeNode* grad = context.Tensor(0);
  const TensorTypeNode* data = context.Tensor(1);
  if (grad == nullptr || data == nullptr) return Type();
  const auto& attrs = context.attrs<Conv2DAttrs>();
  if (attrs.kernel_size.size() != 2) {
    return context.Error("kernel_size must be given");
  }
  if (attrs.groups <= 0) {
    return context.Error("groups=", attrs.groups, " is not positive");
  }
  const ConvLayouts& layouts = LayoutsOf(2, /*transposed=*/false);
  Layout parsed[3];
  BATON_ASSIGN_OR_RETURN(const Layout* grad_layout,
                         ParseLayout(context, "data_layout", attrs.data_layout,
                                     layouts.data, parsed[0]));
  BATON_ASSIGN_OR_RETURN(
      const Layout* data_layout,
      ParseLayout(context, "kernel_layout", attrs.kernel_layout, layouts.data,
                  parsed[1]));
  BATON_ASSIGN_OR_RETURN(const Layout* weight_layout,
                         ParseLayout(context, "out_layout", attrs.out_layout,
                                     layouts.kernel, parsed[2]));
  BATON_ASSIGN_OR_RETURN(
      const Dims grad_shape,
      ConvertArgShape(context, 0, *grad, *grad_layout, layouts.data));
  BATON_ASSIGN_OR_RETURN(
      const Dims data_shape,
      ConvertArgShape(context, 1, *data, *data_layout, layouts.data));
  const Dim groups = attrs.groups;
  Dim in_channels = data_shape[1];
  if (in_channels == groups && grad_shape[1] == groups) {
    if (!attrs.channels.has_value()) {
      return context.Error("channels must be given where it is depthwise");
    }
    in_channels = *attrs.channels;
  }
  const Dims shape = {grad_shape[1], FloorDiv(in_channels, groups),
                      attrs.kernel_size[0], attrs.kernel_size[1]};
  BATON_ASSIGN_OR_RETURN(
      const Dims stored,
      ToLayout(context, shape, layouts.kernel, *weight_layout));
  return Type(TensorType(
      stored, attrs.out_dtype.is_void() ? grad->dtype() : attrs.out_dtype));
}

// From OIHW to (tile + h - 1, tile + w - 1, O, I).
absl::StatusOr<Type> WinogradWeight2DRel(TypeRelationContext& context) {
  const TensorTypeNode* weight = context.Tensor(0);
  if (weight == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *weight, 4));
  const Dim tile =
      Dim(context.attrs<ConvWinogradWeightTransformAttrs>().tile_size) - Dim(1);
  return Type(TensorType({weight->dim(2) + tile, weight->dim(3) + tile,
                          weight->dim(0), weight->dim(1)},
                         weight->dtype()));
}

// As for OIHW, for OIDHW; a kernel that is shallow or very deep is not
// transformed along D.
absl::StatusOr<Type> WinogradWeight3DRel(TypeRelationContext& context) {
  const TensorTypeNode* weight = context.Tensor(0);
  if (weight == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *weight, 5));
  if (!weight->dim(2).is_const()) {
    return context.Error("the depth of the kernel must be a number");
  }
  const int64_t depth = weight->dim(2).value();
  const Dim tile =
      Dim(context.attrs<ConvWinogradWeightTransformAttrs>().tile_size) - Dim(1);
  const Dim height = weight->dim(3) + tile;
  const Dim width = weight->dim(4) + tile;
  if (depth > 2 && depth < 8) {
    return Type(TensorType(
        {Dim(depth) + tile, height, width, weight->dim(0), weight->dim(1)},
        weight->dtype()));
  }
  return Type(TensorType({height, width, depth, weight->dim(0), weight->dim(1)},
                         weight->dtype()));
}

absl::StatusOr<Type> NnpackWeightRel(TypeRelationContext& context) {
  const TensorTypeNode* weight = context.Tensor(0);
  if (weight == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *weight, 4));
  const DType dtype =
      context.attrs<Conv2DWinogradNNPACKWeightTransformAttrs>().out_dtype;
  return Type(TensorType({weight->dim(0), weight->dim(1), 8, 8},
                         dtype.is_void() ? weight->dtype() : dtype));
}

// From HWIO to tiles of the matrix (O, H * W * I), padded to whole tiles.
absl::StatusOr<Type> GemmWeightRel(TypeRelationContext& context) {
  const TensorTypeNode* weight = context.Tensor(0);
  if (weight == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 0, *weight, 4));
  const auto& attrs = context.attrs<ConvGemmWeightTransformAttrs>();
  if (attrs.tile_rows <= 0 || attrs.tile_cols <= 0) {
    return context.Error("tile_rows=", attrs.tile_rows,
                         " and tile_cols=", attrs.tile_cols,
                         " must be positive");
  }
  const Dim rows = attrs.tile_rows;
  const Dim cols = attrs.tile_cols;
  const Dim reduced = Product(weight->shape().subspan(0, 3));
  return Type(TensorType({CeilDiv(weight->dim(3), rows),
                          CeilDiv(reduced, cols * Dim(4)) * Dim(4), rows, cols},
                         weight->dtype()));
}

absl::StatusOr<Type> BitPackRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<BitPackAttrs>();
  if (attrs.pack_type.bits() == 0) {
    return context.Error("pack_type must be given");
  }
  const int rank = data->rank();
  if (attrs.pack_axis >= rank || attrs.bit_axis > rank) {
    return context.Error(
        "pack_axis=", attrs.pack_axis, " or bit_axis=", attrs.bit_axis,
        " is out of range for the shape ", ShapeToString(data->shape()));
  }
  Dims shape;
  for (int i = 0; i < rank; ++i) {
    if (i == attrs.bit_axis) shape.push_back(attrs.bits);
    shape.push_back(i == attrs.pack_axis
                        ? FloorDiv(data->dim(i), attrs.pack_type.bits())
                        : data->dim(i));
  }
  if (attrs.bit_axis == rank) shape.push_back(attrs.bits);
  return Type(TensorType(shape, attrs.pack_type));
}

absl::StatusOr<Type> BinaryConv2DRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<BinaryConv2DAttrs>();
  if (!attrs.channels.has_value()) {
    return context.Error("channels must be given");
  }
  BATON_RETURN_IF_ERROR(ExpectPositive(context, "strides", attrs.strides, 2));
  BATON_RETURN_IF_ERROR(
      ExpectPositive(context, "kernel_size", attrs.kernel_size, 2));
  const Layout& canonical = LayoutsOf(2, /*transposed=*/false).data;
  Layout parsed;
  BATON_ASSIGN_OR_RETURN(const Layout* layout,
                         ParseLayout(context, "data_layout", attrs.data_layout,
                                     canonical, parsed));
  BATON_ASSIGN_OR_RETURN(
      Dims shape, ConvertArgShape(context, 0, *data, *layout, canonical));
  BATON_ASSIGN_OR_RETURN(const Dims pad,
                         TotalPadding(context, attrs.padding, 2));
  shape[1] = *attrs.channels;
  for (int i = 0; i < 2; ++i) {
    shape[i + 2] = WindowCount(shape[i + 2], pad[i], attrs.kernel_size[i],
                               attrs.strides[i], /*ceil=*/false);
    BATON_RETURN_IF_ERROR(ExpectNotNegative(context, shape[i + 2], i));
  }
  BATON_ASSIGN_OR_RETURN(const Dims stored, ToLayout(context, std::move(shape),
                                                     canonical, *layout));
  return Type(TensorType(stored, attrs.out_dtype));
}

absl::StatusOr<Type> BinaryDenseRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<BinaryDenseAttrs>();
  if (data->rank() == 0) return context.Error("the data is a scalar");
  if (!attrs.units.has_value()) return context.Error("units must be given");
  Dims shape(data->shape().begin(), data->shape().end());
  shape.back() = *attrs.units;
  return TensorLike(
      context, 0, shape,
      attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype);
}

}  // namespace

absl::StatusOr<Type> Conv2DRel(TypeRelationContext& context) {
  return ConvRel<Conv2DAttrs, 2>(context);
}

absl::StatusOr<Type> Conv2DTransposeRel(TypeRelationContext& context) {
  return ConvTransposeRel<Conv2DTransposeAttrs, 2>(context);
}

namespace {
// Layout rules.

std::optional<InferredLayouts> InferDeformableConv2DLayouts(
    const LayoutQuery& query) {
  const auto& attrs = AttrsOrDefaults<DeformableConv2DAttrs>(query.attrs);
  const Layout data = layouts::LayoutOf(attrs.data_layout);
  return layouts::IfDefined(
      {{data, data, layouts::LayoutOf(attrs.kernel_layout)},
       {attrs.out_layout.empty() ? data : layouts::LayoutOf(attrs.out_layout)},
       query.attrs});
}

std::optional<InferredLayouts> InferBinaryConv2DLayouts(
    const LayoutQuery& query) {
  const auto& attrs = AttrsOrDefaults<BinaryConv2DAttrs>(query.attrs);
  const Layout data = layouts::LayoutOf(attrs.data_layout);
  return layouts::IfDefined(
      {{data, layouts::LayoutOf(attrs.kernel_layout)}, {data}, query.attrs});
}

bool IsDepthwise(const CallNode& call, const Conv2DAttrs& attrs) {
  return layouts::ExtentOf(call, 0, attrs.data_layout, 'C') == attrs.groups &&
         layouts::ExtentOf(call, 1, attrs.kernel_layout, 'O') == attrs.groups;
}

// The default kernel layouts of nn.conv2d and qnn.conv2d.
std::vector<layouts::DefaultKernel> Conv2DKernels(
    const ConvertLayoutQuery& query, bool with_hwnc) {
  const bool depthwise =
      IsDepthwise(query.call, AttrsOrDefaults<Conv2DAttrs>(query.attrs));
  std::vector<layouts::DefaultKernel> kernels = {
      {"NCHW", "OIHW"}, {"NHWC", depthwise ? "HWOI" : "HWIO"}};
  if (with_hwnc) kernels.push_back({"HWNC", "HWOI"});
  return kernels;
}

// True for NCHW<n>c, whatever may follow.
bool IsTiledNCHW(const Layout& layout) {
  return layout.ndim() >= 5 && layout.SubLayout(0, 4).ToString() == "NCHW" &&
         layout.axis(4).letter == 'c';
}

absl::StatusOr<ConvertedCall> ConvertConv2D(const ConvertLayoutQuery& query) {
  const Layout& data = query.desired[0];
  const Layout& kernel = query.desired[1];
  if (!IsTiledNCHW(data)) {
    return ConvertConv<Conv2DAttrs>(query, 2,
                                    Conv2DKernels(query, /*with_hwnc=*/true));
  }
  if (!kernel.defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the kernel layout cannot be `default` for the data "
                     "layout ",
                     data.ToString()));
  }
  Conv2DAttrs attrs = AttrsOrDefaults<Conv2DAttrs>(query.attrs);
  SpellOutPadding(2, attrs.padding);
  // Channels are not padded to whole tiles.
  const bool has_known_channels =
      layouts::ExtentOf(query.call, 0, attrs.data_layout, 'C').has_value();
  if ((query.inputs[0].Is<VarNode>() && !has_known_channels) ||
      !layouts::BlocksDivide(query.call, 0, attrs.data_layout, data) ||
      !layouts::BlocksDivide(query.call, 1, attrs.kernel_layout, kernel)) {
    return ConvertedCall{Op(query.call.op_node()),
                         Attrs::Make(std::move(attrs))};
  }
  // The layout of a tiled kernel does not determine its extents.
  const auto weight_extent = [&](char letter) {
    return layouts::ExtentOf(query.call, 1, attrs.kernel_layout, letter);
  };
  if (!attrs.channels.has_value() && weight_extent('O').has_value()) {
    attrs.channels = Dim(*weight_extent('O'));
  }
  if (attrs.kernel_size.empty() && weight_extent('H').has_value() &&
      weight_extent('W').has_value()) {
    attrs.kernel_size = {*weight_extent('H'), *weight_extent('W')};
  }
  attrs.data_layout = data.ToString();
  attrs.kernel_layout = kernel.ToString();
  absl::StatusOr<Op> op = Op::Get("nn.contrib_conv2d_NCHWc");
  if (!op.ok()) return op.status();
  return ConvertedCall{*std::move(op), Attrs::Make(std::move(attrs))};
}

absl::StatusOr<ConvertedCall> ConvertConv3D(const ConvertLayoutQuery& query) {
  static constexpr layouts::DefaultKernel kKernels[] = {{"NCDHW", "OIDHW"},
                                                        {"NDHWC", "DHWIO"}};
  return ConvertConv<Conv3DAttrs>(query, 3, kKernels);
}

absl::StatusOr<ConvertedCall> ConvertConv3DTranspose(
    const ConvertLayoutQuery& query) {
  static constexpr layouts::DefaultKernel kKernels[] = {{"NCDHW", "IODHW"},
                                                        {"NDHWC", "DHWOI"}};
  return ConvertConv<Conv3DTransposeAttrs>(query, 3, kKernels);
}

absl::StatusOr<ConvertedCall> ConvertDeformableConv2D(
    const ConvertLayoutQuery& query) {
  static constexpr layouts::DefaultKernel kKernels[] = {{"NCHW", "OIHW"},
                                                        {"NHWC", "HWIO"}};
  return ConvertConv<DeformableConv2DAttrs>(query, 2, kKernels);
}

absl::StatusOr<ConvertedCall> ConvertConv2DBackwardWeight(
    const ConvertLayoutQuery& query) {
  static constexpr layouts::DefaultKernel kKernels[] = {{"NCHW", "OIHW"},
                                                        {"NHWC", "HWIO"}};
  absl::StatusOr<std::string> kernel =
      layouts::KernelFor(query.desired[0], query.desired[1], kKernels);
  if (!kernel.ok()) return kernel.status();
  // The operator's attributes name, in this order, the layouts of its two
  // inputs and of its result, which is a kernel.
  Conv2DAttrs attrs = AttrsOrDefaults<Conv2DAttrs>(query.attrs);
  attrs.data_layout = query.desired[0].ToString();
  attrs.kernel_layout = query.desired[0].ToString();
  attrs.out_layout = *std::move(kernel);
  SpellOutPadding(2, attrs.padding);
  return ConvertedCall{Op(query.call.op_node()), Attrs::Make(std::move(attrs))};
}

}  // namespace

absl::StatusOr<ConvertedCall> ConvertQnnConv2D(
    const ConvertLayoutQuery& query) {
  return ConvertConv<Conv2DAttrs>(query, 2,
                                  Conv2DKernels(query, /*with_hwnc=*/false));
}

absl::StatusOr<ConvertedCall> ConvertConv2DTranspose(
    const ConvertLayoutQuery& query) {
  static constexpr layouts::DefaultKernel kKernels[] = {{"NCHW", "IOHW"},
                                                        {"NHWC", "HWIO"}};
  return ConvertConv<Conv2DTransposeAttrs>(query, 2, kKernels);
}

namespace {

// A convolution with the attributes `A`, which takes any layout; with
// `convert`, ConvertLayout converts it.
template <typename A>
OpRegistration ConvOp(absl::string_view name, absl::string_view doc,
                      TypeRelationFn relation,
                      absl::StatusOr<ConvertedCall> (*convert)(
                          const ConvertLayoutQuery& query) = nullptr,
                      CodeLocation location = CodeLocation::Current()) {
  OpRegistration op(name, location);
  op.Describe(doc)
      .Arguments({{"data", "The input."}, {"weight", "The kernel."}})
      .TakesAttrs<A>()
      .TypeRelation(relation)
      .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
      .Set(LayoutInferenceRules(), InferConvLayouts<A>);
  if (convert != nullptr) {
    op.Set(ConvertLayoutRules(),
           ConvertLayoutRule{{"data", "kernel"}, convert});
  }
  return op;
}

[[maybe_unused]] const OpRegistration kConvs[] = {
    ConvOp<Conv1DAttrs>("nn.conv1d", "Convolution over one spatial axis.",
                        ConvRel<Conv1DAttrs, 1>),
    ConvOp<Conv2DAttrs>("nn.conv2d", "Convolution over two spatial axes.",
                        Conv2DRel, ConvertConv2D),
    ConvOp<Conv3DAttrs>("nn.conv3d", "Convolution over three spatial axes.",
                        ConvRel<Conv3DAttrs, 3>, ConvertConv3D),
    ConvOp<Conv2DTransposeAttrs>(
        "nn.conv2d_transpose", "Transposed convolution over two spatial axes.",
        Conv2DTransposeRel, ConvertConv2DTranspose),
    ConvOp<Conv3DTransposeAttrs>(
        "nn.conv3d_transpose",
        "Transposed convolution over three spatial axes.",
        ConvTransposeRel<Conv3DTransposeAttrs, 3>, ConvertConv3DTranspose),
    ConvOp<Conv2DAttrs>("nn.contrib_conv2d_NCHWc",
                        "nn.conv2d in a blocked layout.",
                        ConvTransformedWeightRel<Conv2DAttrs, 2>),
    ConvOp<Conv2DAttrs>("nn.contrib_depthwise_conv2d_NCHWc",
                        "Depthwise nn.conv2d in a blocked layout.", Conv2DRel),
    ConvOp<Conv2DWinogradAttrs>(
        "nn.contrib_conv2d_winograd_without_weight_transform",
        "nn.conv2d by Winograd's method, with a transformed weight.",
        ConvTransformedWeightRel<Conv2DWinogradAttrs, 2>),
    ConvOp<Conv3DWinogradAttrs>(
        "nn.contrib_conv3d_winograd_without_weight_transform",
        "nn.conv3d by Winograd's method, with a transformed weight.",
        ConvTransformedWeightRel<Conv3DWinogradAttrs, 3>),
};

BATON_REGISTER_OP("nn.conv1d_transpose")
    .Describe("Transposed convolution over one spatial axis.")
    .Arguments({{"data", "The input."}, {"weight", "The kernel."}})
    .TakesAttrs<Conv1DTransposeAttrs>()
    .TypeRelation(ConvTransposeRel<Conv1DTransposeAttrs, 1>)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("nn.deformable_conv2d")
    .Describe("Convolution that samples the data at learned offsets.")
    .Arguments({{"data", "The input."},
                {"offset", "Two offsets for each element of the kernel."},
                {"weight", "The kernel."}})
    .TakesAttrs<DeformableConv2DAttrs>()
    .TypeRelation(DeformableConv2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferDeformableConv2DLayouts)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "kernel"}, ConvertDeformableConv2D});

BATON_REGISTER_OP("nn.conv2d_backward_weight")
    .Describe("The gradient of nn.conv2d with respect to its weight.")
    .Arguments({{"grad", "The gradient of the output."},
                {"data", "The input."}})
    .TakesAttrs<Conv2DAttrs>()
    .TypeRelation(Conv2DBackwardWeightRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferConvLayouts<Conv2DAttrs>)
    .Set(ConvertLayoutRules(),
         ConvertLayoutRule{{"data", "kernel"}, ConvertConv2DBackwardWeight});

BATON_REGISTER_OP("nn.contrib_conv2d_winograd_weight_transform")
    .Describe("Transforms a weight for Winograd's method.")
    .Arguments({{"weight", "The kernel, in OIHW."}})
    .TakesAttrs<ConvWinogradWeightTransformAttrs>()
    .TypeRelation(WinogradWeight2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("nn.contrib_conv3d_winograd_weight_transform")
    .Describe("Transforms a weight for Winograd's method.")
    .Arguments({{"weight", "The kernel, in OIDHW."}})
    .TakesAttrs<ConvWinogradWeightTransformAttrs>()
    .TypeRelation(WinogradWeight3DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("nn.contrib_conv2d_winograd_nnpack_weight_transform")
    .Describe("Transforms a weight for NNPACK's Winograd convolution.")
    .Arguments({{"weight", "The kernel, in OIHW."}})
    .TakesAttrs<Conv2DWinogradNNPACKWeightTransformAttrs>()
    .TypeRelation(NnpackWeightRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

BATON_REGISTER_OP("nn.contrib_conv2d_gemm_without_weight_transform")
    .Describe("nn.conv2d as a matrix product, with a tiled weight.")
    .Arguments({{"data", "The input."}, {"weight", "The tiled kernel."}})
    .TakesAttrs<Conv2DAttrs>()
    .TypeRelation(ConvTransformedWeightRel<Conv2DAttrs, 2>)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferConvLayouts<Conv2DAttrs>);

BATON_REGISTER_OP("nn.contrib_conv2d_gemm_weight_transform")
    .Describe("Tiles a weight for convolution as a matrix product.")
    .Arguments({{"weights", "The kernel, in HWIO."}})
    .TakesAttrs<ConvGemmWeightTransformAttrs>()
    .TypeRelation(GemmWeightRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

BATON_REGISTER_OP("nn.bitpack")
    .Describe("Packs the bits of elements along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<BitPackAttrs>()
    .TypeRelation(BitPackRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("nn.bitserial_conv2d")
    .Describe("Convolution of elements of few bits.")
    .Arguments({{"data", "The input."}, {"weight", "The kernel."}})
    .TakesAttrs<BinaryConv2DAttrs>()
    .TypeRelation(BinaryConv2DRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable)
    .Set(LayoutInferenceRules(), InferBinaryConv2DLayouts);

BATON_REGISTER_OP("nn.bitserial_dense")
    .Describe("A dense layer of elements of few bits.")
    .Arguments({{"data", "The input."}, {"weight", "The weight."}})
    .TakesAttrs<BinaryDenseAttrs>()
    .TypeRelation(BinaryDenseRel)
    .Set(FusionPatterns(), FusionPattern::kOutEWiseFusable);

}  // namespace

}  // namespace baton::relay

namespace baton::relay::nn {

namespace {

template <typename A>
Attrs ConvAttrs(int num_spatial, A attrs) {
  SpellOutAxes(num_spatial, attrs.strides);
  SpellOutAxes(num_spatial, attrs.dilation);
  SpellOutAxes(num_spatial, attrs.kernel_size);
  SpellOutPadding(num_spatial, attrs.padding);
  return Attrs::Make(std::move(attrs));
}

template <typename A>
Attrs ConvTransposeAttrs(int num_spatial, A attrs) {
  SpellOutAxes(num_spatial, attrs.output_padding);
  return ConvAttrs(num_spatial, std::move(attrs));
}

}  // namespace

Expr Conv1D(Expr data, Expr weight, Conv1DAttrs attrs) {
  return Call(BATON_OP("nn.conv1d"), {std::move(data), std::move(weight)},
              ConvAttrs(1, std::move(attrs)));
}

Expr Conv2D(Expr data, Expr weight, Conv2DAttrs attrs) {
  return Call(BATON_OP("nn.conv2d"), {std::move(data), std::move(weight)},
              ConvAttrs(2, std::move(attrs)));
}

Expr Conv3D(Expr data, Expr weight, Conv3DAttrs attrs) {
  return Call(BATON_OP("nn.conv3d"), {std::move(data), std::move(weight)},
              ConvAttrs(3, std::move(attrs)));
}

Expr Conv1DTranspose(Expr data, Expr weight, Conv1DTransposeAttrs attrs) {
  return Call(BATON_OP("nn.conv1d_transpose"),
              {std::move(data), std::move(weight)},
              ConvTransposeAttrs(1, std::move(attrs)));
}

Expr Conv2DTranspose(Expr data, Expr weight, Conv2DTransposeAttrs attrs) {
  return Call(BATON_OP("nn.conv2d_transpose"),
              {std::move(data), std::move(weight)},
              ConvTransposeAttrs(2, std::move(attrs)));
}

Expr Conv3DTranspose(Expr data, Expr weight, Conv3DTransposeAttrs attrs) {
  return Call(BATON_OP("nn.conv3d_transpose"),
              {std::move(data), std::move(weight)},
              ConvTransposeAttrs(3, std::move(attrs)));
}

}  // namespace baton::relay::nn
