// Expressions of the level of loops: scalars and vectors of one element type,
// buffers, and the values that attributes and annotations have.
//
//   for i in range(16):
//       B[i] = T.max(A[i] * scale, T.float32(0))
//
// Every expression has a data type with a number of lanes. Nodes are immutable.
// Equality is that of trees: whether a node is shared does not count. Variables
// are equal by where they are bound, buffers by their contents.

#ifndef BATON_TIR_IR_EXPR_H_
#define BATON_TIR_IR_EXPR_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/node_kind.h"

namespace baton::tir {

// Element types of eight bits of TVM that tensors cannot hold: `e4m3_float8`
// and `e5m2_float8`.
inline constexpr DType kE4M3Float8(static_cast<DType::Code>(6), 8);
inline constexpr DType kE5M2Float8(static_cast<DType::Code>(7), 8);
// The type of pointers.
inline constexpr DType kHandle(DType::Code::kHandle, 64);
inline constexpr DType kInt32 = DType::Int(32);

// Returns the element type of `dtype` with `lanes` lanes.
constexpr DType WithLanes(DType dtype, int lanes) {
  return DType(dtype.code(), dtype.bits(), lanes);
}
constexpr bool IsFloat8(DType dtype) {
  return static_cast<int>(dtype.code()) >= 6;
}

// `baton` has a class of this name too, which BATON_NODE would find.
class Target;

class PrimExprNode : public ExprNode {
 public:
  using Handle = class PrimExpr;
  static constexpr bool ClassOf(NodeKind kind) { return IsPrimExprKind(kind); }
  static constexpr auto BaseFields() {
    return ExprNode::BaseFields().Apply([](auto... inherited) {
      return field::List(inherited...,
                         field::Data<15, &PrimExprNode::dtype_>("dtype"));
    });
  }
  DType dtype() const { return dtype_; }

 protected:
  explicit PrimExprNode(NodeKind kind, DType dtype = {}, Span span = {})
      : ExprNode(kind, {}, std::move(span)), dtype_(dtype) {}

 private:
  DType dtype_;
};

class PrimExpr : public Expr {
 public:
  BATON_HANDLE(PrimExpr, Expr, PrimExprNode)
  DType dtype() const { return get()->dtype(); }
};

// A variable. Its identity is the node. `dtype()` is kHandle for pointers; a
// pointer whose element type is known is `typed_pointer()`.
class VarNode final : public PrimExprNode {
 public:
  BATON_NODE(Var, PrimExprNode, TirKind::kVar)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kVariable;
  VarNode(std::string name, DType dtype, bool is_size, bool typed_pointer,
          DType element, std::string scope, Span span)
      : PrimExprNode(kKind, dtype, std::move(span)),
        element_(element),
        is_size_(is_size),
        typed_pointer_(typed_pointer),
        scope_(std::move(scope)),
        name_(std::move(name)) {
    Derive(*this);
  }

  const std::string& name() const { return name_; }
  // True for the extents of shapes, which are not negative.
  bool is_size() const { return is_size_; }
  bool typed_pointer() const { return typed_pointer_; }
  // The element type and the memory scope of a typed pointer. An empty scope is
  // the global memory: such a pointer equals one of scope `global`.
  DType element() const { return element_; }
  const std::string& scope() const { return scope_; }
  std::string Describe() const { return "variable " + name_; }

  static constexpr auto Fields() {
    return field::List(
        field::Data<1, &VarNode::element_>("element"),
        field::Data<2, &VarNode::is_size_>("is_size"),
        field::Data<3, &VarNode::typed_pointer_>("typed_pointer"),
        field::Name<4, &VarNode::scope_>("scope"),
        field::Name<5, &VarNode::name_>("name"),
        field::Data<0, &VarNode::compared_scope_>("scope"));
  }
  static void Derive(VarNode& node) {
    node.compared_scope_ =
        node.typed_pointer_ && node.scope_.empty() ? "global" : node.scope_;
  }

 private:
  DType element_;
  bool is_size_ = false;
  bool typed_pointer_ = false;
  std::string scope_;           // as given
  std::string compared_scope_;  // `global` for a typed pointer without a scope
  std::string name_;
};

class Var : public PrimExpr {
 public:
  BATON_HANDLE(Var, PrimExpr, VarNode)
  Var(std::string name, DType dtype, Span span = {})
      : PrimExpr(new VarNode(std::move(name), dtype, false, false, {}, {},
                             std::move(span))) {}
  static Var Size(std::string name, DType dtype, Span span = {}) {
    return Var(new VarNode(std::move(name), dtype, true, false, {}, {},
                           std::move(span)));
  }
  static Var Pointer(std::string name, DType element, std::string scope,
                     Span span = {}) {
    return Var(new VarNode(std::move(name), kHandle, false, true, element,
                           std::move(scope), std::move(span)));
  }
};

// An integer or bool. Unsigned values above the largest int64 are calls of
// `tir.large_uint_imm`.
class IntImmNode final : public PrimExprNode {
 public:
  BATON_NODE(IntImm, PrimExprNode, TirKind::kIntImm)
  IntImmNode(DType dtype, int64_t value, Span span)
      : PrimExprNode(kKind, dtype, std::move(span)), value_(value) {}
  int64_t value() const { return value_; }
  static constexpr auto Fields() {
    return field::List(field::Data<1, &IntImmNode::value_>("value"));
  }

