#include "baton/tir/transform/inject_software_pipeline.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/span.h"
#include "baton/ir/structural_equal.h"
#include "baton/tir/analysis/access_region.h"
#include "baton/tir/analysis/conditional_bounds.h"
#include "baton/tir/analysis/tensor_core_fragments.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/arith/int_set.h"
#include "baton/tir/arith/var_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/convert_ssa.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr char kStage[] = "software_pipeline_stage";
constexpr char kOrder[] = "software_pipeline_order";
constexpr char kAsyncStages[] = "software_pipeline_async_stages";

PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }
PrimExpr FloorMod(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kFloorMod, a, b);
}
PrimExpr Less(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kLT, a, b);
}
PrimExpr Product(absl::Span<const PrimExpr> factors) {
  PrimExpr result = Int(1);
  for (const PrimExpr& factor : factors) result = Mul(result, factor);
  return result;
}

Stmt Realize(const Block& block, PrimExpr predicate = IntImm::Bool(true)) {
  return BlockRealize({}, std::move(predicate), block);
}

Block WithBody(const Block& block, Stmt body) {
  BlockNode::Parts parts = block->parts();
  parts.body = std::move(body);
  return Block(std::move(parts), block->span());
}

// The block of a statement that only runs one; else a new one around it.
Block BlockOf(const Stmt& body, const BuffersByPointer& buffers) {
  const auto* realize = body.As<BlockRealizeNode>();
  if (realize != nullptr && IsOne(realize->predicate())) {
    return realize->block();
  }
  BlockNode::Parts parts;
  parts.body = body;
  ReadWriteRegions regions = FindBlockReadWriteRegions(Block(parts), buffers);
  parts.reads = std::move(regions.reads);
  parts.writes = std::move(regions.writes);
  return Block(std::move(parts));
}

// A part of the body of a pipeline.
struct Part {
  Block block;
  int64_t stage = 0;
  int64_t order = 0;
  bool is_async = false;
};

using Versions = FlatHashMap<const BufferNode*, Buffer>;

// Takes the version of a step in accesses of buffers that have several.
class VersionRewriter final : public Rewriter {
 public:
  VersionRewriter(const BuffersByPointer& buffers, const Versions& versions,
                  const ForNode* loop, bool all_versions,
                  const VarMap<Fragment>& fragments)
      : buffers_(buffers),
        versions_(versions),
        loop_(loop),
        all_versions_(all_versions),
        fragments_(fragments) {}
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitBlock(const BlockNode* node) override {
    for (const Buffer& buffer : node->alloc_buffers()) {
      buffers_.Set(buffer->data(), buffer);
    }
    const Stmt result = Rewriter::VisitBlock(node);
    for (const Buffer& buffer : node->alloc_buffers()) {
      buffers_.Erase(buffer->data().get());
    }
    const auto* block = result.As<BlockNode>();
    BlockNode::Parts parts = block->parts();
    bool changed = false;
    for (auto* regions : {&parts.reads, &parts.writes}) {
      for (BufferRegion& region : *regions) {
        const Buffer* version = VersionOf(region->buffer());
        if (version == nullptr) continue;
        std::vector<Range> ranges = {all_versions_
                                         ? Range{Int(0), (*version)->shape()[0]}
                                         : Range{Step(*version), Int(1)}};
        ranges.insert(ranges.end(), region->region().begin(),
                      region->region().end());
        region = BufferRegion(*version, std::move(ranges), region->span());
        changed = true;
      }
    }
    return changed ? Block(std::move(parts), block->span()) : Block(block);
  }
  Stmt VisitBufferStore(const BufferStoreNode* node) override {
    Stmt result = Rewriter::VisitBufferStore(node);
    const auto* store = result.As<BufferStoreNode>();
    const Buffer* version = VersionOf(store->buffer());
    if (version == nullptr) return result;
    return BufferStore(*version, store->value(),
                       WithStep(*version, store->indices()), store->span());
  }
  PrimExpr VisitBufferLoad(const BufferLoadNode* node) override {
    PrimExpr result = Rewriter::VisitBufferLoad(node);
    const auto* load = result.As<BufferLoadNode>();
    const Buffer* version = VersionOf(load->buffer());
    if (version == nullptr) return result;
    return BufferLoad(*version, WithStep(*version, load->indices()),
                      load->span());
  }
  PrimExpr VisitCall(const CallNode* node) override {
    PrimExpr result = Rewriter::VisitCall(node);
    const auto* call = result.As<CallNode>();
    const Expr& op = call->op();
    if (op == BATON_OP("tir.tvm_load_matrix_sync") ||
        op == BATON_OP("tir.tvm_store_matrix_sync")) {
      return WithFragmentOffsets(call, {{0, 4}});
    }
    if (op == BATON_OP("tir.tvm_mma_sync")) {
      return WithFragmentOffsets(call, {{0, 1}, {2, 3}, {4, 5}, {6, 7}});
    }
    if (op == BATON_OP("tir.tvm_access_ptr")) return WithOffsets(call, {1});
    if (op == BATON_OP("tir.ptx_mma")) return WithOffsets(call, {6, 8, 10});
    if (op == BATON_OP("tir.ptx_ldmatrix")) return WithOffsets(call, {3});
    return result;
  }

