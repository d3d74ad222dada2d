#include "baton/tools/bisect_main.h"

#include <signal.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "baton/base/checksum.h"
#include "baton/base/flags.h"
#include "baton/base/plural.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module_text.h"
#include "baton/tools/command_line.h"
#include "baton/tools/files.h"
#include "baton/tools/reduced_test.h"
#include "baton/tools/temporary_folder.h"
#include "baton/tools/tool_main.h"
#include "baton/triage/bisection.h"
#include "baton/triage/command.h"

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

// The points of a search; the command runs on each.
class Points {
 public:
  virtual ~Points() = default;
  virtual int64_t first() const = 0;
  virtual int64_t last() const = 0;
  // The point that a number on the command line means, or the last before it.
  virtual absl::StatusOr<int64_t> PointOf(int64_t number) const = 0;
  // The text in place of the placeholder in the command, and a key. Points with
  // equal keys give the same result of the command.
  struct Given {
    std::string text;
    uint64_t key = 0;
  };
  virtual absl::StatusOr<Given> Give(int64_t point) = 0;
  // `after #7 FuseOps`.
  virtual std::string Name(int64_t point) const = 0;
  // The executions that lead from one point to another.
  virtual std::vector<std::string> Between(int64_t good, int64_t bad) const = 0;
  // A line on how to see more.
  virtual std::string Hint(int64_t good, int64_t bad) const = 0;
  // Searches with equal keys can share their results.
  virtual uint64_t key() const = 0;
  // The command wrote this at the point.
  virtual void SetOutput(int64_t /*point*/, const std::string& /*output*/) {}
};

class StatePoints final : public Points {
 public:
  StatePoints(std::string file, uint64_t key, History history, bool as_text,
              std::unique_ptr<TemporaryFolder> folder)
      : file_(std::move(file)),
        key_(key),
        history_(std::move(history)),
        as_text_(as_text),
        folder_(std::move(folder)) {
    FindPasses();
    std::set<int> ends = {0};
    for (const HistoryExecution* pass : passes_) {
      if (pass->before < pass->after) ends.insert(pass->after);
    }
    for (const int state : ends) {
      if (history_.states[state].kept) states_.push_back(state);
    }
  }

  int64_t first() const override { return 0; }
  int64_t last() const override {
    return static_cast<int64_t>(states_.size()) - 1;
  }
  absl::StatusOr<int64_t> PointOf(int64_t number) const override {
    BATON_ASSIGN_OR_RETURN(const int state, history_.StateAfter(number));
    // The last that is not later: 0 is always one.
    return std::upper_bound(states_.begin(), states_.end(), state) -
           states_.begin() - 1;
  }

  absl::StatusOr<Given> Give(int64_t point) override {
    const IRModule& module = history_.states[states_[point]].module;
    const std::string path = absl::StrCat(
        folder_->path(), "/", point, as_text_ ? FileEnding(module) : ".baton");
    std::string content;
    if (as_text_) {
      content = AsText(module);
      if (content.empty() || content.back() != '\n') content += '\n';
    } else {
      BATON_ASSIGN_OR_RETURN(const BinaryModule binary, WriteBinary(module));
      content = binary.ToString();
    }
    BATON_RETURN_IF_ERROR(WriteFileAtomically(path, content));
    if (!last_path_.empty() && last_path_ != path) {
      std::error_code ignored;
      std::filesystem::remove(last_path_, ignored);
    }
    last_path_ = path;
    return Given{path, Checksum(content)};
  }

  std::string Name(int64_t point) const override {
    const int state = states_[point];
    if (state == 0) return "before all passes";
    return absl::StrCat("after ", NameOf(*Maker(state)));
  }

  std::vector<std::string> Between(int64_t good, int64_t bad) const override {
    std::vector<std::string> names;
    for (int state = states_[good] + 1; state <= states_[bad]; ++state) {
      const HistoryExecution* maker = Maker(state);
      if (maker == nullptr) continue;
      std::string name = NameOf(*maker);
      if (names.empty() || names.back() != name) {
        names.push_back(std::move(name));
      }
    }
    return names;
  }

  std::string Hint(int64_t good, int64_t bad) const override {
    const auto number = [this](int state) {
      return state == 0 ? 0 : Maker(state)->number;
    };
    return absl::StrCat("  baton-history ", ShellWord(file_), " diff ",
                        number(states_[good]), " ", number(states_[bad]), "\n");
  }

