// Operators whose result has a shape that the values of arguments determine
// (`dyn.*`). Where the others have attributes, these have tensors.

#ifndef BATON_RELAY_OP_DYN_DYN_H_
#define BATON_RELAY_OP_DYN_DYN_H_

#include "baton/base/fields.h"

namespace baton::relay {

struct DynExpandDimsAttrs {
  int num_newaxis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.DynExpandDimsAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("num_newaxis", &DynExpandDimsAttrs::num_newaxis, "Number of new axes.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_DYN_DYN_H_
