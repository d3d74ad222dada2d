#include "baton/backend/cpu/branch_places.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "baton/base/hash_table.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/visit.h"
#include "baton/relay/op/fusion_pattern.h"
#include "baton/relay/op/op_flags.h"

namespace baton::cpu {
namespace {

using relay::CallNode;
using relay::ExprKind;
using relay::FunctionNode;
using relay::IfNode;
using relay::LetNode;
using relay::VarNode;

// A branch that needs more copies is computed early.
constexpr double kMostCopies = 4;

// True for tensors of floats and booleans, and tuples of them.
bool IsOfFloats(const Type& root) {
  std::vector<Type> work = {root};
  while (!work.empty()) {
    const Type type = std::move(work.back());
    work.pop_back();
    if (!type.defined()) return false;
    if (const auto* tuple = type.As<TupleTypeNode>()) {
      work.insert(work.end(), tuple->fields().begin(), tuple->fields().end());
      continue;
    }
    const auto* tensor = type.As<TensorTypeNode>();
    if (tensor == nullptr ||
        !(tensor->dtype().is_float() || tensor->dtype().is_bool())) {
      return false;
    }
  }
  return true;
}

// True if a call of this operator cannot fail, and has no effect. Integers may
// be divided by, and may be indices.
bool IsSafeOperator(const CallNode* call) {
  const auto* pattern = relay::FusionPatterns().Get(call->op());
  return pattern != nullptr && *pattern != relay::FusionPattern::kOpaque &&
         !relay::IsStateful(call->op()) &&
         !relay::MayHaveDataDependentShape(call->op()) &&
         std::all_of(call->args().begin(), call->args().end(),
                     [](const Expr& arg) { return IsOfFloats(arg->type()); });
}

// True if the value is there without a computation.
bool IsLeaf(const ExprNode* node) {
  switch (relay::ExprKindOf(node)) {
    case ExprKind::kConstant:
    case ExprKind::kGlobalVar:
    case ExprKind::kFunction:
      return true;
    default:
      return false;
  }
}

class Placer {
 public:
  Placer(absl::FunctionRef<bool(const ExprNode*)> is_known, int max_depth)
      : is_known_(is_known), max_depth_(max_depth) {}

  BranchPlaces Place(const ExprNode* root) {
    if (!Collect(root)) return {};
    regions_.push_back({.copies = 1});
    regions_[0].start.lets = free_lets_;
    uses_.resize(nodes_.size());
    AddUse(root, 0);
    for (size_t i = nodes_.size(); i-- > 0;) {
      if (!PlaceNode(static_cast<int>(i))) return {};
    }
    BranchPlaces places;
    for (Region& region : regions_) {
      // Nodes were placed after those that use them.
      std::reverse(region.start.items.begin(), region.start.items.end());
      if (region.branch == nullptr) {
        places.root = std::move(region.start);
      } else {
        places.branches[region.branch][static_cast<size_t>(region.side)] =
            std::move(region.start);
      }
    }
    return places;
  }

 private:
  // Region 0 is the root.
  struct Region {
    const IfNode* branch = nullptr;
    int side = 0;
    int around = -1;  // the innermost region around all copies of this one
    int depth = 0;
    double copies = 0;
    std::vector<int> homes = {};  // of the branch: where it is computed
    RegionStart start = {};
  };

