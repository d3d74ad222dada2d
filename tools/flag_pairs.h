// Parses flags that are lists of pairs: --state=present:past,h:c0.

#ifndef BATON_TOOLS_FLAG_PAIRS_H_
#define BATON_TOOLS_FLAG_PAIRS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// The pairs in `text`, the value of `flag`. `form` is the form of a pair, with
// the separator between its two names: `OUT:IN`, `NAME=N`. The last separator
// of a pair counts.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ParseFlagPairs(
    absl::string_view flag, absl::string_view form, absl::string_view text);

}  // namespace baton

#endif  // BATON_TOOLS_FLAG_PAIRS_H_
