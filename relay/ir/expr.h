// Relay expressions.
//
// An expression is a graph: a node used twice is computed once, and is printed
// as `%0`. Each class below is a node (data, read by accessors) and a handle
// (one pointer, created by the constructor that takes the contents).
//
// An expression carries the type that inference found for it; `type()` is null
// before inference. Nodes are immutable: inference and rewriting make new ones.

#ifndef BATON_RELAY_IR_EXPR_H_
#define BATON_RELAY_IR_EXPR_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/node.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"

namespace baton {

class ExprNode : public Node {
 public:
  using Handle = class Expr;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind >= kFirstExprKind && kind <= kLastExprKind;
  }
  // The inferred type; null before inference.
  const Type& type() const { return type_; }
  // The inferred type as a tensor or tuple type; null if it is another, or
  // there is none.
  const TensorTypeNode* tensor_type() const {
    return type_.As<TensorTypeNode>();
  }
  const TupleTypeNode* tuple_type() const { return type_.As<TupleTypeNode>(); }
  const Span& span() const { return span_; }

 protected:
  ExprNode(NodeKind kind, Type type, Span span)
      : Node(kind), type_(std::move(type)), span_(std::move(span)) {}

 private:
  friend class internal::NodeAccess;
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  Type type_;
  Span span_;
};

class Expr : public NodeRef {
 public:
  BATON_HANDLE(Expr, NodeRef, ExprNode)
};

// A local variable. Its identity is the node, not the name.
class VarNode final : public ExprNode {
 public:
  using Handle = class Var;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kVar;
  }
  VarNode(std::string name, Type annotation, Type type, Span span)
      : ExprNode(NodeKind::kVar, std::move(type), std::move(span)),
        annotation_(std::move(annotation)),
        name_(std::move(name)) {}
  const std::string& name() const { return name_; }  // without the `%`
  // The declared type; null if none was written.
  const Type& annotation() const { return annotation_; }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  Type annotation_;
  std::string name_;
};

class Var : public Expr {
 public:
  BATON_HANDLE(Var, Expr, VarNode)
  explicit Var(std::string name, Type annotation = {}, Span span = {})
      : Expr(new VarNode(std::move(name), std::move(annotation), {},
                         std::move(span))) {}
  // A float32 variable (or `dtype`) of the given shape.
  Var(std::string name, std::initializer_list<Dim> shape,
      DType dtype = DType::Float(32))
      : Var(std::move(name), TensorType(shape, dtype)) {}
};

// A reference to a function of the module. Two with one name are the same
// function.
class GlobalVarNode final : public ExprNode {
 public:
  using Handle = class GlobalVar;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kGlobalVar;
  }
  GlobalVarNode(std::string name, Type type, Span span)
      : ExprNode(NodeKind::kGlobalVar, std::move(type), std::move(span)),
        name_(std::move(name)) {}
  const std::string& name() const { return name_; }  // without the `@`

 private:
  friend void internal::DestroyGraph(const Node* node);
  std::string name_;
};

class GlobalVar : public Expr {
 public:
  BATON_HANDLE(GlobalVar, Expr, GlobalVarNode)
  explicit GlobalVar(std::string name, Type type = {}, Span span = {})
      : Expr(new GlobalVarNode(std::move(name), std::move(type),
                               std::move(span))) {}
};

class ConstantNode final : public ExprNode {
 public:
  using Handle = class Constant;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kConstant;
  }
  ConstantNode(Tensor value, Type type, Span span)
      : ExprNode(NodeKind::kConstant, std::move(type), std::move(span)),
        value_(std::move(value)) {}
  const Tensor& value() const { return value_; }
  bool is_scalar() const { return value_.rank() == 0; }
  // The type that the tensor itself has.
  TensorType ValueType() const {
    return TensorType::Of(value_.shape(), value_.dtype());
  }

 private:
  friend void internal::DestroyGraph(const Node* node);
  Tensor value_;
};

class Constant : public Expr {
 public:
  BATON_HANDLE(Constant, Expr, ConstantNode)
  explicit Constant(Tensor value, Type type = {}, Span span = {})
      : Expr(new ConstantNode(std::move(value), std::move(type),
                              std::move(span))) {}
};