 private:
  const Buffer* VersionOf(const Buffer& buffer) const {
    const auto found = versions_.find(buffer.get());
    return found == versions_.end() ? nullptr : &found->second;
  }
  PrimExpr Step(const Buffer& version) const {
    return FloorMod(Sub(loop_->loop_var(), loop_->min()), version->shape()[0]);
  }
  std::vector<PrimExpr> WithStep(const Buffer& version,
                                 absl::Span<const PrimExpr> indices) const {
    std::vector<PrimExpr> result = {Step(version)};
    result.insert(result.end(), indices.begin(), indices.end());
    return result;
  }
  // The buffer whose pointer an argument is; null if there is none.
  const Buffer* BufferOfArg(const CallNode* call, size_t arg) {
    const auto* pointer = arg + 1 < call->args().size()
                              ? call->args()[arg].As<VarNode>()
                              : nullptr;
    const Buffer* buffer =
        pointer == nullptr ? nullptr : buffers_.Find(pointer);
    if (buffer == nullptr) {
      Fail(call->span(),
           absl::StrCat("argument ", arg, " is no pointer of a buffer"));
    }
    return buffer;
  }

  struct FragmentArg {
    size_t pointer;
    size_t index;
  };
  PrimExpr WithFragmentOffsets(const CallNode* call,
                               std::vector<FragmentArg> fragment_args) {
    std::vector<PrimExpr> args(call->args().begin(), call->args().end());
    bool changed = false;
    for (const FragmentArg& arg : fragment_args) {
      const Buffer* buffer = BufferOfArg(call, arg.pointer);
      if (buffer == nullptr || arg.index >= args.size()) return Call(call);
      const Buffer* version = VersionOf(*buffer);
      if (version == nullptr) continue;
      const Fragment* fragment = fragments_.Find((*buffer)->data());
      if (fragment == nullptr || fragment->Size() == 0) {
        Fail(call->span(), absl::StrCat((*buffer)->name(), " is no fragment"));
        return Call(call);
      }
      const PrimExpr fragments =
          MakeBinary(BinaryOp::kFloorDiv, Product((*buffer)->shape()),
                     Int(fragment->Size()));
      args[arg.index] = Add(args[arg.index], Mul(Step(*version), fragments));
      changed = true;
    }
    if (!changed) return Call(call);
    return Call(call->dtype(), call->op(), std::move(args), call->span());
  }

