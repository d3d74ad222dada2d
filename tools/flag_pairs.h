// Parses flags that are lists of pairs: --state=present:past,h:c0.

#ifndef BATON_TOOLS_FLAG_PAIRS_H_
#define BATON_TOOLS_FLAG_PAIRS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// The pairs in `text`, the value of the flag `flag`. `form`, such as `OUT:IN`
// or `NAME=N`, is the form of a pair in messages, and has the separator. Each
// pair is split at its last separator; two in a row, as in `onnx::Gemm_0`, are
// part of a name.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseFlagPairs(
    absl::string_view flag, absl::string_view form, absl::string_view text);

}  // namespace baton

#endif  // BATON_TOOLS_FLAG_PAIRS_H_
