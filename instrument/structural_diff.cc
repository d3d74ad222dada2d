#include "baton/instrument/structural_diff.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/hash_table.h"
#include "baton/base/json.h"
#include "baton/base/tensor.h"
#include "baton/instrument/any_level.h"
#include "baton/instrument/indented_diff.h"
#include "baton/instrument/node_text.h"
#include "baton/ir/attrs.h"
#include "baton/ir/expr.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_kind.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/dispatch.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"

namespace baton {
namespace {

using relay::ExprKind;
using relay::FunctionNode;
using relay::Var;
using relay::VarNode;

constexpr int kNone = -1;

// The nodes of both modules that may differ: those of `before`, then those that
// only `after` has, each in post-order. An id is a place in this list; nodes of
// `before` that `after` has too are shared. What a shared node refers to is
// shared.
class Union {
 public:
  enum Side { kBefore = 0, kAfter = 1 };

  // Adds what `root` reaches; ids of one side must be added before those of the
  // other. `function` is the number of the global function that it is.
  void Add(Side side, const ExprNode* root, int function);
  // When all are added.
  void Finish();

  int size() const { return static_cast<int>(nodes_.size()); }
  int num_before() const { return num_before_; }
  bool shared(int id) const { return nodes_[id].shared; }
  const ExprNode* node(int id) const { return nodes_[id].node; }
  template <typename N>
  const N* As(int id) const {
    return N::ClassOf(node(id)->kind()) ? static_cast<const N*>(node(id))
                                        : nullptr;
  }
  absl::Span<const int> children(int id) const {
    return absl::MakeSpan(children_).subspan(nodes_[id].first_child,
                                             nodes_[id].num_children);
  }
  // The innermost local function that the node was met in, or kNone; and the
  // global one.
  int scope(int id) const {
    const ExprNode* function = nodes_[id].scope_node;
    return function == nullptr ? kNone : Find(function);
  }
  int function(int id) const { return nodes_[id].function; }
  // The id of a node that was added.
  int Find(const ExprNode* node) const {
    const int* id = index_.Find(node);
    return id == nullptr ? kNone : *id;
  }

  // The node whose value `id` has as `side` sees it: a variable that a let
  // binds has that of what it is bound to, a let that of its body, and the call
  // of a local function that nothing else calls that of the function's body.
  int Resolve(Side side, int id);
  // Lets, and functions and calls of the kind above.
  bool is_wrapper(int id) const { return nodes_[id].wrapper; }

 private:
  struct Entry {
    const ExprNode* node;
    int first_child = 0;
    int num_children = 0;
    const ExprNode* scope_node = nullptr;
    int function = 0;
    bool shared = false;
    bool wrapper = false;
  };
  void FindWrappers(Side side, int begin, int end);

