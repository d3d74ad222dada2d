#include "baton/relay/transform/annotate_target.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/attrs.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/remark_docs.h"
#include "baton/relay/analysis/annotated_regions.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_attr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/pattern/pattern_table.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::relay {
namespace {

constexpr absl::string_view kDefault = "default";

// The operators and patterns that the compilers support.
class Targets {
 public:
  static absl::StatusOr<Targets> Of(const std::vector<std::string>& names) {
    Targets result(names);
    for (size_t t = 0; t < names.size(); ++t) {
      if (!PatternTables().Contains(names[t])) continue;
      BATON_ASSIGN_OR_RETURN(std::shared_ptr<const PatternTable> table,
                             GetPatternTable(names[t]));
      for (const SupportedOperator& supported : table->operators) {
        result.operators_[Op::Find(supported.op).get()].push_back(
            {t, &supported});
      }
      result.tables_.push_back(std::move(table));
    }
    return result;
  }

  // True if the pattern table of one of the compilers has the operator.
  bool Know(const OpNode* op) const { return operators_.contains(op); }

  // The preferred compiler that takes the call.
  absl::string_view Choose(const CallNode& call) const {
    if (const OpNode* op = call.op_node()) {
      const auto it = operators_.find(op);
      if (it == operators_.end()) return kDefault;
      for (const auto& [target, supported] : it->second) {
        if (supported->accepts == nullptr || supported->accepts(call)) {
          return names_[target];
        }
      }
    } else if (const auto* function = call.op().As<FunctionNode>()) {
      const std::string* name = TextAttr(*function, attr::kComposite);
      if (name == nullptr) return kDefault;
      const size_t dot = name->find('.');
      if (dot == std::string::npos) return kDefault;
      const auto target =
          absl::c_find(names_, absl::string_view(*name).substr(0, dot));
      if (target != names_.end()) return *target;
    }
    return kDefault;
  }

 private:
  struct Support {
    size_t target;
    const SupportedOperator* supported;
  };
  explicit Targets(const std::vector<std::string>& names) : names_(names) {}

  std::vector<std::string> names_;
  std::vector<std::shared_ptr<const PatternTable>> tables_;
  FlatHashMap<const OpNode*, std::vector<Support>> operators_;
};

class Annotator final : public ExprMutator {
 public:
  Annotator(const Targets& targets, bool include_non_calls)
      : choices_(targets), include_non_calls_(include_non_calls) {}

 protected:
  // Composite functions stay as they are.
  Expr Before(const ExprNode* node) override {
    if (node->kind() != ExprKind::kFunction) return {};
    const auto* function = static_cast<const FunctionNode*>(node);
    return function->attrs().Find(attr::kComposite) == nullptr ? Expr()
                                                               : Expr(function);
  }

  Expr VisitCall(const CallNode* original, Call call) override {
    if (IsCompilerBegin(call)) return call;
    if (IsCompilerEnd(call)) {
      if (TargetOf(call->arg(0)) == nullptr) {
        SetTarget(call->arg(0), CompilerOf(call));
      }
      return call;
    }
    if (original->num_args() > 0 && IsCompilerBegin(original->arg(0)) &&
        CompilerOf(original->arg(0)) != kDefault) {
      return call;  // annotated before
    }
    if (original->op().Is<VarNode>() && !include_non_calls_) {
      return WithArgs(call, Ended(call->args()));
    }
    const std::string target(choices_.Choose(*original));
    LogChoice(*original, target);
    auto [chosen, args] = Annotated(call->args(), target);
    const Expr result = WithArgs(call, args);
    SetTarget(result, chosen);
    return result;
  }

  Expr VisitTuple(const TupleNode* /*original*/, Tuple tuple) override {
    return NonCall(tuple, tuple->fields());
  }
  Expr VisitTupleGetItem(const TupleGetItemNode* /*original*/,
                         TupleGetItem item) override {
    return NonCall(item, {&item->tuple(), 1});
  }
  Expr VisitRefCreate(const RefCreateNode* /*original*/,
                      RefCreate node) override {
    return NonCall(node, {&node->value(), 1});
  }
  Expr VisitRefRead(const RefReadNode* /*original*/, RefRead node) override {
    return NonCall(node, {&node->ref(), 1});
  }
  Expr VisitRefWrite(const RefWriteNode* /*original*/, RefWrite node) override {
    const Expr operands[] = {node->ref(), node->value()};
    return NonCall(node, operands);
  }

  Expr VisitFunction(const FunctionNode* /*original*/,
                     Function function) override {
    std::vector<Expr> children(function->params().begin(),
                               function->params().end());
    children.push_back(End(function->body()));
    return Hold(WithChildren(function.get(), children));
  }
  Expr VisitLet(const LetNode* /*original*/, Let let) override {
    Expr value = let->value();
    if (!value.Is<FunctionNode>()) value = Annotated({&value, 1}, "").second[0];
    return Hold(WithChildren(let.get(), {let->var(), value, End(let->body())}));
  }
  Expr VisitIf(const IfNode* /*original*/, If node) override {
    return Hold(
        WithChildren(node.get(), {End(node->cond()), End(node->true_branch()),
                                  End(node->false_branch())}));
  }
  Expr VisitMatch(const MatchNode* /*original*/, Match match) override {
    std::vector<Expr> children;
    ForEachChild(match.get(), [&](const Expr& child) {
      children.push_back(child.Is<VarNode>() ? child : End(child));
    });
    return Hold(WithChildren(match.get(), children));
  }

