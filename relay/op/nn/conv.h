// Convolution operators: attributes, builders and shared rules.

#ifndef BATON_RELAY_OP_NN_CONV_H_
#define BATON_RELAY_OP_NN_CONV_H_

#include <array>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/nn/spatial_axes.h"

namespace baton::relay {

// The common fields of the attributes of convolutions. A is one of these
// structs. The lists below are in the order in which the text prints the
// fields.
template <typename A, typename V>
void VisitConvWindowFields(V& v) {
  v("strides", &A::strides, "Step of the window along each spatial axis.");
  v("padding", &A::padding,
    "Padding: one number, one an axis, or all begins and then all ends.");
  v("dilation", &A::dilation,
    "Distance of kernel elements along each spatial axis.");
}

template <typename A, typename V>
void VisitConvWeightFields(V& v) {
  v("channels", &A::channels,
    "Output channels; taken from the weight if not given.");
  v("kernel_size", &A::kernel_size,
    "Spatial size of the kernel; taken from the weight if empty.");
}

template <typename A, typename V>
void VisitConvLayoutFields(V& v) {
  v("data_layout", &A::data_layout, "Layout of the data.");
  v("kernel_layout", &A::kernel_layout, "Layout of the weight.");
  v("out_layout", &A::out_layout,
    "Layout of the result; that of the data if empty.");
  v("out_dtype", &A::out_dtype,
    "Element type of the result; that of the data if unset.");
}

// A convolution.
template <typename A, typename V>
void VisitConvFields(V& v) {
  VisitConvWindowFields<A>(v);
  v("groups", &A::groups, "Groups into which the channels are divided.");
  VisitConvWeightFields<A>(v);
  VisitConvLayoutFields<A>(v);
}

// A transposed convolution.
template <typename A, typename V>
void VisitConvTransposeFields(V& v) {
  VisitConvWeightFields<A>(v);
  v("strides", &A::strides, "Step of the window along each spatial axis.");
  v("output_padding", &A::output_padding, "Added to one side of the result.");
  v("padding", &A::padding,
    "Padding: one number, one an axis, or all begins and then all ends.");
  v("dilation", &A::dilation,
    "Distance of kernel elements along each spatial axis.");
  v("groups", &A::groups, "Groups into which the channels are divided.");
  VisitConvLayoutFields<A>(v);
}

template <int kAxes>
struct ConvNDAttrs {
  Dims strides = ForEachAxis<kAxes>(1);
  Dims padding = ForEachAxis<(kAxes == 1 ? 2 : kAxes)>(0);
  Dims dilation = ForEachAxis<kAxes>(1);
  int groups = 1;
  std::optional<Dim> channels;
  Dims kernel_size;
  std::string data_layout = WithSpatialAxes<kAxes>("NC");
  std::string kernel_layout = WithSpatialAxes<kAxes>("OI");
  std::string out_layout;
  DType out_dtype;

  static constexpr const char* kTypeKey =
      std::array{"relay.attrs.Conv1DAttrs", "relay.attrs.Conv2DAttrs",
                 "relay.attrs.Conv3DAttrs"}[kAxes - 1];
  template <typename V>
  static void VisitFields(V& v) {
    VisitConvFields<ConvNDAttrs>(v);
  }
};
using Conv1DAttrs = ConvNDAttrs<1>;
using Conv2DAttrs = ConvNDAttrs<2>;
using Conv3DAttrs = ConvNDAttrs<3>;

template <int kAxes>
struct ConvTransposeNDAttrs {
  std::optional<Dim> channels;
  Dims kernel_size;
  Dims strides = ForEachAxis<kAxes>(1);
  Dims output_padding = ForEachAxis<kAxes>(0);
  Dims padding = ForEachAxis<kAxes>(0);
  Dims dilation = ForEachAxis<kAxes>(1);
  int groups = 1;
  std::string data_layout = WithSpatialAxes<kAxes>("NC");
  std::string kernel_layout = WithSpatialAxes<kAxes>("IO");
  std::string out_layout;
  DType out_dtype;

