#include "baton/instrument/history_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/hash_table.h"
#include "baton/base/json.h"
#include "baton/base/near_names.h"
#include "baton/base/plural.h"
#include "baton/base/status_macros.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/history.h"
#include "baton/instrument/node_text.h"
#include "baton/instrument/provenance.h"
#include "baton/instrument/regular_expression.h"
#include "baton/instrument/remarks.h"
#include "baton/instrument/structural_diff.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/pass_log.h"
#include "re2/re2.h"

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

// An error if `re` matches neither a registered operator nor the title of a
// node in `history`.
absl::Status CheckTitles(const History& history, absl::string_view flag,
                         const std::string& pattern, const re2::RE2& re) {
  std::vector<std::string> names;
  for (const OpNode* op : OpRegistry::Global().List()) {
    names.push_back(op->name());
    if (re2::RE2::FullMatch(op->name(), re)) return absl::OkStatus();
  }
  FlatHashSet<std::string> titles;
  NodeSet seen;
  for (const HistoryState& state : history.states) {
    for (const IRModule::Definition& definition : state.module.functions()) {
      VisitAtAnyLevel(definition.function, seen, [&](const ExprNode* node) {
        titles.insert(NodeText::Head(Expr(node)));
      });
    }
  }
  for (const std::string& title : titles) {
    if (OpRegistry::Global().Find(title) == nullptr) names.push_back(title);
    if (re2::RE2::FullMatch(title, re)) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--", flag, ": no operator has a name that \"", pattern,
                   "\" matches as a whole", DidYouMean(pattern, names)));
}

}  // namespace

