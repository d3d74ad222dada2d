#include "baton/relay/op/tensor/shape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
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
#include "baton/relay/op/op_flags.h"
#include "baton/relay/op/tensor/reshape.h"
#include "baton/relay/op/tensor/scheduled_layout.h"
#include "baton/relay/op/type_relations.h"

namespace baton::relay {
namespace {

// Element types.

// Axes.

absl::StatusOr<Type> ExpandDimsRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<ExpandDimsAttrs>();
  if (attrs.num_newaxis < 0) {
    return context.Error("num_newaxis=", attrs.num_newaxis, " is negative");
  }
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, attrs.axis, data->rank() + 1));
  BATON_RETURN_IF_ERROR(
      ExpectRankInLimit(context, int64_t{data->rank()} + attrs.num_newaxis));
  Dims shape(data->shape().begin(), data->shape().end());
  shape.insert(shape.begin() + axis, attrs.num_newaxis, Dim(1));
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> SqueezeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& axes = context.attrs<SqueezeAttrs>().axis;
  absl::InlinedVector<bool, 8> dropped(data->rank(), false);
  if (!axes.has_value()) {
    if (!data->is_static()) {
      return context.Error("axis must be given for the shape ",
                           ShapeToString(data->shape()));
    }
    for (int i = 0; i < data->rank(); ++i) {
      dropped[i] = data->dim(i).is_const(1);
    }
  } else {
    for (const int64_t value : *axes) {
      BATON_ASSIGN_OR_RETURN(const int axis,
                             NormalizeAxis(context, value, data->rank()));
      if (ProvablyDiffer(data->dim(axis), 1)) {
        return context.Error("axis ", value, " of the shape ",
                             ShapeToString(data->shape()), " is not 1");
      }
      dropped[axis] = true;
    }
  }
  Dims shape;
  for (int i = 0; i < data->rank(); ++i) {
    if (!dropped[i]) shape.push_back(data->dim(i));
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> TransposeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& axes = context.attrs<TransposeAttrs>().axes;
  const int rank = data->rank();
  Dims shape;
  if (!axes.has_value()) {
    shape.assign(data->shape().rbegin(), data->shape().rend());
    return TensorLike(context, 0, shape, data->dtype());
  }
  if (static_cast<int>(axes->size()) != rank) {
    return context.Error("there are ", axes->size(), " axes, but the shape is ",
                         ShapeToString(data->shape()));
  }
  absl::InlinedVector<bool, 8> used(rank, false);
  for (const int64_t value : *axes) {
    BATON_ASSIGN_OR_RETURN(const int axis,
                           NormalizeAxis(context, value, rank, "axes"));
    if (used[axis]) return context.Error("axis ", value, " is given twice");
    used[axis] = true;
    shape.push_back(data->dim(axis));
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> LayoutTransformRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<LayoutTransformAttrs>();
  const absl::StatusOr<Layout> src = Layout::Parse(attrs.src_layout);
  if (!src.ok()) return context.Error(src.status().message());
  const absl::StatusOr<Layout> dst = Layout::Parse(attrs.dst_layout);
  if (!dst.ok()) return context.Error(dst.status().message());
  if (!src->ConvertibleTo(*dst)) {
    return context.Error("src_layout=\"", attrs.src_layout,
                         "\" cannot be converted to dst_layout=\"",
                         attrs.dst_layout, "\"");
  }
  BATON_ASSIGN_OR_RETURN(const Dims shape,
                         ConvertArgShape(context, 0, *data, *src, *dst));
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> AutoSchedulerLayoutTransformRel(
    TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const absl::StatusOr<ScheduledLayout> layout = ScheduledLayout::Parse(
      "dst_layout",
      context.attrs<AutoSchedulerLayoutTransformAttrs>().dst_layout);
  if (!layout.ok()) return context.Error(layout.status().message());
  return TensorLike(context, 0,
                    Dims(layout->extents.begin(), layout->extents.end()),
                    data->dtype());
}

// Reshape.

template <bool kReverse>
absl::StatusOr<Type> ReshapeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<ReshapeAttrs>();
  const absl::StatusOr<Dims> shape =
      kReverse
          ? ReverseReshapedShape(data->shape(), attrs.newshape, attrs.allowzero)
          : ReshapedShape(data->shape(), attrs.newshape, attrs.allowzero);
  if (!shape.ok()) return context.Error(shape.status().message());
  return TensorLike(context, 0, *shape, data->dtype());
}

absl::StatusOr<Type> ReshapeLikeRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* like = context.Tensor(1);
  if (data == nullptr || like == nullptr) return Type();
  const absl::StatusOr<Dims> shape = ReshapedLikeShape(
      data->shape(), like->shape(), context.attrs<ReshapeLikeAttrs>());
  if (!shape.ok()) return context.Error(shape.status().message());
  if (ProvablyDiffer(Product(data->shape()), Product(*shape))) {
    return context.Error("the shapes ", ShapeToString(data->shape()), " and ",
                         ShapeToString(*shape),
                         " differ in their number of elements");
  }
  return TensorLike(context, 0, *shape, data->dtype());
}

