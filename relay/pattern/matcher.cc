#include "baton/relay/pattern/matcher.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/node.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/ir/structural_equal.h"
#include "baton/ir/type.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/algebra.h"
#include "baton/relay/pattern/attr_values.h"
#include "baton/relay/pattern/dataflow_pattern.h"
#include "baton/relay/pattern/pattern_text.h"

namespace baton::relay {
namespace {

using Kind = DataflowPattern::Kind;

// The index of each child in a region.
constexpr int kParent = 0;
constexpr int kPath = 1;
constexpr int kChild = 2;

// The limit of the undone matches of parts, by alternatives and exchanged
// arguments: this many, and some for each part.
constexpr size_t kMaxWasted = 100'000;
constexpr size_t kMaxWastedPerPart = 16;

// The type that inference found, or that a variable declares.
const Type& KnownType(const ExprNode* node) {
  if (!node->type().defined() && node->kind() == ExprKind::kVar) {
    return static_cast<const VarNode*>(node)->annotation();
  }
  return node->type();
}

bool HoldsAttr(const PatternCondition::HasAttr& wanted, const ExprNode* node) {
  if (node->kind() == ExprKind::kFunction) {
    const AttrValue* found =
        static_cast<const FunctionNode*>(node)->attrs().Find(wanted.name);
    return found != nullptr && SameValue(wanted.value, *found);
  }
  if (node->kind() != ExprKind::kCall) return false;
  const std::optional<AttrValue> found =
      AttrOf(*static_cast<const CallNode*>(node), wanted.name);
  return found.has_value() && SameValue(wanted.value, *found);
}

bool HoldsSplat(double value, const ExprNode* node) {
  if (node->kind() != ExprKind::kConstant) return false;
  const Tensor& tensor = static_cast<const ConstantNode*>(node)->value();
  const int64_t n = tensor.num_elements();
  if (n == 0 || !tensor.dtype().IsStorable()) return false;
  const auto same = [&](int64_t i) {
    const double element = tensor.AtAsDouble(i);
    return element == value ? std::signbit(element) == std::signbit(value)
                            : std::isnan(element) && std::isnan(value);
  };
  for (int64_t i = 0; i < n; ++i) {
    if (!same(i)) return false;
  }
  return true;
}

bool HoldsShape(absl::Span<const Dim> wanted, const TensorTypeNode& type) {
  if (static_cast<size_t>(type.rank()) != wanted.size()) return false;
  for (int i = 0; i < type.rank(); ++i) {
    if (!wanted[i].is_any() && wanted[i] != type.dim(i)) return false;
  }
  return true;
}

// True for the callee of a call, which does not count as an input.
bool IsCalledOperator(const ExprNode* node, const Expr& child) {
  return node->kind() == ExprKind::kCall &&
         child == static_cast<const CallNode*>(node)->op();
}

}  // namespace

std::string DescribeNode(const ExprNode* node) {
  switch (ExprKindOf(node)) {
    case ExprKind::kCall: {
      const auto* call = static_cast<const CallNode*>(node);
      return call->op_node() == nullptr
                 ? "a call of a function"
                 : absl::StrCat("a call of ", call->op_node()->name());
    }
    case ExprKind::kVar:
      return absl::StrCat("the variable %",
                          static_cast<const VarNode*>(node)->name());
    case ExprKind::kGlobalVar:
      return absl::StrCat("@", static_cast<const GlobalVarNode*>(node)->name());
    case ExprKind::kOp:
      return absl::StrCat("the operator ",
                          static_cast<const OpNode*>(node)->name());
    case ExprKind::kConstant:
      return absl::StrCat(
          "a constant ",
          static_cast<const ConstantNode*>(node)->value().TypeToString());
    case ExprKind::kTuple:
      return absl::StrCat("a tuple of ",
                          static_cast<const TupleNode*>(node)->fields().size());
    case ExprKind::kTupleGetItem:
      return absl::StrCat("field ",
                          static_cast<const TupleGetItemNode*>(node)->index(),
                          " of a tuple");
    case ExprKind::kFunction:
      return absl::StrCat(
          "a function of ",
          static_cast<const FunctionNode*>(node)->params().size());
    default:
      return absl::StrCat("a ", NodeKindName(node->kind()));
  }
}

UseCounts::UseCounts(const IndexedGraph& graph) {
  counts_.Reserve(static_cast<size_t>(graph.size()));
  for (int i = 0; i < graph.size(); ++i) {
    counts_[graph.node(i)] = graph.num_uses(i);
  }
}

// Match.

Expr PatternMatch::operator[](const DataflowPattern& part) const {
  const int index = matcher_->IndexOf(part);
  for (const Bound& bound : bound_) {
    if (bound.part == index) return Expr(bound.node);
  }
  return {};
}

Expr PatternMatch::operator[](absl::string_view name) const {
  const int index = matcher_->IndexOf(name);
  for (const Bound& bound : bound_) {
    if (bound.part == index) return Expr(bound.node);
  }
  return {};
}

std::vector<Expr> PatternMatch::All(const DataflowPattern& part) const {
  const int index = matcher_->IndexOf(part);
  std::vector<Expr> result;
  for (const Bound& bound : bound_) {
    if (bound.part == index) result.emplace_back(bound.node);
  }
  return result;
}

// Matcher: making a pattern ready.

Matcher::Matcher(DataflowPattern pattern, Ways ways)
    : pattern_(std::move(pattern)), ways_(ways) {
  Flatten();
  MarkRepeated();
  status_ = CheckRepetitions();
  FindRoots();
  FindKinds();
}

void Matcher::Flatten() {
  // Parts get their numbers when they are first met; children of one part
  // stand in a row.
  const auto meet = [this](const DataflowPattern& pattern, int parent,
                           int position) {
    const auto [it, is_new] =
        index_.try_emplace(pattern.get(), static_cast<int>(parts_.size()));
    if (!is_new) {
      parts_[it->second].shared = true;
      return it->second;
    }
    const DataflowPattern::Node* node = pattern.get();
    Part part = {};
    part.kind = node == nullptr ? Kind::kWildcard : node->kind();
    part.nothing = node == nullptr;
    part.any_operands = node != nullptr && node->any_operands();
    part.node = node;
    part.parent = parent;
    part.position = position;
    part.target = -1;
    parts_.push_back(part);
    return it->second;
  };
  meet(pattern_, -1, 0);
  for (size_t i = 0; i < parts_.size(); ++i) {
    const DataflowPattern::Node* node = parts_[i].node;
    if (node == nullptr) continue;
    parts_[i].first_child = static_cast<int>(children_.size());
    parts_[i].num_children = static_cast<int>(node->children().size());
    for (size_t k = 0; k < node->children().size(); ++k) {
      const int child =
          meet(node->children()[k], static_cast<int>(i), static_cast<int>(k));
      children_.push_back(child);
    }
    if (node->kind() == Kind::kCall && node->children()[0].defined()) {
      const OpNode* op = node->children()[0]->op();
      parts_[i].op = op;
      parts_[i].commuted =
          op != nullptr && CommutativeOps().Get(*op) != nullptr;
    }
    // All of a region starts at one node.
    if (node->kind() == Kind::kRegion) {
      parts_[children(parts_[i])[kParent]].shared = true;
      needs_uses_ = true;
    }
    if (node->kind() == Kind::kWhere &&
        std::holds_alternative<PatternCondition::HasUses>(
            node->condition().form)) {
      needs_uses_ = true;
    }
  }
  for (Part& part : parts_) {
    if (part.kind != Kind::kSelf || part.nothing) continue;
    const auto it = index_.find(part.node->repeat());
    part.target = it == index_.end() ? -1 : it->second;
  }
}

void Matcher::MarkRepeated() {
  // A part in the path of a region, or only in a repetition, matches many
  // nodes.
  for (Part& part : parts_) part.repeated = true;
  std::vector<int> work = {0};
  std::vector<int> paths;
  while (!work.empty()) {
    Part& part = parts_[work.back()];
    work.pop_back();
    if (!part.repeated) continue;
    part.repeated = false;
    if (part.kind == Kind::kRepeat) continue;
    const absl::Span<const int> below = children(part);
    for (int k = 0; k < part.num_children; ++k) {
      const bool is_path = part.kind == Kind::kRegion && k == kPath;
      (is_path ? paths : work).push_back(below[k]);
    }
  }
  FlatHashSet<int> seen;
  while (!paths.empty()) {
    const int k = paths.back();
    paths.pop_back();
    if (!seen.insert(k).second) continue;
    parts_[k].repeated = true;
    const absl::Span<const int> below = children(parts_[k]);
    paths.insert(paths.end(), below.begin(), below.end());
  }
}

absl::Status Matcher::CheckRepetitions() const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].kind == Kind::kSelf && parts_[i].target < 0) {
      return absl::InvalidArgumentError(
          "a pattern uses the `self` of a repetition outside of it");
    }
    if (parts_[i].kind != Kind::kRepeat) continue;
    // The parts that may be at the place of the repetition, with nothing in
    // between.
    std::vector<int> work(children(parts_[i]).begin(),
                          children(parts_[i]).end());
    FlatHashSet<int> seen;
    while (!work.empty()) {
      const int k = work.back();
      work.pop_back();
      if (!seen.insert(k).second) continue;
      const Part& part = parts_[k];
      if (k == static_cast<int>(i) ||
          (part.kind == Kind::kSelf && part.target == static_cast<int>(i))) {
        return absl::InvalidArgumentError(absl::StrCat(
            "a repetition repeats nothing: ", PatternText(pattern_, 200)));
      }
      const absl::Span<const int> below = children(part);
      if (part.kind == Kind::kSelf) work.push_back(part.target);
      if (part.kind == Kind::kAlt || part.kind == Kind::kWhere ||
          part.kind == Kind::kRepeat) {
        work.insert(work.end(), below.begin(), below.end());
      }
      if (part.kind == Kind::kRegion) work.push_back(below[kChild]);
    }
  }
  return absl::OkStatus();
}

