#include "baton/tools/history_main.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/near_names.h"
#include "baton/base/plural.h"
#include "baton/base/printable.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_file.h"
#include "baton/instrument/history_page.h"
#include "baton/instrument/history_text.h"
#include "baton/instrument/history_trace.h"
#include "baton/instrument/structural_diff.h"
#include "baton/tools/command_line.h"
#include "baton/tools/files.h"
#include "baton/tools/tool_main.h"

namespace baton {
namespace {

constexpr char kUsage[] =
    "Shows what each pass did in a run that `baton-opt --record=FILE` "
    "recorded.\n"
    "\n"
    "  baton-history FILE log             the executions of passes\n"
    "  baton-history FILE show K          the module after execution K\n"
    "  baton-history FILE diff I J        the difference of the modules after "
    "I and J\n"
    "  baton-history FILE blame K         the executions and nodes from which "
    "the\n"
    "                                     nodes of the module after K were "
    "made\n"
    "  baton-history FILE why K           the remarks of K and of executions "
    "inside it\n"
    "  baton-history FILE find            the first execution after which "
    "--has,\n"
    "                                     --lacks or --text is true\n"
    "  baton-history FILE html            a page for a browser that shows all "
    "of this\n"
    "  baton-history FILE trace           the times of passes, for "
    "ui.perfetto.dev\n"
    "\n"
    "Executions have the numbers of `log`; 0 is the input of the first pass.\n"
    "\nFlags:\n";

struct HistoryToolOptions {
  std::string file;  // the name of the history
  std::string function;
  std::string format = "text";
  std::string op;
  std::string node;
  std::string has;
  std::string lacks;
  std::string text;
  std::string output;
  std::string profile;
  std::string library;
  int64_t max_nodes = 250'000;

