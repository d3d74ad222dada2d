#include "baton/tir/transform/merge_dynamic_shared_memory_allocations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

bool IsDynamic(const Var& pointer) {
  return MemoryScope(pointer->scope()) == MemoryScope("shared.dyn");
}

// Bytes of a lane, as the reference counts them here.
int64_t LaneBytes(DType dtype) { return (dtype.bits() + 7) / 8; }

// The constant number of elements; 0 if it is not constant.
int64_t ConstantElements(const AllocateNode* alloc) {
  int64_t result = 1;
  for (const PrimExpr& extent : alloc->extents()) {
    const auto* imm = extent.As<IntImmNode>();
    if (imm == nullptr ||
        __builtin_mul_overflow(result, imm->value(), &result) ||
        result > (int64_t{1} << 40)) {
      return 0;
    }
  }
  return result;
}

// A statement of the linear sequence; one with others inside is there twice.
struct Point {
  const StmtNode* stmt = nullptr;
  // To the other point of the statement: positive at its begin.
  int64_t other = 0;
  std::vector<const VarNode*> touched;
};

// Makes the linear sequence of accesses. Accesses within statements that are
// deeper than the allocation belong to the statement at its level.
class Linearizer final : public Visitor {
 public:
  const std::vector<Point>& points() const { return points_; }
  const NodeMap<const AllocateNode*>& allocations() const {
    return allocations_;
  }
  int dynamic() const { return dynamic_; }
  const absl::Status& status() const { return status_; }

 protected:
  void VisitAllocate(const AllocateNode* node) override {
    if (IsDynamic(node->var())) {
      allocations_[node->var().get()] = node;
      levels_[node->var().get()] = open_.size();
      ++dynamic_;
      if (node->extents().size() != 1) {
        Fail(node->span(), "dynamic shared memory that is not flat");
      }
    }
    Visitor::VisitAllocate(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    open_.emplace_back();
    Visitor::VisitBufferStore(node);
    Touch(node->buffer()->data().get(), node->span());
    CloseLeaf(node);
  }
  void VisitEvaluate(const EvaluateNode* node) override {
    open_.emplace_back();
    Visitor::VisitEvaluate(node);
    CloseLeaf(node);
  }
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Visitor::VisitBufferLoad(node);
    Touch(node->buffer()->data().get(), node->span());
  }
  void VisitVar(const VarNode* node) override { Touch(node, node->span()); }
  void VisitCall(const CallNode* node) override {
    if (node->op() == BATON_OP("tir.address_of") && node->args().size() == 1) {
      if (const auto* load = node->args()[0].As<BufferLoadNode>()) {
        VisitAll(load->indices());
        return;
      }
    }
    Visitor::VisitCall(node);
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() == "thread_extent" && !in_kernel_) {
      in_kernel_ = true;
      const int64_t begin = Open(node);
      Visitor::VisitAttrStmt(node);
      Close(node, begin);
      in_kernel_ = false;
    } else if (node->key() == "extern_scope" ||
               node->key() == "virtual_thread") {
      const int64_t begin = Open(node);
      Visitor::VisitAttrStmt(node);
      Close(node, begin);
    } else {
      Visitor::VisitAttrStmt(node);
    }
  }
#define BATON_TIR_OPEN(Name)                          \
  void Visit##Name(const Name##Node* node) override { \
    const int64_t begin = Open(node);                 \
    Visitor::Visit##Name(node);                       \
    Close(node, begin);                               \
  }
  BATON_TIR_OPEN(IfThenElse)
  BATON_TIR_OPEN(For)
  BATON_TIR_OPEN(While)
  BATON_TIR_OPEN(AssertStmt)
