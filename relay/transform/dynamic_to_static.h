// DynamicToStatic: operators whose shapes are computed (`dyn.*`) become those
// that have them as attributes, where the shapes follow from constants and
// static types.
//
//   dyn.reshape(x, shape_of(y))   reshape(x, newshape=[4, 7])
//
// One becomes static after those that its shape depends on, so that one pass is
// enough. Results of functions have the types that follow, not the ones that
// were declared. Constants are folded at the end.

#ifndef BATON_RELAY_TRANSFORM_DYNAMIC_TO_STATIC_H_
#define BATON_RELAY_TRANSFORM_DYNAMIC_TO_STATIC_H_

#include <vector>

#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// The operator that a dynamic one is if some of its arguments are constants.
struct StaticForm {
  // Which arguments must be constants.
  std::vector<int> constants;
  // What replaces `call`, whose arguments have become static before. `values`
  // are those of `constants`. Null: it stays.
  Expr (*make)(const CallNode& call, absl::Span<const Tensor> values) = nullptr;
};
OpAttrMap<StaticForm>& StaticForms();

// A function pass of level 2.
Pass DynamicToStatic();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DYNAMIC_TO_STATIC_H_
