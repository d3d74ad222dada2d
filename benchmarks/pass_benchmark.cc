// Benchmarks of every registered pass, on every shape.
//
//   pass_benchmark --benchmark_filter='^FuseOps/chain_calls/'
//
// Names are PASS/SHAPE/SIZE. A pass runs on a typed module after the passes
// that it requires; InferType runs on an untyped one. Time includes destroying
// the result. For each IR node of the input, without operators: `per_node` is
// the time; `bytes_per_node` and `allocs_per_node` are the allocations of the
// pass, freed ones included.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/benchmarks/allocation_counts.h"
#include "baton/benchmarks/pass_input.h"
#include "baton/benchmarks/shapes.h"
#include "baton/benchmarks/status_benchmarks.h"
#include "baton/ir/module.h"
#include "baton/testing/registered_passes.h"
#include "baton/transform/pass.h"
#include "benchmark/benchmark.h"

namespace baton::benchmarks {
namespace {

absl::Status Measure(benchmark::State& state, PassInputs& inputs,
                     const std::string& pass_text, const std::string& shape) {
  const testing::SilentStderr silence;
  BATON_ASSIGN_OR_RETURN(const Pass pass,
                         testing::GetRegisteredPass(pass_text));
  BATON_ASSIGN_OR_RETURN(const IRModule input, inputs.Get(pass, shape));
  const auto nodes = static_cast<double>(CountNodes(input));
  absl::Status status;
  const AllocationCounts counts =
      CountAllocations([&] { status.Update(pass(input).status()); });
  BATON_RETURN_IF_ERROR(status);
  for (auto _ : state) {
    const absl::StatusOr<IRModule> result = pass(input);
    if (!result.ok()) return result.status();
  }
  SetTimeForEach(state, "per_node", nodes);
  state.counters["bytes_per_node"] = static_cast<double>(counts.bytes) / nodes;
  state.counters["allocs_per_node"] =
      static_cast<double>(counts.allocations) / nodes;
  return absl::OkStatus();
}

void AddAll(StatusBenchmarks& benchmarks) {
  // By shape, so that each is built once.
  std::vector<std::string> shapes = {"resnet/18",     "resnet/152",
                                     "wide/100000",   "ladder/100",
                                     "ladder/100000", "functions/10000"};
  for (int64_t n = 100; n <= 1'000'000; n *= 10) {
    for (const char* const family :
         {"chain_calls", "chain_unary", "chain_lets"}) {
      shapes.push_back(absl::StrCat(family, "/", n));
    }
  }
  const auto inputs = std::make_shared<PassInputs>();
  for (const std::string& shape : shapes) {
    for (const std::string& pass : PassesForAnyProgram()) {
      benchmarks
          .Add(absl::StrCat(pass, "/", shape),
               [inputs, pass, shape](benchmark::State& state) {
                 return Measure(state, *inputs, pass, shape);
               })
          ->Unit(benchmark::kMicrosecond);
    }
  }
}

}  // namespace
}  // namespace baton::benchmarks

int main(int argc, char** argv) {
  baton::benchmarks::StatusBenchmarks benchmarks;
  baton::benchmarks::AddAll(benchmarks);
  return benchmarks.Run(argc, argv);
}
