// Operators whose result shape depends on the values of arguments (`dyn.*`).
// They have tensors in place of the attributes of the static operators.

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
