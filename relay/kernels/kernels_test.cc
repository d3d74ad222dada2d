// A law that holds for every operator: its kernel computes what its type
// relation promises.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/registry.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/builders.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/parse_typed.h"
#include "gtest/gtest.h"

namespace baton::relay {
namespace {

constexpr DType kFloat = DType::Float(32);
constexpr DType kInt32 = DType::Int(32);
constexpr DType kInt8 = DType::Int(8);
constexpr DType kBool = DType::Bool();

// A constant of small positive numbers.
Expr C(std::initializer_list<int64_t> shape, DType dtype = kFloat) {
  const std::vector<int64_t> extents(shape);
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = 1 + i * 7 % 5 * 0.125;
  const absl::StatusOr<Tensor> floats =
      Tensor::FromValues<double>(extents, values);
  EXPECT_TRUE(floats.ok());
  const absl::StatusOr<Value> value =
      Evaluate(Cast(Const(*floats), dtype), nullptr);
  EXPECT_TRUE(value.ok()) << value.status();
  return Const(value->tensor());
}

// A vector of integers.
Expr Ints(const std::vector<int64_t>& values) {
  return Const(*Tensor::FromValues<int64_t>(
      {static_cast<int64_t>(values.size())}, values));
}

Expr CallOf(absl::string_view name, std::vector<Expr> args,
            const AttrMap& values = {}) {
  const Op op = Op::Find(name);
  EXPECT_TRUE(op.defined()) << name;
  if (op->attrs_type() == nullptr) return Call(op, args);
  absl::StatusOr<Attrs> attrs = op->attrs_type()->FromValues(values);
  EXPECT_TRUE(attrs.ok()) << name << ": " << attrs.status();
  return Call(op, args, *attrs);
}

// Returns whether a value has a type; `?` stands for any extent.
bool HasType(const Value& value, const Type& type) {
  if (const auto* tuple = type.As<TupleTypeNode>()) {
    if (!value.is_tuple() || value.fields().size() != tuple->fields().size()) {
      return false;
    }
    for (size_t i = 0; i < tuple->fields().size(); ++i) {
      if (!HasType(value.fields()[i], tuple->fields()[i])) return false;
    }
    return true;
  }
  const auto* tensor = type.As<TensorTypeNode>();
  if (tensor == nullptr || !value.is_tensor()) return false;
  const Tensor& t = value.tensor();
  return t.dtype() == tensor->dtype() && t.rank() == tensor->rank() &&
         std::equal(t.shape().begin(), t.shape().end(), tensor->shape().begin(),
                    [](int64_t extent, const Dim& dim) {
                      return dim.is_any() || dim.is_const(extent);
                    });
}

// A body over parameters that hold 0, 1, 2, ..., and the elements of all
// tensors of the result.
struct Example {
  const char* params;
  const char* body;
  std::vector<double> result;
};

const std::vector<Example>& Examples() {
  static const auto* const kExamples = new std::vector<Example>{
      {"%x: Tensor[(3, 2), float32], %i: Tensor[(2), int64], "
       "%j: Tensor[(2, 1), int32]",
       "adv_index((%x, %j, %i))",
       {0, 1, 2, 3}},
      {"%x: Tensor[(1, 2), float32]", "dft(%x, %x)", {1, -1, 1, -1}},
      {"%x: Tensor[(1, 2, 2, 1), float32], %s: Tensor[(2), int64], "
       "%r: Tensor[(4), float32]",
       "dyn.image.resize2d(%x, add(%s, 1i64), %r, size=[], roi=[], "
       "layout=\"NHWC\", coordinate_transformation_mode=\"align_corners\")",
       {0, 1}},
      {"%x: Tensor[(1, 1, 1, 2), float32]",
       "dyn.nn.upsampling(%x, 1f, 2f, scale_h=0f64, scale_w=0f64)",
       {0, 0, 1, 1}},
      {"%x: Tensor[(1, 1, 1, 1, 2), float32]",
       "dyn.nn.upsampling3d(%x, 1f, 1f, 2f, scale_d=0f64, scale_h=0f64, "
       "scale_w=0f64, coordinate_transformation_mode=\"asymmetric\")",
       {0, 0, 1, 1}},
      {"%i: Tensor[(2, 1), int64], %v: Tensor[(2), float32], "
       "%s: Tensor[(1), int64]",
       "dyn.sparse_to_dense(%i, %v, 7f, add(%s, 3i64))",
       {0, 1, 7}},
      {"%x: Tensor[(2, 2), float32]",
       "einsum((%x, %x), equation=\"ij,kj->ik\")",
       {1, 3, 3, 13}},
      {"%x: Tensor[(1, 2), int32]",
       "fixed_point_multiply_per_axis(%x, reshape(1073741824, newshape=[1]), "
       "reshape(2, newshape=[1]), reshape(0, newshape=[1]), "
       "is_lshift_required=True, axes=[0])",
       {0, 2}},
      {"%x: Tensor[(1, 1, 2, 2), float32], %b: Tensor[(1, 4), float32], "
       "%i: Tensor[(1), int32]",
       "image.crop_and_resize(%x, divide(%b, 3f), %i, crop_size=[1, 1])",
       {4.0 / 3}},
      {"%x: Tensor[(1, 2, 1, 1), float32], %w: Tensor[(2, 1, 1), float32]",
       "image.dilation2d(%x, %w, kernel_layout=\"IHW\")",
       {0, 2}},
      {"%x: Tensor[(1, 2, 1), float32]",
       "image.resize1d(%x, size=[1], roi=[0f, 0f], layout=\"NWC\")",
       {0.5}},
      {"%x: Tensor[(2, 2), float32], %d: Tensor[(2), float32]",
       "matrix_set_diag(%x, %d)",
       {0, 1, 2, 1}},
      {"%g: Tensor[(1, 1, 1, 2), float32], %x: Tensor[(1, 1, 2, 4), float32]",
       "nn.avg_pool2d_grad(%g, %x, pool_size=[2, 2], strides=[2, 2], "
       "padding=[0, 0, 0, 0])",
       {0, 0, 0.25, 0.25, 0, 0, 0.25, 0.25}},
      {"%g: Tensor[(1, 1, 1, 2), float32], %x: Tensor[(1, 1, 2, 4), float32]",
       "nn.max_pool2d_grad(%g, %x, pool_size=[2, 2], strides=[2, 2], "
       "padding=[0, 0, 0, 0])",
       {0, 0, 0, 0, 0, 0, 0, 1}},
      {"%g: Tensor[(1, 1, 1, 2), float32], %x: Tensor[(1, 2, 1, 2), float32]",
       "nn.conv2d_backward_weight(%g, %x, padding=[0, 0, 0, 0], channels=1, "
       "kernel_size=[1, 1], kernel_layout=\"NCHW\", out_layout=\"OIHW\")",
       {1, 3}},
      {"%x: Tensor[(1, 1, 1, 1, 4), float32], "
       "%w: Tensor[(1, 1, 1, 1, 4, 2), float32]",
       "nn.contrib_conv2d_NCHWc(%x, %w, padding=[0, 0, 0, 0], channels=2, "
       "kernel_size=[1, 1], data_layout=\"NCHW4c\", "
       "kernel_layout=\"OIHW4i2o\", out_layout=\"NCHW2c\")",
       {28, 34}},
      {"%x: Tensor[(1, 2), float32], %w: Tensor[(1, 2, 2), float32]",
       "nn.contrib_dense_pack(%x, %w, units=None)",
       {2, 3}},
      {"%x: Tensor[(1, 2), float32], %y: Tensor[(1, 2), float32]",
       "nn.cross_entropy_with_logits(%x, %y)",
       {-1}},
      {"%x: Tensor[(1, 2), float32], %y: Tensor[(1, 3), float32]",
       "nn.fifo_buffer(%x, %y, axis=1)",
       {2, 0, 1}},
      {"%x: Tensor[(1, 3), float32], %t: Tensor[(1), int32], "
       "%w: Tensor[(3), float32]",
       "nn.nll_loss(%x, add(%t, 2), %w, reduction=\"sum\", ignore_index=-1)",
       {-4}},
      {"%x: Tensor[(1, 2), float32], %v: Tensor[(2), float32], "
       "%i: Tensor[(2), int32], %p: Tensor[(3), int32]",
       "nn.sparse_dense(%x, %v, %i, %p)",
       {0, 1}},
      {"%v: Tensor[(2), float32], %i: Tensor[(2), int32], "
       "%p: Tensor[(3), int32]",
       "nn.sparse_transpose(%v, %i, %p)",
       {0, 1, 0, 1, 0, 1, 2}},
      {"%x: Tensor[(2, 2), float32], %v: Tensor[(2), float32], "
       "%i: Tensor[(2), int32], %p: Tensor[(3), int32]",
       "nn.sparse_add(%x, %v, %i, %p)",
       {0, 1, 2, 4}},
      {"%x: Tensor[(1, 1, 1, 2), float32]",
       "nn.upsampling(%x, scale_h=2f64, scale_w=1f64)",
       {0, 1, 0, 1}},
      {"%x: Tensor[(3), int8]",
       "qnn.leaky_relu(subtract(%x, cast(2, dtype=\"int8\")), 1f, 0, 1f, 0, "
       "alpha=0.5f)",
       {-1, 0, 0}},
      {"%x: Tensor[(4), int8]",
       "qnn.hardswish(%x, 1f, 0, 0.5f, 0)",
       {0, 1, 3, 6}},
      {"%x: Tensor[(3), int32]",
       "sliding_window(%x, axis=0, "
       "window_shape=[2], strides=[1])",
       {0, 1, 1, 2}},
      {"%i: Tensor[(1, 2), int64], %v: Tensor[(1), int64], "
       "%s: Tensor[(2), int64]",
       "sparse_fill_empty_rows(%i, %v, add(%s, 2i64), 9i64)",
       {0, 1, 1, 0, 0, 9, 0, 1}},
      {"%i: Tensor[(1, 2), int64], %s: Tensor[(2), int64]",
       "sparse_reshape(%i, add(%s, 2i64), subtract(3i64, %s))",
       {0, 1, 3, 2}},
      {"%x: Tensor[(3), float32], %v: Tensor[(1), float32], "
       "%b: Tensor[(1), int32]",
       "strided_set(%x, %v, add(%b, 1), add(%b, 2), add(%b, 1))",
       {0, 0, 2}},
      {"%x: Tensor[(2), int32]",
       "unique(multiply(%x, 0), return_counts=True)",
       {0, 0, 0, 0, 0, 0, 1, 2, 0}},
      {"%x: Tensor[(1, 1, 2, 2), float32], %r: Tensor[(1, 5), float32]",
       "vision.roi_pool(%x, multiply(%r, 0f), pooled_size=[1, 1], "
       "spatial_scale=1f)",
       {0}},
      {"%x: Tensor[(1, 2, 2, 1), float32], %r: Tensor[(1, 5), float32]",
       "vision.roi_align(%x, multiply(%r, 0f), pooled_size=[1, 1], "
       "spatial_scale=1f, sample_ratio=1, layout=\"NHWC\")",
       {1.5}},
      {"%x: Tensor[(1, 2, 2, 1), float32], %r: Tensor[(1, 5), float32]",
       "vision.roi_align_half_pixel(%x, minimum(%r, 0f), pooled_size=[1, 1], "
       "spatial_scale=1f, sample_ratio=1, layout=\"NHWC\")",
       {0}},
      {"%x: Tensor[(1, 1, 2, 2), float32]",
       "vision.multibox_prior(%x, sizes=[1f], ratios=[1f])",
       {-0.25, -0.25, 0.75, 0.75, 0.25, -0.25, 1.25, 0.75, -0.25, 0.25, 0.75,
        1.25, 0.25, 0.25, 1.25, 1.25}},
      {"%x: Tensor[(1, 4, 2, 2), float32]",
       "vision.yolo_reorg(%x, stride=2)",
       {0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15}},
      {"%x: Tensor[(1, 2, 3), float32]",
       "image.affine_grid(%x, target_shape=[2, 2])",
       {1, 1, 3, 3, -2, 4, 6, 12}},
      {"%x: Tensor[(1, 1, 2, 2), float32], %g: Tensor[(1, 2, 1, 1), float32]",
       "image.grid_sample(%x, %g)",
       {2.5}},
      {"%x: Tensor[(1, 1, 2, 2), float32]",
       "image.resize2d(%x, size=[1, 1], roi=[0f, 0f, 0f, 0f], "
       "rounding_method=\"\")",
       {1.5}},
      {"%x: Tensor[(1, 1, 2, 2, 2), float32]",
       "image.resize3d(%x, size=[1, 1, 1], roi=[0f, 0f, 0f, 0f, 0f, 0f])",
       {3.5}},
      {"%x: Tensor[(1, 2), float32], %y: Tensor[(1, 2), float32]",
       "nn.cross_entropy(exp(%x), %y)",
       {-1}},
      {"%x: Tensor[(1, 1, 1, 1, 4), float32], "
       "%w: Tensor[(1, 1, 1, 1, 1, 4), float32]",
       "nn.contrib_depthwise_conv2d_NCHWc(%x, %w, padding=[0, 0, 0, 0], "
       "groups=4, channels=4, kernel_size=[1, 1], data_layout=\"NCHW4c\", "
       "kernel_layout=\"OIHW1i4o\", out_layout=\"NCHW4c\")",
       {0, 1, 4, 9}},
      {"%x: Tensor[(1, 2), float32], %v: Tensor[(2), float32], "
       "%i: Tensor[(2), int32], %p: Tensor[(3), int32]",
       "nn.internal.sparse_dense_padded(%x, %v, %i, %p)",
       {0, 1}},
      {"%x: Tensor[(1, 1, 1, 2), float32], %v: Tensor[(2, 1, 1), float32], "
       "%i: Tensor[(2), int32], %p: Tensor[(3), int32]",
       "nn.sparse_conv2d(%x, %v, %i, %p)",
       {0, 1}},
      {"%x: Tensor[(1, 1, 1, 1, 2), float32]",
       "nn.upsampling3d(%x, scale_d=1f64, scale_h=1f64, scale_w=2f64, "
       "coordinate_transformation_mode=\"asymmetric\")",
       {0, 0, 1, 1}},
      {"%k: Tensor[(10), uint64]",
       "random.threefry_split(%k)",
       {0, 1, 2, 3, 4, 5, 6, 7, 4, 0, 0, 1, 2, 3, 12, 13, 6, 7, 4, 0}},
      {"%k: Tensor[(10), uint64]",
       "random.threefry_generate(%k, out_shape=[0])",
       {0, 1, 2, 3, 4, 5, 0, 7, 8, 9}},
      {"%k: Tensor[(10), uint64]",
       "random.uniform(%k, 1f, 1f, out_shape=[2], out_dtype=\"float32\")",
       {0, 1, 2, 3, 4, 5, 0, 11, 8, 9, 1, 1}},
      {"%k: Tensor[(10), uint64]",
       "random.normal(%k, 1f, 0f, out_shape=[2], out_dtype=\"float32\")",
       {0, 1, 2, 3, 4, 5, 0, 11, 8, 9, 1, 1}},
      {"%k: Tensor[(10), uint64], %p: Tensor[(2), float32]",
       "random.multinomial(%k, %p, num_samples=2)",
       {0, 1, 2, 3, 4, 5, 0, 11, 8, 9, 1, 1}},
      {"%x: Tensor[(1, 2), float32], %w: Tensor[(2), float32]",
       "stft(%x, %w, n_fft=2, hop_length=1, win_length=2)",
       {1, 0, -1, 0}},
      {"%x: Tensor[(1, 1, 6), float32]",
       "vision.get_valid_counts(%x, 0.5f, score_threshold=0.5f)",
       {1, 0, 1, 2, 3, 4, 5, 0}},
      {"%p: Tensor[(1, 2, 1), float32], %l: Tensor[(1, 4), float32], "
       "%a: Tensor[(1, 1, 4), float32]",
       "vision.multibox_transform_loc(%p, multiply(%l, 0f), %a, clip=False)",
       {0, 1, 0, 1, 2, 3, 1}},
      {"%x: Tensor[(1, 1, 6), float32], %n: Tensor[(1), int32], "
       "%i: Tensor[(1, 1), int32]",
       "vision.non_max_suppression(%x, add(%n, 1), %i, -1, 0.5f)",
       {0, 1}},
      {"%x: Tensor[(2, 3), float32]",
       "vm.shape_of(%x, dtype=\"int64\")",
       {2, 3}},
      {"%x: Tensor[(1, 1, 1, 2), float32], %y: Tensor[(1, 1, 1, 2), float32]",
       "nn.correlation(%x, %y, max_displacement=0)",
       {0, 1}},
      {"%x: Tensor[(1, 1, 1, 2), float32], %o: Tensor[(1, 2, 1, 2), float32], "
       "%w: Tensor[(1, 1, 1, 1), float32]",
       "nn.deformable_conv2d(%x, multiply(%o, 0f), add(%w, 2f), "
       "padding=[0, 0, 0, 0], channels=1, kernel_size=[1, 1])",
       {0, 2}},
      {"%x: Tensor[(1, 8), int32]",
       "nn.bitpack(%x, bits=2, pack_axis=1, bit_axis=1, pack_type=\"uint8\")",
       {0b01010101, 0b00110011}},
      {"%x: Tensor[(1, 8), int32], %w: Tensor[(1, 8), int32]",
       "nn.bitserial_dense(%x, %w, units=1, data_bits=3, weight_bits=3, "
       "pack_dtype=\"uint8\", out_dtype=\"int16\", unipolar=False)",
       {140}},
      {"%x: Tensor[(1, 1, 1, 8), int32], %w: Tensor[(1, 1, 8, 1), int32]",
       "nn.bitserial_conv2d(%x, %w, padding=[0, 0, 0, 0], kernel_size=[1, 1], "
       "channels=1, activation_bits=3, weight_bits=3, data_layout=\"NHWC\", "
       "kernel_layout=\"HWIO\", pack_dtype=\"uint8\", out_dtype=\"int16\")",
       {84}},
      {"%x: Tensor[(2, 4), float32]",
       "auto_scheduler_layout_transform(%x, src_layout=\"2h4w\", "
       "dst_layout=\"2w2h2w\")",
       {0, 1, 4, 5, 2, 3, 6, 7}},
      {"%w: Tensor[(1, 1, 3, 3), float32]",
       "nn.contrib_conv2d_winograd_weight_transform(%w, tile_size=2)",
       {0, 0.5, 1.5, 2, 1.5, 1, 3, 2.5, 4.5, 3, 9, 7.5, 6, 3.5, 10.5, 8}},
      {"%w: Tensor[(1, 1, 1, 3, 3), float32]",
       "nn.contrib_conv3d_winograd_weight_transform(%w, tile_size=2)",
       {0, 0.5, 1.5, 2, 1.5, 1, 3, 2.5, 4.5, 3, 9, 7.5, 6, 3.5, 10.5, 8}},
      {"%w: Tensor[(1, 1, 2, 1), float32]",
       "nn.contrib_conv2d_gemm_weight_transform(%w, tile_rows=1, "
       "tile_cols=1)",
       {0, 1, 0, 0}},
      {"%x: Tensor[(1, 1, 1, 2), float32], %w: Tensor[(1, 4, 1, 1), float32]",
       "nn.contrib_conv2d_gemm_without_weight_transform(%x, %w, "
       "padding=[0, 0, 0, 0], channels=1, kernel_size=[1, 1], "
       "data_layout=\"NHWC\", kernel_layout=\"HWIO\")",
       {1}},
      {"%x: Tensor[(1, 1, 2, 2), int8]",
       "qnn.avg_pool2d(%x, 1f, 0, 0.5f, 1, pool_size=[2, 2], "
       "padding=[0, 0, 0, 0])",
       {4}},
      {"%x: Tensor[(2), int8]",
       "qnn.softmax(subtract(%x, %x), 0.1f, 0, 0.0078125f, 0)",
       {63, 63}},
      {"%x: Tensor[(1, 4), int8], %w: Tensor[(1, 1, 2, 4), int8]",
       "qnn.contrib_dense_pack(%x, %w, 1, 0, 1f, 1f, units=None, "
       "out_dtype=\"int32\", weight_layout=\"NC2n4c\")",
       {8, 16}},
      {"%x: Tensor[(3), float32]",
       "qnn.simulated_quantize(%x, 2, 0.5f, 1)",
       {1, 3, 5}},
      {"%x: Tensor[(3), float32]",
       "qnn.simulated_quantize(%x, 0, 0.5f, 1)",
       {0, 1, 2}},
      {"%x: Tensor[(3), float32]",
       "qnn.simulated_dequantize(%x, 3, 0.5f, 1)",
       {-0.5, 0, 0.5}},
      {"%b: Tensor[(1, 2, 4), float32], %s: Tensor[(1, 2, 1), float32]",
       "vision.regular_non_max_suppression(%b, %s, "
       "max_detections_per_class=2, max_detections=1, num_classes=1, "
       "iou_threshold=0.5f64, score_threshold=0.5f64)",
       {4, 5, 6, 7, 0, 1, 1}},
      {"%s: Tensor[(1, 2, 1, 1), float32], %d: Tensor[(1, 4, 1, 1), float32], "
       "%i: Tensor[(1, 3), float32]",
       "vision.proposal(%s, %d, add(%i, 10f), scales=[1f], ratios=[1f], "
       "feature_stride=2, rpn_post_nms_top_n=1, rpn_min_size=0, "
       "iou_loss=True)",
       {0, 0, 1, 3, 4}},
      {"%x: Tensor[(1, 2), float32], %s: Tensor[(2), int64]",
       "vm.reshape_tensor(%x, subtract(2i64, %s), newshape=[2, 1])",
       {0, 1}},
  };
  return *kExamples;
}

void Flatten(const Value& value, std::vector<double>* out) {
  if (value.is_tensor()) {
    for (int64_t i = 0; i < value.tensor().num_elements(); ++i) {
      out->push_back(value.tensor().AtAsDouble(i));
    }
    return;
  }
  for (const Value& field : value.fields()) Flatten(field, out);
}

Tensor Count(const TensorTypeNode& type) {
  TensorShape shape;
  for (const Dim& dim : type.shape()) shape.push_back(dim.value());
  MutableTensor tensor = *MutableTensor::Create(type.dtype(), shape);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (type.dtype() == DType::Float(32)) {
      tensor.span<float>()[i] = static_cast<float>(i);
    } else if (type.dtype() == DType::Int(64)) {
      tensor.span<int64_t>()[i] = i;
    } else if (type.dtype() == DType::Int(32)) {
      tensor.span<int32_t>()[i] = static_cast<int32_t>(i);
    } else if (type.dtype() == DType::UInt(64)) {
      tensor.span<uint64_t>()[i] = static_cast<uint64_t>(i);
    } else {
      tensor.span<int8_t>()[i] = static_cast<int8_t>(i);
    }
  }
  return std::move(tensor).Freeze();
}

IRModule ModuleOf(const Example& example) {
  return testing::ParseTyped(std::string("def @main(") + example.params +
                             ") { " + example.body + " }");
}

std::vector<Value> ArgumentsOf(const Function& function) {
  std::vector<Value> args;
  for (const Var& param : function->params()) {
    args.emplace_back(Count(*param->tensor_type()));
  }
  return args;
}

// Calls of every operator that has a kernel.
std::vector<Expr> Samples() {
  std::vector<Expr> samples;
  const auto add = [&](Expr expr) { samples.push_back(std::move(expr)); };
  const auto add_calls = [&](std::initializer_list<const char*> names,
                             const std::vector<Expr>& args,
                             const AttrMap& values = {}) {
    for (const char* name : names) add(CallOf(name, args, values));
  };
  const Expr x = C({2, 3});
  const Expr image = C({1, 4, 6, 6});
  const Expr zero = Const(0), scale = Const(0.5f);

  add_calls({"abs",
             "acos",
             "acosh",
             "asin",
             "asinh",
             "atan",
             "atanh",
             "ceil",
             "copy",
             "cos",
             "cosh",
             "erf",
             "exp",
             "fast_erf",
             "fast_exp",
             "log",
             "log10",
             "fast_tanh",
             "floor",
             "isfinite",
             "log2",
             "isinf",
             "isnan",
             "negative",
             "nn.relu",
             "sign",
             "round",
             "ones_like",
             "rsqrt",
             "sigmoid",
             "sin",
             "sinh",
             "sqrt",
             "tan",
             "tanh",
             "trunc",
             "zeros_like",
             "nn.batch_flatten",
             "argwhere",
             "annotation.stop_fusion",
             "annotation.checkpoint",
             "annotation.bitpack_start",
             "annotation.bitpack_end"},
            {x});
  add_calls({"shape_of", "ndarray_size", "on_device", "nn.softmax",
             "nn.fast_softmax", "nn.log_softmax", "nn.dropout", "nn.leaky_relu",
             "squeeze", "argmax", "argmin", "sum", "prod", "mean", "max", "min",
             "cumsum", "cumprod", "sort"},
            {x}, {});
  add(Transpose(x));
  add_calls({"bitwise_not"}, {C({3}, kInt32)});
  add_calls({"logical_not", "all", "any"}, {C({2, 3}, kBool)});
  add_calls(
      {"add", "subtract", "multiply", "divide", "floor_divide", "trunc_divide",
       "mod", "floor_mod", "trunc_mod", "power", "maximum", "minimum", "equal",
       "not_equal", "less", "less_equal", "greater", "greater_equal"},
      {x, C({3})});
  add_calls(
      {"left_shift", "right_shift", "bitwise_and", "bitwise_or", "bitwise_xor"},
      {C({2, 3}, kInt32), C({3}, kInt32)});
  add_calls({"logical_and", "logical_or", "logical_xor"},
            {C({2, 3}, kBool), C({3}, kBool)});
  add_calls({"annotation.compiler_begin", "annotation.compiler_end"}, {x},
            {{"compiler", "c"}});
  add_calls({"annotation.cast_hint", "cast"}, {x}, {{"dtype", kInt8}});
  add_calls({"reinterpret"}, {x}, {{"dtype", kInt32}});
  add_calls({"device_copy"}, {x},
            {{"src_virtual_device", AttrValue()},
             {"dst_virtual_device", AttrValue()}});
  add_calls({"cast_like", "full_like"}, {x, zero});
  add_calls({"broadcast_to_like"}, {C({3}), x});
  add_calls({"collapse_sum_like"}, {x, C({3})});
  add_calls({"collapse_sum_to"}, {x, Ints({1, 3})},
            {{"shape", AttrList{1, 3}}});
  add_calls({"broadcast_to"}, {x}, {{"shape", AttrList{2, 2, 3}}});
  add(Clip(x, 1, 1.25));
  add_calls({"fixed_point_multiply"}, {C({3}, kInt32)},
            {{"multiplier", 1 << 30}, {"shift", 1}});
  add(nn::PRelu(x, C({3})));
  add(nn::BiasAdd(x, C({3})));
  add(Variance(x, {.axis = {{1}}}));
  add(Variance(x, {.axis = {{1}}, .unbiased = true}));

  add(Zeros({2}, kInt8));
  add(Ones({2}, kInt8));
  add(Full(scale, {2, 2}));
  add(Arange(Const(0), Const(7), Const(2), kInt32));
  add(ExpandDims(x, -1, 2));
  add(Reshape(x, {-1, 2}));
  add(ReverseReshape(x, {-1, 2}));
  add(ReshapeLike(x, C({6})));
  add(LayoutTransform(image, "NCHW", "NHWC2c"));
  add(Concatenate({x, x}, 1));
  add(Stack({x, x}, 2));
  add(Split(x, 3, 1));
  add(SplitAt(x, {1, 2}, -1));
  add(CallOf("meshgrid", {Tuple({C({2}), C({3})})}));
  add(CallOf("meshgrid", {Tuple({C({2}), C({3})})}, {{"indexing", "xy"}}));
  add(Repeat(x, 2, -1));
  add(Tile(x, {2, 1, 2}));
  add(Reverse(x, 0));
  add(CallOf("reverse_sequence", {x, C({2}, kInt32)},
             {{"seq_axis", 1}, {"batch_axis", 0}}));

  add(StridedSlice(x, {-1, 2}, {-3, 0}, {.strides = {-1, -2}}));
  add(StridedSlice(x, {0, 1}, {1, -1}, {.slice_mode = "size"}));
  add(SliceLike(x, C({1, 2})));
  add(Take(x, C({4}, kInt32), {.axis = 1}));
  add(Take(x, C({2, 2}, kInt32)));
  add(Gather(x, 1, C({2, 4}, kInt32)));
  add(GatherNd(x, C({1, 4}, kInt32)));
  add(Where(C({3}, kBool), x, x));
  add(OneHot(C({2}, kInt32), scale, scale, {.depth = 4, .dtype = kFloat}));
  add(CallOf("scatter_elements", {x, C({2, 1}, kInt32), C({2, 1})},
             {{"axis", 1}}));
  add(CallOf("scatter_nd", {x, C({1, 4}, kInt32), C({4, 3})}));
  add(CallOf("unravel_index", {Ints({3, 5}), Ints({2, 3})}));
  add(CallOf("sequence_mask", {x, C({3}, kInt32)}));
  add(CallOf("trilu", {x, zero}));
  add(CallOf("sparse_to_dense", {Ints({1, 3}), C({2}), scale},
             {{"output_shape", AttrList{5}}}));
  add(CallOf("argsort", {x}, {{"dtype", kInt32}}));
  add(CallOf("topk", {x}, {{"k", 2}}));
  add(CallOf("topk", {x}, {{"k", 2}, {"ret_type", "values"}}));
  add(CallOf("searchsorted", {C({3}), x}));
  add(CallOf("invert_permutation", {Ints({1, 0})}));

  add(nn::Dense(x, C({5, 3})));
  add(nn::Matmul(x, C({3, 5})));
  add(nn::BatchMatmul(C({1, 2, 3}), C({4, 5, 3})));
  add(nn::Conv1D(C({1, 4, 6}), C({2, 4, 3}), {.padding = {1}}));
  add(nn::Conv2D(image, C({6, 2, 3, 3}), {.strides = {2}, .groups = 2}));
  add(nn::Conv2D(image, C({4, 2, 3, 3}),
                 {.groups = 4, .channels = 8, .kernel_size = {3}}));
  add(nn::Conv2D(C({1, 6, 6, 4}), C({3, 3, 4, 2}),
                 {.data_layout = "NHWC", .kernel_layout = "HWIO"}));
  add(nn::Conv3D(C({1, 2, 4, 4, 4}), C({2, 2, 3, 3, 3})));
  add(nn::Conv1DTranspose(C({1, 4, 6}), C({4, 2, 3}), {.strides = {2}}));
  add(nn::Conv2DTranspose(image, C({4, 2, 3, 3}),
                          {.strides = {2}, .output_padding = {1}}));
  add(nn::Conv3DTranspose(C({1, 2, 3, 3, 3}), C({2, 2, 3, 3, 3})));
  add(nn::MaxPool1D(C({1, 2, 7}), {.pool_size = {2}, .strides = {2}}));
  add(nn::MaxPool2D(
      image,
      {.pool_size = {3}, .strides = {2}, .padding = {1}, .ceil_mode = true}));
  add(nn::MaxPool3D(C({1, 2, 4, 4, 4}), {.pool_size = {2}}));
  add(nn::AvgPool1D(C({1, 2, 7}), {.pool_size = {2}}));
  add(nn::AvgPool2D(image, {.pool_size = {2}, .padding = {1}}));
  add(nn::AvgPool3D(C({1, 2, 4, 4, 4}), {.pool_size = {2}}));
  add(nn::GlobalMaxPool2D(image));
  add(nn::GlobalAvgPool2D(image));
  add_calls({"nn.adaptive_max_pool1d", "nn.adaptive_avg_pool1d"},
            {C({1, 2, 7})}, {{"output_size", AttrList{3}}});
  add_calls({"nn.adaptive_max_pool2d", "nn.adaptive_avg_pool2d"}, {image},
            {{"output_size", AttrList{3, 2}}});
  add_calls({"nn.adaptive_max_pool3d", "nn.adaptive_avg_pool3d"},
            {C({1, 2, 4, 4, 4})});
  const Expr c = C({4});
  add(nn::BatchNorm(image, c, c, c, c));
  add(nn::InstanceNorm(image, c, c));
  add(nn::LayerNorm(x, C({3}), C({3})));
  add(nn::GroupNorm(image, c, c, {.num_groups = 2}));
  add(nn::Lrn(image));
  add(nn::L2Normalize(x, 1e-6, {1}));
  add(nn::Pad(x, {{0, 1}, {2, 0}}, scale));
  add(nn::Pad(x, {{0, 1}, {2, 0}}, scale, "reflect"));
  add(CallOf("nn.mirror_pad", {x},
             {{"pad_width", AttrList{AttrList{1, 0}, AttrList{0, 2}}}}));
  add(CallOf("nn.dilate", {x}, {{"strides", AttrList{1, 2}}}));
  add(CallOf("nn.depth_to_space", {image}, {{"block_size", 2}}));
  add(CallOf("nn.space_to_depth", {image}, {{"block_size", 2}}));
  const AttrList none = {AttrList{0, 0}, AttrList{0, 0}};
  add(CallOf("nn.space_to_batch_nd", {C({1, 4, 4, 2})},
             {{"block_shape", AttrList{2, 2}}, {"paddings", none}}));
  add(CallOf("nn.batch_to_space_nd", {C({4, 2, 2, 2})},
             {{"block_shape", AttrList{2, 2}}, {"crops", none}}));

  add(CallOf("qnn.quantize", {x, scale, zero}, {{"out_dtype", kInt8}}));
  add(CallOf("qnn.dequantize", {C({3}, kInt8), scale, zero},
             {{"out_dtype", kFloat}}));
  add(CallOf("qnn.requantize", {C({3}, kInt8), scale, zero, scale, zero},
             {{"out_dtype", kInt8}}));

  const Expr bytes = C({2, 3}, kInt8);
  add_calls({"qnn.abs", "qnn.erf", "qnn.exp", "qnn.log", "qnn.rsqrt",
             "qnn.sigmoid", "qnn.sqrt", "qnn.tanh"},
            {bytes, scale, zero, scale, zero});
  add_calls({"qnn.add", "qnn.mul", "qnn.subtract"},
            {bytes, bytes, scale, zero, scale, zero, scale, zero});
  add(CallOf("qnn.concatenate", {Tuple({bytes, bytes}), Tuple({scale, scale}),
                                 Tuple({zero, zero}), scale, zero}));
  add(CallOf("qnn.dense", {bytes, bytes, zero, zero, scale, scale},
             {{"units", 2}, {"out_dtype", kInt32}}));
  const Expr matrices = C({2, 2, 3}, kInt8);
  add(CallOf("qnn.batch_matmul", {matrices, matrices, zero, zero, scale, scale},
             {{"transpose_b", true}, {"out_dtype", kInt32}}));
  add_calls({"qnn.conv2d", "qnn.conv2d_transpose"},
            {C({1, 4, 6, 6}, kInt8), C({4, 4, 3, 3}, kInt8), zero, zero, scale,
             scale},
            {{"channels", 4},
             {"kernel_size", AttrList{3, 3}},
             {"out_dtype", kInt32}});
  add(CallOf("relay.op.annotation.simulated_quantize",
             {x, scale, Const(-127.0f), Const(127.0f)}, {{"kind", 1}}));

  add(CallOf("memory.kill", {x}));
  add(CallOf("vision.all_class_non_max_suppression",
             {C({1, 3, 4}), C({1, 2, 3}),
              Const(*Tensor::FromValues<int64_t>({1}, {2})), scale, scale},
             {{"output_format", "onnx"}}));

  const AttrMap no_shape = {{"shape", AttrValue()}};
  add(CallOf("dyn.reshape", {x, Ints({3, -1})}, {{"newshape", AttrList{}}}));
  add(CallOf("dyn.tile", {x, Ints({2, 2})}, {{"reps", AttrList{}}}));
  add(CallOf("dyn.broadcast_to", {x, Ints({2, 2, 3})}, no_shape));
  const AttrMap int8_shape = {{"shape", AttrValue()}, {"dtype", kInt8}};
  add_calls({"dyn.zeros", "dyn.ones"}, {Ints({2, 2})}, int8_shape);
  add(CallOf("dyn.full", {scale, Ints({2, 2})}, no_shape));
  add(CallOf("dyn.one_hot", {C({2}, kInt32), scale, scale, Const(4)},
             {{"dtype", kFloat}}));
  add(CallOf("dyn.strided_slice", {x, Ints({0, 1}), Ints({2, 3}), Ints({1, 1})},
             {{"begin", AttrValue()},
              {"end", AttrValue()},
              {"strides", AttrValue()},
              {"axes", AttrValue()}}));
  add(CallOf("dyn.expand_dims", {x, Const(1)}));
  add(CallOf("dyn.squeeze", {C({2, 1, 3}), Ints({1})}));
  add(CallOf("dyn.topk", {x, Const(2)}, {{"k", AttrValue()}}));
  add(CallOf(
      "dyn.nn.pad",
      {x, Const(*Tensor::FromValues<int64_t>({2, 2}, {0, 1, 2, 0})), scale},
      {{"pad_width", AttrList{}}}));
  for (const Example& example : Examples()) {
    const Function main = ModuleOf(example).Find<Function>("main");
    const std::vector<Value> args = ArgumentsOf(main);
    Expr body = main->body();
    for (size_t i = 0; i < args.size(); ++i) {
      body = Let(main->params()[i], Const(args[i].tensor()), std::move(body));
    }
    add(std::move(body));
  }
  return samples;
}

// Every kernel is that of a registered operator, and none has two.
TEST(KernelsTest, NoRegistrationErrors) {
  EXPECT_EQ(RegistrationErrors(), absl::OkStatus());
}

TEST(KernelsTest, KernelsComputeWhatTypeRelationsPromise) {
  absl::flat_hash_set<std::string> run;
  for (const Expr& sample : Samples()) {
    const auto* call = sample.As<CallNode>();
    SCOPED_TRACE(call != nullptr ? call->op_node()->name() : "");
    const absl::StatusOr<Expr> typed = InferTypeOf(sample);
    ASSERT_TRUE(typed.ok()) << typed.status();
    const absl::StatusOr<Value> value = Evaluate(*typed, nullptr);
    ASSERT_TRUE(value.ok()) << value.status();
    PostOrderVisit(*typed, [&](const ExprNode* node) {
      const auto* op = Handle(node).As<OpNode>();
      if (op != nullptr) run.insert(op->name());
    });
    EXPECT_TRUE(HasType(*value, (*typed)->type()))
        << (*typed)->type().ToString() << " promised, but "
        << (value->is_tensor() ? value->tensor().TypeToString() : "a tuple")
        << " computed";
  }
  // Every kernel has been run.
  for (const OpNode* op : OpRegistry::Global().List()) {
    if (Kernels().Get(*op) != nullptr) {
      EXPECT_TRUE(run.contains(op->name())) << op->name();
    }
  }
}

TEST(KernelsTest, ExamplesComputeWhatTheySay) {
  for (const Example& example : Examples()) {
    SCOPED_TRACE(example.body);
    const IRModule module = ModuleOf(example);
    const absl::StatusOr<Value> value = EvaluateFunction(
        module, "main", ArgumentsOf(module.Find<Function>("main")));
    ASSERT_TRUE(value.ok()) << value.status();
    std::vector<double> result;
    Flatten(*value, &result);
    ASSERT_EQ(result.size(), example.result.size());
    for (size_t i = 0; i < result.size(); ++i) {
      EXPECT_NEAR(result[i], example.result[i], 1e-5) << i;
    }
  }
}

// The mean may have other extents than the data only where these are 1.
TEST(KernelsTest, VarianceTakesAMeanOfItsData) {
  const absl::StatusOr<Expr> call =
      InferTypeOf(Variance(Constant(*Tensor::Zeros(DType::Float(32), {1})),
                           Constant(*Tensor::Zeros(DType::Float(32), {3})),
                           {.axis = {{0}}, .keepdims = true, .exclude = true}));
  ASSERT_TRUE(call.ok()) << call.status();
  EXPECT_FALSE(Evaluate(*call, nullptr).ok());
}

TEST(KernelsTest, ElementwiseOnesReuseArguments) {
  std::vector<std::string> reusing;
  for (const OpNode* op : OpRegistry::Global().List()) {
    const Kernel* kernel = Kernels().Get(*op);
    if (kernel != nullptr && kernel->reuses_arguments()) {
      reusing.push_back(op->name());
    }
  }
  EXPECT_EQ(
      reusing,
      (std::vector<std::string>{
          "abs",        "add",           "clip",    "divide",     "equal",
          "greater",    "greater_equal", "less",    "less_equal", "logical_and",
          "logical_or", "logical_xor",   "maximum", "minimum",    "multiply",
          "negative",   "nn.bias_add",   "nn.relu", "not_equal",  "sign",
          "subtract"}));
}

}  // namespace
}  // namespace baton::relay
