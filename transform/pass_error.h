// The context that the pass manager adds to errors.
//
// The message of an error that came through passes is one line that says where
// it happened, and then the original message:
//
//   in pass #1 sequential > #4 FoldConstant, function @main:
//   add: cannot broadcast (3) with (4)

#ifndef BATON_TRANSFORM_PASS_ERROR_H_
#define BATON_TRANSFORM_PASS_ERROR_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace baton {

struct PassError {
  struct Frame {
    std::string pass;
    int64_t number = 0;    // see PassExecution::number
    std::string function;  // that it was working on; empty if not one alone
  };
  // Outermost first.
  std::vector<Frame> frames;
  // Empty, or who failed if not the pass itself: `instrument X, RunAfterPass`.
  std::string culprit;
  // What else failed while things were put in order.
  std::vector<std::string> also;
  // The message as it was.
  std::string message;
};

// What the pass manager knows of an error; nullopt if it came through no pass
// and no instrument.
std::optional<PassError> GetPassError(const absl::Status& status);

// The message of `status` as it was before the pass manager added to it.
std::string OriginalMessage(const absl::Status& status);

// `status` with this context in place of the one that it has. Other payloads
// are kept.
absl::Status WithPassError(const absl::Status& status, const PassError& error);

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_ERROR_H_