  uint64_t key() const override { return key_; }

 private:
  static std::string NameOf(const HistoryExecution& execution) {
    return absl::StrCat("#", execution.number, " ", execution.text);
  }

  // All executions but those that only finish the work of another one: that
  // run in one which changed the module before or after them.
  void FindPasses() {
    const std::vector<HistoryExecution>& all = history_.executions;
    std::vector<int> last_child(all.size(), -1);
    std::vector<bool> works(all.size(), false);  // or what it runs in does
    for (size_t i = 0; i < all.size(); ++i) {
      const int parent = all[i].parent;
      if (parent < 0) continue;
      works[parent] = works[parent] || (last_child[parent] < 0 &&
                                        all[i].before != all[parent].before);
      last_child[parent] = static_cast<int>(i);
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const int child = last_child[i];
      if (child >= 0 && all[i].after >= 0 && all[child].after != all[i].after) {
        works[i] = true;
      }
      const int parent = all[i].parent;  // before it in the list
      if (parent >= 0 && works[parent]) {
        works[i] = true;
      } else {
        passes_.push_back(&all[i]);
      }
    }
  }

  // The innermost pass after which the module was `state`; of a state that is
  // no point, the one it was made in.
  const HistoryExecution* Maker(int state) const {
    const HistoryExecution* maker = nullptr;
    for (const HistoryExecution* pass : passes_) {
      if (pass->before < state && (pass->after < 0 || state <= pass->after) &&
          (maker == nullptr || pass->depth >= maker->depth)) {
        maker = pass;
      }
    }
    return maker;
  }

  const std::string file_;
  const uint64_t key_;
  const History history_;
  const bool as_text_;
  const std::unique_ptr<TemporaryFolder> folder_;
  std::vector<const HistoryExecution*> passes_;
  std::vector<int> states_;  // of each point
  std::string last_path_;
};

class LimitPoints final : public Points {
 public:
  explicit LimitPoints(int64_t last) : last_(last) {}

  int64_t first() const override { return 0; }
  int64_t last() const override { return last_; }
  absl::StatusOr<int64_t> PointOf(int64_t number) const override {
    return number;
  }
  absl::StatusOr<Given> Give(int64_t point) override {
    return Given{absl::StrCat(point), static_cast<uint64_t>(point)};
  }
  std::string Name(int64_t point) const override {
    return absl::StrCat("limit ", point);
  }
  // As BisectInstrument reports it, if the command shows its report.
  std::vector<std::string> Between(int64_t good, int64_t bad) const override {
    std::vector<std::string> names;
    for (int64_t point = good + 1; point <= bad; ++point) {
      const auto it = last_executed_.find(point);
      names.push_back(
          it == last_executed_.end()
              ? absl::StrCat("execution ", point, " of those that limits count")
              : it->second);
    }
    return names;
  }
  std::string Hint(int64_t /*good*/, int64_t bad) const override {
    if (last_executed_.find(bad) != last_executed_.end()) return "";
    return absl::StrCat("  what --bisect_limit=", bad,
                        " reports has its name\n");
  }
  uint64_t key() const override { return static_cast<uint64_t>(last_); }

  void SetOutput(int64_t point, const std::string& output) override {
    const std::string last = ", last ";
    const size_t line =
        output.find(absl::StrCat("bisect: limit ", point, ": "));
    if (line == std::string::npos) return;
    const size_t begin = output.find(last, line);
    const size_t end = output.find("; ", line);
    if (begin == std::string::npos || end == std::string::npos || end < begin) {
      return;
    }
    last_executed_[point] =
        output.substr(begin + last.size(), end - begin - last.size());
  }

 private:
  const int64_t last_;
  std::map<int64_t, std::string> last_executed_;
};

absl::string_view AnswerName(Answer answer) {
  switch (answer) {
    case Answer::kGood:
      return "good";
    case Answer::kBad:
      return "bad";
    case Answer::kSkip:
      return "skip";
  }
  return "";
}

// The file of results: a head that identifies the search, then a line for each
// result.
class ProgressFile {
 public:
  ProgressFile(std::string path, std::string head)
      : path_(std::move(path)), text_(std::move(head)) {}

