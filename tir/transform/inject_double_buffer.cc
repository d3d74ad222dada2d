#include "baton/tir/transform/inject_double_buffer.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/arg_binder.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/tir/transform/copy_budget.h"
#include "baton/tir/transform/pass_config.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/config.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr char kScope[] = "double_buffer_scope";
constexpr char kWrite[] = "double_buffer_write";

struct InjectDoubleBufferConfig {
  static constexpr bool kIsPassConfig = true;
  int64_t split_loop = 1;

  template <typename V>
  static void VisitFields(V& v) {
    v("split_loop", &InjectDoubleBufferConfig::split_loop,
      "Steps of the loop that become one, and are repeated in its body: 1 or "
      "an even number; 0: the last step stays in the loop.");
  }
};
BATON_REGISTER_CONFIG(kConfig, InjectDoubleBufferConfig,
                      "tir.InjectDoubleBuffer", {}, "Loops of double buffers.");

// The pointers of double buffers, but for those that are used other than by
// loads and stores.
class PointerFinder final : public Visitor {
 public:
  std::vector<const VarNode*> Find(const Stmt& body) {
    Visit(body);
    std::vector<const VarNode*> result;
    for (const VarNode* pointer : pointers_) {
      if (!used_.Contains(pointer)) result.push_back(pointer);
    }
    return result;
  }

 protected:
  void VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == kScope) {
      if (const auto* var = node->node().As<VarNode>()) {
        pointers_.push_back(var);
      }
    }
    Visitor::VisitAttrStmt(node);
  }
  void VisitVar(const VarNode* node) override { used_.Insert(node); }

 private:
  std::vector<const VarNode*> pointers_;
  NodeSet used_;
};

class WriteMarkRemover final : public Rewriter {
 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == kWrite) return Rewrite(node->body());
    return Rewriter::VisitAttrStmt(node);
  }
};