 private:
  int64_t value_ = 0;
};

class IntImm : public PrimExpr {
 public:
  BATON_HANDLE(IntImm, PrimExpr, IntImmNode)
  IntImm(DType dtype, int64_t value, Span span = {})
      : PrimExpr(new IntImmNode(dtype, value, std::move(span))) {}
  static IntImm Bool(bool value) {
    return IntImm(DType::Bool(), value ? 1 : 0);
  }
};

// A floating-point number. `value` is not rounded to the data type.
class FloatImmNode final : public PrimExprNode {
 public:
  BATON_NODE(FloatImm, PrimExprNode, TirKind::kFloatImm)
  FloatImmNode(DType dtype, double value, Span span)
      : PrimExprNode(kKind, dtype, std::move(span)), value_(value) {}
  double value() const { return value_; }
  static constexpr auto Fields() {
    return field::List(field::Data<1, &FloatImmNode::value_>("value"));
  }

 private:
  double value_ = 0;
};

class FloatImm : public PrimExpr {
 public:
  BATON_HANDLE(FloatImm, PrimExpr, FloatImmNode)
  FloatImm(DType dtype, double value, Span span = {})
      : PrimExpr(new FloatImmNode(dtype, value, std::move(span))) {}
};

class StringImmNode final : public PrimExprNode {
 public:
  BATON_NODE(StringImm, PrimExprNode, TirKind::kStringImm)
  StringImmNode(std::string value, Span span)
      : PrimExprNode(kKind, kHandle, std::move(span)),
        value_(std::move(value)) {}
  const std::string& value() const { return value_; }
  static constexpr auto Fields() {
    return field::List(field::Data<1, &StringImmNode::value_>("value"));
  }

 private:
  std::string value_;
};

class StringImm : public PrimExpr {
 public:
  BATON_HANDLE(StringImm, PrimExpr, StringImmNode)
  explicit StringImm(std::string value, Span span = {})
      : PrimExpr(new StringImmNode(std::move(value), std::move(span))) {}
};

class CastNode final : public PrimExprNode {
 public:
  BATON_NODE(Cast, PrimExprNode, TirKind::kCast)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  CastNode(DType dtype, PrimExpr value, Span span)
      : PrimExprNode(kKind, dtype, std::move(span)), value_(std::move(value)) {}
  const PrimExpr& value() const { return value_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &CastNode::value_>("value"));
  }

 private:
  PrimExpr value_;
};

class Cast : public PrimExpr {
 public:
  BATON_HANDLE(Cast, PrimExpr, CastNode)
  Cast(DType dtype, PrimExpr value, Span span = {})
      : PrimExpr(new CastNode(dtype, std::move(value), std::move(span))) {}
};

// An operation on two operands of one data type. kDiv and kMod truncate towards
// zero; kFloorDiv and kFloorMod round down.
enum class BinaryOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,
  kEQ,
  kNE,
  kLT,
  kLE,
  kGT,
  kGE,
  kAnd,
  kOr,
};
constexpr int NumValuesOf(BinaryOp /*op*/) { return 17; }
// The name of TVM's node class: `Add`, `FloorDiv`.
absl::string_view BinaryOpName(BinaryOp op);
constexpr bool IsComparison(BinaryOp op) {
  return op >= BinaryOp::kEQ && op <= BinaryOp::kGE;
}
// True where the result is a bool.
constexpr bool IsLogical(BinaryOp op) { return op >= BinaryOp::kEQ; }

class BinaryNode final : public PrimExprNode {
 public:
  BATON_NODE(Binary, PrimExprNode, TirKind::kBinary)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  BinaryNode(BinaryOp op, DType dtype, PrimExpr a, PrimExpr b, Span span)
      : PrimExprNode(kKind, dtype, std::move(span)),
        op_(op),
        a_(std::move(a)),
        b_(std::move(b)) {}
  BinaryOp op() const { return op_; }
  const PrimExpr& a() const { return a_; }
  const PrimExpr& b() const { return b_; }
  std::string Describe() const { return std::string(BinaryOpName(op_)); }
  static constexpr auto Fields() {
    return field::List(field::Data<1, &BinaryNode::op_>("op"),
                       field::Child<2, &BinaryNode::a_>("a"),
                       field::Child<3, &BinaryNode::b_>("b"));
  }

