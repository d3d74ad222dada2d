// PartialEval: runs the program as far as it is known.
//
//   let %double = fn (%x) { add(%x, %x) };      let %x_0 = 8f;
//   %double(4f)                             =>  %x_0
//
// Calls of known functions are inlined, operators on known tensors computed,
// branches on known conditions and matches of known data decided, fields of
// known tuples and contents of known references taken. What is left is a row of
// lets in A-normal form, with much dead code: DeadCodeElimination after it
// removes that.
//
// A function is inlined into itself only while its arguments make progress: one
// is an older value, or a smaller integer, than in all calls around. So it
// ends. Functions that are Primitive or for another compiler stay as they are.

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
      "The most calls that are inlined in all; others stay.");
    v("max_elements", &PartialEvalOptions::max_elements,
      "The most elements of a tensor that is computed.");
  }
};

// A module pass of level 1. An expression that is used more than once, other
// than a name or a constant, is an error: ToANormalForm before it binds it to a
// variable. So are a match of known data that no clause fits, and a call with
// too few or too many arguments.
Pass PartialEval(PartialEvalOptions options = {});

// The same for a module.
absl::StatusOr<IRModule> PartialEvalInModule(
    const IRModule& module, const PartialEvalOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_PARTIAL_EVAL_H_
