#include "baton/relay/op/layout_rules.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/layout.h"
#include "baton/ir/attrs.h"
#include "baton/ir/type.h"
#include "baton/relay/op/dim_math.h"

namespace baton::relay {

OpProperty<LayoutInferenceRule>& LayoutInferenceRules() {
  static auto* const kRules = new OpProperty<LayoutInferenceRule>;
  return *kRules;
}

OpProperty<ConvertLayoutRule>& ConvertLayoutRules() {
  static auto* const kRules = new OpProperty<ConvertLayoutRule>;
  return *kRules;
}

namespace layouts {

Layout LayoutOf(absl::string_view text) {
  absl::StatusOr<Layout> layout = Layout::Parse(text);
  return layout.ok() ? *std::move(layout) : Layout();
}

const Layout& ChannelLayout() {
  static const Layout& kLayout = *new Layout(LayoutOf("C"));
  return kLayout;
}

absl::Span<const Dim> ShapeOfArg(const LayoutQuery& query, int i) {
  const TensorTypeNode* type = query.call.arg(i)->tensor_type();
  return type == nullptr ? absl::Span<const Dim>() : type->shape();
}

std::optional<int64_t> ExtentOf(const CallNode& call, int arg,
                                absl::string_view layout, char letter) {
  const TensorTypeNode* type = call.arg(arg)->tensor_type();
  const Layout tensor = LayoutOf(layout);
  const int axis = tensor.IndexOf(letter);
  if (type == nullptr || axis < 0 || axis >= type->rank()) return std::nullopt;
  Dim extent = type->dim(axis);
  const int block = tensor.IndexOf(Layout::ToSub(letter));
  if (block >= 0 && block < type->rank()) extent = extent * type->dim(block);
  if (!extent.is_const()) return std::nullopt;
  return extent.value();
}

bool BlocksDivide(const CallNode& call, int arg, absl::string_view from,
                  const Layout& to) {
  return std::all_of(
      to.axes().begin(), to.axes().end(), [&](const Layout::Axis& axis) {
        if (axis.factor <= 0) return true;
        const std::optional<int64_t> extent =
            ExtentOf(call, arg, from, Layout::ToPrimal(axis.letter));
        return !extent.has_value() || *extent % axis.factor == 0;
      });
}

std::optional<InferredLayouts> IfDefined(InferredLayouts inferred) {
  for (const Layouts* layouts : {&inferred.inputs, &inferred.outputs}) {
    for (const Layout& layout : *layouts) {
      if (!layout.defined()) return std::nullopt;
    }
  }
  return inferred;
}

std::optional<InferredLayouts> Same(const Layout& layout, const Attrs& attrs) {
  if (!layout.defined()) return std::nullopt;
  return InferredLayouts{{layout}, {layout}, attrs};
}

bool HasSubAxes(const Layout& layout) {
  return std::any_of(layout.axes().begin(), layout.axes().end(),
                     [](const Layout::Axis& axis) { return axis.factor > 0; });
}

std::optional<char> LetterAt(const Layout& layout, int64_t axis) {
  if (axis < 0) axis += layout.ndim();
  if (axis < 0 || axis >= layout.ndim()) return std::nullopt;
  return layout.axis(static_cast<int>(axis)).letter;
}

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

void FillInputs(const LayoutQuery& query, size_t n, const Layout& filler,
                Layouts& inputs) {
  inputs.resize(n);
  inputs.resize(query.old_inputs.size(), filler);
}

std::vector<int64_t> ReducedAxes(
    const std::optional<std::vector<int64_t>>& axes, bool exclude, int rank) {
  std::vector<int64_t> named;
  if (axes.has_value()) {
    for (const int64_t axis : *axes) {
      named.push_back(axis < 0 ? axis + rank : axis);
    }
  }
  std::vector<int64_t> result;
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool is_named =
        std::find(named.begin(), named.end(), axis) != named.end();
    if (named.empty() || is_named != exclude) result.push_back(axis);
  }
  return result;
}

bool KeepsOrder(const Layout& from, absl::Span<const int64_t> reduced,
                absl::Span<const Dim> shape, const Layout& to) {
  std::string before;
  for (const int64_t axis : reduced) {
    const char letter = from.axis(static_cast<int>(axis)).letter;
    const size_t i = static_cast<size_t>(axis);
    if (i >= shape.size()) return false;
    const int64_t factor = to.FactorOf(letter);
    if (factor > 1 &&
        !(shape[i].is_const() && shape[i].value() % factor == 0)) {
      return false;
    }
    if (shape[i].is_const(1)) continue;
    before.push_back(letter);
  }
  std::string after;
  for (const Layout::Axis& axis : to.axes()) {
    const char letter = Layout::ToPrimal(axis.letter);
    if (!absl::StrContains(before, letter)) continue;
    // A sub-axis behind its primal axis is one axis with it.
    const bool joins = !Layout::IsPrimal(axis.letter) && !after.empty() &&
                       after.back() == letter;
    if (!joins) after.push_back(letter);
  }
  return before == after;
}

Layout FitSubAxes(const Layout& layout, const Layout& old_layout,
                  absl::Span<const Dim> shape) {
  if (!HasSubAxes(layout)) return layout;
  Axes axes;
  for (Layout::Axis axis : layout.axes()) {
    if (axis.factor > 0) {
      const int old_axis = old_layout.IndexOf(Layout::ToPrimal(axis.letter));
      const bool is_one =
          old_axis < 0 ||
          (old_axis < static_cast<int>(shape.size()) &&
           shape[old_axis].is_const(1) && !old_layout.Contains(axis.letter));
      if (is_one) axis.factor = 1;
    }
    axes.push_back(axis);
  }
  return Layout::FromAxes(axes);
}

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

}  // namespace layouts

