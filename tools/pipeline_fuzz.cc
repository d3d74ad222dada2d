#include "baton/tools/pipeline_fuzz.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/module.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/bind.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/infer_type.h"
#include "baton/relay/ir/module.h"
#include "baton/relay/ir/text_parser.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/runtime/evaluator.h"
#include "baton/relay/runtime/random_inputs.h"
#include "baton/relay/runtime/value.h"
#include "baton/testing/conformance.h"
#include "baton/testing/operation_count.h"
#include "baton/testing/random_program.h"
#include "baton/testing/registered_passes.h"
#include "baton/testing/workloads/workload.h"
#include "baton/tools/prepared_run.h"
#include "baton/tools/run_options.h"
#include "baton/tools/triage_report.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/value_promise.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"

namespace baton {
namespace {

using relay::Function;

constexpr int kHighestLevel = 4;
constexpr int64_t kMaxOperations = 5'000'000;
constexpr int64_t kMaxCallDepth = 1000;
// Sets of arguments on which a pass that is not exact must be wrong.
constexpr int64_t kTries = 5;

RunOptions RunOf(const FuzzedPipeline& fuzzed, bool check_values) {
  return {.passes = fuzzed.passes,
          .opt_level = kHighestLevel,
          .insert_required = true,
          .instrument_flags = {{"verify_each", true},
                               {"verify_contracts", true},
                               {"verify_roundtrip", true},
                               {"check_values", check_values},
                               {"special_values", check_values}}};
}

absl::Status Evaluate(const IRModule& module) {
  BATON_ASSIGN_OR_RETURN(const Function main, module.Lookup<Function>("main"));
  BATON_ASSIGN_OR_RETURN(
      const std::vector<relay::Value> args,
      relay::RandomInputs(main, 0, relay::RandomRange::kPlain));
  return relay::EvaluateFunction(module, "main", args,
                                 {.max_call_depth = kMaxCallDepth})
      .status();
}

// True if `main` can be evaluated in a short time.
absl::StatusOr<bool> CanEvaluate(const IRModule& module,
                                 const ChildLimits& limits) {
  if (testing::NumOperations(module) > kMaxOperations) return false;
  BATON_ASSIGN_OR_RETURN(
      const ChildResult result,
      RunInChild([&] { return std::string(Evaluate(module).ok() ? "1" : "0"); },
                 {.limits = limits}));
  return result.end == ChildResult::End::kReturned && result.output == "1";
}

bool IsAboutValues(const Failure& failure) {
  return failure.kind == Failure::Kind::kError &&
         absl::StrContains(failure.message, ": --check_values");
}

// The result of a pass on a program; nullopt if it fails. Runs in this process:
// pipelines find passes that crash.
std::optional<IRModule> Made(const IRModule& module, const Pass& pass) {
  PipelineSettings settings;
  settings.context.opt_level = kHighestLevel;
  absl::StatusOr<IRModule> given = testing::RunRequiredPasses(pass, module);
  if (!given.ok()) return std::nullopt;
  absl::StatusOr<IRModule> made = RunPipeline(*given, pass, settings);
  if (made.ok()) made = relay::InferTypes(*made);
  return made.ok() ? std::optional<IRModule>(*std::move(made)) : std::nullopt;
}

}  // namespace

absl::StatusOr<PipelineFuzzer> PipelineFuzzer::Create(
    PipelineFuzzOptions options) {
  PipelineFuzzer fuzzer(std::move(options));
  const PipelineFuzzOptions& given = fuzzer.options_;
  if (given.passes.empty()) {
    return absl::InvalidArgumentError("there are no passes");
  }
  for (const std::string& pass : given.passes) {
    BATON_RETURN_IF_ERROR(testing::GetRegisteredPass(pass).status());
  }
  BATON_ASSIGN_OR_RETURN(const std::vector<testing::ConformanceCase> cases,
                         testing::ReadConformanceCases(given.recorded));
  for (const testing::ConformanceCase& one : cases) {
    absl::StatusOr<IRModule> module = ParseModule(one.before, one.name());
    if (module.ok()) module = relay::InferTypes(*module);
    if (!module.ok()) continue;  // it is there to be refused
    fuzzer.recorded_.push_back({one.name(), *std::move(module)});
  }
  for (const std::string& spec : given.workloads) {
    BATON_ASSIGN_OR_RETURN(const testing::Workload workload,
                           testing::GetWorkload(spec));
    fuzzer.workloads_.push_back({spec, workload.module});
    BATON_ASSIGN_OR_RETURN(
        const Function bound,
        relay::BindParamsByName(workload.module.Find<Function>("main"),
                                workload.params));
    IRModule with_weights = workload.module;
    with_weights.Set("main", bound);
    BATON_ASSIGN_OR_RETURN(with_weights, relay::InferTypes(with_weights));
    fuzzer.workloads_.push_back(
        {absl::StrCat(spec, " with weights"), std::move(with_weights)});
  }
  return fuzzer;
}

absl::StatusOr<PipelineFuzzer::Program> PipelineFuzzer::DrawProgram(
    uint32_t seed) const {
  const uint32_t turn = seed / 2;
  if (seed % 2 == 1 && turn % 4 == 3 && !workloads_.empty()) {
    return workloads_[turn / 4 % workloads_.size()];
  }
  if (seed % 2 == 1 && !recorded_.empty()) {
    return recorded_[turn % recorded_.size()];
  }
  // Another of the mixtures each time, although every other seed is drawn.
  BATON_ASSIGN_OR_RETURN(
      IRModule module,
      testing::RandomProgram(seed, testing::RandomProgramOptions::Mixed(turn)));
  return Program{absl::StrCat("random program ", seed), std::move(module)};
}

absl::StatusOr<FuzzedPipeline> PipelineFuzzer::Draw(uint32_t seed) const {
  BATON_ASSIGN_OR_RETURN(Program program, DrawProgram(seed));
  std::mt19937 random(seed);  // the same numbers on every machine
  const uint32_t count = 1 + static_cast<uint32_t>(random()) %
                                 static_cast<uint32_t>(options_.max_passes);
  std::vector<absl::string_view> passes;
  for (uint32_t i = 0; i < count; ++i) {
    passes.push_back(options_.passes[random() % options_.passes.size()]);
  }
  return FuzzedPipeline{std::move(program.name), std::move(program.module),
                        absl::StrJoin(passes, ",")};
}

absl::StatusOr<PipelineFuzzer::Outcome> PipelineFuzzer::Run(
    const FuzzedPipeline& fuzzed) const {
  Outcome outcome;
  BATON_ASSIGN_OR_RETURN(outcome.checked_values,
                         CanEvaluate(fuzzed.module, options_.limits));
  BATON_ASSIGN_OR_RETURN(PreparedRun prepared,
                         Prepare(RunOf(fuzzed, outcome.checked_values)));
  const absl::StatusOr<Pass> complete =
      CompletePipeline(prepared, fuzzed.module);
  if (!complete.ok()) {
    outcome.end = End::kRefused;
    return outcome;
  }
  for (int64_t i = 0; i < kTries; ++i) {
    if (outcome.checked_values) {
      SetInstrumentFlag("seed", i, prepared.run);  // of the arguments
    }
    BATON_ASSIGN_OR_RETURN(
        const Failure failure,
        RunPipelineInChild(fuzzed.module, *complete,
                           FaultSettings(prepared, *complete, true),
                           options_.limits));
    if (!failure.failed()) {
      outcome.end = i == 0 ? End::kPassed : End::kAmplified;
      return outcome;
    }
    if (i == 0) outcome.failure = failure;
    const absl::StatusOr<PassInfo> info =
        PassRegistry::Global().Info(failure.pass);
    const bool by_itself = !absl::StrContains(failure.message, ": --");
    if (failure.kind == Failure::Kind::kError && by_itself && info.ok() &&
        !Keeps(*info, "runs")) {
      outcome.end = End::kRefused;
      return outcome;
    }
    if (!IsAboutValues(failure) || !info.ok() || info->exact) break;
  }
  outcome.end = End::kFailed;
  return outcome;
}

absl::StatusOr<std::string> PipelineFuzzer::WriteTriage(
    const FuzzedPipeline& fuzzed, const Outcome& outcome,
    const std::string& folder) const {
  BATON_ASSIGN_OR_RETURN(const PreparedRun prepared,
                         Prepare(RunOf(fuzzed, outcome.checked_values)));
  BATON_ASSIGN_OR_RETURN(const Pass complete,
                         CompletePipeline(prepared, fuzzed.module));
  return baton::WriteTriage(
      {.name = fuzzed.name,
       .module = fuzzed.module,
       .pipeline = complete,
       .run = prepared.run,
       .failure = outcome.failure,
       .settings = FaultSettings(prepared, complete, true),
       .replay = FaultSettings(prepared, complete, false)},
      {.folder = folder,
       .tool = options_.tool,
       .limits = options_.limits,
       .jobs = 1,
       .seconds = options_.reduce_seconds});
}

absl::StatusOr<std::vector<PipelineFuzzer::Pair>> PipelineFuzzer::NonCommuting(
    uint32_t first_seed, int programs,
    const std::function<void(absl::string_view program)>& progress) const {
  const size_t n = options_.passes.size();
  std::vector<Pass> passes;
  for (const std::string& text : options_.passes) {
    BATON_ASSIGN_OR_RETURN(Pass pass, testing::GetRegisteredPass(text));
    passes.push_back(std::move(pass));
  }
  std::vector<Pair> all(n * n);
  const testing::SilentStderr silence;
  for (int i = 0; i < programs; ++i) {
    BATON_ASSIGN_OR_RETURN(const Program program,
                           DrawProgram(first_seed + static_cast<uint32_t>(i)));
    if (progress != nullptr) progress(program.name);
    std::vector<std::optional<IRModule>> once;
    once.reserve(n);
    for (const Pass& pass : passes) once.push_back(Made(program.module, pass));
    const auto changes = [&](size_t k) {
      return once[k].has_value() && !once[k]->SameAs(program.module);
    };
    for (size_t a = 0; a < n; ++a) {
      for (size_t b = a + 1; b < n; ++b) {
        if (!once[a].has_value() || !once[b].has_value()) continue;
        Pair& pair = all[a * n + b];
        ++pair.tried;
        if (!changes(a) && !changes(b)) continue;
        const std::optional<IRModule> ab = Made(*once[a], passes[b]);
        const std::optional<IRModule> ba = Made(*once[b], passes[a]);
        if (!ab.has_value() || !ba.has_value()) {
          --pair.tried;
          continue;
        }
        if (StructuralEqual(*ab, *ba)) continue;
        if (pair.differ++ == 0) pair.example = program.name;
      }
    }
  }
  std::vector<Pair> result;
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].differ == 0) continue;
    all[k].first = options_.passes[k / n];
    all[k].second = options_.passes[k % n];
    result.push_back(std::move(all[k]));
  }
  return result;
}

}  // namespace baton
