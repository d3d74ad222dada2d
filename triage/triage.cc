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
#include "baton/ir/module.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/pass_info.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/sequential.h"
#include "baton/triage/bisection.h"
#include "baton/triage/failure.h"
#include "baton/triage/interrupt.h"
#include "baton/triage/reduce.h"
#include "baton/triage/shrink.h"

namespace baton {
namespace {

// Keeps the states of a run, and ends it where an execution begins.
class StateRecorder final : public PassInstrument {
 public:
  explicit StateRecorder(int64_t last)
      : PassInstrument("StateRecorder"), last_(last) {}

  PassHistory Take() { return std::move(history_); }

  absl::Status RunBeforePass(const IRModule& module,
                             const PassExecution& pass) override {
    open_.push_back(history_.executions.size());
    history_.executions.push_back({.number = pass.number(),
                                   .depth = pass.depth(),
                                   .pass = pass.pass(),
                                   .before = module,
                                   .after = {}});
    if (pass.number() == last_) return absl::CancelledError("far enough");
    return absl::OkStatus();
  }
  absl::Status RunAfterPass(const IRModule& module,
                            const PassExecution& pass) override {
    PassHistory::Execution& execution = history_.executions[open_.back()];
    open_.pop_back();
    execution.after = module;
    execution.ended = true;
    execution.changed = pass.changed();
    return absl::OkStatus();
  }
  void PassFailed(const IRModule& /*module*/, const PassExecution& /*pass*/,
                  const absl::Status& /*error*/) override {
    open_.pop_back();
  }

 private:
  const int64_t last_;
  PassHistory history_;
  std::vector<size_t> open_;
};

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

// For an error of a pass that only finishes others, such as InferType, in a
// sequence: the execution that made the program on which it fails. -1 if it
// already fails on the input.
absl::StatusOr<int64_t> LastGood(const PassHistory& history,
                                 const Failure& failure,
                                 const PipelineSettings& replay,
                                 const ChildLimits& limits) {
  const std::vector<PassHistory::Execution>& all = history.executions;
  const Pass& judge = all.back().pass;
  std::vector<size_t> changes;  // executions that made a new state
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].ended && all[i].changed && !IsSequence(all[i].pass) &&
        !all[i].pass.info().always_run) {
      changes.push_back(i);
    }
  }
  const auto fails = [&](const IRModule& state) {
    return Fails({state, {judge}}, failure, replay, limits);
  };
  BATON_ASSIGN_OR_RETURN(const bool bad_start, fails(all.front().before));
  if (bad_start || changes.empty()) return -1;
  // The state before the first change is good, that after the last is bad.
  BATON_ASSIGN_OR_RETURN(
      const int64_t first,
      FirstBad(-1, static_cast<int64_t>(changes.size()) - 1,
               [&](int64_t i) { return fails(all[changes[i]].after); }));
  return static_cast<int64_t>(changes[first]);
}

}  // namespace

std::string PassHistory::ToString() const {
  std::string text;
  for (const Execution& execution : executions) {
    absl::StrAppend(&text,
                    std::string(static_cast<size_t>(2 * execution.depth), ' '),
                    execution.number, " ", execution.pass.name(),
                    execution.changed ? " *" : "", "\n");
  }
  return text;
}

PassHistory RecordHistory(const IRModule& module, const Pass& pipeline,
                          const PipelineSettings& settings, int64_t number) {
  const auto recorder = std::make_shared<StateRecorder>(number);
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
  return recorder->Take();
}

absl::StatusOr<Guilty> FindGuilty(const IRModule& module, const Pass& pipeline,
                                  const PipelineSettings& settings,
                                  const PipelineSettings& replay,
                                  const Failure& failure,
                                  const ChildLimits& limits) {
  if (failure.number == 0) {
    return absl::NotFoundError(
        absl::StrCat("no pass was running: ", failure.message));
  }
  Guilty guilty;
  guilty.history = RecordHistory(module, pipeline, replay, failure.number);
  std::vector<PassHistory::Execution>& all = guilty.history.executions;
  if (all.empty() || all.back().number != failure.number ||
      all.back().pass.name() != failure.pass) {
    return absl::NotFoundError(
        absl::StrCat("the run was another one the second time: execution #",
                     failure.number, " is not ", failure.pass, " any more"));
  }
  guilty.execution = all.back();
  guilty.shows = {guilty.execution.before, {guilty.execution.pass}};
  const Pass& pass = guilty.execution.pass;
  if (pass.info().always_run && !IsSequence(pass)) {
    BATON_ASSIGN_OR_RETURN(const int64_t index,
                           LastGood(guilty.history, failure, replay, limits));
    if (index >= 0) {
      guilty.execution = all[static_cast<size_t>(index)];
      guilty.shows = {guilty.execution.before,
                      {guilty.execution.pass, all.back().pass}};
    }
  }
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