  static constexpr const char* kTypeKey = std::array{
      "relay.attrs.Conv1DTransposeAttrs", "relay.attrs.Conv2DTransposeAttrs",
      "relay.attrs.Conv3DTransposeAttrs"}[kAxes - 1];
  template <typename V>
  static void VisitFields(V& v) {
    VisitConvTransposeFields<ConvTransposeNDAttrs>(v);
  }
};
using Conv1DTransposeAttrs = ConvTransposeNDAttrs<1>;
using Conv2DTransposeAttrs = ConvTransposeNDAttrs<2>;
using Conv3DTransposeAttrs = ConvTransposeNDAttrs<3>;

struct DeformableConv2DAttrs {
  Dims strides = {1, 1};
  Dims padding = {0, 0};
  Dims dilation = {1, 1};
  int deformable_groups = 1;
  int groups = 1;
  std::optional<Dim> channels;
  Dims kernel_size;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.DeformableConv2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    VisitConvWindowFields<DeformableConv2DAttrs>(v);
    v("deformable_groups", &DeformableConv2DAttrs::deformable_groups,
      "Groups into which the offsets are divided.");
    v("groups", &DeformableConv2DAttrs::groups,
      "Groups into which the channels are divided.");
    VisitConvWeightFields<DeformableConv2DAttrs>(v);
    VisitConvLayoutFields<DeformableConv2DAttrs>(v);
  }
};

// For two and three spatial axes.
template <int kAxes>
struct ConvWinogradNDAttrs {
  int tile_size = 0;
  Dims strides = ForEachAxis<kAxes>(1);
  Dims padding = ForEachAxis<kAxes>(0);
  Dims dilation = ForEachAxis<kAxes>(1);
  int groups = 1;
  std::optional<Dim> channels;
  Dims kernel_size;
  std::string data_layout = WithSpatialAxes<kAxes>("NC");
  std::string kernel_layout = WithSpatialAxes<kAxes>("OI");
  std::string out_layout;
  DType out_dtype;

  static constexpr const char* kTypeKey =
      kAxes == 2 ? "relay.attrs.Conv2DWinogradAttrs"
                 : "relay.attrs.Conv3DWinogradAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("tile_size", &ConvWinogradNDAttrs::tile_size,
      "Size of the Winograd tile.", kRequired);
    VisitConvFields<ConvWinogradNDAttrs>(v);
  }
};
using Conv2DWinogradAttrs = ConvWinogradNDAttrs<2>;
using Conv3DWinogradAttrs = ConvWinogradNDAttrs<3>;

struct ConvWinogradWeightTransformAttrs {
  int tile_size = 0;

  static constexpr char kTypeKey[] =
      "relay.attrs.ConvWinogradWeightTransformAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("tile_size", &ConvWinogradWeightTransformAttrs::tile_size,
      "Size of the Winograd tile.", kRequired);
  }
};

struct Conv2DWinogradNNPACKWeightTransformAttrs {
  int convolution_algorithm = 0;
  DType out_dtype;

  static constexpr char kTypeKey[] =
      "relay.attrs.Conv2DWinogradNNPACKWeightTransformAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("convolution_algorithm",
      &Conv2DWinogradNNPACKWeightTransformAttrs::convolution_algorithm,
      "Number of the algorithm in NNPACK.", kRequired);
    v("out_dtype", &Conv2DWinogradNNPACKWeightTransformAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct ConvGemmWeightTransformAttrs {
  int tile_rows = 0;
  int tile_cols = 0;

  static constexpr char kTypeKey[] = "relay.attrs.ConvGemmWeightTransformAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("tile_rows", &ConvGemmWeightTransformAttrs::tile_rows, "Rows of a tile.",
      kRequired);
    v("tile_cols", &ConvGemmWeightTransformAttrs::tile_cols,
      "Columns of a tile.", kRequired);
  }
};

struct BitPackAttrs {
  int bits = 1;
  int pack_axis = 1;
  int bit_axis = -1;
  DType pack_type;
  std::string name = "BitPack";

