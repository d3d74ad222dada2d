#include "baton/base/attr_value.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/stable_hash.h"

namespace baton {
namespace {

bool IsWordStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// True if the pipeline grammar reads `text` as a word and as this very string.
bool IsBareWord(absl::string_view text) {
  if (text.empty() || !IsWordStart(text[0])) return false;
  for (char c : text) {
    if (!IsWordStart(c) && !(c >= '0' && c <= '9') && c != '.') return false;
  }
  return text != "true" && text != "false" && text != "none" && text != "inf" &&
         text != "nan";
}

void AppendQuoted(absl::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  out->push_back('"');
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c == '\t') {
      out->append("\\t");
    } else if (c == '\r') {
      out->append("\\r");
    } else if (byte < 0x20 || byte == 0x7f) {
      out->append("\\x");
      out->push_back(kHex[byte >> 4]);
      out->push_back(kHex[byte & 15]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void AppendWord(absl::string_view text, std::string* out) {
  if (IsBareWord(text)) {
    absl::StrAppend(out, text);
  } else {
    AppendQuoted(text, out);
  }
}

// The shortest text that reads back as `value`, and as a float.
void AppendDouble(double value, std::string* out) {
  if (std::isnan(value)) {
    out->append("nan");
    return;
  }
  if (std::isinf(value)) {
    out->append(value < 0 ? "-inf" : "inf");
    return;
  }
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  const absl::string_view text(buffer, static_cast<size_t>(end - buffer));
  absl::StrAppend(out, text);
  if (text.find_first_of(".e") == absl::string_view::npos) out->append(".0");
}

void Append(const AttrValue& value, std::string* out) {
  if (const bool* b = value.As<bool>()) {
    out->append(*b ? "true" : "false");
  } else if (const int64_t* i = value.As<int64_t>()) {
    absl::StrAppend(out, *i);
  } else if (const double* d = value.As<double>()) {
    AppendDouble(*d, out);
  } else if (const std::string* s = value.As<std::string>()) {
    AppendWord(*s, out);
  } else if (const DType* dtype = value.As<DType>()) {
    if (dtype->is_void()) {
      out->append("none");
    } else {
      out->append(dtype->ToString());
    }
  } else if (const ForeignValue* foreign = value.As<ForeignValue>()) {
    AppendQuoted(foreign->ToString(), out);
  } else if (const AttrList* list = value.As<AttrList>()) {
    out->push_back('[');
    for (size_t k = 0; k < list->size(); ++k) {
      if (k != 0) out->push_back(',');
      Append((*list)[k], out);
    }
    out->push_back(']');
  } else if (const AttrMap* map = value.As<AttrMap>()) {
    out->push_back('{');
    for (size_t k = 0; k < map->size(); ++k) {
      if (k != 0) out->push_back(',');
      AppendWord((*map)[k].first, out);
      out->push_back(':');
      Append((*map)[k].second, out);
    }
    out->push_back('}');
  } else {
    out->append("none");
  }
}

}  // namespace

AttrValue::AttrValue() = default;
AttrValue::AttrValue(bool value) : value_(value) {}
AttrValue::AttrValue(int value) : value_(int64_t{value}) {}
AttrValue::AttrValue(int64_t value) : value_(value) {}
AttrValue::AttrValue(double value) : value_(value) {}
AttrValue::AttrValue(std::string value) : value_(std::move(value)) {}
AttrValue::AttrValue(absl::string_view value) : value_(std::string(value)) {}
AttrValue::AttrValue(const char* value) : value_(std::string(value)) {}
AttrValue::AttrValue(DType value) : value_(value) {}
AttrValue::AttrValue(ForeignValue value) : value_(std::move(value)) {}
AttrValue::AttrValue(AttrList value) : value_(std::move(value)) {}
AttrValue::AttrValue(AttrMap value) : value_(std::move(value)) {}
AttrValue::AttrValue(const AttrValue& other) = default;
AttrValue::AttrValue(AttrValue&& other) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue& other) = default;
AttrValue& AttrValue::operator=(AttrValue&& other) noexcept = default;
AttrValue::~AttrValue() = default;

bool operator==(const AttrValue& a, const AttrValue& b) {
  if (&a == &b) return true;
  if (a.value_.index() != b.value_.index()) return false;
  if (const double* x = a.As<double>()) {
    // A NaN equals itself: attributes are compared as data, not as numbers.
    const double y = *b.As<double>();
    return *x == y || (std::isnan(*x) && std::isnan(y));
  }
  // By far the largest values, without going through a table for each entry.
  if (const AttrMap* map = a.As<AttrMap>()) return *map == *b.As<AttrMap>();
  if (const AttrList* list = a.As<AttrList>())
    return *list == *b.As<AttrList>();
  if (const std::string* text = a.As<std::string>()) {
    return *text == *b.As<std::string>();
  }
  return a.value_ == b.value_;
}

uint64_t AttrValue::Hash() const {
  StableHash hash(value_.index());
  if (const bool* b = As<bool>()) {
    hash.Add(*b ? 1 : 0);
  } else if (const int64_t* i = As<int64_t>()) {
    hash.Add(static_cast<uint64_t>(*i));
  } else if (const double* d = As<double>()) {
    hash.AddDouble(*d);
  } else if (const std::string* s = As<std::string>()) {
    hash.AddString(*s);
  } else if (const DType* dtype = As<DType>()) {
    hash.AddDType(*dtype);
  } else if (const ForeignValue* foreign = As<ForeignValue>()) {
    hash.Add(foreign->Hash());
  } else if (const AttrList* list = As<AttrList>()) {
    for (const AttrValue& item : *list) hash.Add(item.Hash());
  } else if (const AttrMap* map = As<AttrMap>()) {
    for (const auto& [key, item] : *map) {
      hash.AddString(key);
      hash.Add(item.Hash());
    }
  }
  return hash.value();
}

std::string AttrValue::ToString() const {
  std::string result;
  Append(*this, &result);
  return result;
}

absl::Status ExpectedError(absl::string_view what, const AttrValue& found) {
  std::string text = found.ToString();
  constexpr size_t kLongest = 60;
  if (text.size() > kLongest) {
    text.resize(kLongest);
    text.append("...");
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", what, ", found ", text));
}

absl::Status AttrTraits<bool>::FromValue(const AttrValue& value, bool* out) {
  if (const bool* b = value.As<bool>()) {
    *out = *b;
    return absl::OkStatus();
  }
  const int64_t* i = value.As<int64_t>();
  if (i != nullptr && (*i == 0 || *i == 1)) {
    *out = *i == 1;
    return absl::OkStatus();
  }
  return ExpectedError("true or false", value);
}

absl::Status AttrTraits<int64_t>::FromValue(const AttrValue& value,
                                            int64_t* out) {
  const int64_t* i = value.As<int64_t>();
  if (i == nullptr) return ExpectedError("an integer", value);
  *out = *i;
  return absl::OkStatus();
}

absl::Status AttrTraits<int>::FromValue(const AttrValue& value, int* out) {
  const int64_t* i = value.As<int64_t>();
  if (i == nullptr || *i < std::numeric_limits<int>::min() ||
      *i > std::numeric_limits<int>::max()) {
    return ExpectedError("an integer of 32 bits", value);
  }
  *out = static_cast<int>(*i);
  return absl::OkStatus();
}

absl::Status AttrTraits<double>::FromValue(const AttrValue& value,
                                           double* out) {
  if (const double* d = value.As<double>()) {
    *out = *d;
    return absl::OkStatus();
  }
  if (const int64_t* i = value.As<int64_t>()) {
    *out = static_cast<double>(*i);
    return absl::OkStatus();
  }
  // Words, to a parser that does not know which type is wanted.
  if (const std::string* s = value.As<std::string>()) {
    constexpr double kInf = std::numeric_limits<double>::infinity();
    if (*s == "inf" || *s == "-inf" || *s == "nan") {
      *out = *s == "inf"    ? kInf
             : *s == "-inf" ? -kInf
                            : std::numeric_limits<double>::quiet_NaN();
      return absl::OkStatus();
    }
  }
  return ExpectedError("a number", value);
}

absl::Status AttrTraits<std::string>::FromValue(const AttrValue& value,
                                                std::string* out) {
  const std::string* s = value.As<std::string>();
  if (s == nullptr) return ExpectedError("a string", value);
  *out = *s;
  return absl::OkStatus();
}

absl::Status AttrTraits<DType>::FromValue(const AttrValue& value, DType* out) {
  if (value.is_none()) {
    *out = DType();
    return absl::OkStatus();
  }
  if (const DType* dtype = value.As<DType>()) {
    *out = *dtype;
    return absl::OkStatus();
  }
  const std::string* s = value.As<std::string>();
  if (s == nullptr) return ExpectedError("a data type", value);
  absl::StatusOr<DType> parsed = DType::Parse(*s);
  if (!parsed.ok()) return parsed.status();
  *out = *parsed;
  return absl::OkStatus();
}

absl::Status AttrTraits<AttrMap>::FromValue(const AttrValue& value,
                                            AttrMap* out) {
  const AttrMap* map = value.As<AttrMap>();
  if (map == nullptr) return ExpectedError("{key: value, ...}", value);
  *out = *map;
  return absl::OkStatus();
}

}  // namespace baton
