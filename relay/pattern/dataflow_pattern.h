// DataflowPattern: patterns that match parts of a program's dataflow graph.
//
//   const DataflowPattern x = Wildcard("x"), bias = Wildcard("bias");
//   const DataflowPattern conv = IsOp("nn.conv2d")(x, IsConstant());
//   const DataflowPattern pattern =
//       IsOp("nn.relu")(conv.Optional([&](const DataflowPattern& data) {
//         return IsOp("nn.bias_add")(data, bias);
//       }));
//
// A pattern is a value: an immutable graph of pattern nodes that handles share,
// like an expression. It matches nodes of a program (matcher.h).
//
//   - A pattern that occurs several times matches the same node, by identity,
//     each time: `IsOp("add")(x, x)` is a node added to itself.
//   - The arguments of a commutative operator (relay/op/algebra.h) match in
//     either order.
//   - If there are several ways to match, the first is taken: alternatives from
//     left to right, arguments as written before exchanged arguments.
//
// The names are those of TVM's pattern language (is_op, wildcard, dominates,
// ...). This language can express all patterns of TVM.

#ifndef BATON_RELAY_PATTERN_DATAFLOW_PATTERN_H_
#define BATON_RELAY_PATTERN_DATAFLOW_PATTERN_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// A condition on a node in addition to the structure of the pattern.
struct PatternCondition {
  // The inferred type, or the annotation of a variable, equals `type`.
  struct HasType {
    Type type;
  };
  // A tensor of one of the element types `dtypes`.
  struct HasDType {
    std::vector<DType> dtypes;
  };
  // A tensor of the shape `dims`; `?` matches any extent.
  struct HasShape {
    Dims shape;
  };
  // A tensor of the rank `rank`.
  struct HasRank {
    int rank;
  };
  // An attribute of a call or a function has the given value. A call without
  // attributes has the defaults.
  struct HasAttr {
    std::string name;
    AttrValue value;
  };
  // A constant whose elements all equal `value`.
  struct IsSplat {
    double value;
  };
  // The number of uses of the node as an argument, field, branch or body; two
  // uses if one user has it twice.
  struct HasUses {
    int uses;
  };
  // A custom condition. `text` describes it in messages.
  struct Holds {
    std::string text;
    std::function<bool(const Expr&)> holds;
  };
  std::variant<HasType, HasDType, HasShape, HasRank, HasAttr, IsSplat, HasUses,
               Holds>
      form;
};

// A handle to a pattern node; see the top of this file.
class DataflowPattern {
 public:
  enum class Kind : uint8_t {
    kWildcard,      // anything
    kVar,           // a variable, with the given name if there is one
    kConstant,      // a constant
    kExpr,          // an expression that equals the given one
    kCall,          // children: callee, arguments
    kTuple,         // children: fields
    kTupleGetItem,  // children: tuple
    kFunction,      // children: body, parameters
    kLet,           // children: variable, value, body
    kIf,            // children: condition, branches
    kAlt,           // children: alternatives
    kWhere,         // children: the pattern with the condition
    kRegion,        // children: parent, path, child
    kRepeat,        // children: the pattern, which may contain itself as kSelf
    kSelf,
  };
  class Node;

  // The null pattern, which matches nothing.
  DataflowPattern() = default;

  bool defined() const { return node_ != nullptr; }
  const Node* get() const { return node_.get(); }
  const Node* operator->() const { return node_.get(); }
  // Identity: true only for the same pattern node.
  friend bool operator==(const DataflowPattern& a, const DataflowPattern& b) {
    return a.node_ == b.node_;
  }

  // A call of a callee that this pattern matches.
  template <typename... Args>
  DataflowPattern operator()(const Args&... args) const {
    return Call(std::vector<DataflowPattern>{args...});
  }
  DataflowPattern Call(std::vector<DataflowPattern> args) const;
  // As operator(), with any arguments.
  DataflowPattern CallOfAny() const;

  // Matches a node that this pattern or `user(*this)` matches. If `user` is a
  // pattern, `user(*this)` is a call of it.
  template <typename User>
  DataflowPattern Optional(const User& user) const {
    return *this | user(*this);
  }

  // This pattern with a condition, see PatternCondition.
  DataflowPattern HasType(Type type) const;
  DataflowPattern HasDType(DType dtype) const;
  DataflowPattern HasDType(std::vector<DType> dtypes) const;
  DataflowPattern HasShape(Dims shape) const;
  DataflowPattern HasRank(int rank) const;
  DataflowPattern HasAttr(std::string name, AttrValue value) const;
  DataflowPattern HasUses(int uses) const;
  DataflowPattern HasOneUse() const { return HasUses(1); }
  // Adds the condition that the operator has `value` in a map of properties:
  // Wildcard().HasProperty(FusionPatterns(), FusionPattern::kElemWise)(x).
  template <typename T>
  DataflowPattern HasProperty(const OpProperty<T>& map, T value) const {
    return Where("an operator with a property",
                 [&map, value = std::move(value)](const Expr& op) {
                   const T* property = map.Get(op);
                   return property != nullptr && *property == value;
                 });
  }
  // Adds the condition `holds`, which is called when the rest of this pattern
  // has matched. `text` describes the condition in messages.
  DataflowPattern Where(std::string text,
                        std::function<bool(const Expr&)> holds) const;
  DataflowPattern Where(PatternCondition condition) const;

