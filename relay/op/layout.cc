#include "baton/relay/op/layout.h"

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/relay/op/dim_math.h"

namespace baton::relay {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

Layout::Layout(absl::InlinedVector<Axis, 8> axes) : axes_(std::move(axes)) {
  for (const Axis& axis : axes_) {
    if (axis.factor > 0) absl::StrAppend(&name_, axis.factor);
    name_.push_back(axis.letter);
  }
}

absl::StatusOr<Layout> Layout::Parse(absl::string_view text) {
  const auto invalid = [&](const auto&... why) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid layout \"", text, "\": ", why...));
  };
  if (text == "__undef__") return Layout();
  Layout layout;
  layout.name_ = std::string(text);
  int64_t factor = 0;
  for (const char c : text) {
    const absl::string_view letter(&c, 1);
    if (IsPrimal(c)) {
      if (factor != 0) {
        return invalid("size ", factor, " before the primal axis ", letter);
      }
      layout.axes_.push_back({c, 0});
    } else if (IsLower(c)) {
      if (factor == 0) return invalid("the sub-axis ", letter, " has no size");
      layout.axes_.push_back({c, static_cast<int>(factor)});
      factor = 0;
    } else if (IsDigit(c)) {
      factor = factor * 10 + (c - '0');
      if (factor > std::numeric_limits<int>::max()) {
        return invalid("a size is out of range");
      }
    } else {
      return invalid("'", letter, "' is neither a letter nor a digit");
    }
  }
  if (factor != 0) return invalid("size ", factor, " at the end");
  for (const Axis& axis : layout.axes_) {
    const char primal = ToPrimal(axis.letter);
    const absl::string_view letter(&primal, 1);
    int count = 0;
    for (const Axis& other : layout.axes_) count += other.letter == primal;
    if (count == 0) return invalid("the axis ", letter, " is missing");
    if (count > 1) return invalid("the axis ", letter, " is given twice");
  }
  return layout;
}

int Layout::ndim_primal() const {
  int count = 0;
  for (const Axis& axis : axes_) count += axis.factor == 0;
  return count;
}

int Layout::IndexOf(char letter) const {
  for (int i = 0; i < ndim(); ++i) {
    if (axes_[i].letter == letter) return i;
  }
  return -1;
}

int Layout::FactorOf(char letter) const {
  const char sub = ToSub(letter);
  int factor = -1;
  for (const Axis& axis : axes_) {
    if (axis.letter == sub) {
      factor = factor < 0 ? axis.factor : factor * axis.factor;
    }
  }
  return factor;
}

Layout Layout::SubLayout(int pos, int len) const {
  absl::InlinedVector<Axis, 8> axes;
  for (int i = pos; i < ndim() && i < pos + len; ++i) axes.push_back(axes_[i]);
  return Layout(std::move(axes));
}

absl::StatusOr<Layout> Layout::Split(char letter, int pos, int factor) const {
  const auto error = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot split axis ", absl::string_view(&letter, 1),
                     " of layout \"", name_, "\" by ", factor, ": ", why));
  };
  if (!IsPrimal(letter)) return error("it is not a primal axis");
  if (!Contains(letter)) return error("there is no such axis");
  if (Contains(ToSub(letter))) return error("it is split already");
  if (factor <= 0) return error("the size is not positive");
  if (pos < 0 || pos > ndim()) return error("the position is out of range");
  absl::InlinedVector<Axis, 8> axes = axes_;
  axes.insert(axes.begin() + pos, Axis{ToSub(letter), factor});
  return Layout(std::move(axes));
}

Layout Layout::ExpandPrimal(const Layout& other) const {
  absl::InlinedVector<Axis, 8> axes;
  for (const Axis& axis : other.axes_) {
    if (axis.factor == 0 && !Contains(axis.letter)) axes.push_back(axis);
  }
  axes.insert(axes.end(), axes_.begin(), axes_.end());
  return Layout(std::move(axes));
}

Layout Layout::Primal() const {
  absl::InlinedVector<Axis, 8> axes;
  for (const Axis& axis : axes_) {
    if (axis.factor == 0) axes.push_back(axis);
  }
  return Layout(std::move(axes));
}

bool Layout::ConvertibleTo(const Layout& dst) const {
  if (!defined() || !dst.defined()) return false;
  for (const Axis& axis : axes_) {
    if (axis.factor == 0 && !dst.Contains(axis.letter)) return false;
  }
  return ndim_primal() == dst.ndim_primal();
}

absl::StatusOr<Dims> Layout::ConvertShape(absl::Span<const Dim> shape,
                                          const Layout& dst) const {
  if (static_cast<int>(shape.size()) != ndim()) {
    return absl::InvalidArgumentError(
        absl::StrCat("layout \"", name_, "\" has ", ndim(),
                     " axes, but the tensor has ", shape.size()));
  }
  if (*this == dst) return Dims(shape.begin(), shape.end());
  if (!ConvertibleTo(dst)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "layout \"", name_, "\" cannot be converted to \"", dst.name_, "\""));
  }
  for (int i = 0; i < ndim(); ++i) {
    if (axes_[i].factor > 0 && ProvablyDiffer(shape[i], axes_[i].factor)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "layout \"", name_, "\" asks for ", axes_[i].factor,
          " elements on axis ", i, ", but the tensor has ", shape[i].value()));
    }
  }
  Dims result;
  for (const Axis& axis : dst.axes_) {
    if (axis.factor > 0) {
      result.push_back(axis.factor);
      continue;
    }
    Dim extent = shape[IndexOf(axis.letter)];
    if (const int factor = FactorOf(axis.letter); factor > 0) {
      extent = extent * Dim(factor);
    }
    if (const int factor = dst.FactorOf(axis.letter); factor > 0) {
      extent = CeilDiv(extent, factor);
    }
    result.push_back(std::move(extent));
  }
  return result;
}

}  // namespace baton::relay
