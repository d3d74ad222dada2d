// Converters of operators on boxes in images.

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/op.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/constant.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/tensor/create.h"
#include "baton/relay/op/tensor/elementwise.h"
#include "baton/relay/op/tensor/indexing.h"
#include "baton/relay/op/tensor/shape.h"
#include "baton/relay/op/vision/vision.h"

namespace baton::onnx {
namespace {

// Input `i` as a scalar; `otherwise` if it is not given.
template <typename T>
Expr Limit(NodeContext& node, int i, T otherwise) {
  return node.HasInput(i) ? relay::Reshape(node.Input(i), {})
                          : Expr(relay::Const(Tensor::Scalar<T>(otherwise)));
}

absl::StatusOr<Outputs> NonMaxSuppression(NodeContext& node) {
  // The number of boxes that are wanted of a class is 0 if it is not given.
  if (!node.HasInput(2)) {
    return One(relay::Zeros({0, 3}, DType::Int(64)));
  }
  Expr boxes = node.Input(0);
  if (node.Int("center_point_box", 0) != 0) {
    // Center and size, to corners.
    BATON_ASSIGN_OR_RETURN(const Expr parts,
                           node.Typed(relay::Split(boxes, 4, 2)));
    const auto part = [&parts](int i) { return relay::TupleGetItem(parts, i); };
    const Expr half = ScalarLike(0.5, boxes);
    const auto corner = [&](int center, int size, bool is_end) {
      const Expr offset = relay::Multiply(part(size), half);
      return is_end ? relay::Add(part(center), offset)
                    : relay::Subtract(part(center), offset);
    };
    boxes = relay::Concatenate({corner(1, 3, false), corner(0, 2, false),
                                corner(1, 3, true), corner(0, 2, true)},
                               2);
  }
  BATON_ASSIGN_OR_RETURN(
      const Expr result,
      node.Typed(relay::Call(
          BATON_OP("vision.all_class_non_max_suppression"),
          {boxes, node.Input(1), Limit<int64_t>(node, 2, 0),
           Limit<float>(node, 3, 0),
           Limit<float>(node, 4, -std::numeric_limits<float>::infinity())},
          Attrs::Make(relay::AllClassNonMaximumSuppressionAttrs{}))));
  // As many rows as were found.
  return One(relay::Call(
      BATON_OP("dyn.strided_slice"),
      {relay::TupleGetItem(result, 0), VectorConstant(std::vector<int64_t>{0}),
       relay::TupleGetItem(result, 1), VectorConstant(std::vector<int64_t>{1})},
      Attrs::Make(relay::StridedSliceAttrs{})));
}

BATON_ONNX_CONVERTERS({{"NonMaxSuppression", NonMaxSuppression, 10}});

}  // namespace
}  // namespace baton::onnx
