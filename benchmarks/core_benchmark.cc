// Benchmarks of the core: one or a few for each row of the table that
// `benchmarks/report` prints.
//
// Times are those of a long-running program: they include destroying the
// results, except for the benchmarks Million/*, of which Million/Destroy is
// one. `per_node` is the time for one IR node, without operators.

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/benchmarks/allocation_counts.h"
#include "baton/benchmarks/pass_input.h"
#include "baton/benchmarks/shapes.h"
#include "baton/benchmarks/status_benchmarks.h"
#include "baton/instrument/timing.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/convert_layout.h"
#include "baton/relay/transform/dead_code_elimination.h"
#include "baton/relay/transform/eliminate_common_subexpr.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/fold_scale_axis.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/relay/transform/fuse_ops.h"
#include "baton/relay/transform/simplify_inference.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/workloads/workload.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"
#include "benchmark/benchmark.h"

namespace baton::benchmarks {
namespace {

using relay::Function;
using relay::InferTypes;

using State = benchmark::State;

IRModule Untyped(absl::string_view shape) { return *BuildShape(shape); }
IRModule Typed(absl::string_view shape) { return *InferTypes(Untyped(shape)); }

void SetPerNode(State& state, int64_t nodes) {
  SetTimeForEach(state, "per_node", static_cast<double>(nodes));
}

// One pass, again and again, on one module.
absl::Status RunPass(State& state, const Pass& pass, const IRModule& module) {
  for (auto _ : state) {
    const absl::StatusOr<IRModule> result = pass(module);
    if (!result.ok()) return result.status();
  }
  SetPerNode(state, CountNodes(module));
  return absl::OkStatus();
}

Pass NoOpModulePass() {
  return CreateModulePass(
      [](IRModule module, const PassContext& /*context*/) { return module; },
      {.name = "NoOp"});
}

Pass NoOpFunctionPass(const FunctionKind<Function>& kind) {
  return CreateFunctionPass(
      kind,
      [](Function function, const IRModule& /*module*/,
         const PassContext& /*context*/) { return function; },
      {.name = "NoOp"});
}

// --- Inference ---------------------------------------------------------------

absl::Status InferUntyped(State& state, const char* shape) {
  const IRModule module = Untyped(shape);
  for (auto _ : state) {
    const absl::StatusOr<IRModule> result = InferTypes(module);
    if (!result.ok()) return result.status();
  }
  SetPerNode(state, CountNodes(module));
  return absl::OkStatus();
}

absl::Status InferTyped(State& state, const char* shape) {
  const IRModule module = Typed(shape);
  for (auto _ : state) benchmark::DoNotOptimize(InferTypes(module));
  return absl::OkStatus();
}

// --- Passes on ResNet --------------------------------------------------------

// Runs `pass` on what it made itself until it gives that back. `idle`: whether
// it did.
absl::StatusOr<IRModule> RunUntilIdle(const Pass& pass, bool& idle) {
  BATON_ASSIGN_OR_RETURN(IRModule module, PassInputs().Get(pass, "resnet/18"));
  idle = false;
  for (int i = 0; i < 4 && !idle; ++i) {
    BATON_ASSIGN_OR_RETURN(IRModule result, pass(module));
    idle = result.SameAs(module);
    module = std::move(result);
  }
  return module;
}

// A pass on what it made itself, which it gives back as it is. One that does
// not, and did not promise to, is labeled, and so is one that refuses it.
absl::Status NothingToDo(State& state, const std::string& pass_text) {
  const testing::SilentStderr silence;
  BATON_ASSIGN_OR_RETURN(const Pass pass,
                         testing::GetRegisteredPass(pass_text));
  bool idle = false;
  const absl::StatusOr<IRModule> module = RunUntilIdle(pass, idle);
  if (!module.ok()) {
    if (!testing::MayRefuse(pass)) return module.status();
    state.SetLabel("refuses it");
    for (auto _ : state) {
    }
    return absl::OkStatus();
  }
  if (!idle) {
    if (pass.info().idempotent) {
      return absl::FailedPreconditionError(
          "the pass is declared idempotent, but finds something to do");
    }
    state.SetLabel("never idle");
  }
  return RunPass(state, pass, *module);
}

Pass ToNhwc() {
  return relay::ConvertLayout(
      {.desired_layouts = {{"nn.conv2d", AttrList{"NHWC", "HWIO"}}}});
}

absl::Status RunFoldScaleAxis(State& state, const char* shape) {
  BATON_ASSIGN_OR_RETURN(const IRModule module,
                         relay::SimplifyInference()(Typed(shape)));
  return RunPass(state, relay::FoldScaleAxis(), module);
}

// --- The pass manager --------------------------------------------------------

// A function pass that does nothing, on 10,000 functions.
absl::Status ManageFunctionsOf(State& state,
                               const FunctionKind<Function>& kind) {
  const IRModule module = Typed("functions/10000");
  BATON_RETURN_IF_ERROR(RunPass(state, NoOpFunctionPass(kind), module));
  SetTimeForEach(state, "per_function", static_cast<double>(module.size()));
  return absl::OkStatus();
}

absl::Status ManageAndInferFunctions(State& state) {
  return ManageFunctionsOf(state, relay::RelayFunctions());
}

// The pass manager's part of that: these functions are Relay's, but the pass
// that finishes them does nothing.
class UnfinishedFunctionKind final : public FunctionKind<Function> {
 public:
  absl::string_view SkipReason(const Function& function) const override {
    return relay::RelayFunctions().SkipReason(function);
  }
  Pass FinishingPass() const override { return NoOpModulePass(); }
};

absl::Status ManageFunctions(State& state) {
  const UnfinishedFunctionKind kind;
  return ManageFunctionsOf(state, kind);
}

// 1000 passes; `per_pass` is the time for one.
absl::Status ManagePasses(State& state, bool timing) {
  const IRModule module = Typed("resnet/18");
  const std::vector<Pass> passes(1000, NoOpModulePass());
  const Pass pipeline = Sequential(passes);
  for (auto _ : state) {
    PassInstruments instruments;
    if (timing) {
      instruments.push_back(std::make_shared<PassTimingInstrument>());
    }
    const absl::StatusOr<IRModule> result =
        PassContext({.instruments = std::move(instruments)}).Run([&] {
          return pipeline(module);
        });
    if (!result.ok()) return result.status();
  }
  SetTimeForEach(state, "per_pass", static_cast<double>(passes.size()));
  return absl::OkStatus();
}

absl::Status Snapshot(State& state) {
  IRModule module = Typed("functions/10000");
  for (auto _ : state) {
    IRModule copy = module;
    benchmark::DoNotOptimize(copy);
  }
  return absl::OkStatus();
}

absl::Status Changed(State& state) {
  IRModule module = Typed("functions/10000");
  IRModule copy = module;
  for (auto _ : state) {
    benchmark::DoNotOptimize(module);
    benchmark::DoNotOptimize(copy);
    bool changed = !copy.SameAs(module);
    benchmark::DoNotOptimize(changed);
  }
  return absl::OkStatus();
}

// --- Text --------------------------------------------------------------------

absl::Status Print(State& state, const IRModule& module) {
  int64_t bytes = 0;
  for (auto _ : state) {
    const std::string text = AsText(module, {.metadata = false});
    bytes += static_cast<int64_t>(text.size());
    benchmark::DoNotOptimize(text.data());
  }
  state.SetBytesProcessed(bytes);
  SetPerNode(state, CountNodes(module));
  return absl::OkStatus();
}

absl::Status Parse(State& state, const IRModule& module) {
  const std::string text = AsText(module);
  for (auto _ : state) {
    const absl::StatusOr<IRModule> result = ParseModule(text);
    if (!result.ok()) return result.status();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) *
                          static_cast<int64_t>(text.size()));
  SetPerNode(state, CountNodes(module));
  return absl::OkStatus();
}

// --- A million calls ---------------------------------------------------------

constexpr char kMillion[] = "chain_calls/1000000";

// Times `run`, which keeps what it makes in its argument; what it made last
// time is destroyed before, outside of the time.
template <typename T>
absl::Status Million(State& state, int64_t nodes,
                     absl::FunctionRef<absl::Status(T& result)> run) {
  T result{};
  for (auto _ : state) {
    BATON_RETURN_IF_ERROR(run(result));
    state.PauseTiming();
    result = T{};
    state.ResumeTiming();
  }
  SetPerNode(state, nodes);
  return absl::OkStatus();
}

// The memory that is held by what `make` makes, for each call.
template <typename T>
void SetBytesPerCall(State& state, absl::FunctionRef<T()> make) {
  T made{};
  const EmptyNodeMemory empty;
  const AllocationCounts counts = CountAllocations([&] { made = make(); });
  state.counters["bytes_per_call"] =
      static_cast<double>(counts.held_bytes) / 1e6;
  made = T{};
}

absl::Status MillionBuild(State& state) {
  const auto make = [] { return Untyped(kMillion); };
  SetBytesPerCall<IRModule>(state, make);
  return Million<IRModule>(state, CountNodes(make()), [&](IRModule& result) {
    result = make();
    return absl::OkStatus();
  });
}

absl::Status MillionInfer(State& state) {
  const IRModule module = Untyped(kMillion);
  BATON_RETURN_IF_ERROR(InferTypes(module).status());
  const auto make = [&] { return *InferTypes(module); };
  SetBytesPerCall<IRModule>(state, make);
  return Million<IRModule>(state, CountNodes(module), [&](IRModule& result) {
    result = make();
    return absl::OkStatus();
  });
}

absl::Status MillionPass(State& state, const Pass& pass) {
  const IRModule module = Typed(kMillion);
  return Million<IRModule>(state, CountNodes(module),
                           [&](IRModule& result) -> absl::Status {
                             BATON_ASSIGN_OR_RETURN(result, pass(module));
                             return absl::OkStatus();
                           });
}

absl::Status MillionPrint(State& state) {
  const IRModule module = Typed(kMillion);
  return Million<std::string>(state, CountNodes(module),
                              [&](std::string& result) {
                                result = AsText(module);
                                return absl::OkStatus();
                              });
}

absl::Status MillionDestroy(State& state) {
  int64_t nodes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    IRModule module = Typed(kMillion);
    nodes = CountNodes(module);
    state.ResumeTiming();
    module = IRModule();
  }
  SetPerNode(state, nodes);
  return absl::OkStatus();
}

