#include "baton/relay/op/layout_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/relay/op/conv_attrs.h"
#include "baton/relay/op/image_attrs.h"
#include "baton/relay/op/nn_attrs.h"
#include "baton/relay/op/pool_attrs.h"
#include "baton/relay/op/qnn_attrs.h"
#include "baton/relay/op/reduce_attrs.h"
#include "baton/relay/op/tensor_attrs.h"
#include "baton/relay/op/vision_attrs.h"

namespace baton::relay {
namespace {

using MaybeLayouts = std::optional<InferredLayouts>;

// The attributes as a T; T's defaults if there are none.
template <typename T>
const T& AttrsOf(const Attrs& attrs) {
  const T* found = attrs.As<T>();
  return found != nullptr
             ? *found
             : *static_cast<const T*>(FieldsOf<T>().default_object());
}

// Undefined if `text` is not a layout. What an operator's attributes say has
// passed its type relation.
Layout LayoutOf(absl::string_view text) {
  absl::StatusOr<Layout> layout = Layout::Parse(text);
  return layout.ok() ? *std::move(layout) : Layout();
}

// The layout of a vector along the channels.
const Layout& ChannelLayout() {
  static const Layout& kLayout = *new Layout(LayoutOf("C"));
  return kLayout;
}

absl::Span<const Dim> ShapeOfArg(const LayoutQuery& query, int i) {
  const TensorTypeNode* type = query.call.arg(i)->tensor_type();
  return type == nullptr ? absl::Span<const Dim>() : type->shape();
}

bool AllDefined(const Layouts& layouts) {
  return std::all_of(layouts.begin(), layouts.end(),
                     [](const Layout& layout) { return layout.defined(); });
}

MaybeLayouts NulloptIfUndefined(InferredLayouts layouts) {
  if (!AllDefined(layouts.inputs) || !AllDefined(layouts.outputs)) {
    return std::nullopt;
  }
  return layouts;
}

// One input, one output, both in `layout`.
MaybeLayouts Same(const Layout& layout, const Attrs& attrs) {
  if (!layout.defined()) return std::nullopt;
  return InferredLayouts{{layout}, {layout}, attrs};
}

bool HasSubAxes(const Layout& layout) {
  return std::any_of(layout.axes().begin(), layout.axes().end(),
                     [](const Layout::Axis& axis) { return axis.factor > 0; });
}

// `axis` counts from the end if it is negative. Nullopt if it is out of range.
std::optional<char> LetterAt(const Layout& layout, int64_t axis) {
  if (axis < 0) axis += layout.ndim();
  if (axis < 0 || axis >= layout.ndim()) return std::nullopt;
  return layout.axis(static_cast<int>(axis)).letter;
}

// Where axis `axis` of layout `from` is in layout `to`; nullopt if it is not
// there in one piece.
std::optional<int> FollowAxis(const Layout& from, int64_t axis,
                              const Layout& to) {
  const std::optional<char> letter = LetterAt(from, axis);
  if (!letter.has_value()) return std::nullopt;
  const int result = to.IndexOf(*letter);
  if (result < 0 || to.FactorOf(*letter) != from.FactorOf(*letter)) {
    return std::nullopt;
  }
  return result;
}

// The same for several axes; nullopt if one of them is lost.
std::optional<std::vector<int64_t>> FollowAxes(const Layout& from,
                                               absl::Span<const int64_t> axes,
                                               const Layout& to) {
  std::vector<int64_t> result;
  result.reserve(axes.size());
  for (const int64_t axis : axes) {
    const std::optional<int> followed = FollowAxis(from, axis, to);
    if (!followed.has_value()) return std::nullopt;
    result.push_back(*followed);
  }
  return result;
}

// Copies the attributes only if the field really changes.
template <typename T, typename F, typename V>
Attrs WithField(const Attrs& attrs, F T::*field, V value) {
  const T& old = AttrsOf<T>(attrs);
  if (attrs.defined() && old.*field == F(value)) return attrs;
  T changed = old;
  changed.*field = std::move(value);
  return Attrs::Make(std::move(changed));
}

struct Followed {
  Layout layout;
  Attrs attrs;
};

// The layout of the first input, and attributes whose `axis` fits it: the
// layout that arrives, if the axis survives in it, or else the old one.
template <typename T>
Followed FollowWithAxis(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (query.changed) {
    const int axis = AttrsOf<T>(query.attrs).axis;
    const std::optional<int> new_axis =
        FollowAxis(old, axis, query.new_inputs[0]);
    if (new_axis.has_value()) {
      return {query.new_inputs[0], WithField(query.attrs, &T::axis, *new_axis)};
    }
  }
  return {old, query.attrs};
}

// Broadcasting.

// A value for each letter, at first zero.
template <typename V>
class LetterMap {
 public:
  V& operator[](char letter) {
    return values_[static_cast<unsigned char>(letter) % values_.size()];
  }

