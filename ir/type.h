// Types: Tensor[(1, ?, 224), float32], tuples, functions, type variables,
// references, algebraic data types, and inference variables (IncompleteType).

#ifndef BATON_IR_TYPE_H_
#define BATON_IR_TYPE_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"

namespace baton {

class DimExprNode;

// One dimension of a shape: a number, unknown (`?`), or a symbolic expression.
// Eight bytes; only the symbolic form refers to a node and counts references.
class Dim {
 public:
  // The largest number that it can represent. Larger numbers, and numbers below
  // -kMax, become kOutOfRange, which no type may have.
  static constexpr int64_t kMax = INT64_MAX / 2;
  static constexpr int64_t kOutOfRange = -kMax - 1;

  Dim() = default;    // unknown
  Dim(int64_t value)  // NOLINT(google-explicit-constructor)
      : bits_((static_cast<uint64_t>(value > kMax || value < -kMax ? kOutOfRange
                                                                   : value)
               << 1) |
              1u) {}
  Dim(int value)  // NOLINT(google-explicit-constructor)
      : bits_((static_cast<uint64_t>(int64_t{value}) << 1) | 1u) {}
  explicit Dim(const DimExprNode* expr);
  static Dim Any() { return {}; }

  Dim(const Dim& other) : bits_(other.bits_) { RetainSymbolic(); }
  Dim(Dim&& other) noexcept : bits_(std::exchange(other.bits_, 0)) {}
  Dim& operator=(Dim other) noexcept {
    std::swap(bits_, other.bits_);
    return *this;
  }
  ~Dim() {
    if (is_symbolic()) ReleaseSymbolic();
  }

  bool is_any() const { return bits_ == 0; }
  bool is_const() const { return (bits_ & 1u) != 0; }
  bool is_symbolic() const { return bits_ != 0 && (bits_ & 1u) == 0; }
  // Only for is_const().
  int64_t value() const { return static_cast<int64_t>(bits_) >> 1; }
  bool is_const(int64_t value) const { return bits_ == Dim(value).bits_; }
  // Only for is_symbolic().
  const DimExprNode* expr() const {
    return reinterpret_cast<const DimExprNode*>(bits_);
  }

  // True if both are the same number, both unknown, or the same symbolic node.
  friend bool operator==(const Dim& a, const Dim& b) {
    return a.bits_ == b.bits_;
  }
  friend bool operator!=(const Dim& a, const Dim& b) {
    return a.bits_ != b.bits_;
  }
  template <typename H>
  friend H AbslHashValue(H h, const Dim& dim) {
    return H::combine(std::move(h), dim.bits_);
  }

  std::string ToString() const;  // `224`, `?`, or the expression

 private:
  friend class internal::ChildSink;
  void RetainSymbolic() const;
  void ReleaseSymbolic();
  uint64_t bits_ = 0;
};

inline const Node* ReferredNode(const Dim& dim);

using Dims = absl::InlinedVector<Dim, 5>;

// A Dim as an attribute or option value. A constant dimension becomes an
// int64_t.
template <>
struct ForeignTraits<Dim> {
  static constexpr char kName[] = "dim";
  static uint64_t Hash(const Dim& dim) {
    // Symbolic dimensions are equal by identity, which is not stable.
    return dim.is_any() ? 1 : 2;
  }
  static std::string ToString(const Dim& dim) { return dim.ToString(); }
};
template <>
struct AttrTraits<Dim> {
  static std::string Name() { return "dim"; }
  static AttrValue ToValue(const Dim& dim) {
    return dim.is_const() ? AttrValue(dim.value())
                          : AttrValue(ForeignValue(dim));
  }
  static absl::Status FromValue(const AttrValue& value, Dim* out);
};

// Dims that a program may write as None. None means the same as an empty list,
// but is a different value, so that the program prints as it was written.
class OptionalDims : public Dims {
 public:
  using Dims::Dims;
  OptionalDims() = default;
  explicit OptionalDims(std::nullopt_t) : is_none_(true) {}

  bool is_none() const { return is_none_; }

  friend bool operator==(const OptionalDims& a, const OptionalDims& b) {
    return a.is_none_ == b.is_none_ &&
           static_cast<const Dims&>(a) == static_cast<const Dims&>(b);
  }

