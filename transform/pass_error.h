// PassError: the enclosing passes that the pass manager adds to errors.
//
// The message of an error from inside of passes is one line with the place,
// followed by the original message:
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

namespace baton {

// The payload of an error that was inside of passes.
struct PassError {
  struct Frame {
    std::string pass;
    int64_t number = 0;  // see PassExecution::number
    // The function that the pass was processing; empty if there was none.
    std::string function;
  };
  // Outermost first.
  std::vector<Frame> frames;
  // The part that failed if it is not the pass itself: `instrument X,
  // RunAfterPass`.
  std::string culprit;
  // Errors of the subsequent cleanup.
  std::vector<std::string> also;
  // The original message.
  std::string message;
};

// The passes and the place that the pass manager added to an error; nullopt if
// the error was not in a pass or an instrument.
std::optional<PassError> GetPassError(const absl::Status& status);

// The message of `status` before the pass manager added to it.
std::string OriginalMessage(const absl::Status& status);

// Replaces the PassError of `status` by `error`. Keeps other payloads.
absl::Status WithPassError(const absl::Status& status, const PassError& error);

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_ERROR_H_
