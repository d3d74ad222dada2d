#include "baton/instrument/history_page.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/printable.h"
#include "baton/base/source.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_page_files.h"
#include "baton/instrument/json.h"
#include "baton/instrument/node_text.h"
#include "baton/instrument/provenance.h"
#include "baton/instrument/structural_diff.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_numbers.h"
#include "baton/relay/ir/visit.h"

namespace baton {
namespace {

// --- JSON --------------------------------------------------------------------

// Appends `text` as a JSON string. No reader of HTML sees an end of the script
// in it, since it has no `<`.
void AppendString(absl::string_view text, std::string* out) {
  out->append(absl::StrReplaceAll(JsonString(text), {{"<", "\\u003c"}}));
}

std::string Numbers(const std::vector<int64_t>& numbers) {
  return absl::StrCat("[", absl::StrJoin(numbers, ","), "]");
}

// Each less the one before it.
std::string Differences(const std::vector<int64_t>& numbers) {
  std::string text = "[";
  int64_t last = 0;
  for (size_t i = 0; i < numbers.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ",", numbers[i] - last);
    last = numbers[i];
  }
  return text + "]";
}

std::string HtmlText(absl::string_view text) {
  std::string result;
  for (absl::string_view rest = text; !rest.empty();) {
    const size_t size = Utf8CharacterSize(rest);
    if (size == 0 || absl::ascii_iscntrl(static_cast<uint8_t>(rest[0]))) {
      result += "\xEF\xBF\xBD";
    } else {
      result.append(rest.data(), size);
    }
    rest.remove_prefix(size == 0 ? 1 : size);
  }
  return absl::StrReplaceAll(
      result, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// --- The data ----------------------------------------------------------------

// As in instrument/page/data.js.
enum class PageKind : uint8_t {
  kOther = 0,
  kVar = 1,
  kConstant = 2,
  kCall = 3,        // of what its title names
  kCallOfNode = 4,  // of its first operand
  kTuple = 5,
  kItem = 6,
  kFunction = 7,  // parameters and body
  kLet = 8,
  kIf = 9,
  kMatch = 10,
  kName = 11,  // an operator, global function or constructor as a value
};

class PageWriter {
 public:
  explicit PageWriter(const History& history) : history_(history) {
    StringOf("");
  }

  std::string Content();

 private:
  // A text that is longer says little more, and may be a whole tensor.
  static constexpr size_t kMostValueBytes = 4000;

  int64_t StringOf(absl::string_view text) {
    const auto [it, is_new] = string_indices_.try_emplace(
        std::string(text), static_cast<int64_t>(string_indices_.size()));
    if (is_new) {
      if (!strings_.empty()) strings_ += ",\n";
      AppendString(text, &strings_);
    }
    return it->second;
  }
  int64_t ValueOf(std::string text) {
    if (text.size() > kMostValueBytes) {
      text.resize(kMostValueBytes);
      text += "...";
    }
    return StringOf(text);
  }
  // -1 if it is in no state.
  int64_t IndexOf(const Node* node) const {
    const int64_t* index = indices_.Find(node);
    return index == nullptr ? -1 : *index - 1;
  }
  int64_t IndexOf(const Expr& expr) const { return IndexOf(expr.get()); }

  int64_t TypeOf(const ExprNode* node);
  int64_t AttrsOf(const Node* attrs, const AttrMap& values);
  void AddNode(const ExprNode* node);
  std::string States();
  std::string Executions();
  std::string Diffs();
  std::string Change(const NodeChange& change);
  std::string Remarks();
  std::string Places();
  std::string Origins();

  const History& history_;
  std::string strings_;
  FlatHashMap<std::string, int64_t> string_indices_;
  NodeMap<int64_t> indices_;  // and one more
  NodeMap<int64_t> types_;    // strings, and one more
  NodeMap<int64_t> attrs_;    // and one more
  FlatHashMap<std::string, int64_t> attr_indices_;
  std::vector<std::string> attr_texts_;
  // The columns of the table of nodes.
  std::vector<int64_t> kinds_;
  std::vector<int64_t> titles_;
  std::vector<int64_t> type_strings_;
  std::vector<int64_t> attr_sets_;
  std::vector<int64_t> num_args_;
  std::vector<int64_t> args_;
  std::vector<const ExprNode*> nodes_;
};

int64_t PageWriter::TypeOf(const ExprNode* node) {
  Type type = node->type();
  if (!type.defined()) {
    if (const auto* constant = Expr(node).As<ConstantNode>()) {
      return StringOf(constant->ValueType().ToString());
    }
    if (const auto* var = Expr(node).As<VarNode>()) type = var->annotation();
  }
  if (!type.defined()) return 0;
  const auto [index, is_new] = types_.TryEmplace(type.get());
  if (is_new) {
    const int64_t string = ValueOf(type.ToString());
    types_[type.get()] = string + 1;
    return string;
  }
  return *index - 1;
}

int64_t PageWriter::AttrsOf(const Node* attrs, const AttrMap& values) {
  if (const int64_t* known = attrs_.Find(attrs)) return *known - 1;
  std::string text;
  for (const auto& [name, value] : values) {
    absl::StrAppend(&text, text.empty() ? "" : ",", StringOf(name), ",",
                    ValueOf(value.ToString()));
  }
  const auto [it, is_new] = attr_indices_.try_emplace(
      text, static_cast<int64_t>(attr_indices_.size()));
  if (is_new) attr_texts_.push_back(absl::StrCat("[", text, "]"));
  attrs_[attrs] = it->second + 1;
  return it->second;
}

void PageWriter::AddNode(const ExprNode* node) {
  const Expr expr(node);
  PageKind kind = PageKind::kOther;
  std::string title = NodeText::Head(expr);
  int64_t attrs = -1;
  std::vector<int64_t> args;
  ForEachChild(node,
               [&](const Expr& child) { args.push_back(IndexOf(child)); });
  if (const auto* var = expr.As<VarNode>()) {
    kind = PageKind::kVar;
    title = var->name();
  } else if (const auto* constant = expr.As<ConstantNode>()) {
    kind = PageKind::kConstant;
    title = !constant->is_scalar() ? "constant"
            : constant->value().dtype().is_float()
                ? absl::StrCat(constant->value().AtAsDouble(0))
                : absl::StrCat(constant->value().AtAsInt64(0));
  } else if (const auto* call = expr.As<CallNode>()) {
    kind = PageKind::kCallOfNode;
    if (!NameOfGlobal(call->op().get()).empty()) {
      kind = PageKind::kCall;
      args.erase(args.begin());
    }
    if (call->attrs().defined()) {
      attrs =
          AttrsOf(call->attrs().get(),
                  call->attrs()->fields().NonDefault(call->attrs()->object()));
    }
  } else if (expr.Is<TupleNode>()) {
    kind = PageKind::kTuple;
    title = "tuple";
  } else if (const auto* item = expr.As<TupleGetItemNode>()) {
    kind = PageKind::kItem;
    title = absl::StrCat("item ", item->index());
  } else if (const auto* function = expr.As<FunctionNode>()) {
    kind = PageKind::kFunction;
    if (function->attrs().defined()) {
      attrs = AttrsOf(function->attrs().get(), function->attrs().entries());
    }
  } else if (const auto* let = expr.As<LetNode>()) {
    kind = PageKind::kLet;
    title = let->var()->name();
  } else if (expr.Is<IfNode>()) {
    kind = PageKind::kIf;
    title = "if";
  } else if (expr.Is<MatchNode>()) {
    kind = PageKind::kMatch;
    title = "match";
  } else if (const std::string name = NameOfGlobal(node); !name.empty()) {
    kind = PageKind::kName;
    title = name;
  }
  const auto index = static_cast<int64_t>(nodes_.size());
  indices_[node] = index + 1;
  nodes_.push_back(node);
  kinds_.push_back(static_cast<int64_t>(kind));
  titles_.push_back(ValueOf(std::move(title)));
  type_strings_.push_back(TypeOf(node));
  attr_sets_.push_back(attrs);
  num_args_.push_back(static_cast<int64_t>(args.size()));
  for (const int64_t arg : args) args_.push_back(index - arg);
}

std::string PageWriter::States() {
  std::string text = "[";
  std::vector<int64_t> last_numbers;
  for (size_t i = 0; i < history_.states.size(); ++i) {
    const HistoryState& state = history_.states[i];
    absl::StrAppend(&text, i == 0 ? "" : ",\n", "{\"begin\":", nodes_.size());
    if (!state.kept) {
      text += "}";
      continue;
    }
    std::vector<int64_t> functions;
    for (const IRModule::Definition& definition : state.module.functions()) {
      PostOrderVisit(
          definition.function,
          [this](const ExprNode* node) { return !indices_.Contains(node); },
          [this](const ExprNode* node) {
            if (!indices_.Contains(node)) AddNode(node);
          });
      functions.push_back(StringOf(definition.var->name()));
      functions.push_back(IndexOf(definition.function));
    }
    std::vector<int64_t> numbers;
    for (const ExprNode* node : NumberedNodes(state.module)) {
      numbers.push_back(IndexOf(node));
    }
    absl::StrAppend(&text, ",\"functions\":", Numbers(functions),
                    ",\"bytes\":", BytesHeld().Add(state.module));
    if (i == 0 || numbers != last_numbers) {
      absl::StrAppend(&text, ",\"numbers\":", Differences(numbers));
    }
    last_numbers = std::move(numbers);
    text += "}";
  }
  return text + "]";
}

std::string PageWriter::Executions() {
  std::string text = "[";
  for (size_t i = 0; i < history_.executions.size(); ++i) {
    const HistoryExecution& execution = history_.executions[i];
    absl::StrAppend(
        &text, i == 0 ? "" : ",\n", "{\"number\":", execution.number,
        ",\"parent\":", execution.parent, ",\"depth\":", execution.depth,
        ",\"pass\":", StringOf(execution.pass),
        ",\"text\":", StringOf(execution.text),
        ",\"end\":", static_cast<int>(execution.end),
        ",\"before\":", execution.before, ",\"after\":", execution.after);
    if (!execution.error.empty()) {
      absl::StrAppend(&text, ",\"error\":", ValueOf(execution.error));
    }
    if (execution.changed() && history_.states[execution.before].kept &&
        history_.states[execution.after].kept) {
      const NodesMade made =
          CompareNodes(history_.states[execution.before].module,
                       history_.states[execution.after].module);
      absl::StrAppend(
          &text, ",\"made\":", made.made, ",\"dropped\":", made.dropped,
          ",\"bytes\":",
          made.made_bytes + made.made_tensors - made.dropped_bytes -
              made.dropped_tensors,
          ",\"tensors\":", made.made_tensors - made.dropped_tensors);
    }
    if (execution.memory.has_value()) {
      absl::StrAppend(&text, ",\"garbage\":", execution.memory->garbage());
    }
    text += "}";
  }
  return text + "]";
}

std::string PageWriter::Change(const NodeChange& change) {
  std::vector<int64_t> numbers = {static_cast<int64_t>(change.kind),
                                  StringOf(change.function),
                                  IndexOf(change.before),
                                  IndexOf(change.after),
                                  IndexOf(change.place),
                                  IndexOf(change.from),
                                  IndexOf(change.to),
                                  StringOf(change.from_function)};
  for (const FieldChange& field : change.fields) {
    numbers.insert(
        numbers.end(),
        {StringOf(field.field), ValueOf(field.before), ValueOf(field.after),
         IndexOf(field.before_node), IndexOf(field.after_node)});
  }
  return Numbers(numbers);
}

// One for each pair of states that an execution leads from and to.
std::string PageWriter::Diffs() {
  std::string text = "[";
  FlatHashMap<int64_t, bool> done;
  const auto num_states = static_cast<int64_t>(history_.states.size());
  const auto strings = [this](const std::vector<std::string>& list) {
    std::vector<int64_t> numbers;
    for (const std::string& s : list) numbers.push_back(StringOf(s));
    return Numbers(numbers);
  };
  for (const HistoryExecution& execution : history_.executions) {
    if (!execution.changed() || !history_.states[execution.before].kept ||
        !history_.states[execution.after].kept ||
        !done.try_emplace(execution.before * num_states + execution.after, true)
             .second) {
      continue;
    }
    const StructuralDiff diff =
        DiffStructure(history_.states[execution.before].module,
                      history_.states[execution.after].module);
    absl::StrAppend(
        &text, text.size() == 1 ? "" : ",\n", "{\"before\":", execution.before,
        ",\"after\":", execution.after,
        ",\"dropped_functions\":", strings(diff.dropped_functions),
        ",\"made_functions\":", strings(diff.made_functions),
        ",\"changed_types\":", strings(diff.changed_types), ",\"wrappers\":[",
        diff.wrappers_made, ",", diff.wrappers_dropped, "],\"types\":[",
        diff.types_found, ",", diff.types_lost, "],\"changes\":[");
    for (size_t i = 0; i < diff.changes.size(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ",", Change(diff.changes[i]));
    }
    text += "]}";
  }
  return text + "]";
}

std::string PageWriter::Remarks() {
  FlatHashMap<int64_t, int64_t> executions;
  for (size_t i = 0; i < history_.executions.size(); ++i) {
    executions[history_.executions[i].number] = static_cast<int64_t>(i);
  }
  std::string text = "[";
  for (const Remark& remark : history_.remarks) {
    const auto execution = executions.find(remark.execution);
    if (execution == executions.end()) continue;
    std::vector<int64_t> numbers = {static_cast<int64_t>(remark.kind),
                                    execution->second, IndexOf(remark.node),
                                    StringOf(remark.reason.view())};
    for (const auto& [name, value] : remark.args) {
      numbers.insert(numbers.end(),
                     {StringOf(name.view()), ValueOf(value.ToString()), -1});
    }
    for (const auto& [name, node] : remark.nodes) {
      numbers.insert(numbers.end(), {StringOf(name.view()), 0, IndexOf(node)});
    }
    absl::StrAppend(&text, text.size() == 1 ? "" : ",\n", Numbers(numbers));
  }
  return text + "]";
}

std::string PageWriter::Places() {
  std::vector<int64_t> nodes, sources, lines, columns;
  const auto add = [&](int64_t node, const std::string& source, int line,
                       int column) {
    nodes.push_back(node);
    sources.push_back(StringOf(source));
    lines.push_back(line);
    columns.push_back(column);
  };
  for (const auto& [node, place] : history_.places) {
    const int64_t index = IndexOf(node.get());
    if (index >= 0) add(index, place.source, place.line, place.column);
  }
  // Nodes have spans if the history was read from no file.
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!nodes_[i]->span().defined()) continue;
    const SpanNode& span = *nodes_[i]->span();
    const Source::Position position = span.source().PositionOf(span.begin());
    add(static_cast<int64_t>(i), span.source().name(), position.line,
        position.column);
  }
  return absl::StrCat("{\"nodes\":", Differences(nodes),
                      ",\"sources\":", Numbers(sources),
                      ",\"lines\":", Differences(lines),
                      ",\"columns\":", Numbers(columns), "}");
}

// Which executions made nodes, and what from.
std::string PageWriter::Origins() {
  const Provenance provenance(history_);
  std::vector<int64_t> made, executions, counts, sources;
  // If nobody said anything, each node would be asked for in vain.
  const size_t n = history_.origins.empty() ? 0 : nodes_.size();
  for (size_t i = 0; i < n; ++i) {
    if (!HasOrigin(nodes_[i])) continue;
    const Provenance::Making making = provenance.MakingOf(nodes_[i]);
    int64_t count = 0;
    for (const ExprNode* from : making.from) {
      const int64_t index = IndexOf(from);
      if (index < 0) continue;
      sources.push_back(static_cast<int64_t>(i) - index);
      ++count;
    }
    if (count == 0) continue;
    made.push_back(static_cast<int64_t>(i));
    executions.push_back(making.execution);
    counts.push_back(count);
  }
  return absl::StrCat("{\"made\":", Differences(made),
                      ",\"num_from\":", Numbers(counts),
                      ",\"from\":", Numbers(sources),
                      ",\"executions\":", Differences(executions), "}");
}

std::string PageWriter::Content() {
  const std::string states = States();
  const std::string executions = Executions();
  const std::string diffs = Diffs();
  const std::string remarks = Remarks();
  const std::string places = Places();
  std::string counts = "[";
  for (const HistoryCount& count : history_.counts) {
    absl::StrAppend(&counts, counts.size() == 1 ? "" : ",",
                    StringOf(count.name), ",", StringOf(count.doc), ",",
                    count.count);
  }
  return absl::StrCat(
      "{\"strings\":[", strings_, "],\n\"kinds\":", Numbers(kinds_),
      ",\n\"titles\":", Numbers(titles_),
      ",\n\"types\":", Numbers(type_strings_),
      ",\n\"attrs\":", Numbers(attr_sets_),
      ",\n\"num_args\":", Numbers(num_args_), ",\n\"args\":", Numbers(args_),
      ",\n\"attr_sets\":[", absl::StrJoin(attr_texts_, ",\n"),
      "],\n\"states\":", states, ",\n\"executions\":", executions,
      ",\n\"diffs\":", diffs, ",\n\"remarks\":", remarks,
      ",\n\"places\":", places, ",\n\"origins\":", Origins(),
      ",\n\"counts\":", counts, "],\n\"signal\":", history_.signal,
      ",\n\"left_out_tensors\":", history_.left_out_tensors, "}");
}

}  // namespace

