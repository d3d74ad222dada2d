#include "baton/tools/bisect_main.h"

#include <cstdint>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/plural.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/tools/bisect_command.h"
#include "baton/tools/bisect_points.h"
#include "baton/tools/command_line.h"
#include "baton/tools/tool_main.h"
#include "baton/triage/bisection.h"

namespace baton {
namespace {

constexpr char kUsage[] =
    "Finds the execution of a pass that makes a command fail, with few runs of "
    "the\n"
    "command.\n"
    "\n"
    "  baton-bisect HISTORY [flags] -- COMMAND     {} in the command is a file "
    "with the\n"
    "                                              module after an execution "
    "of HISTORY,\n"
    "                                              which `baton-opt "
    "--record=HISTORY` writes\n"
    "  baton-bisect --limits=N [flags] -- COMMAND  {} is a number up to N, for "
    "--bisect_limit={}\n"
    "\n"
    "COMMAND is a program with its arguments, or one word for the shell. Its "
    "exit\n"
    "code is the result, as for `git bisect run`: 0 is good, 1 to 124 bad, "
    "125\n"
    "neither; all others end the search.\n"
    "\n"
    "Exit codes: 0 found, 1 an error, 2 not certain, 128 and the signal if "
    "interrupted.\n"
    "\nFlags:\n";

constexpr char kPlaceholder[] = "{}";

struct BisectToolOptions {
  int64_t limits = 0;
  int64_t good = -1;
  int64_t bad = -1;
  std::string emit = "text";
  int repeat = 1;
  double timeout = 0;
  std::string crash = "abort";
  std::string progress;

