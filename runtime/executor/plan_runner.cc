#include "baton/runtime/executor/plan_runner.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "absl/types/span.h"
#include "baton/base/pages.h"
#include "baton/base/parallel_for.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/runtime_instrument.h"

namespace baton::executor {
namespace {

// A part that takes less is not worth handing to a thread.
constexpr double kMinPartNs = 4000;
// The most parts of a thread.
constexpr int64_t kMostParts = 8;
// The others do not resume.
constexpr int kMostResumed = 64;
constexpr int64_t kHugePageBytes = int64_t{2} << 20;

// How the items of a step are divided. Each thread has a range of items, and a
// range has parts, of which each is half of the items that are left: a thread
// computes most of its items at a stretch, and what it leaves to others at the
// end is small, so that all end at about the same time. Threads have the same
// range in each step of as many items that is worth all threads.
struct Division {
  int64_t items;
  int64_t threads;
  int64_t parts_of_thread;

  Division(const Step& step, int64_t threads)
      : items(step.items), threads(threads), parts_of_thread(0) {
    if (items == 1 || threads == 1) return;
    const double worth = std::min(step.cost_ns / kMinPartNs, 1e6);
    const auto most =
        static_cast<uint64_t>(std::min(static_cast<double>(items), worth));
    if (most < 2) return;
    // As many ranges as are worth a thread.
    this->threads = std::min(threads, static_cast<int64_t>(most));
    const auto n = static_cast<uint64_t>(this->threads);
    parts_of_thread =
        std::min<int64_t>(std::bit_width((most + n - 1) / n), kMostParts);
  }

  int64_t parts() const { return threads * parts_of_thread; }

  // Returns the begin of part `part`.
  int64_t BeginOf(int64_t part) const {
    const int64_t thread = part / parts_of_thread;
    const int64_t begin = items * thread / threads;
    const int64_t end = items * (thread + 1) / threads;
    return end - ((end - begin) >> (part % parts_of_thread));
  }
};

// One step, for the threads that compute it.
struct Loop {
  const Step* step;
  StepCall call;
  std::byte* workspaces;
  Division division;
  std::atomic<int> code;
  // The threads below kMostResumed that have computed a part. Each thread
  // writes its own.
  std::array<bool, kMostResumed> has_begun;

  static void Body(void* context, int part, int thread) {
    auto& loop = *static_cast<Loop*>(context);
    StepCall call = loop.call;
    call.begin = loop.division.BeginOf(part);
    call.end = loop.division.BeginOf(part + 1);
    if (call.begin == call.end) return;
    if (loop.workspaces != nullptr) {
      call.workspace = loop.workspaces + loop.step->workspace_bytes * thread;
      if (thread < kMostResumed) {
        bool& has_begun = loop.has_begun[static_cast<size_t>(thread)];
        call.resumes = has_begun;
        has_begun = true;
      }
    }
    const int code = loop.step->function(call);
    if (code != 0) {
      int none = 0;
      loop.code.compare_exchange_strong(none, code);
    }
  }
};

}  // namespace

void FreeArena::operator()(std::byte* arena) const { std::free(arena); }

ArenaMemory MakeArena(int64_t bytes) {
  if (bytes == 0) return nullptr;
  const bool is_large = bytes >= 2 * kHugePageBytes;
  const int64_t alignment = is_large ? kHugePageBytes : kAlignment;
  const auto size = static_cast<size_t>(AlignUp(bytes));
  void* memory = nullptr;
  if (posix_memalign(&memory, static_cast<size_t>(alignment), size) != 0) {
    return nullptr;
  }
  if (is_large) AdviseWholePages(memory, size, MADV_HUGEPAGE);
  return ArenaMemory(static_cast<std::byte*>(memory));
}

PlanRunner::PlanRunner(const Plan& plan)
    : plan_(plan), owned_(MakeArena(plan.arena_bytes)), arena_(owned_.get()) {
  if (ok()) SetAddresses();
}

PlanRunner::PlanRunner(const Plan& plan, void* arena)
    : plan_(plan), arena_(static_cast<std::byte*>(arena)) {
  SetAddresses();
}

void PlanRunner::SetAddresses() {
  addresses_.resize(plan_.operands.size());
  for (size_t i = 0; i < plan_.operands.size(); ++i) {
    const Operand& operand = plan_.operands[i];
    const Value& value = plan_.values[static_cast<size_t>(operand.value)];
    switch (value.space) {
      case Space::kArena:
        addresses_[i] = arena_ + value.offset + operand.offset;
        break;
      case Space::kConstant: {
        const void* const data =
            plan_.constants[static_cast<size_t>(value.index)].data;
        // No step writes it.
        addresses_[i] = const_cast<std::byte*>(
            static_cast<const std::byte*>(data) + operand.offset);
        break;
      }
      case Space::kInput:
      case Space::kOutput:
        patches_.push_back({static_cast<int32_t>(i), value.index,
                            value.space == Space::kOutput, operand.offset});
        break;
    }
  }
  workspaces_.resize(plan_.steps.size(), nullptr);
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const int32_t workspace = plan_.steps[i].workspace;
    if (workspace < 0) continue;
    workspaces_[i] =
        arena_ + plan_.values[static_cast<size_t>(workspace)].offset;
  }
}

PlanRunner::Outcome PlanRunner::Run(absl::Span<const void* const> inputs,
                                    absl::Span<void* const> outputs,
                                    ParallelFor* parallel, void* user,
                                    RuntimeInstrument* instrument) {
  if (instrument != nullptr) instrument->EnterRun(plan_);
  for (const Patch& patch : patches_) {
    const size_t port = static_cast<size_t>(patch.port);
    std::byte* const base = static_cast<std::byte*>(
        patch.is_output ? outputs[port] : const_cast<void*>(inputs[port]));
    addresses_[static_cast<size_t>(patch.operand)] = base + patch.offset;
  }
  const int64_t threads = parallel == nullptr
                              ? 1
                              : std::min(parallel->num_threads(),
                                         static_cast<int>(plan_.max_threads));
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    void** const operands = addresses_.data() + step.first_operand;
    StepCall call = {.params = step.params,
                     .inputs = operands,
                     .outputs = operands + step.num_inputs,
                     .workspace = workspaces_[i],
                     .begin = 0,
                     .end = step.items,
                     .user = user};
    const auto event = [&]() -> RuntimeInstrument::StepEvent {
      return {
          static_cast<int32_t>(i),
          step,
          plan_.notes[i],
          {operands, static_cast<size_t>(step.num_inputs)},
          {operands + step.num_inputs, static_cast<size_t>(step.num_outputs)}};
    };
    if (instrument != nullptr) instrument->BeforeStep(event());
    const Division division(step, threads);
    int code = 0;
    if (division.parts_of_thread == 0) {
      code = step.function(call);
    } else {
      Loop loop = {.step = &step,
                   .call = call,
                   .workspaces = static_cast<std::byte*>(workspaces_[i]),
                   .division = division,
                   .code = 0,
                   .has_begun = {}};
      parallel->Run(static_cast<int>(division.parts()), Loop::Body, &loop);
      code = loop.code.load();
    }
    if (code != 0) {
      const int32_t failed = static_cast<int32_t>(i);
      if (instrument != nullptr) instrument->ExitRun(plan_, failed);
      return {failed, code};
    }
    if (instrument != nullptr) instrument->AfterStep(event());
  }
  if (instrument != nullptr) instrument->ExitRun(plan_, -1);
  return {};
}

}  // namespace baton::executor
