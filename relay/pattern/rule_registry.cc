#include "baton/relay/pattern/rule_registry.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/ir/diagnostics.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/relay/pattern/rule_text.h"

namespace baton::relay {

namespace {

// The pass to which a rule belongs; empty for none.
absl::string_view PassOf(const RewriteRule& rule) {
  return rule.passes.empty() ? absl::string_view() : rule.passes[0];
}

std::string FullName(const RewriteRule& rule) {
  return rule.passes.empty() ? rule.name
                             : absl::StrCat(rule.passes[0], ".", rule.name);
}

}  // namespace

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
  known_ = nullptr;
}

void RuleRegistry::AddRule(RewriteRule (*make)()) {
  const std::lock_guard<std::mutex> lock(mutex_);
  made_.push_back(make);
  known_ = nullptr;
}

void RuleRegistry::AddPass(absl::string_view pass) {
  const std::lock_guard<std::mutex> lock(mutex_);
  passes_.emplace(pass);
}

std::vector<std::string> RuleRegistry::Passes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return {passes_.begin(), passes_.end()};
}

absl::StatusOr<std::shared_ptr<const RuleRegistry::RuleList>>
RuleRegistry::Known() const {
  if (known_ != nullptr) return known_;
  RuleList in_cpp;
  for (RewriteRule (*make)() : made_) in_cpp.push_back(make());
  std::stable_sort(in_cpp.begin(), in_cpp.end(),
                   [](const RewriteRule& a, const RewriteRule& b) {
                     return a.name < b.name;
                   });
  std::vector<std::shared_ptr<const Source>> texts = texts_;
  std::stable_sort(
      texts.begin(), texts.end(),
      [](const auto& a, const auto& b) { return a->name() < b->name(); });
  Diagnostics diagnostics;
  RuleList in_text;
  for (const std::shared_ptr<const Source>& text : texts) {
    RuleList read = ParseRules(text, diagnostics);
    in_text.insert(in_text.end(), std::make_move_iterator(read.begin()),
                   std::make_move_iterator(read.end()));
  }
  if (diagnostics.has_errors()) return diagnostics.ToStatus();

  // A text may give a rule in C++ its place in the order.
  std::vector<bool> is_placed(in_cpp.size());
  for (RewriteRule& rule : in_text) {
    if (rule.replace != nullptr) continue;
    const auto it = std::find_if(
        in_cpp.begin(), in_cpp.end(),
        [&](const RewriteRule& r) { return FullName(r) == FullName(rule); });
    if (it == in_cpp.end()) {
      return absl::NotFoundError(absl::StrCat(rule.place, ": no rule @",
                                              rule.name, " of ", PassOf(rule),
                                              " is linked in"));
    }
    is_placed[static_cast<size_t>(it - in_cpp.begin())] = true;
    rule = *it;
  }
  RuleList rules;
  for (size_t i = 0; i < in_cpp.size(); ++i) {
    if (!is_placed[i]) rules.push_back(std::move(in_cpp[i]));
  }
  rules.insert(rules.end(), std::make_move_iterator(in_text.begin()),
               std::make_move_iterator(in_text.end()));
  std::stable_sort(rules.begin(), rules.end(),
                   [](const RewriteRule& a, const RewriteRule& b) {
                     return PassOf(a) < PassOf(b);
                   });
  auto unique = std::make_shared<RuleList>();
  FlatHashMap<std::string, size_t> places;  // in `unique`, by name
  for (RewriteRule& rule : rules) {
    const auto [it, is_new] = places.emplace(FullName(rule), unique->size());
    if (is_new) {
      unique->push_back(std::move(rule));
    } else if (PrintRule((*unique)[it->second]) != PrintRule(rule)) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are two rules called @", rule.name,
                       rule.passes.empty() ? "" : " of ", PassOf(rule)));
    }
  }
  known_ = std::move(unique);
  sets_.clear();
  return known_;
}

absl::StatusOr<std::vector<RewriteRule>> RuleRegistry::AllRules() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  BATON_ASSIGN_OR_RETURN(const std::shared_ptr<const RuleList> known, Known());
  return *known;
}

absl::StatusOr<std::vector<RewriteRule>> RuleRegistry::Rules() const {
  BATON_ASSIGN_OR_RETURN(std::vector<RewriteRule> rules, AllRules());
  rules.erase(std::find_if(
                  rules.begin(), rules.end(),
                  [](const RewriteRule& rule) { return !rule.passes.empty(); }),
              rules.end());
  return rules;
}

absl::StatusOr<std::vector<RewriteRule>> RuleRegistry::RulesOf(
    absl::string_view pass) const {
  BATON_ASSIGN_OR_RETURN(std::vector<RewriteRule> rules, AllRules());
  rules.erase(std::remove_if(rules.begin(), rules.end(),
                             [&](const RewriteRule& rule) {
                               return std::find(rule.passes.begin(),
                                                rule.passes.end(),
                                                pass) == rule.passes.end();
                             }),
              rules.end());
  return rules;
}

absl::StatusOr<std::vector<RewriteRule>> RuleRegistry::Select(
    const std::vector<std::string>& names) const {
  if (names.empty()) return Rules();
  BATON_ASSIGN_OR_RETURN(const std::vector<RewriteRule> rules, AllRules());
  std::vector<RewriteRule> selected;
  for (const std::string& name : names) {
    const RewriteRule* found = nullptr;
    std::vector<std::string> passes;
    for (const RewriteRule& rule : rules) {
      if (FullName(rule) == name) {
        found = &rule;
        passes.clear();
        break;
      }
      if (rule.name != name) continue;
      found = &rule;
      passes.push_back(FullName(rule));
    }
    if (found == nullptr) {
      std::set<std::string> known;
      for (const RewriteRule& rule : rules) known.insert(rule.name);
      return absl::NotFoundError(absl::StrCat(
          "there is no rule @", name,
          DidYouMean(name,
                     std::vector<std::string>(known.begin(), known.end()))));
    }
    if (passes.size() > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("several passes have a rule @", name, ": ",
                       absl::StrJoin(passes, ", ")));
    }
    selected.push_back(*found);
  }
  return selected;
}

absl::StatusOr<RuleSet> RuleRegistry::SetOf(
    absl::string_view pass, RuleOrder order,
    const std::vector<std::string>& without) const {
  std::shared_ptr<const RuleList> known;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    BATON_ASSIGN_OR_RETURN(known, Known());
    for (const Set& set : sets_) {
      if (set.pass == pass && set.order == order && set.without == without) {
        return set.rules;
      }
    }
  }
  BATON_ASSIGN_OR_RETURN(std::vector<RewriteRule> rules, RulesOf(pass));
  rules.erase(std::remove_if(rules.begin(), rules.end(),
                             [&](const RewriteRule& rule) {
                               return std::find(without.begin(), without.end(),
                                                rule.name) != without.end();
                             }),
              rules.end());
  RuleSet set(std::move(rules), order);
  BATON_RETURN_IF_ERROR(set.status());
  const std::lock_guard<std::mutex> lock(mutex_);
  // Another thread may have added rules.
  if (known_ == known) {
    sets_.push_back({std::string(pass), order, without, set});
  }
  return set;
}

}  // namespace baton::relay
