// CallVisitor: visits a main function and the functions that it calls, and
// finds the memory that pointers point to.
//
//   T.call_extern("int32", "step", A, T.address_of(B[16]))
//
// visits the body of the function `step` of the module; there the buffer of its
// first parameter is in the memory of A, and that of its second in B's.

#ifndef BATON_TIR_USMP_CALL_VISITOR_H_
#define BATON_TIR_USMP_CALL_VISITOR_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"
#include "baton/ir/span.h"
#include "baton/tir/ir/expr.h"
#include "baton/tir/ir/function.h"
#include "baton/tir/ir/functor.h"
#include "baton/tir/ir/stmt.h"

namespace baton::tir {

// A call of a function of the module: a call of its GlobalVar, or
// `T.call_extern` or `T.call_cpacked` with its name.
struct CalledFunction {
  std::string name;
  PrimFunc function;                // null: the call is of something else
  absl::Span<const PrimExpr> args;  // those of the parameters
  // The call has an argument behind those of the parameters: the context of a
  // device.
  bool has_context = false;
};
// The call `call`. An error at its place unless it has as many arguments as the
// function has parameters, or one more (a context).
absl::StatusOr<CalledFunction> CalledBy(const CallNode* call,
                                        const IRModule& module);

// The names of the functions that `function` calls, in order, each once. An
// error as of CalledBy().
absl::StatusOr<std::vector<std::string>> CalledNames(const PrimFunc& function,
                                                     const IRModule& module);

// `main` and the functions that it reaches, each before those that it calls, in
// the order of a walk along calls.
absl::StatusOr<std::vector<std::string>> ReachedFrom(const std::string& main,
                                                     const IRModule& module);

class CallVisitor : public Visitor {
 public:
  explicit CallVisitor(const IRModule& module) : module_(module) {}

  // Visits the body of `main` and, at each call, that of the called function.
  // An error if a function calls itself, or if more than kMaxStatements
  // statements are visited.
  absl::Status VisitFrom(const PrimFunc& main);

  static constexpr int64_t kMaxStatements = 50'000'000;

 protected:
  // `pointer` points to the memory of that number from here on.
  void PointTo(const VarNode* pointer, int memory);
  // The memories that the variable may point to.
  absl::Span<const int> MemoriesOf(const VarNode* pointer) const;

  // An access to the memories that `pointer` may point to, or a use of the
  // pointer by something that is not known.
  virtual void Use(const VarNode* /*pointer*/) {}

  // The call whose function is visited; null in `main`.
  const CallNode* call() const { return calls_.back(); }
  // 0 in `main`, 1 in a function that it calls ...
  int depth() const { return static_cast<int>(calls_.size()) - 1; }
  // The number of statements that were visited, with this one. As in TVM, the
  // body of an allocation has the number of the allocation.
  int64_t statements() const { return statements_; }
  void Fail(absl::Status status);
  void Fail(const Span& span, std::string message);
  bool failed() const { return !status_.ok(); }

  void VisitVar(const VarNode* var) override { Use(var); }
  void VisitBufferLoad(const BufferLoadNode* node) override;
  void VisitCall(const CallNode* node) override;
  void VisitLet(const LetNode* node) override;
#define BATON_TIR_STMT_HOOK(index, Name, sort) \
  void Visit##Name(const Name##Node* node) override;
  BATON_TIR_STMTS(BATON_TIR_STMT_HOOK)
#undef BATON_TIR_STMT_HOOK

 private:
  // False after an error.
  bool BeginStatement(const StmtNode* stmt);
  void VisitUncounted(const Stmt& body);
  // `pointer` may point to what the pointers in `value` point to.
  void PointToPartsOf(const VarNode* pointer, const PrimExpr& value);
  void VisitFunction(const PrimFunc& function, const CallNode* call);

  const IRModule& module_;
  NodeMap<std::vector<int>> memories_;
  NodeMap<bool> active_;  // functions whose bodies are being visited
  std::vector<const CallNode*> calls_;  // null, then those that are visited
  int64_t statements_ = 0;
  absl::Status status_;
};

}  // namespace baton::tir

#endif  // BATON_TIR_USMP_CALL_VISITOR_H_