class Injector final : public Rewriter {
 public:
  Injector(int64_t split_loop, absl::Span<const VarNode* const> pointers)
      : split_loop_(split_loop) {
    for (const VarNode* pointer : pointers) entries_[pointer];
  }
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() != kScope) return Rewriter::VisitAttrStmt(node);
    Entry* const entry = entries_.Find(node->node().get());
    if (entry == nullptr) return Rewrite(node->body());
    if (loops_.empty()) {
      Fail(node->span(), "a double buffer must be filled in a loop");
      return AttrStmt(node);
    }
    return Produce(node, *entry);
  }

  Stmt VisitAllocate(const AllocateNode* node) override {
    Entry* const entry = entries_.Find(node->var().get());
    if (entry == nullptr) return Rewriter::VisitAllocate(node);
    if (node->extents().size() != 1) {
      Fail(node->span(),
           "the memory of a double buffer must have one extent; "
           "tir.FlattenBuffer flattens it");
      return Allocate(node);
    }
    entry->stride = node->extents()[0];
    const Stmt visited = Rewriter::VisitAllocate(node);
    const auto* alloc = visited.As<AllocateNode>();
    if (entry->loop == nullptr) {
      Fail(node->span(),
           "a double buffer is not filled inside of its allocation");
      return visited;
    }
    Nest& nest = allocs_[entry->loop];
    const PrimExpr& extent = alloc->extents()[0];
    nest.push_back(Allocate(alloc->var(), alloc->dtype(),
                            {Mul(extent, MakeConst(extent.dtype(), 2))},
                            alloc->condition(), alloc->annotations(),
                            NoOpStmt(), alloc->span()));
    if (const auto* declaration = alloc->body().As<DeclBufferNode>()) {
      nest.push_back(DeclBuffer(
          BufferOfBoth(declaration->buffer(), *entry, declaration->span()),
          NoOpStmt(), declaration->span()));
      return declaration->body();
    }
    return alloc->body();
  }

  Stmt VisitFor(const ForNode* node) override {
    loops_.push_back(node);
    Stmt result = Rewriter::VisitFor(node);
    if (const std::vector<Stmt>* first = first_.Find(node)) {
      if (split_loop_ != 0) result = Split(result.As<ForNode>());
      std::vector<Stmt> seq;
      for (const Stmt& stmt : *first) AppendFlattened(stmt, seq);
      AppendFlattened(result, seq);
      result = MakeSeq(std::move(seq));
    }
    if (const Nest* nest = allocs_.Find(node)) {
      result = MergeNest(*nest, std::move(result));
    }
    loops_.pop_back();
    return result;
  }

  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    const Entry* const entry = entries_.Find(node->buffer()->data().get());
    if (entry == nullptr) return result;
    const auto* store = result.As<BufferStoreNode>();
    if (!in_scope_ || !entry->write_half.defined()) {
      Fail(node->span(),
           "a store to a double buffer must be inside of its attribute "
           "double_buffer_scope");
      return result;
    }
    return BufferStore(
        BufferOfBoth(store->buffer(), *entry, node->span()), store->value(),
        {IndexIn(entry->write_half, *entry, store->indices())}, store->span());
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    const Entry* const entry = entries_.Find(node->buffer()->data().get());
    if (entry == nullptr) return result;
    const auto* load = result.As<BufferLoadNode>();
    if (!entry->read_half.defined()) {
      Fail(node->span(), "a double buffer is read before it is filled");
      return result;
    }
    return BufferLoad(BufferOfBoth(load->buffer(), *entry, node->span()),
                      {IndexIn(entry->read_half, *entry, load->indices())},
                      load->span());
  }

 private:
  struct Entry {
    // Between the halves.
    PrimExpr stride;
    const ForNode* loop = nullptr;
    Var write_half;
    PrimExpr read_half;
  };

  Stmt Produce(const AttrStmtNode* node, Entry& entry) {
    entry.loop = loops_.back();
    const Var& loop_var = entry.loop->loop_var();
    const DType dtype = loop_var->dtype();
    const PrimExpr zero = MakeConst(dtype, 0);
    const PrimExpr two = MakeConst(dtype, 2);
    const PrimExpr next = Add(loop_var, MakeConst(dtype, 1));
    entry.write_half = Var(absl::StrCat(loop_var->name(), ".db"), dtype);
    entry.read_half = MakeBinary(BinaryOp::kFloorMod, loop_var, two);
    const Var write_half = entry.write_half;
    const ForNode* const loop = entry.loop;
    in_scope_ = true;
    const Stmt body = Rewrite(node->body());
    in_scope_ = false;
    const auto at = [&](const PrimExpr& step, const PrimExpr& half) {
      return Substitute(body, [&](const VarNode* var) {
        if (var == loop_var.get()) return step;
        return var == write_half.get() ? half : PrimExpr();
      });
    };
    first_[loop].push_back(at(zero, zero));
    Stmt fill = at(next, MakeBinary(BinaryOp::kFloorMod, next, two));
    fill = AttrStmt(node->node(), kWrite, IntImm(kInt32, 1), std::move(fill));
    return IfThenElse(MakeBinary(BinaryOp::kLT, next, loop->extent()),
                      std::move(fill), {}, node->span());
  }

  // The loop without its last steps, and these.
  Stmt Split(const ForNode* loop) {
    if (split_loop_ != 1 && split_loop_ % 2 != 0) {
      Fail(loop->span(), "split_loop must be 1 or even");
      return For(loop);
    }
    if (!IsZero(loop->min())) {
      Fail(loop->span(), "a loop of a double buffer must begin at 0");
      return For(loop);
    }
    const DType dtype = loop->loop_var()->dtype();
    const PrimExpr extent = Sub(loop->extent(), MakeConst(dtype, 1));
    const PrimExpr factor = MakeConst(extent.dtype(), split_loop_);
    const PrimExpr outer_extent = MakeBinary(BinaryOp::kDiv, extent, factor);
    const PrimExpr tail = Mul(outer_extent, factor);
    const Var outer(absl::StrCat(loop->loop_var()->name(), ".outer"), dtype);
    const auto step = [loop](const Stmt& body, const PrimExpr& value) {
      return Substitute(body, [&](const VarNode* var) {
        return var == loop->loop_var().get() ? value : PrimExpr();
      });
    };
    if (status_.ok()) {
      // In the loop, and after it.
      status_ = budget_.Take(loop->body(), split_loop_, loop->span());
      status_.Update(budget_.Take(loop->body(), split_loop_, loop->span()));
    }
    if (!status_.ok()) return Stmt(loop);
    std::vector<Stmt> steps;
    for (int64_t i = 0; i < split_loop_; ++i) {
      AppendFlattened(step(loop->body(), Add(Mul(outer, factor),
                                             MakeConst(factor.dtype(), i))),
                      steps);
    }
    ForNode::Parts parts;
    parts.loop_var = outer;
    parts.min = loop->min();
    parts.extent = outer_extent;
    parts.kind = loop->for_kind();
    parts.thread = loop->thread();
    parts.body = MakeSeq(std::move(steps));
    std::vector<Stmt> seq = {For(std::move(parts), loop->span())};
    const Stmt tail_body = WriteMarkRemover().Rewrite(loop->body());
    for (int64_t i = 0; i < split_loop_; ++i) {
      const PrimExpr index = Add(tail, MakeConst(tail.dtype(), i));
      seq.push_back(IfThenElse(MakeBinary(BinaryOp::kLT, index, loop->extent()),
                               step(tail_body, index)));
    }
    return MakeSeq(std::move(seq));
  }

  PrimExpr IndexIn(const PrimExpr& half, const Entry& entry,
                   absl::Span<const PrimExpr> indices) {
    if (indices.size() != 1) {
      Fail({}, "an access of a double buffer must have one index");
      return indices[0];
    }
    return Add(Mul(half, entry.stride), indices[0]);
  }

  // The buffer that has both halves.
  Buffer BufferOfBoth(const Buffer& buffer, const Entry& entry,
                      const Span& span) {
    if (buffer->shape().size() != 1 || !entry.stride.defined()) {
      Fail(span,
           "a double buffer must have one axis, and its allocation must be "
           "around its accesses");
      return buffer;
    }
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      parts.shape = {Add(buffer->shape()[0], entry.stride)};
    });
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const int64_t split_loop_;
  bool in_scope_ = false;
  std::vector<const ForNode*> loops_;
  NodeMap<Entry> entries_;
  // By loop: allocations around it, and statements before it.
  NodeMap<Nest> allocs_;
  NodeMap<std::vector<Stmt>> first_;
  BufferMap buffers_;
  CopyBudget budget_{"tir.InjectDoubleBuffer"};
  absl::Status status_;
};

}  // namespace

Pass InjectDoubleBuffer() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& context) -> absl::StatusOr<PrimFunc> {
        const std::vector<const VarNode*> pointers =
            PointerFinder().Find(function->body());
        if (pointers.empty()) return function;
        Injector injector(context.Get(kConfig).split_loop, pointers);
        Stmt body = injector.Rewrite(function->body());
        if (!injector.status().ok()) return injector.status();
        PrimFuncNode::Parts parts = function->parts();
        parts.body = ConvertSSA(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.InjectDoubleBuffer",
       .doc = "Fills one half of a buffer while the other half is used."});
}
BATON_REGISTER_PASS_AS("tir.InjectDoubleBuffer", InjectDoubleBuffer);

}  // namespace baton::tir
