// Attributes of the pooling operators.

#ifndef BATON_RELAY_OP_POOL_ATTRS_H_
#define BATON_RELAY_OP_POOL_ATTRS_H_

#include <string>

#include "baton/base/fields.h"
#include "baton/ir/type.h"

namespace baton::relay {

struct MaxPool1DAttrs {
  Dims pool_size;
  Dims strides = {1};
  Dims dilation = {1};
  Dims padding = {0};
  std::string layout = "NCW";
  std::string out_layout;
  bool ceil_mode = false;

  static constexpr char kTypeKey[] = "relay.attrs.MaxPool1DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pool_size", &MaxPool1DAttrs::pool_size,
      "Size of the window along each spatial axis.", kRequired);
    v("strides", &MaxPool1DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("dilation", &MaxPool1DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("padding", &MaxPool1DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("layout", &MaxPool1DAttrs::layout, "Layout of the data.");
    v("out_layout", &MaxPool1DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("ceil_mode", &MaxPool1DAttrs::ceil_mode,
      "Round the size of the result up instead of down.");
  }
};

struct MaxPool2DAttrs {
  Dims pool_size;
  Dims strides = {1, 1};
  Dims dilation = {1, 1};
  Dims padding = {0, 0};
  std::string layout = "NCHW";
  std::string out_layout;
  bool ceil_mode = false;

  static constexpr char kTypeKey[] = "relay.attrs.MaxPool2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pool_size", &MaxPool2DAttrs::pool_size,
      "Size of the window along each spatial axis.", kRequired);
    v("strides", &MaxPool2DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("dilation", &MaxPool2DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("padding", &MaxPool2DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("layout", &MaxPool2DAttrs::layout, "Layout of the data.");
    v("out_layout", &MaxPool2DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("ceil_mode", &MaxPool2DAttrs::ceil_mode,
      "Round the size of the result up instead of down.");
  }
};

struct MaxPool3DAttrs {
  Dims pool_size;
  Dims strides = {1, 1, 1};
  Dims dilation = {1, 1, 1};
  Dims padding = {0, 0, 0};
  std::string layout = "NCDHW";
  std::string out_layout;
  bool ceil_mode = false;

  static constexpr char kTypeKey[] = "relay.attrs.MaxPool3DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pool_size", &MaxPool3DAttrs::pool_size,
      "Size of the window along each spatial axis.", kRequired);
    v("strides", &MaxPool3DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("dilation", &MaxPool3DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("padding", &MaxPool3DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("layout", &MaxPool3DAttrs::layout, "Layout of the data.");
    v("out_layout", &MaxPool3DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("ceil_mode", &MaxPool3DAttrs::ceil_mode,
      "Round the size of the result up instead of down.");
  }
};

struct AvgPool1DAttrs {
  Dims pool_size;
  Dims strides = {1};
  Dims dilation = {1};
  Dims padding = {0};
  std::string layout = "NCW";
  std::string out_layout;
  bool ceil_mode = false;
  bool count_include_pad = false;

  static constexpr char kTypeKey[] = "relay.attrs.AvgPool1DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pool_size", &AvgPool1DAttrs::pool_size,
      "Size of the window along each spatial axis.", kRequired);
    v("strides", &AvgPool1DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("dilation", &AvgPool1DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("padding", &AvgPool1DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("layout", &AvgPool1DAttrs::layout, "Layout of the data.");
    v("out_layout", &AvgPool1DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("ceil_mode", &AvgPool1DAttrs::ceil_mode,
      "Round the size of the result up instead of down.");
    v("count_include_pad", &AvgPool1DAttrs::count_include_pad,
      "Count padding as elements when averaging.");
  }
};

struct AvgPool2DAttrs {
  Dims pool_size;
  Dims strides = {1, 1};
  Dims dilation = {1, 1};
  Dims padding = {0, 0};
  std::string layout = "NCHW";
  std::string out_layout;
  bool ceil_mode = false;
  bool count_include_pad = false;

  static constexpr char kTypeKey[] = "relay.attrs.AvgPool2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pool_size", &AvgPool2DAttrs::pool_size,
      "Size of the window along each spatial axis.", kRequired);
    v("strides", &AvgPool2DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("dilation", &AvgPool2DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("padding", &AvgPool2DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("layout", &AvgPool2DAttrs::layout, "Layout of the data.");
    v("out_layout", &AvgPool2DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("ceil_mode", &AvgPool2DAttrs::ceil_mode,
      "Round the size of the result up instead of down.");
    v("count_include_pad", &AvgPool2DAttrs::count_include_pad,
      "Count padding as elements when averaging.");
  }
};

struct AvgPool3DAttrs {
  Dims pool_size;
  Dims strides = {1, 1, 1};
  Dims dilation = {1, 1, 1};
  Dims padding = {0, 0, 0};
  std::string layout = "NCDHW";
  std::string out_layout;
  bool ceil_mode = false;
  bool count_include_pad = false;

  static constexpr char kTypeKey[] = "relay.attrs.AvgPool3DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("pool_size", &AvgPool3DAttrs::pool_size,
      "Size of the window along each spatial axis.", kRequired);
    v("strides", &AvgPool3DAttrs::strides,
      "Step of the window along each spatial axis.");
    v("dilation", &AvgPool3DAttrs::dilation,
      "Distance of kernel elements along each spatial axis.");
    v("padding", &AvgPool3DAttrs::padding,
      "Padding: one number, one an axis, or all begins and then all ends.");
    v("layout", &AvgPool3DAttrs::layout, "Layout of the data.");
    v("out_layout", &AvgPool3DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
    v("ceil_mode", &AvgPool3DAttrs::ceil_mode,
      "Round the size of the result up instead of down.");
    v("count_include_pad", &AvgPool3DAttrs::count_include_pad,
      "Count padding as elements when averaging.");
  }
};

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

struct AdaptivePool1DAttrs {
  Dims output_size;
  std::string layout = "NCW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "relay.attrs.AdaptivePool1DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("output_size", &AdaptivePool1DAttrs::output_size,
      "Spatial size of the result; that of the data if empty.");
    v("layout", &AdaptivePool1DAttrs::layout, "Layout of the data.");
    v("out_layout", &AdaptivePool1DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
  }
};

struct AdaptivePool2DAttrs {
  Dims output_size;
  std::string layout = "NCHW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "relay.attrs.AdaptivePool2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("output_size", &AdaptivePool2DAttrs::output_size,
      "Spatial size of the result; that of the data if empty.");
    v("layout", &AdaptivePool2DAttrs::layout, "Layout of the data.");
    v("out_layout", &AdaptivePool2DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
  }
};

struct AdaptivePool3DAttrs {
  Dims output_size;
  std::string layout = "NCDHW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "relay.attrs.AdaptivePool3DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("output_size", &AdaptivePool3DAttrs::output_size,
      "Spatial size of the result; that of the data if empty.");
    v("layout", &AdaptivePool3DAttrs::layout, "Layout of the data.");
    v("out_layout", &AdaptivePool3DAttrs::out_layout,
      "Layout of the result; that of the data if empty.");
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_POOL_ATTRS_H_
