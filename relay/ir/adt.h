// Algebraic data types: `type List[A] { Cons(A, List[A]), Nil, }`; their
// constructors, which are expressions; and `match`, which destructures their
// values.

#ifndef BATON_RELAY_IR_ADT_H_
#define BATON_RELAY_IR_ADT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// A constructor of a data type. Its type is fixed at creation. The type is
// always a function type, also for a constructor without arguments: `fn [A](A,
// List[A]) -> List[A]`. Two constructors with equal names, of data types with
// equal names, are the same constructor.
class ConstructorNode final : public ExprNode {
 public:
  BATON_NODE(Constructor, ExprNode, RelayKind::kConstructor)
  static constexpr int kNodeField = 20;
  static constexpr NodeIdentity kIdentity = NodeIdentity::kName;
  ConstructorNode(std::string name, std::vector<Type> inputs,
                  GlobalTypeVar belongs_to, std::vector<TypeVar> type_params,
                  Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        name_(std::move(name)),
        inputs_(std::move(inputs)),
        belongs_to_(std::move(belongs_to)),
        type_params_(std::move(type_params)) {}
  const std::string& name() const { return name_; }
  std::string Describe() const { return "constructor " + name_; }
  absl::Span<const Type> inputs() const { return inputs_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  // The name and the type parameters of its data type.
  const GlobalTypeVar& belongs_to() const { return belongs_to_; }
  absl::Span<const TypeVar> type_params() const { return type_params_; }

  static constexpr auto Fields() {
    return field::List(
        field::Data<1, &ConstructorNode::name_>("name"),
        field::Annotation<2, &ConstructorNode::inputs_>("inputs"),
        field::Reference<3, &ConstructorNode::belongs_to_>("belongs_to"),
        field::TypeParam<4, &ConstructorNode::type_params_>("type_params"));
  }
  static constexpr auto BaseFields() { return FixedTypeFields(); }
  // Computes the type.
  static void Derive(ConstructorNode& node);

 private:
  std::string name_;
  std::vector<Type> inputs_;
  GlobalTypeVar belongs_to_;
  std::vector<TypeVar> type_params_;
};

class Constructor : public Expr {
 public:
  BATON_HANDLE(Constructor, Expr, ConstructorNode)
  Constructor(std::string name, std::vector<Type> inputs,
              GlobalTypeVar belongs_to, std::vector<TypeVar> type_params = {},
              Span span = {});
};

// True if both have the same name and belong to data types of the same name.
bool SameConstructor(const ConstructorNode& a, const ConstructorNode& b);

// The definition of a data type. A data type without constructors is opaque:
// `extern type T[A]`.
class TypeDataNode final : public TypeDefinitionNode {
 public:
  BATON_NODE(TypeData, TypeDefinitionNode, RelayKind::kTypeData)
  static constexpr int kNodeField = 22;
  TypeDataNode(GlobalTypeVar header, std::vector<TypeVar> type_params,
               std::vector<Constructor> constructors)
      : TypeDefinitionNode(kKind, std::move(header)),
        type_params_(std::move(type_params)),
        constructors_(std::move(constructors)) {}
  absl::Span<const TypeVar> type_params() const { return type_params_; }
  absl::Span<const Constructor> constructors() const { return constructors_; }

  static constexpr auto Fields() {
    return field::List(
        field::TypeParam<2, &TypeDataNode::type_params_>("type_params"),
        field::Child<3, &TypeDataNode::constructors_>("constructors"));
  }

 private:
  std::vector<TypeVar> type_params_;
  std::vector<Constructor> constructors_;
};

class TypeData : public TypeDefinition {
 public:
  BATON_HANDLE(TypeData, TypeDefinition, TypeDataNode)
  TypeData(GlobalTypeVar header, std::vector<TypeVar> type_params,
           std::vector<Constructor> constructors)
      : TypeDefinition(new TypeDataNode(std::move(header),
                                        std::move(type_params),
                                        std::move(constructors))) {}
};

// The limit of the nesting of patterns. The parser and inference report an
// error beyond it.
inline constexpr int kMaxPatternDepth = 1000;

// A pattern that a value may match: any value (`_`), any value, which it binds
// to a variable (`%x`), a value of a constructor, or a tuple.
class PatternNode final : public Node {
 public:
  enum class Form : uint8_t { kWildcard, kVar, kConstructor, kTuple };
  friend constexpr int NumValuesOf(Form /*form*/) { return 4; }
  BATON_NODE(Pattern, Node, RelayKind::kPattern)
  static constexpr int kNodeField = 21;
  PatternNode(Form form, Var var, Constructor constructor,
              std::vector<Pattern> patterns, Span span);
  Form form() const { return form_; }
  // The variable of a kVar pattern; otherwise null.
  const Var& var() const { return var_; }
  // The constructor of a kConstructor pattern; otherwise null.
  const Constructor& constructor() const { return constructor_; }
  // The patterns of a constructor's arguments or of a tuple's fields.
  inline absl::Span<const Pattern> patterns() const;
  const Span& span() const { return span_; }

  static constexpr auto Fields() {
    return field::List(
        field::Data<1, &PatternNode::form_>("form"),
        field::Optional<field::Binder<2, &PatternNode::var_>>("var"),
        field::Optional<field::Reference<3, &PatternNode::constructor_>>(
            "constructor"),
        field::Child<4, &PatternNode::patterns_>("patterns"),
        field::Span<&PatternNode::span_>("span"));
  }
  std::string Describe() const;
  // An error if the pattern has parts that its form forbids, or lacks required
  // parts.
  static absl::Status Derive(const PatternNode& node);

 private:
  Form form_ = Form::kWildcard;
  Var var_;
  Constructor constructor_;
  std::vector<Pattern> patterns_;
  Span span_;
};

class Pattern : public NodeRef {
 public:
  BATON_HANDLE(Pattern, NodeRef, PatternNode)
  static Pattern Wildcard(Span span = {});
  static Pattern OfVar(Var var, Span span = {});
  static Pattern OfConstructor(Constructor constructor,
                               std::vector<Pattern> patterns, Span span = {});
  static Pattern OfTuple(std::vector<Pattern> patterns, Span span = {});

  // The pattern in Relay text; variables keep their names.
  std::string ToString() const;
};

inline absl::Span<const Pattern> PatternNode::patterns() const {
  return patterns_;
}

// Calls `fn` for each pattern in `pattern`, including itself, from left to
// right, parents before their parts.
void ForEachPattern(const PatternNode* pattern,
                    absl::FunctionRef<void(const PatternNode*)> fn);

// Calls `fn` for each variable that `pattern` binds, from left to right. The
// reference passed to `fn` is valid during the lifetime of the pattern.
void ForEachVar(const PatternNode* pattern,
                absl::FunctionRef<void(const Var&)> fn);

// The variables that `pattern` binds, for the description of MatchNode.
template <typename Fn>
void ForEachBinder(const Pattern& pattern, Fn&& fn) {
  ForEachVar(pattern.get(), [&fn](const Var& var) { fn(var); });
}

// Replaces the variables of `pattern`, in the order of ForEachVar, by the first
// variables of `vars`, and removes these from `vars`.
Pattern WithVars(const PatternNode* pattern, absl::Span<const Var>* vars);

// Replaces each variable of `pattern` by `fn(variable)`, for the description of
// MatchNode.
template <typename Fn>
Pattern WithBinders(const Pattern& pattern, Fn&& fn) {
  std::vector<Var> vars;
  ForEachVar(pattern.get(), [&](const Var& var) { vars.push_back(fn(var)); });
  absl::Span<const Var> rest = vars;
  return WithVars(pattern.get(), &rest);
}

// `lhs => rhs`. The scope of the variables of `lhs` is `rhs`.
struct Clause {
  Pattern lhs;
  Expr rhs;

  static constexpr auto Fields() {
    return field::List(field::Pattern<2, &Clause::lhs>("lhs"),
                       field::Child<3, &Clause::rhs>("rhs"));
  }
};

// match (data) { clauses }: evaluates the first clause whose pattern matches.
class MatchNode final : public ExprNode {
 public:
  BATON_NODE(Match, ExprNode, RelayKind::kMatch)
  static constexpr int kNodeField = 19;
  MatchNode(Expr data, std::vector<Clause> clauses, bool complete, Type type,
            Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        data_(std::move(data)),
        clauses_(std::move(clauses)),
        complete_(complete) {}
  const Expr& data() const { return data_; }
  absl::Span<const Clause> clauses() const { return clauses_; }
  // False for `match?`: a value may match no clause.
  bool complete() const { return complete_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &MatchNode::data_>("data"),
                       field::Records<&MatchNode::clauses_>("clauses"),
                       field::Data<4, &MatchNode::complete_>("complete"));
  }

 private:
  Expr data_;
  std::vector<Clause> clauses_;
  bool complete_ = true;
};

class Match : public Expr {
 public:
  BATON_HANDLE(Match, Expr, MatchNode)
  Match(Expr data, std::vector<Clause> clauses, bool complete = true,
        Type type = {}, Span span = {})
      : Expr(new MatchNode(std::move(data), std::move(clauses), complete,
                           std::move(type), std::move(span))) {}
};

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_ADT_H_
