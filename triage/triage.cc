#include "baton/triage/triage.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_recorder.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/sequential.h"
#include "baton/triage/bisection.h"
#include "baton/triage/failure.h"
#include "baton/triage/interrupt.h"
#include "baton/triage/reducer.h"
#include "baton/triage/shrink.h"

namespace baton {
namespace {

bool IsSequence(const Pass& pass) {
  return pass.info().granularity == PassGranularity::kSequence;
}

absl::StatusOr<bool> Fails(const ReducedCase& shows, const Failure& failure,
                           const PipelineSettings& settings,
                           const ChildLimits& limits) {
  BATON_ASSIGN_OR_RETURN(
      const Failure now,
      RunPipelineInChild(shows.module, Sequential(shows.passes), settings,
                         limits));
  return SameFailure(failure, now);
}

// A run up to a failure.
struct Run {
  History history;
  std::vector<Pass> passes;  // of the executions
};

// Runs `pipeline` until execution `number` begins, a pass fails, or the
// pipeline ends.
Run RecordRun(const IRModule& module, const Pass& pipeline,
              const PipelineSettings& settings, int64_t number) {
  const auto recorder = std::make_shared<HistoryRecorder>(
      HistoryOptions{.max_bytes = INT64_MAX / 2,
                     .origins = false,
                     .remarks = false,
                     .stop_before = number});
  PipelineSettings recorded = settings;
  recorded.make_instruments = [&]() -> absl::StatusOr<PassInstruments> {
    PassInstruments instruments;
    if (settings.make_instruments != nullptr) {
      BATON_ASSIGN_OR_RETURN(instruments, settings.make_instruments());
    }
    instruments.push_back(recorder);
    return instruments;
  };
  RunPipeline(module, pipeline, recorded).status().IgnoreError();
  return {recorder->TakeHistory(), recorder->passes()};
}

// For an error of a pass that only finishes others, such as InferType, in a
// sequence: the index of the execution that made the program on which it fails.
// -1 if it already fails on the input.
absl::StatusOr<int64_t> LastGood(const Run& run, const Failure& failure,
                                 const PipelineSettings& replay,
                                 const ChildLimits& limits) {
  const std::vector<HistoryExecution>& all = run.history.executions;
  const std::vector<HistoryState>& states = run.history.states;
  std::vector<int64_t> changes;  // executions that made a new state
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].changed() && !IsSequence(run.passes[i]) &&
        !run.passes[i].info().always_run) {
      changes.push_back(static_cast<int64_t>(i));
    }
  }
  const auto fails = [&](int state) {
    return Fails({states[state].module, {run.passes.back()}}, failure, replay,
                 limits);
  };
  BATON_ASSIGN_OR_RETURN(const bool bad_start, fails(all.front().before));
  if (bad_start || changes.empty()) return -1;
  // The state before the first change is good, that after the last is bad.
  BATON_ASSIGN_OR_RETURN(
      const int64_t first,
      FirstBad(-1, static_cast<int64_t>(changes.size()) - 1,
               [&](int64_t i) { return fails(all[changes[i]].after); }));
  return changes[first];
}

}  // namespace

absl::StatusOr<GuiltyExecution> FindGuilty(const IRModule& module,
                                           const Pass& pipeline,
                                           const PipelineSettings& settings,
                                           const PipelineSettings& replay,
                                           const Failure& failure,
                                           const ChildLimits& limits) {
  if (failure.number == 0) {
    return absl::NotFoundError(
        absl::StrCat("no pass was running: ", failure.message));
  }
  GuiltyExecution guilty;
  Run run = RecordRun(module, pipeline, replay, failure.number);
  const std::vector<HistoryExecution>& all = run.history.executions;
  if (all.empty() || all.back().number != failure.number ||
      all.back().pass != failure.pass) {
    return absl::NotFoundError(
        absl::StrCat("the run was another one the second time: execution #",
                     failure.number, " is not ", failure.pass, " any more"));
  }
  const auto blame = [&](size_t i) {
    guilty.number = all[i].number;
    guilty.pass = run.passes[i];
    guilty.before = run.history.states[all[i].before].module;
    guilty.shows = {guilty.before, {guilty.pass}};
  };
  blame(all.size() - 1);
  const Pass& last = run.passes.back();
  if (last.info().always_run && !IsSequence(last)) {
    BATON_ASSIGN_OR_RETURN(const int64_t index,
                           LastGood(run, failure, replay, limits));
    if (index >= 0) {
      blame(static_cast<size_t>(index));
      guilty.shows.passes.push_back(last);
    }
  }
  guilty.history = std::move(run.history);
  // The guilty pass alone, then, if it does not fail alone, all there was. A
  // pass may have run because another one requires it, whatever its level.
  PipelineSettings alone = settings;
  for (const Pass& shown : guilty.shows.passes) {
    alone.context.opt_level =
        std::max(alone.context.opt_level, shown.info().opt_level);
    std::vector<std::string>& disabled = alone.context.disabled_pass;
    disabled.erase(std::remove(disabled.begin(), disabled.end(), shown.name()),
                   disabled.end());
  }
  const absl::Span<const Pass> listed = pipeline.impl().listed_passes();
  const std::pair<ReducedCase, PipelineSettings> ways[] = {
      {guilty.shows, alone},
      {{module, {listed.begin(), listed.end()}}, settings},
  };
  for (const auto& [shows, under] : ways) {
    IRModule shown = shows.module;
    if (under.prepare != nullptr) {
      BATON_ASSIGN_OR_RETURN(shown, under.prepare(shown));
    }
    const std::optional<IRModule> typed = Typed(shown);
    if (!typed.has_value()) continue;
    guilty.shows = {*typed, shows.passes};
    guilty.settings = under;
    BATON_ASSIGN_OR_RETURN(const bool fails,
                           Fails(guilty.shows, failure, under, limits));
    if (fails) return guilty;
  }
  guilty.shows.passes.clear();
  return guilty;
}

absl::StatusOr<TriageResult> Triage(const IRModule& module,
                                    const Pass& pipeline,
                                    const PipelineSettings& settings,
                                    const PipelineSettings& replay,
                                    const Failure& failure,
                                    const TriageOptions& options) {
  TriageResult result;
  result.failure = failure;
  BATON_ASSIGN_OR_RETURN(
      result.guilty,
      FindGuilty(module, pipeline, settings, replay, failure, options.limits));
  if (InterruptGuard::Signal() != 0) {
    return absl::CancelledError("interrupted");
  }
  if (options.on_guilty != nullptr) options.on_guilty(result.guilty);
  if (result.guilty.shows.passes.empty()) return result;
  const std::unique_ptr<Oracle> oracle =
      FailureOracle(failure, result.guilty.settings, options.limits);
  BATON_ASSIGN_OR_RETURN(result.reduced,
                         Reduce(result.guilty.shows, *oracle, options.reduce));
  return result;
}

}  // namespace baton
