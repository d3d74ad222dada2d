#include "baton/relay/transform/convert_layout.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/layout.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/layout_rules.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/transform_layout.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

BATON_STATISTIC(kConverted, "ConvertLayout", "converted",
                "Calls that work in another layout.");
BATON_STATISTIC(kRealized, "ConvertLayout", "realized",
                "Nodes that take what was converted in the old layout.");

// Parsed options: one layout for each slot of the operator's rule, undefined
// for `default`.
using DesiredLayouts = FlatHashMap<const OpNode*, Layouts>;

// Returns the names of the operators whose layouts can be chosen.
std::string ConvertibleOps() {
  std::vector<absl::string_view> names;
  for (const OpNode* op : OpRegistry::Global().List()) {
    if (ConvertLayoutRules().Get(*op) != nullptr) names.push_back(op->name());
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<DesiredLayouts> ParseDesiredLayouts(const AttrMap& options) {
  DesiredLayouts result;
  for (const auto& [name, value] : options) {
    const auto error = [&, &name = name](const auto&... why) {
      return absl::InvalidArgumentError(
          absl::StrCat("desired_layouts: ", name, ": ", why...));
    };
    const OpNode* op = OpRegistry::Global().Find(name);
    const ConvertLayoutRule* rule =
        op == nullptr ? nullptr : ConvertLayoutRules().Get(*op);
    if (rule == nullptr) {
      return error(op == nullptr ? "no such operator"
                                 : "the layout of this operator cannot be "
                                   "chosen",
                   "; operators to choose from: ", ConvertibleOps());
    }
    std::vector<std::string> names;
    if (absl::Status status =
            AttrTraits<std::vector<std::string>>::FromValue(value, &names);
        !status.ok()) {
      return error(status.message());
    }
    if (names.size() != rule->slots.size()) {
      return error("expected ", rule->slots.size(), " layout",
                   rule->slots.size() == 1 ? "" : "s", " (",
                   absl::StrJoin(rule->slots, ", "), "), not ", names.size());
    }
    Layouts layouts;
    for (const std::string& text : names) {
      if (text == "default") {
        layouts.emplace_back();
        continue;
      }
      absl::StatusOr<Layout> layout = Layout::Parse(text);
      if (!layout.ok()) return error(layout.status().message());
      if (!layout->defined()) return error("a layout is empty");
      layouts.push_back(*std::move(layout));
    }
    result.insert_or_assign(op, std::move(layouts));
  }
  return result;
}

// The calls that the options name, in the layouts that they name.
class DesiredLayoutChange final : public CallChange {
 public:
  explicit DesiredLayoutChange(const DesiredLayouts& desired)
      : desired_(desired) {}

  bool Applies(const OpNode& op) const override {
    return desired_.find(&op) != desired_.end() &&
           LayoutInferenceRules().Get(op) != nullptr;
  }
  absl::StatusOr<ChangedCall> Change(const CallToChange& call) const override {
    const OpNode* op = call.call.op_node();
    BATON_ASSIGN_OR_RETURN(ConvertedCall converted,
                           ConvertLayoutRules().Get(*op)->convert(
                               {.call = call.call,
                                .attrs = call.attrs,
                                .inputs = call.inputs,
                                .desired = desired_.find(op)->second}));
    return ChangedCall{std::move(converted.op), std::move(converted.attrs), {}};
  }
  const Statistic& converted() const override { return kConverted; }
  const Statistic& realized() const override { return kRealized; }

 private:
  const DesiredLayouts& desired_;
};

Pass MakeConvertLayout(ConvertLayoutOptions options,
                       absl::StatusOr<DesiredLayouts> desired) {
  auto shared = std::make_shared<const absl::StatusOr<DesiredLayouts>>(
      std::move(desired));
  return CreateFunctionPass(
      [shared](Function function, const IRModule& /*module*/,
               const PassContext& /*context*/) -> absl::StatusOr<Function> {
        if (!shared->ok()) return shared->status();
        return TransformLayout(function, DesiredLayoutChange(**shared));
      },
      {.name = "ConvertLayout",
       .opt_level = 3,
       .required = {"InferType", "CanonicalizeOps"},
       .doc = "Makes operators work in chosen layouts.\n\n"
              "The others follow where they can; where they cannot, a "
              "layout_transform is put between. Reductions and normalizations "
              "follow where the order of their sums stays.",
       .needs = {"no_primitive_functions"},
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .idempotent = true,
       .examples = {"desired_layouts={nn.conv2d:[NHWC,default]}",
                    "desired_layouts={nn.conv2d:[NCHW4c,OIHW4i4o]}"}},
      std::move(options));
}

// By name, bad options are refused when the pass is made.
absl::StatusOr<Pass> CreateConvertLayout(ConvertLayoutOptions options) {
  absl::StatusOr<DesiredLayouts> desired =
      ParseDesiredLayouts(options.desired_layouts);
  if (!desired.ok()) return desired.status();
  return MakeConvertLayout(std::move(options), std::move(desired));
}

}  // namespace

Pass ConvertLayout(ConvertLayoutOptions options) {
  absl::StatusOr<DesiredLayouts> desired =
      ParseDesiredLayouts(options.desired_layouts);
  return MakeConvertLayout(std::move(options), std::move(desired));
}
BATON_REGISTER_PASS_AS("ConvertLayout", CreateConvertLayout);
BATON_REGISTER_REMARKS("ConvertLayout",
                       {.passed = "a call takes its operands in other layouts",
                        .missed = "why a node takes them in the old layout"});

}  // namespace baton::relay
