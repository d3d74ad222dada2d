// DynamicToStatic: replaces operators with computed shapes (`dyn.*`) by
// operators with shapes as attributes, where the shapes follow from constants
// and static types.
//
//   dyn.reshape(x, shape_of(y))   reshape(x, newshape=[4, 7])
//
// An `arange` whose begin, end and step follow in this way gets constants as
// arguments, so that the extent of its result becomes known.
//
// A call becomes static after the calls on which its shape depends, so that one
// pass suffices. Results of functions get the inferred types in place of the
// declared ones. Constants are folded at the end.

#ifndef BATON_RELAY_TRANSFORM_DYNAMIC_TO_STATIC_H_
#define BATON_RELAY_TRANSFORM_DYNAMIC_TO_STATIC_H_

#include <vector>

#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/op.h"
#include "baton/relay/ir/expr.h"
#include "baton/transform/pass.h"

namespace baton::relay {

// The static form of a dynamic operator when some of its arguments are
// constants.
struct StaticForm {
  // The arguments that must be constants.
  std::vector<int> constants;
  // Returns the replacement of `call`, whose arguments have become static
  // before. `values` are the values of `constants`. Null keeps the call.
  Expr (*make)(const CallNode& call, absl::Span<const Tensor> values) = nullptr;
};
OpProperty<StaticForm>& StaticForms();

// A function pass of level 2.
Pass DynamicToStatic();

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_DYNAMIC_TO_STATIC_H_
