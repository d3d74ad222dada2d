#include "baton/relay/pattern/rule_builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/attr_values.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/folded.h"
#include "baton/relay/pattern/matcher.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rule_ast.h"

namespace baton::relay::internal {
namespace {

const AttrValue* Find(const AttrMap& values, absl::string_view name) {
  for (const auto& [key, value] : values) {
    if (key == name) return &value;
  }
  return nullptr;
}

// The term `kind(%x)`.
std::string KindOf(const ExprNode* node) {
  switch (ExprKindOf(node)) {
    case ExprKind::kConstant:
      return "constant";
    case ExprKind::kVar:
      return "variable";
    case ExprKind::kCall:
      return "call";
    case ExprKind::kTuple:
      return "tuple";
    case ExprKind::kTupleGetItem:
      return "field";
    case ExprKind::kFunction:
      return "function";
    case ExprKind::kLet:
      return "let";
    case ExprKind::kIf:
      return "if";
    default:
      return "other";
  }
}

// The shape of `expr` as a constant vector of int32; null if an extent is not
// known, or is no int32.
Expr ShapeConstant(const Expr& expr) {
  const TensorTypeNode* type = expr.defined() ? expr->tensor_type() : nullptr;
  if (type == nullptr) return {};
  std::vector<int32_t> extents;
  for (const Dim& dim : type->shape()) {
    if (!dim.is_const() || dim.value() > std::numeric_limits<int32_t>::max()) {
      return {};
    }
    extents.push_back(static_cast<int32_t>(dim.value()));
  }
  absl::StatusOr<Tensor> shape = Tensor::FromValues<int32_t>(
      {static_cast<int64_t>(extents.size())}, extents);
  return shape.ok() ? Expr(Const(*std::move(shape))) : Expr();
}

// The replacement and the conditions of a rule in text. Immutable.
class TextRule {
 public:
  explicit TextRule(std::shared_ptr<const RuleAst> ast) : ast_(std::move(ast)) {
    for (const RuleCondition& condition : ast_->where) {
      if (condition.lhs.kind == RuleTerm::Kind::kUses) {
        uses_[condition.lhs.name] =
            static_cast<int>(*condition.rhs.value.As<int64_t>());
      }
    }
    MakePattern();
    MakeAttrs();
  }

  const DataflowPattern& pattern() const { return pattern_; }

  absl::StatusOr<Expr> Replace(const PatternMatch& match) const {
    AttrMap variables;
    for (const Variable& variable : variables_) {
      const CallNode* call = match.call(parts_[variable.node]);
      if (call == nullptr) continue;  // of an alternative that was not taken
      const std::optional<AttrValue> value = AttrOf(*call, variable.key);
      if (!value.has_value()) return match.Decline("an attribute is missing");
      if (const AttrValue* known = Find(variables, variable.name)) {
        if (!SameValue(*known, *value)) {
          return match.Decline(
              absl::StrCat("attributes ", variable.name, " differ"));
        }
        continue;
      }
      variables.emplace_back(variable.name, *value);
    }
    for (const RuleCondition& condition : ast_->where) {
      if (!Holds(condition, match, variables)) {
        return match.Decline(
            absl::StrCat("not so: ", PrintCondition(condition)));
      }
    }
    return ast_->is_pattern ? match.root() : Build(match, variables);
  }

 private:
  // An attribute that has a name.
  struct Variable {
    std::string name;
    std::string key;
    size_t node;
  };

