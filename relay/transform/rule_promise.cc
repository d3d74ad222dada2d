#include "baton/relay/transform/rule_promise.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/value_promise.h"

namespace baton::relay {

ValuePromise ValuePromiseOf(const RulePromise& promise) {
  if (!promise.ranges.empty()) return ValuePromise::kOther;
  if (!promise.exact) return ValuePromise::kReassociating;
  return promise.excludes_nan || promise.excludes_infinity
             ? ValuePromise::kExactButSpecial
             : ValuePromise::kBitExact;
}

std::string ValuePromiseText(const RulePromise& promise) {
  RulePromise anywhere = promise;
  anywhere.ranges.clear();
  std::string text(ToString(ValuePromiseOf(anywhere)));
  if (!promise.exact && promise.rtol > 0) {
    absl::StrAppend(&text, ", within ", promise.rtol, " of each element");
  }
  if (!promise.exact && promise.atol > 0) {
    absl::StrAppend(&text, promise.rtol > 0 ? " and " : ", within ",
                    promise.atol);
  }
  for (const RulePromise::Range& range : promise.ranges) {
    absl::StrAppend(&text, ", for %", range.name, " in [", range.low, ", ",
                    range.high, "]");
  }
  return text;
}

PassInfo WeakenedByRules(PassInfo info, absl::Span<const RewriteRule> rules) {
  // The rules of a set need one waiver for a law.
  const auto waive = [&info](const char* law, const RewriteRule& rule) {
    if (!Keeps(info, law)) return;
    info.waivers.push_back(
        {law, absl::StrCat("The rule ", rule.name, " is ",
                           ValuePromiseText(rule.promise), ".")});
  };
  for (const RewriteRule& rule : rules) {
    switch (ValuePromiseOf(rule.promise)) {
      case ValuePromise::kBitExact:
        break;
      case ValuePromise::kExactButSpecial:
        waive("special_values", rule);
        break;
      case ValuePromise::kReassociating:
      case ValuePromise::kPrecisionChanging:
        if (info.exact) info.tolerance = 0;
        info.exact = false;
        info.tolerance =
            std::max({info.tolerance, rule.promise.rtol, rule.promise.atol});
        break;
      case ValuePromise::kOther:
        waive("values", rule);
        break;
    }
  }
  return info;
}

}  // namespace baton::relay
