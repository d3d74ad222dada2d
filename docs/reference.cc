#include "baton/docs/reference.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/docs/cpp_builders.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/gradients.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/op/op_flags.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_registry.h"
#include "baton/relay/runtime/kernel.h"
#include "baton/relay/transform/fold_scale_axis.h"
#include "baton/relay/transform/simplify_inference.h"
#include "baton/testing/workloads/workload.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/transform/config.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_list.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/value_promise.h"

namespace baton::docs {
namespace {

constexpr absl::string_view kUpdate =
    "\n\nThis page is made from what is registered. To update it, run\n\n"
    "    ./bazelw run //docs:update\n";

std::string Code(absl::string_view text) {
  return absl::StrCat("`", text, "`");
}

// Text in a cell of a table.
std::string Cell(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}});
}

// `a`, `b` and `c`; `link` is called for each.
template <typename Link>
std::string List(const std::vector<std::string>& names, Link link) {
  std::string result;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) result += i + 1 == names.size() ? " and " : ", ";
    result += link(names[i]);
  }
  return result;
}

// A row for each field, below a heading that calls fields `what`.
std::string FieldTable(absl::string_view what, const FieldList& fields) {
  if (fields.fields().empty()) return "";
  std::string table = absl::StrCat(
      "\n| ", what, " | type | default | is |\n|---|---|---|---|\n");
  for (const Field& field : fields.fields()) {
    absl::StrAppend(
        &table, "| ", Code(field.name()), " | ", Cell(field.type_name()), " | ",
        field.required()
            ? "must be given"
            : Cell(Code(field.Get(fields.default_object()).ToString())),
        " | ", Cell(field.doc()), " |\n");
  }
  return table;
}

// The anchor of a section, as sites that show Markdown derive it.
std::string LinkTo(absl::string_view section) {
  std::string anchor;
  for (const char c : section) {
    if (c != '.') anchor += absl::ascii_tolower(static_cast<unsigned char>(c));
  }
  return absl::StrCat("[", section, "](#", anchor, ")");
}

absl::string_view WorksOn(PassGranularity granularity) {
  switch (granularity) {
    case PassGranularity::kModule:
      return "module pass";
    case PassGranularity::kFunction:
      return "function pass";
    case PassGranularity::kSequence:
      return "sequence of passes";
  }
  return "";
}

std::string Promises(const PassInfo& info) {
  std::string promises = absl::StrCat("Values: ", ValuePromiseText(info), ".");
  if (info.idempotent) {
    absl::StrAppend(&promises, " Run on its own result, it changes nothing.");
  }
  absl::StrAppend(&promises, "\n");
  for (const LawWaiver& waiver : info.waivers) {
    absl::StrAppend(&promises, "\nIt does not keep the law ", Code(waiver.law),
                    ": ", waiver.reason, "\n");
  }
  return promises;
}

std::string PassSection(const PassRegistry& registry, const std::string& name) {
  std::string section = absl::StrCat("\n## ", name, "\n\n");
  const absl::StatusOr<PassFactory> factory = registry.Factory(name);
  const absl::StatusOr<PassInfo> info = registry.Info(name);
  if (!factory.ok() || !info.ok()) {
    const absl::Status& error = factory.ok() ? info.status() : factory.status();
    return absl::StrCat(section, "Error: ", error.message(), "\n");
  }
  absl::StrAppend(&section, info->doc, "\n\nLevel ", info->opt_level, ", ",
                  WorksOn(info->granularity));
  if (!info->required.empty()) {
    absl::StrAppend(&section, "; requires ", List(info->required, LinkTo));
  }
  absl::StrAppend(&section, ". ", Promises(*info));
  if (factory->options() != nullptr) {
    section += FieldTable("option", *factory->options());
  }
  return section;
}

// Returns the name of the way in which FuseOps treats an operator.
absl::string_view Name(relay::FusionPattern pattern) {
  switch (pattern) {
    case relay::FusionPattern::kElemWise:
      return "element-wise";
    case relay::FusionPattern::kBroadcast:
      return "broadcast";
    case relay::FusionPattern::kInjective:
      return "injective";
    case relay::FusionPattern::kCommReduce:
      return "reduction";
    case relay::FusionPattern::kOutEWiseFusable:
      return "complex, which element-wise operators may follow";
    case relay::FusionPattern::kTuple:
      return "tuple";
    case relay::FusionPattern::kOpaque:
      break;
  }
  return "opaque";
}

