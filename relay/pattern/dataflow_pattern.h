// Patterns of the dataflow graph of a program.
//
//   const DataflowPattern x = Wildcard("x"), bias = Wildcard("bias");
//   const DataflowPattern conv = IsOp("nn.conv2d")(x, IsConstant());
//   const DataflowPattern pattern =
//       IsOp("nn.relu")(conv.Optional([&](const DataflowPattern& data) {
//         return IsOp("nn.bias_add")(data, bias);
//       }));
//
// A pattern is a value: an immutable graph of pattern nodes that handles share,
// as expressions are. It matches a node of a program or does not (matcher.h).
//
//   - A pattern that occurs several times matches the same node each time:
//     `IsOp("add")(x, x)` is a node added to itself. "The same" is identity.
//   - The arguments of a commutative operator (relay/op/algebra.h) match in
//     either order.
//   - Of several ways to match, the first is taken: alternatives from left to
//     right, arguments as written before arguments exchanged.
//
// The names are those of the reference's pattern language (is_op, wildcard,
// dominates, ...), all of which this language can express.

#ifndef BATON_RELAY_PATTERN_DATAFLOW_PATTERN_H_
#define BATON_RELAY_PATTERN_DATAFLOW_PATTERN_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <type_traits>
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

// A condition on a node besides its form.
struct PatternCondition {
  // The inferred type, or the annotation of a variable, is this one.
  struct HasType {
    Type type;
  };
  // A tensor of one of these element types.
  struct HasDType {
    std::vector<DType> dtypes;
  };
  // A tensor of this shape; `?` stands for any extent.
  struct HasShape {
    Dims shape;
  };
  // A tensor of this rank.
  struct HasRank {
    int rank;
  };
  // An attribute of a call or a function. A call without attributes has the
  // defaults.
  struct HasAttr {
    std::string name;
    AttrValue value;
  };
  // A constant, each element of which is this number.
  struct IsSplat {
    double value;
  };
  // How often the node is an argument, field, branch or body; twice if one user
  // has it twice.
  struct HasUses {
    int uses;
  };
  // Any other condition. `text` describes it in messages.
  struct Holds {
    std::string text;
    std::function<bool(const Expr&)> holds;
  };
  std::variant<HasType, HasDType, HasShape, HasRank, HasAttr, IsSplat, HasUses,
               Holds>
      form;
};

class DataflowPattern {
 public:
  enum class Kind : uint8_t {
    kWildcard,      // anything
    kVar,           // a variable, of the given name if there is one
    kConstant,      // a constant
    kExpr,          // an expression that equals the given one
    kCall,          // children: callee, arguments
    kTuple,         // children: fields
    kTupleGetItem,  // children: tuple
    kFunction,      // children: body, parameters
    kLet,           // children: variable, value, body
    kIf,            // children: condition, branches
    kAlt,           // children: alternatives
    kWhere,         // children: the pattern that must fulfil the condition
    kRegion,        // children: parent, path, child
    kRepeat,        // children: the pattern, which may contain itself as kSelf
    kSelf,
  };
  class Node;

  // A null handle, which matches nothing.
  DataflowPattern() = default;

  bool defined() const { return node_ != nullptr; }
  const Node* get() const { return node_.get(); }
  const Node* operator->() const { return node_.get(); }
  // Identity: true only for the same pattern node.
  friend bool operator==(const DataflowPattern& a, const DataflowPattern& b) {
    return a.node_ == b.node_;
  }

  // A call of what this matches.
  template <typename... Args>
  DataflowPattern operator()(const Args&... args) const {
    return Call(std::vector<DataflowPattern>{args...});
  }
  DataflowPattern Call(std::vector<DataflowPattern> args) const;
  // The same with any arguments.
  DataflowPattern CallOfAny() const;

  // Matches what this matches, or what `user(*this)` matches. `user` may be a
  // pattern: then that is a call of it.
  template <typename User>
  DataflowPattern Optional(const User& user) const {
    return *this | user(*this);
  }

