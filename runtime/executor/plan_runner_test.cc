#include "baton/runtime/executor/plan_runner.h"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <numeric>
#include <vector>

#include "absl/types/span.h"
#include "baton/base/worker_pool.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/plan_verifier.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

// The calls of operator new, and of malloc where this file replaces it.
std::atomic<int64_t> allocations{0};

}  // namespace

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define BATON_HAS_SANITIZER
#endif
#endif
#else
#define BATON_HAS_SANITIZER
#endif

#ifndef BATON_HAS_SANITIZER
extern "C" void* __libc_malloc(size_t size);
extern "C" void* malloc(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
#endif

void* operator new(size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace baton::executor {
namespace {

using ::baton::testing::IsOk;

// Adds the inputs and the parameter; leaves numbers in its workspace.
int AddStep(const StepCall& call) {
  const auto* const a = static_cast<const float*>(call.inputs[0]);
  const auto* const b = static_cast<const float*>(call.inputs[1]);
  auto* const sum = static_cast<float*>(call.outputs[0]);
  for (int64_t i = call.begin; i < call.end; ++i) {
    if (call.workspace != nullptr)
      static_cast<float*>(call.workspace)[0] = a[i];
    sum[i] = a[i] + b[i] + *static_cast<const float*>(call.params);
  }
  return 0;
}

int FailingStep(const StepCall& call) {
  return static_cast<const float*>(call.inputs[0])[call.begin] < 0 ? 7 : 0;
}

constexpr int64_t kElements = 1000;
constexpr int64_t kBytes = kElements * 4;
constexpr float kOne = 1;

// output = input + ... + input + constant + 1, by `steps` steps. Each has a
// workspace.
Plan Chain(int steps, int max_threads, StepFunction last = AddStep) {
  static const std::vector<float> kConstant(kElements, 3);
  Plan plan;
  plan.max_threads = max_threads;
  plan.input_bytes = {kBytes};
  plan.output_bytes = {kBytes};
  plan.constants = {{kConstant.data(), kBytes}};
  const auto value = [&](Space space, int64_t bytes) {
    Value v;
    v.space = space;
    v.bytes = bytes;
    plan.values.push_back(v);
    return static_cast<int32_t>(plan.values.size() - 1);
  };
  const int32_t input = value(Space::kInput, kBytes);
  int32_t sum = value(Space::kConstant, kBytes);
  for (int i = 0; i < steps; ++i) {
    Step step;
    step.function = i + 1 == steps ? last : AddStep;
    step.params = &kOne;
    step.first_operand = static_cast<int32_t>(plan.operands.size());
    step.num_inputs = 2;
    step.num_outputs = 1;
    step.items = kElements;
    step.cost_ns = 1e6;
    step.workspace_bytes = 64;
    step.workspace = value(Space::kArena, 64 * max_threads);
    plan.operands.push_back({input, 0, kBytes});
    plan.operands.push_back({sum, 0, kBytes});
    sum = value(i + 1 == steps ? Space::kOutput : Space::kArena, kBytes);
    plan.operands.push_back({sum, 0, kBytes});
    plan.steps.push_back(step);
    plan.notes.push_back({.kernel = "add"});
  }
  PlaceValues(plan);
  return plan;
}

std::vector<float> Sequence() {
  std::vector<float> input(kElements);
  std::iota(input.begin(), input.end(), 0.0f);
  return input;
}

TEST(PlanRunnerTest, AnyNumberOfThreadsGivesTheSameBytes) {
  const std::vector<float> input = Sequence();
  std::vector<float> want;
  for (int64_t i = 0; i < kElements; ++i) {
    want.push_back(3 + 20 * (static_cast<float>(i) + 1));
  }
  for (const int threads : {1, 2, 3, 16}) {
    const Plan plan = Chain(20, threads);
    ASSERT_THAT(VerifyPlan(plan), IsOk());
    PlanRunner runner(plan);
    ASSERT_TRUE(runner.ok());
    WorkerPool pool(threads);
    std::vector<float> output(kElements);
    const void* const in[] = {input.data()};
    void* const out[] = {output.data()};
    for (int run = 0; run < 3; ++run) {
      EXPECT_EQ(runner.Run(in, out, &pool, nullptr).step, -1);
      EXPECT_EQ(output, want);
    }
  }
}

TEST(PlanRunnerTest, ValuesThatDoNotMeetShareTheArena) {
  const Plan plan = Chain(20, 1);
  EXPECT_EQ(plan.arena_bytes, 2 * AlignUp(kBytes) + 64);
  EXPECT_EQ(plan.arena_lower_bound, plan.arena_bytes);
}

TEST(PlanRunnerTest, NamesTheStepThatFails) {
  const Plan plan = Chain(5, 2, FailingStep);
  std::vector<float> input(kElements, 0);
  std::vector<float> output(kElements);
  const void* const in[] = {input.data()};
  void* const out[] = {output.data()};
  PlanRunner runner(plan);
  EXPECT_EQ(runner.Run(in, out, nullptr, nullptr).step, -1);
  input[0] = -1;
  const PlanRunner::Outcome outcome = runner.Run(in, out, nullptr, nullptr);
  EXPECT_EQ(outcome.step, 4);
  EXPECT_EQ(outcome.code, 7);
  WorkerPool pool(2);
  EXPECT_EQ(runner.Run(in, out, &pool, nullptr).step, 4);
}

TEST(PlanRunnerTest, ARunAllocatesNothing) {
  const std::vector<float> input = Sequence();
  std::vector<float> output(kElements);
  const void* const in[] = {input.data()};
  void* const out[] = {output.data()};
  for (const int threads : {1, 2}) {
    const Plan plan = Chain(20, threads);
    PlanRunner runner(plan);
    WorkerPool pool(threads);
    const int64_t before = allocations.load();
    for (int run = 0; run < 100; ++run) {
      runner.Run(in, out, threads == 1 ? nullptr : &pool, nullptr);
    }
    EXPECT_EQ(allocations.load(), before) << threads << " threads";
  }
  const int64_t before = allocations.load();
  ::operator delete(::operator new(8));
  EXPECT_GT(allocations.load(), before) << "allocations are not counted";
}

// Calls `body` in a process that may only read, write and exit, and returns its
// exit status; -1 if the process cannot be confined.
int RunConfined(void (*body)(void*), void* context) {
  constexpr int kCannot = 99;
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child == 0) {
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) {
      syscall(SYS_exit_group, kCannot);
    }
    body(context);
    syscall(SYS_exit, 0);  // The strict mode has no exit_group.
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == kCannot ? -1 : status;
}

TEST(PlanRunnerTest, ARunMakesNoSystemCall) {
  const auto nothing = [](void*) {};
  if (RunConfined(nothing, nullptr) != 0) {
    GTEST_SKIP() << "seccomp's strict mode cannot be entered here";
  }
  // The mode is in force.
  EXPECT_TRUE(
      WIFSIGNALED(RunConfined([](void*) { syscall(SYS_getppid); }, nullptr)));
  struct Context {
    Plan plan = Chain(20, 1);
    PlanRunner runner{plan};
    std::vector<float> input = Sequence();
    std::vector<float> output = std::vector<float>(kElements);
  } context;
  EXPECT_EQ(RunConfined(
                [](void* c) {
                  auto& context = *static_cast<Context*>(c);
                  const void* const in[] = {context.input.data()};
                  void* const out[] = {context.output.data()};
                  for (int run = 0; run < 100; ++run) {
                    context.runner.Run(in, out, nullptr, nullptr);
                  }
                  if (context.output[0] != 23) syscall(SYS_exit, 1);
                },
                &context),
            0);
}

TEST(PlanVerifierTest, RefusesWorkspacesWithValues) {
  Plan plan = Chain(3, 1);
  // The workspace of step 1 is the value that step 2 reads.
  plan.steps[1].workspace = plan.operands[5].value;
  EXPECT_FALSE(VerifyPlan(plan).ok());
}

TEST(PlanVerifierTest, RefusesResultsInPlaceOfOperandsThatAreReadOtherwise) {
  Plan plan = Chain(3, 1);
  const int32_t first = plan.operands[2].value;
  const int32_t second = plan.operands[5].value;
  plan.values[static_cast<size_t>(second)].overwrites = first;
  PlaceValues(plan);
  EXPECT_FALSE(VerifyPlan(plan).ok());
  plan.steps[1].overwritable = 1;
  EXPECT_THAT(VerifyPlan(plan), IsOk());
  plan.steps[1].overwritable = 0;
  EXPECT_FALSE(VerifyPlan(plan).ok());
  plan.steps[1].overwritable = Step::kAnyInput;
  EXPECT_THAT(VerifyPlan(plan), IsOk());
}

}  // namespace
}  // namespace baton::executor