 private:
  std::array<V, 128> values_{};
};

// True if one layout becomes the other by renaming its axes.
bool Isomorphic(const Layout& a, const Layout& b) {
  if (a.ndim() != b.ndim()) return false;
  LetterMap<char> to;
  LetterMap<char> back;
  for (int i = 0; i < a.ndim(); ++i) {
    const char x = a.axis(i).letter;
    const char y = b.axis(i).letter;
    if (Layout::IsPrimal(x) != Layout::IsPrimal(y)) return false;
    if (to[x] == 0) to[x] = y;
    if (back[y] == 0) back[y] = x;
    if (to[x] != y || back[y] != x) return false;
    if (!Layout::IsPrimal(x) && a.FactorOf(x) != b.FactorOf(y)) return false;
  }
  return true;
}

// What `layout` becomes if it is changed as `from` was changed to `to`, the
// axes of `layout` being matched with the last axes of `from`. The axes of
// `to` that `layout` does not have keep their letters where those are free.
std::optional<Layout> TransformLike(const Layout& layout, const Layout& from,
                                    const Layout& to) {
  if (layout == from) return to;
  const int offset = from.ndim() - layout.ndim();
  if (offset < 0) return std::nullopt;
  const Layout tail = from.SubLayout(offset, layout.ndim());
  for (int i = 0; i < offset; ++i) {
    const char letter = from.axis(i).letter;
    if (tail.Contains(Layout::ToPrimal(letter)) ||
        tail.Contains(Layout::ToSub(letter))) {
      return std::nullopt;
    }
  }
  if (!Isomorphic(tail, layout)) return std::nullopt;
  if (layout.ndim() == 0) return layout;

  LetterMap<char> renamed;  // from primal letters of `from` to new ones
  LetterMap<bool> used;
  for (int i = 0; i < layout.ndim(); ++i) {
    const char letter = Layout::ToPrimal(layout.axis(i).letter);
    renamed[Layout::ToPrimal(tail.axis(i).letter)] = letter;
    used[letter] = true;
  }
  for (int i = from.ndim() - 1; i >= 0; --i) {
    const char letter = Layout::ToPrimal(from.axis(i).letter);
    if (renamed[letter] != 0) continue;
    char free = letter;
    if (used[free]) {
      free = 'A';
      while (free <= 'Z' && used[free]) ++free;
      if (free > 'Z') return std::nullopt;
    }
    renamed[letter] = free;
    used[free] = true;
  }

  std::string text;
  for (const Layout::Axis& axis : to.axes()) {
    const char letter = renamed[Layout::ToPrimal(axis.letter)];
    if (letter == 0) return std::nullopt;
    if (axis.factor > 0) absl::StrAppend(&text, axis.factor);
    text.push_back(Layout::IsPrimal(axis.letter) ? letter
                                                 : Layout::ToSub(letter));
  }
  Layout result = LayoutOf(text);
  if (!result.defined()) return std::nullopt;
  return result;
}

// `layout`, with sub-axes of extent 1 where the tensor, which has `shape` in
// `old_layout`, is broadcast along the primal axis: of NCHW16c and a tensor
// with one channel comes NCHW1c.
Layout FitSubAxes(const Layout& layout, const Layout& old_layout,
                  absl::Span<const Dim> shape) {
  if (!HasSubAxes(layout)) return layout;
  std::string text;
  for (const Layout::Axis& axis : layout.axes()) {
    if (axis.factor > 0) {
      const int old_axis = old_layout.IndexOf(Layout::ToPrimal(axis.letter));
      const bool is_one =
          old_axis < 0 ||
          (old_axis < static_cast<int>(shape.size()) &&
           shape[old_axis].is_const(1) && !old_layout.Contains(axis.letter));
      absl::StrAppend(&text, is_one ? 1 : axis.factor);
    }
    text.push_back(axis.letter);
  }
  return LayoutOf(text);
}

// The layouts of the first two inputs and of the output.
struct BroadcastLayouts {
  Layout lhs;
  Layout rhs;
  Layout output;
};

std::optional<BroadcastLayouts> Broadcast(const LayoutQuery& query) {
  const absl::Span<const Dim> shapes[2] = {ShapeOfArg(query, 0),
                                           ShapeOfArg(query, 1)};
  Layout layouts[2] = {query.old_inputs[0], query.old_inputs[1]};
  const int large = shapes[0].size() >= shapes[1].size() ? 0 : 1;
  if (!layouts[0].defined() && !layouts[1].defined()) return std::nullopt;
  if (!layouts[1 - large].defined()) {
    const int rank = static_cast<int>(shapes[1 - large].size());
    layouts[1 - large] = layouts[large].SubLayout(
        static_cast<int>(shapes[large].size()) - rank, rank);
  } else if (!layouts[large].defined()) {
    // The smaller operand does not tell about the axes that it lacks.
    if (shapes[0].size() != shapes[1].size()) return std::nullopt;
    layouts[large] = layouts[1 - large];
  }
  if (!query.changed) {
    return BroadcastLayouts{layouts[0], layouts[1], layouts[large]};
  }

  // Change the smaller operand as the larger one was changed.
  const absl::Span<const Layout> arrived = query.new_inputs;
  const int leader =
      arrived[0].ndim_primal() >= arrived[1].ndim_primal() ? 0 : 1;
  const int follower = 1 - leader;
  const std::optional<Layout> wanted =
      TransformLike(layouts[follower], layouts[leader], arrived[leader]);
  if (!wanted.has_value()) return std::nullopt;
  Layout output = arrived[large];
  layouts[follower] = FitSubAxes(*wanted, layouts[follower], shapes[follower]);
  layouts[leader] = arrived[leader];
  return BroadcastLayouts{std::move(layouts[0]), std::move(layouts[1]),
                          std::move(output)};
}

// The slots after the first `n` get `filler`.
void FillInputs(const LayoutQuery& query, size_t n, const Layout& filler,
                Layouts& inputs) {
  inputs.resize(n);
  inputs.resize(query.old_inputs.size(), filler);
}

// Concatenates the first `n` inputs. Attributes are those of concatenate.
std::optional<Followed> FollowConcatenation(const LayoutQuery& query,
                                            size_t n) {
  const TupleTypeNode* type = query.call.arg(0)->tuple_type();
  if (n == 0 || type == nullptr || type->fields().size() != n) {
    return std::nullopt;
  }
  int64_t axis = AttrsOf<ConcatenateAttrs>(query.attrs).axis;
  const TensorTypeNode* first = type->fields()[0].As<TensorTypeNode>();
  if (first == nullptr) return std::nullopt;
  if (axis < 0) axis += first->rank();

  if (query.changed) {
    // Parts in one layout can be joined in it. Along an axis that is split,
    // that holds if the sub-axis divides each part.
    const Layout& arrived = query.new_inputs[0];
    const Layout& old = query.old_inputs[0];
    const std::optional<char> letter = LetterAt(old, axis);
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
      return Followed{arrived, WithField(query.attrs, &ConcatenateAttrs::axis,
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
    return Followed{layout, query.attrs};
  }
  return std::nullopt;
}

// The axes that a reduction removes, not negative and in order.
template <typename T>
std::vector<int64_t> ReducedAxes(const T& attrs, int rank) {
  std::vector<int64_t> named;
  for (const int64_t axis : attrs.axis.value_or(std::vector<int64_t>())) {
    named.push_back(axis < 0 ? axis + rank : axis);
  }
  std::vector<int64_t> result;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool is_named =
        std::find(named.begin(), named.end(), axis) != named.end();
    if (named.empty() || is_named != attrs.exclude) result.push_back(axis);
  }
  return result;
}

// Convolutions and pooling.

// Padding for both ends of each of `num_axes` axes: all begins, then all ends.
void SpellOutPadding(size_t num_axes, Dims& padding) {
  if (padding.size() == 1) {
    padding.assign(2 * num_axes, Dim(padding[0]));
  } else if (padding.size() == num_axes) {
    for (size_t i = 0; i < num_axes; ++i) padding.push_back(Dim(padding[i]));
  }
}

// The extent of axis `letter` of an argument in the unchanged call.
std::optional<int64_t> ExtentOf(const CallNode& call, int arg,
                                absl::string_view layout, char letter) {
  const TensorTypeNode* type = call.arg(arg)->tensor_type();
  const int axis = LayoutOf(layout).IndexOf(letter);
  if (type == nullptr || axis < 0 || axis >= type->rank() ||
      !type->dim(axis).is_const()) {
    return std::nullopt;
  }
  return type->dim(axis).value();
}

bool IsDepthwise(const CallNode& call, const Conv2DAttrs& attrs) {
  return ExtentOf(call, 0, attrs.data_layout, 'C') == attrs.groups &&
         ExtentOf(call, 1, attrs.kernel_layout, 'O') == attrs.groups;
}

struct DefaultKernel {
  absl::string_view data;
  absl::string_view kernel;
};

// The kernel layout that goes with a data layout, if `default` is asked for.
absl::StatusOr<std::string> KernelFor(
    const Layout& data, const Layout& kernel,
    absl::Span<const DefaultKernel> defaults) {
  if (!data.defined()) {
    return absl::InvalidArgumentError("the data layout cannot be `default`");
  }
  if (kernel.defined()) return kernel.ToString();
  for (const DefaultKernel& entry : defaults) {
    if (data.ToString() == entry.data) return std::string(entry.kernel);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no default kernel layout for the data layout ", data.ToString(),
      ", only for ",
      absl::StrJoin(defaults, ", ",
                    [](std::string* out, const DefaultKernel& entry) {
                      absl::StrAppend(out, entry.data);
                    }),
      "; name the kernel layout"));
}

// A convolution by its new layouts.
template <typename T>
absl::StatusOr<ConvertedCall> ConvertConv(
    const ConvertLayoutQuery& query, size_t num_spatial_axes,
    absl::Span<const DefaultKernel> defaults) {
  absl::StatusOr<std::string> kernel =
      KernelFor(query.desired[0], query.desired[1], defaults);
  if (!kernel.ok()) return kernel.status();
  T attrs = AttrsOf<T>(query.attrs);
  attrs.data_layout = query.desired[0].ToString();
  attrs.kernel_layout = *std::move(kernel);
  SpellOutPadding(num_spatial_axes, attrs.padding);
  return ConvertedCall{Op(query.call.op_node()), Attrs::Make(std::move(attrs))};
}

// The default kernel layouts of nn.conv2d and qnn.conv2d.
std::vector<DefaultKernel> Conv2DKernels(const ConvertLayoutQuery& query,
                                         bool with_hwnc) {
  const bool depthwise =
      IsDepthwise(query.call, AttrsOf<Conv2DAttrs>(query.attrs));
  std::vector<DefaultKernel> kernels = {{"NCHW", "OIHW"},
                                        {"NHWC", depthwise ? "HWOI" : "HWIO"}};
  if (with_hwnc) kernels.push_back({"HWNC", "HWOI"});
  return kernels;
}

// True for NCHW<n>c, whatever may follow.
bool IsTiledNCHW(const Layout& layout) {
  return layout.ndim() >= 5 && layout.SubLayout(0, 4).ToString() == "NCHW" &&
         layout.axis(4).letter == 'c';
}

// An operator with one layout, in the attribute `layout`.
template <typename T>
absl::StatusOr<T> WithLayout(const ConvertLayoutQuery& query) {
  if (!query.desired[0].defined()) {
    return absl::InvalidArgumentError("the data layout cannot be `default`");
  }
  T attrs = AttrsOf<T>(query.attrs);
  attrs.layout = query.desired[0].ToString();
  return attrs;
}

}  // namespace

OpAttrMap<LayoutInferenceRule>& LayoutInferenceRules() {
  static auto* const kRules = new OpAttrMap<LayoutInferenceRule>;
  return *kRules;
}

OpAttrMap<ConvertLayoutRule>& ConvertLayoutRules() {
  static auto* const kRules = new OpAttrMap<ConvertLayoutRule>;
  return *kRules;
}

MaybeLayouts InferElemwiseLayouts(const LayoutQuery& query) {
  Layout layout;
  if (query.changed) {
    layout = query.new_inputs[0];
  } else {
    for (const Layout& old : query.old_inputs) {
      if (!old.defined()) continue;
      layout = old;
      break;
    }
  }
  if (!layout.defined()) return std::nullopt;
  InferredLayouts result{{}, {}, query.attrs};
  result.inputs.resize(query.old_inputs.size(), layout);
  const TupleTypeNode* results = query.call.tuple_type();
  result.outputs.resize(results == nullptr ? 1 : results->fields().size(),
                        layout);
  // An input of another rank, such as the scalar that lends its element type
  // to cast_like, stays as it is.
  if (query.call.num_args() == static_cast<int>(result.inputs.size())) {
    const size_t rank = ShapeOfArg(query, 0).size();
    for (int i = 1; i < query.call.num_args(); ++i) {
      if (ShapeOfArg(query, i).size() != rank) result.inputs[i] = Layout();
    }
  }
  return result;
}

MaybeLayouts InferBroadcastLayouts(const LayoutQuery& query) {
  std::optional<BroadcastLayouts> layouts = Broadcast(query);
  if (!layouts.has_value()) return std::nullopt;
  return InferredLayouts{{std::move(layouts->lhs), std::move(layouts->rhs)},
                         {std::move(layouts->output)},
                         query.attrs};
}

template <typename T>
MaybeLayouts InferConvLayouts(const LayoutQuery& query) {
  const T& attrs = AttrsOf<T>(query.attrs);
  Layout data = LayoutOf(attrs.data_layout);
  Layout output = attrs.out_layout.empty() ? data : LayoutOf(attrs.out_layout);
  return NulloptIfUndefined({{std::move(data), LayoutOf(attrs.kernel_layout)},
                             {std::move(output)},
                             query.attrs});
}

template MaybeLayouts InferConvLayouts<Conv1DAttrs>(const LayoutQuery&);
template MaybeLayouts InferConvLayouts<Conv2DAttrs>(const LayoutQuery&);
template MaybeLayouts InferConvLayouts<Conv3DAttrs>(const LayoutQuery&);
template MaybeLayouts InferConvLayouts<Conv1DTransposeAttrs>(
    const LayoutQuery&);
template MaybeLayouts InferConvLayouts<Conv2DTransposeAttrs>(
    const LayoutQuery&);
template MaybeLayouts InferConvLayouts<Conv3DTransposeAttrs>(
    const LayoutQuery&);
template MaybeLayouts InferConvLayouts<Conv2DWinogradAttrs>(const LayoutQuery&);
template MaybeLayouts InferConvLayouts<Conv3DWinogradAttrs>(const LayoutQuery&);

MaybeLayouts InferDeformableConv2DLayouts(const LayoutQuery& query) {
  const auto& attrs = AttrsOf<DeformableConv2DAttrs>(query.attrs);
  const Layout data = LayoutOf(attrs.data_layout);
  return NulloptIfUndefined(
      {{data, data, LayoutOf(attrs.kernel_layout)},
       {attrs.out_layout.empty() ? data : LayoutOf(attrs.out_layout)},
       query.attrs});
}

MaybeLayouts InferBinaryConv2DLayouts(const LayoutQuery& query) {
  const auto& attrs = AttrsOf<BinaryConv2DAttrs>(query.attrs);
  const Layout data = LayoutOf(attrs.data_layout);
  return NulloptIfUndefined(
      {{data, LayoutOf(attrs.kernel_layout)}, {data}, query.attrs});
}

MaybeLayouts InferDilation2DLayouts(const LayoutQuery& query) {
  const auto& attrs = AttrsOf<Dilation2DAttrs>(query.attrs);
  const Layout data = LayoutOf(attrs.data_layout);
  return NulloptIfUndefined(
      {{data, LayoutOf(attrs.kernel_layout)}, {data}, query.attrs});
}

MaybeLayouts InferCorrelationLayouts(const LayoutQuery& query) {
  const Layout layout = LayoutOf(AttrsOf<CorrelationAttrs>(query.attrs).layout);
  return NulloptIfUndefined({{layout, layout}, {layout}, query.attrs});
}

template <typename T>
MaybeLayouts InferPoolLayouts(const LayoutQuery& query) {
  const T& attrs = AttrsOf<T>(query.attrs);
  const Layout layout = LayoutOf(attrs.layout);
  if (!attrs.out_layout.empty()) {
    // Stated by the user, who is followed.
    return NulloptIfUndefined(
        {{layout}, {LayoutOf(attrs.out_layout)}, query.attrs});
  }
  Layouts inputs;
  if (query.changed) {
    // A window cannot slide along an axis that is split.
    const Layout& arrived = query.new_inputs[0];
    const bool usable = std::all_of(
        layout.axes().begin(), layout.axes().end(),
        [&](const Layout::Axis& axis) {
          return axis.letter == 'N' || Layout::ToPrimal(axis.letter) == 'C' ||
                 (arrived.Contains(axis.letter) &&
                  arrived.FactorOf(axis.letter) < 0);
        });
    if (usable) {
      FillInputs(query, 0, Layout(), inputs);
      inputs[0] = arrived;
      return InferredLayouts{
          std::move(inputs),
          {arrived},
          WithField(query.attrs, &T::layout, arrived.ToString())};
    }
  }
  if (!layout.defined()) return std::nullopt;
  FillInputs(query, 0, Layout(), inputs);
  inputs[0] = layout;
  return InferredLayouts{std::move(inputs), {layout}, query.attrs};
}

template MaybeLayouts InferPoolLayouts<MaxPool1DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<MaxPool2DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<MaxPool3DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<AvgPool1DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<AvgPool2DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<AvgPool3DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<GlobalPool2DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<AdaptivePool1DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<AdaptivePool2DAttrs>(const LayoutQuery&);
template MaybeLayouts InferPoolLayouts<AdaptivePool3DAttrs>(const LayoutQuery&);

template <typename T>
MaybeLayouts InferUpSamplingLayouts(const LayoutQuery& query) {
  const Layout layout = LayoutOf(AttrsOf<T>(query.attrs).layout);
  if (query.changed) {
    // Spatial axes stay where they are, whole.
    const Layout& arrived = query.new_inputs[0];
    const auto stays = [&](char letter) {
      return arrived.IndexOf(letter) == layout.IndexOf(letter) &&
             arrived.FactorOf(letter) < 0;
    };
    if (stays('W') && stays('H') && (!arrived.Contains('D') || stays('D'))) {
      return Same(arrived,
                  WithField(query.attrs, &T::layout, arrived.ToString()));
    }
  }
  return Same(layout, query.attrs);
}

template MaybeLayouts InferUpSamplingLayouts<UpSamplingAttrs>(
    const LayoutQuery&);
template MaybeLayouts InferUpSamplingLayouts<UpSampling3DAttrs>(
    const LayoutQuery&);

template <typename T>
MaybeLayouts InferResizeLayouts(const LayoutQuery& query) {
  const Layout layout = LayoutOf(AttrsOf<T>(query.attrs).layout);
  if (query.changed) {
    const Layout& arrived = query.new_inputs[0];
    const Layout& old = query.old_inputs[0];
    if (arrived != old && layout == old && arrived.ndim() == old.ndim()) {
      return Same(arrived,
                  WithField(query.attrs, &T::layout, arrived.ToString()));
    }
  }
  return Same(layout, query.attrs);
}

template MaybeLayouts InferResizeLayouts<Resize1DAttrs>(const LayoutQuery&);
template MaybeLayouts InferResizeLayouts<Resize2DAttrs>(const LayoutQuery&);

template <typename T>
MaybeLayouts InferRoiLayouts(const LayoutQuery& query) {
  // The regions are one row each, in no layout that could change.
  static const Layout& kRows = *new Layout(LayoutOf("NX"));
  const Layout layout = LayoutOf(AttrsOf<T>(query.attrs).layout);
  return NulloptIfUndefined({{layout, kRows}, {layout}, query.attrs});
}

template MaybeLayouts InferRoiLayouts<ROIAlignAttrs>(const LayoutQuery&);
template MaybeLayouts InferRoiLayouts<ROIPoolAttrs>(const LayoutQuery&);

template <typename T>
MaybeLayouts InferReduceLayouts(const LayoutQuery& query) {
  const T& attrs = AttrsOf<T>(query.attrs);
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const std::vector<int64_t> reduced = ReducedAxes(attrs, old.ndim());
  const bool follow = query.changed && !reduced.empty() &&
                      (query.new_inputs[0] == old || !HasSubAxes(old));
  const Layout& layout = follow ? query.new_inputs[0] : old;
  // A sub-axis is reduced with its primal axis: of axis C of NCHW come the
  // axes C and c of NCHW8c.
  const auto is_reduced = [&](int i) {
    const int old_axis =
        layout == old ? i
                      : old.IndexOf(Layout::ToPrimal(layout.axis(i).letter));
    return std::find(reduced.begin(), reduced.end(), old_axis) != reduced.end();
  };
  std::vector<int64_t> axes;
  std::string output;
  for (int i = 0; i < layout.ndim(); ++i) {
    const Layout::Axis& axis = layout.axis(i);
    const bool gone = is_reduced(i);
    if (gone != attrs.exclude) axes.push_back(i);
    if (gone && !attrs.keepdims) continue;
    if (axis.factor > 0) absl::StrAppend(&output, gone ? 1 : axis.factor);
    output.push_back(axis.letter);
  }
  Layout output_layout = LayoutOf(output);
  if (!output_layout.defined()) return std::nullopt;
  InferredLayouts result{{}, {std::move(output_layout)}, query.attrs};
  // The mean that goes into a variance has the layout of the data.
  result.inputs.resize(query.old_inputs.size(), layout);
  if (follow) result.attrs = WithField(query.attrs, &T::axis, std::move(axes));
  return result;
}

template MaybeLayouts InferReduceLayouts<ReduceAttrs>(const LayoutQuery&);
template MaybeLayouts InferReduceLayouts<ArgReduceAttrs>(const LayoutQuery&);
template MaybeLayouts InferReduceLayouts<VarianceAttrs>(const LayoutQuery&);

template <typename T>
MaybeLayouts InferNormLayouts(const LayoutQuery& query) {
  Followed data = FollowWithAxis<T>(query);
  return NulloptIfUndefined({{data.layout, ChannelLayout(), ChannelLayout()},
                             {data.layout},
                             std::move(data.attrs)});
}

template MaybeLayouts InferNormLayouts<InstanceNormAttrs>(const LayoutQuery&);
template MaybeLayouts InferNormLayouts<LayerNormAttrs>(const LayoutQuery&);

MaybeLayouts InferBatchNormLayouts(const LayoutQuery& query) {
  if (!query.old_inputs[0].defined()) return std::nullopt;
  Followed data = FollowWithAxis<BatchNormAttrs>(query);
  const Layout& c = ChannelLayout();
  return InferredLayouts{
      {data.layout, c, c, c, c}, {data.layout, c, c}, std::move(data.attrs)};
}

MaybeLayouts InferL2NormalizeLayouts(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (query.changed) {
    std::optional<std::vector<int64_t>> axes = FollowAxes(
        old, AttrsOf<L2NormalizeAttrs>(query.attrs).axis, query.new_inputs[0]);
    if (axes.has_value()) {
      return Same(
          query.new_inputs[0],
          WithField(query.attrs, &L2NormalizeAttrs::axis, *std::move(axes)));
    }
  }
  return Same(old, query.attrs);
}

MaybeLayouts InferPReluLayouts(const LayoutQuery& query) {
  const Layout& data = query.old_inputs[0];
  return NulloptIfUndefined({{data, ChannelLayout()}, {data}, query.attrs});
}

MaybeLayouts InferDenseLayouts(const LayoutQuery& query) {
  static const Layout& kLayout = *new Layout(LayoutOf("NC"));
  return InferredLayouts{{kLayout, kLayout}, {kLayout}, query.attrs};
}

MaybeLayouts InferDensePackLayouts(const LayoutQuery& query) {
  const Layout data = LayoutOf("NC");
  return NulloptIfUndefined(
      {{data, LayoutOf(AttrsOf<DensePackAttrs>(query.attrs).weight_layout)},
       {data},
       query.attrs});
}

MaybeLayouts InferPadLayouts(const LayoutQuery& query) {
  const auto& attrs = AttrsOf<PadAttrs>(query.attrs);
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  // The value that is padded with is a scalar.
  InferredLayouts result{{old, Layout()}, {old}, query.attrs};
  if (!query.changed || query.new_inputs[0] == old) return result;

  const Layout& arrived = query.new_inputs[0];
  std::vector<std::vector<int64_t>> pad_width;
  for (const Layout::Axis& axis : arrived.axes()) {
    const int old_axis = old.IndexOf(Layout::ToPrimal(axis.letter));
    if (old_axis < 0 || old_axis >= static_cast<int>(attrs.pad_width.size())) {
      return result;
    }
    const std::vector<int64_t>& width = attrs.pad_width[old_axis];
    // An axis that is split cannot be padded.
    if (axis.factor > 0 &&
        std::any_of(width.begin(), width.end(),
                    [](int64_t count) { return count != 0; })) {
      return result;
    }
    pad_width.push_back(width);
  }
  result.inputs[0] = arrived;
  result.outputs[0] = arrived;
  result.attrs =
      WithField(query.attrs, &PadAttrs::pad_width, std::move(pad_width));
  return result;
}

MaybeLayouts InferConcatenateLayouts(const LayoutQuery& query) {
  std::optional<Followed> data =
      FollowConcatenation(query, query.old_inputs.size());
  if (!data.has_value()) return std::nullopt;
  InferredLayouts result{{}, {data->layout}, std::move(data->attrs)};
  result.inputs.resize(query.old_inputs.size(), data->layout);
  return result;
}

MaybeLayouts InferTransposeLayouts(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const auto& attrs = AttrsOf<TransposeAttrs>(query.attrs);
  std::vector<int64_t> axes = attrs.axes.value_or(std::vector<int64_t>());
  if (axes.empty()) {
    for (int i = old.ndim() - 1; i >= 0; --i) axes.push_back(i);
  }
  for (int64_t& axis : axes) {
    if (axis < 0) axis += old.ndim();
  }

  const Layout* layout = &old;
  if (query.changed) {
    // The output keeps its axes in the order that the program asks for, so the
    // transposition absorbs the change of its input.
    std::optional<std::vector<int64_t>> followed =
        FollowAxes(old, axes, query.new_inputs[0]);
    if (followed.has_value() &&
        static_cast<int>(followed->size()) == query.new_inputs[0].ndim()) {
      axes = *std::move(followed);
      layout = &query.new_inputs[0];
    }
  }
  std::string output;
  for (const int64_t axis : axes) {
    if (axis < 0 || axis >= layout->ndim()) return std::nullopt;
    const Layout::Axis& from = layout->axis(static_cast<int>(axis));
    if (from.factor > 0) absl::StrAppend(&output, from.factor);
    output.push_back(from.letter);
  }
  return NulloptIfUndefined(
      {{*layout},
       {LayoutOf(output)},
       WithField(query.attrs, &TransposeAttrs::axes, std::move(axes))});
}

MaybeLayouts InferSqueezeLayouts(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const auto& named = AttrsOf<SqueezeAttrs>(query.attrs).axis;
  std::vector<int64_t> axes = named.value_or(std::vector<int64_t>());
  if (!named.has_value()) {
    const absl::Span<const Dim> shape = ShapeOfArg(query, 0);
    for (size_t i = 0; i < shape.size(); ++i) {
      if (!shape[i].is_const()) return std::nullopt;
      if (shape[i].is_const(1)) axes.push_back(static_cast<int64_t>(i));
    }
  }
  const Layout* layout = &old;
  Attrs attrs = query.attrs;
  if (query.changed) {
    std::optional<std::vector<int64_t>> followed =
        FollowAxes(old, axes, query.new_inputs[0]);
    if (followed.has_value()) {
      axes = *std::move(followed);
      layout = &query.new_inputs[0];
      attrs = WithField(query.attrs, &SqueezeAttrs::axis, axes);
    }
  }
  std::string output;
  for (int i = 0; i < layout->ndim(); ++i) {
    const bool dropped =
        std::any_of(axes.begin(), axes.end(), [&](int64_t axis) {
          return (axis < 0 ? axis + layout->ndim() : axis) == i;
        });
    if (dropped) continue;
    const Layout::Axis& axis = layout->axis(i);
    if (axis.factor > 0) absl::StrAppend(&output, axis.factor);
    output.push_back(axis.letter);
  }
  // Nothing is left of a tensor with one element: a scalar has no layout.
  Layout output_layout = LayoutOf(output);
  if (!output_layout.defined() && !output.empty()) return std::nullopt;
  return InferredLayouts{
      {*layout}, {std::move(output_layout)}, std::move(attrs)};
}

MaybeLayouts InferStridedSliceLayouts(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!query.changed || query.new_inputs[0] == old) {
    return Same(old, query.attrs);
  }
  const Layout& arrived = query.new_inputs[0];
  const auto& attrs = AttrsOf<StridedSliceAttrs>(query.attrs);
  if (!attrs.begin.has_value() || !attrs.end.has_value()) return std::nullopt;
  const bool sizes = attrs.slice_mode == "size";
  const absl::Span<const Dim> shape = ShapeOfArg(query, 0);

