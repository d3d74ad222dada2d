#include "baton/tir/transform/storage_rewrite.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/pattern.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/pointer_value_type_rewrite.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

// Attributes whose statement has memory of its own.
bool BeginsMemoryScope(const AttrStmtNode& attr) {
  return attr.key() == "thread_extent" || attr.key() == "virtual_thread" ||
         absl::StartsWith(attr.key(), "pragma_");
}

// A point of the program in order of execution: a statement that accesses
// memory, or the begin or the end of a scope (a loop, a branch, a let ...).
struct Point {
  Stmt stmt;
  // From the begin of a scope to its end, and back; 0 for a plain statement.
  int64_t offset = 0;
  // Allocations whose memory is accessed here. Accesses within a scope are at
  // the end of the outermost scope that is inside the allocation.
  std::vector<const VarNode*> touched;
};

struct Allocation {
  const AllocateNode* alloc = nullptr;
  size_t level = 0;  // the number of scopes around it
};

class AccessFinder final : public Visitor {
 public:
  absl::Span<const Point> points() const { return points_; }
  const Allocation* Find(const VarNode* var) const {
    return allocations_.Find(var);
  }
  bool IsAccessed(const Buffer& buffer) const {
    return accessed_.Contains(buffer.get());
  }
  const absl::Status& status() const { return status_; }

 protected:
  void VisitAllocate(const AllocateNode* node) override {
    allocations_[node->var().get()] = {node, scopes_.size()};
    Visitor::VisitAllocate(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    VisitPlain(node, [&] {
      Visitor::VisitBufferStore(node);
      TouchBuffer(node->buffer(), node->span());
    });
  }
  void VisitEvaluate(const EvaluateNode* node) override {
    VisitPlain(node, [&] { Visitor::VisitEvaluate(node); });
  }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Visitor::VisitBufferLoad(node);
    TouchBuffer(node->buffer(), node->span());
  }
  void VisitVar(const VarNode* node) override { Touch(node, node->span()); }

  void VisitAttrStmt(const AttrStmtNode* node) override {
    const auto visit = [&] { Visitor::VisitAttrStmt(node); };
    if (node->key() == "thread_extent" && !in_thread_) {
      // The outermost one is the scope of all.
      in_thread_ = true;
      VisitScope(node, visit);
      in_thread_ = false;
    } else if (node->key() == "extern_scope" ||
               node->key() == "virtual_thread") {
      VisitScope(node, visit);
    } else {
      visit();
    }
  }
  void VisitIfThenElse(const IfThenElseNode* node) override {
    VisitScope(node, [&] { Visitor::VisitIfThenElse(node); });
  }
  void VisitFor(const ForNode* node) override {
    VisitScope(node, [&] { Visitor::VisitFor(node); });
  }
  void VisitWhile(const WhileNode* node) override {
    VisitScope(node, [&] { Visitor::VisitWhile(node); });
  }
  void VisitAssertStmt(const AssertStmtNode* node) override {
    VisitScope(node, [&] { Visitor::VisitAssertStmt(node); });
  }
  void VisitLetStmt(const LetStmtNode* node) override {
    VisitScope(node, [&] { Visitor::VisitLetStmt(node); });
  }

 private:
  using Touched = std::vector<const VarNode*>;

  template <typename N, typename Fn>
  void VisitPlain(const N* node, const Fn& visit) {
    scopes_.emplace_back();
    visit();
    Touched touched = std::move(scopes_.back());
    scopes_.pop_back();
    if (!touched.empty()) points_.push_back({Stmt(node), 0, touched});
  }

  template <typename N, typename Fn>
  void VisitScope(const N* node, const Fn& visit) {
    const size_t begin = points_.size();
    points_.push_back({Stmt(node), 0, {}});
    scopes_.emplace_back();
    visit();
    const auto offset = static_cast<int64_t>(points_.size() - begin);
    points_.push_back({Stmt(node), -offset, std::move(scopes_.back())});
    points_[begin].offset = offset;
    scopes_.pop_back();
  }

