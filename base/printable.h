// Text from a model or a file, made fit for terminals, messages, JSON.
//
// A name may hold anything: line feeds that forge a message, escape sequences
// that change a terminal, bytes that are no UTF-8.

#ifndef BATON_BASE_PRINTABLE_H_
#define BATON_BASE_PRINTABLE_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace baton {

// The number of bytes of the UTF-8 character that `text`, which is not empty,
// begins with; 0 if it begins with none.
size_t Utf8CharacterSize(absl::string_view text);

// True if all of `text` is UTF-8.
bool IsUtf8(absl::string_view text);

// `text` on one line: characters that a terminal does not show as they are, and
// bytes that are no UTF-8, become escapes such as `\n` and `\x1b`. All others
// stay, backslashes among them.
std::string Printable(absl::string_view text);

// As Printable, but line feeds and tabs stay: for messages of several lines.
std::string PrintableLines(absl::string_view text);

}  // namespace baton

#endif  // BATON_BASE_PRINTABLE_H_