  absl::StatusOr<std::map<int64_t, PointAnswers>> Read() {
    std::map<int64_t, PointAnswers> known;
    std::error_code ignored;
    if (path_.empty() || !std::filesystem::exists(path_, ignored)) return known;
    BATON_ASSIGN_OR_RETURN(std::string content, ReadFile(path_));
    if (content.compare(0, text_.size(), text_) != 0) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_,
                       " is of another search; remove it, or give "
                       "another --progress"));
    }
    for (const absl::string_view line : absl::StrSplit(
             content.substr(text_.size()), '\n', absl::SkipEmpty())) {
      const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
      int64_t point = 0;
      std::optional<Answer> answer;
      for (const Answer one : {Answer::kGood, Answer::kBad, Answer::kSkip}) {
        if (words.back() == AnswerName(one)) answer = one;
      }
      if (words.size() != 2 || !absl::SimpleAtoi(words[0], &point) ||
          !answer.has_value()) {
        return absl::InvalidArgumentError(
            absl::StrCat(path_, ": \"", line, "\" is no answer"));
      }
      known[point].Add(*answer);
    }
    text_ = std::move(content);
    return known;
  }

  absl::Status Add(int64_t point, Answer answer) {
    if (path_.empty()) return absl::OkStatus();
    absl::StrAppend(&text_, point, " ", AnswerName(answer), "\n");
    return WriteFileAtomically(path_, text_);
  }

 private:
  const std::string path_;
  std::string text_;
};

// Runs the command on points.
class Asker {
 public:
  Asker(const BisectToolOptions& options, std::vector<std::string> command,
        Points& points, std::ostream& reports)
      : options_(options),
        command_(std::move(command)),
        points_(points),
        reports_(reports) {}

  absl::StatusOr<Answer> operator()(int64_t point) {
    BATON_ASSIGN_OR_RETURN(const Points::Given given, points_.Give(point));
    const auto [asked, is_new] = asked_.try_emplace(given.key, point, Answer());
    if (!is_new && asked->second.first != point) {
      reports_ << points_.Name(point) << ": "
               << AnswerName(asked->second.second) << ", as it is the same "
               << points_.Name(asked->second.first) << "\n";
      return asked->second.second;
    }
    std::vector<std::string> words = command_;
    const bool is_shell = words.size() == 1;
    for (std::string& word : words) {
      word = absl::StrReplaceAll(
          word,
          {{kPlaceholder, is_shell ? ShellWord(given.text) : given.text}});
    }
    if (is_shell) words = {"/bin/sh", "-c", words[0]};
    BATON_ASSIGN_OR_RETURN(const CommandResult run,
                           RunCommand(words, options_.timeout));
    ++runs_;
    points_.SetOutput(point, run.output);
    BATON_ASSIGN_OR_RETURN(const Answer answer, AnswerOf(run, point));
    asked->second.second = answer;
    reports_ << points_.Name(point) << ": " << AnswerName(answer) << How(run)
             << std::endl;
    return answer;
  }

  int64_t runs() const { return runs_; }
  // The signal that interrupted it; 0 if none did.
  int signal() const { return signal_; }

 private:
  absl::StatusOr<Answer> AnswerOf(const CommandResult& run, int64_t point) {
    constexpr int kCannotSay = 125;
    constexpr int kFirstSignal = 128;
    switch (run.end) {
      case CommandResult::End::kInterrupted:
        signal_ = run.code;
        return absl::CancelledError("interrupted");
      case CommandResult::End::kTimedOut:
        return Answer::kBad;
      case CommandResult::End::kKilled:
        return OfCrash(run.code, point);
      case CommandResult::End::kExited:
        break;
    }
    if (run.code == 0) return Answer::kGood;
    if (run.code == kCannotSay) return Answer::kSkip;
    if (run.code < kFirstSignal) return Answer::kBad;
    // As shells say that a signal ended their command.
    if (IsCrash(run.code - kFirstSignal)) {
      return OfCrash(run.code - kFirstSignal, point);
    }
    return absl::AbortedError(absl::StrCat(points_.Name(point),
                                           ": the command ended with ",
                                           run.code, LastLines(run.output)));
  }