// --- Weights -----------------------------------------------------------------

// ResNet-18 with weights, and a layout transform on each of those that a
// convolution uses.
absl::StatusOr<IRModule> TransformedWeights() {
  BATON_ASSIGN_OR_RETURN(testing::Workload workload,
                         testing::GetWorkload("resnet{num_layers=18}"));
  BATON_ASSIGN_OR_RETURN(
      const Function bound,
      relay::BindParamsByName(workload.module.Find<Function>("main"),
                              workload.params));
  BATON_ASSIGN_OR_RETURN(const IRModule module,
                         InferTypes(relay::ModuleFromExpr(bound)));
  return ToNhwc()(module);
}

std::vector<Tensor> WeightsToTransform(const IRModule& module) {
  const Op transform = Op::Find("layout_transform");
  std::vector<Tensor> result;
  relay::PostOrderVisit(
      module.Find<Function>("main"), [&](const ExprNode* node) {
        const auto* call = Expr(node).As<relay::CallNode>();
        if (call == nullptr || call->op() != transform) return;
        const auto* constant = call->arg(0).As<relay::ConstantNode>();
        if (constant != nullptr) result.push_back(constant->value());
      });
  return result;
}

void SetBytes(State& state, const std::vector<Tensor>& tensors) {
  int64_t bytes = 0;
  for (const Tensor& t : tensors) bytes += t.byte_size();
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * bytes);
}

