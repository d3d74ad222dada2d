// Attributes of the convolutions.

#ifndef BATON_RELAY_OP_CONV_ATTRS_H_
#define BATON_RELAY_OP_CONV_ATTRS_H_

#include <optional>
#include <string>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"

namespace baton::relay {

struct Conv1DAttrs {
  Dims strides = {1};
  Dims padding = {0, 0};
  Dims dilation = {1};
  int groups = 1;
  std::optional<Dim> channels;
  Dims kernel_size;
  std::string data_layout = "NCW";
  std::string kernel_layout = "OIW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Conv1DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("strides", &Conv1DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("padding", &Conv1DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &Conv1DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("groups", &Conv1DAttrs::groups,
      "Groups into which the channels are divided.");
    v("channels", &Conv1DAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &Conv1DAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("data_layout", &Conv1DAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Conv1DAttrs::kernel_layout, "Layout of the weight.");
    v("out_layout", &Conv1DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &Conv1DAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct Conv2DAttrs {
  Dims strides = {1, 1};
  Dims padding = {0, 0};
  Dims dilation = {1, 1};
  int groups = 1;
  std::optional<Dim> channels;
  Dims kernel_size;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Conv2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("strides", &Conv2DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("padding", &Conv2DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &Conv2DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("groups", &Conv2DAttrs::groups,
      "Groups into which the channels are divided.");
    v("channels", &Conv2DAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &Conv2DAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("data_layout", &Conv2DAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Conv2DAttrs::kernel_layout, "Layout of the weight.");
    v("out_layout", &Conv2DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &Conv2DAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct Conv3DAttrs {
  Dims strides = {1, 1, 1};
  Dims padding = {0, 0, 0};
  Dims dilation = {1, 1, 1};
  int groups = 1;
  std::optional<Dim> channels;
  Dims kernel_size;
  std::string data_layout = "NCDHW";
  std::string kernel_layout = "OIDHW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Conv3DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("strides", &Conv3DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("padding", &Conv3DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &Conv3DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("groups", &Conv3DAttrs::groups,
      "Groups into which the channels are divided.");
    v("channels", &Conv3DAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &Conv3DAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("data_layout", &Conv3DAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Conv3DAttrs::kernel_layout, "Layout of the weight.");
    v("out_layout", &Conv3DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &Conv3DAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct Conv1DTransposeAttrs {
  std::optional<Dim> channels;
  Dims kernel_size;
  Dims strides = {1};
  Dims output_padding = {0};
  Dims padding = {0};
  Dims dilation = {1};
  int groups = 1;
  std::string data_layout = "NCW";
  std::string kernel_layout = "IOW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Conv1DTransposeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("channels", &Conv1DTransposeAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &Conv1DTransposeAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("strides", &Conv1DTransposeAttrs::strides,
      "Step of the window along each spatial axis.");
    v("output_padding", &Conv1DTransposeAttrs::output_padding,
      "Added to one side of the result.");
    v("padding", &Conv1DTransposeAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &Conv1DTransposeAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("groups", &Conv1DTransposeAttrs::groups,
      "Groups into which the channels are divided.");
    v("data_layout", &Conv1DTransposeAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Conv1DTransposeAttrs::kernel_layout,
      "Layout of the weight.");
    v("out_layout", &Conv1DTransposeAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &Conv1DTransposeAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct Conv2DTransposeAttrs {
  std::optional<Dim> channels;
  Dims kernel_size;
  Dims strides = {1, 1};
  Dims output_padding = {0, 0};
  Dims padding = {0, 0};
  Dims dilation = {1, 1};
  int groups = 1;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "IOHW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Conv2DTransposeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("channels", &Conv2DTransposeAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &Conv2DTransposeAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("strides", &Conv2DTransposeAttrs::strides,
      "Step of the window along each spatial axis.");
    v("output_padding", &Conv2DTransposeAttrs::output_padding,
      "Added to one side of the result.");
    v("padding", &Conv2DTransposeAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &Conv2DTransposeAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("groups", &Conv2DTransposeAttrs::groups,
      "Groups into which the channels are divided.");
    v("data_layout", &Conv2DTransposeAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Conv2DTransposeAttrs::kernel_layout,
      "Layout of the weight.");
    v("out_layout", &Conv2DTransposeAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &Conv2DTransposeAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct Conv3DTransposeAttrs {
  std::optional<Dim> channels;
  Dims kernel_size;
  Dims strides = {1, 1, 1};
  Dims output_padding = {0, 0, 0};
  Dims padding = {0, 0, 0};
  Dims dilation = {1, 1, 1};
  int groups = 1;
  std::string data_layout = "NCDHW";
  std::string kernel_layout = "IODHW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Conv3DTransposeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("channels", &Conv3DTransposeAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &Conv3DTransposeAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("strides", &Conv3DTransposeAttrs::strides,
      "Step of the window along each spatial axis.");
    v("output_padding", &Conv3DTransposeAttrs::output_padding,
      "Added to one side of the result.");
    v("padding", &Conv3DTransposeAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &Conv3DTransposeAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("groups", &Conv3DTransposeAttrs::groups,
      "Groups into which the channels are divided.");
    v("data_layout", &Conv3DTransposeAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Conv3DTransposeAttrs::kernel_layout,
      "Layout of the weight.");
    v("out_layout", &Conv3DTransposeAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &Conv3DTransposeAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

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
    v("strides", &DeformableConv2DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("padding", &DeformableConv2DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &DeformableConv2DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("deformable_groups", &DeformableConv2DAttrs::deformable_groups,
      "Groups into which the offsets are divided.");
    v("groups", &DeformableConv2DAttrs::groups,
      "Groups into which the channels are divided.");
    v("channels", &DeformableConv2DAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &DeformableConv2DAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("data_layout", &DeformableConv2DAttrs::data_layout,
      "Layout of the data.");
    v("kernel_layout", &DeformableConv2DAttrs::kernel_layout,
      "Layout of the weight.");
    v("out_layout", &DeformableConv2DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &DeformableConv2DAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct Conv2DWinogradAttrs {
  int tile_size = 0;
  Dims strides = {1, 1};
  Dims padding = {0, 0};
  Dims dilation = {1, 1};
  int groups = 1;
  std::optional<Dim> channels;
  Dims kernel_size;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Conv2DWinogradAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("tile_size", &Conv2DWinogradAttrs::tile_size,
      "Size of the Winograd tile.", kRequired);
    v("strides", &Conv2DWinogradAttrs::strides,
      "Step of the window along each spatial axis.");
    v("padding", &Conv2DWinogradAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &Conv2DWinogradAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("groups", &Conv2DWinogradAttrs::groups,
      "Groups into which the channels are divided.");
    v("channels", &Conv2DWinogradAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &Conv2DWinogradAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("data_layout", &Conv2DWinogradAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Conv2DWinogradAttrs::kernel_layout,
      "Layout of the weight.");
    v("out_layout", &Conv2DWinogradAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &Conv2DWinogradAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct Conv3DWinogradAttrs {
  int tile_size = 0;
  Dims strides = {1, 1, 1};
  Dims padding = {0, 0, 0};
  Dims dilation = {1, 1, 1};
  int groups = 1;
  std::optional<Dim> channels;
  Dims kernel_size;
  std::string data_layout = "NCDHW";
  std::string kernel_layout = "OIDHW";
  std::string out_layout;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.Conv3DWinogradAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("tile_size", &Conv3DWinogradAttrs::tile_size,
      "Size of the Winograd tile.", kRequired);
    v("strides", &Conv3DWinogradAttrs::strides,
      "Step of the window along each spatial axis.");
    v("padding", &Conv3DWinogradAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("dilation", &Conv3DWinogradAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("groups", &Conv3DWinogradAttrs::groups,
      "Groups into which the channels are divided.");
    v("channels", &Conv3DWinogradAttrs::channels,
      "Output channels; taken from the weight if not given.");
    v("kernel_size", &Conv3DWinogradAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
    v("data_layout", &Conv3DWinogradAttrs::data_layout, "Layout of the data.");
    v("kernel_layout", &Conv3DWinogradAttrs::kernel_layout,
      "Layout of the weight.");
    v("out_layout", &Conv3DWinogradAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("out_dtype", &Conv3DWinogradAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

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
      "Where the axis of the bits is put.");
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
      "Whether bits stand for 0 and 1 rather than -1 and 1.");
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
      "Whether bits stand for 0 and 1 rather than -1 and 1.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_CONV_ATTRS_H_