 private:
  bool is_none_ = false;
};

template <>
struct AttrTraits<OptionalDims> {
  static std::string Name() { return AttrTraits<Dims>::Name() + "?"; }
  static AttrValue ToValue(const OptionalDims& value);
  static absl::Status FromValue(const AttrValue& value, OptionalDims* out);
};

extern template struct AttrTraits<Dims>;
extern template struct internal::FieldOpsOf<Dim>;
extern template struct internal::FieldOpsOf<Dims>;
extern template struct internal::FieldOpsOf<OptionalDims>;

// OK if a type may have these dimensions: their number is within the limits
// (base/limits.h), and none is out of range.
absl::Status CheckShape(absl::Span<const Dim> shape);

// The dimensions of `dims` as numbers; nullopt if one is not a number.
std::optional<absl::InlinedVector<int64_t, 6>> ConstDims(
    absl::Span<const Dim> dims);

// A symbolic dimension: a variable, or an operation on two dimensions.
class DimExprNode : public Node {
 public:
  enum class Op : uint8_t { kVar, kSizeVar, kAdd, kSub, kMul, kFloorDiv };
  friend constexpr int NumValuesOf(Op /*op*/) { return 6; }
  BATON_NODE_WITHOUT_HANDLE(DimExpr, Node, IrKind::kDimExpr)
  static constexpr int kNodeField = 30;
  DimExprNode(Op op, std::string name, DType dtype, Dim lhs, Dim rhs)
      : Node(kKind),
        op_(op),
        dtype_(dtype),
        name_(std::move(name)),
        lhs_(std::move(lhs)),
        rhs_(std::move(rhs)) {}

  Op op() const { return op_; }
  bool is_var() const { return op_ == Op::kVar || op_ == Op::kSizeVar; }
  DType dtype() const { return dtype_; }
  const std::string& name() const { return name_; }  // of a variable
  const Dim& lhs() const { return lhs_; }
  const Dim& rhs() const { return rhs_; }

  static constexpr auto Fields() {
    return field::List(field::Data<1, &DimExprNode::op_>("op"),
                       field::Data<2, &DimExprNode::name_>("name"),
                       field::Data<3, &DimExprNode::dtype_>("dtype"),
                       field::Dim<4, &DimExprNode::lhs_>("lhs"),
                       field::Dim<5, &DimExprNode::rhs_>("rhs"));
  }

 private:
  Op op_ = Op::kVar;
  DType dtype_;
  std::string name_;
  Dim lhs_;
  Dim rhs_;
};

inline const Node* ReferredNode(const Dim& dim) {
  return dim.is_symbolic() ? dim.expr() : nullptr;
}

class TypeNode : public Node {
 public:
  using Handle = class Type;
  using ChildHandle = Type;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind.Is(NodeSort::kType);
  }
  static constexpr auto BaseFields() {
    return field::List(field::Derived<&TypeNode::complete_>("complete"));
  }
  // False if an IncompleteType occurs in this type.
  bool complete() const { return complete_; }
  // Computes complete() of `node` from its parts.
  template <typename N>
  static void Derive(N& node);

 protected:
  explicit TypeNode(NodeKind kind, bool complete = true)
      : Node(kind), complete_(complete) {}

 private:
  bool complete_;
};

class Type : public NodeRef {
 public:
  BATON_HANDLE(Type, NodeRef, TypeNode)

  // Relay text: `Tensor[(1, 3), float32]`, `fn (int32) -> int32`.
  std::string ToString() const;
};

template <typename N>
void TypeNode::Derive(N& node) {
  bool complete = N::kKind != NodeKind(IrKind::kIncompleteType);
  ForEachChildOf(node, [&complete](const Type& part) {
    complete = complete && (!part.defined() || part->complete());
  });
  static_cast<TypeNode&>(node).complete_ = complete;
}

// The kind of a type, for switches.
inline TypeKind TypeKindOf(const TypeNode* type) {
  return type->kind().To<TypeKind>();
}

inline TypeKind TypeKindOf(const Type& type) { return TypeKindOf(type.get()); }

// True if both are null or structurally equal. Type variables bound by a
// function type match by position, others by identity. The common case, one
// shared node, takes one comparison.
bool TypeEqual(const Type& a, const Type& b);

class TensorTypeNode final : public TypeNode {
 public:
  BATON_NODE(TensorType, TypeNode, IrKind::kTensorType)
  static constexpr int kNodeField = 10;
  DType dtype() const { return dtype_; }
  int rank() const { return static_cast<int>(rank_); }
  absl::Span<const Dim> shape() const { return {dims(), rank_}; }
  const Dim& dim(int i) const { return dims()[i]; }
  // True if every dimension is a number.
  bool is_static() const;