 private:
  BinaryOp op_ = BinaryOp::kAdd;
  PrimExpr a_;
  PrimExpr b_;
};

// Makes the node as it is; fold.h has functions that match types and fold
// constants.
class Binary : public PrimExpr {
 public:
  BATON_HANDLE(Binary, PrimExpr, BinaryNode)
  Binary(BinaryOp op, PrimExpr a, PrimExpr b, Span span = {});
};

// The node of `e` if it is a Binary with that operation, else null.
inline const BinaryNode* AsBinary(const Expr& e, BinaryOp op) {
  const auto* node = e.As<BinaryNode>();
  return node != nullptr && node->op() == op ? node : nullptr;
}

class NotNode final : public PrimExprNode {
 public:
  BATON_NODE(Not, PrimExprNode, TirKind::kNot)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  NotNode(PrimExpr a, Span span)
      : PrimExprNode(kKind, WithLanes(DType::Bool(), a.dtype().lanes()),
                     std::move(span)),
        a_(std::move(a)) {}
  const PrimExpr& a() const { return a_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &NotNode::a_>("a"));
  }

 private:
  PrimExpr a_;
};

class Not : public PrimExpr {
 public:
  BATON_HANDLE(Not, PrimExpr, NotNode)
  explicit Not(PrimExpr a, Span span = {})
      : PrimExpr(new NotNode(std::move(a), std::move(span))) {}
};

// Both values are computed. The call of `tir.if_then_else` computes one.
class SelectNode final : public PrimExprNode {
 public:
  BATON_NODE(Select, PrimExprNode, TirKind::kSelect)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  SelectNode(PrimExpr condition, PrimExpr true_value, PrimExpr false_value,
             Span span)
      : PrimExprNode(kKind, true_value.dtype(), std::move(span)),
        condition_(std::move(condition)),
        true_value_(std::move(true_value)),
        false_value_(std::move(false_value)) {}
  const PrimExpr& condition() const { return condition_; }
  const PrimExpr& true_value() const { return true_value_; }
  const PrimExpr& false_value() const { return false_value_; }
  static constexpr auto Fields() {
    return field::List(
        field::Child<1, &SelectNode::condition_>("condition"),
        field::Child<2, &SelectNode::true_value_>("true_value"),
        field::Child<3, &SelectNode::false_value_>("false_value"));
  }

 private:
  PrimExpr condition_;
  PrimExpr true_value_;
  PrimExpr false_value_;
};

class Select : public PrimExpr {
 public:
  BATON_HANDLE(Select, PrimExpr, SelectNode)
  Select(PrimExpr condition, PrimExpr true_value, PrimExpr false_value,
         Span span = {})
      : PrimExpr(new SelectNode(std::move(condition), std::move(true_value),
                                std::move(false_value), std::move(span))) {}
};

// The vector base, base + stride, ..., of `lanes` lanes.
class RampNode final : public PrimExprNode {
 public:
  BATON_NODE(Ramp, PrimExprNode, TirKind::kRamp)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  RampNode(PrimExpr base, PrimExpr stride, int lanes, Span span)
      : PrimExprNode(kKind, WithLanes(base.dtype(), lanes), std::move(span)),
        base_(std::move(base)),
        stride_(std::move(stride)) {}
  const PrimExpr& base() const { return base_; }
  const PrimExpr& stride() const { return stride_; }
  int lanes() const { return dtype().lanes(); }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &RampNode::base_>("base"),
                       field::Child<2, &RampNode::stride_>("stride"));
  }

 private:
  PrimExpr base_;
  PrimExpr stride_;
};

class Ramp : public PrimExpr {
 public:
  BATON_HANDLE(Ramp, PrimExpr, RampNode)
  Ramp(PrimExpr base, PrimExpr stride, int lanes, Span span = {})
      : PrimExpr(new RampNode(std::move(base), std::move(stride), lanes,
                              std::move(span))) {}
};

// A scalar in each of `lanes` lanes.
class BroadcastNode final : public PrimExprNode {
 public:
  BATON_NODE(Broadcast, PrimExprNode, TirKind::kBroadcast)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  BroadcastNode(PrimExpr value, int lanes, Span span)
      : PrimExprNode(kKind, WithLanes(value.dtype(), lanes), std::move(span)),
        value_(std::move(value)) {}
  const PrimExpr& value() const { return value_; }
  int lanes() const { return dtype().lanes(); }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &BroadcastNode::value_>("value"));
  }

 private:
  PrimExpr value_;
};

