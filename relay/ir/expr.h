// The expressions of Relay: variables, calls, tuples, functions, lets,
// branches, references.
//
// An expression is a graph: a node that is used twice is computed once, and is
// printed as `%0`. Each class below is a node (data, read by accessors) and a
// handle (one pointer, created by the constructor that takes the contents).
//
// `type()` is the type that inference found for an expression; it is null
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

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/node_kind.h"

namespace baton::relay {

// The kind of a Relay expression, for switches.
inline ExprKind ExprKindOf(const ExprNode* node) {
  return node->kind().To<ExprKind>();
}
inline ExprKind ExprKindOf(const Expr& expr) { return ExprKindOf(expr.get()); }

// A local variable. Its identity is the node, not the name.
class VarNode final : public ExprNode {
 public:
  BATON_NODE(Var, ExprNode, RelayKind::kVar)
  static constexpr int kNodeField = 3;
  static constexpr NodeIdentity kIdentity = NodeIdentity::kVariable;
  VarNode(std::string name, Type annotation, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        annotation_(std::move(annotation)),
        name_(std::move(name)) {}
  const std::string& name() const { return name_; }  // without the `%`
  std::string Describe() const { return "%" + name_; }
  // The declared type; null if none was written.
  const Type& annotation() const { return annotation_; }

  static constexpr auto Fields() {
    return field::List(
        field::Name<1, &VarNode::name_>("name"),
        field::Annotation<2, &VarNode::annotation_>("annotation"));
  }

 private:
  friend class TypedAccess;
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

class ConstantNode final : public ExprNode {
 public:
  BATON_NODE(Constant, ExprNode, RelayKind::kConstant)
  static constexpr int kNodeField = 4;
  ConstantNode(Tensor value, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        value_(std::move(value)) {}
  const Tensor& value() const { return value_; }
  bool is_scalar() const { return value_.rank() == 0; }
  std::string Describe() const;
  // The type of the tensor itself.
  TensorType ValueType() const {
    return TensorType::Of(value_.shape(), value_.dtype());
  }

  static constexpr auto Fields() {
    return field::List(field::Data<1, &ConstantNode::value_>("value"));
  }

 private:
  Tensor value_;
};

class Constant : public Expr {
 public:
  BATON_HANDLE(Constant, Expr, ConstantNode)
  explicit Constant(Tensor value, Type type = {}, Span span = {})
      : Expr(new ConstantNode(std::move(value), std::move(type),
                              std::move(span))) {}
};

// A call of an operator, a function, a constructor, or any other expression of
// function type. One allocation: 64 bytes, and 8 for each argument.
class CallNode final : public ExprNode {
 public:
  BATON_NODE(Call, ExprNode, RelayKind::kCall)
  static constexpr int kNodeField = 2;
  const Expr& op() const { return op_; }
  // The called operator; null if the callee is not an operator.
  const OpNode* op_node() const { return op_.As<OpNode>(); }
  int num_args() const { return static_cast<int>(num_args_); }
  absl::Span<const Expr> args() const { return {arg_array(), num_args_}; }
  const Expr& arg(int i) const { return arg_array()[i]; }
  const Attrs& attrs() const { return attrs_; }
  // The attributes as a T; null if they are of another type or there are none.
  template <typename T>
  const T* attrs_as() const {
    return attrs_.As<T>();
  }
  // The types given for the type parameters of the callee; often none.
  absl::Span<const Type> type_args() const {
    return type_args_ == nullptr ? absl::Span<const Type>() : *type_args_;
  }

  // An error if the attributes do not have the type that the operator
  // registers.
  static absl::Status Derive(const CallNode& node);
  // A call without attributes equals a call with the operator's attributes if
  // all of these are defaults.
  static const AttrsType* ImpliedAttrs(const CallNode& node) {
    const OpNode* op = node.op_node();
    return op == nullptr ? nullptr : op->attrs_type();
  }
  std::string Describe() const;

  static constexpr auto Fields() {
    return field::List(
        field::Child<1, &CallNode::op_>("op"),
        field::TrailingChildren<2, Expr, &CallNode::num_args_>("args"),
        field::Attrs<3, &CallNode::attrs_>("attrs"),
        field::Annotation<4, &CallNode::type_args_>("type_args"));
  }

 private:
  friend class Call;
  CallNode(Expr op, uint32_t num_args, Attrs attrs, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        op_(std::move(op)),
        attrs_(std::move(attrs)),
        num_args_(num_args) {}
  const Expr* arg_array() const {
    return reinterpret_cast<const Expr*>(this + 1);
  }
  Expr* arg_array() { return reinterpret_cast<Expr*>(this + 1); }

  Expr op_;
  Attrs attrs_;
  std::unique_ptr<std::vector<Type>> type_args_;
  uint32_t num_args_ = 0;
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
  // As the constructor, but moves the arguments out of `args`, whose elements
  // become null.
  static Call Taking(Expr op, absl::Span<Expr> args, Attrs attrs,
                     std::vector<Type> type_args, Type type, Span span);

 private:
  // Allocates a node whose arguments are not yet constructed.
  static CallNode* Allocate(Expr op, size_t num_args, Attrs attrs,
                            std::vector<Type> type_args, Type type, Span span);
};

// True if `expr` is a call of `op`.
inline bool IsCallTo(const Expr& expr, const Op& op) {
  const CallNode* call = expr.As<CallNode>();
  return call != nullptr && call->op() == op;
}

class TupleNode final : public ExprNode {
 public:
  BATON_NODE(Tuple, ExprNode, RelayKind::kTuple)
  static constexpr int kNodeField = 5;
  TupleNode(std::vector<Expr> fields, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        fields_(std::move(fields)) {}
  absl::Span<const Expr> fields() const { return fields_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &TupleNode::fields_>("fields"));
  }

 private:
  std::vector<Expr> fields_;
};

class Tuple : public Expr {
 public:
  BATON_HANDLE(Tuple, Expr, TupleNode)
  explicit Tuple(std::vector<Expr> fields, Type type = {}, Span span = {})
      : Expr(new TupleNode(std::move(fields), std::move(type),
                           std::move(span))) {}
  // Makes `Tuple({})` the empty tuple, and `Tuple({tuple})` a tuple of a tuple
  // and not a copy.
  explicit Tuple(std::initializer_list<Expr> fields, Type type = {},
                 Span span = {})
      : Tuple(std::vector<Expr>(fields), std::move(type), std::move(span)) {}
};

class TupleGetItemNode final : public ExprNode {
 public:
  BATON_NODE(TupleGetItem, ExprNode, RelayKind::kTupleGetItem)
  static constexpr int kNodeField = 6;
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  TupleGetItemNode(Expr tuple, int index, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        tuple_(std::move(tuple)),
        index_(index) {}
  const Expr& tuple() const { return tuple_; }
  int index() const { return index_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &TupleGetItemNode::tuple_>("tuple"),
                       field::Data<2, &TupleGetItemNode::index_>("index"));
  }

 private:
  Expr tuple_;
  int index_ = 0;
};

class TupleGetItem : public Expr {
 public:
  BATON_HANDLE(TupleGetItem, Expr, TupleGetItemNode)
  TupleGetItem(Expr tuple, int index, Type type = {}, Span span = {})
      : Expr(new TupleGetItemNode(std::move(tuple), index, std::move(type),
                                  std::move(span))) {}
};

// Names of function attributes with a predefined meaning.
namespace attr {
// True: the operators of the function run as one kernel (FuseOps).
inline constexpr char kPrimitive[] = "Primitive";
// The name of the external compiler that compiles the function.
inline constexpr char kCompiler[] = "Compiler";
// True: the function is defined outside of the module.
inline constexpr char kExtern[] = "Extern";
// True: function passes skip the function.
inline constexpr char kSkipOptimization[] = "SkipOptimization";
// True: the pass Inline replaces calls by the body.
inline constexpr char kInline[] = "Inline";
// The name of the pattern that the body matches (MergeComposite).
inline constexpr char kComposite[] = "Composite";
// The name of the function in compiled code.
inline constexpr char kGlobalSymbol[] = "global_symbol";
}  // namespace attr

class FunctionNode final : public BaseFuncNode {
 public:
  BATON_NODE(Function, BaseFuncNode, RelayKind::kFunction)
  static constexpr int kNodeField = 8;
  FunctionNode(std::vector<Var> params, Expr body, Type result_type,
               std::vector<TypeVar> type_params, DictAttrs attrs, Type type,
               Span span)
      : BaseFuncNode(kKind, std::move(attrs), std::move(type), std::move(span)),
        params_(std::move(params)),
        body_(std::move(body)),
        result_type_(std::move(result_type)),
        type_params_(std::move(type_params)) {}
  absl::Span<const Var> params() const { return params_; }
  const Expr& body() const { return body_; }
  // The declared result type; null if none was written.
  const Type& result_type() const { return result_type_; }
  absl::Span<const TypeVar> type_params() const { return type_params_; }
  bool IsPrimitive() const { return attrs().IsTrue(attr::kPrimitive); }

  static constexpr auto Fields() {
    return field::List(
        field::Binder<1, &FunctionNode::params_>("params"),
        field::Child<2, &FunctionNode::body_>("body"),
        field::Annotation<3, &FunctionNode::result_type_>("result_type"),
        field::TypeParam<4, &FunctionNode::type_params_>("type_params"),
        field::Attrs<5, &FunctionNode::attrs_>("attrs"));
  }

 private:
  friend class TypedAccess;
  std::vector<Var> params_;
  Expr body_;
  Type result_type_;
  std::vector<TypeVar> type_params_;
};

class Function : public BaseFunc {
 public:
  BATON_HANDLE(Function, BaseFunc, FunctionNode)
  Function(std::vector<Var> params, Expr body, Type result_type = {},
           std::vector<TypeVar> type_params = {}, DictAttrs attrs = {},
           Type type = {}, Span span = {})
      : BaseFunc(new FunctionNode(std::move(params), std::move(body),
                                  std::move(result_type),
                                  std::move(type_params), std::move(attrs),
                                  std::move(type), std::move(span))) {}
  // A copy of this function with one attribute set; keeps the type.
  Function WithAttr(std::string name, AttrValue value) const;
};

class LetNode final : public ExprNode {
 public:
  BATON_NODE(Let, ExprNode, RelayKind::kLet)
  static constexpr int kNodeField = 7;
  LetNode(Var var, Expr value, Expr body, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        var_(std::move(var)),
        value_(std::move(value)),
        body_(std::move(body)) {}
  const Var& var() const { return var_; }
  // May use `var` if it is a function: local recursion.
  const Expr& value() const { return value_; }
  const Expr& body() const { return body_; }

  static constexpr auto Fields() {
    return field::List(field::Binder<1, &LetNode::var_>("var"),
                       field::Child<2, &LetNode::value_>("value"),
                       field::Child<3, &LetNode::body_>("body"));
  }

 private:
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
  BATON_NODE(If, ExprNode, RelayKind::kIf)
  static constexpr int kNodeField = 9;
  IfNode(Expr cond, Expr true_branch, Expr false_branch, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        cond_(std::move(cond)),
        true_branch_(std::move(true_branch)),
        false_branch_(std::move(false_branch)) {}
  const Expr& cond() const { return cond_; }  // a scalar bool
  const Expr& true_branch() const { return true_branch_; }
  const Expr& false_branch() const { return false_branch_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &IfNode::cond_>("cond"),
                       field::Child<2, &IfNode::true_branch_>("true_branch"),
                       field::Child<3, &IfNode::false_branch_>("false_branch"));
  }

 private:
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
  BATON_NODE(RefCreate, ExprNode, RelayKind::kRefCreate)
  static constexpr int kNodeField = 16;
  RefCreateNode(Expr value, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        value_(std::move(value)) {}
  const Expr& value() const { return value_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &RefCreateNode::value_>("value"));
  }

 private:
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
  BATON_NODE(RefRead, ExprNode, RelayKind::kRefRead)
  static constexpr int kNodeField = 17;
  RefReadNode(Expr ref, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        ref_(std::move(ref)) {}
  const Expr& ref() const { return ref_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &RefReadNode::ref_>("ref"));
  }

 private:
  Expr ref_;
};

class RefRead : public Expr {
 public:
  BATON_HANDLE(RefRead, Expr, RefReadNode)
  explicit RefRead(Expr ref, Type type = {}, Span span = {})
      : Expr(new RefReadNode(std::move(ref), std::move(type),
                             std::move(span))) {}
};

// ref_write(ref, value): stores `value`; its own value is the empty tuple.
class RefWriteNode final : public ExprNode {
 public:
  BATON_NODE(RefWrite, ExprNode, RelayKind::kRefWrite)
  static constexpr int kNodeField = 18;
  RefWriteNode(Expr ref, Expr value, Type type, Span span)
      : ExprNode(kKind, std::move(type), std::move(span)),
        ref_(std::move(ref)),
        value_(std::move(value)) {}
  const Expr& ref() const { return ref_; }
  const Expr& value() const { return value_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &RefWriteNode::ref_>("ref"),
                       field::Child<2, &RefWriteNode::value_>("value"));
  }

 private:
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

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_EXPR_H_