  std::vector<Entry> nodes_;
  std::vector<int> children_;
  NodeMap<int> index_;
  int num_before_ = 0;
  std::vector<int> alias_[2];  // by id
};

void Union::Add(Side side, const ExprNode* root, int function) {
  // Nodes to visit, and whether their children have been.
  std::vector<std::pair<const ExprNode*, bool>> stack = {{root, false}};
  std::vector<const ExprNode*> children;
  std::vector<const ExprNode*> open;  // local functions that are under way
  while (!stack.empty()) {
    const auto [node, expanded] = stack.back();
    stack.pop_back();
    if (expanded) {
      if (!open.empty() && open.back() == node) open.pop_back();
      const int id = size();
      Entry entry;
      entry.node = node;
      entry.function = function;
      if (!open.empty()) entry.scope_node = open.back();
      entry.first_child = static_cast<int>(children_.size());
      relay::ForEachChild(node, [&](const Expr& child) {
        if (child.defined()) children_.push_back(*index_.Find(child.get()));
      });
      entry.num_children =
          static_cast<int>(children_.size()) - entry.first_child;
      nodes_.push_back(entry);
      *index_.TryEmplace(node).first = id;
      continue;
    }
    if (const int* known = index_.Find(node)) {
      if (side == kAfter && *known < num_before_) nodes_[*known].shared = true;
      continue;
    }
    stack.push_back({node, true});
    if (node != root && node->kind() == ExprKind::kFunction) {
      open.push_back(node);
    }
    children.clear();
    relay::ForEachChild(node, [&](const Expr& child) {
      if (child.defined()) children.push_back(child.get());
    });
    for (auto it = children.rbegin(); it != children.rend(); ++it) {
      stack.push_back({*it, false});
    }
  }
  if (side == kBefore) num_before_ = size();
}

void Union::Finish() {
  for (int id = num_before_ - 1; id >= 0; --id) {
    if (!shared(id)) continue;
    for (const int child : children(id)) nodes_[child].shared = true;
  }
  for (std::vector<int>& alias : alias_) {
    alias.resize(nodes_.size());
    for (int id = 0; id < size(); ++id) alias[id] = id;
  }
  FindWrappers(kBefore, 0, num_before_);
  FindWrappers(kAfter, num_before_, size());
}

void Union::FindWrappers(Side side, int begin, int end) {
  std::vector<int>& alias = alias_[side];
  // Uses of local functions.
  FlatHashMap<int, int> uses;
  for (int id = begin; id < end; ++id) {
    for (const int child : children(id)) {
      if (node(child)->kind() == ExprKind::kFunction) ++uses[child];
    }
  }
  for (int id = begin; id < end; ++id) {
    if (shared(id)) continue;
    if (node(id)->kind() == ExprKind::kLet) {
      nodes_[id].wrapper = true;
      alias[id] = children(id)[2];
      alias[children(id)[0]] = children(id)[1];
    } else if (const auto* call = As<relay::CallNode>(id)) {
      const auto* function = call->op().As<FunctionNode>();
      const int callee = function == nullptr ? kNone : Find(function);
      if (callee == kNone || shared(callee) || uses[callee] != 1 ||
          static_cast<size_t>(call->num_args()) != function->params().size()) {
        continue;
      }
      nodes_[id].wrapper = true;
      nodes_[callee].wrapper = true;
      alias[id] = children(callee).back();
      for (int i = 0; i < call->num_args(); ++i) {
        alias[children(callee)[i]] = children(id)[i + 1];
      }
    }
  }
}

int Union::Resolve(Side side, int id) {
  std::vector<int>& alias = alias_[side];
  int root = id;
  // A program that is not well-formed may bind a variable to itself.
  for (int steps = 0; alias[root] != root && steps < size(); ++steps) {
    root = alias[root];
  }
  while (alias[id] != root && alias[id] != id) {
    id = std::exchange(alias[id], root);
  }
  return root;
}

// ---------------------------------------------------------------------------
// Fields of two nodes of one class.

bool SameType(const Type& a, const Type& b) {
  if (a == b) return true;
  if (!a.defined() || !b.defined()) return false;
  return StructuralEqual(a, b, {.map_free_vars = true});
}

std::string TextOf(const Type& type) {
  return type.defined() ? type.ToString() : "none";
}
std::string TextOf(const std::unique_ptr<std::vector<Type>>& types) {
  if (types == nullptr) return "[]";
  return absl::StrCat("[",
                      absl::StrJoin(*types, ", ",
                                    [](std::string* out, const Type& type) {
                                      out->append(TextOf(type));
                                    }),
                      "]");
}
std::string TextOf(const AttrValue* value) {
  return value == nullptr ? "none" : value->ToString();
}

bool SameTypes(const Type& a, const Type& b) { return SameType(a, b); }
bool SameTypes(const std::unique_ptr<std::vector<Type>>& a,
               const std::unique_ptr<std::vector<Type>>& b) {
  const size_t size = a == nullptr ? 0 : a->size();
  if (size != (b == nullptr ? 0 : b->size())) return false;
  for (size_t i = 0; i < size; ++i) {
    if (!SameType((*a)[i], (*b)[i])) return false;
  }
  return true;
}

void CompareMaps(const AttrMap& a, const AttrMap& b,
                 std::vector<FieldChange>* out) {
  const auto find = [](const AttrMap& map, const std::string& name) {
    for (const auto& [key, value] : map) {
      if (key == name) return &value;
    }
    return static_cast<const AttrValue*>(nullptr);
  };
  for (const auto& [name, value] : a) {
    const AttrValue* other = find(b, name);
    if (other != nullptr && *other == value) continue;
    out->push_back(
        {absl::StrCat("attrs.", name), TextOf(&value), TextOf(other)});
  }
  for (const auto& [name, value] : b) {
    if (find(a, name) != nullptr) continue;
    out->push_back({absl::StrCat("attrs.", name), "none", TextOf(&value)});
  }
}

void CompareAttrs(const DictAttrs& a, const DictAttrs& b,
                  std::vector<FieldChange>* out) {
  if (a != b) CompareMaps(a.entries(), b.entries(), out);
}
void CompareAttrs(const Attrs& a, const Attrs& b,
                  std::vector<FieldChange>* out) {
  if (a == b) return;
  if (a.defined() && b.defined() && &a->type() == &b->type()) {
    for (const Field& field : a->fields().fields()) {
      if (field.Equal(a->object(), b->object())) continue;
      out->push_back({absl::StrCat("attrs.", field.name()),
                      field.Get(a->object()).ToString(),
                      field.Get(b->object()).ToString()});
    }
    return;
  }
  // None are those with all defaults.
  const auto entries = [](const Attrs& attrs) {
    return attrs.defined() ? attrs->fields().NonDefault(attrs->object())
                           : AttrMap();
  };
  CompareMaps(entries(a), entries(b), out);
}

template <typename T>
std::string TextOfData(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_integral_v<T>) {
    return absl::StrCat(value);
  } else {
    return "";
  }
}

// The differences of `a` and `b` except for their children and inferred types.
template <typename N>
void CompareFieldsOf(const N& a, const N& b, std::vector<FieldChange>* out) {
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kAttrs) {
      CompareAttrs(F::Of(a), F::Of(b), out);
    } else if constexpr (F::kRole == FieldRole::kAnnotation) {
      if (!SameTypes(F::Of(a), F::Of(b))) {
        out->push_back({field.name(), TextOf(F::Of(a)), TextOf(F::Of(b))});
      }
    } else if constexpr (F::kRole == FieldRole::kData) {
      if (!(F::Of(a) == F::Of(b))) {
        out->push_back(
            {field.name(), TextOfData(F::Of(a)), TextOfData(F::Of(b))});
      }
    }
  });
}

