#include "baton/tools/unused_flags.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/value_text.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"
#include "baton/transform/unread_config.h"

namespace baton {
namespace {

// The names of `pass`, of the passes in it, and of those that they require.
void AddNames(const Pass& pass, const PassRegistry& registry,
              std::set<std::string>& names) {
  if (!pass.defined()) return;
  names.insert(pass.name());
  for (const std::string& name : pass.info().required) {
    if (names.count(name) > 0) continue;
    const absl::StatusOr<Pass> required = registry.Get(name);
    if (required.ok()) AddNames(*required, registry, names);
  }
  for (const Pass& part : internal::PartsOf(pass)) {
    AddNames(part, registry, names);
  }
}

bool IsName(const std::string& text) {
  return text.find('#') == std::string::npos;
}

}  // namespace

bool MayHaveUnusedFlags(const PreparedRun& prepared) {
  return !prepared.run.disabled_pass.empty() ||
         !prepared.run.required_pass.empty() || !prepared.run.rules.empty();
}

std::vector<std::string> UnusedFlags(const PreparedRun& prepared,
                                     const Pass& pipeline,
                                     const std::set<std::string>& executed) {
  std::set<std::string> known = executed;
  AddNames(pipeline, RegistryOf(PassContext(prepared.context)), known);
  std::vector<std::string> lines;
  const auto note = [&lines](absl::string_view flag, const std::string& value) {
    lines.push_back(
        absl::StrCat("--", flag, "=", value, ": this run has no such pass"));
  };
  for (const std::string& name : prepared.run.disabled_pass) {
    // SkipInstrument::Unmet() has those of one execution.
    if (IsName(name) && known.count(name) == 0) {
      note("disabled_pass", name);
    } else if (executed.count(name) > 0) {
      lines.push_back(absl::StrCat(
          "--disabled_pass=", name,
          ": it runs all the same where another pass calls or requires it"));
    }
  }
  for (const std::string& name : prepared.run.required_pass) {
    if (known.count(name) == 0) note("required_pass", name);
  }
  // A pass that applies its own rules applies those of the files as well.
  const std::vector<std::string> passes =
      relay::RuleRegistry::Global().Passes();
  if (!prepared.run.rules.empty() && executed.count("Rewrite") == 0 &&
      std::none_of(passes.begin(), passes.end(), [&](const std::string& pass) {
        return executed.count(pass) != 0;
      })) {
    lines.push_back("--rules: this run has no Rewrite, which applies them");
  }
  return lines;
}

std::vector<std::string> UnreadSettings(const std::string& config,
                                        const PassContext& context) {
  std::vector<std::string> lines;
  if (config.empty()) return lines;
  const absl::StatusOr<AttrMap> given = ParseKeyValues(config, "--config");
  if (!given.ok()) return lines;  // no context is made of it
  for (const std::string& name : UnreadConfig(context)) {
    const bool is_given =
        std::any_of(given->begin(), given->end(),
                    [&](const auto& setting) { return setting.first == name; });
    if (is_given && name != ThreadsConfig().name()) {
      lines.push_back(
          absl::StrCat("--config=", name, ": no pass of this run reads it"));
    }
  }
  return lines;
}

std::vector<std::string> NothingLowered(const Pass& pipeline,
                                        const IRModule& result) {
  std::set<std::string> names;
  AddNames(pipeline, PassRegistry::Global(), names);
  if (names.count("LowerToTir") == 0 || result.size() == 0) return {};
  for (const IRModule::Definition& definition : result.functions()) {
    if (!definition.function.Is<relay::FunctionNode>()) return {};
  }
  return {
      "LowerToTir: the module has no primitive functions, so nothing is "
      "lowered; insert FuseOps before it"};
}

}  // namespace baton
