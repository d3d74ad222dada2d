// Helpers for the converters of convolutions and pools.

#ifndef BATON_ONNX_OPS_SPATIAL_WINDOWS_H_
#define BATON_ONNX_OPS_SPATIAL_WINDOWS_H_

#include <cstdint>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/base/dtype.h"
#include "baton/onnx/converter.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/conv.h"

namespace baton::onnx {

// The window of a node over the spatial axes of its data; one to three.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads;  // all begins, then all ends
};

// Reads the window from the attributes. `weight` provides the size of the
// kernel if the attribute is absent; it may be null. If `pads_later` is true,
// the caller computes the padding of SAME_UPPER and SAME_LOWER.
absl::StatusOr<Window> ReadWindow(NodeContext& node, const Expr& data,
                                  const Expr& weight, bool pads_later);

// A window and its data. If the padding of SAME_UPPER or SAME_LOWER depends on
// an unknown extent, the data itself is padded with elements `fill`.
struct PaddedWindow {
  Window window;
  Expr data;
  bool is_padded = false;  // true if the data was padded
};
absl::StatusOr<PaddedWindow> ReadPaddedWindow(NodeContext& node,
                                              const Expr& data,
                                              const Expr& weight, double fill);

// Pads spatial axis `axis` by `total` elements, at least 0. An odd element goes
// to the end if `upper`, otherwise to the beginning. An error if `total` is too
// large.
absl::Status SetPads(Window& window, int axis, absl::int128 total, bool upper);

// conv1d, conv2d or conv3d with the attributes of the node. If `out_dtype` is
// void, the result has the dtype of the data.
absl::StatusOr<Expr> Convolution(NodeContext& node, const Expr& data,
                                 const Expr& weight, DType out_dtype);

// The conv2d attributes of the node, for operators that share them.
absl::StatusOr<relay::Conv2DAttrs> Conv2DAttrsOf(NodeContext& node,
                                                 const Expr& data,
                                                 const Expr& weight,
                                                 DType out_dtype);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_SPATIAL_WINDOWS_H_
