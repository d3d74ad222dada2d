#include "baton/benchmarks/status_benchmarks.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "baton/transform/pass_context.h"
#include "benchmark/benchmark.h"

namespace baton::benchmarks {

benchmark::internal::Benchmark* StatusBenchmarks::Add(const std::string& name,
                                                      Body body) {
  return benchmark::RegisterBenchmark(
      name.c_str(),
      [body = std::move(body), failed = failed_](benchmark::State& state) {
        const absl::Status status =
            PassContext({.opt_level = 3}).Run([&] { return body(state); });
        if (status.ok()) return;
        failed->store(true);
        state.SkipWithError(std::string(status.message()).c_str());
      });
}

int StatusBenchmarks::Run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return failed_->load() ? 1 : 0;
}

void SetTimeForEach(benchmark::State& state, const std::string& counter,
                    double n) {
  state.counters[counter] =
      benchmark::Counter(n, benchmark::Counter::kIsIterationInvariantRate |
                                benchmark::Counter::kInvert);
}

}  // namespace baton::benchmarks
