// What convolutions and pools have in common.

#ifndef BATON_ONNX_OPS_WINDOWS_H_
#define BATON_ONNX_OPS_WINDOWS_H_

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

// `weight`: gives the size of the kernel if the attribute does not; may be
// null. `pads_later`: SAME_UPPER and SAME_LOWER are left to the caller.
absl::StatusOr<Window> ReadWindow(NodeContext& node, const Expr& data,
                                  const Expr& weight, bool pads_later);

// The same, and the data: where the padding of SAME_UPPER and SAME_LOWER
// depends on an extent that is not known, the data is padded by elements
// `fill`.
struct PaddedWindow {
  Window window;
  Expr data;
  bool is_padded = false;  // whether the data was
};
absl::StatusOr<PaddedWindow> ReadPaddedWindow(NodeContext& node,
                                              const Expr& data,
                                              const Expr& weight, double fill);

// Pads spatial axis `axis` by `total` elements, not negative, the odd one at
// the end if `upper`. An error if they are too many.
absl::Status SetPads(Window& window, int axis, absl::int128 total, bool upper);

// conv1d, conv2d or conv3d with the attributes of the node. `out_dtype`: void
// for that of the data.
absl::StatusOr<Expr> Convolution(NodeContext& node, const Expr& data,
                                 const Expr& weight, DType out_dtype);

// The attributes of the conv2d, for operators of the same shape.
absl::StatusOr<relay::Conv2DAttrs> Conv2DAttrsOf(NodeContext& node,
                                                 const Expr& data,
                                                 const Expr& weight,
                                                 DType out_dtype);

}  // namespace baton::onnx

#endif  // BATON_ONNX_OPS_WINDOWS_H_