// Several tensors.

absl::Status ExpectSameRank(const TypeRelationContext& context,
                            absl::Span<const TensorTypeNode* const> tensors) {
  for (const TensorTypeNode* tensor : tensors) {
    if (tensor->rank() != tensors[0]->rank()) {
      return context.Error(
          "the tensors have the shapes ", ShapeToString(tensors[0]->shape()),
          " and ", ShapeToString(tensor->shape()), ", which differ in rank");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Type> ConcatenateRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const auto tensors, TensorFields(context, 0));
  if (tensors.empty()) return Type();
  BATON_RETURN_IF_ERROR(ExpectSameRank(context, tensors));
  const TensorTypeNode& first = *tensors[0];
  BATON_ASSIGN_OR_RETURN(
      const int axis,
      NormalizeAxis(context, context.attrs<ConcatenateAttrs>().axis,
                    first.rank()));
  Dims shape(first.shape().begin(), first.shape().end());
  for (size_t k = 1; k < tensors.size(); ++k) {
    shape[axis] = shape[axis] + tensors[k]->dim(axis);
  }
  for (int i = 0; i < first.rank(); ++i) {
    if (i == axis) continue;
    bool some_unknown = false;
    Dim known;
    for (const TensorTypeNode* tensor : tensors) {
      const Dim& dim = tensor->dim(i);
      if (dim.is_any()) {
        some_unknown = true;
      } else if (known.is_any()) {
        known = dim;
      } else if (ProvablyDiffer(known, dim)) {
        return context.Error("the tensors have the shapes ",
                             ShapeToString(first.shape()), " and ",
                             ShapeToString(tensor->shape()),
                             ", which differ on axis ", i);
      }
    }
    // A known extent is trusted for all where the result is dynamic anyway.
    shape[i] = some_unknown && !shape[axis].is_any() ? Dim::Any() : known;
  }
  return Type(TensorType(shape, first.dtype()));
}

namespace {

absl::StatusOr<Type> StackRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const auto tensors, TensorFields(context, 0));
  if (tensors.empty()) return Type();
  BATON_RETURN_IF_ERROR(ExpectSameRank(context, tensors));
  const TensorTypeNode& first = *tensors[0];
  BATON_ASSIGN_OR_RETURN(
      const int axis, NormalizeAxis(context, context.attrs<StackAttrs>().axis,
                                    first.rank() + 1));
  for (const TensorTypeNode* tensor : tensors) {
    for (int i = 0; i < first.rank(); ++i) {
      if (ProvablyDiffer(first.dim(i), tensor->dim(i))) {
        return context.Error("the tensors have the shapes ",
                             ShapeToString(first.shape()), " and ",
                             ShapeToString(tensor->shape()));
      }
    }
  }
  Dims shape(first.shape().begin(), first.shape().end());
  shape.insert(shape.begin() + axis, Dim(static_cast<int64_t>(tensors.size())));
  return Type(TensorType(shape, first.dtype()));
}

