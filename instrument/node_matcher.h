// Finds the nodes of one module that became nodes of another one.

#ifndef BATON_INSTRUMENT_NODE_MATCHER_H_
#define BATON_INSTRUMENT_NODE_MATCHER_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/expr.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_map.h"

namespace baton::internal {

// In place of an id: no node.
inline constexpr int kNone = -1;

// The nodes of two modules that may differ: the nodes of the module before a
// change, then the nodes that only the module after it has, each in post-order.
// An id is a place in this list. A node is shared if both modules have it; then
// all nodes to which it refers are shared.
class NodesOfBoth {
 public:
  enum Side { kBefore = 0, kAfter = 1 };

  // Adds the nodes that `root` reaches. Add all functions of kBefore first.
  // `function` is the number of the global function `root`.
  void Add(Side side, const ExprNode* root, int function);
  // Call when all functions are added.
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
  // The innermost local function in which Add() found the node, or kNone.
  int scope(int id) const {
    const ExprNode* function = nodes_[id].scope_node;
    return function == nullptr ? kNone : Find(function);
  }
  // The number of the global function in which Add() found the node.
  int function(int id) const { return nodes_[id].function; }
  // The id of a node that was added.
  int Find(const ExprNode* node) const {
    const int* id = index_.Find(node);
    return id == nullptr ? kNone : *id;
  }

  // The node that computes the value of `id` in the module `side`: for a
  // variable that a let binds, the bound value; for a let, its body; for the
  // only call of a local function, the body of the function.
  int Resolve(Side side, int id);
  // True for lets, for local functions with one call, and for these calls.
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

// True if both are constants with equal values.
bool SameConstant(const ExprNode* a, const ExprNode* b);

// Matches each node that only the second module has with the node of the first
// module from which it was made, its partner. Sweeps over the nodes without a
// partner match two nodes, in this order, if
//
//   kExact    all of their operands are partners
//   kPartial  some of their operands are
//   kNear     operands of their operands are: `conv(transpose(x), ...)` matches
//             `conv(x, ...)`, also if attributes differ
//
// A sweep takes time linear in the number of nodes: it compares a node with
// kMostCandidates others at most.
class NodeMatcher {
 public:
  explicit NodeMatcher(NodesOfBoth& nodes) : nodes_(nodes) {}

  // Makes two functions partners. Call before Run().
  void MatchRoots(int before, int after);
  void Run();

  // The partner of `id`, or kNone. A shared node is its own partner.
  int partner(int id) const {
    return nodes_.shared(id) ? id : partner_.empty() ? kNone : partner_[id];
  }
  // The node that computes operand `i` of `id` (NodesOfBoth::Resolve).
  int Operand(int id, int i) {
    return nodes_.Resolve(SideOf(id), nodes_.children(id)[i]);
  }
  NodesOfBoth::Side SideOf(int id) const {
    return id < nodes_.num_before() ? NodesOfBoth::kBefore
                                    : NodesOfBoth::kAfter;
  }
  // True if an operand of the first module and one of the second are partners,
  // or equal constants.
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
  // True for nodes of one class, if they are calls, of one operator; with
  // `exact`, if their fields are equal, too.
  bool Alike(int a, int b, bool exact);
  // The closest node with a partner: `id`, or Near() of the first operand that
  // has one.
  int Near(int id) const { return near_[id]; }

  NodesOfBoth& nodes_;
  std::vector<int> partner_;
  std::vector<int> near_;
  // The users, in the first module, of each node: those of node i are users_
  // from first_user_[i] to first_user_[i + 1].
  std::vector<int> first_user_;
  std::vector<int> users_;
  std::vector<std::pair<int, int>> roots_;
};

}  // namespace baton::internal

#endif  // BATON_INSTRUMENT_NODE_MATCHER_H_