  void MakePattern() {
    const RuleBody& body = ast_->match;
    FlatHashMap<int, std::string> bound;
    for (const RuleBinding& binding : body.bindings) {
      bound[binding.node] = binding.name;
    }
    parts_.resize(body.nodes.size());
    const auto with_uses = [this](DataflowPattern part,
                                  const std::string& name) {
      const auto it = uses_.find(name);
      return it == uses_.end() ? part : part.HasUses(it->second);
    };
    const auto name_part = [&](const std::string& name, DataflowPattern part) {
      part = with_uses(std::move(part), name);
      names_[name] = part;
      return part;
    };
    FlatHashMap<std::string, Repetition> repetitions;  // by name of self
    for (size_t i = 0; i < body.nodes.size(); ++i) {
      const RuleNode& node = body.nodes[i];
      std::vector<DataflowPattern> operands;
      for (const int operand : node.operands)
        operands.push_back(parts_[operand]);
      DataflowPattern& part = parts_[i];
      switch (node.kind) {
        case RuleNode::Kind::kName: {
          const auto it = names_.find(node.name);
          part = it != names_.end() ? it->second
                                    : name_part(node.name, Wildcard(node.name));
          break;
        }
        case RuleNode::Kind::kAny:
          part = Wildcard();
          break;
        case RuleNode::Kind::kNumber:
          part = IsScalar(node.number).HasDType(node.dtype);
          break;
        case RuleNode::Kind::kConst:
          part = node.has_number ? IsSplat(node.number) : IsConstant();
          if (!node.name.empty()) part = name_part(node.name, part);
          break;
        case RuleNode::Kind::kVar:
          part = IsVar();
          if (!node.name.empty()) part = name_part(node.name, part);
          break;
        case RuleNode::Kind::kParam:
          part = name_part(node.name, IsVar());
          break;
        case RuleNode::Kind::kCallOf: {
          const DataflowPattern callee = operands[0];
          operands.erase(operands.begin());
          part = node.any_operands ? callee.CallOfAny()
                                   : callee.Call(std::move(operands));
          break;
        }
        case RuleNode::Kind::kFunction: {
          const DataflowPattern function_body = operands.back();
          operands.pop_back();
          part = node.any_operands
                     ? IsFunctionOfAny(function_body)
                     : IsFunction(std::move(operands), function_body);
          for (const RuleAttr& attr : node.attrs) {
            part = part.HasAttr(attr.key, attr.value());
          }
          break;
        }
        case RuleNode::Kind::kLet:
          part = IsLet(operands[0], operands[1], operands[2]);
          break;
        case RuleNode::Kind::kIf:
          part = IsIf(operands[0], operands[1], operands[2]);
          break;
        case RuleNode::Kind::kBlock:
          part = operands[0];
          break;
        case RuleNode::Kind::kCall:
          part = node.any_operands ? IsOp(node.op).CallOfAny()
                                   : IsOp(node.op).Call(std::move(operands));
          for (const RuleAttr& attr : node.attrs) {
            if (attr.is_value()) {
              part = part.HasAttr(attr.key, attr.value());
            } else {
              variables_.push_back({attr.term.name, attr.key, i});
            }
          }
          break;
        case RuleNode::Kind::kTuple:
          part =
              node.any_operands ? IsAnyTuple() : IsTuple(std::move(operands));
          break;
        case RuleNode::Kind::kField:
          part = IsTupleGetItem(operands[0], node.index);
          break;
        case RuleNode::Kind::kShape:
        case RuleNode::Kind::kFold:
          break;  // in `replace` only
        case RuleNode::Kind::kEither:
          part = operands[0];
          for (size_t k = 1; k < operands.size(); ++k)
            part = part | operands[k];
          break;
        case RuleNode::Kind::kDominates:
          part = Dominates(operands[0], operands[1], operands[2]);
          break;
        case RuleNode::Kind::kSelf:
          part = names_[node.name] = repetitions[node.name].self();
          break;
        case RuleNode::Kind::kRepeat: {
          const std::string& self =
              body.nodes[static_cast<size_t>(node.operands[0])].name;
          part = repetitions[self].Of(operands[1]);
          names_.erase(self);  // stands for nothing outside
          break;
        }
      }
      if (const auto it = bound.find(static_cast<int>(i)); it != bound.end()) {
        part = name_part(it->second, part);
      }
    }
    pattern_ = parts_[static_cast<size_t>(body.root)];
  }

  // The attributes of calls in `replace` that do not depend on the match.
  void MakeAttrs() {
    attrs_.resize(ast_->replace.nodes.size());
    for (size_t i = 0; i < attrs_.size(); ++i) {
      const RuleNode& node = ast_->replace.nodes[i];
      if (node.kind != RuleNode::Kind::kCall ||
          node.op->attrs_type() == nullptr || !node.attrs_of.empty()) {
        continue;
      }
      AttrMap values;
      bool fixed = true;
      for (const RuleAttr& attr : node.attrs) {
        fixed &= attr.is_value();
        values.emplace_back(attr.key, attr.value());
      }
      if (!fixed) continue;
      absl::StatusOr<Attrs> attrs = node.op->attrs_type()->FromValues(values);
      if (attrs.ok()) attrs_[i] = *std::move(attrs);
    }
  }

