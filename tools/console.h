// Console: the stream for reports, with a line that shows the running work.

#ifndef BATON_TOOLS_CONSOLE_H_
#define BATON_TOOLS_CONSOLE_H_

#include <optional>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "baton/instrument/progress.h"

namespace baton {

class Console {
 public:
  // If `progress`, `reports` is a terminal, and shows the running work.
  Console(std::ostream& reports, bool progress) : reports_(reports) {
    if (!progress) return;
    line_.emplace(
        [&reports](absl::string_view text) { reports << text << std::flush; });
  }

  void Report(absl::string_view text) {
    if (line_.has_value()) line_->Hide();
    reports_ << text << std::flush;
  }
  void Progress(std::string text) {
    if (line_.has_value()) line_->Show(std::move(text));
  }
  bool shows_progress() const { return line_.has_value(); }
  // For output while passes run; not together with progress.
  std::ostream& stream() { return reports_; }

 private:
  std::ostream& reports_;
  std::optional<ProgressLine> line_;
};

}  // namespace baton

#endif  // BATON_TOOLS_CONSOLE_H_