std::vector<FieldChange> CompareFields(const ExprNode* a, const ExprNode* b) {
  std::vector<FieldChange> result;
  relay::DispatchExpr(
      a,
      [&](const auto* node) {
        using N = std::remove_cvref_t<decltype(*node)>;
        // Leaves are compared where they are used.
        if constexpr (!std::is_same_v<N, OpNode> &&
                      !std::is_same_v<N, relay::ConstructorNode> &&
                      !std::is_same_v<N, GlobalVarNode> &&
                      !std::is_same_v<N, relay::ConstantNode>) {
          CompareFieldsOf(*node, *static_cast<const N*>(b), &result);
        }
      },
      [&](const ExprNode* other) {
        if (!StructuralEqual(Expr(other), Expr(b))) result.push_back({"body"});
      });
  if (const auto* match = Expr(a).As<relay::MatchNode>()) {
    const auto& clauses = match->clauses();
    const auto& others = static_cast<const relay::MatchNode*>(b)->clauses();
    for (size_t i = 0; i < std::min(clauses.size(), others.size()); ++i) {
      const std::string before = clauses[i].lhs.ToString();
      std::string after = others[i].lhs.ToString();
      if (before != after) {
        result.push_back(
            {absl::StrCat("clauses[", i, "].lhs"), before, std::move(after)});
      }
    }
  }
  return result;
}

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

bool SameConstant(const ExprNode* a, const ExprNode* b) {
  if (a->kind() != ExprKind::kConstant || b->kind() != ExprKind::kConstant) {
    return false;
  }
  const Tensor& x = static_cast<const relay::ConstantNode*>(a)->value();
  const Tensor& y = static_cast<const relay::ConstantNode*>(b)->value();
  return x == y;
}

// ---------------------------------------------------------------------------
// Matching.

// Finds for each node that only `after` has the one of `before` that it was,
// and the reverse. Called, passes over the nodes that are left, in order:
//
//   kExact    all operands are matched, and the same operands of the partner
//   kPartial  some are
//   kNear     what the operands stand on is: `conv(transpose(x), ...)` may be
//             `conv(x, ...)`, also with other attributes
//
// Each takes time linear in the nodes: no more than kMostCandidates are looked
// at for one.
class Matcher {
 public:
  explicit Matcher(Union& nodes) : nodes_(nodes) {}

  void MatchRoots(int before, int after);
  void Run();

