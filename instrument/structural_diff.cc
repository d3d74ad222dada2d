#include "baton/instrument/structural_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "baton/base/hash_table.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/field_changes.h"
#include "baton/instrument/indented_diff.h"
#include "baton/instrument/node_matcher.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_map.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"

namespace baton {
namespace {

using internal::kNone;
using relay::ExprKind;
using relay::FunctionNode;
using relay::Var;
using relay::VarNode;

// True if the text of a function is not much longer than the function is large:
// lines of nested statements are indented.
bool HasShortText(const ExprNode* function) {
  constexpr int64_t kMostIndentation = 10'000'000;
  NodeMap<int64_t> heights;
  int64_t nodes = 0;
  VisitAtAnyLevel(Expr(function), [&](const ExprNode* node) {
    int64_t height = 0;
    ForEachChildAtAnyLevel(node, [&](const Expr& child) {
      const int64_t* below =
          child.defined() ? heights.Find(child.get()) : nullptr;
      if (below != nullptr) height = std::max(height, *below);
    });
    heights[node] = height + 1;
    ++nodes;
  });
  return nodes * heights[function] <= kMostIndentation;
}

class Differ {
 public:
  Differ(const IRModule& before, const IRModule& after) {
    diff_.before = before;
    diff_.after = after;
  }
  StructuralDiff Run();

 private:
  void AddFunctions();
  void CompareTypeDefinitions();
  void CompareInferredTypes(int a, int b, std::vector<FieldChange>* fields);
  // The fields of two partners that differ, with the operands. Sets places_.
  std::vector<FieldChange> ComparePartners(int a, int b);
  void CompareOperands(int a, int b, int i, int j, const std::string& name,
                       std::vector<FieldChange>* fields);
  void SetPlace(int id, int place);
  bool IsReported(int id) const {
    return !nodes_.shared(id) && !nodes_.is_wrapper(id) &&
           !IsLeaf(nodes_.node(id)->kind());
  }
  Expr ExprOf(int id) const { return id == kNone ? Expr() : Expr(node(id)); }
  const ExprNode* node(int id) const { return nodes_.node(id); }

