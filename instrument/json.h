// Quotes strings for JSON.

#ifndef BATON_INSTRUMENT_JSON_H_
#define BATON_INSTRUMENT_JSON_H_

#include <string>

#include "absl/strings/string_view.h"

namespace baton {

// Converts `text` to a JSON string with its quotes. The result is UTF-8: bytes
// of `text` that are not UTF-8 become U+FFFD.
std::string JsonString(absl::string_view text);

}  // namespace baton

#endif  // BATON_INSTRUMENT_JSON_H_
