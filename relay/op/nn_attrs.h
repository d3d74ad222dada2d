// Attributes of the neural-network operators (`nn.*`).

#ifndef BATON_RELAY_OP_NN_ATTRS_H_
#define BATON_RELAY_OP_NN_ATTRS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/relay/op/conv_attrs.h"  // IWYU pragma: export
#include "baton/relay/op/pool_attrs.h"  // IWYU pragma: export

namespace baton::relay {

// nn.bias_add
struct BiasAddAttrs {
  int axis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.BiasAddAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &BiasAddAttrs::axis, "The axis of the channels.");
  }
};

struct DenseAttrs {
  std::optional<Dim> units;
  DType out_dtype;

  static constexpr char kTypeKey[] = "relay.attrs.DenseAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("units", &DenseAttrs::units,
      "Width of the result; taken from the weight if not given.", kRequired);
    v("out_dtype", &DenseAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
  }
};

struct MatmulAttrs {
  std::optional<Dim> units;
  DType out_dtype;
  bool transpose_a = false;
  bool transpose_b = false;

  static constexpr char kTypeKey[] = "relay.attrs.MatmulAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("units", &MatmulAttrs::units,
      "Width of the result; taken from the weight if not given.", kRequired);
    v("out_dtype", &MatmulAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
    v("transpose_a", &MatmulAttrs::transpose_a,
      "Whether the first operand is transposed.");
    v("transpose_b", &MatmulAttrs::transpose_b,
      "Whether the second operand is transposed.");
  }
};

struct BatchMatmulAttrs {
  DType out_dtype;
  bool transpose_a = false;
  bool transpose_b = false;

  static constexpr char kTypeKey[] = "relay.attrs.BatchMatmulAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("out_dtype", &BatchMatmulAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
    v("transpose_a", &BatchMatmulAttrs::transpose_a,
      "Whether the first operand is transposed.");
    v("transpose_b", &BatchMatmulAttrs::transpose_b,
      "Whether the second operand is transposed.");
  }
};

struct DensePackAttrs {
  std::optional<Dim> units;
  DType out_dtype;
  std::string weight_layout = "NC";

  static constexpr char kTypeKey[] = "relay.attrs.DensePackAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("units", &DensePackAttrs::units,
      "Width of the result; taken from the weight if not given.", kRequired);
    v("out_dtype", &DensePackAttrs::out_dtype,
      "Element type of the result; that of the data if unset.");
    v("weight_layout", &DensePackAttrs::weight_layout,
      "Layout of the packed weight.");
  }
};

// nn.softmax, nn.fast_softmax, nn.log_softmax
struct SoftmaxAttrs {
  int axis = -1;

  static constexpr char kTypeKey[] = "relay.attrs.SoftmaxAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &SoftmaxAttrs::axis, "The axis to sum over.");
  }
};

struct LeakyReluAttrs {
  double alpha = 0.25;

  static constexpr char kTypeKey[] = "relay.attrs.LeakyReluAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("alpha", &LeakyReluAttrs::alpha, "Slope for negative values.");
  }
};

struct PReluAttrs {
  int axis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.PReluAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &PReluAttrs::axis, "The axis of the channels.");
  }
};

struct DropoutAttrs {
  double rate = 0.5;

  static constexpr char kTypeKey[] = "relay.attrs.DropoutAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("rate", &DropoutAttrs::rate,
      "The probability with which an element is dropped.");
  }
};

struct BatchNormAttrs {
  int axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;

  static constexpr char kTypeKey[] = "relay.attrs.BatchNormAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &BatchNormAttrs::axis, "The axis of the channels.");
    v("epsilon", &BatchNormAttrs::epsilon, "Added to the variance.");
    v("center", &BatchNormAttrs::center, "Whether beta is added.");
    v("scale", &BatchNormAttrs::scale, "Whether gamma is multiplied in.");
  }
};

struct InstanceNormAttrs {
  int axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;

  static constexpr char kTypeKey[] = "relay.attrs.InstanceNormAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &InstanceNormAttrs::axis, "The axis of the channels.");
    v("epsilon", &InstanceNormAttrs::epsilon, "Added to the variance.");
    v("center", &InstanceNormAttrs::center, "Whether beta is added.");
    v("scale", &InstanceNormAttrs::scale, "Whether gamma is multiplied in.");
  }
};

struct LayerNormAttrs {
  int axis = -1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;

