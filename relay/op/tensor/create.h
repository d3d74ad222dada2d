// Operators that make new tensors, repeat or sum a tensor to a shape, or return
// the shape of a tensor.

#ifndef BATON_RELAY_OP_TENSOR_CREATE_H_
#define BATON_RELAY_OP_TENSOR_CREATE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// zeros, ones, full, broadcast_to, and their dynamic forms
struct InitOpAttrs {
  std::optional<std::vector<int64_t>> shape;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.InitOpAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("shape", &InitOpAttrs::shape, "Shape of the result.", kRequired);
    v("dtype", &InitOpAttrs::dtype, "Element type of the result.");
  }
};

struct ArangeAttrs {
  AttrValue start;
  AttrValue stop;
  AttrValue step;
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.ArangeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("start", &ArangeAttrs::start, "The first value.", kRequired);
    v("stop", &ArangeAttrs::stop, "The end, not included.", kRequired);
    v("step", &ArangeAttrs::step, "Distance of the values.", kRequired);
    v("dtype", &ArangeAttrs::dtype, "Element type of the result.", kRequired);
  }
};

struct ShapeOfAttrs {
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.ShapeOfAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &ShapeOfAttrs::dtype, "Element type of the result.");
  }
};

struct NdarraySizeAttrs {
  DType dtype;

  static constexpr char kTypeKey[] = "relay.attrs.NdarraySizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("dtype", &NdarraySizeAttrs::dtype, "Element type of the result.");
  }
};

// Builders of calls.

// New tensors.
Expr Zeros(std::vector<int64_t> shape, DType dtype);
Expr Ones(std::vector<int64_t> shape, DType dtype);
// If `dtype` is void, the element type is that of `fill_value`.
Expr Full(Expr fill_value, std::vector<int64_t> shape, DType dtype = DType());
Expr FullLike(Expr data, Expr fill_value);
Expr Arange(Expr start, Expr stop, Expr step, DType dtype);

// Change the shape by broadcasting or summing.
Expr BroadcastTo(Expr data, std::vector<int64_t> shape);
Expr BroadcastToLike(Expr data, Expr broadcast_type);
Expr CollapseSumLike(Expr data, Expr collapse_type);

// Return shapes as tensors.
Expr ShapeOf(Expr data, DType dtype = DType::Int(32));
Expr NdarraySize(Expr data, DType dtype = DType::Int(32));

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_TENSOR_CREATE_H_
