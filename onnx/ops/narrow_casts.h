// Builds casts to floats of 4 and 8 bits, whose values are stored as float32,
// and to integers of 2 and 4 bits, which are stored in 8 bits.

#ifndef BATON_ONNX_OPS_NARROW_CASTS_H_
#define BATON_ONNX_OPS_NARROW_CASTS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/base/dtype.h"
#include "baton/onnx/narrow_float.h"
#include "baton/relay/ir/expr.h"

namespace baton::onnx {

// `x`, of elements `from`, rounded to values of `format`, as float32. Values
// outside of the finite range become the nearest end of the range if
// `saturates`, or if the format has no NaN; otherwise they become infinity or
// NaN. `rounding` is for a format of exponents alone (float8e8m0): "up", "down"
// or "nearest". All other formats round to nearest, ties to even.
absl::StatusOr<Expr> ToNarrowFloat(const Expr& x, DType from,
                                   const NarrowFloat& format, bool saturates,
                                   absl::string_view rounding = "up");

// `x`, of integers or floats, cast to integers of `bits` bits, stored as
// `dtype`. The integers keep the lowest bits of the values.
Expr ToNarrowInteger(const Expr& x, DType dtype, int bits);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_NARROW_CASTS_H_