  // Fills nodes_ with what is placed, children first. False if a let's value
  // does not come before what uses the variable.
  bool Collect(const ExprNode* root) {
    bool in_order = true;
    std::vector<const LetNode*> lets;
    relay::PostOrderVisit(
        Expr(root),
        [&](const ExprNode* node) {
          return node->kind() != ExprKind::kFunction && !is_known_(node);
        },
        [&](const ExprNode* node) {
          if (node->kind() == ExprKind::kLet) {
            const auto* let = static_cast<const LetNode*>(node);
            const auto [place, is_new] = lets_.emplace(let->var().get(), let);
            if (is_new) {
              lets.push_back(let);
            } else if (place->second->value().get() != let->value().get()) {
              in_order = false;
            }
          }
          if (node->kind() == ExprKind::kVar || node->kind() == ExprKind::kOp ||
              is_known_(node)) {
            return;
          }
          numbers_.insert_or_assign(node, static_cast<int>(nodes_.size()));
          nodes_.push_back(node);
        });
    if (!in_order) return false;
    lets_of_.resize(nodes_.size());
    for (const LetNode* let : lets) {
      const int value = NumberOf(let->value().get());
      (value >= 0 ? lets_of_[static_cast<size_t>(value)] : free_lets_)
          .push_back(let);
    }
    is_safe_.resize(nodes_.size());
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const ExprNode* const node = nodes_[i];
      is_safe_[i] = IsSafe(node);
      if (IsLeaf(node)) continue;
      relay::ForEachChild(node, [&](const Expr& child) {
        in_order &= NumberOf(child.get()) < static_cast<int>(i);
      });
    }
    return in_order;
  }

  // The number of the node that has the value of `node`; -1 if none is placed.
  int NumberOf(const ExprNode* node) const {
    // Variables that are each other's values would have no end.
    for (size_t steps = 0; node->kind() == ExprKind::kVar; ++steps) {
      const auto let = lets_.find(static_cast<const VarNode*>(node));
      if (let == lets_.end() || steps > lets_.size()) return -1;
      node = let->second->value().get();
    }
    const auto found = numbers_.find(node);
    return found == numbers_.end() ? -1 : found->second;
  }

  // True if all that the value needs cannot fail, has no effect and no loops.
  // Known for the children.
  bool IsSafe(const ExprNode* node) {
    switch (relay::ExprKindOf(node)) {
      case ExprKind::kCall: {
        const auto* call = static_cast<const CallNode*>(node);
        if (!(call->op_node() != nullptr ? IsSafeOperator(call)
                                         : IsSafeFunction(call->op().get()))) {
          return false;
        }
        break;
      }
      case ExprKind::kConstant:
        return true;
      case ExprKind::kIf:
      case ExprKind::kLet:
      case ExprKind::kTuple:
      case ExprKind::kTupleGetItem:
        break;
      default:
        return false;
    }
    bool safe = true;
    relay::ForEachChild(node, [&](const Expr& child) {
      const int number = NumberOf(child.get());
      safe &= number < 0 || is_safe_[static_cast<size_t>(number)];
    });
    return safe;
  }

  bool IsSafeFunction(const ExprNode* callee) {
    if (callee->kind() != ExprKind::kFunction) return false;
    const auto [known, is_new] = safe_functions_.emplace(callee, false);
    if (!is_new) return known->second;
    bool safe = true;
    relay::PostOrderVisit(
        static_cast<const FunctionNode*>(callee)->body(),
        [&](const ExprNode* /*node*/) { return safe; },
        [&](const ExprNode* node) {
          switch (relay::ExprKindOf(node)) {
            case ExprKind::kCall: {
              const auto* call = static_cast<const CallNode*>(node);
              safe &= call->op_node() != nullptr && IsSafeOperator(call);
              break;
            }
            case ExprKind::kVar:
            case ExprKind::kOp:
            case ExprKind::kConstant:
            case ExprKind::kTuple:
            case ExprKind::kTupleGetItem:
              break;
            default:
              safe = false;
          }
        });
    safe_functions_[callee] = safe;
    return safe;
  }

  void AddUse(const ExprNode* node, int region) {
    const int number = NumberOf(node);
    if (number < 0) return;
    std::vector<int>& uses = uses_[static_cast<size_t>(number)];
    if (uses.empty() || uses.back() != region) uses.push_back(region);
  }

  int Around(int a, int b) const {
    while (a != b) {
      int& deeper = at(a).depth >= at(b).depth ? a : b;
      deeper = at(deeper).around;
    }
    return a;
  }

