#include "baton/onnx/ops/expect_shape.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/status_macros.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"
#include "baton/relay/op/dim_math.h"

namespace baton::onnx {

absl::Status ExpectShape(NodeContext& node, int i, absl::string_view name,
                         absl::Span<const Dim> shape) {
  if (!node.HasInput(i)) return absl::OkStatus();
  BATON_ASSIGN_OR_RETURN(const TensorTypeNode* type,
                         TensorTypeOf(node.Input(i)));
  bool fits = type->rank() == static_cast<int>(shape.size());
  for (int k = 0; fits && k < type->rank(); ++k) {
    fits = !relay::ProvablyDiffer(type->dim(k), shape[k]);
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " has shape ", relay::ShapeToString(type->shape()),
                   ", where ", relay::ShapeToString(shape), " is expected"));
}

}  // namespace baton::onnx
