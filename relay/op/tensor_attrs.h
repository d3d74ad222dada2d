// Attributes of the operators on tensors of any shape.

#ifndef BATON_RELAY_OP_TENSOR_ATTRS_H_
#define BATON_RELAY_OP_TENSOR_ATTRS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/relay/op/reduce_attrs.h"  // IWYU pragma: export

namespace baton::relay {

// cast, reinterpret
struct CastAttrs {
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.CastAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &CastAttrs::dtype, "The element type wanted.", kRequired);
  }
};

struct ClipAttrs {
  double a_min = 0.0;
  double a_max = 0.0;

  static constexpr char kTypeKey[] = "relay.attrs.ClipAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("a_min", &ClipAttrs::a_min, "Lower bound.", kRequired);
    v("a_max", &ClipAttrs::a_max, "Upper bound.", kRequired);
  }
};

struct FixedPointMultiplyAttrs {
  int multiplier = 0;
  int shift = 0;

  static constexpr char kTypeKey[] = "relay.attrs.FixedPointMultiplyAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("multiplier", &FixedPointMultiplyAttrs::multiplier,
      "The multiplier, a fixed-point number below 1.", kRequired);
    v("shift", &FixedPointMultiplyAttrs::shift,
      "Bits to shift left after that.", kRequired);
  }
};

struct FixedPointMultiplyPerAxisAttrs {
  bool is_lshift_required = false;
  bool is_rshift_required = false;
  std::vector<int64_t> axes;

  static constexpr char kTypeKey[] =
      "relay.attrs.FixedPointMultiplyPerAxisAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("is_lshift_required", &FixedPointMultiplyPerAxisAttrs::is_lshift_required,
      "Whether to shift left first.");
    v("is_rshift_required", &FixedPointMultiplyPerAxisAttrs::is_rshift_required,
      "Whether to shift right afterwards.");
    v("axes", &FixedPointMultiplyPerAxisAttrs::axes,
      "The axes along which the multipliers differ.", kRequired);
  }
};

// zeros, ones, full, broadcast_to, and their dynamic forms
struct InitOpAttrs {
  std::optional<std::vector<int64_t>> shape;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.InitOpAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("shape", &InitOpAttrs::shape, "Shape of the result.", kRequired);
    v("dtype", &InitOpAttrs::dtype, "Element type of the result.");
  }
};

struct ArangeAttrs {
  AttrValue start;
  AttrValue stop;
  AttrValue step;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.ArangeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("start", &ArangeAttrs::start, "The first value.", kRequired);
    v("stop", &ArangeAttrs::stop, "The end, not included.", kRequired);
    v("step", &ArangeAttrs::step, "Distance of the values.", kRequired);
    v("dtype", &ArangeAttrs::dtype, "Element type of the result.", kRequired);
  }
};

struct ExpandDimsAttrs {
  int axis = 0;
  int num_newaxis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.ExpandDimsAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ExpandDimsAttrs::axis, "Where the new axes are put.", kRequired);
    v("num_newaxis", &ExpandDimsAttrs::num_newaxis, "Number of new axes.");
  }
};

struct DynExpandDimsAttrs {
  int num_newaxis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.DynExpandDimsAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("num_newaxis", &DynExpandDimsAttrs::num_newaxis, "Number of new axes.");
  }
};

struct SqueezeAttrs {
  std::optional<std::vector<int64_t>> axis;

  static constexpr char kTypeKey[] = "relay.attrs.SqueezeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &SqueezeAttrs::axis,
      "The axes to drop; all of extent 1 if not given.");
  }
};

struct TransposeAttrs {
  std::optional<std::vector<int64_t>> axes;

  static constexpr char kTypeKey[] = "relay.attrs.TransposeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axes", &TransposeAttrs::axes,
      "The order of the axes; reversed if not given.", kRequired);
  }
};

struct ReshapeAttrs {
  std::vector<int64_t> newshape;
  bool allowzero = false;

  static constexpr char kTypeKey[] = "relay.attrs.ReshapeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("newshape", &ReshapeAttrs::newshape,
      "The shape wanted; 0 and negative numbers have special meanings.",
      kRequired);
    v("allowzero", &ReshapeAttrs::allowzero,
      "Whether 0 stands for itself rather than for the old extent.");
  }
};