  // The regions that surely need what all `uses` need, none inside of another.
  std::vector<int> HomesOf(const std::vector<int>& uses) const {
    if (uses.size() == 1) return uses;
    FlatHashSet<int> regions;
    std::vector<int> work = uses;
    while (!work.empty()) {
      const int region = work.back();
      work.pop_back();
      if (!regions.insert(region).second || region == 0) continue;
      // The regions of a branch are numbered one after the other, from 1 on.
      const int other = ((region - 1) ^ 1) + 1;
      if (!regions.contains(other)) continue;
      regions.erase(region);
      regions.erase(other);
      work.insert(work.end(), at(region).homes.begin(), at(region).homes.end());
    }
    std::vector<int> homes;
    for (const int region : regions) {
      int around = at(region).around;
      while (around >= 0 && !regions.contains(around)) {
        around = at(around).around;
      }
      if (around < 0) homes.push_back(region);
    }
    std::sort(homes.begin(), homes.end());
    return homes;
  }

  // False if regions are too deep.
  bool PlaceNode(int number) {
    const auto i = static_cast<size_t>(number);
    const ExprNode* const node = nodes_[i];
    std::vector<int> uses = std::exchange(uses_[i], {});
    if (uses.empty()) return true;
    std::sort(uses.begin(), uses.end());
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
    std::vector<int> homes = HomesOf(uses);
    double copies = 0;
    for (const int home : homes) copies += at(home).copies;
    int around = homes[0];
    for (const int home : homes) around = Around(around, home);
    bool is_early = false;
    if (node->kind() == ExprKind::kIf && homes.size() > 1 &&
        copies > kMostCopies && is_safe_[i]) {
      homes = {around};
      copies = at(around).copies;
      is_early = true;
    }
    const std::vector<const LetNode*>& lets = lets_of_[i];
    if (!lets.empty() ||
        (!IsLeaf(node) && !std::includes(homes.begin(), homes.end(),
                                         uses.begin(), uses.end()))) {
      for (const int home : homes) {
        RegionStart& start = regions_[static_cast<size_t>(home)].start;
        start.items.push_back({node, is_early});
        start.lets.insert(start.lets.end(), lets.begin(), lets.end());
      }
    }
    if (IsLeaf(node)) return true;
    if (node->kind() != ExprKind::kIf) {
      relay::ForEachChild(node, [&](const Expr& child) {
        for (const int home : homes) AddUse(child.get(), home);
      });
      return true;
    }
    const auto* branch = static_cast<const IfNode*>(node);
    for (const int home : homes) AddUse(branch->cond().get(), home);
    const int depth = at(around).depth + 1;
    if (depth > max_depth_) return false;
    for (const int side : {0, 1}) {
      const auto region = static_cast<int>(regions_.size());
      regions_.push_back({.branch = branch,
                          .side = side,
                          .around = around,
                          .depth = depth,
                          .copies = copies,
                          .homes = homes});
      AddUse((side == 0 ? branch->true_branch() : branch->false_branch()).get(),
             region);
    }
    return true;
  }

  const Region& at(int region) const {
    return regions_[static_cast<size_t>(region)];
  }

  const absl::FunctionRef<bool(const ExprNode*)> is_known_;
  const int max_depth_;
  std::vector<const ExprNode*> nodes_;
  FlatHashMap<const ExprNode*, int> numbers_;
  FlatHashMap<const VarNode*, const LetNode*> lets_;
  std::vector<std::vector<const LetNode*>> lets_of_;  // by node: its value
  // Lets of parameters and of known values. What needs their variables can be
  // computed before the lets are visited.
  std::vector<const LetNode*> free_lets_;
  std::vector<bool> is_safe_;  // by node
  FlatHashMap<const ExprNode*, bool> safe_functions_;
  std::vector<std::vector<int>> uses_;  // by node: regions
  std::vector<Region> regions_;
};

}  // namespace

BranchPlaces PlaceBranches(const ExprNode* root,
                           absl::FunctionRef<bool(const ExprNode*)> is_known,
                           int max_depth) {
  return Placer(is_known, max_depth).Place(root);
}

}  // namespace baton::cpu