  // The index of an element follows its pointer.
  PrimExpr WithOffsets(const CallNode* call, std::vector<size_t> pointers) {
    std::vector<PrimExpr> args(call->args().begin(), call->args().end());
    bool changed = false;
    for (const size_t i : pointers) {
      const Buffer* buffer = BufferOfArg(call, i);
      if (buffer == nullptr) return Call(call);
      const Buffer* version = VersionOf(*buffer);
      if (version == nullptr) continue;
      PrimExpr size = (*version)->strides().empty()
                          ? Product((*buffer)->shape())
                          : (*version)->strides()[0];
      const absl::string_view scope = (*buffer)->scope();
      if (scope == "m16n8k8.matrixA" || scope == "m16n8k8.matrixB") {
        // Each thread of a warp has its part.
        if (!IsZero(FloorMod(size, Int(32)))) {
          Fail(call->span(), absl::StrCat("the size of ", (*buffer)->name(),
                                          " is no multiple of a warp's"));
        }
        size = MakeBinary(BinaryOp::kFloorDiv, size, Int(32));
      }
      args[i + 1] =
          Add(args[i + 1],
              Mul(FloorMod(loop_->loop_var(), (*version)->shape()[0]), size));
      changed = true;
    }
    if (!changed) return Call(call);
    return Call(call->dtype(), call->op(), std::move(args), call->span());
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  BuffersByPointer buffers_;
  const Versions& versions_;
  const ForNode* const loop_;
  const bool all_versions_;
  const VarMap<Fragment>& fragments_;
  absl::Status status_;
};

// Makes one pipeline.
class PipelineBuilder {
 public:
  PipelineBuilder(BuffersByPointer buffers, const NodeSet& double_buffers,
                  std::vector<Buffer> allocs, const ForNode* loop,
                  std::vector<Part> parts, const VarMap<Fragment>& fragments,
                  Dict annotations)
      : buffers_(std::move(buffers)),
        double_buffers_(double_buffers),
        allocs_(std::move(allocs)),
        loop_(loop),
        parts_(std::move(parts)),
        fragments_(fragments),
        annotations_(std::move(annotations)) {
    std::sort(parts_.begin(), parts_.end(),
              [](const Part& a, const Part& b) { return a.order < b.order; });
    for (const Part& part : parts_) {
      max_stage_ = std::max(max_stage_, part.stage);
    }
  }

  absl::StatusOr<Stmt> Build() {
    for (const Buffer& buffer : allocs_) {
      const int64_t count = VersionsOf(buffer);
      if (count > 1) versions_[buffer.get()] = WithVersions(buffer, count);
    }
    const PrimExpr begin = loop_->min();
    const PrimExpr end = Add(loop_->min(), loop_->extent());
    const PrimExpr stages = Int(max_stage_);
    std::vector<Stmt> seq;
    seq.push_back(Emit(begin, Add(begin, stages), /*unroll=*/true));
    seq.push_back(Emit(Add(begin, stages), end, /*unroll=*/false));
    seq.push_back(Emit(end, Add(end, stages), /*unroll=*/true));
    if (!status_.ok()) return status_;
    BlockNode::Parts parts;
    for (const Buffer& alloc : allocs_) {
      const auto version = versions_.find(alloc.get());
      parts.alloc_buffers.push_back(
          version == versions_.end() ? alloc : version->second);
      buffers_.Erase(alloc->data().get());
    }
    const Block block = BlockOf(SeqStmt(std::move(seq)), buffers_);
    parts.reads.assign(block->reads().begin(), block->reads().end());
    parts.writes.assign(block->writes().begin(), block->writes().end());
    parts.body = block->body();
    return Realize(Block(std::move(parts), loop_->span()));
  }

 private:
  // The state of an asynchronous stage over the whole pipeline.
  struct AsyncStage {
    FlatHashSet<const BufferNode*> buffers;
    // The step that it wrote last; null if it is not known.
    PrimExpr last = Int(-1);
  };
  // The state of an asynchronous stage within the prologue, the body, or the
  // epilogue.
  struct LocalStage {
    int64_t wait_before = -1;
    PrimExpr wait_count;
    FlatHashSet<const BufferNode*> seen;
    PrimExpr last;
    PrimExpr predicate;
    std::vector<std::vector<size_t>> groups;
    bool consumed = false;
  };
  struct NewPart {
    int64_t stage;
    PrimExpr predicate;
    Block block;
    PrimExpr step;
    bool is_async;
  };
  using LocalStages = std::map<int64_t, LocalStage>;

  static const BufferRegion* RegionOf(absl::Span<const BufferRegion> regions,
                                      const Buffer& buffer) {
    for (const BufferRegion& region : regions) {
      if (region->buffer() == buffer) return &region;
    }
    return nullptr;
  }
  static bool MayOverlap(const BufferRegion& a, const BufferRegion& b) {
    const size_t axes = std::min(a->region().size(), b->region().size());
    for (size_t i = 0; i < axes; ++i) {
      const IntSet sets[] = {IntSet::FromRange(a->region()[i]),
                             IntSet::FromRange(b->region()[i])};
      if (Intersect(sets).IsNothing()) return false;
    }
    return true;
  }

