#include "baton/tir/transform/lower_thread_allreduce.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/ir/error_at.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/analysis/reduction.h"
#include "baton/tir/analysis/scopes.h"
#include "baton/tir/arith/analyzer.h"
#include "baton/tir/ir/buffer_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/fold.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/intrinsics.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/transform/func_target.h"
#include "baton/tir/transform/prim_func_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"

namespace baton::tir {
namespace {

constexpr DType kMaskType = DType::UInt(32);
// Above the extents of all devices; products of three are in range.
constexpr int64_t kMaxThreads = 65536;

struct Device {
  std::string kind;
  int64_t warp_size = 1;
  int64_t max_num_threads = -1;  // unknown

  bool HasShuffles() const {
    return kind == "cuda" || kind == "rocm" || kind == "metal";
  }
  bool HasShuffleMasks() const { return kind != "metal"; }
};

// The device of the attribute `target`.
absl::StatusOr<Device> DeviceOf(const PrimFunc& function) {
  const Target target = TargetOf(function);
  if (!target.defined()) {
    return ErrorAt(function->span(),
                   "tir.LowerThreadAllreduce needs the attribute `target` of "
                   "the function: run tir.BindTarget first");
  }
  Device device;
  const PrimExpr kind = target->config().Find("kind");
  if (const auto* text = kind.As<StringImmNode>()) device.kind = text->value();
  BATON_ASSIGN_OR_RETURN(device.warp_size, WarpSizeOf(function, target));
  const PrimExpr threads = target->config().Find("max_num_threads");
  if (const auto* imm = threads.As<IntImmNode>()) {
    device.max_num_threads = imm->value();
  }
  return device;
}

PrimExpr Int(int64_t value) { return IntImm(kInt32, value); }
PrimExpr True(int lanes) {
  return MakeConst(WithLanes(DType::Bool(), lanes), 1);
}
PrimExpr Less(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kLT, a, b);
}
PrimExpr Equal(const PrimExpr& a, const PrimExpr& b) {
  return MakeBinary(BinaryOp::kEQ, a, b);
}
PrimExpr ShiftLeft(PrimExpr a, PrimExpr b) {
  MatchTypes(a, b);
  if (IsZero(b)) return a;
  const auto* x = a.As<IntImmNode>();
  const auto* y = b.As<IntImmNode>();
  if (x != nullptr && y != nullptr) {
    return IntImm(a.dtype(),
                  WrapToDType(x->value() << (y->value() & 63), a.dtype()));
  }
  return CallIntrinsic("shift_left", {std::move(a), std::move(b)});
}
PrimExpr BitAnd(PrimExpr a, PrimExpr b) {
  MatchTypes(a, b);
  return CallIntrinsic("bitwise_and", {std::move(a), std::move(b)});
}

Buffer MakeBuffer(int64_t extent, DType dtype, const std::string& name,
                  const char* scope) {
  BufferNode::Parts parts;
  parts.name = name;
  parts.data =
      Var::Pointer(name, dtype == DType::Bool() ? DType::Int(8) : dtype, scope);
  parts.dtype = dtype;
  parts.shape = {Int(extent)};
  return Buffer(std::move(parts));
}

Stmt Barrier(const char* scope) {
  return Evaluate(CallIntrinsic("tvm_storage_sync", {StringImm(scope)}));
}

Stmt Sequence(const std::vector<Stmt>& stmts) {
  std::vector<Stmt> seq;
  for (const Stmt& stmt : stmts) AppendFlattened(stmt, seq);
  return MakeSeq(std::move(seq));
}

struct Thread {
  int axis;
  Var var;
  int64_t extent;
};

// The index of a thread among all of `threads`, and their number.
struct ThreadIndex {
  explicit ThreadIndex(const std::vector<Thread>& threads) {
    for (const Thread& thread : threads) {
      value = value.defined() ? Add(value, Mul(thread.var, Int(extent)))
                              : PrimExpr(thread.var);
      extent *= thread.extent;
    }
    if (!value.defined()) value = Int(0);
  }
  PrimExpr value;
  int64_t extent = 1;
};

// The threads of a reduction: `reduce` of them reduce to one value, in each of
// the groups of `group`.
struct Threads {
  ThreadIndex reduce;
  ThreadIndex group;
  // The threads that reduce and follow each other.
  int64_t contiguous;
};

// The results of a round of shuffles, and its local buffers.
struct WarpResult {
  std::vector<Buffer> results;
  std::vector<Buffer> locals;
};

class AllreduceBuilder {
 public:
  AllreduceBuilder(const Device& device, const CommReducerNode* reducer,
                   const Threads& threads, std::vector<PrimExpr> values)
      : device_(device),
        reducer_(reducer),
        threads_(threads),
        values_(std::move(values)) {
    for (const PrimExpr& value : values_) types_.push_back(value.dtype());
  }