  // What is cut out along each axis that is named; the leading ones if none is.
  struct Slice {
    int axis;
    int64_t begin;
    int64_t end;  // or the size
    int64_t stride;
  };
  const std::vector<int64_t> strides =
      attrs.strides.value_or(std::vector<int64_t>());
  const size_t num_slices =
      attrs.axes.has_value()
          ? attrs.axes->size()
          : std::max({attrs.begin->size(), attrs.end->size(), strides.size()});
  std::vector<Slice> slices;
  for (size_t i = 0; i < num_slices; ++i) {
    const int64_t axis =
        attrs.axes.has_value() ? (*attrs.axes)[i] : static_cast<int64_t>(i);
    Slice slice;
    slice.axis = static_cast<int>(axis < 0 ? axis + old.ndim() : axis);
    if (slice.axis < 0 || slice.axis >= static_cast<int>(shape.size()) ||
        slice.axis >= old.ndim()) {
      return std::nullopt;
    }
    slice.stride = !sizes && i < strides.size() ? strides[i] : 1;
    const bool has_begin = i < attrs.begin->size();
    const bool has_end = i < attrs.end->size();
    // Left out, they stand for the whole axis; from its end, if backwards.
    if (!(has_begin && has_end) && slice.stride < 0) return std::nullopt;
    slice.begin = has_begin ? (*attrs.begin)[i] : 0;
    if (has_end) {
      slice.end = (*attrs.end)[i];
    } else if (sizes) {
      slice.end = -1;
    } else if (shape[slice.axis].is_const()) {
      slice.end = shape[slice.axis].value();
    } else {
      return std::nullopt;
    }
    slices.push_back(slice);
  }