class Broadcast : public PrimExpr {
 public:
  BATON_HANDLE(Broadcast, PrimExpr, BroadcastNode)
  Broadcast(PrimExpr value, int lanes, Span span = {})
      : PrimExpr(new BroadcastNode(std::move(value), lanes, std::move(span))) {}
};

// The lanes of the concatenated `vectors` that `indices` name.
class ShuffleNode final : public PrimExprNode {
 public:
  BATON_NODE(Shuffle, PrimExprNode, TirKind::kShuffle)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  ShuffleNode(std::vector<PrimExpr> vectors, std::vector<PrimExpr> indices,
              DType dtype, Span span)
      : PrimExprNode(kKind, dtype, std::move(span)),
        vectors_(std::move(vectors)),
        indices_(std::move(indices)) {}
  absl::Span<const PrimExpr> vectors() const { return vectors_; }
  absl::Span<const PrimExpr> indices() const { return indices_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &ShuffleNode::vectors_>("vectors"),
                       field::Child<2, &ShuffleNode::indices_>("indices"));
  }

 private:
  std::vector<PrimExpr> vectors_;
  std::vector<PrimExpr> indices_;
};

class Shuffle : public PrimExpr {
 public:
  BATON_HANDLE(Shuffle, PrimExpr, ShuffleNode)
  // `vectors` must not be empty.
  Shuffle(std::vector<PrimExpr> vectors, std::vector<PrimExpr> indices,
          Span span = {});
};

// The kind of a buffer in TVM: a kAutoBroadcast buffer may have strides of
// zero.
enum class BufferKind : uint8_t { kDefault, kAutoBroadcast };
constexpr int NumValuesOf(BufferKind /*kind*/) { return 2; }

// A view of memory: the pointer `data`, a data type, a shape, and how an index
// becomes an offset. Empty strides are those of a compact array.
//
// A buffer has no scope of its own: function parameters, blocks and
// declarations define variables that occur in buffers (`defined` in their
// nodes). Its parts are no children: a rewrite of a function replaces buffers
// as wholes.
class BufferNode final : public PrimExprNode {
 public:
  BATON_NODE(Buffer, PrimExprNode, TirKind::kBuffer)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  struct Parts {
    std::string name;
    Var data;
    DType dtype;
    std::vector<PrimExpr> shape;
    std::vector<PrimExpr> strides;
    PrimExpr elem_offset;  // null: zero
    // Groups of axes end before these: each group is flattened to one axis.
    std::vector<int64_t> axis_separators;
    int64_t alignment = 0;      // in bytes; 0: kDefaultAlignment
    int64_t offset_factor = 1;  // elem_offset is a multiple of it
    BufferKind kind = BufferKind::kDefault;
  };
  static constexpr int64_t kDefaultAlignment = 64;

  BufferNode(Parts parts, Span span);
  const std::string& name() const { return name_; }
  const Var& data() const { return data_; }
  absl::Span<const PrimExpr> shape() const { return shape_; }
  absl::Span<const PrimExpr> strides() const { return strides_; }
  const PrimExpr& elem_offset() const { return elem_offset_; }
  absl::Span<const int64_t> axis_separators() const { return axis_separators_; }
  int64_t alignment() const { return alignment_; }
  int64_t offset_factor() const { return offset_factor_; }
  BufferKind kind_of_buffer() const { return buffer_kind_; }
  // The scope of `data`; `global` where that is empty.
  absl::string_view scope() const;
  // Copies of all parts, for a buffer that differs in some.
  Parts parts() const;
  std::string Describe() const { return "buffer " + name_; }

  static constexpr auto Fields() {
    return field::List(
        field::Annotation<1, &BufferNode::data_>("data"),
        field::Annotation<2, &BufferNode::shape_>("shape"),
        field::Annotation<3, &BufferNode::strides_>("strides"),
        field::Annotation<4, &BufferNode::elem_offset_>("elem_offset"),
        field::Data<5, &BufferNode::axis_separators_>("axis_separators"),
        field::Data<6, &BufferNode::alignment_>("alignment"),
        field::Data<7, &BufferNode::offset_factor_>("offset_factor"),
        field::Data<8, &BufferNode::buffer_kind_>("kind"),
        field::Name<9, &BufferNode::name_>("name"));
  }
  static absl::Status Derive(BufferNode& node);

 private:
  BufferKind buffer_kind_ = BufferKind::kDefault;
  Var data_;
  std::vector<PrimExpr> shape_;
  std::vector<PrimExpr> strides_;
  PrimExpr elem_offset_;
  std::vector<int64_t> axis_separators_;
  int64_t alignment_ = kDefaultAlignment;
  int64_t offset_factor_ = 1;
  std::string name_;
};

