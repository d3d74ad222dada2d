#include "baton/relay/transform/rewrite.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/rule_promise.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

BATON_STATISTIC(kApplied, "Rewrite", "applied", "Applications of rules.");

// The texts of remarks about rules. The last few are kept, so that remarks
// share them.
class Reasons {
 public:
  ~Reasons() {
    if (applications_ > 0) kApplied.Add(applications_);
  }
  void CountApplication() { ++applications_; }

  // `rule NAME` and `what` and `why`; `what` is the same in all calls.
  const RemarkText& Of(const RewriteRule& rule, absl::string_view what,
                       absl::string_view why) {
    for (const Reason& known : known_) {
      if (known.rule == &rule && known.why == why) return known.text;
    }
    Reason& reason = known_[next_++ % kKept];
    reason = {&rule, std::string(why),
              absl::StrCat("rule ", rule.name, what, why)};
    return reason.text;
  }

 private:
  static constexpr size_t kKept = 4;
  struct Reason {
    const RewriteRule* rule = nullptr;
    std::string why = {};
    RemarkText text = {};
  };
  Reason known_[kKept];
  size_t next_ = 0;
  int64_t applications_ = 0;
};

// Makes the driver log remarks about rules.
void ListenToRules(RewriteOptions& options) {
  if (!SomeoneListens()) return;
  options.on_application = [reasons = std::make_shared<Reasons>()](
                               const RewriteRule& rule, const Expr& before,
                               const Expr& after) {
    reasons->CountApplication();
    if (!WantsRemarks(RemarkKind::kPassed)) return;
    Remark remark{.kind = RemarkKind::kPassed,
                  .node = before,
                  .reason = reasons->Of(rule, " applied", "")};
    remark.nodes.push_back({"result", after});
    LogRemark(std::move(remark));
  };
  if (!WantsRemarks(RemarkKind::kMissed)) return;
  options.on_decline = [reasons = std::make_shared<Reasons>()](
                           const RewriteRule& rule, const Expr& at,
                           absl::string_view why) {
    LogRemark({.kind = RemarkKind::kMissed,
               .node = at,
               .reason = reasons->Of(rule, " declined: ", why)});
  };
  options.on_partial_match = [](const RewriteRule& rule, const Expr& at,
                                absl::string_view why) {
    LogRemark({.kind = RemarkKind::kMissed,
               .node = at,
               .reason = absl::StrCat("rule ", rule.name,
                                      " came closest here: ", why)});
  };
}

absl::StatusOr<Function> RewriteFunction(const RuleSet& rules,
                                         const Function& function,
                                         RewriteOptions options,
                                         const IRModule& module) {
  options.module = &module;
  ListenToRules(options);
  BATON_ASSIGN_OR_RETURN(const Expr result, rules.Rewrite(function, options));
  const auto* rewritten = result.As<FunctionNode>();
  if (rewritten == nullptr) {
    return absl::FailedPreconditionError(
        "a rule must replace a whole function by a function");
  }
  return Function(rewritten);
}

// The number of times that each rule may still be applied; rules without a
// limit are not in it.
class Counters {
 public:
  static absl::StatusOr<Counters> Of(const AttrMap& limits,
                                     const RuleSet& rules) {
    Counters counters;
    for (const auto& [name, value] : limits) {
      std::vector<std::string> known;
      for (const RewriteRule& rule : rules.rules()) known.push_back(rule.name);
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        return absl::NotFoundError(absl::StrCat("limits: there is no rule @",
                                                name, DidYouMean(name, known)));
      }
      const auto* limit = value.As<int64_t>();
      if (limit == nullptr || *limit < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("limits: that of ", name, " is a number from 0 on"));
      }
      counters.left_[name] = *limit;
    }
    return counters;
  }
  bool MayApply(const RewriteRule& rule) {
    const auto it = left_.find(rule.name);
    return it == left_.end() || it->second-- > 0;
  }

 private:
  FlatHashMap<std::string, int64_t> left_;
};

