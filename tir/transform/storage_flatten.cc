#include "baton/tir/transform/storage_flatten.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/tir/analysis/buffer_offset.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/analysis/side_effect.h"
#include "baton/tir/arith/analyzing_rewriter.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/apply_layout_transforms.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/tir/transform/te_schedule.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr DType kInt8 = DType::Int(8);

// Knows the ranges of variables, and the values of those that are pure.
class Bounds final : public AnalyzingVisitor {
 protected:
  // A store may change the value of another one.
  void VisitLetStmt(const LetStmtNode* node) override {
    if (DependsOnVariablesOnly(node->value())) {
      return AnalyzingVisitor::VisitLetStmt(node);
    }
    Visitor::VisitLetStmt(node);
  }
  void VisitLet(const LetNode* node) override {
    if (DependsOnVariablesOnly(node->value())) {
      return AnalyzingVisitor::VisitLet(node);
    }
    Visitor::VisitLet(node);
  }

 private:
  static bool DependsOnVariablesOnly(const PrimExpr& value) {
    return SideEffectOf(value) <= CallEffect::kPure;
  }
};

// The scope of memory that threads of the rank `rank` allocate.
absl::string_view ScopeOfThreads(int rank) {
  return rank < 0 ? "global" : rank == 0 ? "shared" : "local";
}

class StorageFlattener final : public Rewriter {
 public:
  StorageFlattener(const StorageFlattenOptions& options,
                   AnalyzingVisitor& bounds)
      : options_(options), bounds_(bounds) {}

  absl::StatusOr<PrimFunc> Flatten(const PrimFunc& function) {
    for (const Buffer& buffer : function->buffers()) {
      AddEntry(buffer, buffer).is_parameter = true;
    }
    PrimFunc result = RewriteBody(function);
    if (!status_.ok()) return status_;
    return result;
  }

 protected:
  PrimExpr VisitVar(const VarNode* node) override {
    const Var* const pointer = pointers_.Find(node);
    return pointer != nullptr ? *pointer : Var(node);
  }

  Stmt VisitAttrStmt(const AttrStmtNode* node) override {
    const auto* buffer = node->node().As<BufferNode>();
    if (node->key() == "buffer_bind_scope") {
      return Fail(node,
                  "buffer_bind_scope, which binds a buffer to a region of "
                  "another one, is not supported");
    }
    if (node->key() == "buffer_dim_align" && buffer != nullptr) {
      return VisitAlignment(node);
    }
    if (node->key() == "thread_extent") {
      const auto* var = node->node().As<IterVarNode>();
      thread_ranks_.push_back(
          var == nullptr ? -1 : ThreadScope(var->thread_tag()).rank);
      Stmt result = Rewriter::VisitAttrStmt(node);
      thread_ranks_.pop_back();
      return result;
    }
    if (buffer == nullptr) return Rewriter::VisitAttrStmt(node);
    if (node->key() == "realize_scope") {
      const auto* scope = node->value().As<StringImmNode>();
      if (scope != nullptr) realize_scopes_[buffer] = scope->value();
      return Rewrite(node->body());
    }
    Stmt body = Rewrite(node->body());
    PrimExpr subject = node->node();
    if (const Entry* entry = entries_.Find(buffer)) {
      subject = node->key() == "double_buffer_scope"
                    ? PrimExpr(entry->flat->data())
                    : PrimExpr(entry->buffer);
    }
    return AttrStmt(std::move(subject), std::string(node->key()),
                    Rewrite(node->value()), std::move(body), node->span());
  }

  Stmt VisitAssertStmt(const AssertStmtNode* node) override {
    if (IsOne(bounds_.Simplify(node->condition()))) {
      return Rewrite(node->body());
    }
    return Rewriter::VisitAssertStmt(node);
  }

  Stmt VisitAllocate(const AllocateNode* node) override {
    Define(node->var());
    const Stmt changed = Rewriter::VisitAllocate(node);
    const auto* result = changed.As<AllocateNode>();
    const bool is_bool = result->dtype() == DType::Bool();
    if (result->extents().size() == 1 && !is_bool) return changed;
    return Allocate(result->var(), is_bool ? kInt8 : result->dtype(),
                    {NumElements(result->extents())}, result->condition(),
                    result->annotations(), result->body(), result->span());
  }

  Stmt VisitAllocateConst(const AllocateConstNode* node) override {
    Define(node->var());
    const Stmt changed = Rewriter::VisitAllocateConst(node);
    const auto* result = changed.As<AllocateConstNode>();
    if (result->extents().size() == 1) return changed;
    return AllocateConst(result->var(), result->dtype(),
                         {NumElements(result->extents())}, result->data(),
                         result->annotations(), result->body(), result->span());
  }

