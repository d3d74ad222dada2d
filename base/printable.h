// Escapes text from a model or a file for terminals, messages and JSON.
//
// A name may contain any bytes: line feeds that forge a message, escape
// sequences that change a terminal, bytes that are not UTF-8.

#ifndef BATON_BASE_PRINTABLE_H_
#define BATON_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace baton {

// The number of bytes of the UTF-8 character at the beginning of `text`, which
// must not be empty; 0 if there is none.
size_t Utf8CharacterSize(absl::string_view text);

// Returns true if all of `text` is UTF-8.
bool IsUtf8(absl::string_view text);

// Converts `text` to one line that is safe for a terminal: control characters
// and bytes that are not UTF-8 become escapes such as `\n` and `\x1b`. All
// other characters, including backslashes, stay.
std::string Printable(absl::string_view text);

// As Printable, but line feeds and tabs stay: for messages of several lines.
std::string PrintableLines(absl::string_view text);

}  // namespace baton

#endif  // BATON_BASE_PRINTABLE_H_