void Matcher::FindRoots() {
  if (!status_.ok()) return;
  FlatHashSet<int> seen;
  const auto add_kind = [this](ExprKind kind) {
    roots_.kinds.push_back(NodeKind(kind));
  };
  // Parts that can be the root, and parts that can be what the root calls.
  struct Work {
    int part;
    bool callee;
  };
  std::vector<Work> work = {{0, false}};
  while (!work.empty()) {
    const auto [k, callee] = work.back();
    work.pop_back();
    if (!seen.insert(2 * k + (callee ? 1 : 0)).second) continue;
    const Part& part = parts_[k];
    if (part.nothing) continue;
    const absl::Span<const int> below = children(part);
    switch (part.kind) {
      case Kind::kAlt:
      case Kind::kRepeat:
      case Kind::kWhere:
        for (const int child : below) work.push_back({child, callee});
        continue;
      case Kind::kRegion:
        work.push_back({below[kChild], callee});
        continue;
      case Kind::kSelf:
        work.push_back({part.target, callee});
        continue;
      case Kind::kExpr:
        if (callee && part.node->op() != nullptr) {
          roots_.ops.push_back(part.node->op());
          continue;
        }
        break;
      default:
        break;
    }
    if (callee) {
      roots_.any_call = true;
      continue;
    }
    switch (part.kind) {
      case Kind::kCall:
        work.push_back({below[0], true});
        break;
      case Kind::kVar:
        add_kind(ExprKind::kVar);
        break;
      case Kind::kConstant:
        add_kind(ExprKind::kConstant);
        break;
      case Kind::kExpr:
        roots_.kinds.push_back(part.node->expr()->kind());
        break;
      case Kind::kTuple:
        add_kind(ExprKind::kTuple);
        break;
      case Kind::kTupleGetItem:
        add_kind(ExprKind::kTupleGetItem);
        break;
      case Kind::kFunction:
        add_kind(ExprKind::kFunction);
        break;
      case Kind::kLet:
        add_kind(ExprKind::kLet);
        break;
      case Kind::kIf:
        add_kind(ExprKind::kIf);
        break;
      default:
        roots_.anything = true;
    }
  }
}