  static constexpr auto Fields() {
    return field::List(
        field::Data<1, &TensorTypeNode::dtype_>("dtype"),
        field::TrailingDims<2, ::baton::Dim, &TensorTypeNode::rank_>("shape"));
  }

 private:
  friend class TensorType;
  const Dim* dims() const { return reinterpret_cast<const Dim*>(this + 1); }
  Dim* dims() { return reinterpret_cast<Dim*>(this + 1); }

  DType dtype_;
  uint32_t rank_ = 0;
  // `rank_` Dims follow.
};

class TensorType : public Type {
 public:
  BATON_HANDLE(TensorType, Type, TensorTypeNode)
  TensorType(absl::Span<const Dim> shape, DType dtype);
  TensorType(std::initializer_list<Dim> shape, DType dtype)
      : TensorType(absl::Span<const Dim>(shape.begin(), shape.size()), dtype) {}
  static TensorType Of(absl::Span<const int64_t> shape, DType dtype);
  static TensorType Scalar(DType dtype) {
    return TensorType(absl::Span<const Dim>(), dtype);
  }
};

class TupleTypeNode final : public TypeNode {
 public:
  BATON_NODE(TupleType, TypeNode, IrKind::kTupleType)
  static constexpr int kNodeField = 23;
  explicit TupleTypeNode(std::vector<Type> fields);
  absl::Span<const Type> fields() const { return fields_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &TupleTypeNode::fields_>("fields"));
  }

 private:
  std::vector<Type> fields_;
};

class TupleType : public Type {
 public:
  BATON_HANDLE(TupleType, Type, TupleTypeNode)
  explicit TupleType(std::vector<Type> fields)
      : Type(new TupleTypeNode(std::move(fields))) {}
  // Makes `TupleType({})` the empty tuple type, and `TupleType({tuple})` a
  // tuple of a tuple and not a copy.
  explicit TupleType(std::initializer_list<Type> fields)
      : TupleType(std::vector<Type>(fields)) {}
};

// The kinds of types and shapes that a type variable can represent.
enum class TypeVarKind : uint8_t { kType, kShape, kBaseType, kAdtHandle };
constexpr int NumValuesOf(TypeVarKind /*kind*/) { return 4; }

class TypeVarNode final : public TypeNode {
 public:
  BATON_NODE(TypeVar, TypeNode, IrKind::kTypeVar)
  static constexpr int kNodeField = 25;
  static constexpr NodeIdentity kIdentity = NodeIdentity::kVariable;
  TypeVarNode(std::string name, TypeVarKind var_kind)
      : TypeNode(kKind, true), var_kind_(var_kind), name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  TypeVarKind var_kind() const { return var_kind_; }

  static constexpr auto Fields() {
    return field::List(field::Name<1, &TypeVarNode::name_>("name"),
                       field::Data<2, &TypeVarNode::var_kind_>("kind"));
  }

 private:
  TypeVarKind var_kind_ = TypeVarKind::kType;
  std::string name_;
};

class TypeVar : public Type {
 public:
  BATON_HANDLE(TypeVar, Type, TypeVarNode)
  explicit TypeVar(std::string name, TypeVarKind kind = TypeVarKind::kType)
      : Type(new TypeVarNode(std::move(name), kind)) {}
};

// The name of an algebraic data type.
class GlobalTypeVarNode final : public TypeNode {
 public:
  BATON_NODE(GlobalTypeVar, TypeNode, IrKind::kGlobalTypeVar)
  static constexpr int kNodeField = 26;
  explicit GlobalTypeVarNode(std::string name)
      : TypeNode(kKind, true), name_(std::move(name)) {}
  const std::string& name() const { return name_; }

  static constexpr auto Fields() {
    return field::List(field::Data<1, &GlobalTypeVarNode::name_>("name"));
  }

 private:
  std::string name_;
};

class GlobalTypeVar : public Type {
 public:
  BATON_HANDLE(GlobalTypeVar, Type, GlobalTypeVarNode)
  explicit GlobalTypeVar(std::string name)
      : Type(new GlobalTypeVarNode(std::move(name))) {}
};

// The definition of a data type of any kind; a module maps names to them.
class TypeDefinitionNode : public Node {
 public:
  using Handle = class TypeDefinition;
  static constexpr bool ClassOf(NodeKind kind) {
    return kind.Is(NodeSort::kTypeDefinition);
  }
  static constexpr auto BaseFields() {
    return field::List(
        field::Reference<1, &TypeDefinitionNode::header_>("header"));
  }
  const std::string& name() const { return header_->name(); }
  const GlobalTypeVar& header() const { return header_; }

