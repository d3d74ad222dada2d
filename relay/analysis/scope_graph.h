// ScopeGraph: finds the scope in which each expression of a function is
// computed.
//
// Each function's body is a scope, and so is each let (variable, value and body
// together), each branch of an if and each clause of a match. An expression
// belongs to the innermost scope that encloses all its uses. If that is not the
// scope of its first use, an expression computed at its first use would be
// invisible to other uses: such an expression is "lifted". A program without
// lifted expressions is in basic block normal form.
//
// Reference behaviour: DependencyGraph and CalcScope of TVM, except that
// operators have no scope here.

#ifndef BATON_RELAY_ANALYSIS_SCOPE_GRAPH_H_
#define BATON_RELAY_ANALYSIS_SCOPE_GRAPH_H_

#include <vector>

#include "absl/types/span.h"
#include "baton/relay/analysis/indexed_graph.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// The nodes in post-order, the root last, without the bodies of Primitive
// functions. The graph does not keep the nodes alive: the root must outlive it.
class ScopeGraph {
 public:
  // O(n log d) for n nodes and scopes nested d deep.
  explicit ScopeGraph(const Expr& root);

  int size() const { return index_.size(); }
  int root() const { return index_.root(); }
  const ExprNode* node(int i) const { return index_.node(i); }
  // Node `i` as an N; null if it is of another kind.
  template <typename N>
  const N* As(int i) const {
    return index_.As<N>(i);
  }
  // The indices of the children, in the order of ForEachChild.
  absl::Span<const int> children(int i) const { return index_.children(i); }

  // Scopes are numbered from 0, which is the scope of the root.
  int num_scopes() const { return static_cast<int>(scopes_.size()); }
  // The scope of node `i`, which must not be an operator.
  int scope(int i) const { return nodes_[i].scope; }
  // The k-th scope that node `i` opens: one for a function or let, two for an
  // if, one for each clause of a match.
  int opened_scope(int i, int k) const { return nodes_[i].first_opened + k; }
  // True if the scope of node `i` is not the scope of its first use. False for
  // variables, global variables, constructors and operators. The order of uses
  // is TVM's: a call or tuple uses its operands after all of them have been
  // walked; any other node uses each operand as soon as it has been walked.
  bool lifted(int i) const { return nodes_[i].lifted; }
  bool any_lifted() const { return any_lifted_; }
  bool any_let() const { return any_let_; }

  // A variable that is used and not bound; null if there is none.
  const VarNode* free_var() const { return free_var_; }

 private:
  struct Entry {
    int first_use = -1;  // the edge of the first use
    int scope = -1;
    int first_use_scope = -1;
    int first_opened = -1;
    bool bound = false;
    bool lifted = false;
  };
  struct Scope {
    int parent;
    int jump;  // an ancestor, chosen so that any ancestor is O(log depth) steps
               // away
    int depth;
  };

  void FindFirstUses();
  void AssignScopes();
  // Records that `scope` uses `child` by `edge`.
  void Use(int child, int edge, int scope);
  int OpenScope(int parent);
  int CommonScope(int a, int b) const;

  const IndexedGraph index_;
  std::vector<Entry> nodes_;
  std::vector<Scope> scopes_;
  const VarNode* free_var_ = nullptr;
  bool any_lifted_ = false;
  bool any_let_ = false;
};

// The number of variables that the pattern of `clause` binds.
int NumVars(const Clause& clause);

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_SCOPE_GRAPH_H_
