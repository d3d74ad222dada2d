#include "baton/instrument/node_text.h"

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/tensor.h"
#include "baton/instrument/any_level.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node_compare.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/dispatch.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_numbers.h"

namespace baton {
namespace {

std::string ToScalar(const relay::ConstantNode& constant) {
  const Tensor& value = constant.value();
  return value.dtype().is_float() ? absl::StrCat(value.AtAsDouble(0))
                                  : absl::StrCat(value.AtAsInt64(0));
}

}  // namespace

std::string NameOfGlobal(const ExprNode* node) {
  switch (relay::ExprKindOf(node)) {
    case relay::ExprKind::kOp:
      return static_cast<const OpNode*>(node)->name();
    case relay::ExprKind::kGlobalVar:
      return absl::StrCat("@", static_cast<const GlobalVarNode*>(node)->name());
    case relay::ExprKind::kConstructor:
      return static_cast<const relay::ConstructorNode*>(node)->name();
    default:
      return "";
  }
}

NodeText::NodeText(const IRModule& module) {
  const std::vector<const ExprNode*> nodes = relay::NumberedNodes(module);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] != nullptr) numbers_[nodes[i]] = static_cast<int>(i) + 1;
  }
}

int NodeText::Number(const Expr& expr) const {
  const int* number = numbers_.Find(expr.get());
  return number == nullptr ? -1 : *number - 1;
}

std::string NodeText::Name(const Expr& expr) const {
  if (!expr.defined()) return "nothing";
  if (const int* number = numbers_.Find(expr.get())) {
    return absl::StrCat("%", *number - 1);
  }
  if (const auto* var = expr.As<relay::VarNode>()) {
    return absl::StrCat("%", var->name());
  }
  if (const auto* constant = expr.As<relay::ConstantNode>()) {
    return constant->is_scalar()
               ? ToScalar(*constant)
               : absl::StrCat("a constant ", constant->value().TypeToString());
  }
  const std::string name = NameOfGlobal(expr.get());
  if (!name.empty()) return name;
  // The variables of other levels.
  return IsLeaf(expr->kind()) ? internal::DescribeNode(expr.get()) : Head(expr);
}

std::string NodeText::Title(const Expr& expr) const {
  const std::string name = Name(expr);
  const std::string head = expr.defined() ? Head(expr) : name;
  return Number(expr) < 0 ? name : absl::StrCat(name, " = ", head);
}

std::string NodeText::Line(const Expr& expr) const {
  const int number = Number(expr);
  return number < 0 ? Body(expr) : absl::StrCat("%", number, " = ", Body(expr));
}

std::string NodeText::Head(const Expr& expr) {
  if (const ExprNode* callee = CalleeOf(expr.get())) {
    const std::string name = NameOfGlobal(callee);
    return name.empty() ? "a call" : name;
  }
  if (expr.Is<relay::FunctionNode>()) return "fn";
  return std::string(NodeKindName(expr->kind()));
}

std::string NodeText::Body(const Expr& expr) const {
  const auto names = [this](absl::Span<const Expr> exprs) {
    return absl::StrJoin(exprs, ", ", [this](std::string* out, const Expr& e) {
      out->append(Name(e));
    });
  };
  if (const auto* call = expr.As<relay::CallNode>()) {
    std::string text = absl::StrCat(Name(call->op()), "(", names(call->args()));
    if (call->attrs().defined()) {
      const char* separator = call->num_args() == 0 ? "" : ", ";
      for (const auto& [name, value] :
           call->attrs()->fields().NonDefault(call->attrs()->object())) {
        absl::StrAppend(&text, separator, name, "=", value.ToString());
        separator = ", ";
      }
    }
    return text + ")";
  }
  if (const auto* tuple = expr.As<relay::TupleNode>()) {
    return absl::StrCat("(", names(tuple->fields()),
                        tuple->fields().size() == 1 ? ",)" : ")");
  }
  if (const auto* item = expr.As<relay::TupleGetItemNode>()) {
    return absl::StrCat(Name(item->tuple()), ".", item->index());
  }
  if (const auto* node = expr.As<relay::IfNode>()) {
    return absl::StrCat("if (", Name(node->cond()), ")");
  }
  if (const auto* match = expr.As<relay::MatchNode>()) {
    return absl::StrCat("match (", Name(match->data()), ")");
  }
  if (const auto* let = expr.As<relay::LetNode>()) {
    return absl::StrCat("let %", let->var()->name());
  }
  if (const auto* function = expr.As<relay::FunctionNode>()) {
    return absl::StrCat(
        "fn (",
        absl::StrJoin(function->params(), ", ",
                      [](std::string* out, const relay::Var& p) {
                        absl::StrAppend(out, "%", p->name());
                      }),
        ")");
  }
  std::vector<Expr> children;
  ForEachChildAtAnyLevel(expr.get(),
                         [&](const Expr& child) { children.push_back(child); });
  if (CalleeOf(expr.get()) != nullptr) children.erase(children.begin());
  return absl::StrCat(Head(expr), "(", names(children), ")");
}

}  // namespace baton
