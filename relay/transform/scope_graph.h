// The expressions of a function and the scopes in which each can be computed.
//
// A function's body is a scope of its own, and so is each let (variable, value
// and body together), each branch of an if and each clause of a match. An
// expression belongs to the innermost scope that encloses all its uses. Where
// that is not the scope of its first use, printing it at the first use would
// hide it from others: such an expression is "lifted". A program without
// lifted expressions is in basic block normal form.
//
// Reference behaviour: DependencyGraph and CalcScope of TVM, operators aside.

#ifndef BATON_RELAY_TRANSFORM_SCOPE_GRAPH_H_
#define BATON_RELAY_TRANSFORM_SCOPE_GRAPH_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "baton/ir/adt.h"
#include "baton/ir/expr.h"

namespace baton::relay {

// The nodes in post-order, the root last. Operators, and what is inside of
// Primitive functions, are left out. Holds no references: the root must
// outlive it.
class ScopeGraph {
 public:
  // Stands for a child that is an operator.
  static constexpr int kNoIndex = -1;

  // O(n log d) for n nodes and scopes nested d deep.
  explicit ScopeGraph(const Expr& root);

  int size() const { return static_cast<int>(nodes_.size()); }
  const ExprNode* node(int i) const { return nodes_[i].node; }
  // Node `i` as an N; null if it is another kind.
  template <typename N>
  const N* As(int i) const {
    return N::ClassOf(node(i)->kind()) ? static_cast<const N*>(node(i))
                                       : nullptr;
  }
  // The indices of the children, in the order of ForEachChild.
  absl::Span<const int> children(int i) const {
    const Entry& entry = nodes_[i];
    return absl::Span<const int>(children_).subspan(entry.first_child,
                                                    entry.num_children);
  }

  // Scopes are numbered from 0, which is the scope of the root.
  int num_scopes() const { return static_cast<int>(scopes_.size()); }
  // The scope that node `i` belongs to.
  int scope(int i) const { return nodes_[i].scope; }
  // The k-th scope that node `i` opens: one for a function or let, two for an
  // if, one a clause for a match.
  int opened_scope(int i, int k) const { return nodes_[i].first_opened + k; }
  // Whether the scope of node `i` is another than that of its first use, and
  // it is not a variable, global variable or constructor. What comes first is
  // decided as in
  // the reference: a call or tuple uses its operands after all of them have
  // been walked, any other node uses each operand as soon as that has been.
  bool lifted(int i) const { return nodes_[i].lifted; }
  bool any_lifted() const { return any_lifted_; }
  bool any_let() const { return any_let_; }

  // A variable that is used and not bound; null if there is none.
  const VarNode* free_var() const { return free_var_; }

 private:
  struct Entry {
    const ExprNode* node;
    int first_child;
    int num_children;
    int first_use = -1;  // the element of `children_` that is linked first
    int scope = -1;
    int first_use_scope = -1;
    int first_opened = -1;
    bool bound = false;
    bool lifted = false;
  };
  struct Scope {
    int parent;
    int jump;  // some ancestor, such that any is O(log depth) steps away
    int depth;
  };

  void Index(const Expr& root);
  void AssignScopes();
  void Link(int edge) {
    const int child = children_[edge];
    if (child != kNoIndex && nodes_[child].first_use < 0) {
      nodes_[child].first_use = edge;
    }
  }
  void Use(int edge, int scope);
  int OpenScope(int parent);
  int CommonScope(int a, int b) const;

  std::vector<Entry> nodes_;
  std::vector<int> children_;
  std::vector<Scope> scopes_;
  const VarNode* free_var_ = nullptr;
  bool any_lifted_ = false;
  bool any_let_ = false;
};

// The number of variables that the pattern of `clause` binds.
int NumVars(const Clause& clause);

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_SCOPE_GRAPH_H_
