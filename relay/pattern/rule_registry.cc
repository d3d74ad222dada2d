#include "baton/relay/pattern/rule_registry.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_text.h"

namespace baton::relay {

RuleRegistry& RuleRegistry::Global() {
  static auto& registry = *new RuleRegistry;
  return registry;
}

void RuleRegistry::AddText(absl::string_view name, absl::string_view text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::shared_ptr<const Source>& known : texts_) {
    if (known->name() == name && known->text() == text) return;
  }
  texts_.push_back(
      std::make_shared<const Source>(std::string(name), std::string(text)));
}

void RuleRegistry::AddRule(RewriteRule (*make)()) {
  const std::lock_guard<std::mutex> lock(mutex_);
  made_.push_back(make);
}

absl::StatusOr<std::vector<RewriteRule>> RuleRegistry::Rules() const {
  std::vector<RewriteRule (*)()> made;
  std::vector<std::shared_ptr<const Source>> texts;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    made = made_;
    texts = texts_;
  }
  std::vector<RewriteRule> rules;
  for (RewriteRule (*make)() : made) rules.push_back(make());
  std::stable_sort(rules.begin(), rules.end(),
                   [](const RewriteRule& a, const RewriteRule& b) {
                     return a.name < b.name;
                   });
  std::stable_sort(
      texts.begin(), texts.end(),
      [](const auto& a, const auto& b) { return a->name() < b->name(); });
  Diagnostics diagnostics;
  for (const std::shared_ptr<const Source>& text : texts) {
    std::vector<RewriteRule> read = ParseRules(text, diagnostics);
    rules.insert(rules.end(), std::make_move_iterator(read.begin()),
                 std::make_move_iterator(read.end()));
  }
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  FlatHashMap<absl::string_view, int> names;
  for (const RewriteRule& rule : rules) {
    if (++names[rule.name] == 2) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are two rules called @", rule.name));
    }
  }
  return rules;
}

absl::StatusOr<std::vector<RewriteRule>> RuleRegistry::Select(
    const std::vector<std::string>& names) const {
  BATON_ASSIGN_OR_RETURN(std::vector<RewriteRule> rules, Rules());
  if (names.empty()) return rules;
  std::vector<RewriteRule> selected;
  for (const std::string& name : names) {
    const auto it = std::find_if(
        rules.begin(), rules.end(),
        [&](const RewriteRule& rule) { return rule.name == name; });
    if (it == rules.end()) {
      std::vector<std::string> known;
      for (const RewriteRule& rule : rules) known.push_back(rule.name);
      return absl::NotFoundError(
          absl::StrCat("there is no rule @", name, DidYouMean(name, known)));
    }
    selected.push_back(*it);
  }
  return selected;
}

}  // namespace baton::relay
