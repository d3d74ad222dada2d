#include "baton/tir/transform/pointer_value_type_rewrite.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/tir/arith/analyzer.h"
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

enum class Place { kParam, kParamBuffer, kAllocate, kAllocateConst, kLet };

// The types with which memory is declared and accessed.
struct Memory {
  Var var;
  DType element;
  PrimExpr extent;  // the last one; null if it is unknown
  Place place;
  bool is_ambiguous = false;  // declared twice
  // The types of accesses, each once.
  std::vector<DType> accesses;
  // Loads of scalars: an element type, and the coefficient of the index modulo
  // which its value is known.
  std::vector<std::pair<DType, int64_t>> scalar_loads;

  // The element type that it should have.
  DType Preferred(Analyzer& analyzer) const {
    if (is_ambiguous) return element;
    std::vector<DType> bases;
    const auto add_base = [&bases](DType dtype) {
      const DType base = WithLanes(dtype, 1);
      if (std::find(bases.begin(), bases.end(), base) == bases.end()) {
        bases.push_back(base);
      }
    };
    for (const DType dtype : accesses) add_base(dtype);
    for (const auto& load : scalar_loads) add_base(load.first);
    if (bases.size() != 1) return element;
    int lanes = element.lanes();
    if (lanes == 1 && accesses.size() == 1) {
      const int wanted = accesses[0].lanes();
      for (const auto& load : scalar_loads) {
        if (load.second % wanted != 0) return element;
      }
      const ModularSet extents =
          extent.defined() ? analyzer.ModularSetOf(extent) : ModularSet{0, 0};
      if (extents.coeff % wanted == 0 && extents.base % wanted == 0) {
        lanes = wanted;
      }
    }
    return WithLanes(bases[0], lanes);
  }
};

// Bools are stored in bytes.
DType Stored(DType dtype) {
  return dtype.is_bool() ? WithLanes(DType::Int(8), dtype.lanes()) : dtype;
}

bool IsHandle(DType dtype) { return dtype.code() == DType::Code::kHandle; }

class AccessCollector final : public Visitor {
 public:
  AccessCollector(const PrimFunc& function,
                  const VectorizePointersOptions& options)
      : options_(options) {
    for (const Buffer& buffer : function->buffers()) {
      Declare(buffer->data(), buffer->dtype(),
              buffer->shape().empty() ? PrimExpr() : buffer->shape().back(),
              Place::kParamBuffer);
    }
    for (size_t i = 0; i < function->params().size(); ++i) {
      const Var& param = function->params()[i];
      if (param->typed_pointer() &&
          !function->BufferOf(static_cast<int>(i)).defined()) {
        Declare(param, param->element(), {}, Place::kParam);
      }
    }
    Visit(function->body());
  }

  absl::Span<const Memory> memories() const { return memories_; }

 protected:
  void VisitBufferLoad(const BufferLoadNode* node) override {
    Access(node->dtype(), node->buffer()->data().get(), node->indices(), true);
    Visitor::VisitBufferLoad(node);
  }
  void VisitBufferStore(const BufferStoreNode* node) override {
    Access(node->value().dtype(), node->buffer()->data().get(), node->indices(),
           false);
    Visitor::VisitBufferStore(node);
  }
  void VisitCall(const CallNode* node) override {
    const auto args = node->args();
    if (node->op() == BATON_OP("tir.tvm_access_ptr") && args.size() == 5) {
      Access(args[0].dtype(), args[1].As<VarNode>(), {args.data() + 2, 1},
             false);
    } else if (node->op() == BATON_OP("tir.address_of") && args.size() == 1) {
      if (const auto* load = args[0].As<BufferLoadNode>()) {
        Access(load->dtype(), load->buffer()->data().get(), load->indices(),
               false);
      }
    }
    Visitor::VisitCall(node);
  }
  void VisitAllocate(const AllocateNode* node) override {
    Declare(node->var(), node->dtype(),
            node->extents().empty() ? PrimExpr() : node->extents().back(),
            Place::kAllocate);
    Visitor::VisitAllocate(node);
  }
  void VisitAllocateConst(const AllocateConstNode* node) override {
    Declare(node->var(), node->dtype(),
            node->extents().empty() ? PrimExpr() : node->extents().back(),
            Place::kAllocateConst);
    Visitor::VisitAllocateConst(node);
  }
  void VisitLet(const LetNode* node) override {
    DeclareLet(node->var());
    Visitor::VisitLet(node);
  }
  void VisitLetStmt(const LetStmtNode* node) override {
    DeclareLet(node->var());
    Visitor::VisitLetStmt(node);
  }

 private:
  void DeclareLet(const Var& var) {
    if (var->typed_pointer()) {
      Declare(var, var->element(), {}, Place::kLet);
    } else if (IsHandle(var->dtype()) && options_.allow_untyped) {
      Declare(var, var->dtype(), {}, Place::kLet);
    }
  }

