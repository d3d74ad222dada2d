#include "baton/relay/pattern/dataflow_pattern.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/pattern/pattern_text.h"

namespace baton::relay {

using Kind = DataflowPattern::Kind;
using Node = DataflowPattern::Node;

// Fills in nodes before anybody sees them.
struct PatternBuilder {
  explicit PatternBuilder(Kind kind, std::vector<DataflowPattern> children = {})
      : node(std::make_shared<Node>(kind, std::move(children))) {}

  PatternBuilder& Name(std::string name) {
    node->name_ = std::move(name);
    return *this;
  }
  PatternBuilder& AnyOperands() {
    node->any_operands_ = true;
    return *this;
  }
  PatternBuilder& Index(int index) {
    node->index_ = index;
    return *this;
  }
  PatternBuilder& Equal(Expr expr) {
    node->expr_ = std::move(expr);
    return *this;
  }
  PatternBuilder& Condition(PatternCondition condition) {
    node->condition_ = std::move(condition);
    return *this;
  }
  PatternBuilder& Repeat(std::shared_ptr<const Node*> repeat) {
    node->repeat_ = std::move(repeat);
    return *this;
  }
  DataflowPattern Done() {
    return DataflowPattern(std::shared_ptr<const Node>(std::move(node)));
  }

  std::shared_ptr<Node> node;
};

Node::~Node() {
  // Children without other handles are destroyed here.
  std::vector<DataflowPattern> dying = std::move(children_);
  while (!dying.empty()) {
    std::shared_ptr<const Node> node = std::move(dying.back().node_);
    dying.pop_back();
    if (node == nullptr || node.use_count() > 1) continue;
    auto* last = const_cast<Node*>(node.get());
    for (DataflowPattern& child : last->children_) {
      dying.push_back(std::move(child));
    }
    last->children_.clear();
  }
}

DataflowPattern DataflowPattern::Call(std::vector<DataflowPattern> args) const {
  args.insert(args.begin(), *this);
  return PatternBuilder(Kind::kCall, std::move(args)).Done();
}

DataflowPattern DataflowPattern::CallOfAny() const {
  return PatternBuilder(Kind::kCall, {*this}).AnyOperands().Done();
}

DataflowPattern DataflowPattern::Where(PatternCondition condition) const {
  return PatternBuilder(Kind::kWhere, {*this})
      .Condition(std::move(condition))
      .Done();
}

DataflowPattern DataflowPattern::Where(
    std::string text, std::function<bool(const Expr&)> holds) const {
  return Where({PatternCondition::Holds{std::move(text), std::move(holds)}});
}

DataflowPattern DataflowPattern::HasType(Type type) const {
  return Where({PatternCondition::HasType{std::move(type)}});
}

DataflowPattern DataflowPattern::HasDType(DType dtype) const {
  return Where({PatternCondition::HasDType{{dtype}}});
}

DataflowPattern DataflowPattern::HasDType(std::vector<DType> dtypes) const {
  return Where({PatternCondition::HasDType{std::move(dtypes)}});
}

DataflowPattern DataflowPattern::HasShape(Dims shape) const {
  return Where({PatternCondition::HasShape{std::move(shape)}});
}

DataflowPattern DataflowPattern::HasRank(int rank) const {
  return Where({PatternCondition::HasRank{rank}});
}

DataflowPattern DataflowPattern::HasAttr(std::string name,
                                         AttrValue value) const {
  return Where({PatternCondition::HasAttr{std::move(name), std::move(value)}});
}

DataflowPattern DataflowPattern::HasUses(int uses) const {
  return Where({PatternCondition::HasUses{uses}});
}

DataflowPattern operator|(const DataflowPattern& a, const DataflowPattern& b) {
  return PatternBuilder(Kind::kAlt, {a, b}).Done();
}

DataflowPattern operator+(const DataflowPattern& a, const DataflowPattern& b) {
  return IsOp("add")(a, b);
}

DataflowPattern operator-(const DataflowPattern& a, const DataflowPattern& b) {
  return IsOp("subtract")(a, b);
}

DataflowPattern operator*(const DataflowPattern& a, const DataflowPattern& b) {
  return IsOp("multiply")(a, b);
}

DataflowPattern operator/(const DataflowPattern& a, const DataflowPattern& b) {
  return IsOp("divide")(a, b);
}

DataflowPattern Wildcard(std::string name) {
  return PatternBuilder(Kind::kWildcard).Name(std::move(name)).Done();
}

DataflowPattern IsVar(std::string name) {
  return PatternBuilder(Kind::kVar).Name(std::move(name)).Done();
}

DataflowPattern IsConstant() { return PatternBuilder(Kind::kConstant).Done(); }

DataflowPattern IsSplat(double value) {
  return IsConstant().Where({PatternCondition::IsSplat{value}});
}

DataflowPattern IsScalar() { return IsConstant().HasRank(0); }

DataflowPattern IsScalar(double value) { return IsSplat(value).HasRank(0); }

DataflowPattern IsExpr(Expr expr) {
  return PatternBuilder(Kind::kExpr).Equal(std::move(expr)).Done();
}

DataflowPattern IsOp(absl::string_view name) {
  return IsExpr(Op::FindOrStandIn(name));
}

DataflowPattern IsOp(const Op& op) { return IsExpr(op); }

DataflowPattern IsTuple(std::vector<DataflowPattern> fields) {
  return PatternBuilder(Kind::kTuple, std::move(fields)).Done();
}

DataflowPattern IsAnyTuple() {
  return PatternBuilder(Kind::kTuple).AnyOperands().Done();
}

DataflowPattern IsTupleGetItem(DataflowPattern tuple, int index) {
  return PatternBuilder(Kind::kTupleGetItem, {std::move(tuple)})
      .Index(index)
      .Done();
}

DataflowPattern IsFunction(std::vector<DataflowPattern> params,
                           DataflowPattern body) {
  params.insert(params.begin(), std::move(body));
  return PatternBuilder(Kind::kFunction, std::move(params)).Done();
}

DataflowPattern IsFunctionOfAny(DataflowPattern body) {
  return PatternBuilder(Kind::kFunction, {std::move(body)})
      .AnyOperands()
      .Done();
}

DataflowPattern IsLet(DataflowPattern var, DataflowPattern value,
                      DataflowPattern body) {
  return PatternBuilder(Kind::kLet,
                        {std::move(var), std::move(value), std::move(body)})
      .Done();
}

DataflowPattern IsIf(DataflowPattern condition, DataflowPattern true_branch,
                     DataflowPattern false_branch) {
  return PatternBuilder(Kind::kIf,
                        {std::move(condition), std::move(true_branch),
                         std::move(false_branch)})
      .Done();
}

DataflowPattern Dominates(DataflowPattern parent, DataflowPattern path,
                          DataflowPattern child) {
  return PatternBuilder(Kind::kRegion,
                        {std::move(parent), std::move(path), std::move(child)})
      .Done();
}

DataflowPattern Repeated(
    const std::function<DataflowPattern(const DataflowPattern& self)>& body) {
  const Repetition repetition;
  return repetition.Of(body(repetition.self()));
}

Repetition::Repetition()
    : repeat_(std::make_shared<const Node*>(nullptr)),
      self_(PatternBuilder(Kind::kSelf).Repeat(repeat_).Done()) {}

DataflowPattern Repetition::Of(DataflowPattern body) const {
  DataflowPattern result =
      PatternBuilder(Kind::kRepeat, {std::move(body)}).Done();
  *repeat_ = result.get();
  return result;
}

std::string DataflowPattern::ToString() const { return PatternText(*this); }

}  // namespace baton::relay