// The application of an operator, a function, a constructor, or anything of
// function type. One allocation: 64 bytes and 8 an argument.
class CallNode final : public ExprNode {
 public:
  using Handle = class Call;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kCall;
  }
  const Expr& op() const { return op_; }
  // The operator called; null if it is not an operator.
  inline const class OpNode* op_node() const;
  int num_args() const { return static_cast<int>(num_args_); }
  absl::Span<const Expr> args() const { return {arg_array(), num_args_}; }
  const Expr& arg(int i) const { return arg_array()[i]; }
  const Attrs& attrs() const { return attrs_; }
  // The attributes as a T; null if they are another type, or none.
  template <typename T>
  const T* attrs_as() const {
    return attrs_.As<T>();
  }
  // Types given for the type parameters of the callee, often none.
  absl::Span<const Type> type_args() const {
    return type_args_ == nullptr ? absl::Span<const Type>() : *type_args_;
  }

 private:
  friend class Call;
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  CallNode(Expr op, uint32_t num_args, Attrs attrs, Type type, Span span)
      : ExprNode(NodeKind::kCall, std::move(type), std::move(span)),
        op_(std::move(op)),
        attrs_(std::move(attrs)),
        num_args_(num_args) {}
  static size_t BytesFor(uint32_t num_args) {
    return sizeof(CallNode) + num_args * sizeof(Expr);
  }
  size_t bytes() const { return BytesFor(num_args_); }
  const Expr* arg_array() const {
    return reinterpret_cast<const Expr*>(this + 1);
  }
  Expr* arg_array() { return reinterpret_cast<Expr*>(this + 1); }

  Expr op_;
  Attrs attrs_;
  std::unique_ptr<std::vector<Type>> type_args_;
  uint32_t num_args_;
  // `num_args_` Exprs follow.
};

class Call : public Expr {
 public:
  BATON_HANDLE(Call, Expr, CallNode)
  Call(Expr op, absl::Span<const Expr> args, Attrs attrs = {},
       std::vector<Type> type_args = {}, Type type = {}, Span span = {});
  Call(Expr op, std::initializer_list<Expr> args, Attrs attrs = {})
      : Call(std::move(op), absl::Span<const Expr>(args.begin(), args.size()),
             std::move(attrs)) {}
  // The same, but takes the arguments out of `args`, which are null then.
  static Call Taking(Expr op, absl::Span<Expr> args, Attrs attrs,
                     std::vector<Type> type_args, Type type, Span span);

 private:
  // With arguments that are not there yet.
  static CallNode* Allocate(Expr op, size_t num_args, Attrs attrs,
                            std::vector<Type> type_args, Type type, Span span);
};

class TupleNode final : public ExprNode {
 public:
  using Handle = class Tuple;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kTuple;
  }
  TupleNode(std::vector<Expr> fields, Type type, Span span)
      : ExprNode(NodeKind::kTuple, std::move(type), std::move(span)),
        fields_(std::move(fields)) {}
  absl::Span<const Expr> fields() const { return fields_; }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  std::vector<Expr> fields_;
};

class Tuple : public Expr {
 public:
  BATON_HANDLE(Tuple, Expr, TupleNode)
  explicit Tuple(std::vector<Expr> fields, Type type = {}, Span span = {})
      : Expr(new TupleNode(std::move(fields), std::move(type),
                           std::move(span))) {}
  // So that `Tuple({})` is the empty tuple and `Tuple({tuple})` is not a copy.
  explicit Tuple(std::initializer_list<Expr> fields, Type type = {},
                 Span span = {})
      : Tuple(std::vector<Expr>(fields), std::move(type), std::move(span)) {}
};

class TupleGetItemNode final : public ExprNode {
 public:
  using Handle = class TupleGetItem;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kTupleGetItem;
  }
  TupleGetItemNode(Expr tuple, int index, Type type, Span span)
      : ExprNode(NodeKind::kTupleGetItem, std::move(type), std::move(span)),
        tuple_(std::move(tuple)),
        index_(index) {}
  const Expr& tuple() const { return tuple_; }
  int index() const { return index_; }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  Expr tuple_;
  int index_;
};

class TupleGetItem : public Expr {
 public:
  BATON_HANDLE(TupleGetItem, Expr, TupleGetItemNode)
  TupleGetItem(Expr tuple, int index, Type type = {}, Span span = {})
      : Expr(new TupleGetItemNode(std::move(tuple), index, std::move(type),
                                  std::move(span))) {}
};

// Names of function attributes with a meaning of their own.
namespace attr {
inline constexpr char kPrimitive[] = "Primitive";
inline constexpr char kCompiler[] = "Compiler";
inline constexpr char kExtern[] = "Extern";
inline constexpr char kSkipOptimization[] = "SkipOptimization";
inline constexpr char kInline[] = "Inline";
inline constexpr char kComposite[] = "Composite";
inline constexpr char kGlobalSymbol[] = "global_symbol";
}  // namespace attr

class FunctionNode final : public ExprNode {
 public:
  using Handle = class Function;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kFunction;
  }
  FunctionNode(std::vector<Var> params, Expr body, Type result_type,
               std::vector<TypeVar> type_params, DictAttrs attrs, Type type,
               Span span)
      : ExprNode(NodeKind::kFunction, std::move(type), std::move(span)),
        params_(std::move(params)),
        body_(std::move(body)),
        result_type_(std::move(result_type)),
        type_params_(std::move(type_params)),
        attrs_(std::move(attrs)) {}
  absl::Span<const Var> params() const { return params_; }
  const Expr& body() const { return body_; }
  // The declared result type; null if none was written.
  const Type& result_type() const { return result_type_; }
  absl::Span<const TypeVar> type_params() const { return type_params_; }
  const DictAttrs& attrs() const { return attrs_; }
  bool IsPrimitive() const { return attrs_.IsTrue(attr::kPrimitive); }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  std::vector<Var> params_;
  Expr body_;
  Type result_type_;
  std::vector<TypeVar> type_params_;
  DictAttrs attrs_;
};