  void Declare(const Var& var, DType element, const PrimExpr& extent,
               Place place) {
    const auto [index, is_new] = index_.TryEmplace(var.get());
    if (!is_new) {
      memories_[*index].is_ambiguous = true;
      return;
    }
    *index = memories_.size();
    memories_.push_back({var, Stored(element), extent, place});
  }

  void Access(DType dtype, const VarNode* var,
              absl::Span<const PrimExpr> indices, bool is_load) {
    const size_t* index = index_.Find(var);
    if (index == nullptr) return;
    Memory& memory = memories_[*index];
    dtype = Stored(dtype);
    if (IsHandle(memory.element)) memory.element = WithLanes(dtype, 1);
    const int index_lanes =
        indices.empty() ? 1 : indices.back().dtype().lanes();
    int lanes = memory.element.lanes();
    if (index_lanes * lanes != dtype.lanes()) {
      // Accesses of scalars of memory that is declared as vectors.
      lanes = 1;
      memory.element = WithLanes(memory.element, 1);
    }
    if (!indices.empty()) {
      const auto* ramp = indices.back().As<RampNode>();
      if (ramp != nullptr && IsOne(ramp->stride()) &&
          IsMultiple(ramp->base(), ramp->lanes())) {
        lanes = ramp->lanes();
      }
      if (options_.scalar_loads && is_load && index_lanes == 1) {
        memory.scalar_loads.emplace_back(
            dtype, analyzer_.ModularSetOf(indices.back()).coeff);
        return;
      }
    }
    dtype = WithLanes(dtype, lanes);
    if (std::find(memory.accesses.begin(), memory.accesses.end(), dtype) ==
        memory.accesses.end()) {
      memory.accesses.push_back(dtype);
    }
  }

  bool IsMultiple(const PrimExpr& e, int64_t factor) {
    const ModularSet set = analyzer_.ModularSetOf(e);
    return set.coeff % factor == 0 && set.base % factor == 0;
  }

  const VectorizePointersOptions options_;
  std::vector<Memory> memories_;
  NodeMap<size_t> index_;
  Analyzer analyzer_;
};

// A change of the element type of memory.
struct Change {
  Var before;
  Var after;
  DType element;
  int64_t factor = 1;  // scalars of the old type in one element
};

class PointerRewriter final : public Rewriter {
 public:
  explicit PointerRewriter(std::vector<Change> changes)
      : changes_(std::move(changes)) {
    for (size_t i = 0; i < changes_.size(); ++i) {
      index_[changes_[i].before.get()] = i;
    }
  }

  PrimFunc Run(const PrimFunc& function) {
    PrimFuncNode::Parts parts = function->parts();
    // Remaining uses of the pointers, after accesses have new ones.
    parts.body =
        Substitute(Rewrite(function->body()), [this](const VarNode* var) {
          const Change* change = Find(var);
          return change == nullptr ? PrimExpr() : PrimExpr(change->after);
        });
    for (Var& param : parts.params) {
      const Change* change = Find(param.get());
      if (change != nullptr) param = change->after;
    }
    for (ParamBuffer& param : parts.buffers) {
      param.buffer = RewriteBuffer(param.buffer);
    }
    return PrimFunc(std::move(parts), function->span());
  }