  void TouchBuffer(const Buffer& buffer, const Span& span) {
    accessed_.Insert(buffer.get());
    const Allocation* allocation = Touch(buffer->data().get(), span);
    if (allocation == nullptr) return;
    const size_t axes = buffer->axis_separators().size() + 1;
    if (axes != allocation->alloc->extents().size()) {
      Fail(span, absl::StrCat("buffer ", buffer->name(), " has ", axes,
                              " physical axes, and its allocation ",
                              allocation->alloc->extents().size()));
    }
  }

  const Allocation* Touch(const VarNode* var, const Span& span) {
    const Allocation* allocation = allocations_.Find(var);
    if (allocation == nullptr) return nullptr;
    if (allocation->level >= scopes_.size()) {
      Fail(span, absl::StrCat("the memory of ", var->name(),
                              " is accessed outside of any statement"));
      return nullptr;
    }
    scopes_[allocation->level].push_back(var);
    return allocation;
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  std::vector<Point> points_;
  NodeMap<Allocation> allocations_;
  NodeSet accessed_;
  bool in_thread_ = false;
  std::vector<Touched> scopes_;
  absl::Status status_;
};

// Decides whether a statement can compute `dst` in the memory of `src`: each
// element of `dst` from the element of `src` with the same indices. It is
// assumed that no element of `dst` is written twice.
class InPlaceVerifier final : public Visitor {
 public:
  static bool Check(const Stmt& stmt, const VarNode* dst, const VarNode* src) {
    if (stmt.As<AttrStmtNode>() == nullptr && stmt.As<ForNode>() == nullptr &&
        stmt.As<IfThenElseNode>() == nullptr &&
        stmt.As<WhileNode>() == nullptr &&
        stmt.As<BufferStoreNode>() == nullptr) {
      return false;
    }
    InPlaceVerifier verifier(dst, src);
    verifier.Visit(stmt);
    return verifier.result_;
  }

 protected:
  void VisitVar(const VarNode* node) override {
    if (node == dst_ || node == src_) result_ = false;
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    ++nested_;
    VisitAll(node->indices());
    --nested_;
    const bool is_dst = node->buffer()->data().get() == dst_;
    if (is_dst) store_ = node;
    Visit(node->value());
    if (is_dst) store_ = nullptr;
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == "extern_scope" || node->key() == "volatile_scope") {
      result_ = false;
      return;
    }
    Visitor::VisitAttrStmt(node);
  }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    if (!result_) return;
    const VarNode* data = node->buffer()->data().get();
    // No reduction, and no index that is loaded.
    if (data == dst_ || nested_ != 0 ||
        (data == src_ && !IsSameElement(node))) {
      result_ = false;
      return;
    }
    ++nested_;
    Visitor::VisitBufferLoad(node);
    --nested_;
  }

 private:
  InPlaceVerifier(const VarNode* dst, const VarNode* src)
      : dst_(dst), src_(src) {}

  bool IsSameElement(const BufferLoadNode* load) const {
    if (store_ == nullptr || store_->value().dtype() != load->dtype() ||
        store_->indices().size() != load->indices().size()) {
      return false;
    }
    for (size_t i = 0; i < load->indices().size(); ++i) {
      if (!ExprDeepEqual(store_->indices()[i], load->indices()[i])) {
        return false;
      }
    }
    return true;
  }

  const VarNode* dst_;
  const VarNode* src_;
  bool result_ = true;
  int nested_ = 0;  // indices around
  const BufferStoreNode* store_ = nullptr;
};

uint64_t BitsOf(DType dtype) {
  return static_cast<uint64_t>(dtype.bits()) *
         static_cast<uint64_t>(dtype.lanes());
}

bool IsHandle(DType dtype) { return dtype.code() == DType::Code::kHandle; }

// 0 if the size is not constant.
uint64_t ConstantBits(const AllocateNode& alloc) {
  uint64_t size = BitsOf(alloc.dtype());
  for (const PrimExpr& extent : alloc.extents()) {
    const auto* imm = extent.As<IntImmNode>();
    if (imm == nullptr || imm->value() < 0) return 0;
    if (__builtin_mul_overflow(size, static_cast<uint64_t>(imm->value()),
                               &size)) {
      return 0;
    }
  }
  return size;
}

