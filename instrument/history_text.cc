#include "baton/instrument/history_text.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/history.h"
#include "baton/instrument/structural_diff.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"

namespace baton {
namespace {

int64_t Microseconds(int64_t nanoseconds) { return (nanoseconds + 500) / 1000; }

// The first line of a message.
std::string FirstLine(const std::string& message) {
  return message.substr(0, message.find('\n'));
}

// `module` with that function only, and the data types.
absl::StatusOr<IRModule> Only(const IRModule& module,
                              const std::string& function) {
  if (function.empty()) return module;
  BATON_ASSIGN_OR_RETURN(BaseFunc found, module.Lookup(function));
  IRModule result;
  for (const TypeDefinition& type : module.types()) result.SetType(type);
  result.Set(module.FindGlobalVar(function), std::move(found));
  return result;
}

}  // namespace

std::string HistoryLog(const History& history) {
  std::vector<int64_t> self;
  for (const HistoryExecution& execution : history.executions) {
    self.push_back(execution.total);
    if (execution.parent >= 0) self[execution.parent] -= execution.total;
  }
  std::string text = absl::StrFormat("%5s %10s %10s %8s %8s %11s\n", "#", "us",
                                     "self us", "made", "dropped", "bytes");
  for (size_t i = 0; i < history.executions.size(); ++i) {
    const HistoryExecution& execution = history.executions[i];
    absl::StrAppendFormat(&text, "%5d %10d %10d", execution.number,
                          Microseconds(execution.total), Microseconds(self[i]));
    NodesMade made;
    const bool compares = execution.changed() &&
                          history.states[execution.before].kept &&
                          history.states[execution.after].kept;
    if (compares) {
      made = CompareNodes(history.states[execution.before].module,
                          history.states[execution.after].module);
      absl::StrAppendFormat(&text, " %8d %8d %+11d", made.made, made.dropped,
                            made.made_bytes + made.made_tensors -
                                made.dropped_bytes - made.dropped_tensors);
    } else {
      absl::StrAppendFormat(
          &text, " %8s %8s %11s", execution.changed() ? "?" : "-",
          execution.changed() ? "?" : "-", execution.changed() ? "?" : "-");
    }
    absl::StrAppend(&text, "  ",
                    std::string(2 * static_cast<size_t>(execution.depth), ' '),
                    execution.text);
    constexpr size_t kMostFunctions = 4;
    const size_t shown = std::min(made.functions.size(), kMostFunctions);
    for (size_t f = 0; f < shown; ++f) {
      absl::StrAppend(&text, " @", made.functions[f]);
    }
    if (shown < made.functions.size()) {
      absl::StrAppend(&text, " and ", made.functions.size() - shown, " more");
    }
    switch (execution.end) {
      case HistoryExecution::End::kDone:
        break;
      case HistoryExecution::End::kFailed:
        absl::StrAppend(&text, " failed: ", FirstLine(execution.error));
        break;
      case HistoryExecution::End::kRunning:
        absl::StrAppend(&text, " did not end");
        break;
    }
    text += '\n';
  }
  if (history.signal != 0) {
    absl::StrAppend(&text, "The run was ended by signal ", history.signal,
                    ".\n");
  }
  return text;
}

absl::StatusOr<std::string> HistoryShow(const History& history, int64_t number,
                                        const std::string& function) {
  BATON_ASSIGN_OR_RETURN(const IRModule module, history.ModuleAfter(number));
  BATON_ASSIGN_OR_RETURN(const IRModule only, Only(module, function));
  std::string text = AsText(only);
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

absl::StatusOr<StructuralDiff> HistoryDiff(const History& history, int64_t from,
                                           int64_t to,
                                           const std::string& function) {
  BATON_ASSIGN_OR_RETURN(const IRModule before, history.ModuleAfter(from));
  BATON_ASSIGN_OR_RETURN(const IRModule after, history.ModuleAfter(to));
  StructuralDiff diff = DiffStructure(before, after);
  if (function.empty()) return diff;
  const auto others = [&function](std::vector<std::string>& names) {
    names.erase(std::remove_if(names.begin(), names.end(),
                               [&](const auto& n) { return n != function; }),
                names.end());
  };
  if (!before.Find(function).defined() && !after.Find(function).defined()) {
    return after.Lookup(function).status();
  }
  others(diff.dropped_functions);
  others(diff.made_functions);
  diff.changes.erase(std::remove_if(diff.changes.begin(), diff.changes.end(),
                                    [&function](const NodeChange& change) {
                                      return change.function != function &&
                                             change.from_function != function;
                                    }),
                     diff.changes.end());
  return diff;
}

}  // namespace baton