  int64_t VersionsOf(const Buffer& buffer) const {
    int64_t def = -1;
    int64_t use = -1;
    for (const Part& part : parts_) {
      if (RegionOf(part.block->writes(), buffer) != nullptr) {
        def = def == -1 ? part.stage : std::min(def, part.stage);
      }
      if (RegionOf(part.block->reads(), buffer) != nullptr) {
        use = std::max(use, part.stage);
      }
    }
    if (def == -1) return 1;
    int64_t count = use - def + 1;
    if (count == 2 && !IsWrittenBeforeRead(buffer)) count = 1;
    if (count == 1 && double_buffers_.Contains(buffer.get())) count = 2;
    return count;
  }
  // True if a statement of an earlier stage writes in a step what a later
  // statement of a later stage reads.
  bool IsWrittenBeforeRead(const Buffer& buffer) const {
    for (const Part& writer : parts_) {
      const BufferRegion* write = RegionOf(writer.block->writes(), buffer);
      if (write == nullptr) continue;
      for (const Part& reader : parts_) {
        const BufferRegion* read = RegionOf(reader.block->reads(), buffer);
        if (read != nullptr && writer.order < reader.order &&
            writer.stage < reader.stage && MayOverlap(*write, *read)) {
          return true;
        }
      }
    }
    return false;
  }

  static Buffer WithVersions(const Buffer& buffer, int64_t count) {
    BufferNode::Parts parts = buffer->parts();
    if (!parts.strides.empty() && !parts.shape.empty()) {
      parts.strides.insert(parts.strides.begin(),
                           Mul(parts.strides[0], parts.shape[0]));
    }
    parts.shape.insert(parts.shape.begin(), Int(count));
    return Buffer(std::move(parts), buffer->span());
  }

  Stmt NoOp() const { return Realize(BlockOf(Evaluate(Int(0)), {})); }

  // The steps from `begin` on, before `end`.
  Stmt Emit(const PrimExpr& begin, const PrimExpr& end, bool unroll) {
    const PrimExpr extent = Sub(end, begin);
    if (!analyzer_.CanProve(Less(Int(0), extent))) return NoOp();
    const bool is_one = analyzer_.CanProveEqual(extent, Int(1));
    PrimExpr step = begin;
    Var loop_var;
    Analyzer normalized;
    if (!is_one) {
      loop_var = Var(loop_->loop_var()->name(), loop_->loop_var()->dtype());
      step = loop_var;
      analyzer_.Bind(loop_var, Range{begin, extent});
      normalized.Bind(loop_var, Range{loop_->min(), Sub(extent, loop_->min())});
    }
    const PrimExpr delta = Sub(begin, loop_->min());
    std::vector<NewPart> new_parts;
    LocalStages local;
    FlatHashMap<const BufferNode*, size_t> group_of;
    for (const Part& part : parts_) {
      const PrimExpr skewed = Sub(step, MakeConst(step.dtype(), part.stage));
      PrimExpr inbound = MakeBinary(
          BinaryOp::kAnd,
          analyzer_.Simplify(MakeBinary(BinaryOp::kLE, loop_->min(), skewed)),
          Less(skewed, Add(loop_->min(), loop_->extent())));
      if (analyzer_.CanProve(Negated(inbound))) continue;
      VersionRewriter rewriter(buffers_, versions_, loop_, max_stage_ != 1,
                               fragments_);
      Stmt rewritten = rewriter.Rewrite(part.block);
      if (status_.ok()) status_ = rewriter.status();
      const PrimExpr access = is_one ? skewed : Add(skewed, delta);
      if (!is_one) {
        const PrimExpr shifted = Add(loop_var, delta);
        inbound = Substitute(inbound, [&](const VarNode* var) {
          return var == loop_var.get() ? shifted : PrimExpr();
        });
      }
      rewritten = Substitute(rewritten, [&](const VarNode* var) {
        return var == loop_->loop_var().get() ? access : PrimExpr();
      });
      Block block(rewritten.As<BlockNode>());
      if (part.is_async) {
        block = StartAsync(part, block, access, inbound, new_parts.size(),
                           normalized, local, group_of);
      }
      for (const BufferRegion& read : block->reads()) {
        for (const auto& [stage, state] : async_stages_) {
          if (stage <= part.stage &&
              state.buffers.contains(read->buffer().get())) {
            local[stage].consumed = true;
          }
        }
      }
      new_parts.push_back(
          {part.stage, inbound, std::move(block), access, part.is_async});
    }
    FindWaits(new_parts, group_of, normalized, local);
    std::vector<Stmt> stmts =
        Statements(std::move(new_parts), local, normalized);
    if (stmts.empty()) return NoOp();
    Stmt result = MakeSeq(std::move(stmts));
    if (!is_one) {
      ForNode::Parts parts;
      parts.loop_var = loop_var;
      parts.min = loop_->min();
      parts.extent = extent;
      parts.kind = unroll ? ForKind::kUnrolled : loop_->for_kind();
      parts.annotations = annotations_;
      parts.body = std::move(result);
      result = For(std::move(parts), loop_->span());
    }
    for (const auto& [stage, state] : local) {
      PrimExpr& last = async_stages_[stage].last;
      if (state.predicate.defined() && normalized.CanProve(state.predicate) &&
          last.defined()) {
        last = Add(last, extent);
      } else {
        last = PrimExpr();
      }
    }
    return Realize(BlockOf(result, buffers_));
  }

