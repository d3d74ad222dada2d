// Suggestions for an unknown name: the known names that resemble it.

#ifndef BATON_BASE_NEAR_NAMES_H_
#define BATON_BASE_NEAR_NAMES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton {

// Up to `limit` of `candidates` that resemble `name` (edit distance), nearest
// first.
std::vector<std::string> NearestNames(
    absl::string_view name, const std::vector<std::string>& candidates,
    size_t limit = 3);

// `; did you mean "a" or "b"?`, or the empty string if no candidate resembles
// `name`.
std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates);

}  // namespace baton

#endif  // BATON_BASE_NEAR_NAMES_H_
