#include "baton/tools/reproducer.h"

#include <algorithm>
#include <memory>
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
#include "baton/base/status_macros.h"
#include "baton/base/value_text.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/tools/run_options.h"

namespace baton {
namespace {

constexpr absl::string_view kFirstLine = "// baton-opt reproducer";
constexpr absl::string_view kComment = "//";

// Texts are written as they are: most are pipelines, which have quotes of their
// own and for which a line feed is as good as a space.
bool IsText(const Field& field) {
  return field.type_name() == AttrTraits<std::string>::Name();
}

bool HasTypes(const IRModule& module) {
  Diagnostics diagnostics;
  const IRModule typed = InferTypes(module, diagnostics);
  return !diagnostics.has_errors() && typed.SameAs(module);
}

absl::Status AddSetting(absl::string_view line, absl::string_view where,
                        AttrMap& settings) {
  const std::vector<absl::string_view> parts =
      absl::StrSplit(line, absl::MaxSplits(':', 1));
  if (parts.size() != 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": expected `NAME: VALUE`, found `", line, "`"));
  }
  std::string key(absl::StripAsciiWhitespace(parts[0]));
  const absl::string_view text = absl::StripAsciiWhitespace(parts[1]);
  const Field* field = FieldsOf<RunOptions>().Find(key);
  AttrValue value = text;
  if (field != nullptr && !IsText(*field)) {
    BATON_ASSIGN_OR_RETURN(value, ParseAttrValue(text, where));
  }
  settings.emplace_back(std::move(key), std::move(value));
  return absl::OkStatus();
}

}  // namespace

std::string ReproducerHead(const IRModule& module, RunOptions options,
                           const absl::Status& error) {
  options.typed_input = HasTypes(module);
  std::string text = absl::StrCat(kFirstLine, "\n");
  const FieldList& fields = FieldsOf<RunOptions>();
  for (const std::unique_ptr<Field>& field : fields.fields()) {
    if (fields.IsDefault(*field, &options)) continue;
    const AttrValue value = field->Get(&options);
    absl::StrAppend(
        &text, kComment, " ", field->name(), ": ",
        absl::StrReplaceAll(
            IsText(*field) ? *value.As<std::string>() : value.ToString(),
            {{"\n", " "}}),
        "\n");
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

absl::Status ReadReproducerHead(absl::string_view text, absl::string_view name,
                                const std::vector<std::string>& keep,
                                RunOptions& options) {
  AttrMap settings;
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripTrailingAsciiWhitespace(line);
    ++number;
    if (number == 1 && line != kFirstLine) return absl::OkStatus();
    if (number == 1) continue;
    if (!absl::ConsumePrefix(&line, kComment) || line.empty()) break;
    BATON_RETURN_IF_ERROR(
        AddSetting(line, absl::StrCat(name, ":", number), settings));
  }
  RunOptions read;
  const FieldList& fields = FieldsOf<RunOptions>();
  const absl::Status status = fields.Assign(settings, &read);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat(name, ": ", status.message()));
  }
  for (const std::unique_ptr<Field>& field : fields.fields()) {
    if (std::find(keep.begin(), keep.end(), field->name()) != keep.end()) {
      continue;
    }
    BATON_RETURN_IF_ERROR(field->Set(&options, field->Get(&read)));
  }
  return absl::OkStatus();
}

}  // namespace baton
