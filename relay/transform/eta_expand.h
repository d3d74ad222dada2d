// EtaExpand: replaces references to functions and constructors by function
// literals.
//
//   @f      fn (%p: T) { @f(%p) }
//   Cons    fn [A](%x: A, %xs: List[A]) -> List[A] { Cons(%x, %xs) }
//
// A constructor that is called stays unchanged; a global function that is
// called is expanded.

#ifndef BATON_RELAY_TRANSFORM_ETA_EXPAND_H_
#define BATON_RELAY_TRANSFORM_ETA_EXPAND_H_

#include "baton/transform/pass.h"

namespace baton::relay {

struct EtaExpandOptions {
  bool expand_constructor = false;
  bool expand_global_var = false;

  template <typename V>
  static void VisitFields(V& v) {
    v("expand_constructor", &EtaExpandOptions::expand_constructor,
      "Whether to expand constructors of data types.");
    v("expand_global_var", &EtaExpandOptions::expand_global_var,
      "Whether to expand global functions.");
  }
};

// A module pass of level 1. Expands only the kinds that the options enable.
Pass EtaExpand(EtaExpandOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_ETA_EXPAND_H_