HistoryPageData PageDataOf(const History& history) {
  std::vector<int64_t> starts, totals, peaks;
  for (const HistoryExecution& execution : history.executions) {
    starts.push_back(execution.start);
    totals.push_back(execution.total);
    peaks.push_back(execution.memory.has_value() ? execution.memory->peak_bytes
                                                 : -1);
  }
  return {.content = PageWriter(history).Content(),
          .times = absl::StrCat("{\"start\":", Numbers(starts),
                                ",\"total\":", Numbers(totals),
                                ",\"peak\":", Numbers(peaks), "}")};
}

absl::Status CheckPageSize(const History& history, int64_t max_nodes) {
  NodeSet seen;
  int64_t nodes = 0;
  for (const HistoryState& state : history.states) {
    for (const IRModule::Definition& definition : state.module.functions()) {
      PostOrderVisit(
          definition.function,
          [&](const ExprNode* node) { return !seen.Contains(node); },
          [&](const ExprNode* node) { nodes += seen.Insert(node) ? 1 : 0; });
    }
  }
  if (nodes <= max_nodes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a page of ", nodes, " nodes is too large for browsers, at most ",
      max_nodes,
      " are taken; `log`, `show`, `diff`, `blame` and `why` tell the same"));
}

std::string HistoryPage(const History& history, absl::string_view title,
                        absl::string_view profile, absl::string_view library) {
  const HistoryPageData data = PageDataOf(history);
  // In JSON, `<` occurs in strings alone.
  const auto script_of = [](absl::string_view json) -> std::string {
    return json.empty() ? "null"
                        : absl::StrReplaceAll(json, {{"<", "\\u003c"}});
  };
  // Replacements are not searched again.
  return absl::StrReplaceAll(kHistoryPageHtml,
                             {{"{{title}}", HtmlText(title)},
                              {"{{style}}", kHistoryPageCss},
                              {"{{content}}", data.content},
                              {"{{times}}", data.times},
                              {"{{profile}}", script_of(profile)},
                              {"{{library}}", script_of(library)},
                              {"{{script}}", kHistoryPageScript}});
}

}  // namespace baton