  template <typename V>
  static void VisitFields(V& v) {
    v("function", &HistoryToolOptions::function,
      FlagSpec{.help = "Shows only this function of the module.",
               .value = "NAME"});
    v("format", &HistoryToolOptions::format,
      FlagSpec{.help = "For diff and blame: text or json.",
               .value = "FORMAT",
               .choices = {"text", "json"}});
    v("op", &HistoryToolOptions::op,
      FlagSpec{.help = "Selects nodes of this operator (RE2, whole name).",
               .value = "RE"});
    v("node", &HistoryToolOptions::node,
      FlagSpec{.help = "Selects the node of this number.", .value = "%N"});
    v("has", &HistoryToolOptions::has,
      FlagSpec{.help = "A call of this operator exists (RE2, whole name).",
               .value = "RE"});
    v("lacks", &HistoryToolOptions::lacks,
      FlagSpec{.help = "No call of this operator exists.", .value = "RE"});
    v("text", &HistoryToolOptions::text,
      FlagSpec{.help = "The text of the module has a match (RE2).",
               .value = "RE"});
    v("output", &HistoryToolOptions::output,
      FlagSpec{.help = "File for the output. Not given: standard output.",
               .value = "FILE"});
    v("profile", &HistoryToolOptions::profile,
      FlagSpec{.help = "For html: adds the profile of a run of the model, "
                       "which baton-run --profile=json --report=FILE wrote.",
               .value = "FILE"});
    v("library", &HistoryToolOptions::library,
      FlagSpec{.help = "For html: adds the report of a library of the model, "
                       "NAME.report.json of baton-compile.",
               .value = "FILE"});
    v("max_nodes", &HistoryToolOptions::max_nodes,
      FlagSpec{.help = "For html: the limit of the nodes of a page.",
               .value = "N",
               .least = 0});
  }
};

absl::StatusOr<int64_t> NumberOf(const std::string& text) {
  int64_t number = 0;
  if (absl::SimpleAtoi(text, &number) && number >= 0) return number;
  return absl::InvalidArgumentError(
      absl::StrCat("\"", text, "\" is no number of an execution"));
}

absl::StatusOr<NodeSelection> SelectionOf(const HistoryToolOptions& options) {
  NodeSelection selection = {.op = options.op};
  if (options.node.empty()) return selection;
  if (options.node[0] != '%' ||
      !absl::SimpleAtoi(options.node.substr(1), &selection.number) ||
      selection.number < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--node: ", options.node, " is no number such as %12"));
  }
  return selection;
}

// A command, with how many arguments it takes, and its flags but for --output.
struct Command {
  const char* name;
  size_t num_args;
  std::vector<absl::string_view> flags;
  // The line for a result without text; empty if that has none.
  const char* nothing;
  absl::StatusOr<std::string> (*run)(const History& history,
                                     const std::vector<std::string>& args,
                                     const HistoryToolOptions& options);
};

const std::vector<Command>& Commands() {
  static const auto& commands = *new std::vector<Command>{
      {"log",
       0,
       {},
       "",
       [](const History& history, const std::vector<std::string>& /*args*/,
          const HistoryToolOptions& /*options*/)
           -> absl::StatusOr<std::string> { return HistoryLog(history); }},
      {"show",
       1,
       {"function"},
       "",
       [](const History& history, const std::vector<std::string>& args,
          const HistoryToolOptions& options) -> absl::StatusOr<std::string> {
         BATON_ASSIGN_OR_RETURN(const int64_t number, NumberOf(args[0]));
         return HistoryShow(history, number, options.function);
       }},
      {"diff",
       2,
       {"function", "format"},
       "nothing differs",
       [](const History& history, const std::vector<std::string>& args,
          const HistoryToolOptions& options) -> absl::StatusOr<std::string> {
         BATON_ASSIGN_OR_RETURN(const int64_t from, NumberOf(args[0]));
         BATON_ASSIGN_OR_RETURN(const int64_t to, NumberOf(args[1]));
         BATON_ASSIGN_OR_RETURN(
             const StructuralDiff diff,
             HistoryDiff(history, from, to, options.function));
         return options.format == "json"
                    ? absl::StrCat(StructuralDiffJson(diff), "\n")
                    : StructuralDiffText(diff);
       }},
      {"blame",
       1,
       {"format", "op", "node"},
       "no node is selected",
       [](const History& history, const std::vector<std::string>& args,
          const HistoryToolOptions& options) -> absl::StatusOr<std::string> {
         BATON_ASSIGN_OR_RETURN(const int64_t number, NumberOf(args[0]));
         BATON_ASSIGN_OR_RETURN(const NodeSelection selection,
                                SelectionOf(options));
         BATON_ASSIGN_OR_RETURN(const std::vector<NodeBlame> nodes,
                                HistoryBlame(history, number, selection));
         return options.format == "json" ? absl::StrCat(BlameJson(nodes), "\n")
                                         : BlameText(nodes);
       }},
      {"why",
       1,
       {"op", "node"},
       "no remarks",
       [](const History& history, const std::vector<std::string>& args,
          const HistoryToolOptions& options) -> absl::StatusOr<std::string> {
         BATON_ASSIGN_OR_RETURN(const int64_t number, NumberOf(args[0]));
         BATON_ASSIGN_OR_RETURN(const NodeSelection selection,
                                SelectionOf(options));
         return HistoryWhy(history, number, selection);
       }},
      {"find",
       0,
       {"has", "lacks", "text"},
       "",
       [](const History& history, const std::vector<std::string>& /*args*/,
          const HistoryToolOptions& options) -> absl::StatusOr<std::string> {
         return HistoryFind(history, {.has = options.has,
                                      .lacks = options.lacks,
                                      .text = options.text});
       }},
      {"html",
       0,
       {"max_nodes", "profile", "library"},
       "",
       [](const History& history, const std::vector<std::string>& /*args*/,
          const HistoryToolOptions& options) -> absl::StatusOr<std::string> {
         if (const absl::Status size =
                 CheckPageSize(history, options.max_nodes);
             !size.ok()) {
           return absl::ResourceExhaustedError(
               absl::StrCat(size.message(), " (--max_nodes)"));
         }
         std::string profile;
         if (!options.profile.empty()) {
           BATON_ASSIGN_OR_RETURN(profile, ReadFile(options.profile));
           if (!absl::StartsWith(profile, "{\"version\":1,") ||
               !absl::EndsWith(profile, "]}\n") ||
               !absl::StrContains(profile, "\"calls\":[") ||
               !absl::StrContains(profile, "\"nodes\":[")) {
             return absl::InvalidArgumentError(
                 absl::StrCat("--profile: ", options.profile,
                              " is no profile that baton-run "
                              "--executor=cpu --profile=json wrote"));
           }
         }
         std::string library;
         if (!options.library.empty()) {
           BATON_ASSIGN_OR_RETURN(library, ReadFile(options.library));
           if (!absl::StartsWith(library, "{\"model\":") ||
               !absl::EndsWith(library, "]}\n") ||
               !absl::StrContains(library, "\n\"nodes\":[") ||
               !absl::StrContains(library, "\n\"steps\":[")) {
             return absl::InvalidArgumentError(
                 absl::StrCat("--library: ", options.library,
                              " is no NAME.report.json that baton-compile "
                              "wrote"));
           }
         }
         return HistoryPage(history, options.file, profile, library);
       }},
      {"trace",
       0,
       {},
       "",
       [](const History& history, const std::vector<std::string>& /*args*/,
          const HistoryToolOptions& /*options*/)
           -> absl::StatusOr<std::string> { return HistoryTrace(history); }},
  };
  return commands;
}

absl::StatusOr<const Command*> FindCommand(const std::string& name) {
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    if (name == command.name) return &command;
    names.push_back(command.name);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no command is called \"", name, "\"", DidYouMean(name, names),
      "; commands: ", absl::StrJoin(names, ", ")));
}

}  // namespace