  // The partner of `id`, which for a shared node is itself; kNone if none.
  int partner(int id) const {
    return nodes_.shared(id) ? id : partner_.empty() ? kNone : partner_[id];
  }
  // The value of operand `i` of `id`, as its side sees it.
  int Operand(int id, int i) {
    return nodes_.Resolve(SideOf(id), nodes_.children(id)[i]);
  }
  Union::Side SideOf(int id) const {
    return id < nodes_.num_before() ? Union::kBefore : Union::kAfter;
  }
  // True if two operands, one of each side, are the same.
  bool SameOperand(int before, int after) const {
    return before == after
               ? nodes_.shared(before)
               : partner(after) == before ||
                     SameConstant(nodes_.node(before), nodes_.node(after));
  }

 private:
  enum Effort { kExact, kPartial, kNear };
  static constexpr int kMostCandidates = 64;
  static constexpr int kMostLevels = 4;

  void MatchGlobals();
  void Pair(int a, int b);
  void Sweep(Effort effort);
  void SweepDown();
  void MatchWrappers();
  bool Try(int b, Effort effort);
  bool Left(int id) const {
    return partner_[id] == kNone && !nodes_.shared(id);
  }
  // Same class, and call of the same operator; `exact`, the same fields.
  bool Alike(int a, int b, bool exact);
  // The matched node that `id` stands on: itself, or that of its first operand
  // that has one.
  int Near(int id) const { return near_[id]; }

  Union& nodes_;
  std::vector<int> partner_;
  std::vector<int> near_;
  // The users of nodes of `before` that are left, by what they use.
  std::vector<int> first_user_;
  std::vector<int> users_;
  std::vector<std::pair<int, int>> roots_;
};

void Matcher::MatchRoots(int before, int after) {
  roots_.push_back({before, after});
}

void Matcher::Pair(int a, int b) {
  partner_[a] = b;
  partner_[b] = a;
  const auto* f = nodes_.As<FunctionNode>(a);
  const auto* g = nodes_.As<FunctionNode>(b);
  if (f == nullptr || g == nullptr) return;
  // Parameters: those that are the same node are shared, then by name, then by
  // position.
  const auto pair = [&](const Var& p, const Var& q) {
    const int x = nodes_.Find(p.get());
    const int y = nodes_.Find(q.get());
    if (x != y && Left(x) && Left(y)) {
      partner_[x] = y;
      partner_[y] = x;
    }
  };
  std::map<absl::string_view, const Var*> by_name;
  for (const Var& p : f->params()) by_name[p->name()] = &p;
  for (const Var& q : g->params()) {
    auto it = by_name.find(q->name());
    if (it != by_name.end()) pair(*it->second, q);
  }
  if (f->params().size() == g->params().size()) {
    for (size_t i = 0; i < f->params().size(); ++i) {
      pair(f->params()[i], g->params()[i]);
    }
  }
}

void Matcher::MatchGlobals() {
  FlatHashMap<std::string, int> by_name;
  for (int id = 0; id < nodes_.size(); ++id) {
    if (nodes_.shared(id)) continue;
    std::string name = NameOfGlobal(nodes_.node(id));
    if (name.empty()) continue;
    if (id < nodes_.num_before()) {
      by_name.emplace(std::move(name), id);
    } else if (auto it = by_name.find(name); it != by_name.end()) {
      if (Left(it->second)) Pair(it->second, id);
    }
  }
}

bool Matcher::Alike(int a, int b, bool exact) {
  const ExprNode* x = nodes_.node(a);
  const ExprNode* y = nodes_.node(b);
  if (x->kind() != y->kind() || IsLeaf(x->kind())) return false;
  if (const auto* call = Expr(x).As<relay::CallNode>()) {
    const auto* other = static_cast<const relay::CallNode*>(y);
    const bool named = IsLeaf(call->op()->kind());
    if (named != IsLeaf(other->op()->kind())) return false;
    if (named && !SameOperand(Operand(a, 0), Operand(b, 0))) return false;
    if (exact && call->num_args() != other->num_args()) return false;
  } else if (exact && nodes_.children(a).size() != nodes_.children(b).size()) {
    return false;
  }
  return !exact || CompareFields(x, y).empty();
}

