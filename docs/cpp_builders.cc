#include "baton/docs/cpp_builders.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"

namespace baton::docs {
namespace {

// A function that returns an Expr.
struct Definition {
  std::string name;
  std::string name_space;  // "nn::" or ""
  std::string body;
};

// The functions at the left margin of `text`.
std::vector<Definition> Definitions(absl::string_view text) {
  std::vector<Definition> result;
  std::string name_space;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::string_view rest = line;
    if (absl::ConsumePrefix(&rest, "namespace baton::relay")) {
      name_space = absl::StartsWith(rest, "::nn") ? "nn::" : "";
    } else if (absl::ConsumePrefix(&rest, "Expr ")) {
      result.push_back(
          {std::string(rest.substr(0, rest.find('('))), name_space, ""});
      inside = true;
    } else if (line == "}") {
      inside = false;
    }
    if (inside) absl::StrAppend(&result.back().body, line, "\n");
  }
  return result;
}

// The operators that `text` names with BATON_OP.
std::set<std::string> Operators(absl::string_view text) {
  std::set<std::string> result;
  const std::vector<absl::string_view> parts =
      absl::StrSplit(text, "BATON_OP(\"");
  for (size_t i = 1; i < parts.size(); ++i) {
    result.insert(std::string(parts[i].substr(0, parts[i].find('"'))));
  }
  return result;
}

}  // namespace

std::map<std::string, std::vector<OpBuilder>> FindBuilders(
    absl::Span<const OpSource> sources) {
  std::map<std::string, std::vector<OpBuilder>> result;
  for (const OpSource& source : sources) {
    const absl::string_view stem = absl::StripSuffix(source.path, ".cc");
    const std::string header = absl::StrCat("baton/", stem, ".h");
    const std::pair<std::string, std::string> target =
        absl::StrSplit(stem, absl::ByString("/op/"));
    const std::string label =
        absl::StrCat("//", target.first, "/op/",
                     absl::StrReplaceAll(target.second, {{"/", ":"}}));
    const auto declared = [&source](const Definition& definition) {
      return absl::StrContains(source.header,
                               absl::StrCat("\nExpr ", definition.name, "("));
    };
    const std::vector<Definition> definitions = Definitions(source.text);
    for (const Definition& definition : definitions) {
      if (!declared(definition)) continue;
      std::set<std::string> operators = Operators(definition.body);
      for (const Definition& helper : definitions) {
        if (!declared(helper) &&
            absl::StrContains(definition.body,
                              absl::StrCat(" ", helper.name, "("))) {
          operators.merge(Operators(helper.body));
        }
      }
      const std::string name =
          absl::StrCat(definition.name_space, definition.name);
      for (const std::string& op : operators) {
        std::vector<OpBuilder>& builders = result[op];
        const bool known = std::any_of(
            builders.begin(), builders.end(),
            [&name](const OpBuilder& other) { return other.name == name; });
        if (!known) builders.push_back({name, header, label});
      }
    }
  }
  return result;
}

}  // namespace baton::docs
