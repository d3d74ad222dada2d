// WhyNotInstrument: reports why rules were not applied.

#ifndef BATON_TOOLS_WHY_NOT_H_
#define BATON_TOOLS_WHY_NOT_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/transform/pass_instrument.h"

namespace baton {

// After each run of Rewrite, or of another pass that applies one of the rules,
// reports the nodes at which a rule could match and does not: the longest
// partial match and why it ended, or the reason with which the rule declined:
//
//   net.relay:4:3: note: rule sigmoid: matched 2 of 11 parts, then argument 1
//   of divide must be a call of add, found a call of exp
//
// Reports the first 20 nodes for each rule and function.
class WhyNotInstrument final : public PassInstrument {
 public:
  using Report = std::function<void(absl::string_view text)>;

  // An error if one of the names is not a rule.
  static absl::StatusOr<std::shared_ptr<WhyNotInstrument>> Create(
      const std::vector<std::string>& rules, Report report);

  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override;

  // After the run: a line if no pass ran that applies one of the rules; else
  // empty.
  std::string Unmet() const;

 private:
  WhyNotInstrument(relay::RuleSet rules, Report report)
      : PassInstrument("WhyNot"),
        rules_(std::move(rules)),
        report_(std::move(report)) {}

  const relay::RuleSet rules_;
  const Report report_;
  bool has_run_ = false;  // a pass that applies one of the rules
};

}  // namespace baton

#endif  // BATON_TOOLS_WHY_NOT_H_
