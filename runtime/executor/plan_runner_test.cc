#include "baton/runtime/executor/plan_runner.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "baton/base/parallel_for.h"
#include "baton/base/worker_pool.h"
#include "baton/runtime/executor/arena_planner.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/plan_verifier.h"
#include "baton/testing/confined_run.h"
#include "baton/testing/counted_calls.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

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

// Fails if it resumes with a workspace that is not as the same step left it.
int ResumingStep(const StepCall& call) {
  auto* const left_by = static_cast<const void**>(call.workspace);
  if (call.resumes && *left_by != call.outputs[0]) return 1;
  *left_by = call.outputs[0];
  return AddStep({.params = call.params,
                  .inputs = call.inputs,
                  .outputs = call.outputs,
                  .workspace = nullptr,
                  .resumes = false,
                  .begin = call.begin,
                  .end = call.end,
                  .user = nullptr});
}

TEST(PlanRunnerTest, AThreadThatResumesHasItsWorkspace) {
  const std::vector<float> input = Sequence();
  for (const int threads : {1, 2, 16, 80}) {
    Plan plan = Chain(20, threads);
    for (Step& step : plan.steps) step.function = ResumingStep;
    PlanRunner runner(plan);
    WorkerPool pool(threads);
    std::vector<float> output(kElements);
    const void* const in[] = {input.data()};
    void* const out[] = {output.data()};
    for (int run = 0; run < 10; ++run) {
      EXPECT_EQ(runner.Run(in, out, &pool, nullptr).step, -1);
      EXPECT_EQ(output[2], 63);
    }
  }
}

// The ranges of items of a step's calls.
struct Ranges {
  std::vector<std::pair<int64_t, int64_t>> all;
};

// A ParallelFor that computes all parts on thread 0 and counts them.
class CountingLoop final : public ParallelFor {
 public:
  explicit CountingLoop(int threads) : threads_(threads) {}
  int num_threads() const override { return threads_; }
  void Run(int parts, Body body, void* context) override {
    num_parts = parts;
    for (int part = parts - 1; part >= 0; --part) body(context, part, 0);
  }
  int num_parts = 0;

 private:
  const int threads_;
};

int RecordingStep(const StepCall& call) {
  static_cast<Ranges*>(call.user)->all.push_back({call.begin, call.end});
  return 0;
}

TEST(PlanRunnerTest, PartsOfAThreadBecomeSmaller) {
  const std::vector<float> input = Sequence();
  std::vector<float> output(kElements);
  const void* const in[] = {input.data()};
  void* const out[] = {output.data()};
  for (const int threads : {2, 3, 16}) {
    for (const int64_t items : {1, 2, 3, 5, 16, 100, 1000}) {
      Plan plan = Chain(1, threads);
      plan.steps[0].function = RecordingStep;
      plan.steps[0].items = items;
      PlanRunner runner(plan);
      CountingLoop loop(threads);
      Ranges ranges;
      EXPECT_EQ(runner.Run(in, out, &loop, &ranges).step, -1);
      std::sort(ranges.all.begin(), ranges.all.end());
      int64_t end = 0;
      for (const auto& [from, to] : ranges.all) {
        EXPECT_EQ(from, end);
        // Half of the rest of a thread's items.
        EXPECT_LE(to - from, (items / threads + 2) / 2);
        end = to;
      }
      EXPECT_EQ(end, items);
    }
  }
}

TEST(PlanRunnerTest, AShortStepIsNotDivided) {
  Plan plan = Chain(1, 2);
  plan.steps[0].cost_ns = 1000;
  PlanRunner runner(plan);
  CountingLoop loop(2);
  const std::vector<float> input = Sequence();
  std::vector<float> output(kElements);
  const void* const in[] = {input.data()};
  void* const out[] = {output.data()};
  EXPECT_EQ(runner.Run(in, out, &loop, nullptr).step, -1);
  EXPECT_EQ(loop.num_parts, 0);
  EXPECT_EQ(output[1], 5);
}