absl::StatusOr<Type> MeshgridRel(TypeRelationContext& context) {
  BATON_ASSIGN_OR_RETURN(const auto tensors, TensorFields(context, 0));
  if (tensors.empty()) return Type();
  Dims shape;
  for (const TensorTypeNode* tensor : tensors) {
    if (tensor->rank() > 1) {
      return context.Error(
          "the tensors must be scalars or vectors, but one "
          "has shape ",
          ShapeToString(tensor->shape()));
    }
    shape.push_back(tensor->rank() == 0 ? Dim(1) : tensor->dim(0));
  }
  if (context.attrs<MeshgridAttrs>().indexing == "xy" && shape.size() >= 2) {
    std::swap(shape[0], shape[1]);
  }
  const TensorType grid(shape, tensors[0]->dtype());
  return Type(TupleType(std::vector<Type>(tensors.size(), grid)));
}

absl::StatusOr<Type> SplitRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<SplitAttrs>();
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, attrs.axis, data->rank()));
  const Dim& extent = data->dim(axis);
  Dims shape(data->shape().begin(), data->shape().end());
  std::vector<Type> parts;
  if (const int64_t* sections = attrs.indices_or_sections.As<int64_t>()) {
    if (*sections <= 0) {
      return context.Error("indices_or_sections=", *sections,
                           " is not positive");
    }
    if (extent.is_const() && extent.value() % *sections != 0) {
      return context.Error("the ", extent.value(), " elements on axis ",
                           attrs.axis, " cannot be divided into ", *sections,
                           " equal parts");
    }
    BATON_RETURN_IF_ERROR(ExpectFieldsInLimit(context, *sections));
    shape[axis] = FloorDiv(extent, *sections);
    const Type part = *sections == 1 ? context.arg(0)
                                     : Type(TensorType(shape, data->dtype()));
    parts.assign(*sections, part);
    return Type(TupleType(std::move(parts)));
  }
  std::vector<int64_t> indices;
  const absl::Status status = AttrTraits<std::vector<int64_t>>::FromValue(
      attrs.indices_or_sections, &indices);
  if (!status.ok()) {
    return context.Error("indices_or_sections: ", status.message());
  }
  int64_t begin = 0;
  for (const int64_t end : indices) {
    if (end <= begin) {
      return context.Error(
          "indices_or_sections=", attrs.indices_or_sections.ToString(),
          " is not positive and ascending");
    }
    shape[axis] = end - begin;
    parts.push_back(TensorType(shape, data->dtype()));
    begin = end;
  }
  if (extent.is_const() && begin >= extent.value()) {
    return context.Error(
        "indices_or_sections=", attrs.indices_or_sections.ToString(),
        " exceeds the ", extent.value(), " elements on axis ", attrs.axis);
  }
  shape[axis] = extent - Dim(begin);
  parts.push_back(TensorType(shape, data->dtype()));
  return Type(TupleType(std::move(parts)));
}

// Repetition.

absl::StatusOr<Type> RepeatRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<RepeatAttrs>();
  if (attrs.repeats < 1) {
    return context.Error("repeats=", attrs.repeats, " is not positive");
  }
  if (!attrs.axis.has_value()) return context.Error("axis must be given");
  BATON_ASSIGN_OR_RETURN(const int axis,
                         NormalizeAxis(context, *attrs.axis, data->rank()));
  Dims shape(data->shape().begin(), data->shape().end());
  shape[axis] = shape[axis] * Dim(attrs.repeats);
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> TileRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& reps = context.attrs<TileAttrs>().reps;
  for (const int64_t rep : reps) {
    if (rep < 0) {
      return context.Error("reps must not be negative, but has ", rep);
    }
  }
  const size_t rank = std::max(reps.size(), data->shape().size());
  Dims shape(rank - data->rank(), Dim(1));
  shape.insert(shape.end(), data->shape().begin(), data->shape().end());
  for (size_t i = 0; i < reps.size(); ++i) {
    Dim& dim = shape[rank - reps.size() + i];
    dim = dim.is_const() ? dim * Dim(reps[i]) : Dim::Any();
  }
  return TensorLike(context, 0, shape, data->dtype());
}

