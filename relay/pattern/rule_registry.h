// RuleRegistry: the rules that are linked into a program, and those of files
// that it loads.

#ifndef BATON_RELAY_PATTERN_RULE_REGISTRY_H_
#define BATON_RELAY_PATTERN_RULE_REGISTRY_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/source.h"
#include "baton/relay/pattern/rewrite_rule.h"

namespace baton::relay {

// Thread-safe.
class RuleRegistry {
 public:
  static RuleRegistry& Global();

  // Adds the rules of a text. The first call of Rules() or Select() parses the
  // text: by then operators are registered. `name` is the name of its file, for
  // messages. Adding a text again under the same name has no effect.
  void AddText(absl::string_view name, absl::string_view text);
  // Adds a rule in C++.
  void AddRule(RewriteRule (*make)());

  // All rules: those in C++ by name, then those of texts, by the name of the
  // text and in the order of the text. Errors: all errors of the texts, and
  // names that two rules have.
  absl::StatusOr<std::vector<RewriteRule>> Rules() const;

  // The rules with the given names, in the order of `names`; all rules if
  // `names` is empty. The error names the nearest rules.
  absl::StatusOr<std::vector<RewriteRule>> Select(
      const std::vector<std::string>& names) const;

 private:
  mutable std::mutex mutex_;
  std::vector<RewriteRule (*)()> made_;
  std::vector<std::shared_ptr<const Source>> texts_;
};

// Registers a function without arguments that returns a RewriteRule.
#define BATON_REGISTER_RULE(make)                        \
  [[maybe_unused]] static const bool BATON_RULE_CONCAT_( \
      baton_rule_registration_, __COUNTER__) =           \
      (::baton::relay::RuleRegistry::Global().AddRule(make), true)
// Registers rules as text.
#define BATON_REGISTER_RULES_TEXT(name, text)            \
  [[maybe_unused]] static const bool BATON_RULE_CONCAT_( \
      baton_rule_registration_, __COUNTER__) =           \
      (::baton::relay::RuleRegistry::Global().AddText(name, text), true)
#define BATON_RULE_CONCAT_(a, b) BATON_RULE_CONCAT_IMPL_(a, b)
#define BATON_RULE_CONCAT_IMPL_(a, b) a##b

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_RULE_REGISTRY_H_