// True if a rule of CanonicalizeOps replaces calls of the operator.
bool HasCanonicalForm(const OpNode& op) {
  const absl::StatusOr<std::vector<relay::RewriteRule>> rules =
      relay::RuleRegistry::Global().RulesOf("CanonicalizeOps");
  return rules.ok() &&
         absl::c_any_of(*rules, [&](const relay::RewriteRule& rule) {
           return absl::c_linear_search(
               relay::Matcher(rule.pattern).roots().ops, &op);
         });
}

// The properties that the packages above `ir/` define for an operator.
std::string Properties(const OpNode& op) {
  std::vector<std::string> properties;
  properties.emplace_back(
      relay::Kernels().Get(op) != nullptr ? "kernel" : "**no kernel**");
  const relay::FusionPattern* fusion = relay::FusionPatterns().Get(op);
  properties.push_back(absl::StrCat(
      "fusion: ",
      Name(fusion == nullptr ? relay::FusionPattern::kOpaque : *fusion)));
  if (const auto* rule = relay::ConvertLayoutRules().Get(op)) {
    properties.push_back(absl::StrCat("layouts: ConvertLayout takes those of ",
                                      List(rule->slots, Code)));
  } else if (relay::LayoutInferenceRules().Get(op) != nullptr) {
    properties.emplace_back("layouts: follows those of its arguments");
  }
  std::vector<std::string> scales;
  if (relay::ForwardScaleRules().Get(op) != nullptr) {
    scales.emplace_back("forward");
  }
  if (relay::BackwardScaleRules().Get(op) != nullptr) {
    scales.emplace_back("backward");
  }
  if (!scales.empty()) {
    properties.push_back(absl::StrCat("scales move through it ",
                                      absl::StrJoin(scales, " and ")));
  }
  if (relay::Gradients().Get(op) != nullptr) {
    properties.emplace_back("has a gradient");
  }
  if (relay::InferenceRules().Get(op) != nullptr) {
    properties.emplace_back("replaced by SimplifyInference");
  }
  if (relay::NonComputationalOps().Get(op) != nullptr) {
    properties.emplace_back("computes nothing");
  }
  if (relay::StatefulOps().Get(op) != nullptr) {
    properties.emplace_back("stateful");
  }
  if (relay::ReshapeOps().Get(op) != nullptr) {
    properties.emplace_back("a reshape");
  }
  if (relay::QuantizedOps().Get(op) != nullptr) {
    properties.emplace_back("quantized");
  }
  if (relay::DataDependentShapeOps().Get(op) != nullptr) {
    properties.emplace_back("its shape may depend on values");
  }
  if (relay::ShapeQueries().Get(op) != nullptr) {
    properties.emplace_back("follows from the shape of its argument");
  }
  if (HasCanonicalForm(op)) {
    properties.emplace_back("replaced by CanonicalizeOps");
  }
  return absl::StrCat("Properties: ", absl::StrJoin(properties, "; "), ".\n");
}

// `Builder: ...`, with what to include and to depend on.
std::string BuilderLine(const std::vector<OpBuilder>& builders) {
  std::vector<std::string> names;
  for (const OpBuilder& builder : builders) names.push_back(builder.name);
  return absl::StrCat(
      "\n", names.size() == 1 ? "Builder: " : "Builders: ", List(names, Code),
      " in ", Code(builders[0].header), " (", Code(builders[0].target), ").\n");
}

std::string OperatorSection(const OpNode& op,
                            const std::vector<OpBuilder>* builders) {
  std::vector<std::string> arguments;
  std::string table;
  for (const OpArgument& argument : op.arguments()) {
    arguments.push_back(argument.name);
    absl::StrAppend(&table, "| ", Code(argument.name), " | ",
                    Cell(argument.doc), " |\n");
  }
  if (op.arity() < 0) arguments.emplace_back("...");
  std::string section =
      absl::StrCat("\n## ", op.name(), "\n\n", op.doc(), "\n\n    ", op.name(),
                   "(", absl::StrJoin(arguments, ", "), ")\n\n", Properties(op),
                   builders == nullptr ? "" : BuilderLine(*builders));
  if (!table.empty()) {
    absl::StrAppend(&section, "\n| argument | is |\n|---|---|\n", table);
  }
  if (op.attrs_type() != nullptr) {
    absl::StrAppend(&section,
                    "\nAttributes: ", Code(op.attrs_type()->type_key()), ".\n",
                    FieldTable("attribute", op.attrs_type()->fields()));
  }
  return section;
}

}  // namespace

