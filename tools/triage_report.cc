#include "baton/tools/triage_report.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/remarks.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tools/files.h"
#include "baton/tools/guilty_rewrites.h"
#include "baton/tools/reduced_test.h"
#include "baton/tools/run_options.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_instrument.h"
#include "baton/transform/sequential.h"
#include "baton/triage/child.h"
#include "baton/triage/failure.h"
#include "baton/triage/reducer.h"
#include "baton/triage/shrink.h"
#include "baton/triage/triage.h"

namespace baton {
namespace {

std::string Indented(absl::string_view text) {
  return absl::StrCat("  ", absl::StrReplaceAll(text, {{"\n", "\n  "}}), "\n");
}

// A line for each execution: `  7 FuseOps *`, indented below the enclosing one.
// A star marks executions that changed the module.
std::string ExecutionsText(const History& history) {
  std::string text;
  for (const HistoryExecution& execution : history.executions) {
    text.append(static_cast<size_t>(2 * execution.depth), ' ');
    absl::StrAppend(&text, execution.number, " ", execution.pass,
                    execution.changed() ? " *" : "", "\n");
  }
  return text;
}

// The result of the passes on the reduced program, and a line for each
// application that the guilty passes report. Empty if unknown.
struct Made {
  std::string program;
  std::string applications;
};

Made MadeOf(const ReducedCase& reduced, const PipelineSettings& replay,
            const ChildLimits& limits) {
  constexpr char kEnd[] = "\n\f\n";  // of the program
  const absl::StatusOr<ChildResult> result = RunInChild(
      [&]() -> std::string {
        std::string applications;
        PipelineSettings settings = replay;
        settings.make_instruments = [&]() -> absl::StatusOr<PassInstruments> {
          PassInstruments instruments;
          if (replay.make_instruments != nullptr) {
            BATON_ASSIGN_OR_RETURN(instruments, replay.make_instruments());
          }
          BATON_ASSIGN_OR_RETURN(
              instruments.emplace_back(),
              RemarkInstrument::Create(
                  {.remarks = "passed",
                   .on_remark = [&](const RenderedRemark& remark) {
                     absl::StrAppend(&applications, FormatRemark(remark), "\n");
                   }}));
          return instruments;
        };
        const absl::StatusOr<IRModule> made =
            RunPipeline(reduced.module, Sequential(reduced.passes), settings);
        if (!made.ok()) return kEnd + applications;
        return absl::StrCat(AsText(*made, {.version = false, .types = false}),
                            kEnd, applications);
      },
      {.limits = limits});
  if (!result.ok()) return {};
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(result->output, absl::MaxSplits(kEnd, 1));
  return {parts.first, parts.second};
}

// An error unless what is left of a failure that is only suspected takes
// `seconds` as well. If it is slow by what it has to do, it was made smaller
// until it takes no longer than a test may take.
absl::Status Confirm(const TriageResult& triage, const ChildLimits& limits,
                     double seconds) {
  constexpr char kNot[] = "it may only be slow";
  if (triage.reduced.tests == 0) return absl::NotFoundError(kNot);
  const ReducedCase& best = triage.reduced.best;
  ChildLimits longer = limits;
  longer.seconds = seconds;
  BATON_ASSIGN_OR_RETURN(
      const Failure failure,
      RunPipelineInChild(best.module, Sequential(best.passes),
                         triage.guilty.settings, longer));
  if (SameFailure(triage.failure, failure)) return absl::OkStatus();
  return absl::NotFoundError(kNot);
}

absl::Status MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot make the folder ", folder, ": ", error.message()));
}

}  // namespace