  static constexpr char kTypeKey[] = "relay.attrs.BitPackAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("bits", &BitPackAttrs::bits, "Bits of an element.");
    v("pack_axis", &BitPackAttrs::pack_axis, "The axis that is packed.");
    v("bit_axis", &BitPackAttrs::bit_axis,
      "The index of the axis of the bits in the result.");
    v("pack_type", &BitPackAttrs::pack_type,
      "Element type of the packed data.");
    v("name", &BitPackAttrs::name, "Name of the operation.");
  }
};

struct BinaryConv2DAttrs {
  Dims strides = {1, 1};
  Dims padding = {0, 0};
  Dims kernel_size = {3, 3};
  std::optional<Dim> channels;
  int activation_bits = 1;
  int weight_bits = 1;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  DType pack_dtype;
  DType out_dtype;
  bool unipolar = true;

  static constexpr char kTypeKey[] = "relay.attrs.BinaryConv2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("strides", &BinaryConv2DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("padding", &BinaryConv2DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("kernel_size", &BinaryConv2DAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("channels", &BinaryConv2DAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("activation_bits", &BinaryConv2DAttrs::activation_bits,
      "Bits of the data.");
    v("weight_bits", &BinaryConv2DAttrs::weight_bits, "Bits of the weight.");
    v("data_layout", &BinaryConv2DAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &BinaryConv2DAttrs::kernel_layout,
      "Layout of the weight.");
    v("pack_dtype", &BinaryConv2DAttrs::pack_dtype,
      "Element type of the packed data.");
    v("out_dtype", &BinaryConv2DAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
    v("unipolar", &BinaryConv2DAttrs::unipolar,
      "Whether bits of the weight stand for -1 and 1 rather than 0 and 1.");
  }
};

struct BinaryDenseAttrs {
  std::optional<Dim> units;
  int data_bits = 1;
  int weight_bits = 1;
  DType pack_dtype;
  DType out_dtype;
  bool unipolar = true;

  static constexpr char kTypeKey[] = "relay.attrs.BinaryDenseAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("units", &BinaryDenseAttrs::units,
      "Width of the result; taken from the weight if not given.", kRequired);
    v("data_bits", &BinaryDenseAttrs::data_bits, "Bits of the data.");
    v("weight_bits", &BinaryDenseAttrs::weight_bits, "Bits of the weight.");
    v("pack_dtype", &BinaryDenseAttrs::pack_dtype,
      "Element type of the packed data.");
    v("out_dtype", &BinaryDenseAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
    v("unipolar", &BinaryDenseAttrs::unipolar,
      "Whether bits of the weight stand for -1 and 1 rather than 0 and 1.");
  }
};

// Relations and rules that quantized and unquantized convolutions share.
//
// The type relations of nn.conv2d and nn.conv2d_transpose. The call must have
// Conv2DAttrs or Conv2DTransposeAttrs, and data and weight as its first two
// arguments.
absl::StatusOr<Type> Conv2DRel(TypeRelationContext& context);
absl::StatusOr<Type> Conv2DTransposeRel(TypeRelationContext& context);

// The conversion rules of qnn.conv2d, and of nn.conv2d_transpose and its
// quantized form.
absl::StatusOr<ConvertedCall> ConvertQnnConv2D(const ConvertLayoutQuery& query);
absl::StatusOr<ConvertedCall> ConvertConv2DTranspose(
    const ConvertLayoutQuery& query);

}  // namespace baton::relay

namespace baton::relay::nn {

Expr Conv1D(Expr data, Expr weight, Conv1DAttrs attrs = {});
Expr Conv2D(Expr data, Expr weight, Conv2DAttrs attrs = {});
Expr Conv3D(Expr data, Expr weight, Conv3DAttrs attrs = {});
Expr Conv1DTranspose(Expr data, Expr weight, Conv1DTransposeAttrs attrs = {});
Expr Conv2DTranspose(Expr data, Expr weight, Conv2DTransposeAttrs attrs = {});
Expr Conv3DTranspose(Expr data, Expr weight, Conv3DTransposeAttrs attrs = {});

}  // namespace baton::relay::nn

#endif  // BATON_RELAY_OP_NN_CONV_H_
