// Finds functions that call themselves only at their end, which are loops.

#ifndef BATON_ONNX_TAIL_RECURSION_H_
#define BATON_ONNX_TAIL_RECURSION_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// A function in A-normal form:
//
//   fn (<params>) {
//     <before>
//     if (<condition>) { <round> self(<next>) } else { <result> }
//   }
//
// The branches may be exchanged.
struct TailRecursion {
  std::vector<const relay::LetNode*> before;
  Expr condition;
  bool goes_on_if = true;  // the value of the condition that starts another
                           // round
  std::vector<const relay::LetNode*> round;
  std::vector<Expr> next;  // one for each parameter
  Expr result;             // with the lets before it
};

// `is_self` is true for expressions that are the function itself. The error is
// Unimplemented if `function` has another form.
absl::StatusOr<TailRecursion> FindTailRecursion(
    const relay::Function& function,
    absl::FunctionRef<bool(const Expr&)> is_self);

// The values of the variables that lets bind.
class LetValues {
 public:
  explicit LetValues(const TailRecursion& function);

  // The value to which these lets bind a variable; other expressions
  // themselves.
  const Expr& Find(const Expr& expr) const;
  // The variables that expressions use, directly or through these lets.
  FlatHashSet<const relay::VarNode*> Uses(absl::Span<const Expr> exprs) const;

 private:
  FlatHashMap<const relay::VarNode*, Expr> values_;
};

// The roles of the parameters of a loop.
enum class LoopParam {
  kInvariant,  // has one value in all rounds
  kCounter,    // 0, 1, 2 ...; used only in rounds
  kCondition,  // is the condition; used for nothing else
  kCarried,
  // Grows by one element along axis 0 in each round and is only used as a
  // result: concatenate((%param, <element>), axis=0), starting without
  // elements.
  kStacked,
};

// A loop in terms of ONNX's Loop.
struct LoopForm {
  std::vector<LoopParam> params;
  // For each kStacked parameter, the added element, with extent 1 along axis 0.
  std::vector<Expr> elements;
  // The upper bound of the number of rounds, an int64 scalar that no round
  // changes; null if there is none.
  Expr limit;
  // The further condition for another round; null if there is none.
  Expr condition;
};

// `initial` are the values of the parameters in the first round.
LoopForm LoopFormOf(const relay::Function& function,
                    const TailRecursion& recursion, const LetValues& values,
                    absl::Span<const Expr> initial);

}  // namespace baton::onnx

#endif  // BATON_ONNX_TAIL_RECURSION_H_