  const bool splits = arrived.SubLayout(0, old.ndim()) == old;
  if (old.SubLayout(0, arrived.ndim()) == arrived) {
    return Same(old, query.attrs);
  }
  if (HasSubAxes(old)) return std::nullopt;
  StridedSliceAttrs result = attrs;
  if (!splits) {
    // Axes change places.
    if (HasSubAxes(arrived) || arrived.ndim() != old.ndim()) {
      return std::nullopt;
    }
    result.begin->clear();
    result.end->clear();
    result.strides.emplace();
    const auto add = [&](int64_t begin, int64_t end, int64_t stride) {
      result.begin->push_back(begin);
      result.end->push_back(end);
      result.strides->push_back(stride);
    };
    if (attrs.axes.has_value()) {
      result.axes->clear();
      for (const Slice& slice : slices) {
        const int axis = arrived.IndexOf(old.axis(slice.axis).letter);
        if (axis < 0) return std::nullopt;
        result.axes->push_back(axis);
        add(slice.begin, slice.end, slice.stride);
      }
    } else {
      for (const Layout::Axis& axis : arrived.axes()) {
        const int old_axis = old.IndexOf(axis.letter);
        if (old_axis < 0) return std::nullopt;
        const auto slice = std::find_if(
            slices.begin(), slices.end(),
            [&](const Slice& other) { return other.axis == old_axis; });
        if (slice != slices.end()) {
          add(slice->begin, slice->end, slice->stride);
        } else {
          if (!shape[old_axis].is_const()) return std::nullopt;
          add(0, shape[old_axis].value(), 1);
        }
      }
    }
    return Same(arrived, Attrs::Make(std::move(result)));
  }