class Buffer : public PrimExpr {
 public:
  BATON_HANDLE(Buffer, PrimExpr, BufferNode)
  explicit Buffer(BufferNode::Parts parts, Span span = {})
      : PrimExpr(new BufferNode(std::move(parts), std::move(span))) {}
};

// For readers of files: an error if the field of that name is null.
absl::Status ExpectPart(const Expr& part, absl::string_view field);

// Appends to `vars` the variables that a definition of `buffer` defines, those
// among its pointer, extents, strides and offset; each once.
void AppendDefinedVars(const Buffer& buffer, std::vector<Var>& vars);

// The element at `indices`. An index that is a vector gives as many elements.
class BufferLoadNode final : public PrimExprNode {
 public:
  BATON_NODE(BufferLoad, PrimExprNode, TirKind::kBufferLoad)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  BufferLoadNode(Buffer buffer, std::vector<PrimExpr> indices, DType dtype,
                 Span span)
      : PrimExprNode(kKind, dtype, std::move(span)),
        buffer_(std::move(buffer)),
        indices_(std::move(indices)) {}
  const Buffer& buffer() const { return buffer_; }
  absl::Span<const PrimExpr> indices() const { return indices_; }
  static constexpr auto Fields() {
    return field::List(field::Annotation<1, &BufferLoadNode::buffer_>("buffer"),
                       field::Child<2, &BufferLoadNode::indices_>("indices"));
  }
  static absl::Status Derive(BufferLoadNode& node) {
    return ExpectPart(node.buffer_, "buffer");
  }

 private:
  Buffer buffer_;
  std::vector<PrimExpr> indices_;
};

// The data type of an access: that of the buffer, with the lanes of the last
// index.
DType AccessDType(const Buffer& buffer, absl::Span<const PrimExpr> indices);

class BufferLoad : public PrimExpr {
 public:
  BATON_HANDLE(BufferLoad, PrimExpr, BufferLoadNode)
  BufferLoad(Buffer buffer, std::vector<PrimExpr> indices, Span span = {});
};

// A call of an intrinsic, which is an operator `tir.NAME` (intrinsics.h), or of
// a function of the module (a GlobalVar).
class CallNode final : public PrimExprNode {
 public:
  BATON_NODE(Call, PrimExprNode, TirKind::kCall)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  CallNode(DType dtype, Expr op, std::vector<PrimExpr> args, Span span)
      : PrimExprNode(kKind, dtype, std::move(span)),
        op_(std::move(op)),
        args_(std::move(args)) {}
  const Expr& op() const { return op_; }
  absl::Span<const PrimExpr> args() const { return args_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &CallNode::op_>("op"),
                       field::Child<2, &CallNode::args_>("args"));
  }

 private:
  Expr op_;
  std::vector<PrimExpr> args_;
};

class Call : public PrimExpr {
 public:
  BATON_HANDLE(Call, PrimExpr, CallNode)
  Call(DType dtype, Expr op, std::vector<PrimExpr> args, Span span = {})
      : PrimExpr(new CallNode(dtype, std::move(op), std::move(args),
                              std::move(span))) {}
};

class LetNode final : public PrimExprNode {
 public:
  BATON_NODE(Let, PrimExprNode, TirKind::kLet)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  LetNode(Var var, PrimExpr value, PrimExpr body, Span span)
      : PrimExprNode(kKind, body.dtype(), std::move(span)),
        var_(std::move(var)),
        value_(std::move(value)),
        body_(std::move(body)) {}
  const Var& var() const { return var_; }
  const PrimExpr& value() const { return value_; }
  const PrimExpr& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(field::Binder<1, &LetNode::var_>("var"),
                       field::Child<2, &LetNode::value_>("value"),
                       field::Child<3, &LetNode::body_>("body"));
  }

 private:
  Var var_;
  PrimExpr value_;
  PrimExpr body_;
};

class Let : public PrimExpr {
 public:
  BATON_HANDLE(Let, PrimExpr, LetNode)
  Let(Var var, PrimExpr value, PrimExpr body, Span span = {})
      : PrimExpr(new LetNode(std::move(var), std::move(value), std::move(body),
                             std::move(span))) {}
};

// min and extent.
struct Range {
  PrimExpr min;
  PrimExpr extent;
  static constexpr auto Fields() {
    return field::List(field::Child<2, &Range::min>("min"),
                       field::Child<3, &Range::extent>("extent"));
  }
};

