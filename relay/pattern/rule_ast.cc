#include "baton/relay/pattern/rule_ast.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/pattern/rewrite_rule.h"

namespace baton::relay::internal {
namespace {

// The shortest decimal that reads back.
std::string NumberText(double value) {
  for (const int digits : {6, 9, 15}) {
    std::string text = absl::StrFormat("%.*g", digits, value);
    double back = 0;
    if (absl::SimpleAtod(text, &back) && back == value) return text;
  }
  return absl::StrFormat("%.17g", value);
}

std::string ValueText(const AttrValue& value) {
  if (value.is_none()) return "None";
  if (const auto* b = value.As<bool>()) return *b ? "True" : "False";
  if (const auto* i = value.As<int64_t>()) return absl::StrCat(*i);
  if (const auto* d = value.As<double>()) {
    return absl::StrCat(NumberText(*d), "f64");
  }
  if (const auto* s = value.As<std::string>()) {
    return absl::StrCat("\"", *s, "\"");
  }
  if (const auto* list = value.As<AttrList>()) {
    return absl::StrCat("[",
                        absl::StrJoin(*list, ", ",
                                      [](std::string* out, const AttrValue& v) {
                                        absl::StrAppend(out, ValueText(v));
                                      }),
                        "]");
  }
  return "?";
}

std::string LiteralText(const RuleNode& node) {
  const std::string digits = NumberText(node.number);
  if (node.dtype.is_float()) {
    return absl::StrCat(digits, "f",
                        node.dtype.bits() == 32
                            ? std::string()
                            : absl::StrCat(node.dtype.bits()));
  }
  const std::string integer = absl::StrCat(static_cast<int64_t>(node.number));
  return node.dtype.bits() == 32
             ? integer
             : absl::StrCat(integer, "i", node.dtype.bits());
}

// The operands and attributes of a call or a function, between parentheses.
std::string ListText(const RuleNode& node, std::vector<std::string> parts) {
  if (node.any_operands) parts.push_back("...");
  for (const RuleAttr& attr : node.attrs) {
    parts.push_back(absl::StrCat(attr.key, "=", PrintTerm(attr.term)));
  }
  if (!node.attrs_of.empty()) {
    parts.push_back(absl::StrCat("**%", node.attrs_of));
  }
  const bool one_field =
      node.kind == RuleNode::Kind::kTuple && node.operands.size() == 1;
  return absl::StrCat("(", absl::StrJoin(parts, ", "), one_field ? ",)" : ")");
}

// `parts` is the text of its operands.
std::string NodeText(const RuleNode& node, std::vector<std::string> parts) {
  const auto take_first = [&] {
    std::string first = std::move(parts.front());
    parts.erase(parts.begin());
    return first;
  };
  switch (node.kind) {
    case RuleNode::Kind::kName:
    case RuleNode::Kind::kSelf:
      return absl::StrCat("%", node.name);
    case RuleNode::Kind::kParam:
      return node.type_of.empty()
                 ? absl::StrCat("%", node.name)
                 : absl::StrCat("%", node.name, ": type(%", node.type_of, ")");
    case RuleNode::Kind::kAny:
      return "_";
    case RuleNode::Kind::kNumber:
      return LiteralText(node);
    case RuleNode::Kind::kConst:
      if (node.has_number) parts.push_back(LiteralText(node));
      if (!node.name.empty()) parts.push_back(absl::StrCat("%", node.name));
      return absl::StrCat("const", ListText(node, std::move(parts)));
    case RuleNode::Kind::kShape:
      return absl::StrCat("const(shape(%", node.name, "))");
    case RuleNode::Kind::kVar:
      return absl::StrCat("var(", node.name.empty() ? "" : "%", node.name, ")");
    case RuleNode::Kind::kCall:
      return absl::StrCat(node.op->name(), ListText(node, std::move(parts)));
    case RuleNode::Kind::kCallOf: {
      const std::string callee = take_first();
      return absl::StrCat(callee, ListText(node, std::move(parts)));
    }
    case RuleNode::Kind::kTuple:
      return ListText(node, std::move(parts));
    case RuleNode::Kind::kField:
      return absl::StrCat(parts[0], ".", node.index);
    case RuleNode::Kind::kEither:
      return absl::StrCat("either", ListText(node, std::move(parts)));
    case RuleNode::Kind::kDominates:
      return absl::StrCat("dominates", ListText(node, std::move(parts)));
    case RuleNode::Kind::kRepeat:
      return absl::StrCat("repeat", ListText(node, std::move(parts)));
    case RuleNode::Kind::kFunction: {
      const std::string body = std::move(parts.back());
      parts.pop_back();
      return absl::StrCat("fn ", ListText(node, std::move(parts)), " { ", body,
                          " }");
    }
    case RuleNode::Kind::kLet:
      return absl::StrCat("(let ", parts[0], " = ", parts[1], "; ", parts[2],
                          ")");
    case RuleNode::Kind::kIf:
      return absl::StrCat("if (", parts[0], ") { ", parts[1], " } else { ",
                          parts[2], " }");
    case RuleNode::Kind::kBlock:
      return parts[0];
    case RuleNode::Kind::kFold:
      return absl::StrCat("fold", ListText(node, std::move(parts)));
  }
  return "";
}

std::string BodyText(const RuleBody& body) {
  // Text by node; that of a binding is taken where its scope is written.
  std::vector<std::string> text(body.nodes.size());
  const auto binding_text = [&](const RuleBinding& binding) {
    return absl::StrCat("%", binding.name, " = ",
                        text[static_cast<size_t>(binding.node)], ";");
  };
  for (size_t i = 0; i < body.nodes.size(); ++i) {
    const RuleNode& node = body.nodes[i];
    std::vector<std::string> parts;
    for (const int operand : node.operands) {
      parts.push_back(std::move(text[static_cast<size_t>(operand)]));
    }
    if (node.kind == RuleNode::Kind::kBlock) {
      for (const RuleBinding& binding : body.bindings) {
        if (binding.scope != node.index) continue;
        absl::StrAppend(&text[i], binding_text(binding), " ");
      }
    }
    absl::StrAppend(&text[i], NodeText(node, std::move(parts)));
  }
  std::string out;
  for (const RuleBinding& binding : body.bindings) {
    if (binding.scope != 0) continue;
    absl::StrAppend(&out, "    ", binding_text(binding), "\n");
  }
  absl::StrAppend(&out, "    ", text[static_cast<size_t>(body.root)], "\n");
  return out;
}

std::string PromiseText(const RulePromise& promise) {
  std::vector<std::string> items;
  if (promise.exact) items.push_back("exact");
  if (promise.rtol > 0 || (!promise.exact && promise.atol == 0)) {
    items.push_back(absl::StrCat("rtol = ", NumberText(promise.rtol), "f64"));
  }
  if (promise.atol > 0) {
    items.push_back(absl::StrCat("atol = ", NumberText(promise.atol), "f64"));
  }
  if (promise.excludes_nan) items.push_back("not nan");
  if (promise.excludes_infinity) items.push_back("not inf");
  for (const RulePromise::Range& range : promise.ranges) {
    items.push_back(absl::StrCat("%", range.name, " in [",
                                 NumberText(range.low), "f64, ",
                                 NumberText(range.high), "f64]"));
  }
  return absl::StrJoin(items, ", ");
}

}  // namespace

std::string PrintTerm(const RuleTerm& term) {
  absl::string_view function;
  switch (term.kind) {
    case RuleTerm::Kind::kValue:
      return ValueText(term.value);
    case RuleTerm::Kind::kVariable:
      return term.name;
    case RuleTerm::Kind::kDim:
      return absl::StrCat("dim(%", term.name, ", ", term.axis, ")");
    case RuleTerm::Kind::kDType:
      function = "dtype";
      break;
    case RuleTerm::Kind::kRank:
      function = "rank";
      break;
    case RuleTerm::Kind::kShape:
      function = "shape";
      break;
    case RuleTerm::Kind::kElements:
      function = "elements";
      break;
    case RuleTerm::Kind::kType:
      function = "type";
      break;
    case RuleTerm::Kind::kValueOf:
      function = "value";
      break;
    case RuleTerm::Kind::kUses:
      function = "uses";
      break;
    case RuleTerm::Kind::kOp:
      function = "op";
      break;
    case RuleTerm::Kind::kKind:
      function = "kind";
      break;
  }
  return absl::StrCat(function, "(%", term.name, ")");
}

std::string PrintCondition(const RuleCondition& condition) {
  absl::string_view op;
  switch (condition.op) {
    case RuleCondition::Op::kEq:
      op = "==";
      break;
    case RuleCondition::Op::kNe:
      op = "!=";
      break;
    case RuleCondition::Op::kLt:
      op = "<";
      break;
    case RuleCondition::Op::kLe:
      op = "<=";
      break;
    case RuleCondition::Op::kGt:
      op = ">";
      break;
    case RuleCondition::Op::kGe:
      op = ">=";
      break;
    case RuleCondition::Op::kIn:
      op = "in";
      break;
  }
  return absl::StrCat(PrintTerm(condition.lhs), " ", op, " ",
                      PrintTerm(condition.rhs));
}

std::string PrintRuleAst(const RuleAst& rule) {
  std::string out =
      absl::StrCat(rule.is_pattern ? "pattern @" : "rule @", rule.name);
  if (!rule.passes.empty()) {
    absl::StrAppend(&out, " of ", absl::StrJoin(rule.passes, ", "));
  }
  if (rule.is_in_cpp) return absl::StrCat(out, ";\n");
  if (!rule.doc.empty()) absl::StrAppend(&out, " \"", rule.doc, "\"");
  absl::StrAppend(&out, " {\n  match {\n", BodyText(rule.match), "  }\n");
  if (!rule.is_pattern) {
    absl::StrAppend(&out, "  replace {\n", BodyText(rule.replace), "  }\n");
  }
  if (!rule.where.empty()) {
    absl::StrAppend(
        &out, "  where { ",
        absl::StrJoin(rule.where, ", ",
                      [](std::string* to, const RuleCondition& condition) {
                        absl::StrAppend(to, PrintCondition(condition));
                      }),
        " }\n");
  }
  if (rule.once || rule.exclusive) {
    absl::StrAppend(&out, "  apply { ", rule.once ? "once" : "",
                    rule.once && rule.exclusive ? ", " : "",
                    rule.exclusive ? "exclusive" : "", " }\n");
  }
  if (!rule.is_pattern) {
    absl::StrAppend(&out, "  promise { ", PromiseText(rule.promise), " }\n");
  }
  absl::StrAppend(&out, "}\n");
  return out;
}

}  // namespace baton::relay::internal
