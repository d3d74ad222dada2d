#include "baton/relay/pattern/rule_ast.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
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

std::string BodyText(const RuleBody& body) {
  // Text by node; nodes of which a binding is made stand in its line.
  std::vector<std::string> text(body.nodes.size());
  for (size_t i = 0; i < body.nodes.size(); ++i) {
    const RuleNode& node = body.nodes[i];
    std::vector<std::string> parts;
    for (const int operand : node.operands) {
      parts.push_back(std::move(text[static_cast<size_t>(operand)]));
    }
    switch (node.kind) {
      case RuleNode::Kind::kName:
        text[i] = absl::StrCat("%", node.name);
        break;
      case RuleNode::Kind::kAny:
        text[i] = "_";
        break;
      case RuleNode::Kind::kNumber:
        text[i] = LiteralText(node);
        break;
      case RuleNode::Kind::kConst:
        if (node.has_number) parts.push_back(LiteralText(node));
        if (!node.name.empty()) parts.push_back(absl::StrCat("%", node.name));
        text[i] = absl::StrCat("const(", absl::StrJoin(parts, ", "), ")");
        break;
      case RuleNode::Kind::kVar:
        text[i] =
            absl::StrCat("var(", node.name.empty() ? "" : "%", node.name, ")");
        break;
      case RuleNode::Kind::kCall:
        for (const RuleAttr& attr : node.attrs) {
          parts.push_back(absl::StrCat(
              attr.key, "=",
              attr.variable.empty() ? ValueText(attr.value) : attr.variable));
        }
        if (!node.attrs_of.empty()) {
          parts.push_back(absl::StrCat("**%", node.attrs_of));
        }
        text[i] =
            absl::StrCat(node.op->name(), "(", absl::StrJoin(parts, ", "), ")");
        break;
      case RuleNode::Kind::kTuple:
        text[i] = absl::StrCat("(", absl::StrJoin(parts, ", "),
                               parts.size() == 1 ? ",)" : ")");
        break;
      case RuleNode::Kind::kField:
        text[i] = absl::StrCat(parts[0], ".", node.index);
        break;
      case RuleNode::Kind::kEither:
        text[i] = absl::StrCat("either(", absl::StrJoin(parts, ", "), ")");
        break;
      case RuleNode::Kind::kDominates:
        text[i] = absl::StrCat("dominates(", absl::StrJoin(parts, ", "), ")");
        break;
    }
  }
  std::string out;
  for (const RuleBinding& binding : body.bindings) {
    absl::StrAppend(&out, "    %", binding.name, " = ",
                    text[static_cast<size_t>(binding.node)], ";\n");
  }
  absl::StrAppend(&out, "    ", text[static_cast<size_t>(body.root)], "\n");
  return out;
}

std::string TermText(const RuleTerm& term) {
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
  }
  return absl::StrCat(function, "(%", term.name, ")");
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
  return absl::StrCat(TermText(condition.lhs), " ", op, " ",
                      TermText(condition.rhs));
}

std::string PrintRuleAst(const RuleAst& rule) {
  std::string out =
      absl::StrCat(rule.is_pattern ? "pattern @" : "rule @", rule.name);
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
  if (!rule.is_pattern) {
    absl::StrAppend(&out, "  promise { ", PromiseText(rule.promise), " }\n");
  }
  absl::StrAppend(&out, "}\n");
  return out;
}

}  // namespace baton::relay::internal