  // An axis is split: NCHW to NCHW4c. Whole blocks can be cut out.
  result.begin->clear();
  result.end->clear();
  for (const Slice& slice : slices) {
    int64_t begin = slice.begin;
    int64_t end = slice.end;
    const int64_t factor = arrived.FactorOf(old.axis(slice.axis).letter);
    if (factor > 0) {
      if (slice.stride != 1) return std::nullopt;
      if (sizes && end < 0) {
        if (!shape[slice.axis].is_const()) return std::nullopt;
        end = shape[slice.axis].value() - begin;
      }
      if (begin % factor != 0 || end % factor != 0) return std::nullopt;
      begin /= factor;
      end /= factor;
    }
    result.begin->push_back(begin);
    result.end->push_back(end);
  }
  if (result.axes.has_value()) {
    for (size_t i = 0; i < slices.size(); ++i) {
      (*result.axes)[i] = arrived.IndexOf(old.axis(slices[i].axis).letter);
    }
  }
  return Same(arrived, Attrs::Make(std::move(result)));
}

MaybeLayouts InferSliceLikeLayouts(const LayoutQuery& query) {
  const Layout& data = query.old_inputs[0];
  const Layout& like = query.old_inputs[1];
  if (!data.defined() || !like.defined()) return std::nullopt;
  const auto& axes = AttrsOf<SliceLikeAttrs>(query.attrs).axes;
  if (query.changed && data == like && axes.has_value() && !axes->empty() &&
      query.new_inputs[0] == query.new_inputs[1]) {
    std::optional<std::vector<int64_t>> followed =
        FollowAxes(data, *axes, query.new_inputs[0]);
    if (followed.has_value()) {
      return InferredLayouts{
          {query.new_inputs[0], query.new_inputs[0]},
          {query.new_inputs[0]},
          WithField(query.attrs, &SliceLikeAttrs::axes, *std::move(followed))};
    }
  }
  return InferredLayouts{{data, like}, {like}, query.attrs};
}