enum class IterVarType : uint8_t {
  kDataPar,
  kThreadIndex,
  kCommReduce,
  kOrdered,
  kOpaque,
  kUnrolled,
  kVectorized,
  kParallelized,
  kTensorized,
};
constexpr int NumValuesOf(IterVarType /*type*/) { return 9; }
// As TVM writes it: `DataPar`, `ThreadIndex`.
absl::string_view IterVarTypeName(IterVarType type);

// A variable that iterates over a range: of a block, of a reduction, or a
// thread. A thread's range may be unknown: min and extent are null.
class IterVarNode final : public PrimExprNode {
 public:
  BATON_NODE(IterVar, PrimExprNode, TirKind::kIterVar)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  IterVarNode(Range dom, Var var, IterVarType type, std::string thread_tag,
              Span span)
      : PrimExprNode(kKind, var.dtype(), std::move(span)),
        iter_type_(type),
        var_(std::move(var)),
        min_(std::move(dom.min)),
        extent_(std::move(dom.extent)),
        thread_tag_(std::move(thread_tag)) {}
  const Var& var() const { return var_; }
  const PrimExpr& min() const { return min_; }
  const PrimExpr& extent() const { return extent_; }
  IterVarType iter_type() const { return iter_type_; }
  // `threadIdx.x`; empty if it is no thread.
  const std::string& thread_tag() const { return thread_tag_; }
  static constexpr auto Fields() {
    return field::List(
        field::Binder<1, &IterVarNode::var_>("var"),
        field::Optional<field::Child<2, &IterVarNode::min_>>("min"),
        field::Optional<field::Child<3, &IterVarNode::extent_>>("extent"),
        field::Data<4, &IterVarNode::thread_tag_>("thread_tag"),
        field::Data<5, &IterVarNode::iter_type_>("iter_type"));
  }

 private:
  IterVarType iter_type_ = IterVarType::kDataPar;
  Var var_;
  PrimExpr min_;
  PrimExpr extent_;
  std::string thread_tag_;
};

class IterVar : public PrimExpr {
 public:
  BATON_HANDLE(IterVar, PrimExpr, IterVarNode)
  IterVar(Range dom, Var var, IterVarType type, std::string thread_tag = {},
          Span span = {})
      : PrimExpr(new IterVarNode(std::move(dom), std::move(var), type,
                                 std::move(thread_tag), std::move(span))) {}
};

// A commutative reduction: `result` of the variables `lhs` and `rhs`, which
// starts at `identity`. The four lists have equal lengths.
class CommReducerNode final : public PrimExprNode {
 public:
  BATON_NODE(CommReducer, PrimExprNode, TirKind::kCommReducer)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  CommReducerNode(std::vector<Var> lhs, std::vector<Var> rhs,
                  std::vector<PrimExpr> result, std::vector<PrimExpr> identity,
                  Span span)
      : PrimExprNode(kKind, {}, std::move(span)),
        lhs_(std::move(lhs)),
        rhs_(std::move(rhs)),
        result_(std::move(result)),
        identity_(std::move(identity)) {}
  absl::Span<const Var> lhs() const { return lhs_; }
  absl::Span<const Var> rhs() const { return rhs_; }
  absl::Span<const PrimExpr> result() const { return result_; }
  absl::Span<const PrimExpr> identity() const { return identity_; }
  static constexpr auto Fields() {
    return field::List(
        field::Binder<1, &CommReducerNode::lhs_>("lhs"),
        field::Binder<2, &CommReducerNode::rhs_>("rhs"),
        field::Child<3, &CommReducerNode::result_>("result"),
        field::Child<4, &CommReducerNode::identity_>("identity"));
  }
  static absl::Status Derive(CommReducerNode& node);

 private:
  std::vector<Var> lhs_;
  std::vector<Var> rhs_;
  std::vector<PrimExpr> result_;
  std::vector<PrimExpr> identity_;
};

class CommReducer : public PrimExpr {
 public:
  BATON_HANDLE(CommReducer, PrimExpr, CommReducerNode)
  CommReducer(std::vector<Var> lhs, std::vector<Var> rhs,
              std::vector<PrimExpr> result, std::vector<PrimExpr> identity,
              Span span = {})
      : PrimExpr(new CommReducerNode(std::move(lhs), std::move(rhs),
                                     std::move(result), std::move(identity),
                                     std::move(span))) {}
};