#undef BATON_TIR_OPEN

 private:
  void Touch(const VarNode* pointer, const Span& span) {
    const size_t* level = levels_.Find(pointer);
    if (level == nullptr) return;
    if (*level >= open_.size()) {
      Fail(span, "dynamic shared memory is used outside of a statement");
      return;
    }
    open_[*level].push_back(pointer);
  }
  void CloseLeaf(const StmtNode* stmt) {
    if (!open_.back().empty()) {
      points_.push_back({stmt, 0, std::move(open_.back())});
    }
    open_.pop_back();
  }
  int64_t Open(const StmtNode* stmt) {
    open_.emplace_back();
    points_.push_back({stmt, 0, {}});
    return static_cast<int64_t>(points_.size()) - 1;
  }
  void Close(const StmtNode* stmt, int64_t begin) {
    const int64_t end = static_cast<int64_t>(points_.size());
    points_.push_back({stmt, begin - end, std::move(open_.back())});
    points_[begin].other = end - begin;
    open_.pop_back();
  }
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  bool in_kernel_ = false;
  int dynamic_ = 0;
  std::vector<Point> points_;
  // The variables of allocations that each enclosing statement touches; those of
  // the outermost statement first.
  std::vector<std::vector<const VarNode*>> open_;
  NodeMap<const AllocateNode*> allocations_;
  NodeMap<size_t> levels_;
  absl::Status status_;
};

// Plans which allocations share memory.
class MemoryPlan {
 public:
  explicit MemoryPlan(const NodeMap<const AllocateNode*>& allocations)
      : allocations_(allocations) {}

  void Run(const std::vector<Point>& points) {
    NodeMap<Events> events;
    NodeSet dead;
    for (size_t i = points.size(); i != 0; --i) {
      const Point& point = points[i - 1];
      for (const VarNode* pointer : point.touched) {
        if (dead.Insert(pointer)) events[point.stmt].kill.push_back(pointer);
      }
    }
    NodeSet born;
    for (size_t i = 0; i < points.size(); ++i) {
      if (points[i].other < 0) continue;
      const Point& point = points[i + points[i].other];
      for (const VarNode* pointer : point.touched) {
        if (born.Insert(pointer)) events[point.stmt].gen.push_back(pointer);
      }
    }
    for (const Point& point : points) {
      const Events* found = events.Find(point.stmt);
      if (found == nullptr) continue;
      // In a statement, what it needs last is alive where it needs others
      // first.
      if (point.other >= 0) {
        for (const VarNode* pointer : found->gen) {
          place_of_[pointer] = PlaceFor(*allocations_.Find(pointer));
        }
      }
      if (point.other <= 0) {
        for (const VarNode* pointer : found->kill) Free(pointer);
      }
    }
  }

  // Gives each pointer its offset in bytes, and returns the size of all.
  PrimExpr Offsets(NodeMap<PrimExpr>& offsets) const {
    std::vector<const Place*> places;
    for (const auto& [bits, place] : free_) places.push_back(place);
    for (const Place* place : free_symbolic_) places.push_back(place);
    for (const Place* place : small_) places.push_back(place);
    size_t layers = 0;
    for (const Place* place : places) {
      layers = std::max(layers, place->layers.size());
    }
    std::vector<int64_t> align(layers, 0);
    for (const Place* place : places) {
      for (size_t i = 0; i < place->layers.size(); ++i) {
        for (const VarNode* pointer : place->layers[i]) {
          align[i] = std::max(align[i], LaneBytes(AllocOf(pointer)->dtype()));
        }
      }
    }
    PrimExpr total = IntImm(kInt32, 0);
    for (const Place* place : places) {
      PrimExpr size = IntImm(kInt32, 0);
      for (size_t i = 0; i < place->layers.size(); ++i) {
        const PrimExpr multiple = IntImm(kInt32, align[i]);
        PrimExpr offset = IntImm(kInt32, 0);
        for (const VarNode* pointer : place->layers[i]) {
          const AllocateNode* alloc = AllocOf(pointer);
          offsets[pointer] = Add(total, offset);
          offset = Add(offset, Mul(alloc->extents()[0],
                                   IntImm(kInt32, LaneBytes(alloc->dtype()))));
          const PrimExpr rest =
              MakeBinary(BinaryOp::kFloorMod, offset, multiple);
          offset = Add(offset, MakeBinary(BinaryOp::kFloorMod,
                                          Sub(multiple, rest), multiple));
        }
        size = MakeBinary(BinaryOp::kMax, size, offset);
      }
      total = Add(total, size);
    }
    return total;
  }

