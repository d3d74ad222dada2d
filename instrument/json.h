// Quotes strings for JSON.

#ifndef BATON_INSTRUMENT_JSON_H_
#define BATON_INSTRUMENT_JSON_H_

#include <string>

#include "absl/strings/string_view.h"

namespace baton {

// `text` as a JSON string, with its quotes: always UTF-8, as JSON is. Bytes
// that are none become U+FFFD.
std::string JsonString(absl::string_view text);

}  // namespace baton

#endif  // BATON_INSTRUMENT_JSON_H_