absl::StatusOr<Type> ReverseRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& axis = context.attrs<ReverseAttrs>().axis;
  if (!axis.has_value()) return context.Error("axis must be given");
  BATON_RETURN_IF_ERROR(NormalizeAxis(context, *axis, data->rank()).status());
  return context.arg(0);
}

absl::StatusOr<Type> ReverseSequenceRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  const TensorTypeNode* lengths = context.Tensor(1);
  if (data == nullptr || lengths == nullptr) return Type();
  BATON_RETURN_IF_ERROR(ExpectRank(context, 1, *lengths, 1));
  if (!lengths->dtype().is_int()) {
    return context.Error("the lengths must be integers, but are ",
                         lengths->dtype().ToString());
  }
  const auto& attrs = context.attrs<ReverseSequenceAttrs>();
  BATON_ASSIGN_OR_RETURN(
      const int batch_axis,
      NormalizeAxis(context, attrs.batch_axis, data->rank(), "batch_axis"));
  BATON_RETURN_IF_ERROR(
      NormalizeAxis(context, attrs.seq_axis, data->rank(), "seq_axis")
          .status());
  if (ProvablyDiffer(lengths->dim(0), data->dim(batch_axis))) {
    return context.Error("there are ", lengths->dim(0).value(),
                         " lengths, but ", data->dim(batch_axis).value(),
                         " sequences");
  }
  return context.arg(0);
}

absl::StatusOr<Type> SlidingWindowRel(TypeRelationContext& context) {
  const TensorTypeNode* data = context.Tensor(0);
  if (data == nullptr) return Type();
  const auto& attrs = context.attrs<SlidingWindowAttrs>();
  const auto count = static_cast<int64_t>(attrs.window_shape.size());
  if (attrs.axis < 0 || attrs.axis > data->rank() - count ||
      static_cast<int64_t>(attrs.strides.size()) != count) {
    return context.Error("axis=", attrs.axis, ", ", count,
                         " extents of the window and ", attrs.strides.size(),
                         " strides do not fit the shape ",
                         ShapeToString(data->shape()));
  }
  Dims shape(data->shape().begin(), data->shape().begin() + attrs.axis);
  for (int i = 0; i < static_cast<int>(count); ++i) {
    const int64_t window = attrs.window_shape[i];
    const int64_t stride = attrs.strides[i];
    if (window <= 0 || stride <= 0) {
      return context.Error("window_shape and strides must be positive");
    }
    shape.push_back(
        CeilDiv(data->dim(attrs.axis + i) - Dim(window - 1), stride));
  }
  for (const int64_t window : attrs.window_shape) shape.push_back(window);
  return Type(TensorType(shape, data->dtype()));
}

// Layout rules.

}  // namespace

