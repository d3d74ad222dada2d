// FoldConstant: computes what depends on constants only.
//
// Level 2, a function pass. A call of an operator whose arguments are all
// constants (or tuples of constants) becomes the constant that its kernel
// computes; an `if` on a constant becomes the branch taken; a let of a
// constant is inlined; a field of a tuple literal becomes that field; shapes
// that are known statically become constants (shape_of, ndarray_size).
//
// Left alone: calls without arguments (`zeros`), operators with an effect or
// without a kernel, bookkeeping operators, the bodies of Primitive functions,
// and calls whose evaluation fails.

#ifndef BATON_RELAY_TRANSFORM_FOLD_CONSTANT_H_
#define BATON_RELAY_TRANSFORM_FOLD_CONSTANT_H_

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct FoldConstantOptions {
  bool fold_qnn = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("fold_qnn", &FoldConstantOptions::fold_qnn,
      "Whether to fold operators on quantized tensors too.");
  }
};

Pass FoldConstant(FoldConstantOptions options = {});

// The same for one expression.
absl::StatusOr<Expr> FoldConstantInExpr(
    const Expr& expr, const FoldConstantOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FOLD_CONSTANT_H_
