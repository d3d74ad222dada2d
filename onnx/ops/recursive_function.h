// A loop whose number of rounds is not known, as a function that calls itself.

#ifndef BATON_ONNX_OPS_RECURSIVE_FUNCTION_H_
#define BATON_ONNX_OPS_RECURSIVE_FUNCTION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// Collects the parameters, what they are in the next round, and the results:
//
//   let %loop = fn (%i, %sum, %step) -> (...) {
//     if (<goes on>) { %loop(%i + 1, %sum + %step, %step) } else { (%sum,) }
//   };
//   %loop(0, <first sum>, <step>)
//
//   RecursiveFunction function(node);
//   BATON_ASSIGN_OR_RETURN(Expr i, function.AddParam("i", zero, type));
//   ...
//   function.SetNext(i, relay::Add(i, one));
//   return function.Call(relay::Less(i, limit), {sum});
class RecursiveFunction {
 public:
  // `node` outlives this and types expressions.
  explicit RecursiveFunction(NodeContext& node) : node_(node) {}

  // A parameter, typed, whose value in the first round is `initial`. In the
  // next rounds it has the same value unless SetNext() is called.
  absl::StatusOr<Expr> AddParam(std::string name, Expr initial,
                                const Type& type);

  // A parameter for a value that all rounds use, which would otherwise be
  // computed in each round. Constants and null are returned as they are; a
  // value that is captured twice has one parameter.
  absl::StatusOr<Expr> Capture(std::string name, const Expr& value);

  // The outputs of the node's `body` for these inputs. Values around the node
  // that the body uses are captured.
  absl::StatusOr<Outputs> ConvertBody(absl::Span<const Expr> inputs);

  // What the parameters are in the first round.
  absl::Span<const Expr> initial() const { return initial_; }

  void SetNext(const Expr& param, Expr value);

  // The values that the parameters `results` have when `goes_on`, a scalar of
  // bool, is false for the first time.
  absl::StatusOr<Outputs> Call(Expr goes_on, std::vector<Expr> results);

 private:
  NodeContext& node_;
  std::vector<Var> params_;
  std::vector<Expr> initial_;  // of each parameter
  std::vector<Expr> next_;     // of each parameter
  FlatHashMap<Expr, Expr> captured_;
};

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_RECURSIVE_FUNCTION_H_