bool Matcher::Try(int b, Effort effort) {
  const absl::Span<const int> operands = nodes_.children(b);
  // The search starts at the operand with the fewest users.
  int start = kNone;
  int fewest = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const int operand = Operand(b, static_cast<int>(i));
    const int base = effort == kNear ? Near(operand) : partner(operand);
    if (base == kNone || !NameOfGlobal(nodes_.node(base)).empty()) continue;
    const int from = SideOf(base) == Union::kBefore ? base : partner(base);
    const int count = first_user_[from + 1] - first_user_[from];
    if (start == kNone || count < fewest) {
      start = from;
      fewest = count;
    }
  }
  if (start == kNone) return false;
  int best = kNone;
  int best_score = 0;
  int seen = 0;
  std::vector<int> level = {start};
  for (int depth = 0; depth < (effort == kNear ? kMostLevels : 1); ++depth) {
    std::vector<int> next;
    for (const int base : level) {
      for (int u = first_user_[base]; u < first_user_[base + 1]; ++u) {
        const int a = users_[u];
        if (!Left(a) || nodes_.is_wrapper(a)) continue;
        if (++seen > kMostCandidates) break;
        next.push_back(a);
        if (!Alike(a, b, effort != kNear)) continue;
        const absl::Span<const int> others = nodes_.children(a);
        int score = 0;
        bool all = others.size() == operands.size();
        for (size_t i = 0; i < std::min(others.size(), operands.size()); ++i) {
          const int x = Operand(a, static_cast<int>(i));
          const int y = Operand(b, static_cast<int>(i));
          if (SameOperand(x, y)) {
            score += 4;
          } else {
            all = false;
            if (effort == kNear && Near(y) != kNone &&
                (Near(x) == Near(y) || partner(Near(y)) == Near(x))) {
              score += 2;
            }
          }
        }
        if (effort == kExact && !all) continue;
        if (effort == kNear && depth == 0) ++score;
        if (score > best_score) {
          best = a;
          best_score = score;
        }
      }
    }
    level = std::move(next);
  }
  if (best == kNone) return false;
  Pair(best, b);
  return true;
}

void Matcher::Sweep(Effort effort) {
  near_.assign(static_cast<size_t>(nodes_.size()), kNone);
  const auto set_near = [this](int id) {
    if (partner(id) != kNone) {
      near_[id] = id;
      return;
    }
    const absl::Span<const int> children = nodes_.children(id);
    for (size_t i = 0; i < children.size() && near_[id] == kNone; ++i) {
      const int operand = Operand(id, static_cast<int>(i));
      if (!NameOfGlobal(nodes_.node(operand)).empty()) continue;
      near_[id] = near_[operand];
    }
  };
  if (effort == kNear) {
    for (int id = 0; id < nodes_.num_before(); ++id) set_near(id);
  }
  for (int b = nodes_.num_before(); b < nodes_.size(); ++b) {
    if (Left(b) && !nodes_.is_wrapper(b) && !IsLeaf(nodes_.node(b)->kind())) {
      Try(b, kExact) || (effort >= kPartial && Try(b, kPartial)) ||
          (effort >= kNear && Try(b, kNear));
    }
    if (effort == kNear) set_near(b);
  }
}

void Matcher::SweepDown() {
  // Users first: what stands at one place in both.
  for (int b = nodes_.size() - 1; b >= nodes_.num_before(); --b) {
    const int a = partner_[b];
    if (a == kNone) continue;
    const absl::Span<const int> x = nodes_.children(a);
    const absl::Span<const int> y = nodes_.children(b);
    // For functions, only the bodies, which follow the parameters.
    const bool is_function = nodes_.As<FunctionNode>(a) != nullptr;
    for (size_t i = is_function ? x.size() - 1 : 0; i < x.size(); ++i) {
      const size_t j = is_function ? y.size() - 1 : i;
      if (j >= y.size()) break;
      for (const auto& [c, d] : {std::pair(Operand(a, static_cast<int>(i)),
                                           Operand(b, static_cast<int>(j))),
                                 std::pair(x[i], y[j])}) {
        if (c == d || !Left(c) || !Left(d)) continue;
        if (c >= nodes_.num_before() || d < nodes_.num_before()) continue;
        if (nodes_.is_wrapper(c) != nodes_.is_wrapper(d)) continue;
        if (Alike(c, d, /*exact=*/false)) Pair(c, d);
      }
      // Variables of patterns.
      if (nodes_.As<relay::MatchNode>(a) != nullptr &&
          nodes_.As<VarNode>(x[i]) && nodes_.As<VarNode>(y[j]) &&
          x[i] != y[j] && Left(x[i]) && Left(y[j])) {
        Pair(x[i], y[j]);
      }
    }
  }
}

