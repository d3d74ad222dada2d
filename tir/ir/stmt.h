// Statements of the level of loops.
//
//   for i, j in T.grid(128, 128):
//       with T.block("B"):
//           vi, vj = T.axis.remap("SS", [i, j])
//           T.reads(A[vi, vj])
//           T.writes(B[vi, vj])
//           B[vi, vj] = A[vi, vj] * T.float32(2)
//
// A statement that defines something (LetStmt, Allocate, DeclBuffer ...) has
// the statement in which it is visible as its body.

#ifndef BATON_TIR_IR_STMT_H_
#define BATON_TIR_IR_STMT_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/expr.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/node_kind.h"

namespace baton::tir {

class StmtNode : public ExprNode {
 public:
  using Handle = class Stmt;
  static constexpr bool ClassOf(NodeKind kind) { return IsStmtKind(kind); }
  static constexpr NodeIdentity kIdentity = NodeIdentity::kValue;

 protected:
  explicit StmtNode(NodeKind kind, Span span = {})
      : ExprNode(kind, {}, std::move(span)) {}
};

class Stmt : public Expr {
 public:
  BATON_HANDLE(Stmt, Expr, StmtNode)
};

class LetStmtNode final : public StmtNode {
 public:
  BATON_NODE(LetStmt, StmtNode, TirKind::kLetStmt)
  LetStmtNode(Var var, PrimExpr value, Stmt body, Span span)
      : StmtNode(kKind, std::move(span)),
        var_(std::move(var)),
        value_(std::move(value)),
        body_(std::move(body)) {}
  const Var& var() const { return var_; }
  const PrimExpr& value() const { return value_; }
  const Stmt& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(field::Binder<1, &LetStmtNode::var_>("var"),
                       field::Child<2, &LetStmtNode::value_>("value"),
                       field::Child<3, &LetStmtNode::body_>("body"));
  }

 private:
  Var var_;
  PrimExpr value_;
  Stmt body_;
};

class LetStmt : public Stmt {
 public:
  BATON_HANDLE(LetStmt, Stmt, LetStmtNode)
  LetStmt(Var var, PrimExpr value, Stmt body, Span span = {})
      : Stmt(new LetStmtNode(std::move(var), std::move(value), std::move(body),
                             std::move(span))) {}
};

// An attribute `key` of `node` with a value, which holds in the body. The key
// `thread_extent` has an IterVar, which the statement defines.
class AttrStmtNode final : public StmtNode {
 public:
  BATON_NODE(AttrStmt, StmtNode, TirKind::kAttrStmt)
  AttrStmtNode(PrimExpr node, std::string key, PrimExpr value, Stmt body,
               Span span)
      : StmtNode(kKind, std::move(span)),
        node_(std::move(node)),
        key_(std::move(key)),
        value_(std::move(value)),
        body_(std::move(body)) {}
  const PrimExpr& node() const { return node_; }
  const std::string& key() const { return key_; }
  const PrimExpr& value() const { return value_; }
  const Stmt& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &AttrStmtNode::node_>("node"),
                       field::Data<2, &AttrStmtNode::key_>("key"),
                       field::Child<3, &AttrStmtNode::value_>("value"),
                       field::Child<4, &AttrStmtNode::body_>("body"));
  }

 private:
  PrimExpr node_;
  std::string key_;
  PrimExpr value_;
  Stmt body_;
};

class AttrStmt : public Stmt {
 public:
  BATON_HANDLE(AttrStmt, Stmt, AttrStmtNode)
  AttrStmt(PrimExpr node, std::string key, PrimExpr value, Stmt body,
           Span span = {})
      : Stmt(new AttrStmtNode(std::move(node), std::move(key), std::move(value),
                              std::move(body), std::move(span))) {}
};

class AssertStmtNode final : public StmtNode {
 public:
  BATON_NODE(AssertStmt, StmtNode, TirKind::kAssertStmt)
  AssertStmtNode(PrimExpr condition, PrimExpr message, Stmt body, Span span)
      : StmtNode(kKind, std::move(span)),
        condition_(std::move(condition)),
        message_(std::move(message)),
        body_(std::move(body)) {}
  const PrimExpr& condition() const { return condition_; }
  const PrimExpr& message() const { return message_; }
  const Stmt& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(
        field::Child<1, &AssertStmtNode::condition_>("condition"),
        field::Child<2, &AssertStmtNode::message_>("message"),
        field::Child<3, &AssertStmtNode::body_>("body"));
  }

 private:
  PrimExpr condition_;
  PrimExpr message_;
  Stmt body_;
};

