#include "baton/tir/schedule/step_text.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"

namespace baton::tir {
namespace {

// The depth of a value is limited: the functions below may recurse over it.
constexpr int kMaxDepth = 100;

// Reads a value of JSON. Integers are exact, unlike those of protobuf's reader,
// which decodes the strings.
class JsonReader {
 public:
  explicit JsonReader(absl::string_view text) : text_(text), rest_(text) {}

  absl::StatusOr<AttrValue> Read() {
    BATON_ASSIGN_OR_RETURN(AttrValue value, ReadValue(0));
    SkipSpace();
    if (!rest_.empty()) return Error("expected nothing after the value");
    return value;
  }

 private:
  absl::Status Error(absl::string_view message) const {
    return absl::InvalidArgumentError(
        absl::StrCat("a step is no JSON: column ",
                     text_.size() - rest_.size() + 1, ": ", message));
  }
  void SkipSpace() {
    while (!rest_.empty() && absl::StrContains(" \t\r\n", rest_[0])) {
      rest_.remove_prefix(1);
    }
  }
  bool Take(absl::string_view token) {
    SkipSpace();
    return absl::ConsumePrefix(&rest_, token);
  }
  bool AtString() {
    SkipSpace();
    return absl::StartsWith(rest_, "\"");
  }

  absl::StatusOr<AttrValue> ReadValue(int depth) {
    if (depth > kMaxDepth) return Error("values are nested too deep");
    if (Take("{")) return ReadObject(depth);
    if (Take("[")) return ReadList(depth);
    if (AtString()) {
      BATON_ASSIGN_OR_RETURN(std::string text, ReadString());
      return AttrValue(std::move(text));
    }
    if (Take("true")) return AttrValue(true);
    if (Take("false")) return AttrValue(false);
    if (Take("null")) return AttrValue();
    return ReadNumber();
  }
  absl::StatusOr<AttrValue> ReadObject(int depth) {
    AttrMap entries;
    while (!Take("}")) {
      if (!entries.empty() && !Take(",")) return Error("expected , or }");
      if (!AtString()) return Error("expected a key in quotes");
      BATON_ASSIGN_OR_RETURN(std::string key, ReadString());
      if (!Take(":")) return Error("expected :");
      BATON_ASSIGN_OR_RETURN(AttrValue value, ReadValue(depth + 1));
      entries.emplace_back(std::move(key), std::move(value));
    }
    const auto less = [](const auto& a, const auto& b) {
      return a.first < b.first;
    };
    std::sort(entries.begin(), entries.end(), less);
    for (size_t i = 1; i < entries.size(); ++i) {
      if (less(entries[i - 1], entries[i])) continue;
      return Error(
          absl::StrCat("the key ", entries[i].first, " is given twice"));
    }
    return AttrValue(std::move(entries));
  }
  absl::StatusOr<AttrValue> ReadList(int depth) {
    AttrList items;
    while (!Take("]")) {
      if (!items.empty() && !Take(",")) return Error("expected , or ]");
      BATON_ASSIGN_OR_RETURN(AttrValue item, ReadValue(depth + 1));
      items.push_back(std::move(item));
    }
    return AttrValue(std::move(items));
  }
  absl::StatusOr<std::string> ReadString() {
    size_t end = 1;
    while (end < rest_.size() && rest_[end] != '"') {
      end += rest_[end] == '\\' ? 2 : 1;
    }
    if (end >= rest_.size()) return Error("the string has no end");
    google::protobuf::Value value;
    const auto status = google::protobuf::util::JsonStringToMessage(
        std::string(rest_.substr(0, end + 1)), &value);
    if (!status.ok()) {
      return Error(
          std::string(status.message().data(), status.message().size()));
    }
    rest_.remove_prefix(end + 1);
    return value.string_value();
  }
  absl::StatusOr<AttrValue> ReadNumber() {
    const size_t size =
        std::min(rest_.find_first_not_of("+-.0123456789eE"), rest_.size());
    const absl::string_view number = rest_.substr(0, size);
    if (number.empty()) return Error("expected a value");
    if (!absl::ascii_isdigit(number[0]) && number[0] != '-') {
      return Error("expected a number");
    }
    if (number.find_first_of(".eE") == absl::string_view::npos) {
      int64_t integer = 0;
      if (!absl::SimpleAtoi(number, &integer)) {
        return Error(absl::StrCat(number, " is no integer of 64 bits"));
      }
      rest_.remove_prefix(size);
      return AttrValue(integer);
    }
    double real = 0;
    if (!absl::SimpleAtod(number, &real) || !std::isfinite(real)) {
      return Error(absl::StrCat(number, " is no number"));
    }
    rest_.remove_prefix(size);
    return AttrValue(real);
  }

  absl::string_view text_;
  absl::string_view rest_;
};

std::string Quoted(absl::string_view text) {
  google::protobuf::Value value;
  value.set_string_value(std::string(text));
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(value, &json).ok()) {
    return "\"\"";
  }
  return json;
}

void AppendJson(const AttrValue& value, std::string& out) {
  if (const bool* b = value.As<bool>()) {
    out += *b ? "true" : "false";
  } else if (const int64_t* i = value.As<int64_t>()) {
    absl::StrAppend(&out, *i);
  } else if (value.As<double>() != nullptr) {
    out += value.ToString();
  } else if (const std::string* s = value.As<std::string>()) {
    out += Quoted(*s);
  } else if (const AttrList* list = value.As<AttrList>()) {
    out += '[';
    for (size_t i = 0; i < list->size(); ++i) {
      if (i > 0) out += ", ";
      AppendJson((*list)[i], out);
    }
    out += ']';
  } else if (const AttrMap* map = value.As<AttrMap>()) {
    out += '{';
    for (size_t i = 0; i < map->size(); ++i) {
      absl::StrAppend(&out, i > 0 ? ", " : "", Quoted((*map)[i].first), ": ");
      AppendJson((*map)[i].second, out);
    }
    out += '}';
  } else {
    out += "null";
  }
}

}  // namespace

absl::StatusOr<Step> ParseStep(absl::string_view line) {
  BATON_ASSIGN_OR_RETURN(const AttrValue parsed, JsonReader(line).Read());
  const AttrMap* entries = parsed.As<AttrMap>();
  if (entries == nullptr) {
    return absl::InvalidArgumentError(
        "a step is an object in JSON: {\"name\": \"split\", ...}");
  }
  Step step;
  for (const auto& [key, entry] : *entries) {
    if (key != "name") {
      step.params.emplace_back(key, entry);
    } else if (const std::string* name = entry.As<std::string>()) {
      step.name = *name;
    }
  }
  if (step.name.empty()) {
    return absl::InvalidArgumentError("a step must have a \"name\"");
  }
  return step;
}

absl::StatusOr<std::vector<Step>> ParseSteps(absl::string_view text) {
  std::vector<Step> steps;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line[0] == '#') continue;
    absl::StatusOr<Step> step = ParseStep(line);
    if (!step.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, ": ", step.status().message()));
    }
    steps.push_back(*std::move(step));
  }
  return steps;
}

std::string StepText(const Step& step) {
  AttrMap entries = step.params;
  entries.emplace_back("name", step.name);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  AppendJson(AttrValue(std::move(entries)), text);
  return text;
}

}  // namespace baton::tir
