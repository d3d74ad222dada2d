// Functions that the gradients of several operators share: see gradients.h.

#ifndef BATON_RELAY_OP_GRADIENT_HELPERS_H_
#define BATON_RELAY_OP_GRADIENT_HELPERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/dtype.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay::internal {

using Exprs = std::vector<Expr>;
using GradientsOr = absl::StatusOr<Exprs>;
using Axes = std::optional<std::vector<int64_t>>;

inline constexpr DType kInt32 = DType::Int(32);

// An error that the gradient of `call` is not known; the message ends with
// `why`: "for ...".
absl::Status Unknown(const Call& call, absl::string_view why);

// The type of `expr`, which is `call` or an argument of it. The error is that of
// Unknown().
absl::StatusOr<const TensorTypeNode*> TensorTypeOf(const Call& call,
                                                   const Expr& expr);
// The constant shape of `expr`, as above.
absl::StatusOr<std::vector<int64_t>> ShapeOfTyped(const Call& call,
                                                  const Expr& expr);
// The element type of `expr`; float32 if it is not a tensor.
DType DTypeOf(const Expr& expr);

// A scalar of the element type of `like`.
Expr ScalarOf(double value, const Expr& like);
Expr ScalarInt32(int64_t value);
// A vector. A value that an int32 cannot hold becomes the nearest one.
absl::StatusOr<Expr> VectorInt32(absl::Span<const int64_t> values);

// A GradientFn: zeros for all arguments.
GradientsOr ZeroGradients(const Call& call, const Expr& grad);

}  // namespace baton::relay::internal

#endif  // BATON_RELAY_OP_GRADIENT_HELPERS_H_