// Concatenates the first `n` inputs. Attributes are those of concatenate.
std::optional<layouts::LayoutAndAttrs> FollowConcatenation(
    const LayoutQuery& query, size_t n) {
  const TupleTypeNode* type = query.call.arg(0)->tuple_type();
  if (n == 0 || type == nullptr || type->fields().size() != n) {
    return std::nullopt;
  }
  int64_t axis = AttrsOrDefaults<ConcatenateAttrs>(query.attrs).axis;
  const TensorTypeNode* first = type->fields()[0].As<TensorTypeNode>();
  if (first == nullptr) return std::nullopt;
  if (axis < 0) axis += first->rank();

  if (query.changed) {
    // Parts in one layout can be joined in it. Along an axis that is split,
    // that holds if the sub-axis divides each part.
    const Layout& arrived = query.new_inputs[0];
    const Layout& old = query.old_inputs[0];
    const std::optional<char> letter = layouts::LetterAt(old, axis);
    bool same = letter.has_value() && arrived.Contains(*letter);
    for (size_t i = 0; same && i < n; ++i) {
      same = query.new_inputs[i] == arrived;
      if (same && arrived.FactorOf(*letter) != old.FactorOf(*letter)) {
        const auto* part = type->fields()[i].As<TensorTypeNode>();
        same = part != nullptr && axis < part->rank() &&
               part->dim(static_cast<int>(axis)).is_const() &&
               part->dim(static_cast<int>(axis)).value() %
                       arrived.FactorOf(*letter) ==
                   0;
      }
    }
    if (same) {
      return layouts::LayoutAndAttrs{
          arrived, layouts::WithField(query.attrs, &ConcatenateAttrs::axis,
                                      arrived.IndexOf(*letter))};
    }
  }
  for (size_t i = 0; i < n; ++i) {
    const Layout& layout = query.old_inputs[i];
    if (!layout.defined()) continue;
    if (axis >= layout.ndim() ||
        !Layout::IsPrimal(layout.axis(static_cast<int>(axis)).letter)) {
      return std::nullopt;
    }
    return layouts::LayoutAndAttrs{layout, query.attrs};
  }
  return std::nullopt;
}

namespace {

std::optional<InferredLayouts> InferConcatenateLayouts(
    const LayoutQuery& query) {
  std::optional<layouts::LayoutAndAttrs> data =
      FollowConcatenation(query, query.old_inputs.size());
  if (!data.has_value()) return std::nullopt;
  InferredLayouts result{{}, {data->layout}, std::move(data->attrs)};
  result.inputs.resize(query.old_inputs.size(), data->layout);
  return result;
}

std::optional<InferredLayouts> InferTransposeLayouts(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const auto& attrs = AttrsOrDefaults<TransposeAttrs>(query.attrs);
  std::vector<int64_t> axes = attrs.axes.value_or(std::vector<int64_t>());
  if (axes.empty()) {
    for (int i = old.ndim() - 1; i >= 0; --i) axes.push_back(i);
  }
  for (int64_t& axis : axes) {
    if (axis < 0) axis += old.ndim();
  }

  const Layout* layout = &old;
  if (query.changed) {
    // The output keeps its axes in the order of the program, so the
    // transposition absorbs the change of its input.
    std::optional<std::vector<int64_t>> followed =
        layouts::FollowAxes(old, axes, query.new_inputs[0]);
    if (followed.has_value() &&
        static_cast<int>(followed->size()) == query.new_inputs[0].ndim()) {
      axes = *std::move(followed);
      layout = &query.new_inputs[0];
    }
  }
  layouts::Axes output;
  for (const int64_t axis : axes) {
    if (axis < 0 || axis >= layout->ndim()) return std::nullopt;
    const Layout::Axis& from = layout->axis(static_cast<int>(axis));
    output.push_back(from);
  }
  return layouts::IfDefined(
      {{*layout},
       {Layout::FromAxes(output)},
       layouts::WithField(query.attrs, &TransposeAttrs::axes,
                          std::move(axes))});
}

std::optional<InferredLayouts> InferSqueezeLayouts(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const auto& named = AttrsOrDefaults<SqueezeAttrs>(query.attrs).axis;
  std::vector<int64_t> axes = named.value_or(std::vector<int64_t>());
  if (!named.has_value()) {
    const absl::Span<const Dim> shape = layouts::ShapeOfArg(query, 0);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!shape[i].is_const()) return std::nullopt;
      if (shape[i].is_const(1)) axes.push_back(static_cast<int64_t>(i));
    }
  }
  const Layout* layout = &old;
  Attrs attrs = query.attrs;
  if (query.changed) {
    std::optional<std::vector<int64_t>> followed =
        layouts::FollowAxes(old, axes, query.new_inputs[0]);
    if (followed.has_value()) {
      axes = *std::move(followed);
      layout = &query.new_inputs[0];
      attrs = layouts::WithField(query.attrs, &SqueezeAttrs::axis, axes);
    }
  }
  layouts::Axes output;
  for (int i = 0; i < layout->ndim(); ++i) {
    const bool dropped =
        std::any_of(axes.begin(), axes.end(), [&](int64_t axis) {
          return (axis < 0 ? axis + layout->ndim() : axis) == i;
        });
    if (dropped) continue;
    const Layout::Axis& axis = layout->axis(i);
    output.push_back(axis);
  }
  // Nothing is left of a tensor with one element: a scalar has no layout.
  Layout output_layout = Layout::FromAxes(output);
  if (!output_layout.defined() && !output.empty()) return std::nullopt;
  return InferredLayouts{
      {*layout}, {std::move(output_layout)}, std::move(attrs)};
}

