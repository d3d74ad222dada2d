#include "baton/base/value_text.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/internal/value_text_parser.h"
#include "baton/base/status_macros.h"

namespace baton {

using internal::ValueTextParser;

absl::StatusOr<AttrValue> ParseAttrValue(absl::string_view text,
                                         absl::string_view source_name) {
  ValueTextParser parser(text, source_name);
  BATON_ASSIGN_OR_RETURN(AttrValue value, parser.ReadValue(0));
  BATON_RETURN_IF_ERROR(parser.ExpectEnd());
  return value;
}

absl::StatusOr<AttrMap> ParseKeyValues(absl::string_view text,
                                       absl::string_view source_name) {
  return ValueTextParser(text, source_name).ReadKeyValues();
}

absl::StatusOr<NameAndOptions> ParseNameAndOptions(
    absl::string_view text, absl::string_view source_name) {
  ValueTextParser parser(text, source_name);
  BATON_ASSIGN_OR_RETURN(ValueTextParser::Word name, parser.ReadWord("a name"));
  BATON_ASSIGN_OR_RETURN(AttrMap options, parser.ReadOptions(0));
  BATON_RETURN_IF_ERROR(parser.ExpectEnd());
  return NameAndOptions{std::move(name.text), std::move(options)};
}

std::string OptionsToString(const AttrMap& options) {
  if (options.empty()) return "";
  std::string text;
  for (const auto& [key, value] : options) {
    // A key is written as a string value is: in quotes where it must be.
    absl::StrAppend(&text, text.empty() ? "{" : ",", AttrValue(key).ToString(),
                    "=", value.ToString());
  }
  return text + "}";
}

}  // namespace baton
