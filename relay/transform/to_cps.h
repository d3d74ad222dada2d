// ToCPS, UnCPS: convert to continuation-passing style and back.
//
// A function of type fn (A) -> B becomes fn [answer](A, fn (B) -> answer) ->
// answer. Its last parameter is the continuation `k`; the function calls `k`
// with its result and returns the value of that call. The code after a call or
// a branch becomes the continuation that is passed to it:
//
//   let %a = if (%b) { %c } else { %d };
//   add(%a, 1)
//
// becomes
//
//   let %f = fn (%a) { add(%a, 1) };
//   if (%b) { %f(%c) } else { %f(%d) }
//
// So PartialEval, which inlines %f, continues in each branch with the values
// known there. UnCPS passes the identity to such a function as its
// continuation.

#ifndef BATON_RELAY_TRANSFORM_TO_CPS_H_
#define BATON_RELAY_TRANSFORM_TO_CPS_H_

#include <string>

#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct ToCPSOptions {
  std::string function;

  template <typename V>
  static void VisitFields(V& v) {
    v("function", &ToCPSOptions::function,
      "The function to convert; all if empty.");
  }
};

struct UnCPSOptions {
  std::string function;

  template <typename V>
  static void VisitFields(V& v) {
    v("function", &UnCPSOptions::function,
      "The function to convert; all if empty.");
  }
};

// Module passes of level 1. Functions that are Primitive or for another
// compiler stay unchanged.
//
// ToCPS also converts the functions that a converted function calls. The
// converted function has the suffix `_cps`; an existing function of that name
// is an error. Operators, constructors and unconverted functions are errors,
// unless they are called. An expression that is used more than once is an
// error, unless it is a name or a constant: run ToANormalForm first, which
// binds it to a variable.
//
// UnCPS skips functions to which other functions of the module refer, since
// these pass continuations to it; if the option names such a function, that is
// an error. A function whose last parameter is not a function of one argument
// is an error as well.
Pass ToCPS(ToCPSOptions options = {});
Pass UnCPS(UnCPSOptions options = {});

// Run the passes on a module. The results have types.
absl::StatusOr<IRModule> ToCPSInModule(const IRModule& module,
                                       const ToCPSOptions& options = {});
absl::StatusOr<IRModule> UnCPSInModule(const IRModule& module,
                                       const UnCPSOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TO_CPS_H_
