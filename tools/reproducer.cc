#include "baton/tools/reproducer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/base/value_text.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/tools/run_options.h"

namespace baton {
namespace {

constexpr absl::string_view kFirstLine = "// baton-opt reproducer";
constexpr absl::string_view kComment = "//";

// `// NAME: VALUE`. Texts are written as they are: most are pipelines, which
// have quotes of their own and for which a line feed is as good as a space.
std::string SettingLine(absl::string_view name, const AttrValue& value) {
  const auto* text = value.As<std::string>();
  return absl::StrCat(
      kComment, " ", name, ": ",
      absl::StrReplaceAll(text != nullptr ? *text : value.ToString(),
                          {{"\n", " "}}),
      "\n");
}

bool IsText(const Field& field) {
  return field.type_name() == AttrTraits<std::string>::Name();
}

bool HasTypes(const IRModule& module) {
  Diagnostics diagnostics;
  const IRModule typed = relay::InferTypes(module, diagnostics);
  return !diagnostics.has_errors() && typed.SameAs(module);
}

// Adds the setting of `line` to those of RunOptions or of instruments.
absl::Status AddSetting(absl::string_view line, absl::string_view where,
                        AttrMap& settings, AttrMap& instrument_flags) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(':', 1));
  if (parts.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": expected `NAME: VALUE`, found `", line, "`"));
  }
  std::string key(absl::StripAsciiWhitespace(parts[0]));
  const absl::string_view text = absl::StripAsciiWhitespace(parts[1]);
  const Field* field = FieldsOf<RunOptions>().Find(key);
  AttrMap* target = &settings;
  if (field == nullptr) {
    const Flag* flag = FindInstrumentFlag(key);
    if (flag != nullptr) {
      field = flag->field;
      target = &instrument_flags;
    }
  }
  AttrValue value = text;
  if (field != nullptr && !IsText(*field)) {
    BATON_ASSIGN_OR_RETURN(value, ParseAttrValue(text, where));
  }
  target->emplace_back(std::move(key), std::move(value));
  return absl::OkStatus();
}

}  // namespace

std::string ReproducerHead(const IRModule& module, RunOptions options,
                           const absl::Status& error) {
  options.typed_input = HasTypes(module);
  std::string text = absl::StrCat(kFirstLine, "\n");
  const FieldList& fields = FieldsOf<RunOptions>();
  for (const Field& field : fields.fields()) {
    if (fields.IsDefault(field, &options)) continue;
    text += SettingLine(field.name(), field.Get(&options));
  }
  for (const auto& [name, value] : SortedInstrumentFlags(options)) {
    text += SettingLine(name, value);
  }
  absl::StrAppend(&text, kComment, "\n");
  for (const absl::string_view line : absl::StrSplit(error.message(), '\n')) {
    absl::StrAppend(&text, kComment, line.empty() ? "" : " ", line, "\n");
  }
  return text;
}

std::string ReproducerText(const IRModule& module, const RunOptions& options,
                           const absl::Status& error) {
  return ReproducerHead(module, options, error) + AsText(module);
}

bool IsReproducerHead(absl::string_view text) {
  return absl::StripTrailingAsciiWhitespace(text.substr(0, text.find('\n'))) ==
         kFirstLine;
}

absl::Status ReadReproducerHead(absl::string_view text, absl::string_view name,
                                const std::vector<std::string>& keep,
                                RunOptions& options) {
  AttrMap settings;
  AttrMap instrument_flags;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripTrailingAsciiWhitespace(line);
    ++number;
    if (number == 1 && line != kFirstLine) return absl::OkStatus();
    if (number == 1) continue;
    if (!absl::ConsumePrefix(&line, kComment) || line.empty()) break;
    BATON_RETURN_IF_ERROR(AddSetting(line, absl::StrCat(name, ":", number),
                                     settings, instrument_flags));
  }
  RunOptions read;
  const FieldList& fields = FieldsOf<RunOptions>();
  const absl::Status status = fields.Assign(settings, &read);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(name, ": ", status.message()));
  }
  const auto is_kept = [&keep](const std::string& name) {
    return std::find(keep.begin(), keep.end(), name) != keep.end();
  };
  for (const Field& field : fields.fields()) {
    if (is_kept(field.name())) continue;
    BATON_RETURN_IF_ERROR(field.Set(&options, field.Get(&read)));
  }
  // Flags that are already set were given on the command line, and are kept.
  for (auto& [flag, value] : instrument_flags) {
    if (is_kept(flag)) continue;
    options.instrument_flags.emplace_back(flag, std::move(value));
  }
  return absl::OkStatus();
}

}  // namespace baton
