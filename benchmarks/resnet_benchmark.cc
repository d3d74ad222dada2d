// Inference, folding, printing and passes with nothing to do, on ResNet.
//
// `per_node` is the time for one IR node (operators are not counted).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/ir/expr.h"
#include "baton/ir/infer_type.h"
#include "baton/ir/module.h"
#include "baton/ir/text_printer.h"
#include "baton/ir/visit.h"
#include "baton/relay/bind.h"
#include "baton/relay/transform/convert_layout.h"
#include "baton/relay/transform/fold_constant.h"
#include "baton/relay/transform/fold_scale_axis.h"
#include "baton/relay/transform/infer_type.h"
#include "baton/relay/transform/simplify_inference.h"
#include "baton/testing/resnet.h"
#include "baton/testing/workload.h"
#include "baton/transform/function_pass.h"
#include "baton/transform/module_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "benchmark/benchmark.h"

namespace baton {
namespace {

int64_t CountNodes(const Expr& root) {
  int64_t count = 0;
  PostOrderVisit(root, [&](const ExprNode* node) {
    count += node->kind() == NodeKind::kOp ? 0 : 1;
  });
  return count;
}

Function Untyped(int64_t layers) {
  return *testing::BuildResNet({.num_layers = layers});
}

IRModule Typed(int64_t layers) { return *testing::ModuleOf(Untyped(layers)); }

IRModule Bound(int64_t layers) {
  testing::Workload workload =
      *testing::GetWorkload(absl::StrCat("resnet{num_layers=", layers, "}"));
  workload.module.Set(
      "main",
      *relay::BindParamsByName(workload.module.Find("main"), workload.params));
  return *InferTypes(workload.module);
}

void ReportPerNode(benchmark::State& state, const Expr& root) {
  state.counters["per_node"] =
      benchmark::Counter(static_cast<double>(CountNodes(root)),
                         benchmark::Counter::kIsIterationInvariantRate |
                             benchmark::Counter::kInvert);
}

void BM_InferTypeUntyped(benchmark::State& state) {
  const Function function = Untyped(state.range(0));
  const IRModule module = IRModule::FromExpr(function);
  for (auto _ : state) benchmark::DoNotOptimize(InferTypes(module));
  ReportPerNode(state, function);
}
BENCHMARK(BM_InferTypeUntyped)->Arg(18)->Arg(152);

void BM_InferTypeTyped(benchmark::State& state) {
  const IRModule module = Typed(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(InferTypes(module));
}
BENCHMARK(BM_InferTypeTyped)->Arg(18)->Arg(152);

void BM_Print(benchmark::State& state) {
  const IRModule module = Typed(state.range(0));
  int64_t bytes = 0;
  for (auto _ : state) {
    const std::string text = AsText(module, {.metadata = false});
    bytes += static_cast<int64_t>(text.size());
    benchmark::DoNotOptimize(text.data());
  }
  state.SetBytesProcessed(bytes);
  ReportPerNode(state, module.Find("main"));
}
BENCHMARK(BM_Print)->Arg(18)->Arg(152);

// One pass over a typed module, in a context of level 3.
void RunPass(benchmark::State& state, const Pass& pass,
             const IRModule& module) {
  const PassContext context({.opt_level = 3});
  const absl::Status status = context.Run([&]() -> absl::Status {
    for (auto _ : state) {
      const absl::StatusOr<IRModule> result = pass(module);
      if (!result.ok()) return result.status();
    }
    return absl::OkStatus();
  });
  if (!status.ok()) {
    state.SkipWithError(std::string(status.message()).c_str());
  }
  ReportPerNode(state, module.Find("main"));
}

// The pass manager alone.
void BM_NoOpModulePass(benchmark::State& state) {
  RunPass(state,
          CreateModulePass(
              [](IRModule module, const PassContext&) { return module; },
              {.name = "NoOp"}),
          Typed(state.range(0)));
}
BENCHMARK(BM_NoOpModulePass)->Arg(18)->Arg(152);

void BM_NoOpFunctionPass(benchmark::State& state) {
  RunPass(state,
          CreateFunctionPass([](Function function, const IRModule&,
                                const PassContext&) { return function; },
                             {.name = "NoOp"}),
          Typed(state.range(0)));
}
BENCHMARK(BM_NoOpFunctionPass)->Arg(18)->Arg(152);

// One walk that finds nothing to fold.
void BM_FoldConstantNothingToDo(benchmark::State& state) {
  RunPass(state, relay::FoldConstant(), Typed(state.range(0)));
}
BENCHMARK(BM_FoldConstantNothingToDo)->Arg(18)->Arg(152);

void BM_SimplifyInference(benchmark::State& state) {
  RunPass(state, relay::SimplifyInference(), Typed(state.range(0)));
}
BENCHMARK(BM_SimplifyInference)->Arg(18)->Arg(152);

void BM_FoldScaleAxis(benchmark::State& state) {
  RunPass(state, relay::FoldScaleAxis(),
          *relay::SimplifyInference()(Typed(state.range(0))));
}
BENCHMARK(BM_FoldScaleAxis)->Arg(18)->Arg(152);

Pass ToNhwc() {
  return relay::ConvertLayout(
      {.desired_layouts = {{"nn.conv2d", AttrList{"NHWC", "HWIO"}}}});
}

void BM_ConvertLayout(benchmark::State& state) {
  RunPass(state, ToNhwc(), Typed(state.range(0)));
}
BENCHMARK(BM_ConvertLayout)->Arg(18)->Arg(152);

// The layout transforms of all weights; `bytes_per_second` counts them once.
void BM_FoldConstantLayouts(benchmark::State& state) {
  const IRModule module = *PassContext({.opt_level = 3}).Run([&] {
    return ToNhwc()(Bound(state.range(0)));
  });
  int64_t bytes = 0;
  PostOrderVisit(module.Find("main"), [&](const ExprNode* node) {
    if (const auto* constant = Expr(node).As<ConstantNode>()) {
      bytes += constant->value().byte_size();
    }
  });
  RunPass(state, relay::FoldConstant(), module);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * bytes);
}
BENCHMARK(BM_FoldConstantLayouts)->Arg(18)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace baton
