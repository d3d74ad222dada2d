// ToCPS, UnCPS: continuation-passing style and back.
//
// A function of type fn (A) -> B becomes fn [answer](A, fn (B) -> answer) ->
// answer: it gives its result to its last parameter, the continuation, and
// returns what that returns. What follows a call or a branch becomes the
// continuation that it is given:
//
//   let %a = if (%b) { %c } else { %d };      let %f = fn (%a) { add(%a, 1) };
//   add(%a, 1)                            =>  if (%b) { %f(%c) } else { %f(%d)
//   }
//
// so that PartialEval, which inlines %f, goes on with what it knows in each
// branch. UnCPS gives such a function the identity as its continuation.

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
// compiler stay.
//
// ToCPS: what a converted function calls is converted as well, under its name
// with `_cps` added; a function of that name that is there already is an error.
// So are operators, constructors and functions that stay, where they are not
// called, and an expression that is used more than once, other than a name or a
// constant: ToANormalForm before it binds it to a variable.
//
// UnCPS: a function that functions of the module refer to keeps its
// continuation, which they give it: an error if it is asked for by name. So is
// a function whose last parameter is not a function of one argument.
Pass ToCPS(ToCPSOptions options = {});
Pass UnCPS(UnCPSOptions options = {});

// The same for a module. The results have types.
absl::StatusOr<IRModule> ToCPSInModule(const IRModule& module,
                                       const ToCPSOptions& options = {});
absl::StatusOr<IRModule> UnCPSInModule(const IRModule& module,
                                       const UnCPSOptions& options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_TO_CPS_H_
