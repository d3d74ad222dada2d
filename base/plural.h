// Counts in messages: a number with its noun.

#ifndef BATON_BASE_PLURAL_H_
#define BATON_BASE_PLURAL_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace baton {

// `1 pass`, `2 passes`, `0 functions`. `noun` is a regular noun in the
// singular; only its last word is inflected.
std::string Plural(int64_t count, absl::string_view noun);

}  // namespace baton

#endif  // BATON_BASE_PLURAL_H_
