// The example of docs/add_an_operator.md: example.roll.

#ifndef BATON_EXAMPLES_ADD_AN_OPERATOR_H_
#define BATON_EXAMPLES_ADD_AN_OPERATOR_H_

#include <cstdint>

#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"

namespace baton::examples {

// [attrs]
struct RollAttrs {
  int64_t shift = 0;
  int axis = 0;

  static constexpr char kTypeKey[] = "example.attrs.RollAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("shift", &RollAttrs::shift, "By how many places.", kRequired);
    v("axis", &RollAttrs::axis, "Along which axis.");
  }
};
// [/attrs]

// [builder_declaration]
// Moves the elements of `data` by `shift` places along `axis`; those that leave
// at the end come back at the beginning.
Expr Roll(Expr data, int64_t shift, int axis = 0);
// [/builder_declaration]

}  // namespace baton::examples

#endif  // BATON_EXAMPLES_ADD_AN_OPERATOR_H_