std::optional<InferredLayouts> InferSplitLayouts(const LayoutQuery& query) {
  const auto& attrs = AttrsOrDefaults<SplitAttrs>(query.attrs);
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const int64_t* sections = attrs.indices_or_sections.As<int64_t>();
  const AttrList* indices = attrs.indices_or_sections.As<AttrList>();
  if (sections == nullptr && indices == nullptr) return std::nullopt;
  const size_t num_outputs = sections != nullptr
                                 ? static_cast<size_t>(*sections)
                                 : indices->size() + 1;

  const auto result = [&](const Layout& layout, Attrs new_attrs) {
    InferredLayouts layouts{{layout}, {}, std::move(new_attrs)};
    layouts.outputs.resize(num_outputs, layout);
    return layouts;
  };
  if (!query.changed) return result(old, query.attrs);

  const Layout& arrived = query.new_inputs[0];
  const std::optional<char> letter = layouts::LetterAt(old, attrs.axis);
  if (!letter.has_value() || !arrived.Contains(*letter)) {
    return result(old, query.attrs);
  }
  SplitAttrs changed = attrs;
  changed.axis = arrived.IndexOf(*letter);
  const int64_t factor = arrived.FactorOf(*letter);
  if (factor > 1 && arrived.FactorOf(*letter) != old.FactorOf(*letter)) {
    // Cuts must fall between blocks.
    if (indices != nullptr) {
      AttrList blocks;
      for (const AttrValue& index : *indices) {
        const int64_t* position = index.As<int64_t>();
        if (position == nullptr || *position % factor != 0) {
          return result(old, query.attrs);
        }
        blocks.push_back(*position / factor);
      }
      changed.indices_or_sections = std::move(blocks);
    } else {
      const absl::Span<const Dim> shape = layouts::ShapeOfArg(query, 0);
      const Dim& extent = shape[old.IndexOf(*letter)];
      if (!extent.is_const() || extent.value() % (factor * *sections) != 0) {
        return result(old, query.attrs);
      }
    }
  }
  if (changed.axis == attrs.axis &&
      changed.indices_or_sections == attrs.indices_or_sections) {
    return result(arrived, query.attrs);
  }
  return result(arrived, Attrs::Make(std::move(changed)));
}

