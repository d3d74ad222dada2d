#include "baton/base/source.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {
namespace {

// True inside a UTF-8 sequence, where text must not be cut and no column
// begins.
bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// The number of bytes of a long line that are shown before and after its marked
// place.
constexpr int64_t kBefore = 60;
constexpr int64_t kAfter = 100;

// Appends the part of `line` around bytes [begin, end) and marks them below.
void AppendMarkedLine(absl::string_view line, int64_t begin, int64_t end,
                      std::string* out) {
  const int64_t size = static_cast<int64_t>(line.size());
  begin = std::clamp<int64_t>(begin, 0, size);
  end = std::clamp<int64_t>(end, begin, size);
  int64_t first = 0;
  int64_t last = size;
  if (size > kBefore + kAfter) {
    first = std::max<int64_t>(0, begin - kBefore);
    last = std::min<int64_t>(size, begin + kAfter);
    while (first > 0 && IsContinuation(line[first])) --first;
    while (last < size && IsContinuation(line[last])) ++last;
  }
  constexpr absl::string_view kCut = "...";
  std::string marks;
  out->push_back('\n');
  if (first > 0) {
    absl::StrAppend(out, kCut);
    marks.append(kCut.size(), ' ');
  }
  for (int64_t i = first; i < last; ++i) {
    // Control characters, tabs among them, take one column.
    const auto byte = static_cast<unsigned char>(line[i]);
    out->push_back(byte < 0x20 || byte == 0x7f ? ' ' : line[i]);
    if (IsContinuation(line[i])) continue;
    if (i < begin) marks.push_back(' ');
    if (i > begin && i < end) marks.push_back('~');
    if (i == begin) marks.push_back('^');
  }
  if (last < size) absl::StrAppend(out, kCut);
  if (begin == last) marks.push_back('^');
  absl::StrAppend(out, "\n", marks);
}

}  // namespace

Source::Source(std::string name, std::string text, int first_line)
    : name_(std::move(name)),
      text_(std::move(text)),
      first_line_(first_line),
      line_starts_({0}) {
  for (size_t i = text_.find('\n'); i != std::string::npos;
       i = text_.find('\n', i + 1)) {
    line_starts_.push_back(static_cast<int64_t>(i) + 1);
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

std::string LocatedMessage(const Source& source, int64_t begin, int64_t end,
                           absl::string_view severity,
                           absl::string_view message) {
  const Source::Position position = source.PositionOf(begin);
  std::string result =
      absl::StrCat(source.name(), ":", position.line, ":", position.column,
                   ": ", severity, ": ", message);
  const int64_t first = position.column - 1;
  AppendMarkedLine(source.Line(position.line), first,
                   first + std::max<int64_t>(1, end - begin), &result);
  return result;
}

}  // namespace baton