std::string PassReference(const PassRegistry& registry) {
  std::string page = absl::StrCat(
      "# Passes\n\nAll passes of `baton-opt`, as pipelines name them. "
      "[pass_manager.md](pass_manager.md) explains levels and\n"
      "required passes, [write_a_pass.md](write_a_pass.md) the promises of "
      "passes.",
      kUpdate);
  for (const std::string& name : registry.Names()) {
    page += PassSection(registry, name);
  }
  return page;
}

std::string PipelineReference() {
  std::string page = absl::StrCat(
      "# Named pipelines\n\nUsed in `--passes=onnx,O3`; each stands for its "
      "steps. [pass_manager.md](pass_manager.md#pipelines-with-names) shows "
      "how\nto register one, [reference_passes.md](reference_passes.md) "
      "describes the passes.",
      kUpdate);
  for (const std::string& name : NamedPipelines().Names()) {
    const auto pipeline = NamedPipelines().Get(name);
    absl::StrAppend(&page, "\n## ", name, "\n\n");
    if (!pipeline.ok()) {
      absl::StrAppend(&page, "Error: ", pipeline.status().message(), "\n");
      continue;
    }
    absl::StrAppend(
        &page, (*pipeline)->doc, " It is made for level ",
        (*pipeline)->opt_level, ". ",
        (*pipeline)->not_idempotent.empty()
            ? "Run on its own result, it changes nothing."
            : absl::StrCat("Run on its own result, it may change that: ",
                           (*pipeline)->not_idempotent),
        "\n\n| step | why |\n|---|---|\n");
    for (const PipelineStep& step : (*pipeline)->steps) {
      absl::StrAppend(&page, "| ", Cell(Code(step.items)), " | ",
                      Cell(step.reason), " |\n");
    }
  }
  return page;
}

std::string OperatorReference(
    const std::map<std::string, std::vector<OpBuilder>>& builders) {
  std::vector<const OpNode*> ops = OpRegistry::Global().List();
  // Intrinsics of loops are not operators of Relay.
  std::erase_if(ops, [](const OpNode* op) {
    return tir::IntrinsicMap().Get(*op) != nullptr;
  });
  int without_kernel = 0;
  for (const OpNode* op : ops) {
    if (relay::Kernels().Get(*op) == nullptr) ++without_kernel;
  }
  std::string page = absl::StrCat(
      "# Operators\n\nAll operators of `baton-opt`: ", ops.size(),
      ", of which ", without_kernel,
      " have no kernel. Those can be compiled and not "
      "evaluated.\n[add_an_operator.md](add_an_operator.md) explains the "
      "properties.",
      kUpdate);
  for (const OpNode* op : ops) {
    const auto it = builders.find(op->name());
    page += OperatorSection(*op, it == builders.end() ? nullptr : &it->second);
  }
  return page;
}

std::string OptionReference() {
  std::string page = absl::StrCat(
      "# Options\n\nWhat has options beside [passes](reference_passes.md) and "
      "the [command line](baton_opt.md#all-flags).",
      kUpdate,
      "\n## Settings\n\nOf a `PassContext`, given as `--config=KEY=VALUE,...` "
      "or in C++ (`transform/config.h`).\n\n"
      "| setting | type | default | is |\n|---|---|---|---|\n");
  const std::vector<ConfigInfo> configs = ListConfigs().value();
  for (const ConfigInfo& config : configs) {
    absl::StrAppend(&page, "| ", Code(config.name), " | ",
                    Cell(config.type_name), " | ",
                    Cell(Code(config.default_value.ToString())), " | ",
                    Cell(config.doc), " |\n");
  }
  absl::StrAppend(
      &page,
      "\n## Lists of passes\n\nIn pipelines: `FixedPoint{limit=5}(A,B)`.\n");
  for (const std::string& keyword : PassListKinds().Names()) {
    const PassListKind& kind = **PassListKinds().Get(keyword);
    absl::StrAppend(&page, "\n### ", keyword, "\n\n", kind.doc, "\n");
    if (kind.options != nullptr && !kind.options->fields().empty()) {
      absl::StrAppend(&page, FieldTable("option", *kind.options));
    }
  }
  absl::StrAppend(
      &page,
      "\n## Workloads\n\nGiven as `--workload='NAME{OPTION=VALUE,...}'`.\n");
  const std::vector<testing::WorkloadInfo> workloads =
      testing::ListWorkloads().value();
  for (const testing::WorkloadInfo& workload : workloads) {
    absl::StrAppend(&page, "\n### ", workload.name, "\n\n", workload.doc, "\n",
                    FieldTable("option", *workload.options));
  }
  return page;
}

}  // namespace baton::docs