absl::StatusOr<std::string> WriteTriage(const FailedRun& failed,
                                        const TriageReportOptions& options) {
  const bool suspects = options.suspect_seconds > 0;
  if (!suspects) BATON_RETURN_IF_ERROR(MakeFolder(options.folder));
  const std::string page = options.folder + "/report.txt";
  const std::string test_path =
      absl::StrCat(options.folder, "/reduced", FileEnding(failed.module));
  const Failure& failure = failed.failure;

  ReducedTestOptions test = {.tool = options.tool,
                             .run = failed.run,
                             .failure = failure,
                             .infers_types = !HasOnlyLoops(failed.module)};
  test.run.threads = 1;
  // It has failed twice before it is reduced.
  TriageOptions how = {
      .limits = TestLimits(failure, options.limits),
      .reduce = {
          .jobs = options.jobs, .seconds = options.seconds, .start_tests = 1}};
  const auto write = [&](const ReducedCase& best) -> absl::Status {
    BATON_ASSIGN_OR_RETURN(const std::string text,
                           ReducedTest(best.module, best.passes, test));
    return WriteFileAtomically(test_path, text);
  };
  // A program that is too large for the disk may get smaller: the last write
  // counts.
  const auto try_to_write = [&](const ReducedCase& best) {
    write(best).IgnoreError();
    return absl::OkStatus();
  };
  how.on_guilty = [&test](const GuiltyExecution& guilty) {
    SetOptLevel(guilty.settings.context.opt_level,
                Sequential(guilty.shows.passes), test.run);
    test.run.disabled_pass = guilty.settings.context.disabled_pass;
  };
  if (!suspects) how.reduce.on_better = try_to_write;

  std::string text = absl::StrCat(
      "Triage of ", failed.name, "\n\nWhat broke: ", KindToString(failure.kind),
      ".\n\n", Indented(failure.message));
  absl::StatusOr<TriageResult> triage =
      Triage(failed.module, failed.pipeline, failed.settings, failed.replay,
             failure, how);
  if (suspects) {
    BATON_RETURN_IF_ERROR(triage.status());
    BATON_RETURN_IF_ERROR(
        Confirm(*triage, options.limits, options.suspect_seconds));
    BATON_RETURN_IF_ERROR(MakeFolder(options.folder));
  }
  if (!triage.ok()) {
    absl::StrAppend(
        &text, "\nNo pass was found guilty: ", triage.status().message(), "\n");
    BATON_RETURN_IF_ERROR(WriteFileAtomically(page, text));
    return triage.status();
  }
  const GuiltyExecution& guilty = triage->guilty;
  const Pass& pass = guilty.pass;
  const std::string name = absl::StrCat("#", guilty.number, " ", pass.name());
  const absl::StatusOr<std::string> with_options = pass.ToString();
  absl::StrAppend(&text, "\nGuilty: execution ", name, ".\n\n",
                  Indented(with_options.ok() ? *with_options : pass.name()),
                  pass.info().doc.empty() ? "" : Indented(pass.info().doc),
                  "\nIts argument has ",
                  Plural(guilty.before.size(), "function"), " with ",
                  SizeText(guilty.before), ".\n");
  // Endless loops would be waited for, each time.
  if (failure.kind != Failure::Kind::kTimeOut) {
    BATON_ASSIGN_OR_RETURN(const std::optional<GuiltyRewrites> rewrites,
                           FindGuiltyRewrites(guilty, failure, how.limits));
    if (rewrites.has_value()) {
      absl::StrAppend(&text, "\nIts rewrite ", rewrites->last,
                      rewrites->alone ? " alone" : ", after those before it,",
                      " makes the failure: --rewrites=", rewrites->selection,
                      "\n");
    }
  }
  const ReducedCase& best = triage->reduced.best;
  const bool is_reduced = triage->reduced.tests > 0;
  std::string summary = absl::StrCat("triage: ", name, " is guilty");
  if (is_reduced) {
    SetOptLevel(guilty.settings.context.opt_level, Sequential(best.passes),
                test.run);
    test.run.disabled_pass = guilty.settings.context.disabled_pass;
    BATON_RETURN_IF_ERROR(write(best));
    const std::string calls = SizeText(best.module);
    absl::StrAppend(&summary, "; ", calls, " left");
    absl::StrAppend(
        &text,
        "\nThe smallest program that was found to fail in the same way "
        "has ",
        calls, ":\n\n",
        Indented(AsText(best.module, {.version = false, .types = false})));
    const Made made = MadeOf(best, failed.replay, how.limits);
    if (!made.program.empty()) {
      absl::StrAppend(&text, "\nWhat the pass makes of it:\n\n",
                      Indented(made.program));
    }
    if (!made.applications.empty()) {
      absl::StrAppend(&text, "\nIts remarks on that program:\n\n",
                      Indented(made.applications));
    }
    BATON_ASSIGN_OR_RETURN(const std::string command,
                           CommandLine(test_path, best.passes, test));
    absl::StrAppend(&text, "\nTo see it again:\n\n  ", options.tool, " ",
                    command, "\n\nThe program is a test, too (baton_ir_test)",
                    ": it passes as long as the failure is there.\n");
    if (triage->reduced.interrupted) {
      text += "\nInterrupted: a smaller program may fail as well.\n";
      absl::StrAppend(&summary, " when it was interrupted");
    }
    if (triage->reduced.timed_out) {
      text += "\nThe time was up: a smaller program may fail as well.\n";
    }
    if (triage->reduced.flaky) {
      text += "\nFlaky: the same program does not always fail.\n";
    }
  } else {
    text +=
        "\nAlone it does not fail in this way, nor does the whole pipeline "
        "once more: the failure is flaky, or depends on more than the "
        "program.\n";
  }
  absl::StrAppend(&text,
                  "\nWhat ran until then (a star: it changed the program):\n\n",
                  Indented(ExecutionsText(guilty.history)));
  BATON_RETURN_IF_ERROR(WriteFileAtomically(page, text));
  return absl::StrCat(summary, "\ntriage: ", page);
}

}  // namespace baton