  // The buffers that have the results, their elements, and all statements.
  std::vector<Buffer> result_buffers;
  std::vector<PrimExpr> results;

  Stmt Build(const std::vector<Buffer>& buffers) {
    if (IsWarpReduction()) {
      BuildByShuffles(buffers);
    } else {
      BuildBySharedMemory();
    }
    Stmt body = Sequence(seq_);
    for (const Buffer& buffer : new_buffers_) {
      body = DeclBuffer(buffer, std::move(body));
      body = Allocate(buffer->data(), buffer.dtype(),
                      {buffer->shape().begin(), buffer->shape().end()},
                      True(buffer.dtype().lanes()), {}, std::move(body));
    }
    return body;
  }

 private:
  size_t num_values() const { return values_.size(); }
  const PrimExpr& reduce_index() const { return threads_.reduce.value; }
  const PrimExpr& group_index() const { return threads_.group.value; }

  bool IsWarpReduction() const {
    if (!device_.HasShuffles()) return false;
    for (const DType type : types_) {
      if (device_.kind == "rocm" &&
          (type.lanes() > 1 || !type.is_int() || type.bits() != 32)) {
        return false;
      }
      if (type.is_half()) {
        if (type.lanes() > 2) return false;
      } else if (type.lanes() > 1 || type.bits() < 32 || type.bits() > 64) {
        return false;
      }
    }
    const int64_t extent = threads_.reduce.extent;
    const int64_t warp = device_.warp_size;
    if (threads_.contiguous != extent) return false;
    if (device_.kind == "rocm") return extent == warp;
    if (extent == 1) return false;
    if (warp % extent == 0) return true;
    if (device_.max_num_threads != -1 &&
        device_.max_num_threads <= warp * warp && extent % warp == 0) {
      return true;
    }
    return threads_.group.extent == 1 && extent <= warp;
  }

  void BuildByShuffles(const std::vector<Buffer>& buffers) {
    const int64_t extent = threads_.reduce.extent;
    const int64_t warp = device_.warp_size;
    PrimExpr mask = CallIntrinsic("tvm_warp_activemask", {});
    const PrimExpr zero = IntImm(reduce_index().dtype(), 0);
    if (extent <= warp) {
      if (threads_.group.extent > 1 && extent < warp) {
        mask = BitAnd(
            mask,
            ShiftLeft(Int(static_cast<int64_t>((uint64_t{1} << extent) - 1)),
                      Mul(Int(extent), CastTo(kMaskType, group_index()))));
      }
      WarpResult round = ReduceWarp(values_, extent, mask, PrimExpr());
      new_buffers_ = round.locals;
      // All threads store the same value.
      for (size_t i = 0; i < num_values(); ++i) {
        const Buffer& buffer = round.results[i];
        PrimExpr value = Shuffle("tvm_warp_shuffle", new_buffers_.back(),
                                 BufferLoad(buffer, {zero}),
                                 Mul(Int(extent), group_index()));
        seq_.push_back(BufferStore(buffer, std::move(value), {zero}));
      }
      result_buffers = round.results;
      for (const Buffer& buffer : result_buffers) {
        results.push_back(BufferLoad(buffer, {Int(0)}));
      }
      return;
    }
    const int64_t num_warps = extent / warp;
    std::vector<Buffer> staging;
    for (size_t i = 0; i < num_values(); ++i) {
      staging.push_back(MakeBuffer(num_warps * threads_.group.extent,
                                   buffers[i].dtype(), "red_buf_staging",
                                   "shared"));
      new_buffers_.push_back(staging.back());
    }
    const PrimExpr first = Mul(group_index(), Int(num_warps));
    // Each warp, then the results of the warps.
    WarpResult round = ReduceWarp(values_, warp, mask, PrimExpr());
    Append(new_buffers_, round.locals);
    std::vector<Stmt> stores;
    for (size_t i = 0; i < num_values(); ++i) {
      new_buffers_.push_back(round.results[i]);
      stores.push_back(BufferStore(
          staging[i], BufferLoad(round.results[i], {Int(0)}),
          {Add(first,
               MakeBinary(BinaryOp::kFloorDiv, reduce_index(), Int(warp)))}));
    }
    seq_.push_back(IfThenElse(
        Equal(MakeBinary(BinaryOp::kFloorMod, reduce_index(), Int(warp)), zero),
        Sequence(stores)));
    seq_.push_back(Barrier("shared"));
    std::vector<PrimExpr> staged;
    for (size_t i = 0; i < num_values(); ++i) {
      staged.push_back(BufferLoad(staging[i], {Add(first, reduce_index())}));
    }
    if (num_warps < warp) {
      mask = BitAnd(mask, ShiftLeft(Int((int64_t{1} << num_warps) - 1), first));
    }
    round = ReduceWarp(staged, num_warps, mask,
                       Less(reduce_index(), Int(num_warps)));
    Append(new_buffers_, round.locals);
    stores.clear();
    for (size_t i = 0; i < num_values(); ++i) {
      new_buffers_.push_back(round.results[i]);
      const Buffer result = MakeBuffer(
          threads_.group.extent, buffers[i].dtype(), "red_result", "shared");
      stores.push_back(BufferStore(
          result, BufferLoad(round.results[i], {Int(0)}), {group_index()}));
      result_buffers.push_back(result);
      results.push_back(BufferLoad(result, {group_index()}));
    }
    seq_.push_back(IfThenElse(Equal(reduce_index(), zero), Sequence(stores)));
    seq_.push_back(Barrier("shared"));
  }