absl::Status FoldLayouts(State& state) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, TransformedWeights());
  BATON_RETURN_IF_ERROR(RunPass(state, relay::FoldConstant(), module));
  SetBytes(state, WeightsToTransform(module));
  return absl::OkStatus();
}

// The time of copying the same weights: to newly allocated memory, as in
// folding, or to the same memory each time.
absl::Status CopyWeights(State& state, bool to_new) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, TransformedWeights());
  const std::vector<Tensor> tensors = WeightsToTransform(module);
  std::vector<std::unique_ptr<char[]>> copies;
  for (auto _ : state) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const auto bytes = static_cast<size_t>(tensors[i].byte_size());
      if (copies.size() == i) copies.emplace_back(new char[bytes]);
      std::memcpy(copies[i].get(), tensors[i].data(), bytes);
    }
    benchmark::ClobberMemory();
    if (to_new) copies.clear();
  }
  SetBytes(state, tensors);
  return absl::OkStatus();
}

// -----------------------------------------------------------------------------

void AddAll(StatusBenchmarks& benchmarks) {
  for (const char* const net : {"resnet/18", "resnet/152"}) {
    const auto on_net = [&, net](const std::string& name, const Pass& pass) {
      benchmarks.Add(absl::StrCat(name, "/", net), [net, pass](State& state) {
        return RunPass(state, pass, Typed(net));
      });
    };
    const auto add = [&, net](const std::string& name, auto body) {
      benchmarks.Add(absl::StrCat(name, "/", net),
                     [net, body](State& state) { return body(state, net); });
    };
    add("InferUntyped", InferUntyped);
    add("InferTyped", InferTyped);
    on_net("SimplifyInference", relay::SimplifyInference());
    on_net("FuseOps", relay::FuseOps());
    on_net("ConvertLayout", ToNhwc());
    add("FoldScaleAxis", RunFoldScaleAxis);
  }
  for (const std::string& pass : testing::RegisteredPasses()) {
    benchmarks.Add(absl::StrCat("NothingToDo/", pass),
                   [pass](State& state) { return NothingToDo(state, pass); });
  }
  benchmarks.Add("Manager/Functions", ManageFunctions);
  benchmarks.Add("Manager/FunctionsAndInferType", ManageAndInferFunctions);
  benchmarks.Add("Manager/Passes",
                 [](State& state) { return ManagePasses(state, false); });
  benchmarks.Add("Manager/PassesTimed",
                 [](State& state) { return ManagePasses(state, true); });
  benchmarks.Add("Snapshot", Snapshot);
  benchmarks.Add("Changed", Changed);
  for (const char* const shape :
       {"resnet/18", "resnet/152", "chain_calls/100000", "chain_lets/100000"}) {
    benchmarks.Add(absl::StrCat("Print/", shape), [shape](State& state) {
      return Print(state, Typed(shape));
    });
    benchmarks.Add(absl::StrCat("Parse/", shape), [shape](State& state) {
      return Parse(state, Typed(shape));
    });
    benchmarks.Add(absl::StrCat("ParseUntyped/", shape), [shape](State& state) {
      return Parse(state, Untyped(shape));
    });
  }
  const auto million = [&](const std::string& name, auto body) {
    benchmarks.Add(absl::StrCat("Million/", name), body)
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  };
  million("Build", MillionBuild);
  million("Infer", MillionInfer);
  million("EliminateCommonSubexpr", [](State& state) {
    return MillionPass(state, relay::EliminateCommonSubexpr());
  });
  million("DeadCodeElimination", [](State& state) {
    return MillionPass(state, relay::DeadCodeElimination());
  });
  million("FuseOps",
          [](State& state) { return MillionPass(state, relay::FuseOps()); });
  million("Print", MillionPrint);
  million("Destroy", MillionDestroy);
  const auto weights = [&](const std::string& name, auto body) {
    benchmarks.Add(absl::StrCat("Weights/", name), body)
        ->Unit(benchmark::kMillisecond);
  };
  weights("FoldLayouts", FoldLayouts);
  weights("CopyToNew", [](State& state) { return CopyWeights(state, true); });
  weights("CopyToOld", [](State& state) { return CopyWeights(state, false); });
}

}  // namespace
}  // namespace baton::benchmarks

int main(int argc, char** argv) {
  // Memory that was freed stays with the program: the time that the system
  // takes for new pages would depend on what ran before.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  baton::benchmarks::StatusBenchmarks benchmarks;
  baton::benchmarks::AddAll(benchmarks);
  return benchmarks.Run(argc, argv);
}
