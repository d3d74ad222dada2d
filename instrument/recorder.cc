#include "baton/instrument/recorder.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

void PassRecorder::Add(Hook hook, const PassExecution& pass) {
  events_.push_back({hook, pass.name(), pass.number(), pass.depth(),
                     hook == Hook::kRunAfterPass && pass.changed()});
}

absl::Status PassRecorder::EnterPassContext() {
  events_.push_back({Hook::kEnterPassContext});
  return absl::OkStatus();
}

absl::Status PassRecorder::ExitPassContext() {
  events_.push_back({Hook::kExitPassContext});
  return absl::OkStatus();
}

absl::StatusOr<bool> PassRecorder::ShouldRun(const IRModule& /*module*/,
                                             const PassExecution& pass) {
  Add(Hook::kShouldRun, pass);
  return true;
}

absl::Status PassRecorder::RunBeforePass(const IRModule& /*module*/,
                                         const PassExecution& pass) {
  Add(Hook::kRunBeforePass, pass);
  return absl::OkStatus();
}

absl::Status PassRecorder::RunAfterPass(const IRModule& /*module*/,
                                        const PassExecution& pass) {
  Add(Hook::kRunAfterPass, pass);
  return absl::OkStatus();
}

void PassRecorder::PassFailed(const IRModule& /*module*/,
                              const PassExecution& pass,
                              const absl::Status& /*error*/) {
  Add(Hook::kPassFailed, pass);
}

int PassRecorder::CountRuns(absl::string_view pass) const {
  return static_cast<int>(
      std::count_if(events_.begin(), events_.end(), [&](const Event& event) {
        return event.hook == Hook::kRunBeforePass &&
               (pass.empty() || event.pass == pass);
      }));
}

int PassRecorder::CountChanges(absl::string_view pass) const {
  return static_cast<int>(
      std::count_if(events_.begin(), events_.end(), [&](const Event& event) {
        return event.changed && (pass.empty() || event.pass == pass);
      }));
}

std::string PassRecorder::ToString() const {
  struct Line {
    const Event* event;
    const char* mark = "";
  };
  std::vector<Line> lines;
  std::vector<size_t> open;
  for (const Event& event : events_) {
    switch (event.hook) {
      case Hook::kRunBeforePass:
        open.push_back(lines.size());
        lines.push_back({&event});
        break;
      case Hook::kRunAfterPass:
      case Hook::kPassFailed:
        lines[open.back()].mark = event.hook == Hook::kPassFailed ? " !"
                                  : event.changed                 ? " *"
                                                                  : "";
        open.pop_back();
        break;
      case Hook::kEnterPassContext:
      case Hook::kExitPassContext:
      case Hook::kShouldRun:
        break;
    }
  }
  std::string text;
  for (const Line& line : lines) {
    absl::StrAppend(
        &text, std::string(static_cast<size_t>(2 * line.event->depth), ' '),
        line.event->number, " ", line.event->pass, line.mark, "\n");
  }
  return text;
}

}  // namespace baton
