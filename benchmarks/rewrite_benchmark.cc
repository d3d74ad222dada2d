// Benchmarks of the cost of rules: 200 rules of which none matches, and one
// rule that is applied at every node.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/benchmarks/shapes.h"
#include "baton/ir/module.h"
#include "baton/ir/op.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/rewrite_rule.h"
#include "baton/relay/pattern/rewriter.h"
#include "benchmark/benchmark.h"

namespace baton::benchmarks {
namespace {

using relay::DataflowPattern;
using relay::IsOp;
using relay::PatternMatch;
using relay::RewriteRule;
using relay::RuleSet;
using relay::Wildcard;

// Four rules for each of `num_ops` operators, those of networks among them.
// They match only arguments that networks do not have.
std::vector<RewriteRule> Rules(size_t num_ops) {
  std::vector<std::string> ops = {"nn.relu",       "nn.conv2d",    "add",
                                  "nn.bias_add",   "multiply",     "nn.dense",
                                  "nn.max_pool2d", "nn.batch_norm"};
  for (const OpNode* op : OpRegistry::Global().List()) {
    if (ops.size() < num_ops && (op->arity() == 1 || op->arity() == 2)) {
      ops.push_back(op->name());
    }
  }
  std::vector<RewriteRule> rules;
  for (const std::string& name : ops) {
    for (const char* inner : {"erf", "atanh", "sinh", "nn.dense"}) {
      std::vector<DataflowPattern> args;
      const int arity = Op::Find(name)->arity();
      for (int i = 0; i < arity; ++i) args.push_back(Wildcard());
      args[0] = IsOp(inner).CallOfAny();
      rules.push_back(
          {.name = absl::StrCat("rule", rules.size()),
           .pattern = IsOp(name).Call(args),
           .replace = [](const PatternMatch& m) { return m.root(); }});
    }
  }
  return rules;
}

Expr Program(absl::string_view shape) {
  absl::StatusOr<IRModule> module = BuildShape(shape);
  if (module.ok()) module = relay::InferTypes(*module);
  return module.ok() ? module->Find<relay::Function>("main")
                     : relay::Function();
}

void NothingMatches(benchmark::State& state, const char* shape,
                    size_t num_ops = 50) {
  const Expr program = Program(shape);
  if (!program.defined()) return state.SkipWithError("no program");
  const RuleSet rules(Rules(num_ops));
  const relay::IndexedGraph graph(program);
  for (auto _ : state) {
    benchmark::DoNotOptimize(rules.Rewrite(program));
  }
  state.SetItemsProcessed(state.iterations() * graph.size());
  state.counters["ns_per_node"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * graph.size() / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(NothingMatches, resnet152, "resnet/152");
BENCHMARK_CAPTURE(NothingMatches, chain, "chain_calls/1000000")
    ->Unit(benchmark::kMillisecond);

// More rules for other operators cost nothing.
BENCHMARK_CAPTURE(NothingMatches, resnet152_800_rules, "resnet/152", 200);

// The graph that rewriting needs once something matches, for comparison.
void IndexOnly(benchmark::State& state, const char* shape) {
  const Expr program = Program(shape);
  if (!program.defined()) return state.SkipWithError("no program");
  int64_t size = 0;
  for (auto _ : state) {
    const relay::IndexedGraph graph(program);
    size = graph.size();
  }
  state.counters["ns_per_node"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(size) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(IndexOnly, resnet152, "resnet/152");
BENCHMARK_CAPTURE(IndexOnly, chain, "chain_calls/1000000")
    ->Unit(benchmark::kMillisecond);

// One rule, applied to a chain of calls.
void Applied(benchmark::State& state) {
  const relay::Var x("x", {4});
  Expr chain = x;
  for (int64_t i = 0; i < state.range(0); ++i) {
    chain = relay::Call(BATON_OP("exp"), {chain});
  }
  absl::StatusOr<Expr> program =
      relay::InferTypeOf(relay::Function({x}, chain));
  if (!program.ok()) return state.SkipWithError("no program");
  const DataflowPattern a = Wildcard();
  const RuleSet rules({{.name = "exp_to_sin",
                        .pattern = IsOp("exp")(a),
                        .replace = [=](const PatternMatch& m) -> Expr {
                          return relay::Call(BATON_OP("sin"), {m[a]});
                        }}});
  for (auto _ : state) {
    benchmark::DoNotOptimize(rules.Rewrite(*program));
  }
  state.counters["ns_per_node"] = benchmark::Counter(
      static_cast<double>(state.iterations() * state.range(0)) / 1e9,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(Applied)->Arg(1000)->Arg(100000)->Arg(1000000);

}  // namespace
}  // namespace baton::benchmarks