// Memory that is allocated, for one or more allocations of the program.
struct Storage {
  Storage(const Node* attach, MemoryScope memory, DType element, uint64_t bits)
      : attach_scope(attach),
        scope(std::move(memory)),
        element(element),
        constant_bits(bits) {}

  // The statement at whose begin it is allocated; null for the function.
  const Node* attach_scope;
  MemoryScope scope;
  DType element;
  uint64_t constant_bits;  // 0 if it is not constant
  std::vector<const AllocateNode*> allocs;
  std::vector<Storage*> merged_children;
  // Within the memory of another one, if it is not 0.
  uint64_t bits_offset = 0;
  Var var;
  // Puts the allocation around a statement; null if another one has it.
  Stmt nest;
  Buffer hoisted;  // declared with it, if defined
};

// Memory of special scopes is one allocation for all.
bool IsSpecial(const MemoryScope& scope) {
  return !scope.tag.empty() && scope.tag != ".dyn" &&
         scope.tag != ".workspace" && scope.tag != ".vtcm";
}

class Planner {
 public:
  explicit Planner(const AccessFinder& finder) : finder_(finder) {}

  void Run() {
    FindLives();
    Plan();
    for (const auto& storage : storages_) {
      if (storage->attach_scope == nullptr) {
        attached_to_function_.push_back(storage.get());
        continue;
      }
      std::vector<Storage*>& attached = attached_[storage->attach_scope];
      if (attached.empty()) attach_scopes_.push_back(storage->attach_scope);
      attached.push_back(storage.get());
    }
    Allocate(attached_to_function_);
    for (const Node* scope : attach_scopes_) Allocate(attached_[scope]);
  }

  const Storage* StorageOf(const Node* var) const {
    if (var == nullptr) return nullptr;
    Storage* const* storage = storage_of_.Find(var);
    return storage == nullptr ? nullptr : *storage;
  }
  // Null scope: the function.
  absl::Span<Storage* const> AttachedTo(const Node* scope) const {
    if (scope == nullptr) return attached_to_function_;
    const std::vector<Storage*>* attached = attached_.Find(scope);
    return attached == nullptr ? absl::Span<Storage* const>() : *attached;
  }
  const absl::Status& status() const { return status_; }

 private:
  // Allocations whose first or last use is at a point.
  struct Events {
    std::vector<const VarNode*> begins;
    std::vector<const VarNode*> ends;
  };

  void FindLives() {
    const auto points = finder_.points();
    events_.resize(points.size());
    NodeSet last;
    for (size_t i = points.size(); i-- > 0;) {
      for (const VarNode* var : points[i].touched) {
        if (last.Insert(var)) events_[i].ends.push_back(var);
      }
    }
    NodeSet first;
    for (size_t i = 0; i < points.size(); ++i) {
      if (points[i].offset < 0) continue;
      const size_t end = i + static_cast<size_t>(points[i].offset);
      for (const VarNode* var : points[end].touched) {
        if (first.Insert(var)) events_[end].begins.push_back(var);
      }
    }
  }

  void Plan() {
    const auto points = finder_.points();
    NodeSet in_place;  // whose memory another one has taken
    for (size_t i = 0; i < points.size(); ++i) {
      const Point& point = points[i];
      const Events& events =
          events_[i + static_cast<size_t>(std::max<int64_t>(point.offset, 0))];
      if (point.offset >= 0) {
        for (const VarNode* var : events.begins) {
          Place(var, point.stmt, events, in_place);
        }
      }
      if (const auto* attr = point.stmt.As<AttrStmtNode>()) {
        if (BeginsMemoryScope(*attr)) EnterOrLeave(attr);
      } else if (const auto* loop = point.stmt.As<ForNode>()) {
        if (loop->for_kind() == ForKind::kParallel &&
            (scopes_.empty() || scope() == loop)) {
          EnterOrLeave(loop);
        }
      }
      if (point.offset <= 0) {
        for (const VarNode* var : events.ends) {
          if (!in_place.Contains(var)) Free(var);
        }
      }
    }
  }

