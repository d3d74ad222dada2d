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
// Functions that use functions as values are copied, once for each choice of
// type arguments; the originals stay.

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
// literal, a global function or a parameter. Elsewhere they are errors: in
// lets, results, tuples, references and data. A start function that is
// polymorphic or takes functions is an error as well. A module without the
// start function stays unchanged.
Pass Defunctionalization(DefunctionalizationOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DEFUNCTIONALIZATION_H_