  // This and a condition, see PatternCondition.
  DataflowPattern HasType(Type type) const;
  DataflowPattern HasDType(DType dtype) const;
  DataflowPattern HasDType(std::vector<DType> dtypes) const;
  DataflowPattern HasShape(Dims shape) const;
  DataflowPattern HasRank(int rank) const;
  DataflowPattern HasAttr(std::string name, AttrValue value) const;
  DataflowPattern HasUses(int uses) const;
  DataflowPattern HasOneUse() const { return HasUses(1); }
  // An operator that has `value` in a map of properties:
  // Wildcard().HasProperty(FusionPatterns(), FusionPattern::kElemWise)(x).
  template <typename T>
  DataflowPattern HasProperty(const OpAttrMap<T>& map, T value) const {
    return Where("an operator with a property",
                 [&map, value = std::move(value)](const Expr& op) {
                   const T* property = map.Get(op);
                   return property != nullptr && *property == value;
                 });
  }
  // Calls `holds` when all else has matched here; `text` describes the
  // condition in messages.
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

  // For messages: `add(%x, nn.conv2d(_, constant) | _)`. A pattern that occurs
  // several times is written once and then as `...`, unless it has a name. A
  // long text is cut off.
  std::string ToString() const;

  // For code that makes patterns: builders, and the reader of text.
  explicit DataflowPattern(std::shared_ptr<const Node> node)
      : node_(std::move(node)) {}

 private:
  std::shared_ptr<const Node> node_;
};

class DataflowPattern::Node {
 public:
  Node(Kind kind, std::vector<DataflowPattern> children)
      : kind_(kind), children_(std::move(children)) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();  // does not recurse

  Kind kind() const { return kind_; }
  absl::Span<const DataflowPattern> children() const { return children_; }
  // Of a wildcard: its name in messages and for Match::operator[]. Of a
  // variable: the name that it must have. Often empty.
  const std::string& name() const { return name_; }
  // Of a call, tuple or function: true if it matches any arguments, fields or
  // parameters, in any number.
  bool any_operands() const { return any_operands_; }
  // Of a projection; -1 for any.
  int index() const { return index_; }
  // Of kExpr: the expression that a match must equal.
  const Expr& expr() const { return expr_; }
  const OpNode* op() const { return expr_.As<OpNode>(); }
  // Of kWhere.
  const PatternCondition& condition() const { return condition_; }
  // Of kSelf: the enclosing kRepeat that it stands for.
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

// Anything. A name makes messages clearer, and is a key of a Match.
DataflowPattern Wildcard(std::string name = "");
// A variable; one of that name if there is a name.
DataflowPattern IsVar(std::string name = "");
DataflowPattern IsConstant();
// A constant, each element of which is `value`: of any shape with elements, and
// of any element type that represents `value` exactly.
DataflowPattern IsSplat(double value);
// A constant of rank 0; equal to `value`.
DataflowPattern IsScalar();
DataflowPattern IsScalar(double value);
// An expression that is structurally equal.
DataflowPattern IsExpr(Expr expr);
// An operator. One that is not linked in matches nothing.
DataflowPattern IsOp(absl::string_view name);
DataflowPattern IsOp(const Op& op);
DataflowPattern IsTuple(std::vector<DataflowPattern> fields);
DataflowPattern IsAnyTuple();
// Field `index` of a tuple; any field if it is -1.
DataflowPattern IsTupleGetItem(DataflowPattern tuple, int index = -1);
DataflowPattern IsFunction(std::vector<DataflowPattern> params,
                           DataflowPattern body);
DataflowPattern IsFunctionOfAny(DataflowPattern body);
DataflowPattern IsLet(DataflowPattern var, DataflowPattern value,
                      DataflowPattern body);
DataflowPattern IsIf(DataflowPattern condition, DataflowPattern true_branch,
                     DataflowPattern false_branch);

// A region: `child` at its end, one `parent` at its start, and between them any
// number of nodes, each of which matches `path`. All uses of the parent and of
// the nodes in between lead to the child (the child post-dominates them).
DataflowPattern Dominates(DataflowPattern parent, DataflowPattern path,
                          DataflowPattern child);

// A pattern that may contain itself: a path of any length.
//
//   Repeated([&](const DataflowPattern& self) {
//     return IsOp("cast")(self | IsOp("nn.dense")(x, w));
//   })
//
// Its parts match other nodes in each round.
DataflowPattern Repeated(
    const std::function<DataflowPattern(const DataflowPattern& self)>& body);

// The same in two steps, for code that makes patterns from others.
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
