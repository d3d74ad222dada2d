#include "baton/tools/lists.h"

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/fields.h"
#include "baton/base/plural.h"
#include "baton/base/registry.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/lower/computation.h"
#include "baton/relay/pattern/check_rules.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/pattern/rule_text.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/transform/rule_promise.h"
#include "baton/testing/workloads/workload.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tools/prepared_run.h"
#include "baton/transform/module_property.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/value_promise.h"

namespace baton {
namespace {

std::string DefaultText(const Field& field, const FieldList& fields) {
  return field.required() ? absl::StrCat("<", field.type_name(), ">")
                          : field.Get(fields.default_object()).ToString();
}

std::string FieldsToString(const FieldList* fields) {
  if (fields == nullptr) return "";
  std::string result;
  for (const Field& field : fields->fields()) {
    absl::StrAppend(&result, result.empty() ? "" : ",", field.name(), "=",
                    DefaultText(field, *fields));
  }
  return absl::StrCat("{", result, "}");
}

// `TEXT` with each line but the first indented.
std::string Indented(absl::string_view text) {
  std::string result;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::StrAppend(&result, result.empty() ? "" : "\n",
                    line.empty() ? "" : "  ", line);
  }
  return result;
}

absl::string_view GranularityName(PassGranularity granularity) {
  switch (granularity) {
    case PassGranularity::kModule:
      return "works on the whole module";
    case PassGranularity::kFunction:
      return "works on each function";
    case PassGranularity::kSequence:
      return "runs other passes";
  }
  return "";
}

void PrintNames(absl::string_view heading,
                const std::vector<std::string>& names, std::ostream& out) {
  if (names.empty()) return;
  out << "  " << heading << ": " << absl::StrJoin(names, ", ") << "\n";
}

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void ListPasses(std::ostream& out) {
  const PassRegistry& registry = PassRegistry::Global();
  for (const std::string& name : registry.Names()) {
    const absl::StatusOr<PassInfo> info = registry.Info(name);
    const absl::StatusOr<PassFactory> factory = registry.Factory(name);
    if (!info.ok() || !factory.ok()) {
      out << name << "  " << info.status().message() << "\n";
      continue;
    }
    // The first line says what it does.
    const std::string doc = info->doc.substr(0, info->doc.find('\n'));
    out << absl::StrFormat("%-26s level %d  %s %s\n", name, info->opt_level,
                           doc, FieldsToString(factory->options()));
    out << absl::StrFormat("%-26s %s\n", "", ValuePromiseText(*info));
    for (const LawWaiver& waiver : info->waivers) {
      out << absl::StrFormat("%-26s does not keep the law `%s`: %s\n", "",
                             waiver.law, waiver.reason);
    }
  }
}

absl::Status DescribePasses(const std::vector<std::string>& names,
                            std::ostream& out) {
  const PassRegistry& registry = PassRegistry::Global();
  absl::string_view separator;
  for (const std::string& name : names) {
    BATON_ASSIGN_OR_RETURN(const PassInfo info, registry.Info(name));
    BATON_ASSIGN_OR_RETURN(const PassFactory factory, registry.Factory(name));
    out << separator << name << "\n" << Indented(info.doc) << "\n";
    separator = "\n";
    out << "  level " << info.opt_level << ", "
        << GranularityName(info.granularity) << "\n";
    PrintNames("runs first", info.required, out);
    PrintNames("requires", info.needs, out);
    PrintNames("establishes", info.establishes, out);
    PrintNames("may invalidate", info.invalidates, out);
    out << "  values: " << ValuePromiseText(info) << "\n";
    if (info.idempotent) out << "  changes nothing in its own result\n";
    for (const LawWaiver& waiver : info.waivers) {
      out << "  does not keep the law `" << waiver.law << "`: " << waiver.reason
          << "\n";
    }
    if (factory.options() != nullptr) {
      for (const Field& field : factory.options()->fields()) {
        out << "  option " << field.name() << "="
            << DefaultText(field, *factory.options()) << " ("
            << field.type_name() << ")  " << field.doc() << "\n";
      }
    }
    for (const std::string& example : info.examples) {
      out << "  example " << name << "{" << example << "}\n";
    }
    // A pass of rules emits those of Rewrite.
    BATON_ASSIGN_OR_RETURN(const std::vector<relay::RewriteRule> rules,
                           relay::RuleRegistry::Global().RulesOf(name));
    if (const RemarkDocs* remarks =
            RemarkDocsOfPasses().Find(rules.empty() ? name : "Rewrite")) {
      const std::pair<const char*, const char*> kinds[] = {
          {"passed", remarks->passed},
          {"missed", remarks->missed},
          {"analysis", remarks->analysis}};
      for (const auto& [kind, doc] : kinds) {
        if (*doc != '\0') out << "  remark " << kind << "  " << doc << "\n";
      }
    }
    const std::string prefix = absl::StrCat(name, ".");
    for (const std::string& statistic : Statistics().Names()) {
      const Statistic* const* found = Statistics().Find(statistic);
      if (found == nullptr || !absl::StartsWith(statistic, prefix)) continue;
      out << "  statistic " << statistic << "  " << (*found)->doc() << "\n";
    }
  }
  return absl::OkStatus();
}

void ListProperties(std::ostream& out) {
  const PassRegistry& registry = PassRegistry::Global();
  for (const std::string& name : ModuleProperties().Names()) {
    const ModuleProperty* property = ModuleProperties().Find(name);
    if (property == nullptr) continue;
    out << absl::StrFormat("%-26s %s\n", name, property->doc);
    std::vector<std::string> requiring;
    std::vector<std::string> establishing;
    std::vector<std::string> invalidating;
    for (const std::string& pass : registry.Names()) {
      const absl::StatusOr<PassInfo> info = registry.Info(pass);
      if (!info.ok()) continue;
      if (Contains(info->needs, name)) requiring.push_back(pass);
      if (Contains(info->establishes, name)) establishing.push_back(pass);
      if (Contains(info->invalidates, name)) invalidating.push_back(pass);
    }
    PrintNames("required by", requiring, out);
    PrintNames("established by", establishing, out);
    PrintNames("may be invalidated by", invalidating, out);
  }
}

void ListOps(std::ostream& out) {
  for (const OpNode* op : OpRegistry::Global().List()) {
    // Intrinsics of loops are not operators of Relay.
    if (tir::IntrinsicMap().Get(*op) != nullptr) continue;
    out << absl::StrFormat(
        "%-34s %s%s%s\n", op->name(), op->doc(),
        relay::Kernels().Get(*op) == nullptr ? " (no kernel)" : "",
        lower::Computations().Get(*op) == nullptr ? "" : " (loops)");
  }
}

void ListPipelines(std::ostream& out) {
  for (const std::string& name : NamedPipelines().Names()) {
    const auto pipeline = NamedPipelines().Get(name);
    if (!pipeline.ok()) {
      out << name << "  " << pipeline.status().message() << "\n";
      continue;
    }
    out << absl::StrFormat("%-12s level %d  %s\n", name, (*pipeline)->opt_level,
                           (*pipeline)->doc);
    for (const PipelineStep& step : (*pipeline)->steps) {
      out << absl::StrFormat("  %-34s %s\n", step.items, step.reason);
    }
  }
}

void ListWorkloads(std::ostream& out) {
  const auto workloads = testing::ListWorkloads();
  if (!workloads.ok()) {
    out << "error: " << workloads.status().message() << "\n";
    return;
  }
  for (const testing::WorkloadInfo& info : *workloads) {
    out << absl::StrFormat("%-12s %s\n", info.name, info.doc);
    for (const Field& field : info.options->fields()) {
      out << absl::StrFormat(
          "  %s=%s  %s\n", field.name(),
          field.Get(info.options->default_object()).ToString(), field.doc());
    }
  }
}

absl::Status ListRules(const std::vector<std::string>& files,
                       std::ostream& out) {
  BATON_ASSIGN_OR_RETURN(const std::vector<relay::RewriteRule> rules,
                         LoadRules(files));
  absl::string_view separator;
  std::string pass;
  for (const relay::RewriteRule& rule : rules) {
    out << separator;
    separator = "\n";
    if (!rule.passes.empty() && rule.passes[0] != pass) {
      pass = rule.passes[0];
      out << "// Rules of the pass " << pass << ".\n\n";
    }
    out << "// " << relay::ValuePromiseText(rule.promise) << "\n"
        << relay::PrintRules({rule});
  }
  return absl::OkStatus();
}

absl::Status CheckRules(const std::vector<std::string>& files,
                        std::ostream& out) {
  BATON_ASSIGN_OR_RETURN(std::vector<relay::RewriteRule> rules,
                         LoadRules(files));
  // Rules of passes are checked only if the files have them.
  rules.erase(std::remove_if(rules.begin(), rules.end(),
                             [&](const relay::RewriteRule& rule) {
                               return !rule.passes.empty() &&
                                      std::none_of(
                                          files.begin(), files.end(),
                                          [&](const std::string& file) {
                                            return absl::StartsWith(
                                                rule.place,
                                                absl::StrCat(file, ":"));
                                          });
                             }),
              rules.end());
  int broken = 0;
  for (const relay::RuleReport& report : relay::CheckRules(rules)) {
    out << "@" << report.rule << ": "
        << (report.broken.empty() ? "keeps the laws" : "breaks a law")
        << ", on " << Plural(report.programs, "program") << ", "
        << Plural(report.evaluated, "evaluation") << "\n";
    for (const std::string& law : report.broken) out << "  " << law << "\n";
    for (const std::string& overlap : report.overlaps) {
      out << "  note: " << overlap << "\n";
    }
    if (!report.broken.empty()) ++broken;
  }
  if (broken == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(broken, " of ", Plural(rules.size(), "rule"),
                   broken == 1 ? " breaks" : " break", " a law"));
}

}  // namespace baton
