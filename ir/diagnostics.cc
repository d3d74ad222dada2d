#include "baton/ir/diagnostics.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
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

}  // namespace baton
