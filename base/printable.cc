#include "baton/base/printable.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"

namespace baton {
namespace {

uint8_t ByteAt(absl::string_view text, size_t i) {
  return static_cast<uint8_t>(text[i]);
}

// True if the character of `size` bytes that `text` begins with controls a
// terminal, or the order in which it shows others.
bool IsControl(absl::string_view text, size_t size) {
  const uint8_t first = ByteAt(text, 0);
  if (size == 1) return first < 0x20 || first == 0x7F;
  if (size == 2) return first == 0xC2 && ByteAt(text, 1) < 0xA0;  // U+0080..9F
  if (size != 3 || first != 0xE2) return false;
  const uint8_t second = ByteAt(text, 1);
  const uint8_t third = ByteAt(text, 2);
  // U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069.
  return (second == 0x80 && (third == 0x8E || third == 0x8F ||
                             (third >= 0xA8 && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

std::string Escaped(absl::string_view text, bool keeps_lines) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const size_t size = Utf8CharacterSize(text);
    if (keeps_lines && (text[0] == '\n' || text[0] == '\t')) {
      result.push_back(text[0]);
    } else if (text[0] == '\n') {
      result += "\\n";
    } else if (text[0] == '\t') {
      result += "\\t";
    } else if (text[0] == '\r') {
      result += "\\r";
    } else if (size == 0 || IsControl(text, size)) {
      for (size_t i = 0; i < (size == 0 ? 1 : size); ++i) {
        absl::StrAppendFormat(&result, "\\x%02x", ByteAt(text, i));
      }
    } else {
      result.append(text.data(), size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return result;
}

}  // namespace

size_t Utf8CharacterSize(absl::string_view text) {
  const uint8_t first = ByteAt(text, 0);
  if (first < 0x80) return 1;
  const size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
  for (size_t i = 1; i < size; ++i) {
    if ((ByteAt(text, i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what is past U+10FFFF.
  const uint8_t second = ByteAt(text, 1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return size;
}

bool IsUtf8(absl::string_view text) {
  while (!text.empty()) {
    const size_t size = Utf8CharacterSize(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string Printable(absl::string_view text) {
  return Escaped(text, /*keeps_lines=*/false);
}

std::string PrintableLines(absl::string_view text) {
  return Escaped(text, /*keeps_lines=*/true);
}

}  // namespace baton