  static constexpr char kTypeKey[] = "relay.attrs.LayerNormAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &LayerNormAttrs::axis, "The axis that is normalized.");
    v("epsilon", &LayerNormAttrs::epsilon, "Added to the variance.");
    v("center", &LayerNormAttrs::center, "Whether beta is added.");
    v("scale", &LayerNormAttrs::scale, "Whether gamma is multiplied in.");
  }
};

struct GroupNormAttrs {
  int num_groups = 0;
  int axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;

  static constexpr char kTypeKey[] = "relay.attrs.GroupNormAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("num_groups", &GroupNormAttrs::num_groups,
      "Groups into which the channels are divided.");
    v("axis", &GroupNormAttrs::axis, "The axis of the channels.");
    v("epsilon", &GroupNormAttrs::epsilon, "Added to the variance.");
    v("center", &GroupNormAttrs::center, "Whether beta is added.");
    v("scale", &GroupNormAttrs::scale, "Whether gamma is multiplied in.");
  }
};

struct LRNAttrs {
  int size = 5;
  int axis = 1;
  double bias = 2.0;
  double alpha = 0.0001;
  double beta = 0.75;

  static constexpr char kTypeKey[] = "relay.attrs.LRNAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("size", &LRNAttrs::size, "Channels summed for each element.");
    v("axis", &LRNAttrs::axis, "The axis of the channels.");
    v("bias", &LRNAttrs::bias, "Added to the scaled sum.");
    v("alpha", &LRNAttrs::alpha, "Scale of the sum.");
    v("beta", &LRNAttrs::beta, "Exponent.");
  }
};

struct L2NormalizeAttrs {
  double eps = 0.0;
  std::vector<int64_t> axis;

  static constexpr char kTypeKey[] = "relay.attrs.L2NormalizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("eps", &L2NormalizeAttrs::eps, "Lower bound of the sum of squares.",
      kRequired);
    v("axis", &L2NormalizeAttrs::axis, "The axes to sum over.", kRequired);
  }
};

struct PadAttrs {
  std::vector<std::vector<int64_t>> pad_width;
  std::string pad_mode = "constant";

  static constexpr char kTypeKey[] = "relay.attrs.PadAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pad_width", &PadAttrs::pad_width,
      "Padding of each axis: [[before, after], ...].", kRequired);
    v("pad_mode", &PadAttrs::pad_mode, "constant, edge or reflect.");
  }
};

struct MirrorPadAttrs {
  std::string mode = "SYMMETRIC";
  std::vector<std::vector<int64_t>> pad_width;

  static constexpr char kTypeKey[] = "relay.attrs.MirrorPadAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("mode", &MirrorPadAttrs::mode, "SYMMETRIC or REFLECT.");
    v("pad_width", &MirrorPadAttrs::pad_width,
      "Padding of each axis: [[before, after], ...].", kRequired);
  }
};

struct UpSamplingAttrs {
  double scale_h = 0.0;
  double scale_w = 0.0;
  std::string layout = "NCHW";
  std::string method = "nearest_neighbor";
  bool align_corners = false;

  static constexpr char kTypeKey[] = "relay.attrs.UpSamplingAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("scale_h", &UpSamplingAttrs::scale_h, "Factor by which the height grows.",
      kRequired);
    v("scale_w", &UpSamplingAttrs::scale_w, "Factor by which the width grows.",
      kRequired);
    v("layout", &UpSamplingAttrs::layout, "Layout of the data.");
    v("method", &UpSamplingAttrs::method,
      "nearest_neighbor, bilinear or bicubic.");
    v("align_corners", &UpSamplingAttrs::align_corners,
      "Keep the values at the corners.");
  }
};

struct UpSampling3DAttrs {
  double scale_d = 0.0;
  double scale_h = 0.0;
  double scale_w = 0.0;
  std::string layout = "NCDHW";
  std::string method = "nearest_neighbor";
  std::string coordinate_transformation_mode = "half_pixel";

  static constexpr char kTypeKey[] = "relay.attrs.UpSampling3DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("scale_d", &UpSampling3DAttrs::scale_d,
      "Factor by which the depth grows.", kRequired);
    v("scale_h", &UpSampling3DAttrs::scale_h,
      "Factor by which the height grows.", kRequired);
    v("scale_w", &UpSampling3DAttrs::scale_w,
      "Factor by which the width grows.", kRequired);
    v("layout", &UpSampling3DAttrs::layout, "Layout of the data.");
    v("method", &UpSampling3DAttrs::method, "nearest_neighbor or trilinear.");
    v("coordinate_transformation_mode",
      &UpSampling3DAttrs::coordinate_transformation_mode,
      "How coordinates are mapped: half_pixel, align_corners or asymmetric.");
  }
};

