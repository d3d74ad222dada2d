#include "baton/relay/transform/alter_op_layout.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/transform_layout.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {

OpProperty<AlterLayoutRule>& AlterLayoutRules(absl::string_view target) {
  static auto* const kMutex = new std::mutex;
  static auto* const kMaps =
      new std::map<std::string, OpProperty<AlterLayoutRule>>;
  const std::lock_guard<std::mutex> lock(*kMutex);
  return (*kMaps)[std::string(target)];
}

namespace {

BATON_STATISTIC(kConverted, "AlterOpLayout", "converted",
                "Calls that work in another layout.");
BATON_STATISTIC(kRealized, "AlterOpLayout", "realized",
                "Nodes that take what was converted in the old layout.");

using Maps = std::vector<const OpProperty<AlterLayoutRule>*>;

class AlterationByTarget final : public CallChange {
 public:
  explicit AlterationByTarget(const Maps& maps) : maps_(maps) {}

  bool Applies(const OpNode& op) const override { return Find(op) != nullptr; }

  absl::StatusOr<ChangedCall> Change(const CallToChange& call) const override {
    const OpNode* op = call.call.op_node();
    BATON_ASSIGN_OR_RETURN(
        const Expr altered,
        (*Find(*op))(
            {.call = call.call, .attrs = call.attrs, .args = call.args}));
    if (!altered.defined()) return ChangedCall{Op(op), call.attrs, {}};
    const auto* new_call = altered.As<CallNode>();
    if (new_call == nullptr || new_call->op_node() == nullptr) {
      return absl::InvalidArgumentError(
          "a rule for layouts makes something else than a call of an operator");
    }
    return ChangedCall{
        Op(new_call->op_node()), new_call->attrs(),
        std::vector<Expr>(new_call->args().begin(), new_call->args().end())};
  }
  const Statistic& converted() const override { return kConverted; }
  const Statistic& realized() const override { return kRealized; }

 private:
  const AlterLayoutRule* Find(const OpNode& op) const {
    for (const auto* map : maps_) {
      if (const AlterLayoutRule* rule = map->Get(op)) return rule;
    }
    return nullptr;
  }

  const Maps& maps_;
};

}  // namespace

Pass AlterOpLayout(AlterOpLayoutOptions options) {
  const std::string given = options.target;
  // A target may compute something else.
  const bool has_no_target = given.empty();
  return CreateFunctionPass(
      [given](const Function& function, const IRModule& /*module*/,
              const PassContext& context) -> absl::StatusOr<Function> {
        const std::string& target =
            given.empty() ? context.target().kind : given;
        Maps maps;
        if (!target.empty()) maps.push_back(&AlterLayoutRules(target));
        maps.push_back(&AlterLayoutRules());
        return TransformLayout(function, AlterationByTarget(maps));
      },
      {.name = "AlterOpLayout",
       .opt_level = 3,
       .required = {"InferType"},
       .doc = "Lets a target choose layouts, or other operators.\n\n"
              "The other operators follow where they can; where they cannot, a "
              "layout_transform is put between. Reductions and normalizations "
              "follow where the order of their sums stays.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .exact = has_no_target,
       .uses_target = has_no_target},
      std::move(options));
}
BATON_REGISTER_PASS(AlterOpLayout);
BATON_REGISTER_REMARKS("AlterOpLayout",
                       {.passed = "a call takes its operands in other layouts",
                        .missed = "why a node takes them in the old layout"});

}  // namespace baton::relay
