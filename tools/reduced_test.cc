#include "baton/tools/reduced_test.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/fields.h"
#include "baton/base/flags.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/instrument_registry.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/tir/ir/function.h"
#include "baton/tools/run_options.h"
#include "baton/transform/pass.h"
#include "baton/transform/pipeline.h"
#include "baton/transform/sequential.h"
#include "baton/triage/failure.h"

namespace baton {
namespace {

// The beginning of a message that other programs would have, too: up to the
// first name or number. What CHECK lines take for something else ends it, too.
std::string StableBeginning(absl::string_view message) {
  const absl::string_view line = message.substr(0, message.find('\n'));
  size_t end = 0;
  size_t begin = 0;
  while (begin < line.size()) {
    const size_t space = std::min(line.find(' ', begin), line.size());
    const absl::string_view word = line.substr(begin, space - begin);
    if (word.find_first_of("0123456789%@`\"[]{}#") != absl::string_view::npos) {
      break;
    }
    end = space;
    begin = space + 1;
  }
  return std::string(line.substr(0, end));
}

// The message without the lines that the pass manager put before it.
absl::string_view WithoutPlace(absl::string_view message) {
  while (absl::StartsWith(message, "in pass #")) {
    const size_t end = message.find('\n');
    if (end == absl::string_view::npos) break;
    message.remove_prefix(end + 1);
  }
  return message;
}

std::string FlagText(const AttrValue& value) {
  if (const auto* text = value.As<std::string>()) return *text;
  if (const auto* list = value.As<AttrList>()) {
    return absl::StrJoin(*list, ",",
                         [](std::string* out, const AttrValue& item) {
                           absl::StrAppend(out, FlagText(item));
                         });
  }
  return value.ToString();
}

// True if a sequence of the passes runs InferType first, as a required pass.
bool RequiresTypes(const std::vector<Pass>& passes) {
  if (passes.empty()) return false;
  const std::vector<std::string>& required = passes.front().info().required;
  return !required.empty() && required.front() == "InferType";
}

// A flag on the command line, after a space.
std::string FlagOn(absl::string_view name, const AttrValue& value) {
  const auto* is_set = value.As<bool>();
  if (is_set != nullptr) return absl::StrCat(" --", *is_set ? "" : "no", name);
  return absl::StrCat(" --", name, "=", ShellWord(FlagText(value)));
}

}  // namespace

bool HasOnlyLoops(const IRModule& module) {
  const size_t loops = module.functions<tir::PrimFunc>().size();
  return loops > 0 && loops == module.functions().size();
}

absl::string_view FileEnding(const IRModule& module) {
  return HasOnlyLoops(module) ? ".tir" : ".relay";
}

std::string ShellWord(absl::string_view text) {
  const bool is_plain =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
               absl::StrContains("_-./,:=+%@", absl::string_view(&c, 1));
      });
  if (is_plain) return std::string(text);
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

absl::StatusOr<std::string> CommandLine(absl::string_view file,
                                        const std::vector<Pass>& passes,
                                        const ReducedTestOptions& options) {
  BATON_ASSIGN_OR_RETURN(std::string pipeline,
                         PipelineToString(Sequential(passes)));
  if (options.infers_types && !RequiresTypes(passes)) {
    pipeline = absl::StrCat("InferType", pipeline.empty() ? "" : ",", pipeline);
  }
  std::string line(file);
  absl::StrAppend(&line, " --passes=", ShellWord(pipeline));
  const FieldList& fields = FieldsOf<RunOptions>();
  for (const Flag& flag : FlagsOf<RunOptions>()) {
    if (flag.name == "passes") continue;
    if (fields.IsDefault(*flag.field, &options.run)) continue;
    line += FlagOn(flag.name, flag.field->Get(&options.run));
  }
  for (const auto& [name, value] : SortedInstrumentFlags(options.run)) {
    // Which executions ran is not the same any more.
    if (IsSkip(PhaseOfFlag(name))) continue;
    line += FlagOn(name, value);
  }
  return absl::StrCat(line, " --emit=none");
}

namespace {

// A word of a RUN line, which is one line. In `text`, %s and what else RUN
// lines replace is replaced there.
std::string RunLineWord(absl::string_view text) {
  if (!absl::StrContains(text, '\n')) return ShellWord(text);
  return absl::StrCat(
      "$'",
      absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"'", "\\'"}, {"\n", "\\n"}}),
      "'");
}

// RUN lines of a command, which sees what it saw: no comments that it could
// take for a part of the program.
std::string CommandRunLines(absl::string_view command,
                            absl::string_view pipeline,
                            absl::string_view ending) {
  const std::string program = absl::StrCat("%t", ending);
  const std::string word =
      absl::StrReplaceAll(ShellWord(pipeline), {{"%", "%%"}});
  return absl::StrCat(
      "// What the command shows; files and programs that it needs are data of "
      "the test.\n"
      "// RUN: grep -v '^//' %s >",
      program, "\n// RUN: sh -c ",
      RunLineWord(absl::StrReplaceAll(
          command, {{"%%", "%%"}, {"%s", program}, {"%p", word}, {"%", "%%"}})),
      "\n");
}

}  // namespace

absl::StatusOr<std::string> ReducedTest(const IRModule& module,
                                        const std::vector<Pass>& passes,
                                        const ReducedTestOptions& options) {
  const std::string program = AsText(module, {.types = false});
  const absl::string_view end = absl::EndsWith(program, "\n") ? "" : "\n";
  if (!options.command.empty()) {
    BATON_ASSIGN_OR_RETURN(const std::string pipeline,
                           PipelineToString(Sequential(passes)));
    return absl::StrCat(
        CommandRunLines(options.command, pipeline, FileEnding(module)), "\n",
        program, end);
  }
  const Failure& failure = options.failure;
  ReducedTestOptions how = options;
  how.infers_types = how.infers_types && !HasOnlyLoops(module);
  BATON_ASSIGN_OR_RETURN(std::string command, CommandLine("%s", passes, how));
  command = absl::StrCat(options.tool, " ", command);
  std::string text =
      absl::StrCat("// ", failure.pass, failure.pass.empty() ? "" : ": ",
                   KindToString(failure.kind), ".\n");
  switch (failure.kind) {
    case Failure::Kind::kError: {
      absl::StrAppend(&text, "// RUN: not ", command,
                      " 2>&1 \\\n// RUN:   | baton-check %s\n");
      if (!failure.pass.empty()) {
        absl::StrAppend(&text, "// CHECK: in pass {{.*}}#{{[0-9]+}} ",
                        failure.pass, "\n");
      }
      const std::string message =
          StableBeginning(WithoutPlace(failure.message));
      if (!message.empty()) absl::StrAppend(&text, "// CHECK: ", message, "\n");
      if (message.empty() && failure.pass.empty()) {
        absl::StrAppend(&text, "// CHECK: {{.}}\n");
      }
      break;
    }
    case Failure::Kind::kCrash:
      absl::StrAppend(&text, "// RUN: ", command, "; test $? -ge 128\n");
      break;
    case Failure::Kind::kTimeOut:
      absl::StrAppend(&text, "// RUN: timeout -s KILL 10 ", command,
                      "; test $? -eq 137\n");
      break;
    case Failure::Kind::kNone:
      absl::StrAppend(&text, "// RUN: ", command, "\n");
      break;
  }
  absl::StrAppend(&text, "\n", program, end);
  return text;
}

}  // namespace baton