 private:
  using Pointers = std::vector<const VarNode*>;
  struct Events {
    Pointers gen;
    Pointers kill;
  };
  // Memory: the pointers of a layer lie side by side, layers upon each other.
  struct Place {
    int64_t bits = 0;  // 0: not constant
    std::vector<Pointers> layers;
  };
  static constexpr int64_t kSmallBits = 32;
  static constexpr int64_t kMatchRange = 16;

  const AllocateNode* AllocOf(const VarNode* pointer) const {
    return *allocations_.Find(pointer);
  }
  Place* NewPlace(const AllocateNode* alloc, int64_t bits) {
    places_.push_back({bits, {{alloc->var().get()}}});
    Place* place = &places_.back();
    if (bits > 0 && bits <= kSmallBits) small_.push_back(place);
    return place;
  }
  Place* PlaceFor(const AllocateNode* alloc) {
    const int64_t bits = ConstantElements(alloc) * alloc->dtype().bits() *
                         alloc->dtype().lanes();
    if (bits > 0 && bits <= kSmallBits) return NewPlace(alloc, bits);
    if (bits == 0) {
      if (free_symbolic_.empty()) return NewPlace(alloc, bits);
      Place* place = free_symbolic_.front();
      free_symbolic_.pop_front();
      place->layers.push_back({alloc->var().get()});
      return place;
    }
    const auto mid = free_.lower_bound(bits);
    if (mid != free_.end() && mid->first <= bits * kMatchRange) {
      Place* place = mid->second;
      place->bits = std::max(bits, place->bits);
      free_.erase(mid);
      place->layers.push_back({alloc->var().get()});
      return place;
    }
    // Smaller ones, which together are large enough.
    std::vector<Pointers> layers;
    std::vector<std::multimap<int64_t, Place*>::iterator> taken;
    int64_t sum = 0;
    for (auto it = mid; it != free_.begin() && sum < bits;) {
      --it;
      taken.push_back(it);
      sum += it->second->bits;
      const std::vector<Pointers>& others = it->second->layers;
      if (others.size() > layers.size()) layers.resize(others.size());
      for (size_t i = 0; i < others.size(); ++i) {
        layers[i].insert(layers[i].end(), others[i].begin(), others[i].end());
      }
    }
    if (sum == 0) return NewPlace(alloc, bits);
    layers.push_back({alloc->var().get()});
    for (const auto& it : taken) free_.erase(it);
    places_.push_back({std::max(bits, sum), std::move(layers)});
    return &places_.back();
  }
  void Free(const VarNode* pointer) {
    Place* const* found = place_of_.Find(pointer);
    if (found == nullptr) return;
    Place* const place = *found;
    if (place->bits > 0 && place->bits <= kSmallBits) return;
    if (place->bits != 0) {
      free_.insert({place->bits, place});
    } else {
      free_symbolic_.push_back(place);
    }
  }

  const NodeMap<const AllocateNode*>& allocations_;
  std::deque<Place> places_;
  NodeMap<Place*> place_of_;
  std::multimap<int64_t, Place*> free_;
  std::deque<Place*> free_symbolic_;
  std::vector<Place*> small_;
};

class Merger final : public Rewriter {
 public:
  Merger(NodeMap<PrimExpr>& offsets, PrimExpr size)
      : offsets_(offsets), size_(std::move(size)) {}
  const absl::Status& status() const { return status_; }
  bool allocated() const { return allocated_; }