struct ReshapeLikeAttrs {
  int lhs_begin = 0;
  std::optional<int64_t> lhs_end;
  int rhs_begin = 0;
  std::optional<int64_t> rhs_end;

  static constexpr char kTypeKey[] = "relay.attrs.ReshapeLikeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("lhs_begin", &ReshapeLikeAttrs::lhs_begin,
      "First axis of the data to replace.");
    v("lhs_end", &ReshapeLikeAttrs::lhs_end, "End of the axes to replace.");
    v("rhs_begin", &ReshapeLikeAttrs::rhs_begin,
      "First axis of the other shape to take.");
    v("rhs_end", &ReshapeLikeAttrs::rhs_end, "End of the axes to take.");
  }
};

struct LayoutTransformAttrs {
  std::string src_layout;
  std::string dst_layout;

  static constexpr char kTypeKey[] = "relay.attrs.LayoutTransformAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("src_layout", &LayoutTransformAttrs::src_layout, "Layout of the data.",
      kRequired);
    v("dst_layout", &LayoutTransformAttrs::dst_layout, "Layout of the result.",
      kRequired);
  }
};

struct AutoSchedulerLayoutTransformAttrs {
  std::string src_layout;
  std::string dst_layout;

  static constexpr char kTypeKey[] =
      "relay.attrs.AutoSchedulerLayoutTransformAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("src_layout", &AutoSchedulerLayoutTransformAttrs::src_layout,
      "Layout of the data.", kRequired);
    v("dst_layout", &AutoSchedulerLayoutTransformAttrs::dst_layout,
      "Layout of the result.", kRequired);
  }
};

struct ConcatenateAttrs {
  int axis = 0;

  static constexpr char kTypeKey[] = "relay.attrs.ConcatenateAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ConcatenateAttrs::axis,
      "The axis along which the tensors are joined.");
  }
};

struct StackAttrs {
  int64_t axis = 0;

  static constexpr char kTypeKey[] = "relay.attrs.StackAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &StackAttrs::axis, "Where the new axis is put.");
  }
};

struct SplitAttrs {
  AttrValue indices_or_sections;
  int axis = 0;

  static constexpr char kTypeKey[] = "relay.attrs.SplitAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("indices_or_sections", &SplitAttrs::indices_or_sections,
      "The number of equal parts, or the positions to cut at.", kRequired);
    v("axis", &SplitAttrs::axis, "The axis to split.");
  }
};

struct StridedSliceAttrs {
  std::optional<std::vector<int64_t>> begin;
  std::optional<std::vector<int64_t>> end;
  std::optional<std::vector<int64_t>> strides;
  std::string slice_mode = "end";
  std::optional<std::vector<int64_t>> axes;

  static constexpr char kTypeKey[] = "relay.attrs.StridedSliceAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("begin", &StridedSliceAttrs::begin, "Where to begin on each axis.",
      kRequired);
    v("end", &StridedSliceAttrs::end,
      "Where to end on each axis, not included.", kRequired);
    v("strides", &StridedSliceAttrs::strides, "Step on each axis.", kRequired);
    v("slice_mode", &StridedSliceAttrs::slice_mode,
      "end, or size if `end` holds sizes (-1: all that is left).");
    v("axes", &StridedSliceAttrs::axes,
      "The axes that are sliced; the leading ones if not given.", kRequired);
  }
};

struct SliceLikeAttrs {
  std::optional<std::vector<int64_t>> axes;

  static constexpr char kTypeKey[] = "relay.attrs.SliceLikeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axes", &SliceLikeAttrs::axes,
      "The axes that are sliced; all if not given.", kRequired);
  }
};

struct TakeAttrs {
  int64_t batch_dims = 0;
  std::optional<int64_t> axis;
  std::string mode = "clip";

  static constexpr char kTypeKey[] = "relay.attrs.TakeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("batch_dims", &TakeAttrs::batch_dims,
      "Leading axes that are shared with the indices.");
    v("axis", &TakeAttrs::axis,
      "The axis to take along; the flattened data if not given.");
    v("mode", &TakeAttrs::mode,
      "What to do with indices out of range: clip, wrap or fast.");
  }
};

struct GatherAttrs {
  std::optional<int64_t> axis;

  static constexpr char kTypeKey[] = "relay.attrs.GatherAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &GatherAttrs::axis, "The axis along which to gather.");
  }
};