void Matcher::MatchWrappers() {
  // A wrapper is the one that wraps the same value; functions, whose values are
  // those of their calls, go with these.
  FlatHashMap<int, std::vector<int>> wrappers;  // by value, those of `before`
  const auto value = [this](int id) {
    return nodes_.node(id)->kind() == ExprKind::kLet
               ? Operand(id, 1)
               : nodes_.Resolve(SideOf(id), id);
  };
  for (int id = nodes_.num_before() - 1; id >= 0; --id) {
    if (nodes_.is_wrapper(id) && Left(id) &&
        nodes_.node(id)->kind() != ExprKind::kFunction) {
      wrappers[value(id)].push_back(id);
    }
  }
  for (int b = nodes_.num_before(); b < nodes_.size(); ++b) {
    if (!nodes_.is_wrapper(b) || !Left(b)) continue;
    const int wrapped = partner(value(b));
    const auto it = wrappers.find(wrapped);
    if (wrapped == kNone || it == wrappers.end()) continue;
    while (!it->second.empty()) {
      const int a = it->second.back();
      if (!Left(a)) {
        it->second.pop_back();
        continue;
      }
      if (nodes_.node(a)->kind() != nodes_.node(b)->kind()) break;
      it->second.pop_back();
      Pair(a, b);
      if (nodes_.node(a)->kind() == ExprKind::kCall) {
        const int f = nodes_.children(a)[0];
        const int g = nodes_.children(b)[0];
        if (f != g && Left(f) && Left(g)) Pair(f, g);
      }
      break;
    }
  }
}

void Matcher::Run() {
  partner_.assign(static_cast<size_t>(nodes_.size()), kNone);
  MatchGlobals();
  for (const auto& [a, b] : roots_) {
    if (Left(a) && Left(b)) Pair(a, b);
  }
  // The users of what `before` has.
  first_user_.assign(static_cast<size_t>(nodes_.num_before()) + 2, 0);
  for (const bool count : {true, false}) {
    for (int a = 0; a < nodes_.num_before(); ++a) {
      if (nodes_.shared(a) || nodes_.is_wrapper(a)) continue;
      int last = kNone;
      for (size_t i = 0; i < nodes_.children(a).size(); ++i) {
        const int operand = Operand(a, static_cast<int>(i));
        if (operand == last) continue;
        last = operand;
        if (count) {
          ++first_user_[operand + 2];
        } else {
          users_[first_user_[operand + 1]++] = a;
        }
      }
    }
    if (count) {
      for (size_t i = 2; i < first_user_.size(); ++i) {
        first_user_[i] += first_user_[i - 1];
      }
      users_.resize(static_cast<size_t>(first_user_.back()));
    }
  }
  Sweep(kExact);
  Sweep(kPartial);
  Sweep(kNear);
  SweepDown();
  Sweep(kNear);
  MatchWrappers();
}

// ---------------------------------------------------------------------------
// What is left is the difference.

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
  Union nodes_;
  Matcher matcher_{nodes_};
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
    nodes_.Add(Union::kBefore, f.function.get(), number(f.var->name()));
    if (other.defined()) {
      pairs.push_back({f.function, other});
    } else {
      diff_.dropped_functions.push_back(f.var->name());
    }
  }
  for (const IRModule::Definition& f : diff_.after.functions()) {
    const BaseFunc other = diff_.before.Find(f.var->name());
    if (!f.function.defined() || other == f.function) continue;
    nodes_.Add(Union::kAfter, f.function.get(), number(f.var->name()));
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
        same = SameType(x->inputs()[k], y->inputs()[k]);
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
  } else if (!SameType(x, y) && node(a)->kind() != ExprKind::kFunction) {
    fields->push_back({"type", TextOf(x), TextOf(y)});
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
  std::vector<FieldChange> fields = CompareFields(node(a), node(b));
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
          !SameType(p->annotation(), q->annotation())) {
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

// ---------------------------------------------------------------------------
// Text.

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

StructuralDiff DiffStructure(const IRModule& before, const IRModule& after) {
  return Differ(before, after).Run();
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