 protected:
  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Change* change = Find(buffer->data().get());
    if (change == nullptr) return buffer;
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      parts.data = change->after;
      parts.dtype = change->element;
      if (!parts.shape.empty()) {
        parts.shape.back() = Divided(parts.shape.back(), change->factor);
      }
    });
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    const PrimExpr result = Rewriter::VisitBufferLoad(node);
    const Change* change = Find(node->buffer()->data().get());
    const auto* load = result.As<BufferLoadNode>();
    if (change == nullptr || load->indices().empty()) return result;
    int64_t lane = -1;
    std::vector<PrimExpr> indices = Indices(load->indices(), *change, lane);
    BufferLoad changed(load->buffer(), std::move(indices), load->span());
    if (lane < 0) return changed;
    return Shuffle({changed}, {IntImm(kInt32, lane)}, load->span());
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    const Stmt result = Rewriter::VisitBufferStore(node);
    const Change* change = Find(node->buffer()->data().get());
    const auto* store = result.As<BufferStoreNode>();
    if (change == nullptr || store->indices().empty()) return result;
    int64_t lane = -1;
    return BufferStore(store->buffer(), store->value(),
                       Indices(store->indices(), *change, lane), store->span());
  }
  PrimExpr VisitCall(const CallNode* node) override {
    const PrimExpr result = Rewriter::VisitCall(node);
    const auto* call = result.As<CallNode>();
    if (call->op() != BATON_OP("tir.tvm_access_ptr") ||
        call->args().size() != 5) {
      return result;
    }
    const Change* change = Find(call->args()[1].As<VarNode>());
    if (change == nullptr) return result;
    const auto args = call->args();
    return Call(change->element, call->op(),
                {Call(change->element, BATON_OP("tir.type_annotation"), {}),
                 change->after, Divided(args[2], change->factor),
                 Divided(args[3], change->factor), args[4]},
                call->span());
  }
  Stmt VisitLetStmt(const LetStmtNode* node) override {
    Stmt result = Rewriter::VisitLetStmt(node);
    const Change* change = Find(node->var().get());
    if (change == nullptr) return result;
    const auto* let = result.As<LetStmtNode>();
    return LetStmt(change->after, let->value(), let->body(), let->span());
  }
  Stmt VisitAllocate(const AllocateNode* node) override {
    Stmt result = Rewriter::VisitAllocate(node);
    const Change* change = Find(node->var().get());
    if (change == nullptr) return result;
    const auto* alloc = result.As<AllocateNode>();
    std::vector<PrimExpr> extents(alloc->extents().begin(),
                                  alloc->extents().end());
    if (!extents.empty()) {
      extents.back() = Divided(extents.back(), change->factor);
    }
    return Allocate(change->after, change->element, std::move(extents),
                    alloc->condition(), alloc->annotations(), alloc->body(),
                    alloc->span());
  }
  Stmt VisitAllocateConst(const AllocateConstNode* node) override {
    Stmt result = Rewriter::VisitAllocateConst(node);
    const Change* change = Find(node->var().get());
    if (change == nullptr) return result;
    const auto* alloc = result.As<AllocateConstNode>();
    std::vector<PrimExpr> extents(alloc->extents().begin(),
                                  alloc->extents().end());
    if (!extents.empty()) {
      extents.back() = Divided(extents.back(), change->factor);
    }
    return AllocateConst(change->after, change->element, std::move(extents),
                         alloc->data(), alloc->annotations(), alloc->body(),
                         alloc->span());
  }

 private:
  const Change* Find(const VarNode* var) const {
    const size_t* index = index_.Find(var);
    return index == nullptr ? nullptr : &changes_[*index];
  }

  static PrimExpr Divided(const PrimExpr& e, int64_t divisor) {
    return MakeBinary(BinaryOp::kDiv, e, MakeConst(e.dtype(), divisor));
  }

  // The indices of vectors; `lane` is that of a scalar, or stays as it is.
  std::vector<PrimExpr> Indices(absl::Span<const PrimExpr> indices,
                                const Change& change, int64_t& lane) {
    std::vector<PrimExpr> result(indices.begin(), indices.end());
    PrimExpr& last = result.back();
    const auto* ramp = last.As<RampNode>();
    if (ramp != nullptr && IsOne(ramp->stride())) {
      PrimExpr vector = Divided(ramp->base(), ramp->lanes());
      if (ramp->lanes() != change.factor) {
        const auto vectors = static_cast<int>(ramp->lanes() / change.factor);
        vector = Ramp(Mul(vector, IntImm(kInt32, vectors)), ramp->stride(),
                      vectors, ramp->span());
      }
      last = vector;
    } else if (last.dtype().lanes() == 1 && change.factor > 1) {
      lane = analyzer_.ModularSetOf(last).base % change.factor;
      if (lane < 0) lane += change.factor;
      last = Divided(last, change.factor);
    }
    return result;
  }

  const std::vector<Change> changes_;
  NodeMap<size_t> index_;
  BufferMap buffers_;
  Analyzer analyzer_;
};

}  // namespace

PrimFunc VectorizePointers(const PrimFunc& function,
                           const VectorizePointersOptions& options) {
  const AccessCollector collector(function, options);
  std::vector<Change> changes;
  Analyzer analyzer;
  for (const Memory& memory : collector.memories()) {
    if ((memory.place == Place::kParam && !options.params) ||
        (memory.place == Place::kParamBuffer && !options.param_buffers) ||
        (memory.place == Place::kAllocateConst && !options.constants)) {
      continue;
    }
    const DType preferred = memory.Preferred(analyzer);
    if (preferred == memory.element) continue;
    changes.push_back({memory.var,
                       Var::Pointer(memory.var->name(), preferred,
                                    memory.var->scope(), memory.var->span()),
                       preferred, preferred.lanes() / memory.element.lanes()});
  }
  if (changes.empty()) return function;
  return PointerRewriter(std::move(changes)).Run(function);
}

Pass PointerValueTypeRewrite() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        return VectorizePointers(function, {});
      },
      {.name = "tir.PointerValueTypeRewrite",
       .doc = "Gives memory that is accessed by vectors only a vector type as "
              "its element type."});
}
BATON_REGISTER_PASS_AS("tir.PointerValueTypeRewrite", PointerValueTypeRewrite);

}  // namespace baton::tir