namespace {

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

// Returns `layout` changed in the way in which `from` was changed to `to`; the
// axes of `layout` are matched with the last axes of `from`. Axes of `to` that
// `layout` does not have keep their letters if those are free.
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
  Layout result = layouts::LayoutOf(text);
  if (!result.defined()) return std::nullopt;
  return result;
}

}  // namespace

std::optional<InferredLayouts> InferElemwiseLayouts(const LayoutQuery& query) {
  std::optional<InferredLayouts> result;
  const Layout* layout = nullptr;
  if (query.changed) {
    layout = &query.new_inputs[0];
  } else {
    const auto known = absl::c_find_if(
        query.old_inputs, [](const Layout& old) { return old.defined(); });
    if (known != query.old_inputs.end()) layout = &*known;
  }
  if (layout == nullptr || !layout->defined()) return result;
  result.emplace();
  result->attrs = query.attrs;
  result->inputs.resize(query.old_inputs.size(), *layout);
  const TupleTypeNode* results = query.call.tuple_type();
  result->outputs.resize(results == nullptr ? 1 : results->fields().size(),
                         *layout);
  // Fields of several ranks have no layout in common.
  for (size_t i = 0; results != nullptr && i < results->fields().size(); ++i) {
    const auto* first = results->fields()[0].As<TensorTypeNode>();
    const auto* field = results->fields()[i].As<TensorTypeNode>();
    if (first == nullptr || field == nullptr ||
        first->shape().size() != field->shape().size()) {
      return std::nullopt;
    }
  }
  // An input of another rank, such as the scalar that lends its element type
  // to cast_like, stays as it is.
  if (query.call.num_args() == static_cast<int>(result->inputs.size())) {
    const size_t rank = layouts::ShapeOfArg(query, 0).size();
    for (int i = 1; i < query.call.num_args(); ++i) {
      if (layouts::ShapeOfArg(query, i).size() != rank)
        result->inputs[i] = Layout();
    }
  }
  return result;
}

std::optional<InferredLayouts> InferBroadcastLayouts(const LayoutQuery& query) {
  const absl::Span<const Dim> shapes[2] = {layouts::ShapeOfArg(query, 0),
                                           layouts::ShapeOfArg(query, 1)};
  const absl::Span<const Layout> old = query.old_inputs;
  const int large = shapes[0].size() >= shapes[1].size() ? 0 : 1;
  const int small = 1 - large;
  std::optional<InferredLayouts> result;
  if (!old[0].defined() && !old[1].defined()) return result;
  // The shape of the smaller operand does not determine the axes that it lacks.
  if (!old[large].defined() && shapes[0].size() != shapes[1].size()) {
    return result;
  }
  result.emplace();
  result->attrs = query.attrs;
  Layouts& inputs = result->inputs;
  inputs.resize(2);
  inputs[large] = old[large].defined() ? old[large] : old[small];
  if (old[small].defined()) {
    inputs[small] = old[small];
  } else {
    const int rank = static_cast<int>(shapes[small].size());
    inputs[small] = inputs[large].SubLayout(
        static_cast<int>(shapes[large].size()) - rank, rank);
  }
  if (!query.changed) {
    result->outputs.push_back(inputs[large]);
    return result;
  }

  // Change the smaller operand as the larger one was changed.
  const absl::Span<const Layout> arrived = query.new_inputs;
  const int leader =
      arrived[0].ndim_primal() >= arrived[1].ndim_primal() ? 0 : 1;
  const int follower = 1 - leader;
  const std::optional<Layout> wanted =
      TransformLike(inputs[follower], inputs[leader], arrived[leader]);
  if (!wanted.has_value()) {
    result.reset();
    return result;
  }
  inputs[follower] =
      layouts::FitSubAxes(*wanted, inputs[follower], shapes[follower]);
  inputs[leader] = arrived[leader];
  result->outputs.push_back(arrived[large]);
  return result;
}

}  // namespace baton::relay