// One result of a reduction over `axis`. Occurs in tensor expressions;
// functions have blocks with an initialization instead.
class ReduceNode final : public PrimExprNode {
 public:
  BATON_NODE(Reduce, PrimExprNode, TirKind::kReduce)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  ReduceNode(CommReducer combiner, std::vector<PrimExpr> source,
             std::vector<PrimExpr> init, std::vector<IterVar> axis,
             PrimExpr condition, int64_t value_index, DType dtype, Span span)
      : PrimExprNode(kKind, dtype, std::move(span)),
        combiner_(std::move(combiner)),
        axis_(std::move(axis)),
        source_(std::move(source)),
        init_(std::move(init)),
        condition_(std::move(condition)),
        value_index_(value_index) {}
  const CommReducer& combiner() const { return combiner_; }
  absl::Span<const IterVar> axis() const { return axis_; }
  absl::Span<const PrimExpr> source() const { return source_; }
  absl::Span<const PrimExpr> init() const { return init_; }
  const PrimExpr& condition() const { return condition_; }
  int64_t value_index() const { return value_index_; }
  static constexpr auto Fields() {
    return field::List(
        field::Child<1, &ReduceNode::combiner_>("combiner"),
        field::Child<2, &ReduceNode::axis_>("axis"),
        field::Child<3, &ReduceNode::source_>("source"),
        field::Child<4, &ReduceNode::init_>("init"),
        field::Child<5, &ReduceNode::condition_>("condition"),
        field::Data<6, &ReduceNode::value_index_>("value_index"));
  }
  static absl::Status Derive(ReduceNode& node);

 private:
  CommReducer combiner_;
  std::vector<IterVar> axis_;
  std::vector<PrimExpr> source_;
  std::vector<PrimExpr> init_;
  PrimExpr condition_;
  int64_t value_index_ = 0;
};

class Reduce : public PrimExpr {
 public:
  BATON_HANDLE(Reduce, PrimExpr, ReduceNode)
  // `value_index` is that of an element of `source`.
  Reduce(CommReducer combiner, std::vector<PrimExpr> source,
         std::vector<PrimExpr> init, std::vector<IterVar> axis,
         PrimExpr condition, int64_t value_index, Span span = {});
};

// A function of indices: `lambda i, j: (j, i)`.
class IndexMapNode final : public PrimExprNode {
 public:
  BATON_NODE(IndexMap, PrimExprNode, TirKind::kIndexMap)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  IndexMapNode(std::vector<Var> initial, std::vector<PrimExpr> final_indices,
               PrimExpr inverse, Span span)
      : PrimExprNode(kKind, {}, std::move(span)),
        initial_(std::move(initial)),
        final_(std::move(final_indices)),
        inverse_(std::move(inverse)) {}
  absl::Span<const Var> initial() const { return initial_; }
  absl::Span<const PrimExpr> final_indices() const { return final_; }
  // An IndexMap, or null if it is to be computed.
  const PrimExpr& inverse() const { return inverse_; }
  static constexpr auto Fields() {
    return field::List(
        field::Binder<1, &IndexMapNode::initial_>("initial"),
        field::Child<2, &IndexMapNode::final_>("final"),
        field::Optional<field::Child<3, &IndexMapNode::inverse_>>("inverse"));
  }

 private:
  std::vector<Var> initial_;
  std::vector<PrimExpr> final_;
  PrimExpr inverse_;
};

class IndexMap : public PrimExpr {
 public:
  BATON_HANDLE(IndexMap, PrimExpr, IndexMapNode)
  IndexMap(std::vector<Var> initial, std::vector<PrimExpr> final_indices,
           PrimExpr inverse = {}, Span span = {})
      : PrimExpr(new IndexMapNode(std::move(initial), std::move(final_indices),
                                  std::move(inverse), std::move(span))) {}
};

// A part of a buffer: a range for each axis.
class BufferRegionNode final : public PrimExprNode {
 public:
  BATON_NODE(BufferRegion, PrimExprNode, TirKind::kBufferRegion)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  BufferRegionNode(Buffer buffer, std::vector<Range> region, Span span)
      : PrimExprNode(kKind, {}, std::move(span)),
        buffer_(std::move(buffer)),
        region_(std::move(region)) {}
  const Buffer& buffer() const { return buffer_; }
  absl::Span<const Range> region() const { return region_; }
  static constexpr auto Fields() {
    return field::List(
        field::Annotation<1, &BufferRegionNode::buffer_>("buffer"),
        field::Records<&BufferRegionNode::region_>("region"));
  }
  static absl::Status Derive(BufferRegionNode& node) {
    return ExpectPart(node.buffer_, "buffer");
  }

 private:
  Buffer buffer_;
  std::vector<Range> region_;
};

class BufferRegion : public PrimExpr {
 public:
  BATON_HANDLE(BufferRegion, PrimExpr, BufferRegionNode)
  BufferRegion(Buffer buffer, std::vector<Range> region, Span span = {})
      : PrimExpr(new BufferRegionNode(std::move(buffer), std::move(region),
                                      std::move(span))) {}
};