  StructuralDiff diff_;
  internal::NodesOfBoth nodes_;
  internal::NodeMatcher matcher_{nodes_};
  std::vector<std::string> names_;  // of global functions
  static constexpr int kNowhere = -2;
  std::vector<int> places_;  // by id; kNone, or kNowhere if users disagree
};

void Differ::AddFunctions() {
  FlatHashMap<std::string, int> numbers;
  const auto number = [&](const std::string& name) {
    const auto [it, is_new] =
        numbers.emplace(name, static_cast<int>(names_.size()));
    if (is_new) names_.push_back(name);
    return it->second;
  };
  std::vector<std::pair<BaseFunc, BaseFunc>> pairs;
  for (const IRModule::Definition& f : diff_.before.functions()) {
    const BaseFunc other = diff_.after.Find(f.var->name());
    if (!f.function.defined() || other == f.function) continue;
    nodes_.Add(internal::NodesOfBoth::kBefore, f.function.get(),
               number(f.var->name()));
    if (other.defined()) {
      pairs.push_back({f.function, other});
    } else {
      diff_.dropped_functions.push_back(f.var->name());
    }
  }
  for (const IRModule::Definition& f : diff_.after.functions()) {
    const BaseFunc other = diff_.before.Find(f.var->name());
    if (!f.function.defined() || other == f.function) continue;
    nodes_.Add(internal::NodesOfBoth::kAfter, f.function.get(),
               number(f.var->name()));
    if (!other.defined()) diff_.made_functions.push_back(f.var->name());
  }
  nodes_.Finish();
  for (const auto& [f, g] : pairs) {
    if (f->kind() == g->kind()) {
      matcher_.MatchRoots(nodes_.Find(f.get()), nodes_.Find(g.get()));
    }
  }
}

void Differ::CompareTypeDefinitions() {
  for (const TypeDefinition& type : diff_.before.types()) {
    const TypeDefinition other = diff_.after.FindType(type->name());
    if (other == type) continue;
    const auto* a = type.As<relay::TypeDataNode>();
    const auto* b = other.As<relay::TypeDataNode>();
    bool same = a != nullptr && b != nullptr &&
                a->constructors().size() == b->constructors().size() &&
                a->type_params().size() == b->type_params().size();
    for (size_t i = 0; same && i < a->constructors().size(); ++i) {
      const auto& x = a->constructors()[i];
      const auto& y = b->constructors()[i];
      same = x->name() == y->name() && x->inputs().size() == y->inputs().size();
      for (size_t k = 0; same && k < x->inputs().size(); ++k) {
        same = internal::SameType(x->inputs()[k], y->inputs()[k]);
      }
    }
    if (!same) diff_.changed_types.push_back(type->name());
  }
  for (const TypeDefinition& type : diff_.after.types()) {
    if (!diff_.before.FindType(type->name()).defined()) {
      diff_.changed_types.push_back(type->name());
    }
  }
}

void Differ::SetPlace(int id, int place) {
  if (matcher_.partner(id) != kNone || IsLeaf(node(id)->kind())) return;
  int& known = places_[id];
  if (known == kNone) {
    known = place;
  } else if (known != place) {
    known = kNowhere;
  }
}

void Differ::CompareInferredTypes(int a, int b,
                                  std::vector<FieldChange>* fields) {
  const Type& x = node(a)->type();
  const Type& y = node(b)->type();
  if (x.defined() != y.defined()) {
    ++(x.defined() ? diff_.types_lost : diff_.types_found);
  } else if (!internal::SameType(x, y) &&
             node(a)->kind() != ExprKind::kFunction) {
    fields->push_back(
        {"type", internal::TypeOrNone(x), internal::TypeOrNone(y)});
  }
}

void Differ::CompareOperands(int a, int b, int i, int j,
                             const std::string& name,
                             std::vector<FieldChange>* fields) {
  const int x = matcher_.Operand(a, i);
  const int y = matcher_.Operand(b, j);
  if (matcher_.SameOperand(x, y)) return;
  // Dropped and made nodes have changes of their own.
  const bool dropped = matcher_.partner(x) == kNone && IsReported(x);
  const bool made = matcher_.partner(y) == kNone && IsReported(y);
  if (dropped) SetPlace(x, y);
  if (made) SetPlace(y, x);
  if (!dropped && !made) {
    fields->push_back({name, "", "", ExprOf(x), ExprOf(y)});
  }
}

std::vector<FieldChange> Differ::ComparePartners(int a, int b) {
  std::vector<FieldChange> fields = internal::CompareFields(node(a), node(b));
  const auto compare = [&](int i, int j, const std::string& name) {
    CompareOperands(a, b, i, j, name, &fields);
  };
  const auto num_a = static_cast<int>(nodes_.children(a).size());
  const auto num_b = static_cast<int>(nodes_.children(b).size());
  if (const auto* f = nodes_.As<FunctionNode>(a)) {
    const auto* g = nodes_.As<FunctionNode>(b);
    const auto declared = [](const Var& var) {
      return absl::StrCat("%", var->name(),
                          var->annotation().defined()
                              ? ": " + var->annotation().ToString()
                              : "");
    };
    // A type that was not declared and now is was inferred.
    std::erase_if(fields, [&](const FieldChange& field) {
      return field.field == "result_type" && !f->result_type().defined();
    });
    for (size_t i = 0; i < f->params().size(); ++i) {
      const Var& p = f->params()[i];
      const int id = nodes_.Find(p.get());
      const int other = matcher_.partner(id);
      const std::string name = absl::StrCat("params[", i, "]");
      if (other == kNone) {
        fields.push_back({name, declared(p), "none"});
        continue;
      }
      const auto* q = nodes_.As<VarNode>(other);
      if (q == nullptr) continue;
      if (p->annotation().defined() &&
          !internal::SameType(p->annotation(), q->annotation())) {
        fields.push_back({name, declared(p), declared(Var(q))});
      }
    }
    for (size_t i = 0; i < g->params().size(); ++i) {
      if (matcher_.partner(nodes_.Find(g->params()[i].get())) == kNone) {
        fields.push_back({absl::StrCat("params[", i, "]"), "none",
                          declared(g->params()[i])});
      }
    }
    compare(num_a - 1, num_b - 1, "body");
    return fields;
  }
  const bool is_call = node(a)->kind() == ExprKind::kCall;
  for (int i = 0; i < std::min(num_a, num_b); ++i) {
    if (nodes_.As<VarNode>(nodes_.children(a)[i]) &&
        node(a)->kind() == ExprKind::kMatch && i > 0 &&
        matcher_.partner(nodes_.children(a)[i]) == nodes_.children(b)[i]) {
      continue;
    }
    if (is_call) {
      compare(i, i, i == 0 ? "op" : absl::StrCat("args[", i - 1, "]"));
    } else if (num_a == 1) {
      compare(i, i, "operand");
    } else {
      compare(i, i, absl::StrCat("operands[", i, "]"));
    }
  }
  if (num_a != num_b) {
    fields.push_back({is_call ? "number of args" : "number of operands",
                      absl::StrCat(num_a - is_call),
                      absl::StrCat(num_b - is_call)});
  }
  return fields;
}

// The changed lines of a function that is not Relay's.
std::vector<LineChange> ChangedLines(const std::string& name,
                                     const BaseFunc& before,
                                     const BaseFunc& after) {
  if (!HasShortText(before.get()) || !HasShortText(after.get())) return {};
  const auto text = [&name](const BaseFunc& function) {
    IRModule module;
    module.Set(name, function);
    return ToText(module);
  };
  return DiffIndented(text(before), text(after));
}

StructuralDiff Differ::Run() {
  CompareTypeDefinitions();
  AddFunctions();
  matcher_.Run();
  using Kind = NodeChange::Kind;
  places_.assign(static_cast<size_t>(nodes_.size()), kNone);
  std::vector<NodeChange> changes;
  for (int b = nodes_.num_before(); b < nodes_.size(); ++b) {
    const int a = matcher_.partner(b);
    const std::string& function = names_[nodes_.function(b)];
    if (a == kNone) {
      if (nodes_.is_wrapper(b)) {
        ++diff_.wrappers_made;
      } else if (IsReported(b) && nodes_.As<BaseFuncNode>(b) == nullptr) {
        changes.push_back(
            {.kind = Kind::kMade, .function = function, .after = ExprOf(b)});
      }
      continue;
    }
    std::vector<FieldChange> fields;
    CompareInferredTypes(a, b, &fields);
    if (IsLeaf(node(b)->kind()) || node(b)->kind() == ExprKind::kLet) continue;
    if (nodes_.is_wrapper(b) && node(b)->kind() == ExprKind::kCall) continue;
    std::vector<FieldChange> others = ComparePartners(a, b);
    fields.insert(fields.begin(), std::make_move_iterator(others.begin()),
                  std::make_move_iterator(others.end()));
    if (!fields.empty()) {
      std::vector<LineChange> lines;
      if (nodes_.As<BaseFuncNode>(b) != nullptr && IsOfOtherLevel(node(b))) {
        lines = ChangedLines(function, BaseFunc(nodes_.As<BaseFuncNode>(a)),
                             BaseFunc(nodes_.As<BaseFuncNode>(b)));
      }
      changes.push_back({.kind = Kind::kChanged,
                         .function = function,
                         .before = ExprOf(a),
                         .after = ExprOf(b),
                         .fields = lines.empty() ? std::move(fields)
                                                 : std::vector<FieldChange>(),
                         .lines = std::move(lines)});
    }
    // Nodes whose scope changed have moved. Matched local functions are one
    // scope, and do not move themselves.
    if (nodes_.As<BaseFuncNode>(b) != nullptr) continue;
    const int from = nodes_.scope(a);
    const int to = nodes_.scope(b);
    const bool same_scope =
        from == kNone || to == kNone
            ? from == to && nodes_.function(a) == nodes_.function(b)
            : matcher_.partner(to) == from || from == to;
    if (!same_scope) {
      changes.push_back({.kind = Kind::kMoved,
                         .function = function,
                         .before = ExprOf(a),
                         .after = ExprOf(b),
                         .from = ExprOf(from),
                         .to = ExprOf(to),
                         .from_function = names_[nodes_.function(a)]});
    }
  }
  for (int a = 0; a < nodes_.num_before(); ++a) {
    if (matcher_.partner(a) != kNone) continue;
    if (nodes_.is_wrapper(a)) {
      ++diff_.wrappers_dropped;
    } else if (IsReported(a) && nodes_.As<BaseFuncNode>(a) == nullptr) {
      diff_.changes.push_back({.kind = Kind::kDropped,
                               .function = names_[nodes_.function(a)],
                               .before = ExprOf(a)});
    }
  }
  const auto set_place = [this](const Expr& node, NodeChange& change) {
    const int place = places_[nodes_.Find(node.get())];
    if (place >= 0) change.place = ExprOf(place);
  };
  for (NodeChange& change : diff_.changes) set_place(change.before, change);
  for (NodeChange& change : changes) {
    if (change.kind == Kind::kMade) set_place(change.after, change);
    diff_.changes.push_back(std::move(change));
  }
  return std::move(diff_);
}

}  // namespace

StructuralDiff DiffStructure(const IRModule& before, const IRModule& after) {
  return Differ(before, after).Run();
}

}  // namespace baton