struct DilateAttrs {
  Dims strides = {1, 1};
  double dilation_value = 0.0;

  static constexpr char kTypeKey[] = "relay.attrs.DilateAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("strides", &DilateAttrs::strides,
      "Distance of the elements along each axis.");
    v("dilation_value", &DilateAttrs::dilation_value, "What fills the gaps.");
  }
};

// nn.depth_to_space, nn.space_to_depth
struct SubPixelAttrs {
  int block_size = 1;
  std::string layout = "NCHW";
  std::string mode = "DCR";

  static constexpr char kTypeKey[] = "relay.attrs.SubPixelAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("block_size", &SubPixelAttrs::block_size, "Size of a square block.");
    v("layout", &SubPixelAttrs::layout, "Layout of the data.");
    v("mode", &SubPixelAttrs::mode,
      "DCR (depth, column, row) or CDR (column, depth, row).");
  }
};

struct SpaceToBatchNDAttrs {
  std::vector<int64_t> block_shape = {1, 1};
  std::vector<std::vector<int64_t>> paddings;
  double pad_value = 0.0;

  static constexpr char kTypeKey[] = "relay.attrs.SpaceToBatchNDAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("block_shape", &SpaceToBatchNDAttrs::block_shape,
      "Size of a block along each spatial axis.");
    v("paddings", &SpaceToBatchNDAttrs::paddings,
      "Padding of each spatial axis: [[before, after], ...].", kRequired);
    v("pad_value", &SpaceToBatchNDAttrs::pad_value, "What is padded with.");
  }
};

struct BatchToSpaceNDAttrs {
  std::vector<int64_t> block_shape = {1, 1};
  std::vector<std::vector<int64_t>> crops;

  static constexpr char kTypeKey[] = "relay.attrs.BatchToSpaceNDAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("block_shape", &BatchToSpaceNDAttrs::block_shape,
      "Size of a block along each spatial axis.");
    v("crops", &BatchToSpaceNDAttrs::crops,
      "Elements cut off each spatial axis: [[begin, end], ...].", kRequired);
  }
};

struct CorrelationAttrs {
  int kernel_size = 1;
  int max_displacement = 1;
  int stride1 = 1;
  int stride2 = 1;
  Dims padding = {0, 0};
  bool is_multiply = true;
  std::string layout = "NCHW";

  static constexpr char kTypeKey[] = "relay.attrs.CorrelationAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("kernel_size", &CorrelationAttrs::kernel_size, "Size of the patches.");
    v("max_displacement", &CorrelationAttrs::max_displacement,
      "Largest displacement compared.");
    v("stride1", &CorrelationAttrs::stride1, "Step in the first input.");
    v("stride2", &CorrelationAttrs::stride2, "Step in the second input.");
    v("padding", &CorrelationAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("is_multiply", &CorrelationAttrs::is_multiply,
      "Multiply the patches; otherwise subtract them.");
    v("layout", &CorrelationAttrs::layout, "Layout of the data.");
  }
};

struct NLLLossAttrs {
  std::string reduction = "mean";
  int ignore_index = 0;

  static constexpr char kTypeKey[] = "relay.attrs.NLLLossAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("reduction", &NLLLossAttrs::reduction, "mean, sum or none.");
    v("ignore_index", &NLLLossAttrs::ignore_index,
      "A target that does not count.", kRequired);
  }
};

struct FIFOBufferAttrs {
  int axis = 0;

  static constexpr char kTypeKey[] = "relay.attrs.FIFOBufferAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &FIFOBufferAttrs::axis,
      "The axis along which the buffer is a queue.");
  }
};

struct SparseDenseAttrs {
  bool sparse_lhs = false;

  static constexpr char kTypeKey[] = "relay.attrs.SparseDenseAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("sparse_lhs", &SparseDenseAttrs::sparse_lhs,
      "Whether the sparse operand is the left one.");
  }
};

struct SparseTransposeAttrs {
  static constexpr char kTypeKey[] = "relay.attrs.SparseTransposeAttrs";
  template <typename V>
  static void VisitFields(V& /*v*/) {}
};

struct SparseConv2DAttrs {
  std::string layout = "NHWC";
  Dims kernel_size = {1, 1};

  static constexpr char kTypeKey[] = "relay.attrs.SparseConv2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("layout", &SparseConv2DAttrs::layout, "Layout of the data.");
    v("kernel_size", &SparseConv2DAttrs::kernel_size,
      "Spatial size of the kernel; taken from the weight if empty.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_NN_ATTRS_H_