class AssertStmt : public Stmt {
 public:
  BATON_HANDLE(AssertStmt, Stmt, AssertStmtNode)
  AssertStmt(PrimExpr condition, PrimExpr message, Stmt body, Span span = {})
      : Stmt(new AssertStmtNode(std::move(condition), std::move(message),
                                std::move(body), std::move(span))) {}
};

enum class ForKind : uint8_t {
  kSerial,
  kParallel,
  kVectorized,
  kUnrolled,
  kThreadBinding,
};
constexpr int NumValuesOf(ForKind /*kind*/) { return 5; }

class ForNode final : public StmtNode {
 public:
  BATON_NODE(For, StmtNode, TirKind::kFor)
  struct Parts {
    Var loop_var;
    PrimExpr min;
    PrimExpr extent;
    ForKind kind = ForKind::kSerial;
    IterVar thread;    // of kThreadBinding, else null
    Dict annotations;  // null if there are none
    Stmt body;
  };
  ForNode(Parts parts, Span span)
      : StmtNode(kKind, std::move(span)),
        loop_var_(std::move(parts.loop_var)),
        min_(std::move(parts.min)),
        extent_(std::move(parts.extent)),
        thread_(std::move(parts.thread)),
        annotations_(std::move(parts.annotations)),
        body_(std::move(parts.body)),
        for_kind_(parts.kind) {}
  const Var& loop_var() const { return loop_var_; }
  const PrimExpr& min() const { return min_; }
  const PrimExpr& extent() const { return extent_; }
  ForKind for_kind() const { return for_kind_; }
  const IterVar& thread() const { return thread_; }
  const Dict& annotations() const { return annotations_; }
  const Stmt& body() const { return body_; }
  Parts parts() const {
    return {loop_var_, min_, extent_, for_kind_, thread_, annotations_, body_};
  }
  static constexpr auto Fields() {
    return field::List(
        field::Binder<1, &ForNode::loop_var_>("loop_var"),
        field::Child<2, &ForNode::min_>("min"),
        field::Child<3, &ForNode::extent_>("extent"),
        field::Optional<field::Child<4, &ForNode::thread_>>("thread"),
        field::Optional<field::Child<5, &ForNode::annotations_>>("annotations"),
        field::Child<6, &ForNode::body_>("body"),
        field::Data<7, &ForNode::for_kind_>("kind"));
  }

 private:
  Var loop_var_;
  PrimExpr min_;
  PrimExpr extent_;
  IterVar thread_;
  Dict annotations_;
  Stmt body_;
  ForKind for_kind_ = ForKind::kSerial;
};

class For : public Stmt {
 public:
  BATON_HANDLE(For, Stmt, ForNode)
  explicit For(ForNode::Parts parts, Span span = {})
      : Stmt(new ForNode(std::move(parts), std::move(span))) {}
};

class WhileNode final : public StmtNode {
 public:
  BATON_NODE(While, StmtNode, TirKind::kWhile)
  WhileNode(PrimExpr condition, Stmt body, Span span)
      : StmtNode(kKind, std::move(span)),
        condition_(std::move(condition)),
        body_(std::move(body)) {}
  const PrimExpr& condition() const { return condition_; }
  const Stmt& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &WhileNode::condition_>("condition"),
                       field::Child<2, &WhileNode::body_>("body"));
  }

 private:
  PrimExpr condition_;
  Stmt body_;
};

class While : public Stmt {
 public:
  BATON_HANDLE(While, Stmt, WhileNode)
  While(PrimExpr condition, Stmt body, Span span = {})
      : Stmt(new WhileNode(std::move(condition), std::move(body),
                           std::move(span))) {}
};

