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
#include "absl/strings/strip.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/json.h"
#include "baton/base/printable.h"
#include "baton/base/source.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/history.h"
#include "baton/instrument/history_page_files.h"
#include "baton/instrument/indented_diff.h"
#include "baton/instrument/node_text.h"
#include "baton/instrument/provenance.h"
#include "baton/instrument/structural_diff.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_compare.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_map.h"
#include "baton/ir/pass_log.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_numbers.h"

namespace baton {
namespace {

// --- JSON --------------------------------------------------------------------

// Appends `text` as a JSON string. No reader of HTML sees an end of the script
// in it, since it has no `<`.
void AppendString(absl::string_view text, std::string* out) {
  out->append(absl::StrReplaceAll(JsonString(text), {{"<", "\\u003c"}}));
}

// Each number less the one before it.
std::vector<int64_t> Differences(std::vector<int64_t> numbers) {
  for (size_t i = numbers.size(); i-- > 1;) numbers[i] -= numbers[i - 1];
  return numbers;
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
  std::vector<int64_t> Change(const NodeChange& change);
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
    if (const auto* constant = Expr(node).As<relay::ConstantNode>()) {
      return StringOf(constant->ValueType().ToString());
    }
    if (const auto* var = Expr(node).As<relay::VarNode>())
      type = var->annotation();
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
  ForEachChildAtAnyLevel(
      node, [&](const Expr& child) { args.push_back(IndexOf(child)); });
  if (const auto* var = expr.As<relay::VarNode>()) {
    kind = PageKind::kVar;
    title = var->name();
  } else if (const auto* constant = expr.As<relay::ConstantNode>()) {
    kind = PageKind::kConstant;
    title = !constant->is_scalar() ? "constant"
            : constant->value().dtype().is_float()
                ? absl::StrCat(constant->value().AtAsDouble(0))
                : absl::StrCat(constant->value().AtAsInt64(0));
  } else if (const auto* call = expr.As<relay::CallNode>()) {
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
  } else if (expr.Is<relay::TupleNode>()) {
    kind = PageKind::kTuple;
    title = "tuple";
  } else if (const auto* item = expr.As<relay::TupleGetItemNode>()) {
    kind = PageKind::kItem;
    title = absl::StrCat("item ", item->index());
  } else if (const auto* function = expr.As<relay::FunctionNode>()) {
    kind = PageKind::kFunction;
    if (function->attrs().defined()) {
      attrs = AttrsOf(function->attrs().get(), function->attrs().entries());
    }
  } else if (const auto* let = expr.As<relay::LetNode>()) {
    kind = PageKind::kLet;
    title = let->var()->name();
  } else if (expr.Is<relay::IfNode>()) {
    kind = PageKind::kIf;
    title = "if";
  } else if (expr.Is<relay::MatchNode>()) {
    kind = PageKind::kMatch;
    title = "match";
  } else if (const std::string name = NameOfGlobal(node); !name.empty()) {
    kind = PageKind::kName;
    title = name;
  } else if (IsLeaf(node->kind())) {  // of another level
    const std::string text = internal::DescribeNode(node);
    absl::string_view name = text;
    kind = PageKind::kConstant;
    if (internal::ClassOf(node).identity == NodeIdentity::kVariable) {
      // The page writes `%` before names of variables.
      kind = PageKind::kVar;
      if (!absl::ConsumePrefix(&name, "%")) {
        absl::ConsumePrefix(&name, "variable ");
      }
    }
    title = std::string(name);
  } else if (CalleeOf(node) != nullptr) {
    kind = PageKind::kCall;
    args.erase(args.begin());
  } else if (IsOfOtherLevel(node)) {
    title = internal::DescribeNode(node);
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
  JsonWriter json;
  json.BeginArray();
  std::vector<int64_t> last_numbers;
  NodeSet seen;
  for (size_t i = 0; i < history_.states.size(); ++i) {
    const HistoryState& state = history_.states[i];
    if (i > 0) json.NewLine();
    json.BeginObject().Fields("begin", nodes_.size());
    if (!state.kept) {
      json.End();
      continue;
    }
    std::vector<int64_t> functions;
    for (const IRModule::Definition& definition : state.module.functions()) {
      VisitAtAnyLevel(definition.function, seen,
                      [this](const ExprNode* node) { AddNode(node); });
      functions.push_back(StringOf(definition.var->name()));
      functions.push_back(IndexOf(definition.function));
    }
    std::vector<int64_t> numbers;
    for (const ExprNode* node : relay::NumberedNodes(state.module)) {
      numbers.push_back(IndexOf(node));
    }
    json.Fields("functions", functions, "bytes", BytesHeld().Add(state.module));
    if (i == 0 || numbers != last_numbers) {
      json.Fields("numbers", Differences(numbers));
    }
    last_numbers = std::move(numbers);
    json.End();
  }
  json.End();
  return std::move(json).Finish();
}

std::string PageWriter::Executions() {
  JsonWriter json;
  json.BeginArray();
  for (size_t i = 0; i < history_.executions.size(); ++i) {
    const HistoryExecution& execution = history_.executions[i];
    const int64_t pass = StringOf(execution.pass);
    const int64_t text = StringOf(execution.text);
    if (i > 0) json.NewLine();
    json.BeginObject().Fields("number", execution.number, "parent",
                              execution.parent, "depth", execution.depth,
                              "pass", pass, "text", text, "end",
                              static_cast<int>(execution.end), "before",
                              execution.before, "after", execution.after);
    if (!execution.error.empty()) {
      json.Fields("error", ValueOf(execution.error));
    }
    if (execution.changed() && history_.states[execution.before].kept &&
        history_.states[execution.after].kept) {
      const NodesMade made =
          CompareNodes(history_.states[execution.before].module,
                       history_.states[execution.after].module);
      json.Fields("made", made.made, "dropped", made.dropped, "bytes",
                  made.made_bytes + made.made_tensors - made.dropped_bytes -
                      made.dropped_tensors,
                  "tensors", made.made_tensors - made.dropped_tensors);
    }
    if (execution.memory.has_value()) {
      json.Fields("garbage", execution.memory->garbage());
    }
    json.End();
  }
  json.End();
  return std::move(json).Finish();
}

std::vector<int64_t> PageWriter::Change(const NodeChange& change) {
  const std::string lines = absl::StrJoin(
      change.lines, "\n", [](std::string* out, const LineChange& line) {
        out->append(LineChangeText(line));
      });
  std::vector<int64_t> numbers = {static_cast<int64_t>(change.kind),
                                  StringOf(change.function),
                                  IndexOf(change.before),
                                  IndexOf(change.after),
                                  IndexOf(change.place),
                                  IndexOf(change.from),
                                  IndexOf(change.to),
                                  StringOf(change.from_function),
                                  StringOf(lines)};
  for (const FieldChange& field : change.fields) {
    numbers.insert(
        numbers.end(),
        {StringOf(field.field), ValueOf(field.before), ValueOf(field.after),
         IndexOf(field.before_node), IndexOf(field.after_node)});
  }
  return numbers;
}

// One for each pair of states that an execution leads from and to.
std::string PageWriter::Diffs() {
  JsonWriter json;
  json.BeginArray();
  FlatHashMap<int64_t, bool> done;
  const auto num_states = static_cast<int64_t>(history_.states.size());
  const auto strings = [this](const std::vector<std::string>& list) {
    std::vector<int64_t> numbers;
    for (const std::string& s : list) numbers.push_back(StringOf(s));
    return numbers;
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
    if (done.size() > 1) json.NewLine();
    json.BeginObject().Fields("before", execution.before, "after",
                              execution.after);
    // One statement each: strings get their numbers in this order.
    json.Fields("dropped_functions", strings(diff.dropped_functions));
    json.Fields("made_functions", strings(diff.made_functions));
    json.Fields("changed_types", strings(diff.changed_types));
    json.Key("wrappers").BeginArray();
    json.Value(diff.wrappers_made).Value(diff.wrappers_dropped).End();
    json.Key("types").BeginArray();
    json.Value(diff.types_found).Value(diff.types_lost).End();
    json.Key("changes").BeginArray();
    for (const NodeChange& change : diff.changes) json.Value(Change(change));
    json.End().End();
  }
  json.End();
  return std::move(json).Finish();
}

std::string PageWriter::Remarks() {
  FlatHashMap<int64_t, int64_t> executions;
  for (size_t i = 0; i < history_.executions.size(); ++i) {
    executions[history_.executions[i].number] = static_cast<int64_t>(i);
  }
  JsonWriter json;
  json.BeginArray();
  bool is_first = true;
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
    if (!is_first) json.NewLine();
    is_first = false;
    json.Value(numbers);
  }
  json.End();
  return std::move(json).Finish();
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
  JsonWriter json;
  json.Object("nodes", Differences(nodes), "sources", sources, "lines",
              Differences(lines), "columns", columns);
  return std::move(json).Finish();
}

// Writes which executions made nodes, and the origins of these nodes.
std::string PageWriter::Origins() {
  const Provenance provenance(history_);
  std::vector<int64_t> made, executions, counts, sources;
  // Without recorded origins, nodes need not be searched.
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
  JsonWriter json;
  json.Object("made", Differences(made), "num_from", counts, "from", sources,
              "executions", Differences(executions));
  return std::move(json).Finish();
}

std::string PageWriter::Content() {
  const std::string states = States();
  const std::string executions = Executions();
  const std::string diffs = Diffs();
  const std::string remarks = Remarks();
  const std::string places = Places();
  const std::string origins = Origins();
  std::vector<int64_t> counts;
  for (const HistoryCount& count : history_.counts) {
    counts.push_back(StringOf(count.name));
    counts.push_back(StringOf(count.doc));
    counts.push_back(count.count);
  }
  // All strings are known by now.
  const std::string strings = absl::StrCat("[", strings_, "]");
  const std::string attr_sets =
      absl::StrCat("[", absl::StrJoin(attr_texts_, ",\n"), "]");
  JsonWriter json;
  json.BeginObject().Fields("strings", JsonText{strings});
  json.NewLine().Fields("kinds", kinds_);
  json.NewLine().Fields("titles", titles_);
  json.NewLine().Fields("types", type_strings_);
  json.NewLine().Fields("attrs", attr_sets_);
  json.NewLine().Fields("num_args", num_args_);
  json.NewLine().Fields("args", args_);
  json.NewLine().Fields("attr_sets", JsonText{attr_sets});
  json.NewLine().Fields("states", JsonText{states});
  json.NewLine().Fields("executions", JsonText{executions});
  json.NewLine().Fields("diffs", JsonText{diffs});
  json.NewLine().Fields("remarks", JsonText{remarks});
  json.NewLine().Fields("places", JsonText{places});
  json.NewLine().Fields("origins", JsonText{origins});
  json.NewLine().Fields("counts", counts);
  json.NewLine().Fields("signal", history_.signal);
  json.NewLine().Fields("left_out_tensors", history_.left_out_tensors).End();
  return std::move(json).Finish();
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
  JsonWriter times;
  times.Object("start", starts, "total", totals, "peak", peaks);
  return {.content = PageWriter(history).Content(),
          .times = std::move(times).Finish()};
}

absl::Status CheckPageSize(const History& history, int64_t max_nodes) {
  NodeSet seen;
  int64_t nodes = 0;
  for (const HistoryState& state : history.states) {
    for (const IRModule::Definition& definition : state.module.functions()) {
      VisitAtAnyLevel(definition.function, seen,
                      [&nodes](const ExprNode*) { ++nodes; });
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
