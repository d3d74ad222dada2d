// Defunctionalization: makes a program first-order.
//
//   def @twice[T](%f: fn (T) -> T, %x: T) -> T { %f(%f(%x)) }
//   def @main(%y: float32) { @twice(fn (%x) { add(%x, %y) }, 1f) }
//
// becomes
//
//   type Defunc0 { Defunc0_0(float32), }
//   def @apply0(%f: Defunc0, %x: float32) -> float32 {
//     match (%f) { Defunc0_0(%y) => { fn (%x) { add(%x, %y) }(%x) }, }
//   }
//   def @twice_defunc(%f: Defunc0, %x: float32) -> float32 {
//     @apply0(%f, @apply0(%f, %x))
//   }
//   def @main(%y: float32) { @twice_defunc(Defunc0_0(%y), 1f) }
//
// Functions that have to do with functions as values are copied, once for each
// choice of type arguments; those that they were copied from stay.

#ifndef BATON_RELAY_TRANSFORM_DEFUNCTIONALIZATION_H_
#define BATON_RELAY_TRANSFORM_DEFUNCTIONALIZATION_H_

#include <string>

#include "baton/transform/pass.h"

namespace baton::relay {

struct DefunctionalizationOptions {
  std::string function = "main";

  template <typename V>
  static void VisitFields(V& v) {
    v("function", &DefunctionalizationOptions::function,
      "The function where the program starts.");
  }
};

// A module pass of level 0. Functions as values may be arguments of calls: a
// literal, a global function or a parameter. They are errors elsewhere, in
// lets, results, tuples, references and data, and so are polymorphic functions
// and functions of functions as the start. A module without the function stays.
Pass Defunctionalization(DefunctionalizationOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DEFUNCTIONALIZATION_H_
