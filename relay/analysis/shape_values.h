// ShapeValues: computes integers that programs derive from shapes. Example: the
// elements of `concatenate((take(shape_of(%x), 0), [-1]))` are `N` and -1 if %x
// has the shape (N, 3, 8).

#ifndef BATON_RELAY_ANALYSIS_SHAPE_VALUES_H_
#define BATON_RELAY_ANALYSIS_SHAPE_VALUES_H_

#include <optional>

#include "absl/types/span.h"
#include "baton/base/hash_table.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// Finds the elements of integer tensors.
class ShapeValues {
 public:
  // The elements of `expr`, a typed integer or boolean tensor of rank 0 or 1,
  // as dimensions; an unknown element is `?`. Null if all elements are unknown,
  // or if the length is unknown or over 64. Caches the results, and keeps their
  // expressions alive. Valid until the next call.
  const Dims* Find(const Expr& expr);

 private:
  std::optional<Dims> Compute(const Expr& expr) const;
  const Dims* Known(const Expr& expr) const;

  FlatHashMap<Expr, std::optional<Dims>> known_;
};

// Computes the elements of the result of `call` from those of its arguments;
// for an argument that is a tuple, from those of its fields. Null: unknown.
using ShapeValueRule = std::optional<Dims> (*)(
    const CallNode& call, absl::Span<const Dims* const> args);
OpProperty<ShapeValueRule>& ShapeValueRules();

}  // namespace baton::relay

#endif  // BATON_RELAY_ANALYSIS_SHAPE_VALUES_H_