  // Notes the copy of an asynchronous part; returns its block with the scope.
  Block StartAsync(const Part& part, const Block& block, const PrimExpr& access,
                   const PrimExpr& inbound, size_t index, Analyzer& normalized,
                   LocalStages& local,
                   FlatHashMap<const BufferNode*, size_t>& group_of) {
    LocalStage& state = local[part.stage];
    // After a user of an earlier copy, a new group begins.
    if (state.groups.empty() || state.consumed) {
      state.groups.push_back({index});
    } else {
      state.groups.back().push_back(index);
    }
    for (const BufferRegion& write : block->writes()) {
      async_stages_[part.stage].buffers.insert(write->buffer().get());
      group_of[write->buffer().get()] = state.groups.size() - 1;
      // The buffer must live as long as the sets that have its address.
      kept_.push_back(write->buffer());
    }
    state.last = access;
    if (!state.predicate.defined() || normalized.CanProve(state.predicate)) {
      state.predicate = inbound;
    } else {
      state.predicate = normalized.Simplify(BothHold(state.predicate, inbound));
    }
    return WithBody(block,
                    AttrStmt(Int(0), "async_scope", Int(1), block->body()));
  }

  static PrimExpr BothHold(const PrimExpr& a, const PrimExpr& b) {
    const auto* x = a.As<IntImmNode>();
    const auto* y = b.As<IntImmNode>();
    if (x != nullptr && y != nullptr) {
      return IntImm::Bool((x->value() & y->value()) != 0);
    }
    return Call(DType::Bool(), BATON_OP("tir.bitwise_and"), {a, b});
  }

  // Finds before which parts the copies of a stage are waited for, and how many
  // may then still be under way.
  void FindWaits(const std::vector<NewPart>& parts,
                 const FlatHashMap<const BufferNode*, size_t>& group_of,
                 Analyzer& normalized, LocalStages& local) {
    for (size_t i = 0; i < parts.size(); ++i) {
      const NewPart& part = parts[i];
      if (part.is_async) {
        for (const BufferRegion& write : part.block->writes()) {
          local[part.stage].seen.insert(write->buffer().get());
        }
      }
      const int64_t producer = ProducerOf(part);
      if (producer == -1) continue;
      const AsyncStage& global = async_stages_[producer];
      LocalStage& state = local[producer];
      std::vector<PrimExpr> last;
      if (state.groups.empty()) {
        last.push_back(global.last);
      } else {
        std::vector<bool> counted(state.groups.size(), false);
        for (const BufferRegion& read : part.block->reads()) {
          const BufferNode* buffer = read->buffer().get();
          if (!global.buffers.contains(buffer)) continue;
          const auto group = group_of.find(buffer);
          if (group == group_of.end() || counted[group->second]) continue;
          // A copy that comes later in the step is the one of the step before.
          last.push_back(state.seen.contains(buffer) ? state.last
                                                     : Sub(state.last, Int(1)));
          counted[group->second] = true;
        }
      }
      PrimExpr count = Int(0);
      for (const PrimExpr& head : last) {
        if (!head.defined() ||
            !normalized.CanProve(MakeBinary(BinaryOp::kGE, head, Int(0)))) {
          count = Int(0);
          break;
        }
        count = Add(count, analyzer_.Simplify(Sub(head, part.step)));
      }
      if (!state.wait_count.defined()) {
        state.wait_before = static_cast<int64_t>(i);
        state.wait_count = count;
      } else if (analyzer_.CanProve(Less(count, state.wait_count))) {
        state.wait_count = count;
      }
    }
  }

