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
    int64_t number = 0;  // see PassExecution::number
    std::string
        function;  // that the pass was working on; empty if not a single one
  };
  // Outermost first.
  std::vector<Frame> frames;
  // What failed if it is not the pass itself: `instrument X, RunAfterPass`.
  std::string culprit;
  // Errors of the cleanup that followed.
  std::vector<std::string> also;
  // The original message.
  std::string message;
};

// The context that the pass manager added to an error; nullopt if the error
// came through no pass and no instrument.
std::optional<PassError> GetPassError(const absl::Status& status);

// The message of `status` before the pass manager added to it.
std::string OriginalMessage(const absl::Status& status);

// `status` with its context replaced by `error`. Keeps other payloads.
absl::Status WithPassError(const absl::Status& status, const PassError& error);

}  // namespace baton

#endif  // BATON_TRANSFORM_PASS_ERROR_H_