  // Reduces the values of `extent` lanes; where `predicate` holds, if there is
  // one.
  WarpResult ReduceWarp(const std::vector<PrimExpr>& values, int64_t extent,
                        const PrimExpr& mask, const PrimExpr& predicate) {
    WarpResult result;
    std::vector<Stmt> loads;
    for (size_t i = 0; i < values.size(); ++i) {
      result.results.push_back(
          MakeBuffer(1, types_[i], absl::StrCat("red_buf", i), "local"));
      loads.push_back(BufferStore(result.results[i], values[i], {Int(0)}));
      result.locals.push_back(
          MakeBuffer(1, types_[i], absl::StrCat("t", i), "local"));
    }
    if (predicate.defined()) {
      seq_.push_back(IfThenElse(predicate, Sequence(loads)));
    } else {
      Append(seq_, loads);
    }
    Buffer mask_buffer;
    if (device_.HasShuffleMasks()) {
      mask_buffer = MakeBuffer(1, kMaskType, "mask", "local");
      seq_.push_back(BufferStore(mask_buffer, mask, {Int(0)}));
      result.locals.push_back(mask_buffer);
    }
    int64_t offset = 1;
    while (offset * 2 < extent) offset *= 2;
    for (; offset > 0; offset /= 2) {
      std::vector<PrimExpr> a;
      std::vector<PrimExpr> b;
      for (size_t i = 0; i < values.size(); ++i) {
        a.push_back(BufferLoad(result.results[i], {Int(0)}));
        // A shuffle must not be in a branch of an expression.
        seq_.push_back(BufferStore(result.locals[i],
                                   Shuffle("tvm_warp_shuffle_down", mask_buffer,
                                           a.back(), Int(offset)),
                                   {Int(0)}));
        b.push_back(BufferLoad(result.locals[i], {Int(0)}));
      }
      const std::vector<PrimExpr> sums = ApplyReducer(reducer_, a, b);
      std::vector<Stmt> stores;
      for (size_t i = 0; i < values.size(); ++i) {
        stores.push_back(BufferStore(result.results[i], sums[i], {Int(0)}));
      }
      if (offset * 2 > extent) {
        // Other lanes have no values.
        seq_.push_back(
            IfThenElse(Less(Add(reduce_index(), Int(offset)), Int(extent)),
                       Sequence(stores)));
      } else {
        Append(seq_, stores);
      }
    }
    return result;
  }