  // The asynchronous stage that writes what a part reads; -1 if there is none.
  int64_t ProducerOf(const NewPart& part) {
    int64_t producer = -1;
    for (const BufferRegion& read : part.block->reads()) {
      for (const auto& [stage, state] : async_stages_) {
        if (stage > part.stage ||
            !state.buffers.contains(read->buffer().get())) {
          continue;
        }
        if (producer != -1 && producer != stage) {
          Fail(
              "a statement of a pipeline depends on several asynchronous "
              "stages");
        }
        producer = stage;
      }
    }
    return producer;
  }

  std::vector<Stmt> Statements(std::vector<NewPart> parts,
                               const LocalStages& local, Analyzer& normalized) {
    std::vector<int64_t> group_stage(parts.size(), -1);
    for (const auto& [stage, state] : local) {
      for (const std::vector<size_t>& group : state.groups) {
        for (size_t j = 0; j < group.size(); ++j) {
          if (group[0] + j < parts.size()) group_stage[group[0] + j] = stage;
        }
      }
      if (!state.wait_count.defined()) continue;
      PrimExpr count = state.wait_count;
      if (state.predicate.defined() && !normalized.CanProve(state.predicate)) {
        count = Call(kInt32, BATON_OP("tir.if_then_else"),
                     {state.predicate, count, Int(0)});
      }
      Block& block = parts[state.wait_before].block;
      block =
          WithBody(block, AttrStmt(Int(0), "async_wait_queue_scope", Int(stage),
                                   AttrStmt(Int(0), "async_wait_inflight_count",
                                            std::move(count), block->body())));
    }
    std::vector<Stmt> result;
    for (size_t i = 0; i < parts.size();) {
      if (group_stage[i] == -1) {
        result.push_back(Realize(parts[i].block, parts[i].predicate));
        ++i;
        continue;
      }
      const int64_t stage = group_stage[i];
      const PrimExpr predicate = parts[i].predicate;
      std::vector<Stmt> bodies;
      for (; i < parts.size() && group_stage[i] == stage; ++i) {
        if (!StructuralEqual(predicate, parts[i].predicate)) {
          Fail("statements of an asynchronous stage have different conditions");
        }
        AppendFlattened(parts[i].block->body(), bodies);
      }
      result.push_back(
          Realize(BlockOf(AttrStmt(Int(0), "async_commit_queue_scope",
                                   Int(stage), MakeSeq(std::move(bodies))),
                          buffers_),
                  predicate));
    }
    return result;
  }

  void Fail(std::string message) {
    if (status_.ok()) status_ = ErrorAt(loop_->span(), std::move(message));
  }

  Analyzer analyzer_;
  BuffersByPointer buffers_;
  const NodeSet& double_buffers_;
  const std::vector<Buffer> allocs_;
  const ForNode* const loop_;
  std::vector<Part> parts_;  // by order
  const VarMap<Fragment>& fragments_;
  const Dict annotations_;
  int64_t max_stage_ = 0;
  Versions versions_;
  std::map<int64_t, AsyncStage> async_stages_;
  std::vector<Buffer> kept_;
  absl::Status status_;
};

class Injector final : public Rewriter {
 public:
  Injector(const PrimFunc& function, const VarMap<Fragment>& fragments)
      : fragments_(fragments) {
    for (const Buffer& buffer : function->buffers()) {
      buffers_.Set(buffer->data(), buffer);
    }
  }
  const absl::Status& status() const { return status_; }

