// Exporters of resize and upsampling.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/onnx/export_ops/layouts.h"
#include "baton/onnx/exporter.h"
#include "baton/onnx/graph_builder.h"
#include "baton/relay/op/image/image.h"
#include "baton/relay/op/nn/spatial.h"

namespace baton::onnx {
namespace {

using Ints = std::vector<int64_t>;

// The parameters of a resize.
struct Sampling {
  std::string layout;
  absl::string_view canonical;
  std::string method;  // nearest_neighbor, linear or cubic
  std::string coordinates;
  std::string rounding;  // of nearest_neighbor
  double cubic_alpha = -0.5;
};

// `size`: the spatial extents of the result.
absl::StatusOr<Values> ResizeTo(CallExport& call, const Ints& size,
                                const Sampling& sampling) {
  const std::string& mode = sampling.coordinates;
  if (mode != "half_pixel" && mode != "align_corners" && mode != "asymmetric") {
    return absl::UnimplementedError(absl::StrCat("the mode ", mode));
  }
  BATON_ASSIGN_OR_RETURN(const Ints order,
                         AxisOrder(sampling.layout, sampling.canonical));
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.Shape(0));
  Ints sizes = {shape[order[0]], shape[order[1]]};
  sizes.insert(sizes.end(), size.begin(), size.end());
  if (sizes.size() != order.size()) {
    return absl::UnimplementedError("the size has other axes than the data");
  }
  NodeAttributes attributes;
  attributes.String("coordinate_transformation_mode", mode);
  if (sampling.method == "nearest_neighbor") {
    attributes.String("mode", "nearest");
    attributes.String("nearest_mode", sampling.rounding);
  } else {
    attributes.String("mode", sampling.method);
    if (sampling.method == "cubic") {
      attributes.Float("cubic_coeff_a", sampling.cubic_alpha);
    }
  }
  BATON_ASSIGN_OR_RETURN(ValueId x, InLayout(call, call.Arg(0), sampling.layout,
                                             sampling.canonical));
  x = call.Node("Resize", {x, kNoValue, kNoValue, call.Ints(sizes)},
                std::move(attributes));
  BATON_ASSIGN_OR_RETURN(
      x, InLayout(call, x, sampling.canonical, sampling.layout));
  return Values{call.Cast(x, call.ElementType(0), call.ResultType()->dtype())};
}

template <typename A>
absl::StatusOr<Values> Resize(CallExport& call) {
  const A& attrs = call.attrs<A>();
  BATON_ASSIGN_OR_RETURN(const Ints size, KnownDims(attrs.size, "the size"));
  if (attrs.cubic_exclude != 0) {
    return absl::UnimplementedError("with cubic_exclude");
  }
  // The reference rounds down a little above, which ONNX does not.
  if (attrs.method == "nearest_neighbor" &&
      attrs.rounding_method != "round_prefer_ceil" &&
      attrs.rounding_method != "round_prefer_floor") {
    return absl::UnimplementedError(
        absl::StrCat("rounding by ", attrs.rounding_method));
  }
  const std::string canonical = A().layout;
  return ResizeTo(call, size,
                  {.layout = attrs.layout,
                   .canonical = canonical,
                   .method = attrs.method,
                   .coordinates = attrs.coordinate_transformation_mode,
                   .rounding = attrs.rounding_method,
                   .cubic_alpha = attrs.cubic_alpha});
}

template <size_t kAxes>
absl::StatusOr<Values> UpSample(CallExport& call,
                                const std::array<double, kAxes>& scales,
                                Sampling sampling) {
  if (sampling.method == "bilinear" || sampling.method == "trilinear") {
    sampling.method = "linear";
  } else if (sampling.method == "bicubic") {
    sampling.method = "cubic";
  } else if (sampling.coordinates != "asymmetric" ||
             std::any_of(scales.begin(), scales.end(), [](double scale) {
               return scale != std::floor(scale);
             })) {
    // Positions between elements are rounded in another way than ONNX does.
    return absl::UnimplementedError(
        "the nearest element, but for asymmetric coordinates and factors that"
        " are integers");
  }
  sampling.rounding = "floor";
  BATON_ASSIGN_OR_RETURN(const Ints shape, call.ResultShape());
  BATON_ASSIGN_OR_RETURN(const Ints order,
                         AxisOrder(sampling.layout, sampling.canonical));
  Ints size;
  for (size_t i = 2; i < order.size(); ++i) size.push_back(shape[order[i]]);
  return ResizeTo(call, size, sampling);
}

absl::StatusOr<Values> UpSampling(CallExport& call) {
  const auto& attrs = call.attrs<relay::UpSamplingAttrs>();
  return UpSample<2>(
      call, {attrs.scale_h, attrs.scale_w},
      {.layout = attrs.layout,
       .canonical = "NCHW",
       .method = attrs.method,
       .coordinates = attrs.align_corners ? "align_corners" : "asymmetric"});
}

absl::StatusOr<Values> UpSampling3D(CallExport& call) {
  const auto& attrs = call.attrs<relay::UpSampling3DAttrs>();
  return UpSample<3>(call, {attrs.scale_d, attrs.scale_h, attrs.scale_w},
                     {.layout = attrs.layout,
                      .canonical = "NCDHW",
                      .method = attrs.method,
                      .coordinates = attrs.coordinate_transformation_mode});
}

BATON_EXTEND_OP("image.resize1d")
    .Set(OnnxExporters(), Resize<relay::Resize1DAttrs>);
BATON_EXTEND_OP("image.resize2d")
    .Set(OnnxExporters(), Resize<relay::Resize2DAttrs>);
BATON_EXTEND_OP("image.resize3d")
    .Set(OnnxExporters(), Resize<relay::Resize3DAttrs>);
BATON_EXTEND_OP("nn.upsampling").Set(OnnxExporters(), UpSampling);
BATON_EXTEND_OP("nn.upsampling3d").Set(OnnxExporters(), UpSampling3D);

}  // namespace
}  // namespace baton::onnx
