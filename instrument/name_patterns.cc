#include "baton/instrument/name_patterns.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/near_names.h"
#include "baton/ir/op.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/sequential.h"
#include "re2/re2.h"

namespace baton {
namespace {

// Adds the names of `pass` and of the passes in it.
void AddNames(const Pass& pass, std::vector<std::string>& names) {
  if (!pass.defined()) return;
  names.push_back(pass.name());
  for (const Pass& part : internal::PartsOf(pass)) AddNames(part, names);
}

absl::Status CheckPattern(absl::string_view flag, absl::string_view kind,
                          const std::string& pattern,
                          const std::vector<std::string>& names) {
  const re2::RE2 re(pattern, re2::RE2::CannedOptions::Quiet);
  if (!re.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--", flag, ": regular expression ", pattern, ": ", re.error()));
  }
  const bool matches = std::any_of(
      names.begin(), names.end(),
      [&re](const std::string& name) { return re2::RE2::FullMatch(name, re); });
  if (matches) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": no ", kind, " has a name that \"", pattern,
                   "\" matches as a whole", DidYouMean(pattern, names)));
}

}  // namespace

absl::Status CheckPassPattern(absl::string_view flag,
                              const std::string& pattern,
                              const Pass& pipeline) {
  if (pattern.empty()) return absl::OkStatus();
  std::vector<std::string> names = PassRegistry::Global().Names();
  for (const std::string& name : NamedPipelines().Names()) {
    names.push_back(name);
  }
  AddNames(pipeline, names);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return CheckPattern(flag, "pass", pattern, names);
}

absl::Status CheckOperatorPattern(absl::string_view flag,
                                  const std::string& pattern) {
  if (pattern.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const OpNode* op : OpRegistry::Global().List()) {
    names.push_back(op->name());
  }
  return CheckPattern(flag, "operator", pattern, names);
}

}  // namespace baton