  PrimExpr Shuffle(const char* name, const Buffer& mask, const PrimExpr& value,
                   const PrimExpr& lane) const {
    const PrimExpr width = Int(device_.warp_size);
    return CallIntrinsic(
        name, {device_.HasShuffleMasks() ? PrimExpr(BufferLoad(mask, {Int(0)}))
                                         : Int(0),
               value, lane, width, width});
  }

  void BuildBySharedMemory() {
    const int64_t total = threads_.group.extent * threads_.reduce.extent;
    // An earlier iteration may still read the buffer.
    seq_.push_back(Barrier("shared"));
    for (size_t i = 0; i < num_values(); ++i) {
      result_buffers.push_back(
          MakeBuffer(total, types_[i], absl::StrCat("red_buf", i), "shared"));
      seq_.push_back(BufferStore(result_buffers[i], values_[i],
                                 {IndexOf(reduce_index())}));
    }
    seq_.push_back(Barrier("shared"));
    ReduceSharedMemory();
    for (const Buffer& buffer : result_buffers) {
      results.push_back(
          BufferLoad(buffer, {IndexOf(IntImm(reduce_index().dtype(), 0))}));
    }
  }

  // The element of shared memory of a thread of this group.
  PrimExpr IndexOf(const PrimExpr& thread) {
    if (IsZero(group_index())) return thread;
    return analyzer_.Simplify(
        Add(Mul(group_index(), Int(threads_.reduce.extent)), thread));
  }

  std::vector<PrimExpr> Combined(int64_t offset) {
    std::vector<PrimExpr> a;
    std::vector<PrimExpr> b;
    for (const Buffer& buffer : result_buffers) {
      b.push_back(
          BufferLoad(buffer, {IndexOf(Add(reduce_index(), Int(offset)))}));
      a.push_back(BufferLoad(buffer, {IndexOf(reduce_index())}));
    }
    return ApplyReducer(reducer_, a, b);
  }

  Stmt Stores(absl::Span<const PrimExpr> values) {
    std::vector<Stmt> stores;
    for (size_t i = 0; i < num_values(); ++i) {
      stores.push_back(
          BufferStore(result_buffers[i], values[i], {IndexOf(reduce_index())}));
    }
    return Sequence(stores);
  }

  void ReduceSharedMemory() {
    const int64_t extent = threads_.reduce.extent;
    const int64_t warp = device_.warp_size;
    int64_t align = 1;
    while (align < extent) align *= 2;
    if (align > extent) {
      align /= 2;
      seq_.push_back(IfThenElse(Less(reduce_index(), Int(extent - align)),
                                Stores(Combined(align))));
      seq_.push_back(Barrier("shared"));
    }
    const bool in_warps =
        threads_.group.extent == 1 || threads_.contiguous % warp == 0;
    while (align > 1 &&
           (align > threads_.contiguous || align > warp || !in_warps)) {
      align /= 2;
      seq_.push_back(IfThenElse(Less(reduce_index(), Int(align)),
                                Stores(Combined(align))));
      seq_.push_back(Barrier("shared"));
    }
    if (align <= 1) return;
    const PrimExpr in_warp = Less(reduce_index(), Int(align / 2));
    std::vector<Stmt> steps;
    while (align > 1) {
      align /= 2;
      // Threads of a warp load what others store: all load, then all store.
      const std::vector<PrimExpr> values = Combined(align);
      std::vector<PrimExpr> vars;
      for (size_t i = 0; i < values.size(); ++i) {
        vars.push_back(
            Var(absl::StrCat("w_", align, "_", i), values[i].dtype()));
      }
      Stmt step = Sequence({Barrier("warp"), Stores(vars), Barrier("warp")});
      for (size_t i = 0; i < values.size(); ++i) {
        step = LetStmt(Var(vars[i].As<VarNode>()), values[i], std::move(step));
      }
      steps.push_back(std::move(step));
    }
    seq_.push_back(IfThenElse(in_warp, Sequence(steps)));
    seq_.push_back(Barrier("shared"));
  }

  template <typename T>
  static void Append(std::vector<T>& to, const std::vector<T>& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  const Device& device_;
  const CommReducerNode* reducer_;
  const Threads& threads_;
  const std::vector<PrimExpr> values_;
  std::vector<DType> types_;
  std::vector<Stmt> seq_;
  std::vector<Buffer> new_buffers_;  // allocated around the statements
  Analyzer analyzer_;
};

class AllreduceLowerer final : public Rewriter {
 public:
  explicit AllreduceLowerer(const Device& device) : device_(device) {}