uint64_t Matcher::KindsOf(const Part& part) const {
  if (part.nothing) return Hint::kAny;
  switch (part.kind) {
    case Kind::kAlt:
    case Kind::kRepeat:
    case Kind::kWhere: {
      uint64_t kinds = 0;
      for (const int child : children(part)) kinds |= parts_[child].kinds;
      return kinds;
    }
    case Kind::kConstant:
      return Hint::kConstant;
    case Kind::kVar:
    case Kind::kTuple:
    case Kind::kTupleGetItem:
    case Kind::kFunction:
    case Kind::kLet:
    case Kind::kIf:
      return Hint::kOther;
    case Kind::kCall:
      return part.op == nullptr ? Hint::kAny : Hint::CallsOf(part.op);
    default:
      return Hint::kAny;
  }
}

void Matcher::FindKinds() {
  for (Part& part : parts_) part.kinds = Hint::kAny;
  // Children mostly come after the parts that have them. Those that do not are
  // known in the second round.
  for (int round = 0; round < 2; ++round) {
    for (size_t i = parts_.size(); i-- > 0;) {
      parts_[i].kinds = KindsOf(parts_[i]);
    }
  }
}

Matcher::Hint Matcher::HintFor(const OpNode* op) const {
  Hint hint;
  if (!status_.ok()) return hint;
  const auto add = [&hint](uint64_t first, uint64_t second) {
    for (const Hint::Way& way : hint.ways_) {
      if (way.first == first && way.second == second) return;
    }
    hint.ways_.push_back({first, second});
  };
  std::vector<int> work = {0};
  while (!work.empty()) {
    const Part& part = parts_[work.back()];
    work.pop_back();
    const absl::Span<const int> below = children(part);
    if (part.kind == Kind::kAlt || part.kind == Kind::kWhere) {
      work.insert(work.end(), below.begin(), below.end());
      continue;
    }
    if (part.kind != Kind::kCall || part.any_operands) return Hint();
    if (op != nullptr && part.op != nullptr && part.op != op) continue;
    const uint64_t first =
        below.size() > 1 ? parts_[below[1]].kinds : Hint::kAny;
    const uint64_t second =
        below.size() > 2 ? parts_[below[2]].kinds : Hint::kAny;
    if (first == Hint::kAny && second == Hint::kAny) return Hint();
    add(first, second);
    if (part.commuted && below.size() == 3) add(second, first);
  }
  return hint;
}

