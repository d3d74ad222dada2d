// Benchmarks of the cost of instruments: for each execution of a pass that does
// nothing, and for each node that a pass makes. benchmarks/instrument_costs
// makes a page of the results.

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/benchmarks/pass_input.h"
#include "baton/benchmarks/status_benchmarks.h"
#include "baton/instrument/bisect.h"
#include "baton/instrument/check_values.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_recorder.h"
#include "baton/instrument/op_differ.h"
#include "baton/instrument/print_ir_instrument.h"
#include "baton/instrument/remarks.h"
#include "baton/instrument/skip.h"
#include "baton/instrument/timing.h"
#include "baton/instrument/verify.h"
#include "baton/instrument/verify_contracts.h"
#include "baton/instrument/verify_roundtrip.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/transform/function_pass.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/sequential.h"
#include "benchmark/benchmark.h"

namespace baton::benchmarks {
namespace {

using relay::Function;
using relay::Var;

using ::benchmark::State;

// --- Instruments -------------------------------------------------------------

// A stream that discards its input.
std::ostream& Nowhere() {
  static auto* const stream = new std::ostream(nullptr);
  return *stream;
}

PassInstruments Timing(PassTimingInstrument::Options options) {
  options.warnings = &Nowhere();
  const auto timing = std::make_shared<PassTimingInstrument>(options);
  return MeasureInstruments({timing}, timing);
}

// An instrument, made as by the flags of baton-opt.
struct Instrument {
  const char* flag;
  std::function<absl::StatusOr<PassInstruments>()> make;
};

template <typename T, typename... Args>
std::function<absl::StatusOr<PassInstruments>()> Just(Args... args) {
  return [args...]() -> absl::StatusOr<PassInstruments> {
    return PassInstruments{std::make_shared<T>(args...)};
  };
}

std::vector<Instrument> Instruments() {
  return {
      {"none", [] { return PassInstruments(); }},
      {"--timing=text", [] { return Timing({}); }},
      {"--timing=text --measure=functions",
       [] { return Timing({.functions = true}); }},
      {"--timing=text --measure=memory",
       [] { return Timing({.memory = true}); }},
      {"--timing=text --measure=instructions",
       [] { return Timing({.instructions = true}); }},
      {"--timing=trace", [] { return Timing({.trace = true}); }},
      {"--op_diff", Just<OpDiffer>()},
      {"--remarks=all",
       []() -> absl::StatusOr<PassInstruments> {
         BATON_ASSIGN_OR_RETURN(
             auto remarks,
             RemarkInstrument::Create(
                 {.remarks = "all", .on_remark = [](const auto&) {}}));
         return PassInstruments{std::move(remarks)};
       }},
      {"--statistics",
       []() -> absl::StatusOr<PassInstruments> {
         BATON_ASSIGN_OR_RETURN(auto remarks,
                                RemarkInstrument::Create({.statistics = true}));
         return PassInstruments{std::move(remarks)};
       }},
      {"--record", Just<HistoryRecorder>()},
      {"--record --norecord_origins",
       [] {
         return PassInstruments{std::make_shared<HistoryRecorder>(
             HistoryOptions{.origins = false})};
       }},
      {"--print_changed=structural",
       []() -> absl::StatusOr<PassInstruments> {
         BATON_ASSIGN_OR_RETURN(
             auto printer, PrintIrInstrument::Create(
                               {.changed = PrintIrOptions::Changed::kStructural,
                                .out = &Nowhere()}));
         return PassInstruments{std::move(printer)};
       }},
      {"--print_changed=diff",
       []() -> absl::StatusOr<PassInstruments> {
         BATON_ASSIGN_OR_RETURN(auto printer,
                                PrintIrInstrument::Create(
                                    {.changed = PrintIrOptions::Changed::kDiff,
                                     .out = &Nowhere()}));
         return PassInstruments{std::move(printer)};
       }},
      {"--bisect_limit", Just<BisectInstrument>(INT64_MAX)},
      {"--stop_after",
       [] {
         return PassInstruments{std::make_shared<SkipInstrument>(
             SkipOptions{.stop_after = INT64_MAX})};
       }},
      {"--verify_each", Just<VerifyInstrument>()},
      {"--verify_contracts", Just<VerifyContractsInstrument>()},
      {"--verify_roundtrip", Just<VerifyRoundtripInstrument>()},
      {"--check_values", Just<CheckValuesInstrument>()},
  };
}

// --- Passes ------------------------------------------------------------------

Pass Nothing() {
  return relay::CreateFunctionPass(
      [](Function function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return function;
      },
      {.name = "Nothing"});
}

// Another parameter, so that all calls are made anew.
class NewParameter final : public relay::ExprMutator {
 public:
  explicit NewParameter(const Var& var)
      : old_(var), new_(var->name(), var->annotation()) {}

