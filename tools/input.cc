#include "baton/tools/input.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/infer_type.h"
#include "baton/ir/module.h"
#include "baton/ir/source.h"
#include "baton/ir/text_parser.h"
#include "baton/ir/well_formed.h"

namespace baton {
namespace {

struct Part {
  absl::string_view text;
  int line;  // of its beginning
};

std::vector<Part> Split(absl::string_view text) {
  std::vector<Part> parts;
  size_t begin = 0;  // of the part
  int part_line = 1;
  int line = 1;
  for (size_t pos = 0; pos < text.size(); ++line) {
    const size_t line_feed = text.find('\n', pos);
    const size_t end =
        line_feed == absl::string_view::npos ? text.size() : line_feed + 1;
    if (absl::StripTrailingAsciiWhitespace(text.substr(pos, end - pos)) ==
        kModuleSeparator) {
      parts.push_back({text.substr(begin, pos - begin), part_line});
      begin = end;
      part_line = line + 1;
    }
    pos = end;
  }
  parts.push_back({text.substr(begin), part_line});
  return parts;
}

}  // namespace

std::vector<InputModule> ParseModules(std::string text, const std::string& name,
                                      bool split, Diagnostics& diagnostics) {
  std::vector<std::shared_ptr<const Source>> sources;
  if (split) {
    for (const Part& part : Split(text)) {
      sources.push_back(std::make_shared<const Source>(
          name, std::string(part.text), part.line));
    }
  } else {
    sources.push_back(std::make_shared<const Source>(name, std::move(text)));
  }
  std::vector<InputModule> modules;
  for (const std::shared_ptr<const Source>& source : sources) {
    Diagnostics found;  // in this module
    InputModule input;
    input.module = ParseModule(source, found);
    input.line = source->PositionOf(0).line;
    InferTypes(input.module, found);
    if (!found.has_errors()) CheckWellFormed(input.module, found);
    for (const Diagnostic& diagnostic : found.list()) {
      diagnostics.Add(diagnostic);
    }
    modules.push_back(std::move(input));
  }
  return modules;
}

InputFormat FormatOf(absl::string_view content, absl::string_view name) {
  constexpr size_t kEnough = 4096;
  return absl::EndsWith(name, ".baton") ||
                 absl::StrContains(content.substr(0, kEnough), '\0')
             ? InputFormat::kBinary
             : InputFormat::kText;
}

}  // namespace baton
