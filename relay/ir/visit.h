// Walks and rewrites expressions without recursion over the depth of the graph.
// Code that uses it overrides hooks, not the traversal, and so does not recurse
// either.
//
// The order is post-order: children before parents, each node once. The
// children of a node, in order: a call's operator and arguments; a tuple's
// fields; a function's parameters and body; a let's variable, value and body;
// an if's condition and branches; a match's data and, clause by clause, the
// variables of the pattern and the right side. An expression that is not
// Relay's, such as a function of another level, counts as a node without
// children: it is visited, without a hook, and stays unchanged.

#ifndef BATON_RELAY_IR_VISIT_H_
#define BATON_RELAY_IR_VISIT_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/node_map.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/dispatch.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Calls `fn(const Expr&)` for each child of `node`, in order.
template <typename Fn>
void ForEachChild(const ExprNode* node, Fn&& fn);

// Calls `fn` for all nodes that `root` reaches, including itself, children
// first, each node once.
void PostOrderVisit(const Expr& root,
                    absl::FunctionRef<void(const ExprNode*)> fn);

// As above, but does not enter the children of nodes for which `enter` is
// false. Still calls `fn` for these nodes.
void PostOrderVisit(const Expr& root,
                    absl::FunctionRef<bool(const ExprNode*)> enter,
                    absl::FunctionRef<void(const ExprNode*)> fn);

// The variables that `expr` uses but does not bind, in order of first use; and
// the variables that `expr` binds, in order of binding.
std::vector<Var> FreeVars(const Expr& expr);
std::vector<Var> BoundVars(const Expr& expr);

// A post-order visitor by class. Each hook is called after the node's children
// were visited.
class ExprVisitor {
 public:
  virtual ~ExprVisitor() = default;
  // Visits each node once during the lifetime of the visitor: a second call
  // skips nodes that an earlier call visited. Returns the error with which a
  // hook ended the visit, if any.
  absl::Status Visit(const Expr& root);

 protected:
  // For hooks: ends the visit with `error`, which must not be OK.
  void Fail(absl::Status error) { status_.Update(error); }

  // True if the children of `node` are to be visited.
  virtual bool ShouldEnter(const ExprNode* /*node*/) { return true; }
  virtual void VisitVar(const VarNode* /*node*/) {}
  virtual void VisitGlobalVar(const GlobalVarNode* /*node*/) {}
  virtual void VisitConstant(const ConstantNode* /*node*/) {}
  virtual void VisitCall(const CallNode* /*node*/) {}
  virtual void VisitTuple(const TupleNode* /*node*/) {}
  virtual void VisitTupleGetItem(const TupleGetItemNode* /*node*/) {}
  virtual void VisitFunction(const FunctionNode* /*node*/) {}
  virtual void VisitLet(const LetNode* /*node*/) {}
  virtual void VisitIf(const IfNode* /*node*/) {}
  virtual void VisitRefCreate(const RefCreateNode* /*node*/) {}
  virtual void VisitRefRead(const RefReadNode* /*node*/) {}
  virtual void VisitRefWrite(const RefWriteNode* /*node*/) {}
  virtual void VisitMatch(const MatchNode* /*node*/) {}
  virtual void VisitConstructor(const ConstructorNode* /*node*/) {}
  virtual void VisitOp(const OpNode* /*node*/) {}

 private:
  void Dispatch(const ExprNode* node);
  // The visited nodes, kept alive so that their addresses are not reused.
  NodeMap<Expr> seen_;
  absl::Status status_;
};

// A post-order rewriter.
//
//   class ReplaceConstants : public ExprMutator {
//     Expr VisitConstant(const Constant& c) override {
//       return Multiply(multiplier_, c);
//     }
//   };
//   absl::StatusOr<Expr> result = ReplaceConstants().Mutate(function);
//
// Each hook receives the node with its children already rewritten and returns
// its replacement; `original` is the node before the rewrite. A node whose
// children do not change is not rebuilt, so a rewrite that changes nothing
// returns the same pointer. A rebuilt node keeps its type if it had one and
// every new child has the type of the child that it replaces. The mutator
// caches the results for roots and for shared nodes, so it keeps sharing, also
// over several calls of Mutate. Exception: if the hook of a leaf (a variable,
// constant, operator or constructor) returns the leaf itself, each further use
// of the leaf calls the hook again.
//
// A hook that fails returns Fail(error), which ends the walk.
class ExprMutator {
 public:
  ExprMutator() = default;
  ExprMutator(const ExprMutator&) = delete;
  ExprMutator& operator=(const ExprMutator&) = delete;
  virtual ~ExprMutator() = default;