TEST(PlanRunnerTest, ValuesThatDoNotMeetShareTheArena) {
  const Plan plan = Chain(20, 1);
  EXPECT_EQ(plan.arena_bytes, 2 * AlignUp(kBytes) + 64);
  EXPECT_EQ(plan.arena_lower_bound, plan.arena_bytes);
}

// Checks that no two blocks in use at one step share memory.
void CheckArena(const std::vector<Lifetime>& blocks, const ArenaPlan& arena) {
  ASSERT_EQ(arena.offsets.size(), blocks.size());
  EXPECT_GE(arena.bytes, arena.lower_bound);
  std::vector<std::array<int64_t, 3>> events;  // step, is a begin, block
  for (size_t i = 0; i < blocks.size(); ++i) {
    events.push_back({blocks[i].first, 1, static_cast<int64_t>(i)});
    events.push_back({int64_t{blocks[i].last} + 1, 0, static_cast<int64_t>(i)});
  }
  std::sort(events.begin(), events.end());
  std::map<int64_t, int64_t> live;  // ends by offsets
  for (const auto& [step, is_begin, number] : events) {
    const auto block = static_cast<size_t>(number);
    const int64_t offset = arena.offsets[block];
    if (is_begin == 0) {
      live.erase(offset);
      continue;
    }
    const int64_t end = offset + blocks[block].bytes;
    EXPECT_EQ(offset % kAlignment, 0);
    EXPECT_LE(end, arena.bytes);
    const auto next = live.upper_bound(offset);
    if (next != live.end()) {
      ASSERT_LE(end, next->first);
    }
    if (next != live.begin()) {
      ASSERT_LE(std::prev(next)->second, offset);
    }
    live.emplace(offset, end);
  }
}

// Pairs of blocks in use together are too many to keep: 2 x 10^8 and more.
TEST(ArenaPlannerTest, ManyBlocksAtOnce) {
  std::vector<Lifetime> nested;
  for (int32_t i = 0; i < 100'000; ++i) {
    nested.push_back({1 + i % 300, i, 200'000 - i});
  }
  const ArenaPlan stack = PlanArena(nested);
  CheckArena(nested, stack);
  EXPECT_EQ(stack.bytes, stack.lower_bound);

  std::vector<Lifetime> mixed;
  uint32_t state = 1;
  const auto below = [&state](uint32_t limit) {
    state = state * 1664525u + 1013904223u;
    return static_cast<int32_t>((state >> 8) % limit);
  };
  for (int i = 0; i < 40'000; ++i) {
    const int32_t first = below(2'000);
    mixed.push_back({1 + below(100'000), first, first + below(800)});
  }
  const ArenaPlan arena = PlanArena(mixed);
  CheckArena(mixed, arena);
  EXPECT_LT(arena.bytes, arena.lower_bound + arena.lower_bound / 5);
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
    const int64_t before = testing::NumAllocations();
    for (int run = 0; run < 100; ++run) {
      runner.Run(in, out, threads == 1 ? nullptr : &pool, nullptr);
    }
    EXPECT_EQ(testing::NumAllocations(), before) << threads << " threads";
  }
  const int64_t before = testing::NumAllocations();
  ::operator delete(::operator new(8));
  EXPECT_GT(testing::NumAllocations(), before) << "allocations are not counted";
}

TEST(PlanRunnerTest, ARunMakesNoSystemCall) {
  if (!testing::CanConfine()) {
    GTEST_SKIP() << "seccomp's strict mode cannot be entered here";
  }
  const Plan plan = Chain(20, 1);
  PlanRunner runner(plan);
  const std::vector<float> input = Sequence();
  std::vector<float> output(kElements);
  EXPECT_EQ(testing::RunConfined([&] {
              const void* const in[] = {input.data()};
              void* const out[] = {output.data()};
              for (int run = 0; run < 100; ++run) {
                runner.Run(in, out, nullptr, nullptr);
              }
              return output[0] == 23;
            }),
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