 protected:
  Expr VisitVar(const Var& var) override { return var == old_ ? new_ : var; }

 private:
  const Var old_;
  const Var new_;
};

Pass ChangeAll() {
  return relay::CreateFunctionPass(
      [](Function function, const IRModule& /*module*/,
         const PassContext& /*context*/) -> absl::StatusOr<Function> {
        return NewParameter(function->params()[0]).MutateFunction(function);
      },
      {.name = "ChangeAll"});
}

constexpr int kPasses = 100;
constexpr char kUnchanged[] = "resnet/18";
constexpr char kChanged[] = "chain_unary/10000";

absl::StatusOr<IRModule> RunOnce(const Pass& pass, const IRModule& module,
                                 const Instrument& instrument) {
  BATON_ASSIGN_OR_RETURN(PassInstruments instruments, instrument.make());
  return PassContext({.instruments = std::move(instruments)}).Run([&] {
    return pass(module);
  });
}

absl::Status Measure(State& state, const Pass& pass, const IRModule& module,
                     const Instrument& instrument) {
  for (auto _ : state) {
    const absl::StatusOr<IRModule> result = RunOnce(pass, module, instrument);
    if (!result.ok()) return result.status();
  }
  return absl::OkStatus();
}

// Each function pass has type inference inside it.
absl::Status DoNothing(State& state, const Instrument& instrument) {
  const std::vector<Pass> passes(kPasses, Nothing());
  const Pass pipeline = Sequential(passes);
  BATON_ASSIGN_OR_RETURN(const IRModule module,
                         PassInputs().Get(pipeline, kUnchanged));
  BATON_RETURN_IF_ERROR(Measure(state, pipeline, module, instrument));
  state.counters["executions"] = 2 * kPasses + 1;
  return absl::OkStatus();
}

absl::Status Change(State& state, const Instrument& instrument) {
  const Pass pass = ChangeAll();
  BATON_ASSIGN_OR_RETURN(const IRModule module,
                         PassInputs().Get(pass, kChanged));
  BATON_RETURN_IF_ERROR(Measure(state, pass, module, instrument));
  BATON_ASSIGN_OR_RETURN(const IRModule result, pass(module));
  state.counters["nodes"] =
      static_cast<double>(CompareNodes(module, result).made);
  return absl::OkStatus();
}

int RunAll(int argc, char** argv) {
  StatusBenchmarks benchmarks;
  for (const Instrument& instrument : Instruments()) {
    benchmarks
        .Add(
            absl::StrCat("Nothing/", instrument.flag),
            [instrument](State& state) { return DoNothing(state, instrument); })
        ->Unit(benchmark::kMicrosecond);
    benchmarks
        .Add(absl::StrCat("Change/", instrument.flag),
             [instrument](State& state) { return Change(state, instrument); })
        ->Unit(benchmark::kMicrosecond);
  }
  return benchmarks.Run(argc, argv);
}

}  // namespace
}  // namespace baton::benchmarks

int main(int argc, char** argv) {
  return baton::benchmarks::RunAll(argc, argv);
}