int Matcher::IndexOf(const DataflowPattern& part) const {
  const auto it = index_.find(part.get());
  return it == index_.end() ? -1 : it->second;
}

int Matcher::IndexOf(absl::string_view name) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].nothing && parts_[i].node->name() == name) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

// MatchMachine.

const PatternMatch* MatchMachine::Run(const Matcher& matcher,
                                      const ExprNode* expr,
                                      const UseCounts* uses) {
  uses_ = uses;
  match_.bound_.clear();
  match_.declined_.clear();
  const bool found = Search(matcher, expr);
  // Bindings are null again for the next run; what was bound stays.
  for (const PatternMatch::Bound& bound : match_.bound_) {
    bindings_[bound.part] = nullptr;
  }
  if (!region_nodes_.empty()) {
    region_nodes_.clear();
    region_index_.clear();
  }
  match_.matcher_ = &matcher;
  match_.root_ = expr;
  return found ? &match_ : nullptr;
}

bool MatchMachine::Search(const Matcher& matcher, const ExprNode* expr) {
  matcher_ = &matcher;
  wasted_ = 0;
  farthest_ = 0;
  if (!matcher.status().ok()) return false;
  if (bindings_.size() < matcher.parts_.size()) {
    bindings_.resize(matcher.parts_.size());
  }
  goals_.clear();
  choices_.clear();
  next_ = -1;
  Push(Task::kMatch, 0, expr);
  while (next_ >= 0) {
    const Goal goal = goals_[next_];
    // Goals to which no choice can backtrack are dropped.
    if (static_cast<size_t>(next_) + 1 == goals_.size() &&
        (choices_.empty() ||
         choices_.back().num_goals <= static_cast<size_t>(next_))) {
      goals_.pop_back();
    }
    next_ = goal.next;
    if (!Step(goal) && !Backtrack()) return false;
  }
  return true;
}

bool MatchMachine::Backtrack() {
  if (choices_.empty()) return false;
  const Choice choice = choices_.back();
  choices_.pop_back();
  farthest_ = std::max(farthest_, match_.bound_.size());
  wasted_ += match_.bound_.size() - choice.num_bound + 1;
  if (wasted_ > kMaxWasted + kMaxWastedPerPart *
                                 std::max(matcher_->parts_.size(), farthest_)) {
    if (failure_ != nullptr) {
      failure_->why = "there are too many ways to match";
    }
    return false;
  }
  Forget(choice.num_bound, choice.num_region_nodes);
  goals_.resize(choice.num_goals);
  goals_.push_back(choice.goal);
  next_ = static_cast<int>(goals_.size()) - 1;
  return true;
}