  void Place(const VarNode* var, const Stmt& stmt, const Events& events,
             NodeSet& in_place) {
    const AllocateNode* alloc = finder_.Find(var)->alloc;
    const MemoryScope memory(var->scope());
    Storage* storage = nullptr;
    if (events.begins.size() <= 2) {
      for (const VarNode* source : events.ends) {
        Storage* const* entry = storage_of_.Find(source);
        if (entry == nullptr || in_place.Contains(source)) continue;
        if ((*entry)->scope == memory && (*entry)->attach_scope == scope() &&
            (*entry)->element == WithLanes(alloc->dtype(), 1) &&
            (*entry)->constant_bits == ConstantBits(*alloc) &&
            InPlaceVerifier::Check(stmt, var, source)) {
          storage = *entry;
          in_place.Insert(source);
          break;
        }
      }
    }
    if (storage == nullptr) storage = Find(*alloc, memory);
    storage->allocs.push_back(alloc);
    storage_of_[var] = storage;
  }

  // The innermost scope with memory of its own; null: the function.
  const Node* scope() const {
    return scopes_.empty() ? nullptr : scopes_.back();
  }

  void EnterOrLeave(const Node* scope) {
    if (this->scope() != scope) {
      scopes_.push_back(scope);
      return;
    }
    // Memory that is attached to a scope ends with it.
    std::erase_if(constant_free_, [&](const auto& entry) {
      return entry.second->attach_scope == scope;
    });
    std::erase_if(symbolic_free_, [&](const Storage* storage) {
      return storage->attach_scope == scope;
    });
    scopes_.pop_back();
  }

  // Free memory that fits, or new one.
  Storage* Find(const AllocateNode& alloc, const MemoryScope& memory) {
    // Beyond this ratio of sizes memory is not shared.
    constexpr uint64_t kRange = 16;
    const uint64_t bits = ConstantBits(alloc);
    const DType element = WithLanes(alloc.dtype(), 1);
    const auto fits = [&](const Storage& storage) {
      return storage.attach_scope == scope() && storage.scope == memory;
    };
    const auto fresh = [&] {
      storages_.push_back(
          std::make_unique<Storage>(scope(), memory, element, bits));
      return storages_.back().get();
    };
    if (StaysAlone(memory, alloc.dtype(), bits) ||
        alloc.extents().size() != 1) {
      return fresh();
    }
    if (bits == 0) {
      for (auto it = symbolic_free_.begin(); it != symbolic_free_.end(); ++it) {
        if (!fits(**it) || (*it)->element != element) continue;
        Storage* const storage = *it;
        symbolic_free_.erase(it);
        return storage;
      }
      return fresh();
    }
    const auto take = [&](auto it) {
      Storage* const storage = it->second;
      storage->constant_bits = std::max(storage->constant_bits, bits);
      constant_free_.erase(it);
      return storage;
    };
    const auto begin = constant_free_.lower_bound(bits / kRange);
    const auto middle = constant_free_.lower_bound(bits);
    const uint64_t most = bits > std::numeric_limits<uint64_t>::max() / kRange
                              ? std::numeric_limits<uint64_t>::max()
                              : bits * kRange;
    const auto end = constant_free_.upper_bound(most);
    // Memory that is large enough, the smallest first; then smaller ones, of
    // one element type, the largest first.
    for (auto it = middle; it != end; ++it) {
      if (fits(*it->second) &&
          it->second->bits_offset % BitsOf(alloc.dtype()) == 0) {
        return take(it);
      }
    }
    for (auto it = middle; it != begin;) {
      --it;
      if (fits(*it->second) && it->second->element == element) return take(it);
    }
    return fresh();
  }

  // Registers and small arrays are left to the compiler of the result.
  static bool StaysAlone(const MemoryScope& memory, DType dtype,
                         uint64_t bits) {
    return memory.tag.empty() && (memory.rank >= MemoryRank::kWarp ||
                                  IsHandle(dtype) || (bits > 0 && bits <= 32));
  }

