#include "baton/ir/diagnostics.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
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
  if (!span.defined()) {
    return absl::StrCat(SeverityName(severity), ": ", message);
  }
  return LocatedMessage(span->source(), span->begin(), span->end(),
                        SeverityName(severity), message);
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