void MatchMachine::Forget(size_t num_bound, size_t num_region_nodes) {
  std::vector<PatternMatch::Bound>& bound = match_.bound_;
  while (bound.size() > num_bound) {
    const int part = bound.back().part;
    bound.pop_back();
    bindings_[part] = nullptr;
  }
  while (region_nodes_.size() > num_region_nodes) {
    region_index_.erase(std::pair<int, const ExprNode*>(
        region_nodes_.back().region, region_nodes_.back().node));
    region_nodes_.pop_back();
  }
}

bool MatchMachine::Fail(const Goal& goal, absl::string_view why) {
  if (failure_ != nullptr &&
      (failure_->part < 0 || match_.bound_.size() > failure_->num_bound)) {
    failure_->num_bound = match_.bound_.size();
    failure_->part = goal.part;
    failure_->node = goal.node;
    failure_->why = std::string(why);
  }
  return false;
}

bool MatchMachine::Bind(const Goal& goal) {
  match_.bound_.push_back({goal.part, goal.node});
  if (!matcher_->parts_[goal.part].repeated) bindings_[goal.part] = goal.node;
  return true;
}

bool MatchMachine::Step(const Goal& goal) {
  switch (goal.task) {
    case Task::kMatch:
      return StepMatch(goal);
    case Task::kCommuted:
      return MatchCall(goal, *static_cast<const CallNode*>(goal.node), true);
    case Task::kCommit:
      choices_.resize(static_cast<size_t>(goal.extra));
      return true;
    case Task::kAlternatives:
      return StepAlternatives(goal);
    case Task::kCondition: {
      const auto& condition = std::get<PatternCondition::Holds>(
          matcher_->parts_[goal.part].node->condition().form);
      if (!condition.holds(Expr(goal.node))) return Fail(goal, "");
      return true;
    }
    case Task::kRegionInputs:
      return StepRegionInputs(goal);
    case Task::kRegionNode:
      return StepRegionNode(goal);
    case Task::kRegionPath: {
      const Matcher::Part& part = matcher_->parts_[goal.part];
      region_index_.emplace(std::pair(goal.part, goal.node),
                            static_cast<int>(region_nodes_.size()));
      region_nodes_.push_back({goal.part, goal.node});
      Push(Task::kRegionInputs, goal.part, goal.node);
      Push(Task::kMatch, matcher_->children(part)[kPath], goal.node);
      return true;
    }
    case Task::kRegionEnd:
      return StepRegionEnd(goal);
  }
  return false;
}

bool MatchMachine::StepAlternatives(const Goal& goal) {
  const absl::Span<const int> alternatives =
      matcher_->children(matcher_->parts_[goal.part]);
  const auto next_from = [&](size_t i) {
    while (i < alternatives.size() && !MayMatch(alternatives[i], goal.node)) {
      ++i;
    }
    return i;
  };
  const size_t chosen = next_from(static_cast<size_t>(goal.extra));
  if (chosen == alternatives.size()) return false;
  const size_t next = next_from(chosen + 1);
  if (next < alternatives.size()) {
    Choose(goal, Task::kAlternatives, static_cast<int>(next));
  }
  Push(Task::kMatch, alternatives[chosen], goal.node);
  return Bind(goal);
}

bool MatchMachine::Operands(const Matcher::Part& part,
                            absl::Span<const int> patterns,
                            const Expr* operands, size_t num_operands) {
  if (part.any_operands) return true;
  if (patterns.size() != num_operands) return false;
  for (size_t i = patterns.size(); i-- > 0;) {
    Push(Task::kMatch, patterns[i], operands[i].get());
  }
  return true;
}

bool MatchMachine::MatchCall(const Goal& goal, const CallNode& call,
                             bool exchanged) {
  const Matcher::Part& part = matcher_->parts_[goal.part];
  const absl::Span<const int> children = matcher_->children(part);
  if (exchanged) {
    Push(Task::kMatch, children[1], call.arg(1).get());
    Push(Task::kMatch, children[2], call.arg(0).get());
    return Bind(goal);
  }
  if (part.op != nullptr && call.op().get() != part.op) return Fail(goal, "");
  const bool has_all_operands =
      !part.any_operands && part.num_children == call.num_args() + 1;
  const auto may_match = [&](int child, int arg) {
    return MayMatch(children[child], call.arg(arg).get());
  };
  bool is_possible = true;
  for (int i = 0; has_all_operands && i < call.num_args(); ++i) {
    is_possible = is_possible && may_match(i + 1, i);
  }
  if (part.commuted && has_all_operands && call.num_args() == 2 &&
      children[1] != children[2] && call.arg(0) != call.arg(1) &&
      may_match(1, 1) && may_match(2, 0)) {
    if (!is_possible) return MatchCall(goal, call, /*exchanged=*/true);
    Choose(goal, Task::kCommuted);
  }
  if (!is_possible) return false;
  if (!Operands(part, children.subspan(1), call.args().data(),
                call.args().size())) {
    return Fail(goal, "with another number of arguments");
  }
  if (part.op == nullptr) Push(Task::kMatch, children[0], call.op().get());
  return Bind(goal);
}