 protected:
  explicit TypeDefinitionNode(NodeKind kind, GlobalTypeVar header = {})
      : Node(kind), header_(std::move(header)) {}

 private:
  GlobalTypeVar header_;
};

class TypeDefinition : public NodeRef {
 public:
  BATON_HANDLE(TypeDefinition, NodeRef, TypeDefinitionNode)
};

// A type applied to types: `List[int32]`.
class TypeCallNode final : public TypeNode {
 public:
  BATON_NODE(TypeCall, TypeNode, IrKind::kTypeCall)
  static constexpr int kNodeField = 27;
  TypeCallNode(Type func, std::vector<Type> args);
  const Type& func() const { return func_; }
  absl::Span<const Type> args() const { return args_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &TypeCallNode::func_>("func"),
                       field::Child<2, &TypeCallNode::args_>("args"));
  }

 private:
  Type func_;
  std::vector<Type> args_;
};

class TypeCall : public Type {
 public:
  BATON_HANDLE(TypeCall, Type, TypeCallNode)
  TypeCall(Type func, std::vector<Type> args)
      : Type(new TypeCallNode(std::move(func), std::move(args))) {}
};

class FuncTypeNode final : public TypeNode {
 public:
  BATON_NODE(FuncType, TypeNode, IrKind::kFuncType)
  static constexpr int kNodeField = 24;
  FuncTypeNode(std::vector<Type> args, Type result,
               std::vector<TypeVar> type_params);
  absl::Span<const Type> args() const { return args_; }
  const Type& result() const { return result_; }
  absl::Span<const TypeVar> type_params() const { return type_params_; }

  static constexpr auto Fields() {
    return field::List(
        field::Child<1, &FuncTypeNode::args_>("args"),
        field::Child<2, &FuncTypeNode::result_>("result"),
        field::TypeParam<3, &FuncTypeNode::type_params_>("type_params"));
  }

 private:
  std::vector<Type> args_;
  Type result_;
  std::vector<TypeVar> type_params_;
};

class FuncType : public Type {
 public:
  BATON_HANDLE(FuncType, Type, FuncTypeNode)
  FuncType(std::vector<Type> args, Type result,
           std::vector<TypeVar> type_params = {})
      : Type(new FuncTypeNode(std::move(args), std::move(result),
                              std::move(type_params))) {}
};

// The type of references: `ref(int32)`.
class RefTypeNode final : public TypeNode {
 public:
  BATON_NODE(RefType, TypeNode, IrKind::kRefType)
  static constexpr int kNodeField = 28;
  explicit RefTypeNode(Type value);
  const Type& value() const { return value_; }

  static constexpr auto Fields() {
    return field::List(field::Child<1, &RefTypeNode::value_>("value"));
  }

 private:
  Type value_;
};

class RefType : public Type {
 public:
  BATON_HANDLE(RefType, Type, RefTypeNode)
  explicit RefType(Type value) : Type(new RefTypeNode(std::move(value))) {}
};

// An inference variable: a type that is not yet known. Two of them are equal
// only if they are the same node.
class IncompleteTypeNode final : public TypeNode {
 public:
  BATON_NODE(IncompleteType, TypeNode, IrKind::kIncompleteType)
  static constexpr int kNodeField = 29;
  static constexpr NodeIdentity kIdentity = NodeIdentity::kVariable;
  explicit IncompleteTypeNode(TypeVarKind var_kind, uint32_t hint = 0)
      : TypeNode(kKind, false), var_kind_(var_kind), hint_(hint) {}
  TypeVarKind var_kind() const { return var_kind_; }
  // An index for the inference that made the variable; never compared.
  uint32_t hint() const { return hint_; }

  static constexpr auto Fields() {
    return field::List(field::Data<1, &IncompleteTypeNode::var_kind_>("kind"),
                       field::Hint<&IncompleteTypeNode::hint_>("hint"));
  }

 private:
  TypeVarKind var_kind_ = TypeVarKind::kType;
  uint32_t hint_ = 0;
};

class IncompleteType : public Type {
 public:
  explicit IncompleteType(const IncompleteTypeNode* node) : Type(node) {}
  explicit IncompleteType(TypeVarKind kind = TypeVarKind::kType)
      : Type(new IncompleteTypeNode(kind)) {}
  const IncompleteTypeNode* get() const {
    return static_cast<const IncompleteTypeNode*>(node_);
  }
};

}  // namespace baton

#endif  // BATON_IR_TYPE_H_