// The definition of `buffer` as a view of a region of another one.
class MatchRegionNode final : public PrimExprNode {
 public:
  BATON_NODE(MatchRegion, PrimExprNode, TirKind::kMatchRegion)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  MatchRegionNode(Buffer buffer, BufferRegion source, Span span)
      : PrimExprNode(kKind, {}, std::move(span)),
        buffer_(std::move(buffer)),
        source_(std::move(source)) {}
  const Buffer& buffer() const { return buffer_; }
  const BufferRegion& source() const { return source_; }
  static constexpr auto Fields() {
    return field::List(
        field::Annotation<1, &MatchRegionNode::buffer_>("buffer"),
        field::Child<2, &MatchRegionNode::source_>("source"));
  }
  static absl::Status Derive(MatchRegionNode& node) {
    return ExpectPart(node.buffer_, "buffer");
  }

 private:
  Buffer buffer_;
  BufferRegion source_;
};

class MatchRegion : public PrimExpr {
 public:
  BATON_HANDLE(MatchRegion, PrimExpr, MatchRegionNode)
  MatchRegion(Buffer buffer, BufferRegion source, Span span = {})
      : PrimExpr(new MatchRegionNode(std::move(buffer), std::move(source),
                                     std::move(span))) {}
};

// Values of annotations and attributes, beside immediates, variables and
// buffers: lists, dictionaries, targets.
class ListNode final : public PrimExprNode {
 public:
  BATON_NODE(List, PrimExprNode, TirKind::kList)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  ListNode(std::vector<PrimExpr> items, Span span)
      : PrimExprNode(kKind, {}, std::move(span)), items_(std::move(items)) {}
  absl::Span<const PrimExpr> items() const { return items_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &ListNode::items_>("items"));
  }

 private:
  std::vector<PrimExpr> items_;
};

class List : public PrimExpr {
 public:
  BATON_HANDLE(List, PrimExpr, ListNode)
  explicit List(std::vector<PrimExpr> items, Span span = {})
      : PrimExpr(new ListNode(std::move(items), std::move(span))) {}
};

// Keys are sorted, and each occurs once.
class DictNode final : public PrimExprNode {
 public:
  BATON_NODE(Dict, PrimExprNode, TirKind::kDict)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  DictNode(std::vector<std::string> keys, std::vector<PrimExpr> values,
           Span span)
      : PrimExprNode(kKind, {}, std::move(span)),
        keys_(std::move(keys)),
        values_(std::move(values)) {}
  absl::Span<const std::string> keys() const { return keys_; }
  absl::Span<const PrimExpr> values() const { return values_; }
  // Null if there is none of that name.
  PrimExpr Find(absl::string_view key) const;
  static constexpr auto Fields() {
    return field::List(field::Data<1, &DictNode::keys_>("keys"),
                       field::Child<2, &DictNode::values_>("values"));
  }
  static absl::Status Derive(DictNode& node);

 private:
  std::vector<std::string> keys_;
  std::vector<PrimExpr> values_;
};

class Dict : public PrimExpr {
 public:
  BATON_HANDLE(Dict, PrimExpr, DictNode)
  using Entry = std::pair<std::string, PrimExpr>;
  // Sorts the entries; of several with one key the last stays. Null if there
  // are none.
  static Dict Of(std::vector<Entry> entries, Span span = {});
  // Makes a dictionary of `entries` that is never null.
  static Dict OfAll(std::vector<Entry> entries, Span span = {});
  // The value of `key`; null if there is none, or if this is null.
  PrimExpr Find(absl::string_view key) const {
    return defined() ? get()->Find(key) : PrimExpr();
  }
  bool empty() const { return !defined() || get()->keys().empty(); }
  // The entries in the order of their keys; none of a null handle.
  std::vector<Entry> Entries() const;
};

// A target, by its configuration.
class TargetNode final : public PrimExprNode {
 public:
  BATON_NODE(Target, PrimExprNode, TirKind::kTarget)
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;
  TargetNode(Dict config, Span span)
      : PrimExprNode(kKind, {}, std::move(span)), config_(std::move(config)) {}
  const Dict& config() const { return config_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &TargetNode::config_>("config"));
  }

 private:
  Dict config_;
};

class Target : public PrimExpr {
 public:
  BATON_HANDLE(Target, PrimExpr, TargetNode)
  explicit Target(Dict config, Span span = {})
      : PrimExpr(new TargetNode(std::move(config), std::move(span))) {}
};

// True for an IntImm of that value, of any integer type.
bool IsConst(const PrimExpr& e, int64_t value);
inline bool IsZero(const PrimExpr& e) { return IsConst(e, 0); }
inline bool IsOne(const PrimExpr& e) { return IsConst(e, 1); }

}  // namespace baton::tir

#endif  // BATON_TIR_IR_EXPR_H_