  Expr Named(const std::string& name, const PatternMatch& match) const {
    const auto it = names_.find(name);
    return it == names_.end() ? Expr() : match[it->second];
  }

  // The value of a term; nullopt if it is not known.
  std::optional<AttrValue> ValueOf(const RuleTerm& term,
                                   const PatternMatch& match,
                                   const AttrMap& variables) const {
    if (term.kind == RuleTerm::Kind::kValue) return term.value;
    if (term.kind == RuleTerm::Kind::kVariable) {
      const AttrValue* value = Find(variables, term.name);
      if (value == nullptr) return std::nullopt;
      return *value;
    }
    const Expr expr = Named(term.name, match);
    if (!expr.defined()) return std::nullopt;
    if (term.kind == RuleTerm::Kind::kKind) return KindOf(expr.get());
    if (term.kind == RuleTerm::Kind::kValueOf) {
      const std::optional<double> value = ConstantSplat(expr);
      if (!value.has_value()) return std::nullopt;
      return AttrValue(*value);
    }
    if (term.kind == RuleTerm::Kind::kOp) {
      const auto* call = expr.As<CallNode>();
      if (call == nullptr || call->op_node() == nullptr) return std::nullopt;
      return AttrValue(call->op_node()->name());
    }
    const Type type_of = TypeOf(expr);
    if (!type_of.defined()) return std::nullopt;
    if (term.kind == RuleTerm::Kind::kType) {
      return AttrValue(type_of.ToString());
    }
    const auto* type = type_of.As<TensorTypeNode>();
    if (type == nullptr) return std::nullopt;
    switch (term.kind) {
      case RuleTerm::Kind::kDType:
        return AttrValue(type->dtype());
      case RuleTerm::Kind::kRank:
        return AttrValue(type->rank());
      case RuleTerm::Kind::kDim: {
        const int64_t axis =
            term.axis < 0 ? term.axis + type->rank() : term.axis;
        if (axis < 0 || axis >= type->rank() ||
            !type->dim(static_cast<int>(axis)).is_const()) {
          return std::nullopt;
        }
        return AttrValue(type->dim(static_cast<int>(axis)).value());
      }
      default:
        break;
    }
    AttrList shape;
    int64_t elements = 1;
    for (const Dim& dim : type->shape()) {
      if (!dim.is_const()) return std::nullopt;
      shape.emplace_back(dim.value());
      elements *= dim.value();
    }
    return term.kind == RuleTerm::Kind::kElements ? AttrValue(elements)
                                                  : AttrValue(std::move(shape));
  }

  // The type of an expression, of a variable also without inference; null if
  // it is not known.
  static Type TypeOf(const Expr& expr) {
    if (expr->type().defined()) return expr->type();
    const auto* var = expr.As<VarNode>();
    return var == nullptr ? Type() : var->annotation();
  }

