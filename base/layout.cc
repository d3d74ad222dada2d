#include "baton/base/layout.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"

namespace baton {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the number of `axes` with that letter.
int Count(absl::Span<const Layout::Axis> axes, char letter) {
  int count = 0;
  for (const Layout::Axis& axis : axes) count += axis.letter == letter;
  return count;
}

}  // namespace

Layout::Layout(Axes axes) {
  if (axes.empty()) return;
  std::string name;
  for (const Axis& axis : axes) {
    if (axis.factor > 0) absl::StrAppend(&name, axis.factor);
    name.push_back(axis.letter);
  }
  data_ = std::make_shared<const Data>(Data{std::move(axes), std::move(name)});
}

const std::string& Layout::ToString() const {
  static const auto* const kUndefined = new std::string;
  return data_ == nullptr ? *kUndefined : data_->name;
}

absl::StatusOr<Layout> Layout::Parse(absl::string_view text) {
  if (text.empty() || text == "__undef__") return Layout();
  // Common layouts are parsed once.
  static const auto* const kCommon = [] {
    auto* common = new FlatHashMap<absl::string_view, Layout>;
    for (const absl::string_view name :
         {"NCHW",  "NHWC",   "OIHW",   "HWIO",    "HWOI",  "OHWI",  "IOHW",
          "NCW",   "NWC",    "OIW",    "WIO",     "NCDHW", "NDHWC", "OIDHW",
          "DHWIO", "NCHW4c", "NCHW8c", "NCHW16c", "NC",    "C"}) {
      common->emplace(name, *ParseNew(name));
    }
    return common;
  }();
  const auto it = kCommon->find(text);
  return it != kCommon->end() ? it->second : ParseNew(text);
}

absl::StatusOr<Layout> Layout::ParseNew(absl::string_view text) {
  const auto invalid = [&](const auto&... why) {
    return absl::InvalidArgumentError(
        absl::StrCat("invalid layout \"", text, "\": ", why...));
  };
  Axes axes;
  int64_t factor = 0;
  for (const char c : text) {
    const absl::string_view letter(&c, 1);
    if (IsPrimal(c)) {
      if (factor != 0) {
        return invalid("size ", factor, " before the primal axis ", letter);
      }
      axes.push_back({c, 0});
    } else if (IsLower(c)) {
      if (factor == 0) return invalid("the sub-axis ", letter, " has no size");
      axes.push_back({c, static_cast<int>(factor)});
      factor = 0;
    } else if (IsDigit(c)) {
      factor = factor * 10 + (c - '0');
      if (factor > kMaxFactor) return invalid("a size is out of range");
    } else {
      return invalid("'", letter, "' is neither a letter nor a digit");
    }
  }
  if (factor != 0) return invalid("size ", factor, " at the end");
  for (const Axis& axis : axes) {
    const char primal = ToPrimal(axis.letter);
    const absl::string_view letter(&primal, 1);
    const int count = Count(axes, primal);
    if (count == 0) return invalid("the axis ", letter, " is missing");
    if (count > 1) return invalid("the axis ", letter, " is given twice");
    int64_t elements = 1;
    for (const Axis& other : axes) {
      if (other.letter == ToSub(primal)) elements *= other.factor;
      if (elements > kMaxFactor) {
        return invalid("the size of axis ", letter, " is out of range");
      }
    }
  }
  if (axes.empty()) return Layout();
  Layout layout;
  layout.data_ =
      std::make_shared<const Data>(Data{std::move(axes), std::string(text)});
  return layout;
}

Layout Layout::FromAxes(absl::Span<const Axis> axes) {
  for (const Axis& axis : axes) {
    if (Count(axes, ToPrimal(axis.letter)) != 1) return Layout();
  }
  return Layout(Axes(axes.begin(), axes.end()));
}

int Layout::ndim_primal() const {
  int count = 0;
  for (const Axis& axis : axes()) count += axis.factor == 0;
  return count;
}

int Layout::IndexOf(char letter) const {
  for (int i = 0; i < ndim(); ++i) {
    if (axis(i).letter == letter) return i;
  }
  return -1;
}

int Layout::FactorOf(char letter) const {
  const char sub = ToSub(letter);
  int factor = -1;
  for (const Axis& axis : axes()) {
    if (axis.letter == sub) {
      factor = factor < 0 ? axis.factor : factor * axis.factor;
    }
  }
  return factor;
}

Layout Layout::SubLayout(int pos, int len) const {
  Axes axes;
  for (int i = pos; i < ndim() && i < pos + len; ++i) axes.push_back(axis(i));
  return Layout(std::move(axes));
}

absl::StatusOr<Layout> Layout::Split(char letter, int pos, int factor) const {
  const auto error = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot split axis ", absl::string_view(&letter, 1),
                     " of layout \"", ToString(), "\" by ", factor, ": ", why));
  };
  if (!IsPrimal(letter)) return error("it is not a primal axis");
  if (!Contains(letter)) return error("there is no such axis");
  if (Contains(ToSub(letter))) return error("it is split already");
  if (factor <= 0) return error("the size is not positive");
  if (pos < 0 || pos > ndim()) return error("the position is out of range");
  Axes axes(this->axes().begin(), this->axes().end());
  axes.insert(axes.begin() + pos, Axis{ToSub(letter), factor});
  return Layout(std::move(axes));
}

Layout Layout::ExpandPrimal(const Layout& other) const {
  Axes axes;
  for (const Axis& axis : other.axes()) {
    if (axis.factor == 0 && !Contains(axis.letter)) axes.push_back(axis);
  }
  axes.insert(axes.end(), this->axes().begin(), this->axes().end());
  return Layout(std::move(axes));
}

Layout Layout::Primal() const {
  Axes axes;
  for (const Axis& axis : this->axes()) {
    if (axis.factor == 0) axes.push_back(axis);
  }
  return Layout(std::move(axes));
}

bool Layout::ConvertibleTo(const Layout& dst) const {
  if (!defined() || !dst.defined()) return false;
  for (const Axis& axis : axes()) {
    if (axis.factor == 0 && !dst.Contains(axis.letter)) return false;
  }
  return ndim_primal() == dst.ndim_primal();
}

}  // namespace baton
