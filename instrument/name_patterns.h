// Checks regular expressions of users for names of passes and operators.

#ifndef BATON_INSTRUMENT_NAME_PATTERNS_H_
#define BATON_INSTRUMENT_NAME_PATTERNS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "baton/transform/pass.h"

namespace baton {

// An error if the regular expression `pattern` of `flag` (RE2, whole name)
// matches neither a registered pass nor one in `pipeline`; suggests similar
// names. An empty pattern is allowed.
absl::Status CheckPassPattern(absl::string_view flag,
                              const std::string& pattern, const Pass& pipeline);

// An error if `pattern` matches the name of no registered operator.
absl::Status CheckOperatorPattern(absl::string_view flag,
                                  const std::string& pattern);

}  // namespace baton

#endif  // BATON_INSTRUMENT_NAME_PATTERNS_H_