bool MatchMachine::StepMatch(Goal goal) {
  const Matcher::Part& part = matcher_->parts_[goal.part];
  const ExprNode* node = goal.node;
  if (!MayMatch(goal.part, node)) return false;
  if (part.shared && !part.repeated) {
    if (const ExprNode* bound = bindings_[goal.part]) {
      return bound == node ||
             Fail(goal,
                  "the node that this part of the pattern matched before");
    }
  }
  if (matcher_->ways_ == Matcher::Ways::kFirst &&
      (part.kind == Kind::kCall || part.kind == Kind::kAlt)) {
    Push(Task::kCommit, goal.part, node, static_cast<int>(choices_.size()));
    goal.next = next_;
  }
  const absl::Span<const int> children = matcher_->children(part);
  switch (part.kind) {
    case Kind::kWildcard:
      if (part.nothing) return Fail(goal, "what an undefined pattern matches");
      return Bind(goal);
    case Kind::kVar: {
      if (node->kind() != ExprKind::kVar) return Fail(goal, "");
      const std::string& name = part.node->name();
      if (!name.empty() && static_cast<const VarNode*>(node)->name() != name) {
        return Fail(goal, "");
      }
      return Bind(goal);
    }
    case Kind::kConstant:
      if (node->kind() != ExprKind::kConstant) return Fail(goal, "");
      return Bind(goal);
    case Kind::kExpr: {
      const Expr& expr = part.node->expr();
      if (expr.get() != node &&
          (!expr.defined() || expr->kind() != node->kind() ||
           !StructuralEqual(expr, Expr(node)))) {
        return Fail(goal, "");
      }
      return Bind(goal);
    }
    case Kind::kCall:
      if (node->kind() != ExprKind::kCall) return Fail(goal, "");
      return MatchCall(goal, *static_cast<const CallNode*>(node), false);
    case Kind::kTuple: {
      if (node->kind() != ExprKind::kTuple) return Fail(goal, "");
      const auto fields = static_cast<const TupleNode*>(node)->fields();
      if (!Operands(part, children, fields.data(), fields.size())) {
        return Fail(goal, "");
      }
      return Bind(goal);
    }
    case Kind::kTupleGetItem: {
      if (node->kind() != ExprKind::kTupleGetItem) return Fail(goal, "");
      const auto* item = static_cast<const TupleGetItemNode*>(node);
      if (part.node->index() >= 0 && part.node->index() != item->index()) {
        return Fail(goal, "");
      }
      Push(Task::kMatch, children[0], item->tuple().get());
      return Bind(goal);
    }
    case Kind::kFunction: {
      if (node->kind() != ExprKind::kFunction) return Fail(goal, "");
      const auto* function = static_cast<const FunctionNode*>(node);
      Push(Task::kMatch, children[0], function->body().get());
      const absl::Span<const int> params = children.subspan(1);
      if (!part.any_operands) {
        if (params.size() != function->params().size()) {
          return Fail(goal, "with another number of parameters");
        }
        for (size_t i = params.size(); i-- > 0;) {
          Push(Task::kMatch, params[i], function->params()[i].get());
        }
      }
      return Bind(goal);
    }
    case Kind::kLet: {
      if (node->kind() != ExprKind::kLet) return Fail(goal, "");
      const auto* let = static_cast<const LetNode*>(node);
      Push(Task::kMatch, children[2], let->body().get());
      Push(Task::kMatch, children[1], let->value().get());
      Push(Task::kMatch, children[0], let->var().get());
      return Bind(goal);
    }
    case Kind::kIf: {
      if (node->kind() != ExprKind::kIf) return Fail(goal, "");
      const auto* branch = static_cast<const IfNode*>(node);
      Push(Task::kMatch, children[2], branch->false_branch().get());
      Push(Task::kMatch, children[1], branch->true_branch().get());
      Push(Task::kMatch, children[0], branch->cond().get());
      return Bind(goal);
    }
    case Kind::kAlt: {
      Goal alternatives = goal;
      alternatives.task = Task::kAlternatives;
      alternatives.extra = 0;
      return Step(alternatives);
    }
    case Kind::kWhere: {
      const PatternCondition& condition = part.node->condition();
      if (std::holds_alternative<PatternCondition::Holds>(condition.form)) {
        Push(Task::kCondition, goal.part, node);
      } else if (!HoldsNow(goal, condition)) {
        return Fail(goal, "");
      }
      Push(Task::kMatch, children[0], node);
      return Bind(goal);
    }
    case Kind::kRegion:
      Push(Task::kRegionEnd, goal.part, node);
      Push(Task::kRegionInputs, goal.part, node);
      Push(Task::kMatch, children[kChild], node);
      return Bind(goal);
    case Kind::kRepeat:
      Push(Task::kMatch, children[0], node);
      return Bind(goal);
    case Kind::kSelf:
      Push(Task::kMatch, matcher_->children(matcher_->parts_[part.target])[0],
           node);
      return Bind(goal);
  }
  return false;
}

