// LiftAttrScope: merges adjacent statements that have equal attributes.
//
//   T.attr(a, "key", 1): x       T.attr(a, "key", 1): x; y
//   T.attr(a, "key", 1): y

#ifndef BATON_TIR_TRANSFORM_LIFT_ATTR_SCOPE_H_
#define BATON_TIR_TRANSFORM_LIFT_ATTR_SCOPE_H_

#include <string>

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::tir {

struct LiftAttrScopeOptions {
  std::string attr_key;

  template <typename V>
  static void VisitFields(V& v) {
    v("attr_key", &LiftAttrScopeOptions::attr_key, "The key of the attribute.",
      kRequired);
  }
};

// The attribute moves outwards as far as all statements of a sequence, or both
// branches of a condition, have it; never out of an allocation.
Pass LiftAttrScope(LiftAttrScopeOptions options);

}  // namespace baton::tir

#endif  // BATON_TIR_TRANSFORM_LIFT_ATTR_SCOPE_H_
