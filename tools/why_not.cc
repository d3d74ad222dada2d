#include "baton/tools/why_not.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/transform/pass_instrument.h"

namespace baton {
namespace {

constexpr int kMaxNotes = 20;

// Why the rule was not applied to `expr`.
std::string Why(const relay::RewriteRule& rule, const relay::Matcher& matcher,
                const Expr& expr, const relay::UseCounts& uses) {
  const std::optional<relay::PatternMatch> match = matcher.At(expr, &uses);
  if (!match.has_value()) return matcher.Explain(expr, &uses);
  const absl::StatusOr<Expr> replacement = rule.replace(*match);
  if (!replacement.ok()) return std::string(replacement.status().message());
  if (!replacement->defined() && !match->declined().empty()) {
    return absl::StrCat("matched, ", match->declined());
  }
  return rule.exclusive ? "matched, but parts of it are used elsewhere"
                        : "matched, and was not applied";
}

}  // namespace

absl::StatusOr<std::shared_ptr<WhyNotInstrument>> WhyNotInstrument::Create(
    const std::vector<std::string>& rules, Report report) {
  BATON_ASSIGN_OR_RETURN(std::vector<relay::RewriteRule> selected,
                         relay::RuleRegistry::Global().Select(rules));
  return std::shared_ptr<WhyNotInstrument>(new WhyNotInstrument(
      relay::RuleSet(std::move(selected)), std::move(report)));
}

std::string WhyNotInstrument::Unmet() const {
  if (has_run_) return "";
  std::set<std::string> passes;
  for (const relay::RewriteRule& rule : rules_.rules()) {
    if (rule.passes.empty()) passes.insert("Rewrite");
    passes.insert(rule.passes.begin(), rule.passes.end());
  }
  return absl::StrCat("--why_not: this run has no ",
                      absl::StrJoin(passes, " or "), "\n");
}

absl::Status WhyNotInstrument::RunAfterPass(const IRModule& module,
                                            const PassExecution& pass) {
  std::vector<bool> concerned;
  for (const relay::RewriteRule& rule : rules_.rules()) {
    concerned.push_back(pass.name() == "Rewrite" ||
                        std::find(rule.passes.begin(), rule.passes.end(),
                                  pass.name()) != rule.passes.end());
  }
  if (std::find(concerned.begin(), concerned.end(), true) == concerned.end()) {
    return absl::OkStatus();
  }
  has_run_ = true;
  for (const auto& [var, function] : module.functions<relay::Function>()) {
    const relay::IndexedGraph graph(function);
    const relay::UseCounts uses(graph);
    for (size_t i = 0; i < rules_.rules().size(); ++i) {
      if (!concerned[i]) continue;
      const relay::RewriteRule& rule = rules_.rules()[i];
      const relay::Matcher& matcher = rules_.matcher(static_cast<int>(i));
      int notes = 0;
      for (int k = 0; k < graph.size() && notes < kMaxNotes; ++k) {
        if (!matcher.roots().Has(graph.node(k))) continue;
        const Expr expr(graph.node(k));
        const bool has_place = expr->span().defined();
        Diagnostics diagnostics;
        diagnostics.Note(
            expr->span(),
            absl::StrCat(
                has_place ? ""
                          : absl::StrCat("@", var->name(), ", at ",
                                         relay::DescribeNode(expr.get()), ": "),
                "rule ", rule.name, ": ", Why(rule, matcher, expr, uses)));
        report_(absl::StrCat(diagnostics.ToString(), "\n"));
        ++notes;
      }
    }
  }
  return absl::OkStatus();
}

namespace {

struct WhyNotFlags {
  std::vector<std::string> why_not;

  template <typename V>
  static void VisitFields(V& v) {
    v("why_not", &WhyNotFlags::why_not,
      FlagSpec{.help = "Why these rules of passes were not applied.",
               .value = "RULE,RULE",
               .group = kReportFlags});
  }
};

InstrumentFactory::Made MakeWhyNot(const WhyNotFlags& flags,
                                   const InstrumentRun& run) {
  if (flags.why_not.empty()) return nullptr;
  auto instrument = WhyNotInstrument::Create(flags.why_not, run.report);
  if (!instrument.ok()) {
    return absl::Status(
        instrument.status().code(),
        absl::StrCat("--why_not: ", instrument.status().message()));
  }
  (*instrument)->set_name("--why_not");
  if (run.at_end != nullptr) {
    run.at_end([made = *instrument] { return made->Unmet(); });
  }
  return *std::move(instrument);
}

BATON_REGISTER_INSTRUMENT("why_not",
                          "Reports why rules of passes were not applied.",
                          MakeWhyNot, InstrumentPhase::kPrint);

}  // namespace
}  // namespace baton
