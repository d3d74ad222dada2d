#include "baton/tir/usmp/extract_buffer_info.h"

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
#include "baton/base/hash_table.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/stmt.h"
#include "baton/tir/usmp/call_visitor.h"
#include "baton/tir/usmp/memory_pools.h"
#include "baton/tir/usmp/pool_planner.h"

namespace baton::tir {
namespace {

// The most pairs of buffers that need different memory: their indices take
// 400 MB.
constexpr int64_t kMaxConflicts = 100'000'000;
// The most bytes of all buffers together, so that no offset overflows.
constexpr int64_t kMaxBytes = int64_t{1} << 60;

// `global`, or a part of it that is no memory of another kind.
bool IsPlannedScope(absl::string_view scope) {
  return scope.empty() || scope == "global" || scope == "global.workspace";
}

// The numbers of the first and the last statement, of one call of the function
// that allocates the memory, in which it is in use.
struct Interval {
  int64_t first = 0;
  int64_t last = 0;
};

class Extractor final : public CallVisitor {
 public:
  Extractor(const IRModule& module, const ExtractBufferInfoOptions& options)
      : CallVisitor(module), options_(options) {}

  absl::StatusOr<BufferInfoAnalysis> Run(const PrimFunc& main) {
    BATON_RETURN_IF_ERROR(VisitFrom(main));
    for (size_t i = 0; i < memories_.size(); ++i) {
      if (memories_[i].info.kind == BufferInfoKind::kInput) {
        IntervalOf(i, nullptr, 0).first = 0;
      } else if (memories_[i].info.kind == BufferInfoKind::kOutput) {
        IntervalOf(i, nullptr, 0).last = statements() + 1;
      }
    }
    return Finish();
  }

 protected:
  void VisitAllocate(const AllocateNode* node) override {
    if (IsPlannedScope(node->var()->scope()) &&
        AllocationBytes(node->dtype(), node->extents()) >= 0) {
      Record(Stmt(node), node->var(), node->dtype(), node->extents(),
             node->annotations(), parallel_ > 0);
    }
    CallVisitor::VisitAllocate(node);
  }
  void VisitAllocateConst(const AllocateConstNode* node) override {
    // Constants are placed only if there is a pool for them.
    if (node->annotations().Find(kCandidatePools).defined()) {
      Record(Stmt(node), node->var(), node->dtype(), node->extents(),
             node->annotations(), false);
    }
    CallVisitor::VisitAllocateConst(node);
  }
  void VisitFor(const ForNode* node) override {
    const bool parallel = node->for_kind() != ForKind::kSerial;
    parallel_ += parallel ? 1 : 0;
    BeginLoop();
    CallVisitor::VisitFor(node);
    EndLoop();
    parallel_ -= parallel ? 1 : 0;
  }
  void VisitWhile(const WhileNode* node) override {
    BeginLoop();
    CallVisitor::VisitWhile(node);
    EndLoop();
  }
  void VisitAttrStmt(const AttrStmtNode* node) override {
    const bool parallel =
        node->key() == "thread_extent" || node->key() == "virtual_thread";
    parallel_ += parallel ? 1 : 0;
    CallVisitor::VisitAttrStmt(node);
    parallel_ -= parallel ? 1 : 0;
  }
  void Use(const VarNode* pointer) override {
    for (const int memory : MemoriesOf(pointer)) {
      Memory& used = memories_[static_cast<size_t>(memory)];
      Interval& interval = IntervalOf(memory, used.call, statements());
      interval.last = std::max(interval.last, statements());
      if (loops_.empty()) continue;
      // Memory that the loop's calls allocate anew is not kept by the loop.
      Loop& loop = loops_.back();
      if (used.depth > loop.depth || used.loop == loop.id) continue;
      used.loop = loop.id;
      loop.used.push_back(memory);
    }
  }

 private:
  struct Memory {
    BufferInfo info;
    PoolBuffer buffer;
    // The call of the function that allocates it, the last one so far.
    const CallNode* call = nullptr;
    int depth = 0;
    // The last loop that lists it.
    int64_t loop = -1;
    // It is allocated by several threads, too.
    bool is_excluded = false;
    // Keys of intervals_, in order.
    std::vector<uint64_t> intervals;
  };
  struct Loop {
    int64_t id;
    int64_t first;  // its statement
    int depth;
    std::vector<int> used;
  };
  struct Event {
    int64_t time;
    bool is_end;
    int memory;
  };