struct GatherNDAttrs {
  int64_t batch_dims = 0;
  std::optional<int64_t> index_rank;

  static constexpr char kTypeKey[] = "relay.attrs.GatherNDAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("batch_dims", &GatherNDAttrs::batch_dims,
      "Leading axes that are shared with the indices.");
    v("index_rank", &GatherNDAttrs::index_rank,
      "Length of an index, where the shape does not tell.");
  }
};

struct ScatterElementsAttrs {
  int64_t axis = 0;
  std::string reduction = "update";

  static constexpr char kTypeKey[] = "relay.attrs.ScatterElementsAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ScatterElementsAttrs::axis, "The axis along which to scatter.");
    v("reduction", &ScatterElementsAttrs::reduction,
      "update, add, mul, mean, min or max.");
  }
};

struct ScatterNDAttrs {
  std::string mode = "update";

  static constexpr char kTypeKey[] = "relay.attrs.ScatterNDAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("mode", &ScatterNDAttrs::mode, "update, add, mul, min or max.");
  }
};

struct RepeatAttrs {
  int64_t repeats = 0;
  std::optional<int64_t> axis;

  static constexpr char kTypeKey[] = "relay.attrs.RepeatAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("repeats", &RepeatAttrs::repeats, "How often each element is repeated.",
      kRequired);
    v("axis", &RepeatAttrs::axis, "The axis along which to repeat.");
  }
};

struct TileAttrs {
  std::vector<int64_t> reps;

  static constexpr char kTypeKey[] = "relay.attrs.TileAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("reps", &TileAttrs::reps,
      "How often the tensor is repeated along each axis.", kRequired);
  }
};

struct ReverseAttrs {
  std::optional<int64_t> axis;

  static constexpr char kTypeKey[] = "relay.attrs.ReverseAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ReverseAttrs::axis, "The axis to reverse.");
  }
};

struct ReverseSequenceAttrs {
  int64_t seq_axis = 1;
  int64_t batch_axis = 0;

  static constexpr char kTypeKey[] = "relay.attrs.ReverseSequenceAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("seq_axis", &ReverseSequenceAttrs::seq_axis, "The axis to reverse.");
    v("batch_axis", &ReverseSequenceAttrs::batch_axis,
      "The axis of the sequences.");
  }
};

struct SlidingWindowAttrs {
  int axis = 0;
  std::vector<int64_t> window_shape;
  std::vector<int64_t> strides;

  static constexpr char kTypeKey[] = "relay.attrs.SlidingWindowAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &SlidingWindowAttrs::axis,
      "The first axis the window slides along.", kRequired);
    v("window_shape", &SlidingWindowAttrs::window_shape,
      "Size of the window along each axis.", kRequired);
    v("strides", &SlidingWindowAttrs::strides,
      "Step of the window along each axis.", kRequired);
  }
};

struct MeshgridAttrs {
  std::string indexing = "ij";

  static constexpr char kTypeKey[] = "relay.attrs.MeshgridAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("indexing", &MeshgridAttrs::indexing, "ij (matrix) or xy (Cartesian).");
  }
};

struct OneHotAttrs {
  int depth = 1;
  int axis = -1;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.OneHotAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("depth", &OneHotAttrs::depth, "Extent of the new axis.");
    v("axis", &OneHotAttrs::axis, "Where the new axis is put.");
    v("dtype", &OneHotAttrs::dtype, "Element type of the result.");
  }
};

struct SequenceMaskAttrs {
  double mask_value = 0.0;
  int axis = 0;

  static constexpr char kTypeKey[] = "relay.attrs.SequenceMaskAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("mask_value", &SequenceMaskAttrs::mask_value,
      "What is written past the end.");
    v("axis", &SequenceMaskAttrs::axis, "The axis of the sequence: 0 or 1.");
  }
};

struct SparseToDenseAttrs {
  std::vector<int64_t> output_shape;

  static constexpr char kTypeKey[] = "relay.attrs.SparseToDenseAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("output_shape", &SparseToDenseAttrs::output_shape, "Shape of the result.",
      kRequired);
  }
};

struct MatrixSetDiagAttrs {
  int k1 = 0;
  int k2 = 0;
  bool super_diag_right_align = true;
  bool sub_diag_right_align = false;