bool MatchMachine::HoldsNow(const Goal& goal,
                            const PatternCondition& condition) {
  struct {
    const ExprNode* node;
    const UseCounts* uses;
    const TensorTypeNode* tensor_type() const {
      return KnownType(node).As<TensorTypeNode>();
    }
    bool operator()(const PatternCondition::HasType& c) const {
      const Type& type = KnownType(node);
      return type.defined() && TypeEqual(type, c.type);
    }
    bool operator()(const PatternCondition::HasDType& c) const {
      const auto is = [&](DType dtype) {
        return std::find(c.dtypes.begin(), c.dtypes.end(), dtype) !=
               c.dtypes.end();
      };
      if (node->kind() == ExprKind::kConstant) {
        return is(static_cast<const ConstantNode*>(node)->value().dtype());
      }
      const TensorTypeNode* type = tensor_type();
      return type != nullptr && is(type->dtype());
    }
    bool operator()(const PatternCondition::HasShape& c) const {
      const TensorTypeNode* type = tensor_type();
      return type != nullptr && HoldsShape(c.shape, *type);
    }
    bool operator()(const PatternCondition::HasRank& c) const {
      if (node->kind() == ExprKind::kConstant) {
        return static_cast<const ConstantNode*>(node)->value().rank() == c.rank;
      }
      const TensorTypeNode* type = tensor_type();
      return type != nullptr && type->rank() == c.rank;
    }
    bool operator()(const PatternCondition::HasAttr& c) const {
      return HoldsAttr(c, node);
    }
    bool operator()(const PatternCondition::IsSplat& c) const {
      return HoldsSplat(c.value, node);
    }
    bool operator()(const PatternCondition::HasUses& c) const {
      return uses != nullptr && uses->Get(node) == c.uses;
    }
    bool operator()(const PatternCondition::Holds& /*asked later*/) const {
      return true;
    }
  } visitor = {goal.node, uses_};
  return std::visit(visitor, condition.form);
}

bool MatchMachine::StepRegionNode(const Goal& goal) {
  if (region_index_.contains({goal.part, goal.node})) return true;
  Choose(goal, Task::kRegionPath);
  const Matcher::Part& part = matcher_->parts_[goal.part];
  Push(Task::kMatch, matcher_->children(part)[kParent], goal.node);
  return true;
}

bool MatchMachine::StepRegionInputs(const Goal& goal) {
  absl::InlinedVector<const ExprNode*, 8> inputs;
  ForEachChild(goal.node, [&](const Expr& child) {
    if (!IsCalledOperator(goal.node, child)) inputs.push_back(child.get());
  });
  if (inputs.empty()) return Fail(goal, "computed of something");
  for (size_t i = inputs.size(); i-- > 0;) {
    Push(Task::kRegionNode, goal.part, inputs[i]);
  }
  return true;
}