BATON_REGISTER_OP("expand_dims")
    .Describe("Inserts axes of extent 1.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ExpandDimsAttrs>()
    .TypeRelation(ExpandDimsRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(ReshapeOps(), true)
    .Set(RearrangingOps(), true);

BATON_REGISTER_OP("squeeze")
    .Describe("Drops axes of extent 1.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SqueezeAttrs>()
    .TypeRelation(SqueezeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferSqueezeLayouts)
    .Set(ReshapeOps(), true)
    .Set(RearrangingOps(), true);

BATON_REGISTER_OP("transpose")
    .Describe("Permutes the axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<TransposeAttrs>()
    .TypeRelation(TransposeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferTransposeLayouts)
    .Set(RearrangingOps(), true);

BATON_REGISTER_OP("layout_transform")
    .Describe("Rearranges a tensor from one data layout to another.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<LayoutTransformAttrs>()
    .TypeRelation(LayoutTransformRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("auto_scheduler_layout_transform")
    .Describe("Rearranges a tensor to a layout that a scheduler chose.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<AutoSchedulerLayoutTransformAttrs>()
    .TypeRelation(AutoSchedulerLayoutTransformRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("reshape")
    .Describe("Gives a tensor another shape of as many elements.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ReshapeAttrs>()
    .TypeRelation(ReshapeRel</*kReverse=*/false>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ReshapeOps(), true)
    .Set(RearrangingOps(), true);

BATON_REGISTER_OP("contrib_reverse_reshape")
    .Describe("reshape, with special values resolved from the last axis on.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ReshapeAttrs>()
    .TypeRelation(ReshapeRel</*kReverse=*/true>)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(ReshapeOps(), true);

BATON_REGISTER_OP("reshape_like")
    .Describe("Gives a tensor the shape, or some axes, of another.")
    .Arguments({{"data", "The input."},
                {"shape_like", "A tensor of the shape wanted."}})
    .TakesAttrs<ReshapeLikeAttrs>()
    .TypeRelation(ReshapeLikeRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("concatenate")
    .Describe("Joins tensors along an axis.")
    .Arguments({{"data", "A tuple of tensors."}})
    .TakesAttrs<ConcatenateAttrs>()
    .TypeRelation(ConcatenateRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferConcatenateLayouts)
    .Set(RearrangingOps(), true);

BATON_REGISTER_OP("stack")
    .Describe("Joins tensors along a new axis.")
    .Arguments({{"data", "A tuple of tensors."}})
    .TakesAttrs<StackAttrs>()
    .TypeRelation(StackRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(RearrangingOps(), true);

BATON_REGISTER_OP("meshgrid")
    .Describe("Coordinates of a grid, from those along its axes.")
    .Arguments({{"data", "A tuple of vectors."}})
    .TakesAttrs<MeshgridAttrs>()
    .TypeRelation(MeshgridRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("split")
    .Describe("Divides a tensor along an axis; gives a tuple.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SplitAttrs>()
    .TypeRelation(SplitRel)
    .Set(FusionPatterns(), FusionPattern::kInjective)
    .Set(LayoutInferenceRules(), InferSplitLayouts);

BATON_REGISTER_OP("repeat")
    .Describe("Repeats each element along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<RepeatAttrs>()
    .TypeRelation(RepeatRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast)
    .Set(RearrangingOps(), true);

BATON_REGISTER_OP("tile")
    .Describe("Repeats a tensor along its axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<TileAttrs>()
    .TypeRelation(TileRel)
    .Set(FusionPatterns(), FusionPattern::kBroadcast);

BATON_REGISTER_OP("reverse")
    .Describe("Reverses the order of elements along an axis.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<ReverseAttrs>()
    .TypeRelation(ReverseRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("reverse_sequence")
    .Describe("Reverses the beginnings of sequences.")
    .Arguments(
        {{"data", "The input."},
         {"seq_lengths",
          "The number of elements to reverse at the start of each sequence."}})
    .TakesAttrs<ReverseSequenceAttrs>()
    .TypeRelation(ReverseSequenceRel)
    .Set(FusionPatterns(), FusionPattern::kInjective);

BATON_REGISTER_OP("sliding_window")
    .Describe("All windows of a size, along some axes.")
    .Arguments({{"data", "The input."}})
    .TakesAttrs<SlidingWindowAttrs>()
    .TypeRelation(SlidingWindowRel)
    .Set(FusionPatterns(), FusionPattern::kOpaque);

}  // namespace

// Builders.

Expr ExpandDims(Expr data, int axis, int num_newaxis) {
  return Call(
      BATON_OP("expand_dims"), {std::move(data)},
      Attrs::Make(ExpandDimsAttrs{.axis = axis, .num_newaxis = num_newaxis}));
}

Expr Squeeze(Expr data, std::optional<std::vector<int64_t>> axis) {
  return Call(BATON_OP("squeeze"), {std::move(data)},
              Attrs::Make(SqueezeAttrs{.axis = std::move(axis)}));
}

Expr Reshape(Expr data, std::vector<int64_t> newshape) {
  return Call(BATON_OP("reshape"), {std::move(data)},
              Attrs::Make(ReshapeAttrs{.newshape = std::move(newshape)}));
}

Expr ReverseReshape(Expr data, std::vector<int64_t> newshape) {
  return Call(BATON_OP("contrib_reverse_reshape"), {std::move(data)},
              Attrs::Make(ReshapeAttrs{.newshape = std::move(newshape)}));
}

Expr ReshapeLike(Expr data, Expr shape_like, ReshapeLikeAttrs attrs) {
  return Call(BATON_OP("reshape_like"),
              {std::move(data), std::move(shape_like)},
              Attrs::Make(std::move(attrs)));
}

Expr Transpose(Expr data, std::optional<std::vector<int64_t>> axes) {
  return Call(BATON_OP("transpose"), {std::move(data)},
              Attrs::Make(TransposeAttrs{.axes = std::move(axes)}));
}

Expr LayoutTransform(Expr data, std::string src_layout,
                     std::string dst_layout) {
  return Call(
      BATON_OP("layout_transform"), {std::move(data)},
      Attrs::Make(LayoutTransformAttrs{.src_layout = std::move(src_layout),
                                       .dst_layout = std::move(dst_layout)}));
}

Expr LayoutTransform(Expr data, Attrs attrs) {
  return Call(BATON_OP("layout_transform"), {std::move(data)},
              std::move(attrs));
}

Expr Concatenate(std::vector<Expr> data, int axis) {
  return Call(BATON_OP("concatenate"), {Tuple(std::move(data))},
              Attrs::Make(ConcatenateAttrs{.axis = axis}));
}

Expr Stack(std::vector<Expr> data, int axis) {
  return Call(BATON_OP("stack"), {Tuple(std::move(data))},
              Attrs::Make(StackAttrs{.axis = axis}));
}

namespace {

Expr SplitBy(Expr data, AttrValue indices_or_sections, int axis) {
  return Call(BATON_OP("split"), {std::move(data)},
              Attrs::Make(SplitAttrs{
                  .indices_or_sections = std::move(indices_or_sections),
                  .axis = axis}));
}

}  // namespace

Expr Split(Expr data, int64_t sections, int axis) {
  return SplitBy(std::move(data), sections, axis);
}

Expr SplitAt(Expr data, std::vector<int64_t> indices, int axis) {
  return SplitBy(std::move(data),
                 AttrTraits<std::vector<int64_t>>::ToValue(indices), axis);
}

Expr Repeat(Expr data, int64_t repeats, int64_t axis) {
  return Call(BATON_OP("repeat"), {std::move(data)},
              Attrs::Make(RepeatAttrs{.repeats = repeats, .axis = axis}));
}

Expr Tile(Expr data, std::vector<int64_t> reps) {
  return Call(BATON_OP("tile"), {std::move(data)},
              Attrs::Make(TileAttrs{.reps = std::move(reps)}));
}

Expr Reverse(Expr data, int64_t axis) {
  return Call(BATON_OP("reverse"), {std::move(data)},
              Attrs::Make(ReverseAttrs{.axis = axis}));
}

}  // namespace baton::relay