  bool Holds(const RuleCondition& condition, const PatternMatch& match,
             const AttrMap& variables) const {
    if (condition.lhs.kind == RuleTerm::Kind::kUses) return true;  // matched
    if (condition.lhs.kind == RuleTerm::Kind::kType &&
        condition.rhs.kind == RuleTerm::Kind::kType &&
        (condition.op == RuleCondition::Op::kEq ||
         condition.op == RuleCondition::Op::kNe)) {
      const Expr x = Named(condition.lhs.name, match);
      const Expr y = Named(condition.rhs.name, match);
      if (!x.defined() || !y.defined()) return false;
      const Type a = TypeOf(x), b = TypeOf(y);
      return a.defined() && b.defined() &&
             TypeEqual(a, b) == (condition.op == RuleCondition::Op::kEq);
    }
    const std::optional<AttrValue> a = ValueOf(condition.lhs, match, variables);
    const std::optional<AttrValue> b = ValueOf(condition.rhs, match, variables);
    if (!a.has_value() || !b.has_value()) return false;
    switch (condition.op) {
      case RuleCondition::Op::kEq:
        return SameValue(*a, *b);
      case RuleCondition::Op::kNe:
        return !SameValue(*a, *b);
      case RuleCondition::Op::kIn: {
        const auto* list = b->As<AttrList>();
        return list != nullptr &&
               std::any_of(list->begin(), list->end(), [&](const AttrValue& v) {
                 return SameValue(*a, v);
               });
      }
      default:
        break;
    }
    const std::optional<double> x = NumberOf(*a);
    const std::optional<double> y = NumberOf(*b);
    if (!x.has_value() || !y.has_value()) return false;
    switch (condition.op) {
      case RuleCondition::Op::kLt:
        return *x < *y;
      case RuleCondition::Op::kLe:
        return *x <= *y;
      case RuleCondition::Op::kGt:
        return *x > *y;
      default:
        return *x >= *y;
    }
  }

  absl::StatusOr<Expr> Build(const PatternMatch& match,
                             const AttrMap& variables) const {
    const RuleBody& body = ast_->replace;
    std::vector<Expr> built(body.nodes.size());
    size_t next_binding = 0;
    FlatHashMap<absl::string_view, Expr> made;
    for (size_t i = 0; i < body.nodes.size(); ++i) {
      // Bindings name what was built so far.
      while (next_binding < body.bindings.size() &&
             body.bindings[next_binding].node < static_cast<int>(i)) {
        const RuleBinding& binding = body.bindings[next_binding++];
        made[binding.name] = built[static_cast<size_t>(binding.node)];
      }
      const RuleNode& node = body.nodes[i];
      const auto operand = [&](size_t k) -> const Expr& {
        return built[static_cast<size_t>(node.operands[k])];
      };
      switch (node.kind) {
        case RuleNode::Kind::kName: {
          const auto it = made.find(node.name);
          built[i] = it != made.end() ? it->second : Named(node.name, match);
          if (!built[i].defined()) {
            return match.Decline(
                absl::StrCat("%", node.name, " took no part in the match"));
          }
          break;
        }
        case RuleNode::Kind::kNumber:
          built[i] = Const(node.number, node.dtype);
          break;
        case RuleNode::Kind::kConst: {
          const Expr like = Named(node.name, match);
          const TensorTypeNode* type =
              like.defined() ? like->tensor_type() : nullptr;
          if (type == nullptr || !type->dtype().IsStorable()) {
            return match.Decline(absl::StrCat("the element type of %",
                                              node.name, " is not known"));
          }
          built[i] = Const(node.number, type->dtype());
          break;
        }
        case RuleNode::Kind::kShape:
          built[i] = ShapeConstant(Named(node.name, match));
          if (!built[i].defined()) {
            return match.Decline(
                absl::StrCat("shape(%", node.name, ") is not known"));
          }
          break;
        case RuleNode::Kind::kTuple: {
          std::vector<Expr> fields;
          for (size_t k = 0; k < node.operands.size(); ++k) {
            fields.push_back(operand(k));
          }
          built[i] = Tuple(std::move(fields));
          break;
        }
        case RuleNode::Kind::kField:
          built[i] = TupleGetItem(operand(0), node.index);
          break;
        case RuleNode::Kind::kParam: {
          // The name may be bound by the match; else it is a new one.
          if (names_.contains(node.name)) {
            built[i] = Named(node.name, match);
          } else {
            const Expr like = Named(node.type_of, match);
            built[i] = Var(node.name, like.defined() ? like->type() : Type());
          }
          if (built[i].As<VarNode>() == nullptr) {
            return match.Decline(
                absl::StrCat("%", node.name, " is no variable"));
          }
          made[node.name] = built[i];
          break;
        }
        case RuleNode::Kind::kFunction: {
          std::vector<Var> params;
          for (size_t k = 0; k + 1 < node.operands.size(); ++k) {
            params.emplace_back(operand(k).As<VarNode>());
          }
          AttrMap attrs;
          for (const RuleAttr& attr : node.attrs) {
            attrs.emplace_back(attr.key, attr.value());
          }
          built[i] =
              Function(std::move(params), operand(node.operands.size() - 1), {},
                       {}, DictAttrs(std::move(attrs)));
          break;
        }
        case RuleNode::Kind::kLet:
          built[i] = Let(Var(operand(0).As<VarNode>()), operand(1), operand(2));
          break;
        case RuleNode::Kind::kIf:
          built[i] = If(operand(0), operand(1), operand(2));
          break;
        case RuleNode::Kind::kBlock:
          built[i] = operand(0);
          break;
        case RuleNode::Kind::kFold:
          built[i] = FoldedInRange(operand(0));
          if (!built[i].defined()) {
            return match.Decline("the constant would lose numbers");
          }
          break;
        case RuleNode::Kind::kCallOf: {
          std::vector<Expr> args;
          for (size_t k = 1; k < node.operands.size(); ++k) {
            args.push_back(operand(k));
          }
          Attrs attrs;
          if (!node.attrs_of.empty()) {
            const Expr from = Named(node.attrs_of, match);
            const auto* call = from.defined() ? from.As<CallNode>() : nullptr;
            if (call == nullptr) {
              return match.Decline(
                  absl::StrCat("%", node.attrs_of, " is no call"));
            }
            attrs = call->attrs();
          }
          built[i] = Call(operand(0), args, std::move(attrs));
          break;
        }
        default: {
          std::vector<Expr> args;
          for (size_t k = 0; k < node.operands.size(); ++k) {
            args.push_back(operand(k));
          }
          Attrs attrs = attrs_[i];
          if (!attrs.defined() && node.op->attrs_type() != nullptr) {
            absl::StatusOr<Attrs> of_match = AttrsFor(node, match, variables);
            if (!of_match.ok()) {
              return match.Decline(std::string(of_match.status().message()));
            }
            attrs = *std::move(of_match);
          }
          built[i] = Call(node.op, args, std::move(attrs));
        }
      }
    }
    return built[static_cast<size_t>(body.root)];
  }