  void Record(const Stmt& stmt, const Var& var, DType dtype,
              absl::Span<const PrimExpr> extents, const Dict& annotations,
              bool is_parallel) {
    if (failed()) return;
    const auto [id, is_new] = id_of_.TryEmplace(stmt.get());
    if (!is_new) {
      Memory& memory = memories_[static_cast<size_t>(*id)];
      memory.call = call();
      memory.depth = depth();
      memory.is_excluded = memory.is_excluded || is_parallel;
      PointTo(var.get(), *id);
      return;
    }
    *id = static_cast<int>(memories_.size());
    const PrimExpr candidates = annotations.Find(kCandidatePools);
    absl::StatusOr<std::vector<int>> pools = table_.Add(candidates);
    if (pools.ok() && pools->empty() && !is_parallel) {
      return Fail(
          stmt->span(),
          absl::StrCat("an allocation has no annotation ", kCandidatePools,
                       ": run tir.usmp.AssignPoolInfo first"));
    }
    if (!pools.ok()) return Fail(pools.status());
    Memory memory;
    memory.info.stmt = stmt;
    std::string name = var->name();
    for (const bool is_input : {true, false}) {
      const PrimExpr param =
          annotations.Find(is_input ? kInputTensor : kOutputTensor);
      if (!param.defined() || !param.Is<StringImmNode>()) continue;
      name = param.As<StringImmNode>()->value();
      memory.info.kind =
          is_input ? BufferInfoKind::kInput : BufferInfoKind::kOutput;
    }
    const bool is_constant = memory.info.IsConstant();
    memory.buffer.name = UniqueName(std::move(name));
    memory.buffer.bytes = AllocationBytes(dtype, extents);
    memory.buffer.alignment = is_constant ? options_.constant_byte_alignment
                                          : options_.workspace_byte_alignment;
    memory.buffer.pools = *std::move(pools);
    memory.call = call();
    memory.depth = depth();
    memory.is_excluded = is_parallel;
    PointTo(var.get(), *id);
    memories_.push_back(std::move(memory));
  }

  std::string UniqueName(std::string name) {
    const int number = ++names_[name];
    if (number > 1) absl::StrAppend(&name, number);
    return name;
  }

  // The interval of a memory in a call; a new one begins and ends at `now`.
  Interval& IntervalOf(size_t memory, const CallNode* call, int64_t now) {
    uint64_t id = 0;  // of main
    if (call != nullptr) {
      const auto [known, is_new_call] = call_ids_.TryEmplace(call);
      if (is_new_call) *known = static_cast<uint32_t>(call_ids_.size());
      id = *known;
    }
    const uint64_t key = (uint64_t{memory} << 32) | id;
    const auto [it, is_new] = intervals_.emplace(key, Interval{now, now});
    if (is_new) memories_[memory].intervals.push_back(key);
    return it->second;
  }

  void BeginLoop() {
    loops_.push_back({num_loops_++, statements() + 1, depth(), {}});
  }

  // Memory that a loop uses is in use in all its iterations, and in all
  // iterations of the loops around it.
  void EndLoop() {
    const int64_t outermost = loops_[0].first;
    const Loop ended = std::move(loops_.back());
    loops_.pop_back();
    for (const int number : ended.used) {
      Memory& memory = memories_[number];
      Interval& interval = IntervalOf(number, memory.call, statements());
      interval.first = std::min(interval.first, outermost);
      interval.last = std::max(interval.last, statements());
      if (loops_.empty()) continue;
      Loop& outer = loops_.back();
      if (memory.depth > outer.depth || memory.loop == outer.id) continue;
      memory.loop = outer.id;
      outer.used.push_back(number);
    }
  }

