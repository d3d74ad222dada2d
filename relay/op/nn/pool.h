// Pooling operators.

#ifndef BATON_RELAY_OP_NN_POOL_H_
#define BATON_RELAY_OP_NN_POOL_H_

#include <string>

#include "absl/status/statusor.h"
#include "baton/base/fields.h"
#include "baton/ir/type.h"
#include "baton/ir/type_relation.h"
#include "baton/relay/ir/expr.h"

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

template <typename A, typename V>
void VisitAvgPoolFields(V& v) {
  VisitPoolFields<A>(v);
  v("count_include_pad", &A::count_include_pad,
    "Count padding as elements when averaging.");
}

template <typename A, typename V>
void VisitAdaptivePoolFields(V& v) {
  v("output_size", &A::output_size,
    "Spatial size of the result; that of the data if empty or None.");
  v("layout", &A::layout, "Layout of the data.");
  v("out_layout", &A::out_layout,
    "Layout of the result; that of the data if empty.");
}

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
    VisitPoolFields<MaxPool1DAttrs>(v);
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
    VisitPoolFields<MaxPool2DAttrs>(v);
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
    VisitPoolFields<MaxPool3DAttrs>(v);
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
    VisitAvgPoolFields<AvgPool1DAttrs>(v);
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
    VisitAvgPoolFields<AvgPool2DAttrs>(v);
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
    VisitAvgPoolFields<AvgPool3DAttrs>(v);
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
  OptionalDims output_size;
  std::string layout = "NCW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "relay.attrs.AdaptivePool1DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    VisitAdaptivePoolFields<AdaptivePool1DAttrs>(v);
  }
};

struct AdaptivePool2DAttrs {
  OptionalDims output_size;
  std::string layout = "NCHW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "relay.attrs.AdaptivePool2DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    VisitAdaptivePoolFields<AdaptivePool2DAttrs>(v);
  }
};

struct AdaptivePool3DAttrs {
  OptionalDims output_size;
  std::string layout = "NCDHW";
  std::string out_layout;

  static constexpr char kTypeKey[] = "relay.attrs.AdaptivePool3DAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    VisitAdaptivePoolFields<AdaptivePool3DAttrs>(v);
  }
};

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