MaybeLayouts InferSplitLayouts(const LayoutQuery& query) {
  const auto& attrs = AttrsOf<SplitAttrs>(query.attrs);
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
  const std::optional<char> letter = LetterAt(old, attrs.axis);
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
      const absl::Span<const Dim> shape = ShapeOfArg(query, 0);
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

MaybeLayouts InferTopKLayouts(const LayoutQuery& query) {
  if (!query.old_inputs[0].defined()) return std::nullopt;
  Followed data = FollowWithAxis<TopKAttrs>(query);
  InferredLayouts result{{data.layout}, {data.layout}, std::move(data.attrs)};
  if (AttrsOf<TopKAttrs>(query.attrs).ret_type == "both") {
    result.outputs.push_back(data.layout);
  }
  return result;
}

MaybeLayouts InferFixedPointMultiplyPerAxisLayouts(const LayoutQuery& query) {
  const auto& attrs = AttrsOf<FixedPointMultiplyPerAxisAttrs>(query.attrs);
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  const Layout& layout = query.changed ? query.new_inputs[0] : old;
  std::vector<char> letters;
  for (const int64_t axis : attrs.axes) {
    const std::optional<char> letter = LetterAt(old, axis);
    if (!letter.has_value()) return std::nullopt;
    letters.push_back(*letter);
  }
  // Multiplier and shifts have the axes that the attribute names, and are
  // split where those are split.
  std::vector<int64_t> axes;
  std::string text;
  for (int i = 0; i < layout.ndim(); ++i) {
    const Layout::Axis& axis = layout.axis(i);
    if (std::find(letters.begin(), letters.end(),
                  Layout::ToPrimal(axis.letter)) == letters.end()) {
      continue;
    }
    axes.push_back(i);
    if (axis.factor > 0) absl::StrAppend(&text, axis.factor);
    text.push_back(axis.letter);
  }
  const Layout channels = LayoutOf(text);
  InferredLayouts result{
      {layout, channels, channels, channels}, {layout}, query.attrs};
  if (query.changed) {
    result.attrs = WithField(query.attrs, &FixedPointMultiplyPerAxisAttrs::axes,
                             std::move(axes));
  }
  return NulloptIfUndefined(std::move(result));
}

// Quantized operators: the scales and zero points that follow the tensors are
// scalars or vectors along the channels.

template <typename T>
MaybeLayouts InferQnnConvLayouts(const LayoutQuery& query) {
  MaybeLayouts result = InferConvLayouts<T>(query);
  if (result.has_value()) {
    FillInputs(query, 2, ChannelLayout(), result->inputs);
  }
  return result;
}

template MaybeLayouts InferQnnConvLayouts<Conv2DAttrs>(const LayoutQuery&);
template MaybeLayouts InferQnnConvLayouts<Conv2DTransposeAttrs>(
    const LayoutQuery&);

MaybeLayouts InferQnnBroadcastLayouts(const LayoutQuery& query) {
  MaybeLayouts result = InferBroadcastLayouts(query);
  if (result.has_value()) {
    FillInputs(query, 2, ChannelLayout(), result->inputs);
  }
  return result;
}

MaybeLayouts InferQnnDenseLayouts(const LayoutQuery& query) {
  static const Layout& kParameters = *new Layout(LayoutOf("N"));
  MaybeLayouts result = InferDenseLayouts(query);
  if (result.has_value()) FillInputs(query, 2, kParameters, result->inputs);
  return result;
}

MaybeLayouts InferQnnDensePackLayouts(const LayoutQuery& query) {
  MaybeLayouts result = InferDensePackLayouts(query);
  if (result.has_value()) FillInputs(query, 2, LayoutOf("N"), result->inputs);
  return result;
}

MaybeLayouts InferQnnConcatenateLayouts(const LayoutQuery& query) {
  const TupleTypeNode* type = query.call.arg(0)->tuple_type();
  if (type == nullptr || type->fields().size() > query.old_inputs.size()) {
    return std::nullopt;
  }
  const size_t n = type->fields().size();
  std::optional<Followed> data = FollowConcatenation(query, n);
  if (!data.has_value()) return std::nullopt;
  InferredLayouts result{{}, {data->layout}, std::move(data->attrs)};
  result.inputs.resize(n, data->layout);
  FillInputs(query, n, ChannelLayout(), result.inputs);
  return result;
}

MaybeLayouts InferAnnotateQuantizeLayouts(const LayoutQuery& query) {
  const Layout& data =
      query.changed ? query.new_inputs[0] : query.old_inputs[0];
  if (!data.defined()) return std::nullopt;
  InferredLayouts result{{data}, {data}, query.attrs};
  FillInputs(query, 1, ChannelLayout(), result.inputs);
  return result;
}

MaybeLayouts InferRequantizeLayouts(const LayoutQuery& query) {
  const Layout& old = query.old_inputs[0];
  if (!old.defined()) return std::nullopt;
  Layout layout = old;
  Attrs attrs = query.attrs;
  if (query.changed) {
    const Layout& arrived = query.new_inputs[0];
    const int axis = AttrsOf<RequantizeAttrs>(query.attrs).axis;
    const std::optional<char> letter = LetterAt(old, axis);
    // With one scale for all channels it does not matter how they are split.
    const bool scalar =
        ShapeOfArg(query, 1).empty() && ShapeOfArg(query, 2).empty();
    layout = scalar ? arrived : arrived.Primal();
    const int new_axis = letter.has_value() ? layout.IndexOf(*letter) : -1;
    if (new_axis < 0) return std::nullopt;
    attrs = WithField(query.attrs, &RequantizeAttrs::axis, new_axis);
  }
  InferredLayouts result{{layout}, {layout}, std::move(attrs)};
  FillInputs(query, 1, ChannelLayout(), result.inputs);
  return result;
}

// Conversion.

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
  Conv2DAttrs attrs = AttrsOf<Conv2DAttrs>(query.attrs);
  SpellOutPadding(2, attrs.padding);
  // The data that come from outside are not padded to whole tiles.
  const std::optional<int64_t> in_channels =
      ExtentOf(query.call, 0, attrs.data_layout, 'C');
  if (query.inputs[0].Is<VarNode>() &&
      (!in_channels.has_value() || *in_channels % data.axis(4).factor != 0)) {
    return ConvertedCall{Op(query.call.op_node()),
                         Attrs::Make(std::move(attrs))};
  }
  // A tiled kernel does not tell its size.
  const auto weight_extent = [&](char letter) {
    return ExtentOf(query.call, 1, attrs.kernel_layout, letter);
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

absl::StatusOr<ConvertedCall> ConvertConv2DTranspose(
    const ConvertLayoutQuery& query) {
  static constexpr DefaultKernel kKernels[] = {{"NCHW", "IOHW"},
                                               {"NHWC", "HWIO"}};
  return ConvertConv<Conv2DTransposeAttrs>(query, 2, kKernels);
}

absl::StatusOr<ConvertedCall> ConvertConv3D(const ConvertLayoutQuery& query) {
  static constexpr DefaultKernel kKernels[] = {{"NCDHW", "OIDHW"},
                                               {"NDHWC", "DHWIO"}};
  return ConvertConv<Conv3DAttrs>(query, 3, kKernels);
}

absl::StatusOr<ConvertedCall> ConvertConv3DTranspose(
    const ConvertLayoutQuery& query) {
  static constexpr DefaultKernel kKernels[] = {{"NCDHW", "IODHW"},
                                               {"NDHWC", "DHWOI"}};
  return ConvertConv<Conv3DTransposeAttrs>(query, 3, kKernels);
}

absl::StatusOr<ConvertedCall> ConvertDeformableConv2D(
    const ConvertLayoutQuery& query) {
  static constexpr DefaultKernel kKernels[] = {{"NCHW", "OIHW"},
                                               {"NHWC", "HWIO"}};
  return ConvertConv<DeformableConv2DAttrs>(query, 2, kKernels);
}

absl::StatusOr<ConvertedCall> ConvertConv2DBackwardWeight(
    const ConvertLayoutQuery& query) {
  static constexpr DefaultKernel kKernels[] = {{"NCHW", "OIHW"},
                                               {"NHWC", "HWIO"}};
  absl::StatusOr<std::string> kernel =
      KernelFor(query.desired[0], query.desired[1], kKernels);
  if (!kernel.ok()) return kernel.status();
  // The operator's attributes name, in this order, the layouts of its two
  // inputs and of its result, which is a kernel.
  Conv2DAttrs attrs = AttrsOf<Conv2DAttrs>(query.attrs);
  attrs.data_layout = query.desired[0].ToString();
  attrs.kernel_layout = query.desired[0].ToString();
  attrs.out_layout = *std::move(kernel);
  SpellOutPadding(2, attrs.padding);
  return ConvertedCall{Op(query.call.op_node()), Attrs::Make(std::move(attrs))};
}

absl::StatusOr<ConvertedCall> ConvertQnnConv2D(
    const ConvertLayoutQuery& query) {
  return ConvertConv<Conv2DAttrs>(query, 2,
                                  Conv2DKernels(query, /*with_hwnc=*/false));
}

template <typename T>
absl::StatusOr<ConvertedCall> ConvertPool(const ConvertLayoutQuery& query) {
  absl::StatusOr<T> attrs = WithLayout<T>(query);
  if (!attrs.ok()) return attrs.status();
  attrs->out_layout = attrs->layout;
  if constexpr (requires { attrs->padding; }) {
    SpellOutPadding(attrs->pool_size.size(), attrs->padding);
  }
  return ConvertedCall{Op(query.call.op_node()),
                       Attrs::Make(*std::move(attrs))};
}

template absl::StatusOr<ConvertedCall> ConvertPool<MaxPool2DAttrs>(
    const ConvertLayoutQuery&);
template absl::StatusOr<ConvertedCall> ConvertPool<AvgPool2DAttrs>(
    const ConvertLayoutQuery&);
template absl::StatusOr<ConvertedCall> ConvertPool<GlobalPool2DAttrs>(
    const ConvertLayoutQuery&);

template <typename T>
absl::StatusOr<ConvertedCall> ConvertResize(const ConvertLayoutQuery& query) {
  absl::StatusOr<T> attrs = WithLayout<T>(query);
  if (!attrs.ok()) return attrs.status();
  return ConvertedCall{Op(query.call.op_node()),
                       Attrs::Make(*std::move(attrs))};
}

template absl::StatusOr<ConvertedCall> ConvertResize<Resize1DAttrs>(
    const ConvertLayoutQuery&);
template absl::StatusOr<ConvertedCall> ConvertResize<Resize2DAttrs>(
    const ConvertLayoutQuery&);

template <typename T>
absl::StatusOr<ConvertedCall> ConvertRoi(const ConvertLayoutQuery& query) {
  if (query.desired[1].defined()) {
    return absl::InvalidArgumentError(
        "the layout of the regions must be `default`");
  }
  absl::StatusOr<T> attrs = WithLayout<T>(query);
  if (!attrs.ok()) return attrs.status();
  if (attrs->layout != "NCHW" && attrs->layout != "NHWC") {
    return absl::InvalidArgumentError(
        absl::StrCat("the data layout ", attrs->layout,
                     " is not supported, only NCHW and NHWC"));
  }
  return ConvertedCall{Op(query.call.op_node()),
                       Attrs::Make(*std::move(attrs))};
}

template absl::StatusOr<ConvertedCall> ConvertRoi<ROIAlignAttrs>(
    const ConvertLayoutQuery&);
template absl::StatusOr<ConvertedCall> ConvertRoi<ROIPoolAttrs>(
    const ConvertLayoutQuery&);

}  // namespace baton::relay