  // The replacement of `root`, or the error of the hook that failed.
  absl::StatusOr<Expr> Mutate(const Expr& root);
  // As Mutate, for a function. An error if a hook replaces it by an expression
  // that is not a function.
  absl::StatusOr<Function> MutateFunction(const Function& function);

 protected:
  // For hooks: ends the walk with `error`, which must not be OK. Returns null.
  Expr Fail(absl::Status error);

  // Called before the children of `node` are visited. A non-null result
  // replaces the node; its children are not visited and no hook is called.
  virtual Expr Before(const ExprNode* /*node*/) { return {}; }

  // Called between the value and the body of a let. A non-null result replaces
  // the variable in the body. `value` is already rewritten.
  virtual Expr AfterLetValue(const LetNode* /*let*/, const Expr& /*value*/) {
    return {};
  }

  // Also called for the variables that functions, lets and patterns bind; there
  // the result must be a Var (any other result leaves the binder unchanged).
  virtual Expr VisitVar(const Var& var) { return var; }
  virtual Expr VisitGlobalVar(const GlobalVar& var) { return var; }
  virtual Expr VisitConstant(const Constant& constant) { return constant; }
  virtual Expr VisitOp(const Op& op) { return op; }
  virtual Expr VisitConstructor(const Constructor& constructor) {
    return constructor;
  }
  virtual Expr VisitCall(const CallNode* /*original*/, Call call) {
    return call;
  }
  virtual Expr VisitTuple(const TupleNode* /*original*/, Tuple tuple) {
    return tuple;
  }
  virtual Expr VisitTupleGetItem(const TupleGetItemNode* /*original*/,
                                 TupleGetItem item) {
    return item;
  }
  virtual Expr VisitFunction(const FunctionNode* /*original*/,
                             Function function) {
    return function;
  }
  virtual Expr VisitLet(const LetNode* /*original*/, Let let) { return let; }
  virtual Expr VisitIf(const IfNode* /*original*/, If node) { return node; }
  virtual Expr VisitRefCreate(const RefCreateNode* /*original*/,
                              RefCreate node) {
    return node;
  }
  virtual Expr VisitRefRead(const RefReadNode* /*original*/, RefRead node) {
    return node;
  }
  virtual Expr VisitRefWrite(const RefWriteNode* /*original*/, RefWrite node) {
    return node;
  }
  virtual Expr VisitMatch(const MatchNode* /*original*/, Match node) {
    return node;
  }

 private:
  Expr Dispatch(const ExprNode* original, Expr rebuilt);
  void Remember(const ExprNode* node, const Expr& result);
  // The error that explains why `node` has no result; resets the status.
  absl::Status TakeError(const ExprNode* node);

  // The results for shared nodes. Keeps the nodes alive, so that their
  // addresses are not reused.
  struct Result {
    Expr node;
    Expr result;
  };
  NodeMap<Result> memo_;
  bool remembers_ops_ = false;
  absl::Status status_;
};

// A copy of `node` with the children `children`, in the order of ForEachChild
// and as many as `node` has. Returns the same node if no child differs. Keeps
// the type by the rule of ExprMutator.
Expr WithChildren(const ExprNode* node, absl::Span<const Expr> children);

// A copy of `expr` with the type `type`. Returns `expr` itself if it already
// has that type, or is not an expression of Relay.
Expr WithType(const Expr& expr, Type type);

// Substitutes variables by expressions. Leaves binders unchanged.
Expr Substitute(const Expr& expr,
                const absl::flat_hash_map<const VarNode*, Expr>& values);

// Implementation details below.

template <typename Fn>
void ForEachChild(const ExprNode* node, Fn&& fn) {
  DispatchExpr(
      node, [&fn](const auto* n) { ForEachChildOf(*n, fn); },
      [](const ExprNode*) {});
}

}  // namespace baton::relay

#endif  // BATON_RELAY_IR_VISIT_H_
