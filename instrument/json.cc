#include "baton/instrument/json.h"

#include <cstddef>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "baton/base/printable.h"

namespace baton {

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t size = Utf8CharacterSize(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    if (size == 0) {
      out += "\\ufffd";
    } else if (byte == '"' || byte == '\\') {
      out.push_back('\\');
      out.push_back(text[0]);
    } else if (byte < 0x20 || byte == 0x7F) {
      absl::StrAppendFormat(&out, "\\u%04x", byte);
    } else {
      out.append(text.data(), size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out + "\"";
}

}  // namespace baton
