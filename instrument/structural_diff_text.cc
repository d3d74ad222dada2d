#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "baton/base/json.h"
#include "baton/instrument/indented_diff.h"
#include "baton/instrument/node_text.h"
#include "baton/instrument/structural_diff.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_fields.h"

namespace baton {
namespace {

std::string FieldText(const FieldChange& field, const NodeText& before,
                      const NodeText& after) {
  if (field.before_node.defined() || field.after_node.defined()) {
    return absl::StrCat(field.field, " ", before.Name(field.before_node),
                        " -> ", after.Name(field.after_node));
  }
  if (field.before.empty() && field.after.empty()) return field.field;
  return absl::StrCat(field.field, " ", field.before, " -> ", field.after);
}

// `1 let`, `2 lets`.
std::string Count(int64_t n, absl::string_view one, absl::string_view many) {
  return absl::StrCat(n, " ", n == 1 ? one : many);
}

}  // namespace

bool StructuralDiff::empty() const {
  return dropped_functions.empty() && made_functions.empty() &&
         changed_types.empty() && changes.empty() && wrappers_made == 0 &&
         wrappers_dropped == 0 && types_found == 0 && types_lost == 0;
}

std::string StructuralDiffText(const StructuralDiff& diff) {
  using Kind = NodeChange::Kind;
  if (diff.empty()) return "";
  const NodeText before(diff.before);
  const NodeText after(diff.after);
  std::string text;
  for (const std::string& name : diff.changed_types) {
    absl::StrAppend(&text, "~ type ", name, "\n");
  }
  for (const std::string& name : diff.dropped_functions) {
    absl::StrAppend(&text, "- @", name, "\n");
  }
  for (const std::string& name : diff.made_functions) {
    absl::StrAppend(&text, "+ @", name, "\n");
  }
  // Moves to one place become one line, at the place of the first.
  struct Move {
    std::string from_function, function;
    Expr from, to;
    std::vector<std::string> heads;
  };
  std::vector<Move> moves;
  std::map<std::pair<const Node*, std::string>, size_t> move_of;
  for (const NodeChange& change : diff.changes) {
    const std::string at = absl::StrCat(" @", change.function, " ");
    switch (change.kind) {
      case Kind::kDropped:
        absl::StrAppend(&text, "-", at, before.Line(change.before));
        if (change.place.defined()) {
          absl::StrAppend(&text, "; ", after.Name(change.place),
                          " takes its place");
        }
        absl::StrAppend(&text, "\n");
        break;
      case Kind::kMade:
        absl::StrAppend(&text, "+", at, after.Line(change.after));
        if (change.place.defined()) {
          absl::StrAppend(&text, " in place of ", before.Name(change.place));
        }
        absl::StrAppend(&text, "\n");
        break;
      case Kind::kChanged:
        for (const LineChange& line : change.lines) {
          absl::StrAppend(
              &text, LineChangeText(line, absl::StrCat("@", change.function)),
              "\n");
        }
        if (!change.lines.empty()) break;
        absl::StrAppend(
            &text, "~", at, after.Line(change.after), ": ",
            absl::StrJoin(change.fields, ", ",
                          [&](std::string* out, const FieldChange& field) {
                            out->append(FieldText(field, before, after));
                          }),
            "\n");
        break;
      case Kind::kMoved: {
        const auto [it, is_new] = move_of.emplace(
            std::pair(
                static_cast<const Node*>(change.to.get()),
                absl::StrCat(change.from_function, " ",
                             reinterpret_cast<uintptr_t>(change.from.get()),
                             " ", change.function)),
            moves.size());
        if (is_new) {
          moves.push_back(
              {change.from_function, change.function, change.from, change.to});
        }
        moves[it->second].heads.push_back(NodeText::Head(change.after));
        break;
      }
    }
  }
  for (const Move& move : moves) {
    const auto where = [](const Expr& function, const std::string& global,
                          const NodeText& names) {
      return function.defined() ? names.Name(function) + " = fn" : "@" + global;
    };
    absl::StrAppend(&text, "> @", move.function, " ",
                    absl::StrJoin(move.heads, ", "));
    if (move.from.defined() || move.from_function != move.function) {
      absl::StrAppend(&text, " from ",
                      where(move.from, move.from_function, before));
    }
    absl::StrAppend(&text, " into ", where(move.to, move.function, after),
                    "\n");
  }
  const auto sum = [&](char mark, std::vector<std::string> parts) {
    std::erase(parts, "");
    if (parts.empty()) return;
    absl::StrAppend(&text, std::string(1, mark), " ",
                    absl::StrJoin(parts, ", "), "\n");
  };
  const auto count = [](int64_t n, absl::string_view one,
                        absl::string_view many) {
    return n == 0 ? "" : Count(n, one, many);
  };
  constexpr char kWrapper[] = "let or local function";
  constexpr char kWrappers[] = "lets, local functions and calls of them";
  sum('-', {count(diff.wrappers_dropped, kWrapper, kWrappers),
            count(diff.types_lost, "type", "types")});
  sum('+', {count(diff.wrappers_made, kWrapper, kWrappers),
            count(diff.types_found, "type", "types")});
  return text;
}

std::string StructuralDiffJson(const StructuralDiff& diff) {
  using Kind = ChangeKind;
  const NodeText before(diff.before);
  const NodeText after(diff.after);
  const auto name_of = [](Kind kind) {
    constexpr const char* kNames[] = {"dropped", "made", "moved", "changed"};
    return kNames[static_cast<size_t>(kind)];
  };
  JsonWriter json;
  json.BeginObject().Fields(
      "dropped_functions", diff.dropped_functions, "made_functions",
      diff.made_functions, "changed_types", diff.changed_types, "wrappers_made",
      diff.wrappers_made, "wrappers_dropped", diff.wrappers_dropped,
      "types_found", diff.types_found, "types_lost", diff.types_lost);
  json.Key("changes").BeginArray();
  for (const NodeChange& change : diff.changes) {
    json.BeginObject().Fields("kind", name_of(change.kind), "function",
                              change.function);
    if (change.before.defined()) {
      json.Fields("before", before.Line(change.before));
    }
    if (change.after.defined()) json.Fields("after", after.Line(change.after));
    if (change.place.defined()) {
      const NodeText& names = change.kind == Kind::kDropped ? after : before;
      json.Fields("place", names.Name(change.place));
    }
    if (change.kind == Kind::kMoved) {
      json.Fields("from_function", change.from_function);
      if (change.from.defined()) json.Fields("from", before.Name(change.from));
      if (change.to.defined()) json.Fields("to", after.Name(change.to));
    }
    if (!change.fields.empty()) {
      json.Key("fields").BeginArray();
      for (const FieldChange& field : change.fields) {
        const bool nodes =
            field.before_node.defined() || field.after_node.defined();
        json.Object("field", field.field, "before",
                    nodes ? before.Name(field.before_node) : field.before,
                    "after",
                    nodes ? after.Name(field.after_node) : field.after);
      }
      json.End();
    }
    if (!change.lines.empty()) {
      json.Key("lines").BeginArray();
      for (const LineChange& line : change.lines) {
        json.BeginObject().Fields("kind", name_of(line.kind));
        if (!line.before.empty()) json.Fields("before", line.before);
        if (!line.after.empty()) json.Fields("after", line.after);
        if (!line.under.empty()) json.Fields("under", line.under);
        if (!line.from.empty()) json.Fields("from", line.from);
        if (line.below > 0) json.Fields("below", line.below);
        json.End();
      }
      json.End();
    }
    json.End();
  }
  json.End().End();
  return std::move(json).Finish();
}

}  // namespace baton