 protected:
  Stmt VisitBlock(const BlockNode* node) override {
    for (const Buffer& buffer : node->alloc_buffers()) {
      buffers_.Set(buffer->data(), buffer);
    }
    const PrimExpr doubled = node->annotations().Find("double_buffer_scope");
    if (const auto* index = doubled.As<IntImmNode>()) {
      if (index->value() < 0 ||
          index->value() >= static_cast<int64_t>(node->writes().size())) {
        Fail(node->span(),
             absl::StrCat("double_buffer_scope is ", index->value(),
                          ", but the block writes ", node->writes().size(),
                          " regions"));
      } else {
        double_buffers_.Insert(node->writes()[index->value()]->buffer().get());
      }
    }
    Stmt result = Rewriter::VisitBlock(node);
    for (const Buffer& buffer : node->alloc_buffers()) {
      buffers_.Erase(buffer->data().get());
    }
    return result;
  }

  Stmt VisitFor(const ForNode* node) override {
    const Stmt visited = Rewriter::VisitFor(node);
    const PrimExpr stages = node->annotations().Find(kStage);
    const PrimExpr orders = node->annotations().Find(kOrder);
    if (!stages.defined() && !orders.defined()) return visited;
    if (!stages.defined() || !orders.defined()) {
      Fail(node->span(),
           absl::StrCat("a loop with ", stages.defined() ? kStage : kOrder,
                        " has no ", stages.defined() ? kOrder : kStage));
      return visited;
    }
    if (!status_.ok()) return visited;
    absl::StatusOr<Stmt> result = Pipeline(node, visited.As<ForNode>());
    if (!result.ok()) {
      status_ = result.status();
      return visited;
    }
    return *std::move(result);
  }

 private:
  absl::StatusOr<Stmt> Pipeline(const ForNode* original, const ForNode* loop) {
    Stmt body = loop->body();
    std::vector<Buffer> allocs;
    if (const auto* realize = body.As<BlockRealizeNode>()) {
      const Block& block = realize->block();
      allocs.assign(block->alloc_buffers().begin(),
                    block->alloc_buffers().end());
      body = Stmt(block->body());
    }
    for (const Buffer& buffer : allocs) buffers_.Set(buffer->data(), buffer);
    const auto* seq = body.As<SeqStmtNode>();
    if (seq == nullptr) {
      return ErrorAt(
          loop->span(),
          "the body of a software pipeline must be a sequence of statements");
    }
    std::vector<Block> blocks;
    for (const Stmt& stmt : seq->seq()) {
      const auto* realize = stmt.As<BlockRealizeNode>();
      const auto* inner = realize != nullptr && IsOne(realize->predicate())
                              ? realize->block()->body().As<SeqStmtNode>()
                              : nullptr;
      if (inner == nullptr) {
        blocks.push_back(BlockOf(stmt, buffers_));
        continue;
      }
      if (!realize->block()->match_buffers().empty()) {
        return ErrorAt(stmt->span(),
                       "a block of a pipeline matches buffers: run "
                       "tir.LowerMatchBuffer first");
      }
      for (const Buffer& buffer : realize->block()->alloc_buffers()) {
        allocs.push_back(buffer);
        buffers_.Set(buffer->data(), buffer);
      }
      for (const Stmt& part : inner->seq()) {
        blocks.push_back(BlockOf(part, buffers_));
      }
    }
    std::vector<Part> parts;
    BATON_ASSIGN_OR_RETURN(parts, PartsOf(original, blocks));
    BATON_RETURN_IF_ERROR(CheckDependences(original, parts));
    std::vector<Dict::Entry> entries = original->annotations().Entries();
    std::erase_if(entries, [](const Dict::Entry& entry) {
      return entry.first == kStage || entry.first == kOrder ||
             entry.first == kAsyncStages;
    });
    absl::StatusOr<Stmt> result =
        PipelineBuilder(buffers_, double_buffers_, std::move(allocs), original,
                        std::move(parts), fragments_,
                        Dict::Of(std::move(entries)))
            .Build();
    if (const auto* realize = original->body().As<BlockRealizeNode>()) {
      for (const Buffer& buffer : realize->block()->alloc_buffers()) {
        buffers_.Erase(buffer->data().get());
      }
    }
    return result;
  }