class BufferStoreNode final : public StmtNode {
 public:
  BATON_NODE(BufferStore, StmtNode, TirKind::kBufferStore)
  BufferStoreNode(Buffer buffer, PrimExpr value, std::vector<PrimExpr> indices,
                  Span span)
      : StmtNode(kKind, std::move(span)),
        buffer_(std::move(buffer)),
        value_(std::move(value)),
        indices_(std::move(indices)) {}
  const Buffer& buffer() const { return buffer_; }
  const PrimExpr& value() const { return value_; }
  absl::Span<const PrimExpr> indices() const { return indices_; }
  static constexpr auto Fields() {
    return field::List(
        field::Annotation<1, &BufferStoreNode::buffer_>("buffer"),
        field::Child<2, &BufferStoreNode::value_>("value"),
        field::Child<3, &BufferStoreNode::indices_>("indices"));
  }
  static absl::Status Derive(BufferStoreNode& node) {
    return ExpectPart(node.buffer_, "buffer");
  }

 private:
  Buffer buffer_;
  PrimExpr value_;
  std::vector<PrimExpr> indices_;
};

class BufferStore : public Stmt {
 public:
  BATON_HANDLE(BufferStore, Stmt, BufferStoreNode)
  BufferStore(Buffer buffer, PrimExpr value, std::vector<PrimExpr> indices,
              Span span = {})
      : Stmt(new BufferStoreNode(std::move(buffer), std::move(value),
                                 std::move(indices), std::move(span))) {}
};

// Memory for a region of a buffer.
class BufferRealizeNode final : public StmtNode {
 public:
  BATON_NODE(BufferRealize, StmtNode, TirKind::kBufferRealize)
  BufferRealizeNode(Buffer buffer, std::vector<Range> bounds,
                    PrimExpr condition, Stmt body, Span span)
      : StmtNode(kKind, std::move(span)),
        buffer_(std::move(buffer)),
        bounds_(std::move(bounds)),
        condition_(std::move(condition)),
        body_(std::move(body)) {}
  const Buffer& buffer() const { return buffer_; }
  absl::Span<const Range> bounds() const { return bounds_; }
  const PrimExpr& condition() const { return condition_; }
  const Stmt& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(
        field::Annotation<1, &BufferRealizeNode::buffer_>("buffer"),
        field::Records<&BufferRealizeNode::bounds_>("bounds"),
        field::Child<4, &BufferRealizeNode::condition_>("condition"),
        field::Child<5, &BufferRealizeNode::body_>("body"));
  }
  static absl::Status Derive(BufferRealizeNode& node) {
    return ExpectPart(node.buffer_, "buffer");
  }

 private:
  Buffer buffer_;
  std::vector<Range> bounds_;
  PrimExpr condition_;
  Stmt body_;
};

class BufferRealize : public Stmt {
 public:
  BATON_HANDLE(BufferRealize, Stmt, BufferRealizeNode)
  BufferRealize(Buffer buffer, std::vector<Range> bounds, PrimExpr condition,
                Stmt body, Span span = {})
      : Stmt(new BufferRealizeNode(std::move(buffer), std::move(bounds),
                                   std::move(condition), std::move(body),
                                   std::move(span))) {}
};

class AllocateNode final : public StmtNode {
 public:
  BATON_NODE(Allocate, StmtNode, TirKind::kAllocate)
  AllocateNode(Var var, DType dtype, std::vector<PrimExpr> extents,
               PrimExpr condition, Dict annotations, Stmt body, Span span)
      : StmtNode(kKind, std::move(span)),
        var_(std::move(var)),
        extents_(std::move(extents)),
        condition_(std::move(condition)),
        annotations_(std::move(annotations)),
        body_(std::move(body)),
        dtype_(dtype) {}
  // The pointer that it defines.
  const Var& var() const { return var_; }
  DType dtype() const { return dtype_; }
  absl::Span<const PrimExpr> extents() const { return extents_; }
  const PrimExpr& condition() const { return condition_; }
  const Dict& annotations() const { return annotations_; }
  const Stmt& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(
        field::Binder<1, &AllocateNode::var_>("var"),
        field::Data<2, &AllocateNode::dtype_>("dtype"),
        field::Child<3, &AllocateNode::extents_>("extents"),
        field::Child<4, &AllocateNode::condition_>("condition"),
        field::Optional<field::Child<5, &AllocateNode::annotations_>>(
            "annotations"),
        field::Child<6, &AllocateNode::body_>("body"));
  }

 private:
  Var var_;
  std::vector<PrimExpr> extents_;
  PrimExpr condition_;
  Dict annotations_;
  Stmt body_;
  DType dtype_;
};

