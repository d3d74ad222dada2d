// Benchmarks that can fail, registered by name while the program runs.
//
//   int main(int argc, char** argv) {
//     StatusBenchmarks benchmarks;
//     benchmarks.Add("Parse/" + name, [name](benchmark::State& state) {
//       BATON_ASSIGN_OR_RETURN(const std::string text, ReadFile(name));
//       for (auto _ : state) ...
//       return absl::OkStatus();
//     });
//     return benchmarks.Run(argc, argv);
//   }

#ifndef BATON_BENCHMARKS_STATUS_BENCHMARKS_H_
#define BATON_BENCHMARKS_STATUS_BENCHMARKS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "benchmark/benchmark.h"

namespace baton::benchmarks {

// The benchmarks of a program.
class StatusBenchmarks {
 public:
  using Body = std::function<absl::Status(benchmark::State& state)>;

  // Registers a benchmark. `body` runs in a pass context of level 3. Returns
  // Google Benchmark's object, for setting units and the like.
  benchmark::internal::Benchmark* Add(const std::string& name, Body body);

  // Runs the benchmarks that the flags select. Returns 1 if a benchmark failed
  // or the flags are wrong.
  int Run(int argc, char** argv);

 private:
  std::shared_ptr<std::atomic<bool>> failed_ =
      std::make_shared<std::atomic<bool>>(false);
};

// Sets a counter: the time per item, where an iteration processes `n` items.
void SetTimeForEach(benchmark::State& state, const std::string& counter,
                    double n);

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_STATUS_BENCHMARKS_H_