bool MatchMachine::StepRegionEnd(const Goal& goal) {
  const Matcher::Part& part = matcher_->parts_[goal.part];
  const ExprNode* parent = bindings_[matcher_->children(part)[kParent]];
  if (parent == nullptr || uses_ == nullptr) return Fail(goal, "");
  // All uses of the nodes must be inside of the region.
  NodeMap<int> inside;
  const auto count = [&](const ExprNode* node) {
    ForEachChild(node, [&](const Expr& child) { ++inside[child.get()]; });
  };
  count(goal.node);
  for (const RegionNode& r : region_nodes_) {
    if (r.region == goal.part) count(r.node);
  }
  const auto leaves = [&](const ExprNode* node) {
    return !IsLeaf(node->kind()) && inside[node] != uses_->Get(node);
  };
  for (const RegionNode& r : region_nodes_) {
    if (r.region == goal.part && leaves(r.node)) {
      return Fail({goal.task, goal.part, 0, -1, r.node},
                  "without uses outside of its region");
    }
  }
  if (leaves(parent)) {
    return Fail({goal.task, goal.part, 0, -1, parent},
                "without uses outside of its region");
  }
  return true;
}

std::optional<PatternMatch> Matcher::At(const Expr& expr,
                                        const UseCounts* uses) const {
  MatchMachine machine;
  std::optional<UseCounts> own;
  if (needs_uses_ && uses == nullptr) {
    uses = &own.emplace(IndexedGraph(expr));
  }
  const PatternMatch* match = machine.Run(*this, expr.get(), uses);
  if (match == nullptr) return std::nullopt;
  return std::move(machine.match_);
}

std::string Matcher::Explain(const Expr& expr, const UseCounts* uses) const {
  if (!status_.ok()) return std::string(status_.message());
  MatchMachine machine;
  MatchMachine::Failure failure;
  machine.failure_ = &failure;
  machine.set_tries_all_parts(true);
  std::optional<UseCounts> own;
  if (needs_uses_ && uses == nullptr) {
    uses = &own.emplace(IndexedGraph(expr));
  }
  if (machine.Run(*this, expr.get(), uses) != nullptr) return "";
  // The place of the failure in the pattern.
  const Part* part = &parts_[failure.part];
  std::string where;
  for (const Part* at = part; at->parent >= 0; at = &parts_[at->parent]) {
    const Part& parent = parts_[at->parent];
    if (parent.kind == Kind::kCall && at->position > 0) {
      const std::string name =
          parent.op == nullptr ? "the call" : parent.op->name();
      where = absl::StrCat("argument ", at->position - 1, " of ", name);
      break;
    }
    if (parent.kind == Kind::kTuple) {
      where = absl::StrCat("field ", at->position, " of the tuple");
      break;
    }
    if (parent.kind != Kind::kWhere && parent.kind != Kind::kAlt &&
        parent.kind != Kind::kRepeat) {
      where = absl::StrCat("a part of ", NodeText(*parent.node));
      break;
    }
  }
  std::string wanted = part->nothing ? "" : NodeText(*part->node);
  if (!failure.why.empty()) {
    const bool is_form = failure.why.rfind("with", 0) == 0;
    wanted = is_form ? absl::StrCat(wanted, " ", failure.why) : failure.why;
  }
  if (failure.why == "there are too many ways to match") {
    return absl::StrCat("gave up: ", failure.why);
  }
  if (failure.why.empty() && part->kind == Kind::kWhere) {
    return absl::StrCat("matched ", failure.num_bound, " of ", size(),
                        " parts, then ", where.empty() ? "the root" : where,
                        ", ", DescribeNode(failure.node),
                        ", does not meet: ", wanted);
  }
  if (failure.why == "with another number of arguments") {
    wanted =
        absl::StrCat(NodeText(*part->node), " of ", part->num_children - 1);
    return absl::StrCat("matched ", failure.num_bound, " of ", size(),
                        " parts, then ", where.empty() ? "the root" : where,
                        " must have ", part->num_children - 1,
                        part->num_children == 2 ? " argument" : " arguments",
                        ", found ",
                        static_cast<const CallNode*>(failure.node)->num_args());
  }
  return absl::StrCat("matched ", failure.num_bound, " of ", size(),
                      " parts, then ", where.empty() ? "the root" : where,
                      " must be ", wanted, ", found ",
                      DescribeNode(failure.node));
}

bool Matches(const DataflowPattern& pattern, const Expr& expr) {
  return Matcher(pattern).At(expr).has_value();
}

bool Matcher::Roots::Has(const ExprNode* node) const {
  if (anything || absl::c_linear_search(kinds, node->kind())) return true;
  if (node->kind() != ExprKind::kCall) return false;
  return any_call || absl::c_linear_search(
                         ops, static_cast<const CallNode*>(node)->op_node());
}

}  // namespace baton::relay