  friend DataflowPattern operator|(const DataflowPattern& a,
                                   const DataflowPattern& b);

  // Calls of add, subtract, multiply and divide.
  friend DataflowPattern operator+(const DataflowPattern& a,
                                   const DataflowPattern& b);
  friend DataflowPattern operator-(const DataflowPattern& a,
                                   const DataflowPattern& b);
  friend DataflowPattern operator*(const DataflowPattern& a,
                                   const DataflowPattern& b);
  friend DataflowPattern operator/(const DataflowPattern& a,
                                   const DataflowPattern& b);

  // The text for messages: `add(%x, nn.conv2d(_, constant) | _)`. A pattern
  // that occurs several times is written once and then as `...`, unless it has
  // a name. A long text is cut off.
  std::string ToString() const;

  // For code that makes patterns: builders, and the parser of rules.
  explicit DataflowPattern(std::shared_ptr<const Node> node)
      : node_(std::move(node)) {}

 private:
  std::shared_ptr<const Node> node_;
};

// A node of a pattern.
class DataflowPattern::Node {
 public:
  Node(Kind kind, std::vector<DataflowPattern> children)
      : kind_(kind), children_(std::move(children)) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();  // does not recurse

  Kind kind() const { return kind_; }
  absl::Span<const DataflowPattern> children() const { return children_; }
  // For a wildcard: its name in messages and for PatternMatch::operator[]. For
  // a variable: the name that it must have. Often empty.
  const std::string& name() const { return name_; }
  // For a call, tuple or function: true if it matches any arguments, fields or
  // parameters, in any number.
  bool any_operands() const { return any_operands_; }
  // For a projection; -1 for any index.
  int index() const { return index_; }
  // For kExpr: the expression that a match must equal.
  const Expr& expr() const { return expr_; }
  const OpNode* op() const { return expr_.As<OpNode>(); }
  // For kWhere.
  const PatternCondition& condition() const { return condition_; }
  // For kSelf: the enclosing kRepeat.
  const Node* repeat() const { return *repeat_; }

 private:
  friend struct PatternBuilder;
  Kind kind_;
  bool any_operands_ = false;
  int index_ = -1;
  std::vector<DataflowPattern> children_;
  std::string name_;
  Expr expr_;
  PatternCondition condition_{PatternCondition::HasRank{0}};
  std::shared_ptr<const Node*> repeat_;
};

// Matches anything. A name makes messages clearer, and is a key of a
// PatternMatch.
DataflowPattern Wildcard(std::string name = "");
// Matches a variable; if `name` is not empty, only one with that name.
DataflowPattern IsVar(std::string name = "");
DataflowPattern IsConstant();
// Matches a constant whose elements all equal `value`, of any shape with
// elements and any element type that represents `value` exactly.
DataflowPattern IsSplat(double value);
// Matches a constant of rank 0; the second form, only if it equals `value`.
DataflowPattern IsScalar();
DataflowPattern IsScalar(double value);
// Matches an expression that is structurally equal to `expr`.
DataflowPattern IsExpr(Expr expr);
// Matches an operator. An operator that is not linked matches nothing.
DataflowPattern IsOp(absl::string_view name);
DataflowPattern IsOp(const Op& op);
DataflowPattern IsTuple(std::vector<DataflowPattern> fields);
DataflowPattern IsAnyTuple();
// Matches field `index` of a tuple; any field if `index` is -1.
DataflowPattern IsTupleGetItem(DataflowPattern tuple, int index = -1);
DataflowPattern IsFunction(std::vector<DataflowPattern> params,
                           DataflowPattern body);
DataflowPattern IsFunctionOfAny(DataflowPattern body);
DataflowPattern IsLet(DataflowPattern var, DataflowPattern value,
                      DataflowPattern body);
DataflowPattern IsIf(DataflowPattern condition, DataflowPattern true_branch,
                     DataflowPattern false_branch);

// Matches a region: `child` at its end, one `parent` at its start, and between
// them any number of nodes that each match `path`. All uses of the parent and
// of the nodes in between lead to the child (the child post-dominates them).
DataflowPattern Dominates(DataflowPattern parent, DataflowPattern path,
                          DataflowPattern child);

// A pattern that may contain itself, for a path of any length:
//
//   Repeated([&](const DataflowPattern& self) {
//     return IsOp("cast")(self | IsOp("nn.dense")(x, w));
//   })
//
// The parts of the body match different nodes in each round.
DataflowPattern Repeated(
    const std::function<DataflowPattern(const DataflowPattern& self)>& body);

// Repeated() in two steps, for code that makes patterns from other patterns.
class Repetition {
 public:
  Repetition();
  const DataflowPattern& self() const { return self_; }
  // Call once.
  DataflowPattern Of(DataflowPattern body) const;

 private:
  std::shared_ptr<const DataflowPattern::Node*> repeat_;
  DataflowPattern self_;
};

}  // namespace baton::relay

#endif  // BATON_RELAY_PATTERN_DATAFLOW_PATTERN_H_
