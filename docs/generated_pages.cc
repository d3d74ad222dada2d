#include "baton/docs/generated_pages.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/docs/cpp_builders.h"
#include "baton/docs/flags_page.h"
#include "baton/docs/reference.h"
#include "baton/docs/rules_page.h"
#include "baton/tools/files.h"

namespace baton::docs {

absl::StatusOr<std::vector<OpSource>> ReadOpSources(const std::string& root) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<OpSource> sources;
  for (const auto& entry : fs::recursive_directory_iterator(
           absl::StrCat(root, "/relay/op"), error)) {
    fs::path header = entry.path();
    header.replace_extension(".h");
    if (entry.path().extension() != ".cc" || !fs::exists(header)) continue;
    // fs::relative would follow the links of a test's runfiles.
    OpSource source{.path = entry.path().lexically_relative(root).string()};
    BATON_ASSIGN_OR_RETURN(source.text, ReadFile(entry.path().string()));
    BATON_ASSIGN_OR_RETURN(source.header, ReadFile(header.string()));
    sources.push_back(std::move(source));
  }
  if (sources.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no sources of operators below ", root));
  }
  std::sort(
      sources.begin(), sources.end(),
      [](const OpSource& a, const OpSource& b) { return a.path < b.path; });
  return sources;
}

absl::StatusOr<std::vector<GeneratedPage>> GeneratedPages(
    const std::string& root) {
  BATON_ASSIGN_OR_RETURN(const std::string rules,
                         ReadFile(absl::StrCat(root, "/build_defs/baton.bzl")));
  BATON_ASSIGN_OR_RETURN(const std::vector<OpSource> sources,
                         ReadOpSources(root));
  return std::vector<GeneratedPage>{
      {"reference_flags.md", FlagsPage()},
      {"reference_operators.md", OperatorReference(FindBuilders(sources))},
      {"reference_options.md", OptionReference()},
      {"reference_passes.md", PassReference()},
      {"reference_pipelines.md", PipelineReference()},
      {"rules.md", RulesPage(rules)}};
}

}  // namespace baton::docs