  Stmt VisitLetStmt(const LetStmtNode* node) override {
    if (node->var().dtype() == kHandle) Define(node->var());
    return Rewriter::VisitLetStmt(node);
  }

  PrimExpr VisitLet(const LetNode* node) override {
    if (node->var().dtype() == kHandle) Define(node->var());
    return Rewriter::VisitLet(node);
  }

  Stmt VisitBufferRealize(const BufferRealizeNode* node) override {
    const Buffer& buffer = node->buffer();
    if (const Entry* const known = entries_.Find(buffer.get())) {
      if (known->is_parameter) return VisitRealizedParameter(node);
      return Fail(node, absl::StrCat("buffer ", buffer->name(),
                                     " is realized a second time"));
    }
    if (!buffer->shape().empty() &&
        buffer->shape().size() != node->bounds().size()) {
      return Fail(node, absl::StrCat("buffer ", buffer->name(), " has ",
                                     buffer->shape().size(),
                                     " dimensions and is realized for ",
                                     node->bounds().size()));
    }
    BufferNode::Parts parts = buffer->parts();
    parts.shape.clear();
    std::vector<PrimExpr> offsets;
    for (const Range& bound : node->bounds()) {
      offsets.push_back(Rewrite(bound.min));
      parts.shape.push_back(Rewrite(bound.extent));
    }
    if (parts.strides.empty()) parts.strides = AlignedStrides(buffer, parts);
    parts.elem_offset = PrimExpr();
    const std::string* const named = realize_scopes_.Find(buffer.get());
    std::string scope(parts.data->scope());
    if (named != nullptr && !named->empty()) scope = *named;
    if (scope.empty()) {
      scope = std::string(
          ScopeOfThreads(thread_ranks_.empty() ? -1 : thread_ranks_.back()));
    }
    if (scope != parts.data->scope()) {
      parts.data = Var::Pointer(parts.data->name(), buffer.dtype(), scope,
                                parts.data->span());
      pointers_[buffer->data().get()] = parts.data;
    }
    Entry& added = AddEntry(buffer, Buffer(std::move(parts), buffer->span()));
    added.offsets = std::move(offsets);
    const Entry entry = added;
    Stmt body = Rewrite(node->body());
    entries_.Find(buffer.get())->is_in_scope = false;
    Stmt result = Allocate(
        entry.flat->data(), entry.flat.dtype(),
        {entry.flat->shape().begin(), entry.flat->shape().end()},
        IntImm(DType::Bool(), 1), Dict(), std::move(body), node->span());
    return options_.create_bound_attributes && !entry.buffer->shape().empty()
               ? WithBound(entry.buffer, std::move(result))
               : result;
  }

