// Layout rules of operators, for passes that change layouts.
//
//   BATON_REGISTER_OP("nn.conv2d")
//       ...
//       .Set(LayoutInferenceRules(), InferConvLayouts<Conv2DAttrs>)
//       .Set(ConvertLayoutRules(),
//            ConvertLayoutRule{{"data", "kernel"}, ConvertConv2D});
//
// An inference rule propagates layouts through an operator: given the layouts
// of the arriving inputs, it returns the layouts in which the operator takes
// its inputs and produces its outputs. A conversion rule makes an operator work
// in the layouts that the user of ConvertLayout requests.
//
// This header has the rules of common kinds of operators, as templates or
// functions. A template works with any attributes that have the fields that it
// names. Namespace `layouts` has helpers for rules. A rule for only one
// operator is beside its registration.

#ifndef BATON_RELAY_OP_LAYOUT_RULES_H_
#define BATON_RELAY_OP_LAYOUT_RULES_H_

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
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/fields.h"
#include "baton/base/layout.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/window_math.h"

namespace baton::relay {

using ::baton::Layout;

// The layouts of the inputs: the arguments of a call. The fields of a tuple
// that is built in the argument list count separately.
using Layouts = absl::InlinedVector<Layout, 5>;

// The argument of an inference rule.
struct LayoutQuery {
  // The original call, for the types of its arguments.
  const CallNode& call;
  // The initial attributes, of the type that the operator declares.
  const Attrs& attrs;
  // The layouts of the inputs in the original program; undefined where unknown.
  absl::Span<const Layout> old_inputs;
  // False: the query is about the original call. True: producers may have
  // changed, and `new_inputs` are the layouts that arrive. Then in both lists
  // only the layouts of scalars are undefined.
  bool changed = false;
  absl::Span<const Layout> new_inputs;
};

// The result of an inference rule.
struct InferredLayouts {
  Layouts inputs;   // undefined: unchanged
  Layouts outputs;  // one; for a tuple result, one for each field
  Attrs attrs;      // adapted to the layouts
};

// Nullopt if the layouts are unknown, or the operator cannot work in them; then
// the call stays unchanged.
using LayoutInferenceRule =
    std::optional<InferredLayouts> (*)(const LayoutQuery& query);

// An operator without a rule takes its inputs in the original layouts; the
// layouts of its outputs are unknown.
OpProperty<LayoutInferenceRule>& LayoutInferenceRules();

// The argument of a conversion rule.
struct ConvertLayoutQuery {
  // The original call, for the types of its arguments.
  const CallNode& call;
  const Attrs& attrs;
  // The inputs after the changes so far.
  absl::Span<const Expr> inputs;
  // One for each slot of the rule; undefined where `default` was requested.
  absl::Span<const Layout> desired;
};

// The operator and attributes to call with the same arguments.
struct ConvertedCall {
  Op op;
  Attrs attrs;
};

// A conversion rule, and the operands whose layouts the user chooses.
struct ConvertLayoutRule {
  // The names of the operands that the desired layouts apply to, in order:
  // {"data", "kernel"}.
  std::vector<std::string> slots;
  absl::StatusOr<ConvertedCall> (*convert)(const ConvertLayoutQuery& query);
};

OpProperty<ConvertLayoutRule>& ConvertLayoutRules();

// Helpers for rules.
namespace layouts {

using Axes = absl::InlinedVector<Layout::Axis, 8>;

// The layout with the text `text`; undefined if `text` is malformed, which the
// type relation excludes for attributes of operators.
Layout LayoutOf(absl::string_view text);

// The layout of a vector along the channels: C.
const Layout& ChannelLayout();

// The shape of argument `i` in the original call; empty if it is not a tensor.
absl::Span<const Dim> ShapeOfArg(const LayoutQuery& query, int i);

// The extent of axis `letter`, including its sub-axes, of argument `arg`, a
// tensor in `layout`, in the original call; nullopt if it is unknown.
std::optional<int64_t> ExtentOf(const CallNode& call, int arg,
                                absl::string_view layout, char letter);

// False if a block of layout `to` is known not to divide its axis of argument
// `arg`, a tensor in layout `from`: the tensor would be padded.
bool BlocksDivide(const CallNode& call, int arg, absl::string_view from,
                  const Layout& to);

// Returns `inferred`; nullopt if one of its layouts is undefined.
std::optional<InferredLayouts> IfDefined(InferredLayouts inferred);

// One input and one output, both in `layout`; nullopt if `layout` is undefined.
std::optional<InferredLayouts> Same(const Layout& layout, const Attrs& attrs);

// True if an axis of `layout` is split.
bool HasSubAxes(const Layout& layout);

// The letter of axis `axis`, counted from the end if it is negative. Nullopt if
// it is out of range.
std::optional<char> LetterAt(const Layout& layout, int64_t axis);

// The position in layout `to` of axis `axis` of layout `from`; nullopt if `to`
// lacks the axis or splits it.
std::optional<int> FollowAxis(const Layout& from, int64_t axis,
                              const Layout& to);
// As FollowAxis, for several axes; nullopt if FollowAxis fails for one of them.
std::optional<std::vector<int64_t>> FollowAxes(const Layout& from,
                                               absl::Span<const int64_t> axes,
                                               const Layout& to);

// Truncates `inputs` to its first `n` elements and appends `filler` for each
// other input of the query.
void FillInputs(const LayoutQuery& query, size_t n, const Layout& filler,
                Layouts& inputs);

// The attributes with the field `field` set to `value`; copied only if the
// value changes.
template <typename T, typename F, typename V>
Attrs WithField(const Attrs& attrs, F T::*field, V value) {
  const T& old = AttrsOrDefaults<T>(attrs);
  if (attrs.defined() && old.*field == F(value)) return attrs;
  T changed = old;
  changed.*field = std::move(value);
  return Attrs::Make(std::move(changed));
}

// A layout, and attributes that match it.
struct LayoutAndAttrs {
  Layout layout;
  Attrs attrs;
};

// The layout of the first input, and attributes with a matching `axis`. The
// layout is the arriving one if it still contains the axis, otherwise the old
// one.
template <typename T>
LayoutAndAttrs FollowWithAxis(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (query.changed) {
    const int axis = AttrsOrDefaults<T>(query.attrs).axis;
    const std::optional<int> new_axis =
        FollowAxis(old, axis, query.new_inputs[0]);
    if (new_axis.has_value()) {
      return {query.new_inputs[0], WithField(query.attrs, &T::axis, *new_axis)};
    }
  }
  return {old, query.attrs};
}

// The axes that a reduction of a tensor of `rank` removes, non-negative and in
// order. Negative `axes` count from the end. Nullopt or an empty list means all
// axes.
std::vector<int64_t> ReducedAxes(
    const std::optional<std::vector<int64_t>>& axes, bool exclude, int rank);

// `layout`, with sub-axes of extent 1 where the tensor, which has `shape` in
// `old_layout`, is broadcast along the primal axis: NCHW16c becomes NCHW1c for
// a tensor with one channel.
Layout FitSubAxes(const Layout& layout, const Layout& old_layout,
                  absl::Span<const Dim> shape);

// True if the axes `reduced` of `from`, a layout without sub-axes, are in the
// same order in `to`, and are multiples of their sub-axes there. Then a sum
// over these axes adds the same elements in the same order in both layouts.
// Axes of extent 1 have no order. `shape` is that of the tensor in `from`.
bool KeepsOrder(const Layout& from, absl::Span<const int64_t> reduced,
                absl::Span<const Dim> shape, const Layout& to);

// The default kernel layout for a data layout.
struct DefaultKernel {
  absl::string_view data;
  absl::string_view kernel;
};

// The text of `kernel`; if `kernel` is undefined (`default`), the text of the
// default kernel layout for `data`.
absl::StatusOr<std::string> KernelFor(const Layout& data, const Layout& kernel,
                                      absl::Span<const DefaultKernel> defaults);

// The attributes of an operator whose only layout is the attribute `layout`,
// with the desired layout.
template <typename T>
absl::StatusOr<T> WithLayout(const ConvertLayoutQuery& query) {
  if (!query.desired[0].defined()) {
    return absl::InvalidArgumentError("the data layout cannot be `default`");
  }
  T attrs = AttrsOrDefaults<T>(query.attrs);
  attrs.layout = query.desired[0].ToString();
  return attrs;
}

}  // namespace layouts

// Rules that operators share.

// The rule of operators whose inputs and output have one layout, which may be
// any.
std::optional<InferredLayouts> InferElemwiseLayouts(const LayoutQuery& query);
// The rule of operators that broadcast two inputs.
std::optional<InferredLayouts> InferBroadcastLayouts(const LayoutQuery& query);

// The rule of convolutions, which take data and weight in the layouts of their
// attributes. T has data_layout, kernel_layout and out_layout: Conv2DAttrs, ...
template <typename T>
std::optional<InferredLayouts> InferConvLayouts(const LayoutQuery& query) {
  const T& attrs = AttrsOrDefaults<T>(query.attrs);
  Layout data = layouts::LayoutOf(attrs.data_layout);
  Layout output =
      attrs.out_layout.empty() ? data : layouts::LayoutOf(attrs.out_layout);
  return layouts::IfDefined(
      {{std::move(data), layouts::LayoutOf(attrs.kernel_layout)},
       {std::move(output)},
       query.attrs});
}

// The rule of operators that slide a window over the first input, in its
// layout. T has layout and out_layout: MaxPool2DAttrs, GlobalPool2DAttrs, ...
template <typename T>
std::optional<InferredLayouts> InferPoolLayouts(const LayoutQuery& query) {
  const T& attrs = AttrsOrDefaults<T>(query.attrs);
  const Layout layout = layouts::LayoutOf(attrs.layout);
  if (!attrs.out_layout.empty()) {
    // An explicit out_layout fixes both layouts.
    return layouts::IfDefined(
        {{layout}, {layouts::LayoutOf(attrs.out_layout)}, query.attrs});
  }
  Layouts inputs;
  if (query.changed) {
    // A window cannot slide along a split axis, and kernels have none over axes
    // that are apart or in another order.
    const Layout& arrived = query.new_inputs[0];
    int last = -1;
    const bool usable = std::all_of(
        layout.axes().begin(), layout.axes().end(),
        [&](const Layout::Axis& axis) {
          if (axis.letter == 'N' || Layout::ToPrimal(axis.letter) == 'C') {
            return true;
          }
          const int at = arrived.IndexOf(axis.letter);
          const bool is_next = last < 0 || at == last + 1;
          last = at;
          return at >= 0 && is_next && arrived.FactorOf(axis.letter) < 0;
        });
    if (usable) {
      layouts::FillInputs(query, 0, Layout(), inputs);
      inputs[0] = arrived;
      return InferredLayouts{
          std::move(inputs),
          {arrived},
          layouts::WithField(query.attrs, &T::layout, arrived.ToString())};
    }
  }
  if (!layout.defined()) return std::nullopt;
  layouts::FillInputs(query, 0, Layout(), inputs);
  inputs[0] = layout;
  return InferredLayouts{std::move(inputs), {layout}, query.attrs};
}

// The rule of operators that scale the spatial axes. T has layout:
// UpSamplingAttrs, UpSampling3DAttrs.
template <typename T>
std::optional<InferredLayouts> InferUpSamplingLayouts(
    const LayoutQuery& query) {
  const Layout layout =
      layouts::LayoutOf(AttrsOrDefaults<T>(query.attrs).layout);
  if (query.changed) {
    // The spatial axes must keep their positions and must not be split.
    const Layout& arrived = query.new_inputs[0];
    const auto stays = [&](char letter) {
      return arrived.IndexOf(letter) == layout.IndexOf(letter) &&
             arrived.FactorOf(letter) < 0;
    };
    if (stays('W') && stays('H') && (!arrived.Contains('D') || stays('D'))) {
      return layouts::Same(arrived, layouts::WithField(query.attrs, &T::layout,
                                                       arrived.ToString()));
    }
  }
  return layouts::Same(layout, query.attrs);
}

// As InferUpSamplingLayouts, for operators that work in any order of axes. T
// has layout: Resize1DAttrs, Resize2DAttrs.
template <typename T>
std::optional<InferredLayouts> InferResizeLayouts(const LayoutQuery& query) {
  const Layout layout =
      layouts::LayoutOf(AttrsOrDefaults<T>(query.attrs).layout);
  if (query.changed) {
    const Layout& arrived = query.new_inputs[0];
    const Layout& old = query.old_inputs[0];
    if (arrived != old && layout == old && arrived.ndim() == old.ndim()) {
      return layouts::Same(arrived, layouts::WithField(query.attrs, &T::layout,
                                                       arrived.ToString()));
    }
  }
  return layouts::Same(layout, query.attrs);
}

// The rule of operators on regions (second input) of data. T has layout:
// ROIAlignAttrs, ROIPoolAttrs.
template <typename T>
std::optional<InferredLayouts> InferRoiLayouts(const LayoutQuery& query) {
  // Each region is a row; the layout of regions never changes.
  static const Layout& kRows = *new Layout(layouts::LayoutOf("NX"));
  const Layout layout =
      layouts::LayoutOf(AttrsOrDefaults<T>(query.attrs).layout);
  return layouts::IfDefined({{layout, kRows}, {layout}, query.attrs});
}

// T has axis (optional<vector<int64_t>>), keepdims and exclude: ReduceAttrs,
// ArgReduceAttrs, VarianceAttrs.
template <typename T>
std::optional<InferredLayouts> InferReduceLayouts(const LayoutQuery& query) {
  const T& attrs = AttrsOrDefaults<T>(query.attrs);
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const std::vector<int64_t> reduced =
      layouts::ReducedAxes(attrs.axis, attrs.exclude, old.ndim());
  // The order of sums stays, and so do their last bits; and the positions that
  // argmax counts.
  const bool follow =
      query.changed && !reduced.empty() &&
      (query.new_inputs[0] == old ||
       (!layouts::HasSubAxes(old) &&
        layouts::KeepsOrder(old, reduced, layouts::ShapeOfArg(query, 0),
                            query.new_inputs[0])));
  const Layout& layout = follow ? query.new_inputs[0] : old;
  // A sub-axis is reduced with its primal axis: axis C of NCHW becomes the axes
  // C and c of NCHW8c.
  const auto is_reduced = [&](int i) {
    const int old_axis =
        layout == old ? i
                      : old.IndexOf(Layout::ToPrimal(layout.axis(i).letter));
    return std::find(reduced.begin(), reduced.end(), old_axis) != reduced.end();
  };
  std::vector<int64_t> axes;
  layouts::Axes output;
  for (int i = 0; i < layout.ndim(); ++i) {
    Layout::Axis axis = layout.axis(i);
    const bool gone = is_reduced(i);
    if (gone != attrs.exclude) axes.push_back(i);
    if (gone && !attrs.keepdims) continue;
    if (gone && axis.factor > 0) axis.factor = 1;
    output.push_back(axis);
  }
  Layout output_layout = Layout::FromAxes(output);
  if (!output_layout.defined()) return std::nullopt;
  InferredLayouts result{{}, {std::move(output_layout)}, query.attrs};
  // The mean that a variance takes has the layout of the data.
  result.inputs.push_back(layout);
  for (size_t k = 1; k < query.old_inputs.size(); ++k) {
    result.inputs.push_back(
        layouts::FitSubAxes(layout, old, layouts::ShapeOfArg(query, k)));
  }
  if (follow) {
    result.attrs = layouts::WithField(query.attrs, &T::axis, std::move(axes));
  }
  return result;
}

// The rule of operators on data, and scale and offset along its axis `axis`. T
// has axis: InstanceNormAttrs, LayerNormAttrs.
template <typename T>
std::optional<InferredLayouts> InferNormLayouts(const LayoutQuery& query) {
  layouts::LayoutAndAttrs data = layouts::FollowWithAxis<T>(query);
  return layouts::IfDefined(
      {{data.layout, layouts::ChannelLayout(), layouts::ChannelLayout()},
       {data.layout},
       std::move(data.attrs)});
}

// Converts convolutions. One whose channels are not a multiple of the blocks of
// the new layouts stays as it is. T has data_layout, kernel_layout and padding:
// Conv2DAttrs, ...
template <typename T>
absl::StatusOr<ConvertedCall> ConvertConv(
    const ConvertLayoutQuery& query, size_t num_spatial_axes,
    absl::Span<const layouts::DefaultKernel> defaults) {
  absl::StatusOr<std::string> kernel =
      layouts::KernelFor(query.desired[0], query.desired[1], defaults);
  if (!kernel.ok()) return kernel.status();
  T attrs = AttrsOrDefaults<T>(query.attrs);
  if (!layouts::BlocksDivide(query.call, 0, attrs.data_layout,
                             query.desired[0]) ||
      !layouts::BlocksDivide(query.call, 1, attrs.kernel_layout,
                             layouts::LayoutOf(*kernel))) {
    return ConvertedCall{Op(query.call.op_node()), query.attrs};
  }
  attrs.data_layout = query.desired[0].ToString();
  attrs.kernel_layout = *std::move(kernel);
  SpellOutPadding(num_spatial_axes, attrs.padding);
  return ConvertedCall{Op(query.call.op_node()), Attrs::Make(std::move(attrs))};
}

// T has layout, out_layout and possibly padding and pool_size: MaxPool2DAttrs,
// AvgPool2DAttrs, GlobalPool2DAttrs.
template <typename T>
absl::StatusOr<ConvertedCall> ConvertPool(const ConvertLayoutQuery& query) {
  absl::StatusOr<T> attrs = layouts::WithLayout<T>(query);
  if (!attrs.ok()) return attrs.status();
  attrs->out_layout = attrs->layout;
  if constexpr (requires { attrs->padding; }) {
    SpellOutPadding(attrs->pool_size.size(), attrs->padding);
  }
  return ConvertedCall{Op(query.call.op_node()),
                       Attrs::Make(*std::move(attrs))};
}

// T has layout: Resize1DAttrs, Resize2DAttrs.
template <typename T>
absl::StatusOr<ConvertedCall> ConvertResize(const ConvertLayoutQuery& query) {
  absl::StatusOr<T> attrs = layouts::WithLayout<T>(query);
  if (!attrs.ok()) return attrs.status();
  return ConvertedCall{Op(query.call.op_node()),
                       Attrs::Make(*std::move(attrs))};
}

// T has layout: ROIAlignAttrs, ROIPoolAttrs. Of the slots `data` and `rois`,
// the second must be `default`.
template <typename T>
absl::StatusOr<ConvertedCall> ConvertRoi(const ConvertLayoutQuery& query) {
  if (query.desired[1].defined()) {
    return absl::InvalidArgumentError(
        "the layout of the regions must be `default`");
  }
  absl::StatusOr<T> attrs = layouts::WithLayout<T>(query);
  if (!attrs.ok()) return attrs.status();
  if (attrs->layout != "NCHW" && attrs->layout != "NHWC") {
    return absl::InvalidArgumentError(
        absl::StrCat("the data layout ", attrs->layout,
                     " is not supported, only NCHW and NHWC"));
  }
  return ConvertedCall{Op(query.call.op_node()),
                       Attrs::Make(*std::move(attrs))};
}

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_LAYOUT_RULES_H_
