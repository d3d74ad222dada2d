// ProgressPage: the progress of a child process, in memory that it shares with
// its parent. The parent can read it after a crash of the child.

#ifndef BATON_TRIAGE_PROGRESS_PAGE_H_
#define BATON_TRIAGE_PROGRESS_PAGE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// One page of shared memory. The child writes, the parent reads.
class ProgressPage {
 public:
  static absl::StatusOr<std::shared_ptr<ProgressPage>> Create();
  ProgressPage(const ProgressPage&) = delete;
  ProgressPage& operator=(const ProgressPage&) = delete;
  ~ProgressPage();

  // Sets any number for the parent, for example the index of a module.
  void set_item(int64_t item);
  int64_t item() const;
  // The last execution of a pass that began and has not ended; 0 if there is
  // none.
  int64_t number() const;
  std::string pass() const;
  // The processor time of the child when that execution began, or became the
  // innermost again.
  double seconds() const;

  // Makes an instrument that keeps the page up to date. Passes that the pass
  // manager runs to finish a pass (InferType, nested in it) do not count. The
  // instrument must not outlive the page.
  std::shared_ptr<PassInstrument> MakeInstrument();

 private:
  struct Content;
  class Instrument;
  explicit ProgressPage(Content* content) : content_(content) {}
  Content* const content_;
};

}  // namespace baton

#endif  // BATON_TRIAGE_PROGRESS_PAGE_H_