  Stmt VisitDeclBuffer(const DeclBufferNode* node) override {
    Buffer flat = RewriteBuffer(node->buffer());
    Stmt body = Rewrite(node->body());
    if (flat == node->buffer() && body == node->body()) return DeclBuffer(node);
    return DeclBuffer(std::move(flat), std::move(body), node->span());
  }

  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    accessed_.clear();
    std::vector<PrimExpr> indices(node->indices().begin(),
                                  node->indices().end());
    RewriteAll(indices);
    PrimExpr value = Rewrite(node->value());
    const Entry entry = EntryOf(node->buffer(), node->span());
    if (value.dtype() == DType::Bool()) value = CastTo(kInt8, std::move(value));
    if (!entry.buffer->shape().empty()) accessed_.push_back(entry.buffer);
    Stmt result =
        BufferStore(entry.flat, std::move(value),
                    FlatIndices(entry, std::move(indices)), node->span());
    if (!options_.create_bound_attributes) return result;
    for (const Buffer& buffer : accessed_) {
      result = WithBound(buffer, std::move(result));
    }
    return result;
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    std::vector<PrimExpr> indices(node->indices().begin(),
                                  node->indices().end());
    RewriteAll(indices);
    const Entry entry = EntryOf(node->buffer(), node->span());
    if (!entry.buffer->shape().empty()) accessed_.push_back(entry.buffer);
    PrimExpr result = BufferLoad(
        entry.flat, FlatIndices(entry, std::move(indices)), node->span());
    return node->dtype() == DType::Bool()
               ? CastTo(DType::Bool(), std::move(result))
               : result;
  }

  Stmt VisitPrefetch(const PrefetchNode* node) override {
    const Entry entry = EntryOf(node->buffer(), node->span());
    const size_t rank = node->bounds().size();
    if (rank == 0 || entry.buffer->shape().size() != rank) {
      return Fail(node,
                  "a prefetch must have one range for each axis of its buffer");
    }
    // Axes behind `first` are within one line.
    const int64_t line = std::max<int64_t>(
        1, options_.cache_line_size / ((entry.buffer.dtype().bits() + 7) / 8));
    int64_t block = 1;
    size_t first = rank - 1;
    for (; first > 0; --first) {
      const auto* extent = entry.buffer->shape()[first].As<IntImmNode>();
      if (extent == nullptr || extent->value() < 1 ||
          extent->value() > line / block) {
        break;
      }
      block *= extent->value();
    }
    const PrimExpr stride = IntImm(kInt32, line / block);
    std::vector<Var> vars;
    std::vector<PrimExpr> indices;
    for (size_t i = 0; i < rank; ++i) {
      const PrimExpr min = Rewrite(node->bounds()[i].min);
      if (i > first) {
        indices.push_back(min);
        continue;
      }
      vars.push_back(Var(
          absl::StrCat("prefetch.", node->buffer()->name(), ".", i), kInt32));
      indices.push_back(i == first ? Add(min, Mul(stride, vars[i]))
                                   : Add(vars[i], min));
    }
    PrimExpr element = BufferLoad(
        entry.flat, FlatIndices(entry, std::move(indices)), node->span());
    Stmt result = Evaluate(
        Call(node->buffer().dtype(), BATON_OP("tir.prefetch"),
             {Call(kHandle, BATON_OP("tir.address_of"), {std::move(element)}),
              IntImm(kInt32, 0), IntImm(kInt32, 3), IntImm(kInt32, 1)}));
    for (size_t i = first + 1; i > 0; --i) {
      PrimExpr extent = Rewrite(node->bounds()[i - 1].extent);
      if (i - 1 == first) {
        const PrimExpr one = IntImm(extent.dtype(), 1);
        extent =
            Add(MakeBinary(BinaryOp::kFloorDiv, Sub(extent, one), stride), one);
      }
      result = For({.loop_var = vars[i - 1],
                    .min = IntImm(kInt32, 0),
                    .extent = std::move(extent),
                    .body = std::move(result)},
                   node->span());
    }
    return result;
  }

  Buffer RewriteBuffer(const Buffer& buffer) override {
    return EntryOf(buffer, buffer->span()).flat;
  }

 private:
  struct Entry {
    Buffer buffer;  // with the extents that are allocated
    Buffer flat;
    std::vector<PrimExpr> offsets;  // of indices; empty: none
    bool is_parameter = false;
    bool is_in_scope = true;
  };
  struct Alignment {
    int64_t factor = 0;
    int64_t offset = 0;
  };

  Stmt Fail(const StmtNode* node, absl::string_view problem) {
    if (status_.ok()) status_ = ErrorAt(node->span(), std::string(problem));
    return Stmt(node);
  }

  void Define(const Var& pointer) { defined_[pointer.get()] = true; }

  Entry& AddEntry(const Buffer& key, const Buffer& buffer) {
    kept_.push_back(key);
    Entry& entry = entries_[key.get()];
    entry.buffer = AsBytesIfBool(buffer);
    entry.flat = AsBytesIfBool(FlattenedBuffer(buffer));
    Define(buffer->data());
    return entry;
  }

  Entry EntryOf(const Buffer& buffer, const Span& span) {
    if (const Entry* const entry = entries_.Find(buffer.get())) {
      if (!entry->is_in_scope && status_.ok()) {
        status_ = ErrorAt(span, absl::StrCat("buffer ", buffer->name(),
                                             " is accessed out of its scope"));
      }
      return *entry;
    }
    if (defined_.Find(buffer->data().get()) == nullptr && status_.ok()) {
      status_ = ErrorAt(
          span, absl::StrCat("nothing allocates buffer ", buffer->name()));
    }
    const Entry entry = AddEntry(buffer, buffer);
    return entry;
  }

  std::vector<PrimExpr> FlatIndices(const Entry& entry,
                                    std::vector<PrimExpr> indices) {
    if (indices.size() < entry.offsets.size()) {
      indices.insert(indices.begin(), entry.offsets.size() - indices.size(),
                     IntImm(kInt32, 0));
    }
    for (size_t i = 0; i < entry.offsets.size() && i < indices.size(); ++i) {
      indices[i] = Sub(indices[i], entry.offsets[i]);
    }
    return ElementOffset(entry.buffer, indices);
  }

  // `stmt` with the number of elements of `buffer` as an attribute.
  static Stmt WithBound(const Buffer& buffer, Stmt stmt) {
    PrimExpr bound;
    for (const PrimExpr& extent : buffer->shape()) {
      const PrimExpr lanes = IntImm(extent.dtype(), buffer.dtype().lanes());
      const PrimExpr elements = Mul(lanes, extent);
      bound = bound.defined() ? Mul(bound, elements) : elements;
    }
    return AttrStmt(
        buffer->data(), "buffer_bound",
        Call(kHandle, BATON_OP("tir.tvm_tuple"), {std::move(bound)}),
        std::move(stmt));
  }

  // A parameter that is realized has a shape: the extents must be equal to it.
  Stmt VisitRealizedParameter(const BufferRealizeNode* node) {
    const Buffer& buffer = node->buffer();
    if (buffer->shape().size() != node->bounds().size()) {
      return Fail(node, absl::StrCat("parameter ", buffer->name(), " has ",
                                     buffer->shape().size(),
                                     " dimensions and is realized for ",
                                     node->bounds().size()));
    }
    Stmt result = Rewrite(node->body());
    for (size_t i = 0; i < node->bounds().size(); ++i) {
      const PrimExpr& extent = node->bounds()[i].extent;
      const PrimExpr equal = bounds_.Simplify(
          MakeBinary(BinaryOp::kEQ, buffer->shape()[i], extent));
      if (IsZero(equal)) {
        return Fail(node, absl::StrCat("dimension ", i, " of parameter ",
                                       buffer->name(),
                                       " is realized for another extent"));
      }
      if (IsOne(equal)) continue;
      result = AssertStmt(equal,
                          StringImm(absl::StrCat(
                              "Dim ", i, " of external buffer ", buffer->name(),
                              " is realized for another extent")),
                          std::move(result), node->span());
    }
    return result;
  }

  Stmt VisitAlignment(const AttrStmtNode* node) {
    const auto* tuple = node->value().As<CallNode>();
    std::vector<int64_t> values;
    if (tuple != nullptr) {
      for (const PrimExpr& arg : tuple->args()) {
        if (const auto* value = arg.As<IntImmNode>()) {
          values.push_back(value->value());
        }
      }
    }
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (values.size() != 3 || tuple->args().size() != 3 || values[0] < 0 ||
        values[0] > 64 || values[1] < 1 || values[1] > kMost ||
        values[2] < -kMost || values[2] > kMost) {
      return Fail(node,
                  "buffer_dim_align must have an axis, a factor and an offset");
    }
    std::vector<Alignment>& axes = alignments_[node->node().get()];
    const auto axis = static_cast<size_t>(values[0]);
    if (axis >= axes.size()) axes.resize(axis + 1);
    axes[axis] = {values[1], values[2]};
    return Rewrite(node->body());
  }

  // Strides of a buffer of the shape of `parts` with aligned axes; none for a
  // buffer without alignments.
  std::vector<PrimExpr> AlignedStrides(const Buffer& buffer,
                                       const BufferNode::Parts& parts) {
    const std::vector<Alignment>* const axes = alignments_.Find(buffer.get());
    if (axes == nullptr || parts.shape.empty()) return {};
    std::vector<PrimExpr> strides(parts.shape.size());
    PrimExpr stride = IntImm(parts.shape[0].dtype(), 1);
    for (size_t i = parts.shape.size(); i > 0; --i) {
      const size_t axis = i - 1;
      if (axis < axes->size() && (*axes)[axis].factor != 0) {
        const PrimExpr factor = IntImm(stride.dtype(), (*axes)[axis].factor);
        const PrimExpr offset = IntImm(stride.dtype(), (*axes)[axis].offset);
        stride =
            Add(stride,
                MakeBinary(BinaryOp::kFloorMod,
                           Sub(Add(factor, offset),
                               MakeBinary(BinaryOp::kFloorMod, stride, factor)),
                           factor));
        stride = bounds_.Simplify(stride);
      }
      strides[axis] = stride;
      stride = Mul(stride, parts.shape[axis]);
    }
    return strides;
  }

  const StorageFlattenOptions& options_;
  AnalyzingVisitor& bounds_;
  NodeMap<Entry> entries_;
  std::vector<Buffer> kept_;  // keys of `entries_`
  NodeMap<bool> defined_;     // pointers
  NodeMap<Var> pointers_;     // pointers that got a scope
  NodeMap<std::vector<Alignment>> alignments_;
  NodeMap<std::string> realize_scopes_;
  std::vector<int> thread_ranks_;
  std::vector<Buffer> accessed_;
  absl::Status status_;
};

}  // namespace

Pass StorageFlatten(StorageFlattenOptions options) {
  return CreatePrimFuncPass(
      [options](const PrimFunc& function, const IRModule& /*module*/,
                const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        if (!IsFromTeSchedule(function)) return function;
        BATON_ASSIGN_OR_RETURN(const PrimFunc laid_out,
                               WithLayoutsApplied(function));
        Bounds bounds;
        bounds.Visit(laid_out->body());
        return StorageFlattener(options, bounds).Flatten(laid_out);
      },
      {.name = "tir.StorageFlatten",
       .doc = "Allocates the buffers that a schedule of tensor expressions "
              "realizes, and accesses buffers by one index."},
      options);
}
BATON_REGISTER_PASS_AS("tir.StorageFlatten", StorageFlatten);

}  // namespace baton::tir