class Allocate : public Stmt {
 public:
  BATON_HANDLE(Allocate, Stmt, AllocateNode)
  Allocate(Var var, DType dtype, std::vector<PrimExpr> extents,
           PrimExpr condition, Dict annotations, Stmt body, Span span = {})
      : Stmt(new AllocateNode(std::move(var), dtype, std::move(extents),
                              std::move(condition), std::move(annotations),
                              std::move(body), std::move(span))) {}
};

class AllocateConstNode final : public StmtNode {
 public:
  BATON_NODE(AllocateConst, StmtNode, TirKind::kAllocateConst)
  AllocateConstNode(Var var, DType dtype, std::vector<PrimExpr> extents,
                    Tensor data, Dict annotations, Stmt body, Span span)
      : StmtNode(kKind, std::move(span)),
        var_(std::move(var)),
        extents_(std::move(extents)),
        data_(std::move(data)),
        annotations_(std::move(annotations)),
        body_(std::move(body)),
        dtype_(dtype) {}
  const Var& var() const { return var_; }
  DType dtype() const { return dtype_; }
  absl::Span<const PrimExpr> extents() const { return extents_; }
  const Tensor& data() const { return data_; }
  const Dict& annotations() const { return annotations_; }
  const Stmt& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(
        field::Binder<1, &AllocateConstNode::var_>("var"),
        field::Data<2, &AllocateConstNode::dtype_>("dtype"),
        field::Child<3, &AllocateConstNode::extents_>("extents"),
        field::Optional<field::Child<4, &AllocateConstNode::annotations_>>(
            "annotations"),
        field::Child<5, &AllocateConstNode::body_>("body"),
        field::Data<6, &AllocateConstNode::data_>("data"));
  }

 private:
  Var var_;
  std::vector<PrimExpr> extents_;
  Tensor data_;
  Dict annotations_;
  Stmt body_;
  DType dtype_;
};

class AllocateConst : public Stmt {
 public:
  BATON_HANDLE(AllocateConst, Stmt, AllocateConstNode)
  AllocateConst(Var var, DType dtype, std::vector<PrimExpr> extents,
                Tensor data, Dict annotations, Stmt body, Span span = {})
      : Stmt(new AllocateConstNode(std::move(var), dtype, std::move(extents),
                                   std::move(data), std::move(annotations),
                                   std::move(body), std::move(span))) {}
};

// Declares `buffer`, which the body uses. Its memory is allocated elsewhere.
class DeclBufferNode final : public StmtNode {
 public:
  BATON_NODE(DeclBuffer, StmtNode, TirKind::kDeclBuffer)
  DeclBufferNode(Buffer buffer, Stmt body, Span span)
      : StmtNode(kKind, std::move(span)),
        buffer_(std::move(buffer)),
        body_(std::move(body)) {}
  const Buffer& buffer() const { return buffer_; }
  const Stmt& body() const { return body_; }
  static constexpr auto Fields() {
    return field::List(field::Annotation<1, &DeclBufferNode::buffer_>("buffer"),
                       field::Child<2, &DeclBufferNode::body_>("body"));
  }
  static absl::Status Derive(DeclBufferNode& node) {
    return ExpectPart(node.buffer_, "buffer");
  }

 private:
  Buffer buffer_;
  Stmt body_;
};

class DeclBuffer : public Stmt {
 public:
  BATON_HANDLE(DeclBuffer, Stmt, DeclBufferNode)
  DeclBuffer(Buffer buffer, Stmt body, Span span = {})
      : Stmt(new DeclBufferNode(std::move(buffer), std::move(body),
                                std::move(span))) {}
};

class SeqStmtNode final : public StmtNode {
 public:
  BATON_NODE(SeqStmt, StmtNode, TirKind::kSeqStmt)
  SeqStmtNode(std::vector<Stmt> seq, Span span)
      : StmtNode(kKind, std::move(span)), seq_(std::move(seq)) {}
  absl::Span<const Stmt> seq() const { return seq_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &SeqStmtNode::seq_>("seq"));
  }

 private:
  std::vector<Stmt> seq_;
};