  absl::StatusOr<Attrs> AttrsFor(const RuleNode& node,
                                 const PatternMatch& match,
                                 const AttrMap& variables) const {
    const AttrsType& type = *node.op->attrs_type();
    AttrMap values;
    for (const RuleAttr& attr : node.attrs) {
      std::optional<AttrValue> value = ValueOf(attr.term, match, variables);
      if (!value.has_value()) {
        return absl::InvalidArgumentError(
            attr.is_variable()
                ? absl::StrCat("attribute ", attr.term.name,
                               " took no part in the match")
                : absl::StrCat(PrintTerm(attr.term), " is not known"));
      }
      values.emplace_back(attr.key, *std::move(value));
    }
    if (!node.attrs_of.empty()) {
      const Expr from = Named(node.attrs_of, match);
      const auto* call = from.defined() ? from.As<CallNode>() : nullptr;
      if (call == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("%", node.attrs_of, " is no call"));
      }
      for (auto& [key, value] : AttrsOf(*call)) {
        if (Find(values, key) == nullptr &&
            type.fields().Find(key) != nullptr) {
          values.emplace_back(key, value);
        }
      }
    }
    return type.FromValues(values);
  }

  const std::shared_ptr<const RuleAst> ast_;
  std::vector<DataflowPattern> parts_;  // by node of `match`
  FlatHashMap<std::string, DataflowPattern> names_;
  FlatHashMap<std::string, int> uses_;
  std::vector<Variable> variables_;
  std::vector<Attrs> attrs_;  // by node of `replace`
  DataflowPattern pattern_;
};

}  // namespace

RewriteRule BuildRule(std::shared_ptr<const RuleAst> ast) {
  const auto rule = std::make_shared<const TextRule>(ast);
  return {
      .name = ast->name,
      .passes = ast->passes,
      .doc = ast->doc,
      .pattern = rule->pattern(),
      .replace =
          [rule](const PatternMatch& match) { return rule->Replace(match); },
      .once = ast->once,
      .exclusive = ast->exclusive,
      .promise = ast->promise,
      .place = ast->place,
      .ast = ast};
}

}  // namespace baton::relay::internal