std::string HistoryLog(const History& history) {
  std::vector<int64_t> self;
  for (const HistoryExecution& execution : history.executions) {
    self.push_back(execution.total);
    if (execution.parent >= 0) self[execution.parent] -= execution.total;
  }
  const bool measured = absl::c_any_of(
      history.executions,
      [](const HistoryExecution& e) { return e.memory.has_value(); });
  std::string text =
      absl::StrFormat("%5s %10s %10s %8s %8s %11s %11s", "#", "us", "self us",
                      "made", "dropped", "bytes", "in tensors");
  if (measured) absl::StrAppendFormat(&text, " %8s %8s", "garbage", "peak MB");
  text += '\n';
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
      const int64_t tensors = made.made_tensors - made.dropped_tensors;
      absl::StrAppendFormat(
          &text, " %8d %8d %+11d %+11d", made.made, made.dropped,
          made.made_bytes - made.dropped_bytes + tensors, tensors);
    } else {
      const char* unknown = execution.changed() ? "?" : "-";
      absl::StrAppendFormat(&text, " %8s %8s %11s %11s", unknown, unknown,
                            unknown, unknown);
    }
    if (execution.memory.has_value()) {
      absl::StrAppendFormat(
          &text, " %8d %8.1f", execution.memory->garbage(),
          static_cast<double>(execution.memory->peak_bytes) / 1e6);
    } else if (measured) {
      absl::StrAppendFormat(&text, " %8s %8s", "?", "?");
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
  // The tensors that are not in the file are unknown: others in their place
  // would look like them.
  std::string text =
      history.left_out_tensors == 0
          ? AsText(only)
          : absl::StrCat("// ", Plural(history.left_out_tensors, "tensor"),
                         " of the run are not in the history: without values "
                         "of constants.\n",
                         AsText(only, {.metadata = false,
                                       .note_omitted_metadata = false}));
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

namespace {

// The names of nodes of the states; each is made when it is first needed.
class StateNames {
 public:
  explicit StateNames(const History& history)
      : history_(history), names_(history.states.size()) {}

  const NodeText& Of(int state) {
    if (names_[state] == nullptr) {
      names_[state] = std::make_unique<NodeText>(history_.states[state].module);
    }
    return *names_[state];
  }

 private:
  const History& history_;
  std::vector<std::unique_ptr<NodeText>> names_;
};

NodeBlame BlameOf(const History& history, const Provenance& provenance,
                  StateNames& names, const ExprNode* node) {
  const auto title = [&](const ExprNode* n) {
    return names.Of(provenance.FirstStateOf(n)).Title(Expr(n));
  };
  NodeBlame blame;
  std::vector<const ExprNode*> pending = {node};
  NodeSet seen;
  seen.Insert(node);
  for (size_t i = 0; i < pending.size(); ++i) {
    const ExprNode* at = pending[i];
    if (provenance.FirstStateOf(at) == 0) {
      const std::optional<HistoryPlace> place = provenance.PlaceOf(at);
      blame.sources.push_back(
          {.place = place.has_value() ? PlaceText(*place) : "",
           .node = title(at)});
      continue;
    }
    const Provenance::Making making = provenance.MakingOf(at);
    const absl::StatusOr<const HistoryExecution*> execution =
        history.Find(making.execution);
    NodeBlame::Step step = {.execution = making.execution,
                            .pass = execution.ok() ? (*execution)->pass : "",
                            .node = title(at)};
    for (const ExprNode* from : making.from) {
      step.from.push_back(title(from));
      if (seen.Insert(from)) pending.push_back(from);
    }
    blame.steps.push_back(std::move(step));
  }
  return blame;
}

// The regular expression that a flag has as its value.
absl::StatusOr<std::unique_ptr<const re2::RE2>> CompileFlag(
    absl::string_view flag, const std::string& pattern) {
  auto re = internal::CompileRegularExpression(pattern);
  if (re.ok()) return re;
  return absl::Status(re.status().code(),
                      absl::StrCat("--", flag, ": ", re.status().message()));
}

}  // namespace

absl::StatusOr<std::vector<NodeBlame>> HistoryBlame(
    const History& history, int64_t number, const NodeSelection& selection) {
  std::unique_ptr<const re2::RE2> re;
  if (!selection.op.empty()) {
    BATON_ASSIGN_OR_RETURN(re, CompileFlag("op", selection.op));
    BATON_RETURN_IF_ERROR(CheckTitles(history, "op", selection.op, *re));
  }
  BATON_ASSIGN_OR_RETURN(const IRModule module, history.ModuleAfter(number));
  BATON_ASSIGN_OR_RETURN(const int state, history.StateAfter(number));
  const Provenance provenance(history);
  StateNames names(history);
  std::vector<NodeBlame> result;
  NodeSet seen;
  for (const IRModule::Definition& definition : module.functions()) {
    VisitAtAnyLevel(definition.function, seen, [&](const ExprNode* node) {
      if (!HasOrigin(node)) return;
      const Expr expr(node);
      if (selection.number >= 0 &&
          names.Of(state).Number(expr) != selection.number) {
        return;
      }
      if (re != nullptr && !re2::RE2::FullMatch(NodeText::Head(expr), *re)) {
        return;
      }
      result.push_back(BlameOf(history, provenance, names, node));
      result.back().function = definition.var->name();
      result.back().node = names.Of(state).Title(expr);
    });
  }
  return result;
}

std::string BlameText(const std::vector<NodeBlame>& nodes) {
  std::string text;
  for (const NodeBlame& node : nodes) {
    absl::StrAppend(&text, "@", node.function, " ", node.node, "\n");
    for (const NodeBlame::Step& step : node.steps) {
      absl::StrAppend(&text, "  #", step.execution, " ", step.pass, " made ",
                      step.node, " from ",
                      step.from.empty() ? "an unknown node"
                                        : absl::StrJoin(step.from, ", "),
                      "\n");
    }
    for (const NodeBlame::Source& source : node.sources) {
      absl::StrAppend(&text, "  ",
                      source.place.empty() ? "the input" : source.place, ": ",
                      source.node, "\n");
    }
  }
  return text;
}

std::string BlameJson(const std::vector<NodeBlame>& nodes) {
  JsonWriter json;
  json.BeginArray();
  for (const NodeBlame& node : nodes) {
    json.NewLine().BeginObject();
    json.Fields("function", node.function, "node", node.node);
    json.Key("steps").BeginArray();
    for (const NodeBlame::Step& step : node.steps) {
      json.Object("execution", step.execution, "pass", step.pass, "node",
                  step.node, "from", step.from);
    }
    json.End().Key("sources").BeginArray();
    for (const NodeBlame::Source& source : node.sources) {
      json.Object("place", source.place, "node", source.node);
    }
    json.End().End();
  }
  json.NewLine().End();
  return std::move(json).Finish();
}

absl::StatusOr<std::string> HistoryWhy(const History& history, int64_t number,
                                       const NodeSelection& selection) {
  std::unique_ptr<const re2::RE2> re;
  if (!selection.op.empty()) {
    BATON_ASSIGN_OR_RETURN(re, CompileFlag("op", selection.op));
    BATON_RETURN_IF_ERROR(CheckTitles(history, "op", selection.op, *re));
  }
  BATON_ASSIGN_OR_RETURN(const HistoryExecution* execution,
                         history.Find(number));
  // The executions inside it follow directly.
  const auto first = static_cast<size_t>(execution - &history.executions[0]);
  size_t last = first;
  while (last + 1 < history.executions.size() &&
         history.executions[last + 1].depth > execution->depth) {
    ++last;
  }
  std::vector<std::vector<Remark>> remarks(last - first + 1);
  for (const Remark& remark : history.remarks) {
    BATON_ASSIGN_OR_RETURN(const HistoryExecution* teller,
                           history.Find(remark.execution));
    const auto index = static_cast<size_t>(teller - &history.executions[0]);
    if (index < first || index > last) continue;
    if (re != nullptr &&
        (!remark.node.defined() ||
         !re2::RE2::FullMatch(NodeText::Head(remark.node), *re))) {
      continue;
    }
    remarks[index - first].push_back(remark);
  }
  std::string text;
  for (size_t i = first; i <= last; ++i) {
    if (remarks[i - first].empty()) continue;
    const HistoryState& state = history.states[history.executions[i].before];
    if (!state.kept) {
      absl::StrAppend(&text, "#", history.executions[i].number, " ",
                      history.executions[i].pass,
                      ": the module that it was given was not kept\n");
      continue;
    }
    const NodeText names(state.module);
    std::vector<Remark> selected;
    for (Remark& remark : remarks[i - first]) {
      if (selection.number >= 0 &&
          (!remark.node.defined() ||
           names.Number(remark.node) != selection.number)) {
        continue;
      }
      selected.push_back(std::move(remark));
    }
    for (const RenderedRemark& rendered :
         RenderRemarks(selected, state.module)) {
      absl::StrAppend(&text, FormatRemark(rendered), "\n");
    }
  }
  return text;
}

absl::StatusOr<std::string> HistoryFind(const History& history,
                                        const HistoryCondition& condition) {
  const bool by_text = !condition.text.empty();
  const bool lacks = !condition.lacks.empty();
  if (by_text + lacks + !condition.has.empty() != 1) {
    return absl::InvalidArgumentError("give one of --has, --lacks and --text");
  }
  const std::string& pattern = by_text ? condition.text
                               : lacks ? condition.lacks
                                       : condition.has;
  const char* flag = by_text ? "text" : lacks ? "lacks" : "has";
  BATON_ASSIGN_OR_RETURN(const auto re, CompileFlag(flag, pattern));
  if (!by_text) {
    BATON_RETURN_IF_ERROR(CheckTitles(history, flag, pattern, *re));
  }
  const auto holds = [&](const IRModule& module) {
    if (by_text) return re2::RE2::PartialMatch(ToText(module), *re);
    bool found = false;
    for (const IRModule::Definition& definition : module.functions()) {
      VisitAtAnyLevel(definition.function, [&](const ExprNode* node) {
        found = found || re2::RE2::FullMatch(NodeText::Head(Expr(node)), *re);
      });
    }
    return found != lacks;
  };
  std::vector<int> answers(history.states.size(), -1);
  const auto holds_in = [&](int state) {
    if (!history.states[state].kept) return false;
    if (answers[state] < 0)
      answers[state] = holds(history.states[state].module);
    return answers[state] != 0;
  };
  // The innermost that changed it: those inside come later, but end earlier.
  const HistoryExecution* first = nullptr;
  for (const HistoryExecution& execution : history.executions) {
    if (execution.after < 0 || !execution.changed()) continue;
    if (holds_in(execution.before) || !holds_in(execution.after)) continue;
    if (first != nullptr &&
        (first->after < execution.after ||
         (first->after == execution.after && first->depth > execution.depth))) {
      continue;
    }
    first = &execution;
  }
  if (first != nullptr) {
    return absl::StrCat(
        "#", first->number, " ", first->pass,
        history.states[first->before].kept
            ? ""
            : ", or one before it: the module that it was given was not kept",
        "\n");
  }
  if (!history.states.empty() && holds_in(0)) {
    return std::string("It holds from the beginning.\n");
  }
  const bool all_kept = absl::c_all_of(
      history.states, [](const HistoryState& state) { return state.kept; });
  return std::string(all_kept
                         ? "It never holds.\n"
                         : "It holds in none of the modules that were kept.\n");
}

}  // namespace baton