class SeqStmt : public Stmt {
 public:
  BATON_HANDLE(SeqStmt, Stmt, SeqStmtNode)
  // `seq` must not be empty.
  explicit SeqStmt(std::vector<Stmt> seq, Span span = {})
      : Stmt(new SeqStmtNode(std::move(seq), std::move(span))) {}
};

// The statement that runs `seq`: the only one of them, or a SeqStmt; of none,
// one without effect.
Stmt MakeSeq(std::vector<Stmt> seq);

class IfThenElseNode final : public StmtNode {
 public:
  BATON_NODE(IfThenElse, StmtNode, TirKind::kIfThenElse)
  IfThenElseNode(PrimExpr condition, Stmt then_case, Stmt else_case, Span span)
      : StmtNode(kKind, std::move(span)),
        condition_(std::move(condition)),
        then_case_(std::move(then_case)),
        else_case_(std::move(else_case)) {}
  const PrimExpr& condition() const { return condition_; }
  const Stmt& then_case() const { return then_case_; }
  const Stmt& else_case() const { return else_case_; }  // may be null
  static constexpr auto Fields() {
    return field::List(
        field::Child<1, &IfThenElseNode::condition_>("condition"),
        field::Child<2, &IfThenElseNode::then_case_>("then_case"),
        field::Optional<field::Child<3, &IfThenElseNode::else_case_>>(
            "else_case"));
  }

 private:
  PrimExpr condition_;
  Stmt then_case_;
  Stmt else_case_;
};

class IfThenElse : public Stmt {
 public:
  BATON_HANDLE(IfThenElse, Stmt, IfThenElseNode)
  IfThenElse(PrimExpr condition, Stmt then_case, Stmt else_case = {},
             Span span = {})
      : Stmt(new IfThenElseNode(std::move(condition), std::move(then_case),
                                std::move(else_case), std::move(span))) {}
};

class EvaluateNode final : public StmtNode {
 public:
  BATON_NODE(Evaluate, StmtNode, TirKind::kEvaluate)
  EvaluateNode(PrimExpr value, Span span)
      : StmtNode(kKind, std::move(span)), value_(std::move(value)) {}
  const PrimExpr& value() const { return value_; }
  static constexpr auto Fields() {
    return field::List(field::Child<1, &EvaluateNode::value_>("value"));
  }

 private:
  PrimExpr value_;
};

class Evaluate : public Stmt {
 public:
  BATON_HANDLE(Evaluate, Stmt, EvaluateNode)
  explicit Evaluate(PrimExpr value, Span span = {})
      : Stmt(new EvaluateNode(std::move(value), std::move(span))) {}
};

// A block: a computation for each value of its iteration variables, with the
// regions that it reads and writes. `defined` are the variables that its
// buffers define.
class BlockNode final : public StmtNode {
 public:
  BATON_NODE(Block, StmtNode, TirKind::kBlock)
  struct Parts {
    std::string name;
    std::vector<IterVar> iter_vars;
    std::vector<BufferRegion> reads;
    std::vector<BufferRegion> writes;
    std::vector<Buffer> alloc_buffers;
    std::vector<MatchRegion> match_buffers;
    Dict annotations;  // null if there are none
    Stmt init;         // null if there is none
    Stmt body;
  };
  BlockNode(Parts parts, Span span);
  const std::string& name() const { return name_; }
  absl::Span<const IterVar> iter_vars() const { return iter_vars_; }
  absl::Span<const BufferRegion> reads() const { return reads_; }
  absl::Span<const BufferRegion> writes() const { return writes_; }
  absl::Span<const Buffer> alloc_buffers() const { return alloc_buffers_; }
  absl::Span<const MatchRegion> match_buffers() const { return match_buffers_; }
  const Dict& annotations() const { return annotations_; }
  const Stmt& init() const { return init_; }
  const Stmt& body() const { return body_; }
  absl::Span<const Var> defined() const { return defined_; }
  Parts parts() const;
  std::string Describe() const { return "block " + name_; }
  static constexpr auto Fields() {
    return field::List(
        field::Child<1, &BlockNode::iter_vars_>("iter_vars"),
        field::Binder<2, &BlockNode::defined_>("defined"),
        field::Annotation<3, &BlockNode::alloc_buffers_>("alloc_buffers"),
        field::Child<4, &BlockNode::match_buffers_>("match_buffers"),
        field::Child<5, &BlockNode::reads_>("reads"),
        field::Child<6, &BlockNode::writes_>("writes"),
        field::Optional<field::Child<7, &BlockNode::annotations_>>(
            "annotations"),
        field::Optional<field::Child<8, &BlockNode::init_>>("init"),
        field::Child<9, &BlockNode::body_>("body"),
        field::Name<10, &BlockNode::name_>("name"));
  }

