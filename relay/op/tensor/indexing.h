// Operators that take, select or place elements by index.

#ifndef BATON_RELAY_OP_TENSOR_INDEXING_H_
#define BATON_RELAY_OP_TENSOR_INDEXING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

struct StridedSliceAttrs {
  std::optional<std::vector<int64_t>> begin;
  std::optional<std::vector<int64_t>> end;
  std::optional<std::vector<int64_t>> strides;
  std::string slice_mode = "end";
  std::optional<std::vector<int64_t>> axes;

  static constexpr char kTypeKey[] = "relay.attrs.StridedSliceAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("begin", &StridedSliceAttrs::begin, "The first index on each axis.",
      kRequired);
    v("end", &StridedSliceAttrs::end,
      "The end on each axis, which is not included.", kRequired);
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
      "The treatment of indices out of range: clip, wrap or fast.");
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
      "Length of an index, where the shape does not say it.");
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

struct OneHotAttrs {
  int depth = 1;
  int axis = -1;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.OneHotAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("depth", &OneHotAttrs::depth, "Extent of the new axis.");
    v("axis", &OneHotAttrs::axis, "The index of the new axis.");
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
      "The value past the end of a sequence.");
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

struct TriluAttrs {
  bool upper = true;

  static constexpr char kTypeKey[] = "relay.attrs.TriluAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("upper", &TriluAttrs::upper,
      "Keep the upper triangle; otherwise the lower.");
  }
};

// Builders of calls.

struct StridedSliceOptions {
  std::vector<int64_t> strides = {1};
  std::optional<std::vector<int64_t>> axes;
  std::string slice_mode = "end";
};
Expr StridedSlice(Expr data, std::vector<int64_t> begin,
                  std::vector<int64_t> end, StridedSliceOptions options = {});
Expr SliceLike(Expr data, Expr shape_like,
               std::optional<std::vector<int64_t>> axes = {});
Expr Take(Expr data, Expr indices, TakeAttrs attrs = {});
Expr Gather(Expr data, int axis, Expr indices);
Expr GatherNd(Expr data, Expr indices, GatherNDAttrs attrs = {});
Expr OneHot(Expr indices, Expr on_value, Expr off_value, OneHotAttrs attrs);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_INDEXING_H_