  absl::StatusOr<PrimFunc> Lower(const PrimFunc& function) {
    PrimFunc result = RewriteBody(function);
    BATON_RETURN_IF_ERROR(status_);
    return result;
  }

  Stmt VisitAttrStmt(const AttrStmtNode* attr) override {
    if (attr->key() == "thread_extent") {
      threads_.push_back(attr);
      Stmt result = Rewriter::VisitAttrStmt(attr);
      threads_.pop_back();
      return result;
    }
    const auto* reducer = attr->node().As<CommReducerNode>();
    if (attr->key() != "reduce_scope" || reducer == nullptr) {
      return Rewriter::VisitAttrStmt(attr);
    }
    reducers_.push_back(reducer);
    Stmt result = Rewriter::VisitAttrStmt(attr);
    reducers_.pop_back();
    return result;
  }

  Stmt VisitEvaluate(const EvaluateNode* evaluate) override {
    Stmt result = Rewriter::VisitEvaluate(evaluate);
    const auto* call = result.As<EvaluateNode>()->value().As<CallNode>();
    if (call == nullptr || call->op() != IntrinsicOp("tvm_thread_allreduce")) {
      return result;
    }
    absl::StatusOr<Stmt> lowered = LowerCall(call, evaluate->span());
    if (lowered.ok()) return *std::move(lowered);
    if (status_.ok()) status_ = lowered.status();
    return result;
  }

  Stmt VisitAllocate(const AllocateNode* allocate) override {
    const Stmt changed = Rewriter::VisitAllocate(allocate);
    const Buffer* buffer = replaced_.Find(allocate->var().get());
    if (buffer == nullptr) return changed;
    const auto* result = changed.As<AllocateNode>();
    Stmt body = result->body();
    if ((*buffer)->scope() == "shared") {
      body = AttrStmt((*buffer)->data(), "volatile_scope", Int(1),
                      std::move(body));
    }
    return Allocate((*buffer)->data(), buffer->dtype(),
                    {(*buffer)->shape().begin(), (*buffer)->shape().end()},
                    True(buffer->dtype().lanes()), result->annotations(),
                    std::move(body), allocate->span());
  }

  // A buffer is known after its reduction: bodies are rewritten first.
  Stmt VisitDeclBuffer(const DeclBufferNode* decl) override {
    Stmt body = Rewrite(decl->body());
    Buffer buffer = RewriteBuffer(decl->buffer());
    if (buffer == decl->buffer() && body == decl->body()) {
      return DeclBuffer(decl);
    }
    return DeclBuffer(std::move(buffer), std::move(body), decl->span());
  }

  PrimExpr VisitBufferLoad(const BufferLoadNode* load) override {
    const PrimExpr* value = values_.Find(load->buffer()->data().get());
    return value == nullptr ? Rewriter::VisitBufferLoad(load) : *value;
  }

  Buffer RewriteBuffer(const Buffer& buffer) override {
    const Buffer* memory = replaced_.Find(buffer->data().get());
    if (memory == nullptr) return buffer;
    return buffers_.FindOrMake(buffer, [&](BufferNode::Parts& parts) {
      parts.data = (*memory)->data();
    });
  }

