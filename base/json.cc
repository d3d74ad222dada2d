#include "baton/base/json.h"

#include <cmath>
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

void JsonWriter::Separate() {
  if (needs_comma_) text_.push_back(',');
  if (new_line_) text_.push_back('\n');
  needs_comma_ = false;
  new_line_ = false;
}

JsonWriter& JsonWriter::Begin(char open, char close) {
  Separate();
  text_.push_back(open);
  closing_.push_back(close);
  return *this;
}

JsonWriter& JsonWriter::End() {
  if (new_line_) text_.push_back('\n');
  new_line_ = false;
  text_.push_back(closing_.back());
  closing_.pop_back();
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Key(absl::string_view key) {
  Separate();
  text_ += JsonString(key);
  text_.push_back(':');
  return *this;
}

JsonWriter& JsonWriter::Raw(absl::string_view text) {
  Separate();
  text_.append(text.data(), text.size());
  needs_comma_ = true;
  return *this;
}

JsonWriter& JsonWriter::Fixed(const JsonFixed& number) {
  if (!std::isfinite(number.value)) return Raw("null");
  return Raw(absl::StrFormat("%.*f", number.digits, number.value));
}

}  // namespace baton