  void Free(const VarNode* var) {
    Storage* const storage = *storage_of_.Find(var);
    if (StaysAlone(storage->scope, storage->allocs[0]->dtype(),
                   storage->constant_bits)) {
      return;
    }
    if (storage->constant_bits != 0) {
      constant_free_.insert({storage->constant_bits, storage});
    } else {
      symbolic_free_.push_back(storage);
    }
  }

  // Makes the allocations of one scope.
  void Allocate(absl::Span<Storage* const> storages) {
    for (size_t i = 0; i < storages.size(); ++i) {
      if (!IsSpecial(storages[i]->scope)) continue;
      for (size_t j = 0; j < i; ++j) {
        if (storages[i]->scope == storages[j]->scope) {
          storages[j]->merged_children.push_back(storages[i]);
          break;
        }
      }
    }
    for (Storage* storage : storages) {
      if (storage->bits_offset != 0) continue;
      if (!storage->merged_children.empty()) {
        AllocateMerged(*storage);
      } else {
        AllocateOne(*storage);
      }
    }
  }

  static Stmt NoOp() { return Evaluate(IntImm(kInt32, 0)); }

  void AllocateOne(Storage& storage) {
    const AllocateNode& first = *storage.allocs[0];
    storage.var = first.var();
    DType dtype = first.dtype();
    bool identical = true;
    for (const AllocateNode* alloc : storage.allocs) {
      if (alloc->dtype().lanes() > dtype.lanes()) dtype = alloc->dtype();
      identical = identical && alloc->dtype() == first.dtype() &&
                  std::equal(alloc->extents().begin(), alloc->extents().end(),
                             first.extents().begin(), first.extents().end(),
                             ExprDeepEqual);
    }
    if (identical) {
      storage.nest = tir::Allocate(
          storage.var, dtype, {first.extents().begin(), first.extents().end()},
          first.condition(),
          storage.allocs.size() == 1 ? first.annotations() : Dict(), NoOp(),
          first.span());
      const auto* declaration = first.body().As<DeclBufferNode>();
      if (declaration != nullptr) storage.hoisted = declaration->buffer();
      return;
    }
    PrimExpr size;  // in bits
    for (const AllocateNode* alloc : storage.allocs) {
      PrimExpr extent = alloc->extents()[0];
      const auto bits = static_cast<int64_t>(BitsOf(alloc->dtype()));
      const auto* imm = extent.As<IntImmNode>();
      if (imm != nullptr &&
          imm->value() > std::numeric_limits<int32_t>::max() / bits) {
        extent = IntImm(DType::Int(64), imm->value());
      }
      extent = Mul(extent, IntImm(kInt32, bits));
      size = size.defined() ? MakeBinary(BinaryOp::kMax, size, extent) : extent;
    }
    const IntImm element_bits(kInt32, static_cast<int64_t>(BitsOf(dtype)));
    const PrimExpr rest = MakeBinary(BinaryOp::kFloorMod, size, element_bits);
    const bool divides =
        analyzer_.CanProve(MakeBinary(BinaryOp::kEQ, rest, IntImm(kInt32, 0)));
    size = MakeBinary(BinaryOp::kFloorDiv, size, element_bits);
    if (!divides) size = Add(size, IntImm(kInt32, 1));
    storage.nest = tir::Allocate(storage.var, dtype, {analyzer_.Simplify(size)},
                                 IntImm::Bool(true), {}, NoOp(), first.span());
  }

  // One allocation for memory of a special scope; parts are aligned.
  void AllocateMerged(Storage& storage) {
    constexpr uint64_t kAlign = 32;  // bits
    const auto aligned = [](uint64_t bits) {
      return (bits + kAlign - 1) / kAlign * kAlign;
    };
    const AllocateNode& first = *storage.allocs[0];
    storage.var = first.var();
    uint64_t total = aligned(storage.constant_bits);
    bool is_constant = storage.constant_bits != 0;
    for (Storage* child : storage.merged_children) {
      is_constant = is_constant && child->constant_bits != 0;
      child->bits_offset = total;
      child->var = storage.var;
      total = aligned(total + child->constant_bits);
    }
    if (!is_constant && status_.ok()) {
      status_ =
          ErrorAt(first.span(),
                  absl::StrCat("allocation of ", storage.var->name(),
                               ": memory of the scope ", storage.var->scope(),
                               " must have a constant size"));
    }
    const uint64_t element = BitsOf(storage.element);
    storage.nest = tir::Allocate(
        storage.var, storage.element,
        {MakeConst(first.extents()[0].dtype(),
                   static_cast<int64_t>((total + element - 1) / element))},
        IntImm::Bool(true), {}, NoOp(), first.span());
  }

