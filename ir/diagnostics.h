// Diagnostics: errors and warnings about a program, with source locations.
//
// A Diagnostic has a severity, a place and a text. One run collects many
// diagnostics. An absl::Status carries them; its message is their rendering:
//
//   model.relay:3:8: error: nn.dense: weight has 3 columns, data has 4
//     %1 = nn.dense(%0, %w);
//          ^~~~~~~~~~~~~~~~

#ifndef BATON_IR_DIAGNOSTICS_H_
#define BATON_IR_DIAGNOSTICS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/ir/span.h"

namespace baton {

enum class Severity { kError, kWarning, kNote };

// One error, warning or note.
struct Diagnostic {
  Severity severity = Severity::kError;
  Span span;            // null if unknown
  std::string message;  // no final full stop or line feed

  // `NAME:LINE:COLUMN: error: MESSAGE`, the source line, a caret.
  std::string ToString() const;
};

// The diagnostics of a run, in the order in which they are added.
class Diagnostics {
 public:
  void Error(Span span, std::string message) {
    Add({Severity::kError, std::move(span), std::move(message)});
  }
  void Warning(Span span, std::string message) {
    Add({Severity::kWarning, std::move(span), std::move(message)});
  }
  void Note(Span span, std::string message) {
    Add({Severity::kNote, std::move(span), std::move(message)});
  }
  void Add(Diagnostic diagnostic);
  // Adds the error that there is not enough memory for `what`, such as "the
  // types". From then on ToStatus() is ResourceExhausted.
  void OutOfMemory(Span span, absl::string_view what) noexcept;

  // The limit of the errors that are kept. Further errors are only counted.
  static constexpr int kMaxErrors = 100;

  bool has_errors() const { return num_errors_ > 0; }
  int num_errors() const { return num_errors_; }
  const std::vector<Diagnostic>& list() const { return list_; }

  // All diagnostics, rendered.
  std::string ToString() const;

  // OK if there are no errors; otherwise InvalidArgument or ResourceExhausted,
  // with the rendering as its message.
  absl::Status ToStatus() const;

 private:
  std::vector<Diagnostic> list_;
  int num_errors_ = 0;
  bool out_of_memory_ = false;
};

}  // namespace baton

#endif  // BATON_IR_DIAGNOSTICS_H_
