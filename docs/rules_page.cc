#include "baton/docs/rules_page.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace baton::docs {
namespace {

constexpr absl::string_view kQuotes = "\"\"\"";

// The lines of the docstring that begins at lines[*i], less `indentation`;
// moves *i behind it.
std::vector<std::string> Docstring(const std::vector<std::string>& lines,
                                   size_t indentation, size_t* i) {
  std::vector<std::string> result;
  absl::string_view line = lines[*i];
  line.remove_prefix(indentation + kQuotes.size());
  while (true) {
    const bool ends = absl::ConsumeSuffix(&line, kQuotes);
    result.emplace_back(line);
    if (ends || *i + 1 == lines.size()) break;
    line = lines[++*i];
    line.remove_prefix(std::min(indentation, line.size()));
  }
  ++*i;
  while (!result.empty() && result.back().empty()) result.pop_back();
  return result;
}

// The section of a function: its signature, what it is, its arguments.
std::string Section(absl::string_view signature,
                    const std::vector<std::string>& doc) {
  const absl::string_view name = signature.substr(0, signature.find('('));
  std::string section =
      absl::StrCat("## ", name, "\n\n```python\n", signature, "\n```\n\n");
  size_t i = 0;
  for (; i < doc.size() && doc[i] != "Args:"; ++i) {
    absl::StrAppend(&section, doc[i], "\n");
  }
  absl::StrAppend(&section, "| argument | is |\n|---|---|\n");
  for (++i; i < doc.size(); ++i) {
    const absl::string_view line = doc[i];
    const bool continues = absl::StartsWith(line, "    ");
    if (continues) {
      absl::StrAppend(&section, " ", absl::StripAsciiWhitespace(line));
      continue;
    }
    const size_t colon = line.find(": ");
    if (absl::EndsWith(section, ".")) section += " |\n";
    absl::StrAppend(&section, "| `",
                    absl::StripAsciiWhitespace(line.substr(0, colon)), "` | ",
                    line.substr(colon + 2));
  }
  return section + " |\n";
}

}  // namespace

std::string RulesPage(absl::string_view bzl) {
  const std::vector<std::string> lines = absl::StrSplit(bzl, '\n');
  size_t i = 0;
  std::vector<std::string> head = Docstring(lines, 0, &i);
  std::string page = "# Rules for repositories that use Baton\n";
  // The docstring's title is the page's.
  for (size_t k = 1; k < head.size(); ++k) {
    const bool code = absl::StartsWith(head[k], "    ");
    // The page itself need not be mentioned.
    if (absl::StrContains(head[k], "docs/rules.md")) continue;
    absl::StrAppend(&page, head[k], "\n");
    if (code) page += "\n";
  }
  page = std::string(absl::StripTrailingAsciiWhitespace(page)) +
         "\n\nThis page is made from "
         "[`build_defs/baton.bzl`](../build_defs/baton.bzl): run\n\n"
         "    ./bazelw run //docs:update\n";
  while (i < lines.size()) {
    absl::string_view line = lines[i++];
    if (!absl::ConsumePrefix(&line, "def baton_")) continue;
    absl::ConsumeSuffix(&line, ":");
    const std::string signature = absl::StrCat("baton_", line);
    absl::StrAppend(&page, "\n", Section(signature, Docstring(lines, 4, &i)));
  }
  return page;
}

}  // namespace baton::docs
