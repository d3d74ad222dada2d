// Benchmarks of binary files: programs, and weights.
//
// `per_node` is the time for one IR node (operators are not counted).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/checksum.h"
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/builders.h"
#include "baton/testing/workloads/resnet.h"
#include "baton/testing/workloads/workload.h"
#include "benchmark/benchmark.h"

namespace baton {
namespace {

using Checksums = BinaryReadOptions::Checksums;

IRModule Network(int64_t layers) {
  return *testing::GetWorkloadModule(
      absl::StrCat("resnet{num_layers=", layers, "}"));
}

IRModule Bound(int64_t layers) {
  testing::Workload workload =
      *testing::GetWorkload(absl::StrCat("resnet{num_layers=", layers, "}"));
  return *relay::InferTypes(relay::ModuleFromExpr(*relay::BindParamsByName(
      workload.module.Find<relay::Function>("main"), workload.params)));
}

IRModule Chain(int64_t calls) {
  const relay::Var x("x", {2, 3});
  Expr e = x;
  for (int64_t i = 0; i < calls; ++i) e = relay::Add(std::move(e), x);
  return *relay::InferTypes(
      relay::ModuleFromExpr(relay::Function({x}, std::move(e))));
}

// The file of `module` in memory, aligned as files are when they are mapped.
std::shared_ptr<const Tensor> FileOf(const IRModule& module) {
  const BinaryModule binary = *WriteBinary(module);
  MutableTensor file = *MutableTensor::Create(
      DType::UInt(8), {static_cast<int64_t>(binary.size())});
  char* out = static_cast<char*>(file.data());
  for (const absl::string_view piece : binary.pieces()) {
    out += piece.copy(out, piece.size());
  }
  return std::make_shared<const Tensor>(std::move(file).Freeze());
}

void Report(benchmark::State& state, const IRModule& module, int64_t bytes) {
  int64_t nodes = 0;
  relay::PostOrderVisit(module.Find<relay::Function>("main"),
                        [&](const ExprNode* node) {
                          nodes += node->kind() == relay::ExprKind::kOp ? 0 : 1;
                        });
  state.counters["per_node"] =
      benchmark::Counter(static_cast<double>(nodes),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
  state.counters["bytes_per_node"] =
      static_cast<double>(bytes) / static_cast<double>(nodes);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * bytes);
}

void Write(benchmark::State& state, const IRModule& module) {
  int64_t bytes = 0;
  for (auto _ : state) {
    const BinaryModule binary = *WriteBinary(module);
    bytes = static_cast<int64_t>(binary.size());
  }
  Report(state, module, bytes);
}

void Read(benchmark::State& state, const IRModule& module,
          Checksums checksums = Checksums::kAll) {
  const std::shared_ptr<const Tensor> file = FileOf(module);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        ReadBinary(file->bytes(), file, "file", {.checksums = checksums}));
  }
  Report(state, module, file->byte_size());
}

void BM_WriteResNet(benchmark::State& state) {
  Write(state, Network(state.range(0)));
}
BENCHMARK(BM_WriteResNet)->Arg(18)->Arg(152);

void BM_ReadResNet(benchmark::State& state) {
  Read(state, Network(state.range(0)));
}
BENCHMARK(BM_ReadResNet)->Arg(18)->Arg(152);

// Time includes that of destroying the module that was read.
void BM_WriteChain(benchmark::State& state) {
  Write(state, Chain(state.range(0)));
}
BENCHMARK(BM_WriteChain)->Arg(100)->Arg(1'000'000);

void BM_ReadChain(benchmark::State& state) {
  Read(state, Chain(state.range(0)));
}
BENCHMARK(BM_ReadChain)->Arg(100)->Arg(1'000'000);

void BM_WriteWeights(benchmark::State& state) {
  Write(state, Bound(state.range(0)));
}
BENCHMARK(BM_WriteWeights)->Arg(50);

void BM_ReadWeights(benchmark::State& state) {
  Read(state, Bound(state.range(0)));
}
BENCHMARK(BM_ReadWeights)->Arg(50);

void BM_ReadWeightsUnchecked(benchmark::State& state) {
  Read(state, Bound(state.range(0)), Checksums::kNotTensors);
}
BENCHMARK(BM_ReadWeightsUnchecked)->Arg(50);

void BM_Checksum(benchmark::State& state) {
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Checksum(bytes));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          state.range(0));
}
BENCHMARK(BM_Checksum)->Arg(64)->Arg(100'000'000);

}  // namespace
}  // namespace baton
