#include "baton/onnx/ops/heads.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/onnx/ops/extents.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"

namespace baton::onnx {

Expr IntScalar(int64_t value) {
  return relay::Const(Tensor::Scalar<int64_t>(value));
}

using Ints = std::vector<int64_t>;

absl::StatusOr<Expr> SplitHeads(NodeContext& node, const Expr& x,
                                int64_t heads) {
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type, TensorTypeOf(x));
  if (type->rank() != 3 || heads < 1 || !type->dim(2).is_const() ||
      type->dim(2).value() % heads != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("an input cannot be split into ", heads, " heads"));
  }
  return node.Typed(relay::Transpose(
      relay::Reshape(x, {0, 0, heads, type->dim(2).value() / heads}),
      Ints{0, 2, 1, 3}));
}

Expr JoinHeads(Expr x) {
  return MergeAxes(relay::Transpose(std::move(x), Ints{0, 2, 1, 3}), 4, 2, 2);
}

Expr Rotate(const Expr& x, int64_t size, int64_t rotated, bool interleaved,
            const Expr& cosine, const Expr& sine) {
  const int64_t half = rotated / 2;
  const auto part = [&x](int64_t begin, int64_t end, int64_t step) {
    return relay::StridedSlice(x, {begin}, {end},
                               {.strides = {step}, .axes = Ints{3}});
  };
  const Expr first = interleaved ? part(0, rotated, 2) : part(0, half, 1);
  const Expr second =
      interleaved ? part(1, rotated, 2) : part(half, rotated, 1);
  Expr real = relay::Subtract(relay::Multiply(cosine, first),
                              relay::Multiply(sine, second));
  Expr imaginary =
      relay::Add(relay::Multiply(sine, first), relay::Multiply(cosine, second));
  Expr result = interleaved ? relay::Reshape(relay::Stack({real, imaginary}, 4),
                                             {0, 0, 0, rotated})
                            : relay::Concatenate(
                                  {std::move(real), std::move(imaginary)}, 3);
  if (rotated < size) {
    result = relay::Concatenate({std::move(result), part(rotated, size, 1)}, 3);
  }
  return result;
}

}  // namespace baton::onnx
