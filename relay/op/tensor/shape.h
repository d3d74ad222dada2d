// Operators that change the shape, the order of the axes, or the number of
// tensors, but no elements: reshape, transpose, concatenate, split, ...

#ifndef BATON_RELAY_OP_TENSOR_SHAPE_H_
#define BATON_RELAY_OP_TENSOR_SHAPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/ir/attrs.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/layout_rules.h"

namespace baton::relay {

struct ExpandDimsAttrs {
  int axis = 0;
  int num_newaxis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.ExpandDimsAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &ExpandDimsAttrs::axis, "The index of the first new axis.",
      kRequired);
    v("num_newaxis", &ExpandDimsAttrs::num_newaxis, "Number of new axes.");
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
      "Whether 0 is the extent 0 rather than the old extent.");
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
    v("axis", &StackAttrs::axis, "The index of the new axis.");
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

struct RepeatAttrs {
  int64_t repeats = 0;
  std::optional<int64_t> axis;

  static constexpr char kTypeKey[] = "relay.attrs.RepeatAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("repeats", &RepeatAttrs::repeats,
      "The number of times each element is repeated.", kRequired);
    v("axis", &RepeatAttrs::axis, "The axis along which to repeat.");
  }
};

struct TileAttrs {
  std::vector<int64_t> reps;

  static constexpr char kTypeKey[] = "relay.attrs.TileAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("reps", &TileAttrs::reps, "The number of repetitions along each axis.",
      kRequired);
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

// The type relation of concatenate, for a first argument that is a tuple.
absl::StatusOr<Type> ConcatenateRel(TypeRelationContext& context);

// The common part of the layout rules of concatenate and its quantized form:
// the layout in which the first `n` inputs are concatenated. The attributes are
// those of concatenate.
std::optional<layouts::LayoutAndAttrs> FollowConcatenation(
    const LayoutQuery& query, size_t n);

// Builders of calls.

Expr ExpandDims(Expr data, int axis, int num_newaxis = 1);
// Drops all axes of extent 1 if `axis` is nullopt.
Expr Squeeze(Expr data, std::optional<std::vector<int64_t>> axis = {});
// Numbers in `newshape` that are not positive are described in reshape.h.
Expr Reshape(Expr data, std::vector<int64_t> newshape);
// As Reshape, with the old and the new shape read from the right.
Expr ReverseReshape(Expr data, std::vector<int64_t> newshape);
Expr ReshapeLike(Expr data, Expr shape_like, ReshapeLikeAttrs attrs = {});
// Reverses the axes if `axes` is nullopt.
Expr Transpose(Expr data, std::optional<std::vector<int64_t>> axes = {});
Expr LayoutTransform(Expr data, std::string src_layout, std::string dst_layout);
// `attrs` are LayoutTransformAttrs; several calls may share them.
Expr LayoutTransform(Expr data, Attrs attrs);

// Combine or split tensors.
Expr Concatenate(std::vector<Expr> data, int axis);
Expr Stack(std::vector<Expr> data, int axis);
// A tuple of `sections` equal parts.
Expr Split(Expr data, int64_t sections, int axis = 0);
// A tuple of the parts between the positions.
Expr SplitAt(Expr data, std::vector<int64_t> indices, int axis = 0);

// Repeat or reorder elements.
Expr Repeat(Expr data, int64_t repeats, int64_t axis);
Expr Tile(Expr data, std::vector<int64_t> reps);
Expr Reverse(Expr data, int64_t axis);

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_SHAPE_H_