 protected:
  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    if (node->key() != "thread_extent" || allocated_) {
      return Rewriter::VisitAttrStmt(node);
    }
    allocated_ = true;
    Stmt body = Allocate(merged_, DType::UInt(8), {size_}, IntImm::Bool(true),
                         Dict(), Rewrite(node->body()), node->span());
    return AttrStmt(node->node(), node->key(), node->value(), std::move(body),
                    node->span());
  }
  Stmt VisitAllocate(const AllocateNode* node) override {
    if (IsDynamic(node->var())) return Rewrite(node->body());
    return Rewriter::VisitAllocate(node);
  }
  Buffer RewriteBuffer(const Buffer& buffer) override {
    if (!IsDynamic(buffer->data())) return buffer;
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      if (parts.shape.size() != 1) {
        Fail(buffer->span(), "dynamic shared memory that is not flat");
      }
      parts.data = merged_;
    });
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    if (!IsDynamic(node->buffer()->data())) return result;
    const auto* load = result.As<BufferLoadNode>();
    return BufferLoad(load->buffer(),
                      IndexIn(node->buffer(), load->indices(), load->span()),
                      load->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    if (!IsDynamic(node->buffer()->data())) return result;
    const auto* store = result.As<BufferStoreNode>();
    return BufferStore(store->buffer(), store->value(),
                       IndexIn(node->buffer(), store->indices(), store->span()),
                       store->span());
  }
  PrimExpr VisitCall(const CallNode* node) override {
    const auto args = node->args();
    if (node->op() == BATON_OP("tir.tvm_access_ptr") && args.size() == 5) {
      const auto* pointer = args[1].As<VarNode>();
      if (pointer != nullptr && IsDynamic(Var(pointer))) {
        const PrimExpr extra = OffsetOf(pointer, args[0].dtype(), node->span());
        return Call(node->dtype(), node->op(),
                    {args[0], merged_, Add(extra, Rewrite(args[2])),
                     Rewrite(args[3]), args[4]},
                    node->span());
      }
    }
    return Rewriter::VisitCall(node);
  }

 private:
  std::vector<PrimExpr> IndexIn(const Buffer& buffer,
                                absl::Span<const PrimExpr> indices,
                                const Span& span) {
    if (indices.size() != 1) {
      Fail(span, "dynamic shared memory that is not flat");
      return {indices.begin(), indices.end()};
    }
    return {
        Add(indices[0], OffsetOf(buffer->data().get(), buffer->dtype(), span))};
  }
  PrimExpr OffsetOf(const VarNode* pointer, DType dtype, const Span& span) {
    const PrimExpr* offset = offsets_.Find(pointer);
    if (offset == nullptr) {
      Fail(span,
           "no statement around this one allocates its dynamic shared memory");
      return IntImm(kInt32, 0);
    }
    return MakeBinary(BinaryOp::kFloorDiv, *offset,
                      IntImm(kInt32, LaneBytes(dtype)));
  }
  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const NodeMap<PrimExpr>& offsets_;
  const PrimExpr size_;
  const Var merged_ =
      Var::Pointer("buf_dyn_shmem", DType::UInt(8), "shared.dyn");
  bool allocated_ = false;
  BufferMap buffers_;
  absl::Status status_;
};

}  // namespace

Pass MergeDynamicSharedMemoryAllocations() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        Linearizer linearizer;
        linearizer.Visit(function->body());
        if (linearizer.dynamic() < 2) return function;
        if (!linearizer.status().ok()) return linearizer.status();
        MemoryPlan plan(linearizer.allocations());
        plan.Run(linearizer.points());
        NodeMap<PrimExpr> offsets;
        const PrimExpr size = plan.Offsets(offsets);
        Merger merger(offsets, size);
        PrimFunc result = merger.RewriteBody(function);
        if (!merger.status().ok()) return merger.status();
        if (!merger.allocated()) {
          return ErrorAt(function->span(),
                         "dynamic shared memory outside of kernels");
        }
        return result;
      },
      {.name = "tir.MergeDynamicSharedMemoryAllocations",
       .doc = "Makes all dynamic shared memory of a kernel one allocation.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.MergeDynamicSharedMemoryAllocations",
                       MergeDynamicSharedMemoryAllocations);

}  // namespace baton::tir