  absl::StatusOr<Answer> OfCrash(int number, int64_t point) const {
    if (options_.crash == "bad") return Answer::kBad;
    if (options_.crash == "skip") return Answer::kSkip;
    return absl::AbortedError(absl::StrCat(
        points_.Name(point), ": the command crashed (", strsignal(number),
        "); --crash=bad takes that for an answer"));
  }

  static bool IsCrash(int number) {
    for (const int crash :
         {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
      if (number == crash) return true;
    }
    return false;
  }

  static std::string How(const CommandResult& run) {
    switch (run.end) {
      case CommandResult::End::kTimedOut:
        return ", its time was up";
      case CommandResult::End::kKilled:
        return absl::StrCat(", it crashed (", strsignal(run.code), ")");
      default:
        return run.code == 0 ? "" : absl::StrCat(", exit code ", run.code);
    }
  }

  static std::string LastLines(absl::string_view output) {
    while (!output.empty() && output.back() == '\n') output.remove_suffix(1);
    return output.empty() ? "" : absl::StrCat("\n", output);
  }

  const BisectToolOptions& options_;
  const std::vector<std::string> command_;
  Points& points_;
  std::ostream& reports_;
  // By key: where the command was run, and what it answered.
  std::map<uint64_t, std::pair<int64_t, Answer>> asked_;
  int64_t runs_ = 0;
  int signal_ = 0;
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
                     "; a command comes after -- (see --help)"));
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

absl::StatusOr<std::unique_ptr<Points>> MakePoints(const BisectCommand& line,
                                                   std::ostream& reports) {
  if (line.history.empty()) {
    return std::make_unique<LimitPoints>(line.options.limits);
  }
  BATON_ASSIGN_OR_RETURN(const FileContent content, MapFile(line.history));
  BATON_ASSIGN_OR_RETURN(
      History history, ReadHistory(content.bytes, content.owner, line.history));
  if (history.left_out_tensors > 0) {
    reports << "baton-bisect: " << Plural(history.left_out_tensors, "tensor")
            << (history.left_out_tensors == 1 ? " is" : " are")
            << " not in the file: modules have other values there; record with "
               "--record_tensors to keep them\n";
  }
  BATON_ASSIGN_OR_RETURN(std::unique_ptr<TemporaryFolder> folder,
                         TemporaryFolder::Create("baton-bisect"));
  const bool as_text = line.options.emit == "text";
  const uint64_t key = Checksum(content.bytes) + (as_text ? 0 : 1);
  return std::make_unique<StatePoints>(line.history, key, std::move(history),
                                       as_text, std::move(folder));
}

std::string Report(const BisectionResult& result, const Points& points,
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
  BATON_ASSIGN_OR_RETURN(const std::unique_ptr<Points> points,
                         MakePoints(line, reports));
  BisectionOptions options = {.good = points->first(),
                              .bad = points->last(),
                              .repeat = line.options.repeat};
  if (line.options.good >= 0) {
    BATON_ASSIGN_OR_RETURN(options.good, points->PointOf(line.options.good));
  }
  if (line.options.bad >= 0) {
    BATON_ASSIGN_OR_RETURN(options.bad, points->PointOf(line.options.bad));
  }
  ProgressFile progress(
      line.options.progress,
      absl::StrCat("baton-bisect ", absl::Hex(points->key()), " ",
                   absl::CEscape(absl::StrJoin(line.command, "\n")), "\n"));
  BATON_ASSIGN_OR_RETURN(options.known, progress.Read());
  options.name = [&points](int64_t point) { return points->Name(point); };
  options.on_answer = [&progress](int64_t point, Answer answer) {
    return progress.Add(point, answer);
  };
  Asker asker(line.options, line.command, *points, reports);
  const absl::StatusOr<BisectionResult> result =
      Bisect(options, [&asker](int64_t point) { return asker(point); });
  if (asker.signal() != 0) {
    reports << "baton-bisect: interrupted"
            << (line.options.progress.empty()
                    ? ""
                    : absl::StrCat("; the answers are in ",
                                   line.options.progress))
            << "\n";
    return 128 + asker.signal();
  }
  if (absl::IsUnknown(result.status())) {
    reports << "baton-bisect: " << PrintableLines(result.status().message())
            << "\n";
    return 2;
  }
  BATON_RETURN_IF_ERROR(result.status());
  out << Report(*result, *points, asker.runs()) << std::flush;
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