 private:
  // Logs the compiler of a call, or why no compiler supports it. Calls of
  // functions that are not composite are not logged.
  void LogChoice(const CallNode& call, const std::string& target) const {
    const bool taken = target != kDefault;
    const RemarkKind kind = taken ? RemarkKind::kPassed : RemarkKind::kMissed;
    if (!WantsRemarks(kind)) return;
    const auto* function = call.op().As<FunctionNode>();
    const AttrValue* pattern = function == nullptr
                                   ? nullptr
                                   : function->attrs().Find(attr::kComposite);
    if (call.op_node() == nullptr && pattern == nullptr) return;
    Remark remark = {.kind = kind, .node = Expr(&call)};
    if (taken) {
      remark.reason = "goes to a compiler";
      remark.args = {{"compiler", target}};
    } else if (pattern != nullptr) {
      remark.reason = "the compiler of the pattern is not among the targets";
    } else if (choices_.Know(call.op_node())) {
      remark.reason = "no compiler takes this call of the operator";
    } else {
      remark.reason = "no compiler takes the operator";
    }
    if (pattern != nullptr) remark.args.push_back({"pattern", *pattern});
    LogRemark(std::move(remark));
  }

  // Nodes that the maps know stay alive, so that no other gets their address.
  Expr Hold(Expr expr) {
    held_.push_back(expr);
    return expr;
  }
  const std::string* TargetOf(const Expr& expr) const {
    return target_.Find(expr.get());
  }
  void SetTarget(const Expr& expr, std::string target) {
    held_.push_back(expr);
    target_[expr.get()] = std::move(target);
  }

  // True if nothing is computed: such an expression needs no end.
  static bool IsEmpty(const Expr& expr) {
    const auto* call = expr.As<CallNode>();
    const auto* tuple = expr.As<TupleNode>();
    return (call != nullptr && call->num_args() == 0) ||
           (tuple != nullptr && tuple->fields().empty());
  }

  // The operands of something for `target`, annotated, and the target. If that
  // is empty, it is where the operands go, if that is one.
  std::pair<std::string, std::vector<Expr>> Annotated(
      absl::Span<const Expr> operands, std::string target) {
    std::string common;
    std::vector<Expr> result(operands.begin(), operands.end());
    for (Expr& operand : result) {
      std::string from(kDefault);
      if (IsCompilerBegin(operand)) {
        const Expr given = operand.As<CallNode>()->arg(0);
        // A value that was assigned to `default` before may have a compiler
        // now.
        const bool is_free =
            CompilerOf(operand) == kDefault && IsCompilerEnd(given);
        const Expr inner = is_free ? End(given) : given;
        if (IsCompilerEnd(inner)) from = CompilerOf(inner);
        if (inner != given) operand = CompilerBegin(inner, kDefault);
      } else if (const std::string* known = TargetOf(operand)) {
        from = *known;
        const auto* call = operand.As<CallNode>();
        if (call == nullptr || call->num_args() > 0) {
          operand = CompilerEnd(operand, from);
        }
      }
      if (common.empty()) {
        common = from;
      } else if (common != from) {
        common = std::string(kDefault);
      }
    }
    if (target.empty()) target = common;
    for (Expr& operand : result) {
      if (!IsCompilerBegin(operand)) {
        operand = CompilerBegin(operand, target);
      } else if (CompilerOf(operand) == kDefault && target != kDefault) {
        operand = CompilerBegin(operand.As<CallNode>()->arg(0), target);
      }
    }
    return {std::move(target), std::move(result)};
  }

  // Ends the region of a value that leaves it.
  Expr End(const Expr& expr) {
    const std::string* known = TargetOf(expr);
    if (known != nullptr) {
      if (IsEmpty(expr)) return expr;
      const std::string target = *known;
      Expr result = CompilerEnd(expr, target);
      SetTarget(result, target);
      return result;
    }
    if (IsCompilerEnd(expr) && CompilerOf(expr) == kDefault) {
      const Expr inner = expr.As<CallNode>()->arg(0);
      const std::string* target = TargetOf(inner);
      if (target != nullptr && *target != kDefault) {
        return End(inner);
      }
    }
    return expr;
  }
  std::vector<Expr> Ended(absl::Span<const Expr> operands) {
    std::vector<Expr> result;
    for (const Expr& operand : operands) result.push_back(End(operand));
    return result;
  }

  static Expr WithArgs(const Call& call, const std::vector<Expr>& args) {
    if (absl::c_equal(args, call->args())) return call;
    std::vector<Expr> children = {call->op()};
    children.insert(children.end(), args.begin(), args.end());
    return WithChildren(call.get(), children);
  }

  Expr NonCall(const Expr& expr, absl::Span<const Expr> operands) {
    if (!include_non_calls_) {
      return Hold(WithChildren(expr.get(), Ended(operands)));
    }
    auto [target, annotated] = Annotated(operands, "");
    Expr result = WithChildren(expr.get(), annotated);
    SetTarget(result, target);
    return result;
  }

  const Targets& choices_;
  const bool include_non_calls_;
  NodeMap<std::string> target_;  // of what was rewritten
  std::vector<Expr> held_;
};

}  // namespace

Pass AnnotateTarget(AnnotateTargetOptions options) {
  return CreateFunctionPass(
      [options](const Function& function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<Function> {
        BATON_ASSIGN_OR_RETURN(const Targets targets,
                               Targets::Of(options.targets));
        return Annotator(targets, options.include_non_call_ops)
            .MutateFunction(function);
      },
      {.name = "AnnotateTarget",
       .required = {"InferType"},
       .doc = "Annotates calls with the compilers that take them.",
       .invalidates = {"a_normal_form"},
       .examples = {"targets=[acme]"}},
      options);
}
BATON_REGISTER_PASS(AnnotateTarget);
BATON_REGISTER_REMARKS("AnnotateTarget", {.passed = "a call goes to a compiler",
                                          .missed = "why a call goes to none"});

}  // namespace baton::relay
