// Functions that call themselves at their end only, which are loops.

#ifndef BATON_ONNX_TAIL_RECURSION_H_
#define BATON_ONNX_TAIL_RECURSION_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// Of a function in A-normal form:
//
//   fn (<params>) {
//     <before>
//     if (<condition>) { <round> self(<next>) } else { <result> }
//   }
//
// or the same with the branches exchanged.
struct TailRecursion {
  std::vector<const LetNode*> before;
  Expr condition;
  bool goes_on_if = true;  // the condition of another round
  std::vector<const LetNode*> round;
  std::vector<Expr> next;  // of each parameter
  Expr result;             // with the lets in front of it
};

// `is_self`: whether an expression is the function. Unimplemented if it is not
// such a function.
absl::StatusOr<TailRecursion> FindTailRecursion(
    const Function& function, absl::FunctionRef<bool(const Expr&)> is_self);

// What the variables of lets stand for.
class LetValues {
 public:
  explicit LetValues(const TailRecursion& function);

  // What a variable is bound to by these lets; other expressions as they are.
  const Expr& Find(const Expr& expr) const;
  // The variables that expressions use, directly or through these lets.
  FlatHashSet<const VarNode*> Uses(absl::Span<const Expr> exprs) const;

 private:
  FlatHashMap<const VarNode*, Expr> values_;
};

// The kinds of parameters of a loop.
enum class LoopParam {
  kInvariant,  // has the same value in all rounds
  kCounter,    // 0, 1, 2 ...; needed in rounds only
  kCondition,  // is the condition; needed for that only
  kCarried,
  // Grows by one element along axis 0 in each round, and is the result only:
  // concatenate((%param, <element>), axis=0), from no elements on.
  kStacked,
};

struct LoopForm {
  std::vector<LoopParam> params;
  // Of kStacked: what is added, with an extent of 1 along axis 0.
  std::vector<Expr> elements;
  // The number of rounds is at most this, which no round changes; null if there
  // is no limit. A scalar of int64.
  Expr limit;
  // What must hold besides; null: nothing.
  Expr condition;
};

// `initial`: what the parameters are at first.
LoopForm LoopFormOf(const Function& function, const TailRecursion& recursion,
                    const LetValues& values, absl::Span<const Expr> initial);

}  // namespace baton::onnx

#endif  // BATON_ONNX_TAIL_RECURSION_H_
