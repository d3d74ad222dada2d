// Benchmarks of function passes on two threads against one, beside the speedup
// of the machine itself from a second core.
//
//   ./bazelw run //benchmarks:threads_benchmark
//
// Each figure is the minimum of several runs, which alternate between one and
// two threads, so that other load of the machine disturbs both equally. If
// there is much other load, look at the processor time of the busiest thread:
// with a core for each thread, that is about the time of the work.
//
//   --functions=N   functions in the module (10,000)
//   --rounds=N      runs of each (9)

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/op/tensor.h"
#include "baton/relay/transform/eliminate_common_subexpr.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/fuse_ops.h"
#include "baton/transform/parallel.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"

ABSL_FLAG(int, functions, 10000, "Functions in the module.");
ABSL_FLAG(int, rounds, 9, "Runs of each, of which the fastest counts.");

namespace baton {
namespace {

// In milliseconds.
struct Times {
  double wall = std::numeric_limits<double>::max();
  double busiest = std::numeric_limits<double>::max();  // processor time
};

double Now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e3 +
         static_cast<double>(time.tv_nsec) * 1e-6;
}

// Each function has something to fold, to merge and to fuse.
absl::StatusOr<IRModule> Functions(int n) {
  IRModule module;
  for (int i = 0; i < n; ++i) {
    const relay::Var x("x", {2, 3});
    const Expr two = relay::Const(2.0F);
    const Expr y = relay::Add(x, relay::Multiply(two, two));
    const Expr z = relay::Add(x, relay::Multiply(two, two));
    module.Set(
        absl::StrCat("f", i),
        relay::Function({x}, relay::Add(relay::Tanh(y), relay::Tanh(z))));
  }
  return relay::InferTypes(module);
}

// `fn` works on this thread and at most one other.
Times Measure(absl::FunctionRef<void()> fn) {
  const double wall = Now(CLOCK_MONOTONIC);
  const double process = Now(CLOCK_PROCESS_CPUTIME_ID);
  const double thread = Now(CLOCK_THREAD_CPUTIME_ID);
  fn();
  const double here = Now(CLOCK_THREAD_CPUTIME_ID) - thread;
  const double all = Now(CLOCK_PROCESS_CPUTIME_ID) - process;
  return {Now(CLOCK_MONOTONIC) - wall, std::max(here, all - here)};
}

// Prints the least times of `run(1)` and of `run(2)`.
absl::Status Compare(
    const std::string& what,
    absl::FunctionRef<absl::StatusOr<Times>(int threads)> run) {
  Times best[2];
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds); ++round) {
    for (const int threads : {1, 2}) {
      BATON_ASSIGN_OR_RETURN(const Times times, run(threads));
      Times& least = best[threads - 1];
      least.wall = std::min(least.wall, times.wall);
      least.busiest = std::min(least.busiest, times.busiest);
    }
  }
  std::printf("%-28s%9.1f%9.1f%7.2f%12.1f%9.1f%7.2f\n", what.c_str(),
              best[0].wall, best[1].wall, best[0].wall / best[1].wall,
              best[0].busiest, best[1].busiest,
              best[0].busiest / best[1].busiest);
  std::fflush(stdout);
  return absl::OkStatus();
}

absl::Status ComparePass(const std::string& what, const Pass& pass,
                         const IRModule& module) {
  return Compare(what, [&](int threads) -> absl::StatusOr<Times> {
    const PassContext context(
        {.opt_level = 3, .config = {{ThreadsConfig().name(), threads}}});
    absl::StatusOr<IRModule> result;
    const Times times =
        Measure([&] { result = context.Run([&] { return pass(module); }); });
    if (!result.ok()) return result.status();
    return times;
  });
}

// Does `work(part)` for two parts, on as many threads.
Times Run(int threads, absl::FunctionRef<void(int part)> work) {
  return Measure([&] {
    if (threads == 1) {
      work(0);
      work(1);
    } else {
      std::thread helper([&] { work(1); });
      work(0);
      helper.join();
    }
  });
}

// Follows links from place to place in memory that no cache holds.
absl::Status CompareMemory() {
  constexpr size_t kPlaces = size_t{8} << 20;  // 64 MiB for each part
  constexpr size_t kSteps = size_t{1} << 20;
  std::vector<std::vector<uint64_t>> parts(2, std::vector<uint64_t>(kPlaces));
  for (std::vector<uint64_t>& places : parts) {
    // A cycle through all: x -> 5x + 3 (mod 2^k) has full period.
    for (size_t i = 0; i < kPlaces; ++i) {
      places[i] = (5 * i + 3) % kPlaces;
    }
  }
  uint64_t ends[2] = {0, 0};
  return Compare("memory-bound loop", [&](int threads) {
    return absl::StatusOr<Times>(Run(threads, [&](int part) {
      uint64_t place = ends[part];
      for (size_t i = 0; i < kSteps; ++i) place = parts[part][place];
      ends[part] = place;
    }));
  });
}

absl::Status CompareCompute() {
  uint64_t ends[2] = {1, 2};
  return Compare("compute-bound loop", [&](int threads) {
    return absl::StatusOr<Times>(Run(threads, [&](int part) {
      uint64_t x = ends[part];
      for (int i = 0; i < (1 << 24); ++i) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        x ^= x >> 29;
      }
      ends[part] = x;
    }));
  });
}

absl::Status Main() {
  std::printf("%-28s%25s%28s\n", "milliseconds", "wall clock",
              "busiest thread");
  std::printf("%-28s%9s%9s%7s%12s%9s%7s\n", "threads", "1", "2", "ratio", "1",
              "2", "ratio");
  BATON_RETURN_IF_ERROR(CompareMemory());
  BATON_RETURN_IF_ERROR(CompareCompute());
  BATON_ASSIGN_OR_RETURN(IRModule module,
                         Functions(absl::GetFlag(FLAGS_functions)));
  const std::vector<Pass> passes = {
      relay::FoldConstant(), relay::EliminateCommonSubexpr(), relay::FuseOps()};
  BATON_RETURN_IF_ERROR(ComparePass("the three passes together",
                                    Sequential(passes, {.name = "together"}),
                                    module));
  for (const Pass& pass : passes) {
    BATON_RETURN_IF_ERROR(ComparePass(pass.name(), pass, module));
    BATON_ASSIGN_OR_RETURN(module, pass(std::move(module)));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = baton::Main();
  if (status.ok()) return 0;
  std::cerr << "error: " << status.message() << "\n";
  return 1;
}
