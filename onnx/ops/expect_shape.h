// Checks the shapes of a node's inputs.

#ifndef BATON_ONNX_OPS_EXPECT_SHAPE_H_
#define BATON_ONNX_OPS_EXPECT_SHAPE_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/ir/type.h"
#include "baton/onnx/converter.h"

namespace baton::onnx {

// Returns InvalidArgument if input `i` has another rank than `shape`, or an
// extent that provably differs from the one there. Dim::Any() is any extent.
// An absent input has any shape. `name`: of the input, for the error.
absl::Status ExpectShape(NodeContext& node, int i, absl::string_view name,
                         absl::Span<const Dim> shape);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_EXPECT_SHAPE_H_
