// Benchmark of the executor beside its kernels.
//
//   bazel run //benchmarks:executor_benchmark [-- WORKLOAD [RUNS]]
//
// Prints
// - the time that a step costs beside its kernel;
// - the time that a second session of an executable takes;
// - what a second thread gains for WORKLOAD (MobileNet, if none is given), and
//   what it gains for a loop of multiply-adds: what the machine can give;
// - the median and the 99th percentile of RUNS runs at two threads, alone and
//   beside a process that computes all the time.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/backend/cpu/executable.h"
#include "baton/base/parallel_for.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/base/worker_pool.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/runtime/executor/plan.h"
#include "baton/runtime/executor/plan_runner.h"
#include "baton/testing/workloads/bound_workload.h"
#include "baton/tools/machine_peak.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The seconds of each of `runs` calls, sorted.
template <typename Function>
std::vector<double> SortedTimes(int runs, const Function& function) {
  std::vector<double> times;
  times.reserve(static_cast<size_t>(runs));
  for (int i = 0; i < runs; ++i) {
    const Clock::time_point begin = Clock::now();
    function();
    times.push_back(SecondsSince(begin));
  }
  std::sort(times.begin(), times.end());
  return times;
}

int EmptyStep(const executor::StepCall& call) {
  *static_cast<char*>(call.outputs[0]) = 1;
  return 0;
}

// A plan of steps that do nothing, each with three operands.
void PrintStepCost() {
  constexpr int kSteps = 1000;
  executor::Plan plan;
  plan.input_bytes = {64};
  plan.output_bytes = {64};
  executor::Value value;
  value.bytes = 64;
  value.space = executor::Space::kInput;
  plan.values.push_back(value);
  value.space = executor::Space::kArena;
  plan.values.push_back(value);
  value.space = executor::Space::kOutput;
  plan.values.push_back(value);
  plan.arena_bytes = 64;
  for (int i = 0; i < kSteps; ++i) {
    executor::Step step;
    step.function = EmptyStep;
    step.first_operand = static_cast<int32_t>(plan.operands.size());
    step.num_inputs = 2;
    step.num_outputs = 1;
    for (const int32_t operand : {0, 1, i + 1 == kSteps ? 2 : 1}) {
      plan.operands.push_back({operand, 0, 64});
    }
    plan.steps.push_back(step);
  }
  plan.notes.resize(plan.steps.size());
  executor::PlanRunner runner(plan);
  alignas(64) char input[64] = {};
  alignas(64) char output[64] = {};
  const void* const inputs[] = {input};
  void* outputs[] = {output};
  const std::vector<double> times = SortedTimes(200, [&] {
    runner.Run(inputs, absl::MakeSpan(outputs), nullptr, nullptr);
  });
  std::printf("a step beside its kernel: least %.1f ns, median %.1f ns\n",
              times.front() / kSteps * 1e9,
              times[times.size() / 2] / kSteps * 1e9);
}

void PrintSessions(const Executable& executable) {
  const std::vector<double> times = SortedTimes(50, [&] {
    if (!Session::Create(executable).ok()) std::abort();
  });
  std::printf(
      "a further session: least %.3f ms, median %.3f ms, most %.3f ms; arena "
      "%lld bytes\n",
      times.front() * 1e3, times[times.size() / 2] * 1e3, times.back() * 1e3,
      static_cast<long long>(executable.plan().arena_bytes));
}

// A process that computes until this object ends.
class BusyNeighbour {
 public:
  BusyNeighbour() : child_(fork()) {
    if (child_ == 0) {
      for (std::atomic<uint64_t> i = 0;;) i.fetch_add(1);
    }
  }
  BusyNeighbour(const BusyNeighbour&) = delete;
  BusyNeighbour& operator=(const BusyNeighbour&) = delete;
  ~BusyNeighbour() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }

 private:
  const pid_t child_;
};

void PrintPercentiles(const char* name, const std::vector<double>& times) {
  const double median = times[times.size() / 2];
  const double p99 = times[std::min(times.size() - 1, times.size() * 99 / 100)];
  std::printf(
      "%s: median %.3f ms, 99th percentile %.3f ms, %.2f medians; most %.3f "
      "ms\n",
      name, median * 1e3, p99 * 1e3, p99 / median, times.back() * 1e3);
}

// Two loops of multiply-adds at the same time against one.
double PeakGain() {
  double best_one = 0;
  double best_two = 0;
  for (int round = 0; round < 5; ++round) {
    best_one = std::max(best_one, MeasurePeakFlops());
    double other = 0;
    std::thread second([&other] { other = MeasurePeakFlops(); });
    const double mine = MeasurePeakFlops();
    second.join();
    best_two = std::max(best_two, mine + other);
  }
  return best_two / best_one;
}

absl::Status Main(int argc, char** argv) {
  const std::string spec = argc > 1 ? argv[1] : "mobilenet";
  const int runs = argc > 2 ? std::max(1, std::atoi(argv[2])) : 500;
  PrintStepCost();
  BATON_ASSIGN_OR_RETURN(IRModule module, testing::BoundWorkload(spec));
  BATON_ASSIGN_OR_RETURN(module, relay::InferTypes(module));
  BATON_ASSIGN_OR_RETURN(
      const std::vector<relay::Value> args,
      relay::RandomInputs(module.Find<relay::Function>("main"), 1));
  std::vector<Tensor> inputs;
  for (const relay::Value& arg : args) inputs.push_back(arg.tensor());
  BATON_ASSIGN_OR_RETURN(const Executable executable,
                         Compile(std::move(module), {.max_threads = 2}));
  PrintSessions(executable);
  BATON_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                         Session::Create(executable));
  WorkerPool pool(2);
  absl::Status status;
  const auto run = [&](ParallelFor* parallel) {
    const absl::StatusOr<std::vector<Tensor>> results =
        session->Run(inputs, parallel);
    if (!results.ok()) status = results.status();
  };
  run(&pool);
  // One and two threads take turns.
  double one = 1e9;
  double two = 1e9;
  for (int i = 0; i < std::min(runs, 100); ++i) {
    one = std::min(one, SortedTimes(1, [&] { run(nullptr); })[0]);
    two = std::min(two, SortedTimes(1, [&] { run(&pool); })[0]);
  }
  std::printf(
      "%s: least %.3f ms at one thread, %.3f ms at two: a gain of %.2f; of a "
      "loop of multiply-adds %.2f\n",
      spec.c_str(), one * 1e3, two * 1e3, one / two, PeakGain());
  PrintPercentiles("two threads alone", SortedTimes(runs, [&] { run(&pool); }));
  {
    const BusyNeighbour neighbour;
    PrintPercentiles("two threads beside a busy process",
                     SortedTimes(runs, [&] { run(&pool); }));
  }
  return status;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  const absl::Status status = baton::Main(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "executor_benchmark: %s\n",
               std::string(status.message()).c_str());
  return 1;
}
