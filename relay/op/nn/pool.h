// Pooling operators.

#ifndef BATON_RELAY_OP_NN_POOL_H_
#define BATON_RELAY_OP_NN_POOL_H_

#include <array>
#include <string>

#include "absl/status/statusor.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/op/nn/spatial_axes.h"

namespace baton::relay {

// The common fields of the attributes of pooling, in the order in which the
// text prints them. A is one of these structs.
template <typename A, typename V>
void VisitPoolFields(V& v) {
  v("pool_size", &A::pool_size, "Size of the window along each spatial axis.",
    kRequired);
  v("strides", &A::strides, "Step of the window along each spatial axis.");
  v("dilation", &A::dilation,
    "Distance of kernel elements along each spatial axis.");
  v("padding", &A::padding,
    "Padding: one number, one an axis, or all begins and then all ends.");
  v("layout", &A::layout, "Layout of the data.");
  v("out_layout", &A::out_layout,
    "Layout of the result; that of the data if empty.");
  v("ceil_mode", &A::ceil_mode,
    "Round the size of the result up instead of down.");
}

template <int kAxes>
struct MaxPoolNDAttrs {
  Dims pool_size;
  Dims strides = ForEachAxis<kAxes>(1);
  Dims dilation = ForEachAxis<kAxes>(1);
  Dims padding = ForEachAxis<kAxes>(0);
  std::string layout = WithSpatialAxes<kAxes>("NC");
  std::string out_layout;
  bool ceil_mode = false;

  static constexpr const char* kTypeKey =
      std::array{"relay.attrs.MaxPool1DAttrs", "relay.attrs.MaxPool2DAttrs",
                 "relay.attrs.MaxPool3DAttrs"}[kAxes - 1];
  template <typename V>
  static void VisitFields(V& v) {
    VisitPoolFields<MaxPoolNDAttrs>(v);
  }
};
using MaxPool1DAttrs = MaxPoolNDAttrs<1>;
using MaxPool2DAttrs = MaxPoolNDAttrs<2>;
using MaxPool3DAttrs = MaxPoolNDAttrs<3>;

template <int kAxes>
struct AvgPoolNDAttrs {
  Dims pool_size;
  Dims strides = ForEachAxis<kAxes>(1);
  Dims dilation = ForEachAxis<kAxes>(1);
  Dims padding = ForEachAxis<kAxes>(0);
  std::string layout = WithSpatialAxes<kAxes>("NC");
  std::string out_layout;
  bool ceil_mode = false;
  bool count_include_pad = false;

  static constexpr const char* kTypeKey =
      std::array{"relay.attrs.AvgPool1DAttrs", "relay.attrs.AvgPool2DAttrs",
                 "relay.attrs.AvgPool3DAttrs"}[kAxes - 1];
  template <typename V>
  static void VisitFields(V& v) {
    VisitPoolFields<AvgPoolNDAttrs>(v);
    v("count_include_pad", &AvgPoolNDAttrs::count_include_pad,
      "Count padding as elements when averaging.");
  }
};
using AvgPool1DAttrs = AvgPoolNDAttrs<1>;
using AvgPool2DAttrs = AvgPoolNDAttrs<2>;
using AvgPool3DAttrs = AvgPoolNDAttrs<3>;

// nn.global_avg_pool2d, nn.global_max_pool2d
struct GlobalPool2DAttrs {
  std::string layout = "NCHW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "relay.attrs.GlobalPool2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("layout", &GlobalPool2DAttrs::layout, "Layout of the data.");
    v("out_layout", &GlobalPool2DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
  }
};

template <int kAxes>
struct AdaptivePoolNDAttrs {
  OptionalDims output_size;
  std::string layout = WithSpatialAxes<kAxes>("NC");
  std::string out_layout;

  static constexpr const char* kTypeKey = std::array{
      "relay.attrs.AdaptivePool1DAttrs", "relay.attrs.AdaptivePool2DAttrs",
      "relay.attrs.AdaptivePool3DAttrs"}[kAxes - 1];
  template <typename V>
  static void VisitFields(V& v) {
    v("output_size", &AdaptivePoolNDAttrs::output_size,
      "Spatial size of the result; that of the data if empty or None.");
    v("layout", &AdaptivePoolNDAttrs::layout, "Layout of the data.");
    v("out_layout", &AdaptivePoolNDAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
  }
};
using AdaptivePool1DAttrs = AdaptivePoolNDAttrs<1>;
using AdaptivePool2DAttrs = AdaptivePoolNDAttrs<2>;
using AdaptivePool3DAttrs = AdaptivePoolNDAttrs<3>;

// The type relation of nn.avg_pool2d. The call must have its attributes, and
// the data as its first argument.
absl::StatusOr<Type> AvgPool2DRel(TypeRelationContext& context);

}  // namespace baton::relay

namespace baton::relay::nn {

Expr MaxPool1D(Expr data, MaxPool1DAttrs attrs);
Expr MaxPool2D(Expr data, MaxPool2DAttrs attrs);
Expr MaxPool3D(Expr data, MaxPool3DAttrs attrs);
Expr AvgPool1D(Expr data, AvgPool1DAttrs attrs);
Expr AvgPool2D(Expr data, AvgPool2DAttrs attrs);
Expr AvgPool3D(Expr data, AvgPool3DAttrs attrs);
Expr GlobalMaxPool2D(Expr data, GlobalPool2DAttrs attrs = {});
Expr GlobalAvgPool2D(Expr data, GlobalPool2DAttrs attrs = {});
Expr AdaptiveMaxPool2D(Expr data, AdaptivePool2DAttrs attrs = {});
Expr AdaptiveAvgPool2D(Expr data, AdaptivePool2DAttrs attrs = {});

}  // namespace baton::relay::nn

#endif  // BATON_RELAY_OP_NN_POOL_H_