class Function : public Expr {
 public:
  BATON_HANDLE(Function, Expr, FunctionNode)
  Function(std::vector<Var> params, Expr body, Type result_type = {},
           std::vector<TypeVar> type_params = {}, DictAttrs attrs = {},
           Type type = {}, Span span = {})
      : Expr(new FunctionNode(std::move(params), std::move(body),
                              std::move(result_type), std::move(type_params),
                              std::move(attrs), std::move(type),
                              std::move(span))) {}
  // The same function with one attribute set; keeps the type.
  Function WithAttr(std::string name, AttrValue value) const;
};

class LetNode final : public ExprNode {
 public:
  using Handle = class Let;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kLet;
  }
  LetNode(Var var, Expr value, Expr body, Type type, Span span)
      : ExprNode(NodeKind::kLet, std::move(type), std::move(span)),
        var_(std::move(var)),
        value_(std::move(value)),
        body_(std::move(body)) {}
  const Var& var() const { return var_; }
  // May use `var` if it is a function: local recursion.
  const Expr& value() const { return value_; }
  const Expr& body() const { return body_; }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  Var var_;
  Expr value_;
  Expr body_;
};

class Let : public Expr {
 public:
  BATON_HANDLE(Let, Expr, LetNode)
  Let(Var var, Expr value, Expr body, Type type = {}, Span span = {})
      : Expr(new LetNode(std::move(var), std::move(value), std::move(body),
                         std::move(type), std::move(span))) {}
};

class IfNode final : public ExprNode {
 public:
  using Handle = class If;
  static constexpr bool ClassOf(NodeKind kind) { return kind == NodeKind::kIf; }
  IfNode(Expr cond, Expr true_branch, Expr false_branch, Type type, Span span)
      : ExprNode(NodeKind::kIf, std::move(type), std::move(span)),
        cond_(std::move(cond)),
        true_branch_(std::move(true_branch)),
        false_branch_(std::move(false_branch)) {}
  const Expr& cond() const { return cond_; }  // a scalar bool
  const Expr& true_branch() const { return true_branch_; }
  const Expr& false_branch() const { return false_branch_; }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  Expr cond_;
  Expr true_branch_;
  Expr false_branch_;
};

class If : public Expr {
 public:
  BATON_HANDLE(If, Expr, IfNode)
  If(Expr cond, Expr true_branch, Expr false_branch, Type type = {},
     Span span = {})
      : Expr(new IfNode(std::move(cond), std::move(true_branch),
                        std::move(false_branch), std::move(type),
                        std::move(span))) {}
};

// ref(value): a new mutable cell.
class RefCreateNode final : public ExprNode {
 public:
  using Handle = class RefCreate;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kRefCreate;
  }
  RefCreateNode(Expr value, Type type, Span span)
      : ExprNode(NodeKind::kRefCreate, std::move(type), std::move(span)),
        value_(std::move(value)) {}
  const Expr& value() const { return value_; }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  Expr value_;
};

class RefCreate : public Expr {
 public:
  BATON_HANDLE(RefCreate, Expr, RefCreateNode)
  explicit RefCreate(Expr value, Type type = {}, Span span = {})
      : Expr(new RefCreateNode(std::move(value), std::move(type),
                               std::move(span))) {}
};

// ref_read(ref): the value in the cell.
class RefReadNode final : public ExprNode {
 public:
  using Handle = class RefRead;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kRefRead;
  }
  RefReadNode(Expr ref, Type type, Span span)
      : ExprNode(NodeKind::kRefRead, std::move(type), std::move(span)),
        ref_(std::move(ref)) {}
  const Expr& ref() const { return ref_; }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  Expr ref_;
};

class RefRead : public Expr {
 public:
  BATON_HANDLE(RefRead, Expr, RefReadNode)
  explicit RefRead(Expr ref, Type type = {}, Span span = {})
      : Expr(new RefReadNode(std::move(ref), std::move(type),
                             std::move(span))) {}
};

// ref_write(ref, value): stores, and is the empty tuple.
class RefWriteNode final : public ExprNode {
 public:
  using Handle = class RefWrite;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind == NodeKind::kRefWrite;
  }
  RefWriteNode(Expr ref, Expr value, Type type, Span span)
      : ExprNode(NodeKind::kRefWrite, std::move(type), std::move(span)),
        ref_(std::move(ref)),
        value_(std::move(value)) {}
  const Expr& ref() const { return ref_; }
  const Expr& value() const { return value_; }

 private:
  friend class TypedAccess;
  friend void internal::DestroyGraph(const Node* node);
  Expr ref_;
  Expr value_;
};

class RefWrite : public Expr {
 public:
  BATON_HANDLE(RefWrite, Expr, RefWriteNode)
  RefWrite(Expr ref, Expr value, Type type = {}, Span span = {})
      : Expr(new RefWriteNode(std::move(ref), std::move(value), std::move(type),
                              std::move(span))) {}
};

}  // namespace baton

#endif  // BATON_RELAY_IR_EXPR_H_
