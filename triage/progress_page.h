// What a child process is doing, in memory that it shares with its parent: it
// can be read after the child crashed.

#ifndef BATON_TRIAGE_PROGRESS_PAGE_H_
#define BATON_TRIAGE_PROGRESS_PAGE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

class ProgressPage {
 public:
  static absl::StatusOr<std::shared_ptr<ProgressPage>> Create();
  ProgressPage(const ProgressPage&) = delete;
  ProgressPage& operator=(const ProgressPage&) = delete;
  ~ProgressPage();

  // Any number that the parent is to know: which of several modules.
  void set_item(int64_t item);
  int64_t item() const;
  // The execution of a pass that began last and has not ended; 0 if none.
  int64_t number() const;
  std::string pass() const;
  // Of processor time that the child had taken when that one began, or was the
  // innermost again.
  double seconds() const;

  // Keeps the page up to date. Those that the pass manager runs to finish a
  // pass (InferType, nested in it) do not count. Must not outlive the page.
  std::shared_ptr<PassInstrument> MakeInstrument();

 private:
  struct Content;
  class Instrument;
  explicit ProgressPage(Content* content) : content_(content) {}
  Content* const content_;
};

}  // namespace baton

#endif  // BATON_TRIAGE_PROGRESS_PAGE_H_
