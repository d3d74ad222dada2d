// Parses and prints values, options and names, for pipelines, workloads and
// settings:
//
//   options := '{' [KEY '=' value (',' KEY '=' value)*] '}'
//   value   := 'true' | 'false' | 'none' | number | word | '"' text '"'
//            | '[' [value (',' value)*] ']'
//            | '{' [KEY (':' | '=') value (',' KEY (':' | '=') value)*] '}'
//
// A word is one or more characters other than white space, quotes, and
// `,:=()[]{}`. White space between tokens does not matter. An error shows its
// location:
//
//   --passes:1:9: error: expected a name
//   FuseOps{=1}
//           ^

#ifndef BATON_BASE_VALUE_TEXT_H_
#define BATON_BASE_VALUE_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"

namespace baton {

// `source_name` names the text in errors.

// One value: `[3,224,224]`.
absl::StatusOr<AttrValue> ParseAttrValue(
    absl::string_view text, absl::string_view source_name = "value");

// `KEY=VALUE,KEY=VALUE`, as in `--config`; may be empty.
absl::StatusOr<AttrMap> ParseKeyValues(
    absl::string_view text, absl::string_view source_name = "config");

struct NameAndOptions {
  std::string name;
  AttrMap options;
};

// A name with options or without: `resnet{num_layers=18}`.
absl::StatusOr<NameAndOptions> ParseNameAndOptions(
    absl::string_view text, absl::string_view source_name = "spec");

// `{KEY=VALUE,...}`, or the empty string if there are no options.
std::string OptionsToString(const AttrMap& options);

}  // namespace baton

#endif  // BATON_BASE_VALUE_TEXT_H_