  static constexpr char kTypeKey[] = "relay.attrs.MatrixSetDiagAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("k1", &MatrixSetDiagAttrs::k1, "The lowest diagonal.");
    v("k2", &MatrixSetDiagAttrs::k2, "The highest diagonal.");
    v("super_diag_right_align", &MatrixSetDiagAttrs::super_diag_right_align,
      "Align diagonals above the main one to the right.");
    v("sub_diag_right_align", &MatrixSetDiagAttrs::sub_diag_right_align,
      "Align diagonals below the main one to the right.");
  }
};

// cumsum, cumprod
struct ScanopAttrs {
  std::optional<int64_t> axis;
  DType dtype;
  bool exclusive = false;

  static constexpr char kTypeKey[] = "relay.attrs.ScanopAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ScanopAttrs::axis,
      "The axis to scan; the flattened data if not given.");
    v("dtype", &ScanopAttrs::dtype,
      "Element type of the result; that of the data if unset.");
    v("exclusive", &ScanopAttrs::exclusive,
      "Leave the element itself out of its sum.");
  }
};

struct UniqueAttrs {
  bool sorted = true;
  bool return_counts = false;

  static constexpr char kTypeKey[] = "relay.attrs.UniqueAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("sorted", &UniqueAttrs::sorted, "Whether the result is sorted.");
    v("return_counts", &UniqueAttrs::return_counts,
      "Whether to count each value.");
  }
};

struct TriluAttrs {
  bool upper = true;

  static constexpr char kTypeKey[] = "relay.attrs.TriluAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("upper", &TriluAttrs::upper,
      "Keep the upper triangle; otherwise the lower.");
  }
};

struct EinsumAttrs {
  std::string equation;

  static constexpr char kTypeKey[] = "relay.attrs.EinsumAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("equation", &EinsumAttrs::equation,
      "What to multiply and sum, in Einstein notation.", kRequired);
  }
};

struct StftAttrs {
  int n_fft = -1;
  int hop_length = -1;
  int win_length = -1;
  bool normalized = false;
  bool onesided = true;

  static constexpr char kTypeKey[] = "relay.attrs.StftAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("n_fft", &StftAttrs::n_fft, "Size of the transform.");
    v("hop_length", &StftAttrs::hop_length, "Step of the window.");
    v("win_length", &StftAttrs::win_length, "Size of the window.");
    v("normalized", &StftAttrs::normalized,
      "Whether the result is normalized.");
    v("onesided", &StftAttrs::onesided, "Leave out the redundant half.");
  }
};

struct DFTAttrs {
  bool inverse = false;

  static constexpr char kTypeKey[] = "relay.attrs.DFTAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("inverse", &DFTAttrs::inverse, "Whether to transform back.");
  }
};

struct ShapeOfAttrs {
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.ShapeOfAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &ShapeOfAttrs::dtype, "Element type of the result.");
  }
};

struct NdarraySizeAttrs {
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.NdarraySizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &NdarraySizeAttrs::dtype, "Element type of the result.");
  }
};

// argsort, sort
struct ArgsortAttrs {
  int axis = -1;
  bool is_ascend = true;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.ArgsortAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ArgsortAttrs::axis, "The axis to sort along.");
    v("is_ascend", &ArgsortAttrs::is_ascend,
      "Ascending order; otherwise descending.");
    v("dtype", &ArgsortAttrs::dtype, "Element type of the result.");
  }
};

struct TopKAttrs {
  std::optional<int64_t> k;
  int axis = -1;
  std::string ret_type = "both";
  bool is_ascend = false;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.TopkAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("k", &TopKAttrs::k, "How many elements; all if below 1.", kRequired);
    v("axis", &TopKAttrs::axis, "The axis to search along.");
    v("ret_type", &TopKAttrs::ret_type, "both, values or indices.");
    v("is_ascend", &TopKAttrs::is_ascend,
      "Ascending order; otherwise descending.");
    v("dtype", &TopKAttrs::dtype, "Element type of the result.");
  }
};

struct SearchSortedAttrs {
  bool right = false;
  DType dtype = DType::Int(32);

  static constexpr char kTypeKey[] = "relay.attrs.SearchSortedAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("right", &SearchSortedAttrs::right,
      "Find the last position instead of the first.");
    v("dtype", &SearchSortedAttrs::dtype, "Element type of the result.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_ATTRS_H_