absl::Status HistoryTool(const std::vector<absl::string_view>& args,
                         std::ostream& out, std::ostream& reports) {
  HistoryToolOptions options;
  BATON_ASSIGN_OR_RETURN(
      const ParsedCommandLine line,
      ReadCommandLine("baton-history", kUsage, args, out, &options));
  if (line.is_answered) return absl::OkStatus();
  const std::vector<std::string>& rest = line.arguments;
  if (rest.size() < 2) {
    return absl::InvalidArgumentError("give a file and a command (see --help)");
  }
  BATON_ASSIGN_OR_RETURN(const Command* command, FindCommand(rest[1]));
  if (rest.size() - 2 != command->num_args) {
    return absl::InvalidArgumentError(
        absl::StrCat(command->name, " takes ",
                     Plural(static_cast<int64_t>(command->num_args), "number"),
                     " of executions (see --help)"));
  }
  for (const auto& [flag, value] : line.flags) {
    const auto& known = command->flags;
    if (flag != "output" &&
        std::find(known.begin(), known.end(), flag) == known.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag, ": has no effect on ", command->name));
    }
  }
  options.file = rest[0];
  BATON_RETURN_IF_ERROR(
      CheckNotRead({{"--output", options.output}},
                   {options.file, options.profile, options.library}));
  BATON_ASSIGN_OR_RETURN(const FileContent content, MapFile(rest[0]));
  BATON_ASSIGN_OR_RETURN(const History history,
                         ReadHistory(content.bytes, content.owner, rest[0]));
  BATON_ASSIGN_OR_RETURN(
      const std::string text,
      command->run(history, {rest.begin() + 2, rest.end()}, options));
  if (history.left_out_tensors > 0 && rest[1] == "show") {
    reports << "baton-history: " << Plural(history.left_out_tensors, "tensor")
            << (history.left_out_tensors == 1 ? " is" : " are")
            << " not in the file: the text is without the values of constants; "
               "record with --record_tensors to keep them\n";
  }
  if (text.empty() && *command->nothing != '\0') {
    reports << "baton-history: "
            << absl::StrJoin(rest.begin() + 1, rest.end(), " ") << ": "
            << command->nothing << "\n";
  }
  if (!options.output.empty()) {
    return WriteFileAtomically(options.output, text);
  }
  out << text << std::flush;
  return out ? absl::OkStatus()
             : absl::UnavailableError("cannot write to standard output");
}

int HistoryMain(int argc, char** argv) {
  return RunTool("baton-history", [argc, argv] {
    const absl::Status status = HistoryTool(
        {argv + (argc > 0 ? 1 : 0), argv + argc}, std::cout, std::cerr);
    if (status.ok()) return 0;
    std::cerr << "baton-history: " << PrintableLines(status.message()) << "\n";
    return 1;
  });
}

}  // namespace baton
