// FoldConstant: evaluates expressions that depend only on constants.
//
// Level 2, a function pass. A call of an operator whose arguments are all
// constants (or tuples of constants) becomes the constant that its kernel
// computes; an `if` on a constant becomes the branch taken; a let of a
// constant is inlined; a field of a tuple literal becomes that field; shapes
// that are known statically become constants (shape_of, ndarray_size).
//
// Skips calls without arguments (`zeros`), operators with an effect or without
// a kernel, bookkeeping operators, the bodies of Primitive functions, calls
// whose evaluation fails, and calls that exceed the budget: folding
// `sqrt(broadcast_to(1f, shape=[50000000]))` would turn a program of one line
// into a file of 200 MB. The budget check uses static types, without evaluating
// the call. The options limit elements; the setting `limits.max_folded_bytes`
// and the constants that a function has limit bytes.
//
// With `keep_fills`, a result of 4 kB or more whose elements are all the same
// is a call of `full`, and calls of such calls are computed as well.

#ifndef BATON_RELAY_TRANSFORM_FOLD_CONSTANT_H_
#define BATON_RELAY_TRANSFORM_FOLD_CONSTANT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct FoldConstantOptions {
  bool fold_qnn = false;
  int64_t max_elements = int64_t{1} << 22;
  int64_t max_growth = int64_t{1} << 24;
  bool keep_fills = false;
  bool in_memory = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("fold_qnn", &FoldConstantOptions::fold_qnn,
      "Whether to fold operators on quantized tensors too.");
    v("max_elements", &FoldConstantOptions::max_elements,
      "The most elements of a result that has more than its arguments.");
    v("max_growth", &FoldConstantOptions::max_growth,
      "The most elements that the constants of a function may gain in all.");
    v("keep_fills", &FoldConstantOptions::keep_fills,
      "Whether large results whose elements are all the same are calls of "
      "full.");
    v("in_memory", &FoldConstantOptions::in_memory,
      "Whether the result is for a run, not for a file: without the limit of "
      "limits.max_folded_bytes; calls of primitive functions are folded too.");
  }
};

Pass FoldConstant(FoldConstantOptions options = {});

// Runs the pass on one expression.
absl::StatusOr<Expr> FoldConstantInExpr(
    const Expr& expr, const FoldConstantOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_FOLD_CONSTANT_H_