  template <typename V>
  static void VisitFields(V& v) {
    v("limits", &BisectToolOptions::limits,
      FlagSpec{
          .help =
              "Searches limits up to N, which is bad, in place of a history.",
          .value = "N",
          .least = 0});
    v("good", &BisectToolOptions::good,
      FlagSpec{
          .help =
              "The last known good execution or limit. Default: before all.",
          .value = "N",
          .least = 0,
          .none = -1});
    v("bad", &BisectToolOptions::bad,
      FlagSpec{.help = "The first known bad execution. Default: the last.",
               .value = "N",
               .least = 0,
               .none = -1});
    v("emit", &BisectToolOptions::emit,
      FlagSpec{.help = "Format of the modules for the command: text or binary.",
               .value = "HOW",
               .choices = {"text", "binary"}});
    v("repeat", &BisectToolOptions::repeat,
      FlagSpec{
          .help =
              "Runs the command K times for each test; bad if one run is bad.",
          .value = "K",
          .least = 1});
    v("timeout", &BisectToolOptions::timeout,
      FlagSpec{.help = "Seconds after which a run is stopped and counts as "
                       "bad; 0: no limit.",
               .value = "X",
               .least = 0});
    v("crash", &BisectToolOptions::crash,
      FlagSpec{.help = "Meaning of a crash of the command: bad, skip or abort.",
               .value = "WHAT",
               .choices = {"bad", "skip", "abort"}});
    v("progress", &BisectToolOptions::progress,
      FlagSpec{.help = "File for the results so far; an interrupted search "
                       "continues from it.",
               .value = "FILE"});
  }
};

struct BisectCommand {
  bool is_answered = false;  // by --help or --version
  BisectToolOptions options;
  std::string history;  // the file; empty with limits
  std::vector<std::string> command;
};

absl::StatusOr<BisectCommand> ParseCommandLine(
    const std::vector<absl::string_view>& args, std::ostream& out) {
  BisectCommand line;
  BATON_ASSIGN_OR_RETURN(
      ParsedCommandLine given,
      ReadCommandLine("baton-bisect", kUsage, args, out, &line.options));
  line.is_answered = given.is_answered;
  if (given.is_answered) return line;
  if (given.arguments.size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("unexpected argument ", given.arguments[1],
                     "; a command must follow -- (see --help)"));
  }
  if (!given.arguments.empty()) line.history = given.arguments[0];
  line.command = std::move(given.behind);
  const BisectToolOptions& options = line.options;
  if (line.history.empty() == (options.limits == 0)) {
    return absl::InvalidArgumentError(
        "give a history or --limits, one of them (see --help)");
  }
  if (options.limits < 0 || options.repeat < 1 || !(options.timeout >= 0)) {
    return absl::InvalidArgumentError(
        "--limits and --repeat are at least 1, --timeout is at least 0");
  }
  const std::string words = absl::StrJoin(line.command, " ");
  if (words.find(kPlaceholder) == std::string::npos) {
    return absl::InvalidArgumentError(
        line.command.empty()
            ? "give a command after -- (see --help)"
            : absl::StrCat("there is no {} in \"", words,
                           "\": it would answer the same each time"));
  }
  return line;
}

std::string Report(const BisectionResult& result, const BisectPoints& points,
                   int64_t runs) {
  std::string text;
  for (const int64_t point : result.Flaky()) {
    absl::StrAppend(&text, points.Name(point), " ",
                    BothWaysText(result.answers.at(point)), "\n");
  }
  const std::vector<std::string> guilty =
      points.Between(result.last_good, result.first_bad);
  absl::StrAppend(
      &text,
      guilty.size() == 1
          ? absl::StrCat(guilty[0], " is guilty")
          : absl::StrCat("guilty is one of ", absl::StrJoin(guilty, ", ")),
      !result.Flaky().empty() ? ", if the answers can be trusted: try --repeat"
                              : "",
      ": ", points.Name(result.last_good), " it is good, ",
      points.Name(result.first_bad), " bad (", Plural(runs, "run"), ")\n",
      points.Hint(result.last_good, result.first_bad));
  return text;
}

// The exit code.
absl::StatusOr<int> Run(const std::vector<absl::string_view>& args,
                        std::ostream& out, std::ostream& reports) {
  BATON_ASSIGN_OR_RETURN(const BisectCommand line, ParseCommandLine(args, out));
  if (line.is_answered) return 0;
  std::unique_ptr<BisectPoints> points;
  if (line.history.empty()) {
    points = PointsOfLimits(line.options.limits);
  } else {
    BATON_ASSIGN_OR_RETURN(
        points,
        PointsOfHistory(line.history, line.options.emit == "text", reports));
  }
  BisectionOptions options = {.good = points->first(),
                              .bad = points->last(),
                              .repeat = line.options.repeat};
  if (line.options.good >= 0) {
    BATON_ASSIGN_OR_RETURN(options.good, points->PointOf(line.options.good));
  }
  if (line.options.bad >= 0) {
    BATON_ASSIGN_OR_RETURN(options.bad, points->PointOf(line.options.bad));
  }
  BisectProgress progress(
      line.options.progress,
      absl::StrCat("baton-bisect ", absl::Hex(points->key()), " ",
                   absl::CEscape(absl::StrJoin(line.command, "\n")), "\n"));
  BATON_ASSIGN_OR_RETURN(options.known, progress.Read());
  options.name = [&points](int64_t point) { return points->Name(point); };
  options.on_answer = [&progress](int64_t point, Answer answer) {
    return progress.Add(point, answer);
  };
  CommandTester test({line.options.timeout, line.options.crash}, line.command,
                     *points, reports);
  const absl::StatusOr<BisectionResult> result =
      Bisect(options, [&test](int64_t point) { return test(point); });
  if (test.signal() != 0) {
    reports << "baton-bisect: interrupted"
            << (line.options.progress.empty()
                    ? ""
                    : absl::StrCat("; the answers are in ",
                                   line.options.progress))
            << "\n";
    return 128 + test.signal();
  }
  if (absl::IsUnknown(result.status())) {
    reports << "baton-bisect: " << PrintableLines(result.status().message())
            << "\n";
    return 2;
  }
  BATON_RETURN_IF_ERROR(result.status());
  out << Report(*result, *points, test.runs()) << std::flush;
  if (!out) return absl::UnavailableError("cannot write to standard output");
  return result->certain() ? 0 : 2;
}

}  // namespace

int BisectTool(const std::vector<absl::string_view>& args, std::ostream& out,
               std::ostream& reports) {
  const absl::StatusOr<int> code = Run(args, out, reports);
  if (code.ok()) return *code;
  reports << "baton-bisect: " << PrintableLines(code.status().message())
          << "\n";
  return 1;
}

int BisectMain(int argc, char** argv) {
  return RunTool("baton-bisect", [argc, argv] {
    return BisectTool({argv + (argc > 0 ? 1 : 0), argv + argc}, std::cout,
                      std::cerr);
  });
}

}  // namespace baton