  const AccessFinder& finder_;
  std::vector<Events> events_;       // by point; of scopes, by their ends
  std::vector<const Node*> scopes_;  // that have memory of their own
  std::vector<std::unique_ptr<Storage>> storages_;
  NodeMap<Storage*> storage_of_;
  std::multimap<uint64_t, Storage*> constant_free_;
  std::list<Storage*> symbolic_free_;
  std::vector<Storage*> attached_to_function_;
  NodeMap<std::vector<Storage*>> attached_;
  std::vector<const Node*> attach_scopes_;
  Analyzer analyzer_;
  absl::Status status_;
};

class StorageRewriter final : public Rewriter {
 public:
  StorageRewriter(const AccessFinder& finder, const Planner& planner)
      : finder_(finder), planner_(planner) {
    // Declarations that move with their allocations.
    AddHoisted(nullptr);
  }

  Stmt Run(const Stmt& body) { return Attached(nullptr, Rewrite(body)); }
  const absl::Status& status() const { return status_; }

 protected:
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Storage* storage = planner_.StorageOf(buffer->data().get());
    if (storage == nullptr || storage->var == buffer->data()) return buffer;
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      parts.data = storage->var;
      parts.name = storage->var->name();
    });
  }
  PrimExpr VisitVar(const VarNode* node) override {
    const Storage* storage = planner_.StorageOf(node);
    return storage == nullptr ? Var(node) : storage->var;
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    const uint64_t offset = OffsetOf(node->buffer());
    if (offset == 0 || node->indices().empty()) return result;
    const auto* load = result.As<BufferLoadNode>();
    return BufferLoad(load->buffer(), Shifted(load->indices(), offset),
                      load->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    const uint64_t offset = OffsetOf(node->buffer());
    if (offset == 0 || node->indices().empty()) return result;
    const auto* store = result.As<BufferStoreNode>();
    return BufferStore(store->buffer(), store->value(),
                       Shifted(store->indices(), offset), store->span());
  }
  PrimExpr VisitCall(const CallNode* node) override {
    const Op& access_ptr = BATON_OP("tir.tvm_access_ptr");
    PrimExpr result = Rewriter::VisitCall(node);
    if (node->op() != access_ptr || node->args().size() != 5) return result;
    const Storage* storage = planner_.StorageOf(node->args()[1].get());
    if (storage == nullptr || storage->bits_offset == 0) return result;
    const auto* call = result.As<CallNode>();
    std::vector<PrimExpr> args(call->args().begin(), call->args().end());
    const uint64_t bits = BitsOf(args[0].dtype());
    if (bits == 0) return result;
    args[2] = Add(MakeConst(args[2].dtype(),
                            static_cast<int64_t>(storage->bits_offset / bits)),
                  args[2]);
    return Call(call->dtype(), call->op(), std::move(args), call->span());
  }

  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (!BeginsMemoryScope(*node)) {
      Stmt result = Rewriter::VisitAttrStmt(node);
      const Storage* storage = planner_.StorageOf(node->node().get());
      if (node->key() != "volatile_scope" || storage == nullptr) return result;
      const auto* attr = result.As<AttrStmtNode>();
      return AttrStmt(storage->var, attr->key(), attr->value(), attr->body(),
                      attr->span());
    }
    AddHoisted(node);
    Stmt result = Rewriter::VisitAttrStmt(node);
    if (planner_.AttachedTo(node).empty()) return result;
    const auto* attr = result.As<AttrStmtNode>();
    return AttrStmt(attr->node(), attr->key(), attr->value(),
                    Attached(node, attr->body()), attr->span());
  }
  Stmt VisitFor(const ForNode* node) override {
    if (node->for_kind() == ForKind::kVectorized && status_.ok()) {
      status_ = ErrorAt(node->span(),
                        absl::StrCat("loop over ", node->loop_var()->name(),
                                     " is vectorized: tir.VectorizeLoop must "
                                     "run before"));
    }
    AddHoisted(node);
    Stmt result = Rewriter::VisitFor(node);
    if (planner_.AttachedTo(node).empty()) return result;
    ForNode::Parts parts = result.As<ForNode>()->parts();
    parts.body = Attached(node, parts.body);
    return For(std::move(parts), node->span());
  }
  Stmt VisitAllocate(const AllocateNode* node) override {
    return Rewrite(node->body());
  }
  Stmt VisitDeclBuffer(const DeclBufferNode* node) override {
    if (hoisted_.Contains(node->buffer().get()) ||
        !finder_.IsAccessed(node->buffer())) {
      return Rewrite(node->body());
    }
    return Rewriter::VisitDeclBuffer(node);
  }

 private:
  void AddHoisted(const Node* scope) {
    for (const Storage* storage : planner_.AttachedTo(scope)) {
      if (storage->hoisted.defined()) hoisted_.Insert(storage->hoisted.get());
    }
  }

  // `body` within the allocations of a scope.
  Stmt Attached(const Node* scope, Stmt body) {
    const auto storages = planner_.AttachedTo(scope);
    for (auto it = storages.rbegin(); it != storages.rend(); ++it) {
      const Storage& storage = **it;
      if (!storage.nest.defined()) continue;
      if (storage.hoisted.defined()) {
        body = DeclBuffer(RewriteBuffer(storage.hoisted), std::move(body));
      }
      const auto* alloc = storage.nest.As<AllocateNode>();
      body = Allocate(alloc->var(), alloc->dtype(),
                      {alloc->extents().begin(), alloc->extents().end()},
                      alloc->condition(), alloc->annotations(), std::move(body),
                      alloc->span());
    }
    return body;
  }

  // In elements.
  uint64_t OffsetOf(const Buffer& buffer) const {
    const Storage* storage = planner_.StorageOf(buffer->data().get());
    if (storage == nullptr || storage->bits_offset == 0) return 0;
    return storage->bits_offset / static_cast<uint64_t>(buffer->dtype().bits());
  }
  static std::vector<PrimExpr> Shifted(absl::Span<const PrimExpr> indices,
                                       uint64_t offset) {
    std::vector<PrimExpr> result(indices.begin(), indices.end());
    result.back() =
        Add(MakeConst(result.back().dtype(), static_cast<int64_t>(offset)),
            result.back());
    return result;
  }

  const AccessFinder& finder_;
  const Planner& planner_;
  NodeSet hoisted_;
  BufferMap buffers_;
  absl::Status status_;
};

absl::StatusOr<PrimFunc> RewriteStorage(const PrimFunc& function) {
  AccessFinder finder;
  finder.Visit(function->body());
  if (!finder.status().ok()) return finder.status();
  Planner planner(finder);
  planner.Run();
  if (!planner.status().ok()) return planner.status();
  StorageRewriter rewriter(finder, planner);
  PrimFuncNode::Parts parts = function->parts();
  parts.body = rewriter.Run(function->body());
  if (!rewriter.status().ok()) return rewriter.status();
  const PrimFunc planned = parts.body == function->body()
                               ? function
                               : PrimFunc(std::move(parts), function->span());
  return VectorizePointers(planned, {.params = false,
                                     .param_buffers = false,
                                     .constants = false,
                                     .scalar_loads = false,
                                     .allow_untyped = true});
}

}  // namespace

Pass StorageRewrite() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) { return RewriteStorage(function); },
      {.name = "tir.StorageRewrite",
       .doc = "Lets buffers whose lives do not overlap share memory.",
       .needs = {"tir.flat_allocations"}});
}
BATON_REGISTER_PASS_AS("tir.StorageRewrite", StorageRewrite);

}  // namespace baton::tir
