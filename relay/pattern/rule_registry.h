// RuleRegistry: the rules that are linked into a program, and those of files
// that it loads. A rule belongs to a pass, which applies it
// (RewriteRule::passes), or to none: then the pass Rewrite applies it.

#ifndef BATON_RELAY_PATTERN_RULE_REGISTRY_H_
#define BATON_RELAY_PATTERN_RULE_REGISTRY_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/macros.h"
#include "baton/base/source.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"

namespace baton::relay {

// Thread-safe.
class RuleRegistry {
 public:
  static RuleRegistry& Global();

  // Adds the rules of a text. The first call that returns rules parses the
  // text: by then operators are registered. `name` is the name of its file, for
  // messages. Adding a text again under the same name has no effect, nor has a
  // rule with the text of one that is known.
  void AddText(absl::string_view name, absl::string_view text);
  // Adds a rule in C++.
  void AddRule(RewriteRule (*make)());

  // The rules that belong to no pass: those in C++ by name, then those of
  // texts, by the name of the text and in the order of the text. Errors: all
  // errors of the texts, and names that two rules of one pass have.
  absl::StatusOr<std::vector<RewriteRule>> Rules() const;
  // The rules that `pass` applies, in the same order, except that a rule in C++
  // which a text names (`rule @name of P;`) has its place in that text.
  absl::StatusOr<std::vector<RewriteRule>> RulesOf(
      absl::string_view pass) const;
  // All rules: those that belong to no pass, then those of each pass, by its
  // name.
  absl::StatusOr<std::vector<RewriteRule>> AllRules() const;

  // The rules with the given names, in the order of `names`; if `names` is
  // empty, the rules that belong to no pass. `name` is a rule of no pass, or
  // else of a pass; `pass.name` the one of that pass. The error names the
  // nearest rules.
  absl::StatusOr<std::vector<RewriteRule>> Select(
      const std::vector<std::string>& names) const;

  // RulesOf(pass), compiled once for matching, without the rules with the names
  // `without`.
  absl::StatusOr<RuleSet> SetOf(absl::string_view pass, RuleOrder order,
                                const std::vector<std::string>& without) const;

  // The passes that apply the rules that belong to them.
  void AddPass(absl::string_view pass);
  std::vector<std::string> Passes() const;

 private:
  using RuleList = std::vector<RewriteRule>;

  // The rules, in the order of AllRules(). Requires `mutex_`.
  absl::StatusOr<std::shared_ptr<const RuleList>> Known() const;

  mutable std::mutex mutex_;
  std::vector<RewriteRule (*)()> made_;
  std::vector<std::shared_ptr<const Source>> texts_;
  std::set<std::string> passes_;
  // Null if something was added since.
  mutable std::shared_ptr<const RuleList> known_;
  struct Set {
    std::string pass;
    RuleOrder order;
    std::vector<std::string> without;
    RuleSet rules;
  };
  mutable std::vector<Set> sets_;  // a few for each pass
};

// Registers a function without arguments that returns a RewriteRule.
#define BATON_REGISTER_RULE(make)                       \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_rule_registration_) =                       \
      (::baton::relay::RuleRegistry::Global().AddRule(make), true)
// Registers rules as text.
#define BATON_REGISTER_RULES_TEXT(name, text)           \
  [[maybe_unused]] static const bool BATON_UNIQUE_NAME( \
      baton_rule_registration_) =                       \
      (::baton::relay::RuleRegistry::Global().AddText(name, text), true)

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_RULE_REGISTRY_H_
