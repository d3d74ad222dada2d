// RecursiveFunction: builds a loop with an unknown number of rounds as a
// function that calls itself.

#ifndef BATON_ONNX_OPS_RECURSIVE_FUNCTION_H_
#define BATON_ONNX_OPS_RECURSIVE_FUNCTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// Collects the parameters, their values in the next round, and the results:
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
  // `node` types expressions and must outlive the object.
  explicit RecursiveFunction(NodeContext& node) : node_(node) {}

  // Adds a typed parameter with the value `initial` in the first round. The
  // value stays the same in the next rounds unless SetNext() is called.
  absl::StatusOr<Expr> AddParam(std::string name, Expr initial,
                                const Type& type);

  // Adds a parameter for a value that all rounds use, so that it is not
  // computed in each round. Returns constants and null as they are. Capturing a
  // value twice returns the same parameter.
  absl::StatusOr<Expr> Capture(std::string name, const Expr& value);

  // Converts the node's `body` for the given inputs and returns its outputs.
  // Captures values around the node that the body uses.
  absl::StatusOr<Outputs> ConvertBody(absl::Span<const Expr> inputs);

  // The values of the parameters in the first round.
  absl::Span<const Expr> initial() const { return initial_; }

  void SetNext(const Expr& param, Expr value);

  // The values of the parameters `results` when `goes_on`, a bool scalar, is
  // false for the first time.
  absl::StatusOr<Outputs> Call(Expr goes_on, std::vector<Expr> results);

 private:
  NodeContext& node_;
  std::vector<relay::Var> params_;
  std::vector<Expr> initial_;  // of each parameter
  std::vector<Expr> next_;     // of each parameter
  FlatHashMap<Expr, Expr> captured_;
};

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_RECURSIVE_FUNCTION_H_