 private:
  std::vector<IterVar> iter_vars_;
  std::vector<Var> defined_;
  std::vector<Buffer> alloc_buffers_;
  std::vector<MatchRegion> match_buffers_;
  std::vector<BufferRegion> reads_;
  std::vector<BufferRegion> writes_;
  Dict annotations_;
  Stmt init_;
  Stmt body_;
  std::string name_;
};

class Block : public Stmt {
 public:
  BATON_HANDLE(Block, Stmt, BlockNode)
  explicit Block(BlockNode::Parts parts, Span span = {})
      : Stmt(new BlockNode(std::move(parts), std::move(span))) {}
};

// Runs a block for the given values of its iteration variables if `predicate`
// holds, which may use these variables.
class BlockRealizeNode final : public StmtNode {
 public:
  BATON_NODE(BlockRealize, StmtNode, TirKind::kBlockRealize)
  BlockRealizeNode(std::vector<PrimExpr> iter_values, PrimExpr predicate,
                   Block block, Span span)
      : StmtNode(kKind, std::move(span)),
        iter_values_(std::move(iter_values)),
        predicate_(std::move(predicate)),
        block_(std::move(block)) {}
  absl::Span<const PrimExpr> iter_values() const { return iter_values_; }
  const PrimExpr& predicate() const { return predicate_; }
  const Block& block() const { return block_; }
  static constexpr auto Fields() {
    return field::List(
        field::Child<1, &BlockRealizeNode::iter_values_>("iter_values"),
        field::Child<3, &BlockRealizeNode::block_>("block"),
        field::Child<2, &BlockRealizeNode::predicate_>("predicate"));
  }

 private:
  std::vector<PrimExpr> iter_values_;
  PrimExpr predicate_;
  Block block_;
};

class BlockRealize : public Stmt {
 public:
  BATON_HANDLE(BlockRealize, Stmt, BlockRealizeNode)
  BlockRealize(std::vector<PrimExpr> iter_values, PrimExpr predicate,
               Block block, Span span = {})
      : Stmt(new BlockRealizeNode(std::move(iter_values), std::move(predicate),
                                  std::move(block), std::move(span))) {}
};

class PrefetchNode final : public StmtNode {
 public:
  BATON_NODE(Prefetch, StmtNode, TirKind::kPrefetch)
  PrefetchNode(Buffer buffer, std::vector<Range> bounds, Span span)
      : StmtNode(kKind, std::move(span)),
        buffer_(std::move(buffer)),
        bounds_(std::move(bounds)) {}
  const Buffer& buffer() const { return buffer_; }
  absl::Span<const Range> bounds() const { return bounds_; }
  static constexpr auto Fields() {
    return field::List(field::Annotation<1, &PrefetchNode::buffer_>("buffer"),
                       field::Records<&PrefetchNode::bounds_>("bounds"));
  }
  static absl::Status Derive(PrefetchNode& node) {
    return ExpectPart(node.buffer_, "buffer");
  }

 private:
  Buffer buffer_;
  std::vector<Range> bounds_;
};

class Prefetch : public Stmt {
 public:
  BATON_HANDLE(Prefetch, Stmt, PrefetchNode)
  Prefetch(Buffer buffer, std::vector<Range> bounds, Span span = {})
      : Stmt(new PrefetchNode(std::move(buffer), std::move(bounds),
                              std::move(span))) {}
};

}  // namespace baton::tir

#endif  // BATON_TIR_IR_STMT_H_
