#include "baton/ir/source.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace baton {

Source::Source(std::string name, std::string text, int first_line)
    : name_(std::move(name)),
      text_(std::move(text)),
      first_line_(first_line),
      line_starts_({0}) {
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<int64_t>(i) + 1);
  }
}

Source::Position Source::PositionOf(int64_t offset) const {
  offset = std::clamp<int64_t>(offset, 0, static_cast<int64_t>(text_.size()));
  const auto next =
      std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const int index = static_cast<int>(next - line_starts_.begin()) - 1;
  return {first_line_ + index, static_cast<int>(offset - *(next - 1)) + 1};
}

absl::string_view Source::Line(int line) const {
  const int index = line - first_line_;
  if (index < 0 || index >= static_cast<int>(line_starts_.size())) return "";
  const size_t begin = static_cast<size_t>(line_starts_[index]);
  const size_t end = text_.find('\n', begin);
  return absl::string_view(text_).substr(
      begin, end == std::string::npos ? end : end - begin);
}

}  // namespace baton