// One function after the other, so that limits count the same on any number of
// threads.
absl::StatusOr<IRModule> RewriteModule(const IRModule& module,
                                       const RewriteRulesOptions& options) {
  BATON_ASSIGN_OR_RETURN(std::vector<RewriteRule> selected,
                         RuleRegistry::Global().Select(options.rules));
  const RuleSet rules(std::move(selected));
  BATON_ASSIGN_OR_RETURN(Counters counters,
                         Counters::Of(options.limits, rules));
  RewriteOptions rewrite;
  rewrite.may_apply = [&](const RewriteRule& rule) {
    return counters.MayApply(rule);
  };
  IRModule result = module;
  for (const auto& [var, function] : module.functions<Function>()) {
    if (!RelayFunctions().SkipReason(function).empty()) continue;
    BATON_ASSIGN_OR_RETURN(Function rewritten,
                           RewriteFunction(rules, function, rewrite, module));
    if (rewritten != function) result.Set(var, std::move(rewritten));
  }
  return result;
}

// The rules of a pass, made ready when it first runs.
class LazyRules {
 public:
  explicit LazyRules(std::function<absl::StatusOr<RuleSet>()> make)
      : make_(std::move(make)) {}
  absl::StatusOr<RuleSet> Get() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!rules_.has_value()) {
      BATON_ASSIGN_OR_RETURN(rules_, make_());
    }
    return *rules_;
  }

 private:
  const std::function<absl::StatusOr<RuleSet>()> make_;
  std::mutex mutex_;
  std::optional<RuleSet> rules_;
};

FunctionPassBody<Function> ApplyLazily(
    std::function<absl::StatusOr<RuleSet>()> make) {
  return [lazy = std::make_shared<LazyRules>(std::move(make))](
             const Function& function, const IRModule& module,
             const PassContext& /*context*/) -> absl::StatusOr<Function> {
    BATON_ASSIGN_OR_RETURN(const RuleSet rules, lazy->Get());
    return RewriteFunction(rules, function, {}, module);
  };
}

constexpr char kName[] = "Rewrite";

PassInfo Info() {
  return {.name = kName,
          .required = {"InferType"},
          .doc = "Applies rewrite rules until none matches.",
          .invalidates = {"a_normal_form", "basic_block_normal_form"},
          .idempotent = true,
          .exact = false,
          .tolerance = 1e-4};
}

}  // namespace

Pass RulePass(RuleSet rules, PassInfo info, PassOptions options) {
  info = WeakenedByRules(std::move(info), rules.rules());
  return CreateFunctionPass(
      [rules = std::move(rules)](
          const Function& function, const IRModule& module,
          const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return RewriteFunction(rules, function, {}, module);
      },
      std::move(info), std::move(options));
}

Pass OwnRulesPass(PassInfo info, OwnRules rules, PassOptions options) {
  RuleRegistry::Global().AddPass(info.name);
  FunctionPassBody<Function> body =
      ApplyLazily([name = info.name, rules = std::move(rules)] {
        return RuleRegistry::Global().SetOf(name, rules.order, rules.without);
      });
  return CreateFunctionPass(std::move(body), std::move(info),
                            std::move(options));
}

Pass Rewrite(RewriteRulesOptions options) {
  if (!options.limits.empty()) {
    return CreateModulePass(
        [options](const IRModule& module, const PassContext& /*context*/) {
          return RewriteModule(module, options);
        },
        Info(), options);
  }
  return CreateFunctionPass(
      ApplyLazily([names = options.rules]() -> absl::StatusOr<RuleSet> {
        BATON_ASSIGN_OR_RETURN(std::vector<RewriteRule> selected,
                               RuleRegistry::Global().Select(names));
        return RuleSet(std::move(selected));
      }),
      Info(), options);
}
BATON_REGISTER_PASS(Rewrite);
BATON_REGISTER_REMARKS(
    "Rewrite",
    {.passed = "a rule was applied",
     .missed = "a rule declined a match, or came closest at a node"});

}  // namespace baton::relay
