// PartialEval: evaluates the program as far as values are known.
//
//   let %double = fn (%x) { add(%x, %x) };      let %x_0 = 8f;
//   %double(4f)                             =>  %x_0
//
// Inlines calls of known functions, computes operators on known tensors,
// decides branches on known conditions and matches of known data, and takes
// fields of known tuples and contents of known references. The remaining
// program is a sequence of lets in A-normal form, with much dead code: run
// DeadCodeElimination after it.
//
// A function is inlined into itself only while its arguments make progress: one
// is an older value, or a smaller integer, than in all enclosing calls. So the
// pass terminates. Functions that are Primitive or for another compiler stay
// unchanged.

#ifndef BATON_RELAY_TRANSFORM_PARTIAL_EVAL_H_
#define BATON_RELAY_TRANSFORM_PARTIAL_EVAL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct PartialEvalOptions {
  int64_t max_calls = 10'000;
  int64_t max_elements = int64_t{1} << 22;

  template <typename V>
  static void VisitFields(V& v) {
    v("max_calls", &PartialEvalOptions::max_calls,
      "The most calls that are inlined in all; others stay. So do calls after "
      "limits.max_copied_nodes nodes were added.");
    v("max_elements", &PartialEvalOptions::max_elements,
      "The most elements of a tensor that is computed.");
  }
};

// A module pass of level 1. An expression that is used more than once is an
// error, unless it is a name or a constant: run ToANormalForm first, which
// binds it to a variable. A match of known data without a matching clause, and
// a call with the wrong number of arguments, are errors as well.
Pass PartialEval(PartialEvalOptions options = {});

// Runs the pass on a module.
absl::StatusOr<IRModule> PartialEvalInModule(
    const IRModule& module, const PartialEvalOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_PARTIAL_EVAL_H_
