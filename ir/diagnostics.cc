#include "baton/ir/diagnostics.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/source.h"

namespace baton {
namespace {

absl::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      return "note";
  }
  return "error";
}

// True inside a UTF-8 sequence, where text must not be cut and no column
// begins.
bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

// How much of a long line is shown before and after its marked place, in
// bytes.
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

// Edits (insert, delete, replace, swap of neighbours) from `a` to `b`, or
// `limit` + 1 if there are more than `limit`.
size_t EditDistance(absl::string_view a, absl::string_view b, size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return limit + 1;
  std::vector<size_t> before(a.size() + 1), previous(a.size() + 1),
      current(a.size() + 1);
  for (size_t i = 0; i <= a.size(); ++i) previous[i] = i;
  for (size_t j = 1; j <= b.size(); ++j) {
    current[0] = j;
    size_t least = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      size_t edits = previous[i - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      edits = std::min({edits, previous[i] + 1, current[i - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        edits = std::min(edits, before[i - 2] + 1);
      }
      current[i] = edits;
      least = std::min(least, edits);
    }
    if (least > limit) return limit + 1;
    before.swap(previous);
    previous.swap(current);
  }
  return previous[a.size()];
}

// The part after the last dot.
absl::string_view LastComponent(absl::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == absl::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

std::string Diagnostic::ToString() const {
  std::string result;
  if (!span.defined()) {
    absl::StrAppend(&result, SeverityName(severity), ": ", message);
    return result;
  }
  const Source& source = span->source();
  const Source::Position position = source.PositionOf(span->begin());
  absl::StrAppend(&result, source.name(), ":", position.line, ":",
                  position.column, ": ", SeverityName(severity), ": ", message);
  const int64_t begin = position.column - 1;
  AppendMarkedLine(source.Line(position.line), begin,
                   begin + std::max<int64_t>(1, span->end() - span->begin()),
                   &result);
  return result;
}

void Diagnostics::Add(Diagnostic diagnostic) {
  if (diagnostic.severity == Severity::kError) ++num_errors_;
  if (num_errors_ > kMaxErrors) return;
  list_.push_back(std::move(diagnostic));
}

std::string Diagnostics::ToString() const {
  std::string result;
  for (const Diagnostic& diagnostic : list_) {
    if (!result.empty()) result.push_back('\n');
    result.append(diagnostic.ToString());
  }
  if (num_errors_ > kMaxErrors) {
    absl::StrAppend(&result, "\nerror: ", num_errors_ - kMaxErrors,
                    " more errors");
  }
  return result;
}

absl::Status Diagnostics::ToStatus() const {
  return has_errors() ? absl::InvalidArgumentError(ToString())
                      : absl::OkStatus();
}

std::vector<std::string> NearestNames(
    absl::string_view name, const std::vector<std::string>& candidates,
    size_t limit) {
  constexpr size_t kLongest = 200;
  if (name.empty() || name.size() > kLongest) return {};
  const std::string lower = absl::AsciiStrToLower(name);
  const size_t most = std::max<size_t>(1, name.size() / 3);
  std::vector<std::pair<size_t, const std::string*>> near;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest || candidate == name) continue;
    const std::string other = absl::AsciiStrToLower(candidate);
    size_t distance = EditDistance(lower, other, most);
    // `conv2d` means `nn.conv2d`, and the other way round.
    if (LastComponent(other) == lower || LastComponent(lower) == other ||
        LastComponent(other) == LastComponent(lower)) {
      distance = std::min<size_t>(distance, 1);
    }
    // Names without a letter in common do not resemble each other.
    if (distance >= std::max(lower.size(), other.size())) continue;
    if (distance <= most) near.emplace_back(distance, &candidate);
  }
  std::sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : *a.second < *b.second;
  });
  if (near.size() > limit) near.resize(limit);
  std::vector<std::string> result;
  for (const auto& entry : near) result.push_back(*entry.second);
  return result;
}

std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates) {
  const std::vector<std::string> near = NearestNames(name, candidates);
  if (near.empty()) return "";
  std::string result = "; did you mean ";
  for (size_t i = 0; i < near.size(); ++i) {
    if (i != 0) result.append(i + 1 == near.size() ? " or " : ", ");
    absl::StrAppend(&result, "\"", near[i], "\"");
  }
  result.push_back('?');
  return result;
}

}  // namespace baton