 private:
  absl::StatusOr<Stmt> LowerCall(const CallNode* call, const Span& span) {
    const auto fail = [&span](absl::string_view message) {
      return ErrorAt(span, absl::StrCat("T.tvm_thread_allreduce: ", message));
    };
    if (reducers_.empty()) return fail("there is no reduce_scope around it");
    const CommReducerNode* reducer = reducers_.back();
    const size_t n = reducer->result().size();
    const absl::Span<const PrimExpr> args = call->args();
    if (args.size() < 2 + 2 * n || !IsConst(args[0], static_cast<int64_t>(n))) {
      return fail("it has too few arguments for its reducer");
    }
    std::vector<PrimExpr> values;
    std::vector<Buffer> buffers;
    const PrimExpr& condition = args[n + 1];
    for (size_t i = 0; i < n; ++i) {
      values.push_back(IsOne(condition) ? args[1 + i]
                                        : Select(condition, args[1 + i],
                                                 reducer->identity()[i]));
      PrimExpr target = args[2 + n + i];
      // Bool buffers are loaded through a conversion.
      if (const auto* cast = target.As<CastNode>()) {
        target = PrimExpr(cast->value());
      }
      const auto* load = target.As<BufferLoadNode>();
      if (load == nullptr) return fail("a result is no element of a buffer");
      buffers.push_back(load->buffer());
    }
    // Variables of loops of one iteration are constants.
    NodeSet reduce_vars;
    for (size_t i = 2 + 2 * n; i < args.size(); ++i) {
      if (const auto* var = args[i].As<VarNode>()) reduce_vars.Insert(var);
    }
    std::vector<Thread> reduce;
    std::vector<Thread> group;
    for (const AttrStmtNode* attr : threads_) {
      const auto* thread = attr->node().As<IterVarNode>();
      const ThreadScope scope(thread->thread_tag());
      if (IsBlockIdx(scope)) continue;
      if (!IsThreadIdx(scope)) return fail("a thread around it is virtual");
      const auto* extent = attr->value().As<IntImmNode>();
      if (extent == nullptr) return fail("an extent is not constant");
      if (extent->value() < 1 || extent->value() > kMaxThreads) {
        return fail("an extent is no number of threads");
      }
      if (extent->value() == 1) continue;
      auto& list = reduce_vars.Contains(thread->var().get()) ? reduce : group;
      list.push_back({scope.axis, thread->var(), extent->value()});
    }
    if (reduce.size() != reduce_vars.size()) {
      return fail("not all threads of the reduction are around it");
    }
    const auto by_axis = [](const Thread& a, const Thread& b) {
      return a.axis < b.axis;
    };
    std::sort(reduce.begin(), reduce.end(), by_axis);
    std::sort(group.begin(), group.end(), by_axis);
    const Threads threads = {ThreadIndex(reduce), ThreadIndex(group),
                             Contiguous(reduce, group)};
    if (threads.reduce.extent == 1) {
      std::vector<Stmt> stores;
      for (size_t i = 0; i < n; ++i) {
        stores.push_back(BufferStore(buffers[i], values[i], {Int(0)}, span));
      }
      return Sequence(stores);
    }
    AllreduceBuilder builder(device_, reducer, threads, std::move(values));
    Stmt result = builder.Build(buffers);
    for (size_t i = 0; i < n; ++i) {
      const VarNode* pointer = buffers[i]->data().get();
      if (values_.Contains(pointer)) return fail("two write to one buffer");
      values_[pointer] = builder.results[i];
      replaced_[pointer] = builder.result_buffers[i];
      buffers_.Set(buffers[i], builder.result_buffers[i]);
    }
    return result;
  }

  // The number of threads before the first one that does not reduce.
  static int64_t Contiguous(const std::vector<Thread>& reduce,
                            const std::vector<Thread>& group) {
    int64_t result = 1;
    for (const Thread& thread : reduce) {
      const bool follows_group = std::any_of(
          group.begin(), group.end(),
          [&](const Thread& other) { return other.axis < thread.axis; });
      if (follows_group) break;
      result *= thread.extent;
    }
    return result;
  }

  const Device& device_;
  std::vector<const AttrStmtNode*> threads_;
  std::vector<const CommReducerNode*> reducers_;
  NodeMap<PrimExpr> values_;  // of elements, by pointer
  NodeMap<Buffer> replaced_;  // by pointer
  BufferMap buffers_;
  absl::Status status_;
};

}  // namespace

Pass LowerThreadAllreduce() {
  return CreatePrimFuncPass(
      [](const PrimFunc& function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<PrimFunc> {
        BATON_ASSIGN_OR_RETURN(const Device device, DeviceOf(function));
        return AllreduceLowerer(device).Lower(function);
      },
      {.name = "tir.LowerThreadAllreduce",
       .doc = "Reduces over threads by shared memory or by shuffles in a "
              "warp.",
       .needs = {"tir.has_targets"},
       .exact = false,
       .waivers = {{"runs", "Needs functions with a target."}}});
}
BATON_REGISTER_PASS_AS("tir.LowerThreadAllreduce", LowerThreadAllreduce);

}  // namespace baton::tir