  absl::StatusOr<BufferInfoAnalysis> Finish() {
    BufferInfoAnalysis result;
    result.pools = table_.pools();
    for (const MemoryPool& pool : result.pools) {
      result.problem.pools.push_back({pool.name, pool.size_hint_bytes});
    }
    std::vector<Event> events;
    std::vector<int> uses(result.pools.size());
    int64_t all_bytes = 0;
    for (Memory& memory : memories_) {
      if (memory.is_excluded) continue;
      if (__builtin_add_overflow(all_bytes,
                                 memory.buffer.bytes + memory.buffer.alignment,
                                 &all_bytes) ||
          all_bytes > kMaxBytes) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "the buffers have more than ", kMaxBytes, " bytes together"));
      }
      for (const int pool : memory.buffer.pools) {
        uses[pool] |= memory.info.IsConstant() ? 1 : 2;
        if (uses[pool] != 3) continue;
        return absl::InvalidArgumentError(
            absl::StrCat("pool ", result.pools[pool].name,
                         " is for constants and for other buffers"));
      }
      const int index = static_cast<int>(result.infos.size());
      int64_t first = statements() + 1;
      int64_t last = 0;
      for (const bool is_end : {false, true}) {
        for (const uint64_t key : memory.intervals) {
          const Interval& interval = intervals_[key];
          first = std::min(first, interval.first);
          last = std::max(last, interval.last);
          events.push_back(
              {is_end ? interval.last : interval.first, is_end, index});
        }
      }
      memory.buffer.first = static_cast<int32_t>(std::min(first, last));
      memory.buffer.last = static_cast<int32_t>(last);
      result.infos.push_back(std::move(memory.info));
      result.problem.buffers.push_back(std::move(memory.buffer));
    }
    BATON_RETURN_IF_ERROR(FindConflicts(events, result));
    return result;
  }

  static absl::Status FindConflicts(std::vector<Event>& events,
                                    BufferInfoAnalysis& result) {
    std::stable_sort(
        events.begin(), events.end(), [](const Event& a, const Event& b) {
          return std::pair(a.time, a.is_end) < std::pair(b.time, b.is_end);
        });
    std::vector<PoolBuffer>& buffers = result.problem.buffers;
    BATON_RETURN_IF_ERROR(CheckNumConflicts(events, result));
    std::vector<int> live;
    std::vector<int> place(buffers.size(), -1);  // in `live`
    int64_t live_bytes = 0;
    for (const Event& event : events) {
      const auto self = static_cast<size_t>(event.memory);
      const bool is_constant = result.infos[self].IsConstant();
      if (event.is_end) {
        live_bytes -= buffers[self].bytes;
        if (place[self] < 0) continue;
        place[static_cast<size_t>(live.back())] = place[self];
        live[static_cast<size_t>(place[self])] = live.back();
        live.pop_back();
        place[self] = -1;
        continue;
      }
      for (const int other : live) {
        if (is_constant || result.infos[other].IsConstant()) continue;
        buffers[other].conflicts.push_back(event.memory);
        if (other != event.memory) buffers[self].conflicts.push_back(other);
      }
      live_bytes += buffers[self].bytes;
      result.problem.memory_pressure =
          std::max(result.problem.memory_pressure, live_bytes);
      if (place[self] < 0) {
        place[self] = static_cast<int>(live.size());
        live.push_back(event.memory);
      }
    }
    // Constants are there before the function runs, and stay.
    std::vector<int> constants;
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (result.infos[i].IsConstant())
        constants.push_back(static_cast<int>(i));
    }
    for (const int constant : constants) {
      buffers[constant].first = 0;
      buffers[constant].last = 0;
      for (const int other : constants) {
        if (other != constant) buffers[constant].conflicts.push_back(other);
      }
    }
    return absl::OkStatus();
  }

  // Counts the conflicts before they take memory.
  static absl::Status CheckNumConflicts(const std::vector<Event>& events,
                                        const BufferInfoAnalysis& result) {
    int64_t live = 0;
    int64_t conflicts = 0;
    for (const Event& event : events) {
      if (result.infos[event.memory].IsConstant()) continue;
      if (!event.is_end) conflicts += live;
      live += event.is_end ? -1 : 1;
    }
    int64_t constants = 0;
    for (const auto& info : result.infos) constants += info.IsConstant();
    conflicts += constants * constants;
    if (conflicts <= kMaxConflicts) return absl::OkStatus();
    return absl::ResourceExhaustedError(absl::StrCat(
        "more than ", kMaxConflicts,
        " pairs of buffers are in use at the same time: their memory cannot be "
        "planned"));
  }

  const ExtractBufferInfoOptions& options_;
  PoolTable table_;
  NodeMap<int> id_of_;  // of allocations
  NodeMap<uint32_t> call_ids_;
  std::vector<Memory> memories_;
  FlatHashMap<std::string, int> names_;
  FlatHashMap<uint64_t, Interval> intervals_;  // by memory and call
  std::vector<Loop> loops_;
  int64_t num_loops_ = 0;
  int parallel_ = 0;
};

}  // namespace

absl::StatusOr<BufferInfoAnalysis> ExtractBufferInfo(
    const PrimFunc& main, const IRModule& module,
    const ExtractBufferInfoOptions& options) {
  for (const int64_t alignment :
       {options.workspace_byte_alignment, options.constant_byte_alignment}) {
    if (alignment < 1 || alignment > (1 << 20)) {
      return absl::InvalidArgumentError(
          absl::StrCat("an alignment of ", alignment,
                       " bytes is not between 1 and 1048576"));
    }
  }
  return Extractor(module, options).Run(main);
}

}  // namespace baton::tir
