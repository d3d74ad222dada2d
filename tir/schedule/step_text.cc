#include "baton/tir/schedule/step_text.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"

namespace baton::tir {
namespace {

// The depth of a value is limited by the reader of JSON: these two functions
// may recurse over it.

AttrValue FromJson(const google::protobuf::Value& value) {
  using Kind = google::protobuf::Value::KindCase;
  switch (value.kind_case()) {
    case Kind::kBoolValue:
      return value.bool_value();
    case Kind::kStringValue:
      return value.string_value();
    case Kind::kNumberValue: {
      const double number = value.number_value();
      constexpr double kExact = 9007199254740992.0;  // 2^53
      if (std::floor(number) == number && std::abs(number) <= kExact) {
        return static_cast<int64_t>(number);
      }
      return number;
    }
    case Kind::kListValue: {
      AttrList items;
      for (const auto& item : value.list_value().values()) {
        items.push_back(FromJson(item));
      }
      return items;
    }
    case Kind::kStructValue: {
      AttrMap entries;
      for (const auto& [key, item] : value.struct_value().fields()) {
        entries.emplace_back(key, FromJson(item));
      }
      std::sort(entries.begin(), entries.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      return entries;
    }
    default:
      return {};
  }
}

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
  } else if (const double* d = value.As<double>()) {
    absl::StrAppend(&out, *d);
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
  google::protobuf::Value value;
  const auto status =
      google::protobuf::util::JsonStringToMessage(std::string(line), &value);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a step is no JSON: ",
        std::string(status.message().data(), status.message().size())));
  }
  AttrValue parsed = FromJson(value);
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
    return absl::InvalidArgumentError("a step has a \"name\"");
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