  static absl::StatusOr<std::vector<int64_t>> Integers(const ForNode* loop,
                                                       absl::string_view key) {
    const PrimExpr value = loop->annotations().Find(key);
    std::vector<int64_t> result;
    if (!value.defined()) return result;
    const auto* list = value.As<ListNode>();
    if (list != nullptr) {
      for (const PrimExpr& item : list->items()) {
        const auto* imm = item.As<IntImmNode>();
        if (imm != nullptr) result.push_back(imm->value());
      }
      if (result.size() == list->items().size()) return result;
    }
    return ErrorAt(loop->span(), absl::StrCat(key, " is no list of integers"));
  }

  static absl::StatusOr<std::vector<Part>> PartsOf(
      const ForNode* loop, const std::vector<Block>& blocks) {
    std::vector<int64_t> stages;
    BATON_ASSIGN_OR_RETURN(stages, Integers(loop, kStage));
    std::vector<int64_t> orders;
    BATON_ASSIGN_OR_RETURN(orders, Integers(loop, kOrder));
    std::vector<int64_t> async_stages;
    BATON_ASSIGN_OR_RETURN(async_stages, Integers(loop, kAsyncStages));
    if (stages.size() != blocks.size() || orders.size() != blocks.size()) {
      return ErrorAt(
          loop->span(),
          absl::StrCat("a pipeline of ", blocks.size(), " statements has ",
                       stages.size(), " stages and ", orders.size(),
                       " places in their order"));
    }
    std::vector<Part> parts;
    std::set<int64_t> used;
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (!used.insert(orders[i]).second) {
        return ErrorAt(loop->span(),
                       absl::StrCat("two statements of a pipeline have the "
                                    "place ",
                                    orders[i], " in their order"));
      }
      if (orders[i] < 0 || orders[i] >= static_cast<int64_t>(blocks.size()) ||
          stages[i] < 0) {
        return ErrorAt(loop->span(),
                       "a stage or a place in the order of a pipeline is out "
                       "of range");
      }
      parts.push_back({blocks[i], stages[i], orders[i],
                       std::find(async_stages.begin(), async_stages.end(),
                                 stages[i]) != async_stages.end()});
    }
    return parts;
  }

  // A statement must not come before one that it depends on.
  static absl::Status CheckDependences(const ForNode* loop,
                                       const std::vector<Part>& parts) {
    FlatHashMap<const VarNode*, std::vector<size_t>> writers;
    for (size_t i = 0; i < parts.size(); ++i) {
      for (const BufferRegion& read : parts[i].block->reads()) {
        const auto found = writers.find(read->buffer()->data().get());
        if (found == writers.end()) continue;
        for (const size_t writer : found->second) {
          const Part& before = parts[writer];
          if (before.stage > parts[i].stage ||
              (before.stage == parts[i].stage &&
               before.order >= parts[i].order)) {
            return ErrorAt(
                loop->span(),
                absl::StrCat("statement ", i, " of a pipeline reads ",
                             read->buffer()->name(), ", which statement ",
                             writer, " writes in a later stage or after it"));
          }
        }
      }
      for (const BufferRegion& write : parts[i].block->writes()) {
        writers[write->buffer()->data().get()].push_back(i);
      }
    }
    return absl::OkStatus();
  }

  void Fail(const Span& span, std::string message) {
    if (status_.ok()) status_ = ErrorAt(span, std::move(message));
  }

  const VarMap<Fragment>& fragments_;
  BuffersByPointer buffers_;
  NodeSet double_buffers_;
  absl::Status status_;
};

}  // namespace

Pass InjectSoftwarePipeline() {
  return CreatePrimFuncPass(
      [](PrimFunc function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_ASSIGN_OR_RETURN(const VarMap<Fragment> fragments,
                               FindFragments(function->body()));
        Injector injector(function, fragments);
        Stmt body = injector.Rewrite(function->body());
        if (!injector.status().ok()) return injector.status();
        body = ConvertSSA(body);
        if (body == function->body()) return function;
        PrimFuncNode::Parts parts = function->parts();
        parts.body = std::move(body);
        return PrimFunc(std::move(parts), function->span());
      },
      {.name = "tir.InjectSoftwarePipeline",
       .doc = "Runs the stages of a loop's body for different steps side by "
              "side.",
       .idempotent = true});
}
BATON_REGISTER_PASS_AS("tir.InjectSoftwarePipeline", InjectSoftwarePipeline);

}  // namespace baton::tir
