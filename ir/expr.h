// ExprNode, BaseFuncNode, GlobalVarNode: the base classes of expressions and
// functions of every level, and the name of a function of a module.
//
// An expression is a graph: a node that is used twice is computed once.
// `type()` is the type that inference found; it is null before inference. Nodes
// are immutable: inference and rewriting make new ones.

#ifndef BATON_IR_EXPR_H_
#define BATON_IR_EXPR_H_

#include <string>
#include <utility>

#include "baton/ir/attrs.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"

namespace baton {

class ExprNode : public Node {
 public:
  using Handle = class Expr;
  using ChildHandle = Expr;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind.Is(NodeSort::kExpr);
  }
  static constexpr auto BaseFields() {
    return field::List(field::InferredType<&ExprNode::type_>("type"),
                       field::Span<&ExprNode::span_>("span"));
  }

  // The inferred type; null before inference.
  const Type& type() const { return type_; }
  // The inferred type as a tensor or tuple type; null if it is another type or
  // there is none.
  const TensorTypeNode* tensor_type() const {
    return type_.As<TensorTypeNode>();
  }
  const TupleTypeNode* tuple_type() const { return type_.As<TupleTypeNode>(); }
  const Span& span() const { return span_; }

 protected:
  explicit ExprNode(NodeKind kind, Type type = {}, Span span = {})
      : Node(kind), type_(std::move(type)), span_(std::move(span)) {}

  // BaseFields() of classes whose type is fixed at creation.
  static constexpr auto FixedTypeFields() {
    return field::List(field::Derived<&ExprNode::type_>("type"),
                       field::Span<&ExprNode::span_>("span"));
  }
  // For Derive() of classes with FixedTypeFields().
  static void SetFixedType(ExprNode& node, Type type) {
    node.type_ = std::move(type);
  }

 private:
  friend class InferredTypeAccess;
  Type type_;
  Span span_;
};

// For type inference: gives a type to a node that inference made and to which
// nothing else refers yet.
class InferredTypeAccess {
 public:
  static void Set(const ExprNode* node, Type type) {
    const_cast<ExprNode*>(node)->type_ = std::move(type);
  }
};

class Expr : public NodeRef {
 public:
  BATON_HANDLE(Expr, NodeRef, ExprNode)
};

// A reference to a function of the module by its name. GlobalVars with equal
// names refer to one function.
class GlobalVarNode final : public ExprNode {
 public:
  BATON_NODE(GlobalVar, ExprNode, IrKind::kGlobalVar)
  static constexpr int kNodeField = 12;
  GlobalVarNode(std::string name, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        name_(std::move(name)) {}
  const std::string& name() const { return name_; }  // without the `@`
  std::string Describe() const { return "@" + name_; }

  static constexpr auto Fields() {
    return field::List(field::Data<1, &GlobalVarNode::name_>("name"));
  }

 private:
  std::string name_;
};

class GlobalVar : public Expr {
 public:
  BATON_HANDLE(GlobalVar, Expr, GlobalVarNode)
  explicit GlobalVar(std::string name, Type type = {}, Span span = {})
      : Expr(new GlobalVarNode(std::move(name), std::move(type),
                               std::move(span))) {}
};

// A function of any kind; a module maps names to functions. Each level defines
// classes for its functions.
class BaseFuncNode : public ExprNode {
 public:
  using Handle = class BaseFunc;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind.Is(NodeSort::kFunction);
  }
  const DictAttrs& attrs() const { return attrs_; }
  // The type of the function; null if it is unknown.
  const FuncTypeNode* func_type() const { return type().As<FuncTypeNode>(); }

 protected:
  explicit BaseFuncNode(NodeKind kind, DictAttrs attrs = {}, Type type = {},
                        Span span = {})
      : ExprNode(kind, std::move(type), std::move(span)),
        attrs_(std::move(attrs)) {}

  // Each derived class lists it in its Fields(), under its own number.
  DictAttrs attrs_;
};

class BaseFunc : public Expr {
 public:
  BATON_HANDLE(BaseFunc, Expr, BaseFuncNode)
};

}  // namespace baton

#endif  // BATON_IR_EXPR_H_
