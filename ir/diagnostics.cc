#include "baton/ir/diagnostics.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/printable.h"
#include "baton/base/source.h"
#include "baton/ir/span.h"

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

}  // namespace

std::string Diagnostic::ToString() const {
  const std::string text = PrintableLines(message);
  if (!span.defined()) {
    return absl::StrCat(SeverityName(severity), ": ", text);
  }
  return LocatedMessage(span->source(), span->begin(), span->end(),
                        SeverityName(severity), text);
}

void Diagnostics::Add(Diagnostic diagnostic) {
  // Counted first: without the memory to keep it, it is an error all the same.
  if (diagnostic.severity == Severity::kError) ++num_errors_;
  if (num_errors_ > kMaxErrors) return;
  list_.push_back(std::move(diagnostic));
}

std::string Diagnostics::ToString() const {
  // Equal texts say nothing new: nodes of a binary file have no places.
  std::vector<std::string> texts;
  FlatHashMap<std::string, int> times;
  for (const Diagnostic& diagnostic : list_) {
    std::string text = diagnostic.ToString();
    if (++times[text] == 1) texts.push_back(std::move(text));
  }
  std::string result;
  for (const std::string& text : texts) {
    if (!result.empty()) result.push_back('\n');
    result.append(text);
    if (times[text] > 1 && !absl::StrContains(text, '\n')) {
      absl::StrAppend(&result, " (", times[text], " times)");
    }
  }
  if (num_errors_ > kMaxErrors) {
    absl::StrAppend(&result, "\nerror: ", num_errors_ - kMaxErrors,
                    " more errors");
  }
  return result;
}

void Diagnostics::OutOfMemory(Span span, absl::string_view what) noexcept {
  const int before = num_errors_;
  try {
    Error(std::move(span), absl::StrCat("out of memory for ", what));
  } catch (...) {
    // There is not even memory to say so: it counts all the same.
    num_errors_ = before + 1;
  }
  out_of_memory_ = true;
}

absl::Status Diagnostics::ToStatus() const {
  if (!has_errors()) return absl::OkStatus();
  return CatchOutOfMemory("diagnostics", [this] {
    return absl::Status(out_of_memory_ ? absl::StatusCode::kResourceExhausted
                                       : absl::StatusCode::kInvalidArgument,
                        ToString());
  });
}

}  // namespace baton
