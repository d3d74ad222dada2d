// Normalization operators.

#ifndef BATON_RELAY_OP_NN_NORMALIZE_H_
#define BATON_RELAY_OP_NN_NORMALIZE_H_

#include <cstdint>
#include <vector>

#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

struct BatchNormAttrs {
  int axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;

  static constexpr char kTypeKey[] = "relay.attrs.BatchNormAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &BatchNormAttrs::axis, "The axis of the channels.");
    v("epsilon", &BatchNormAttrs::epsilon, "Added to the variance.");
    v("center", &BatchNormAttrs::center, "Whether beta is added.");
    v("scale", &BatchNormAttrs::scale, "Whether gamma is multiplied in.");
  }
};

struct InstanceNormAttrs {
  int axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;

  static constexpr char kTypeKey[] = "relay.attrs.InstanceNormAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &InstanceNormAttrs::axis, "The axis of the channels.");
    v("epsilon", &InstanceNormAttrs::epsilon, "Added to the variance.");
    v("center", &InstanceNormAttrs::center, "Whether beta is added.");
    v("scale", &InstanceNormAttrs::scale, "Whether gamma is multiplied in.");
  }
};

struct LayerNormAttrs {
  int axis = -1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;

  static constexpr char kTypeKey[] = "relay.attrs.LayerNormAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &LayerNormAttrs::axis, "The axis that is normalized.");
    v("epsilon", &LayerNormAttrs::epsilon, "Added to the variance.");
    v("center", &LayerNormAttrs::center, "Whether beta is added.");
    v("scale", &LayerNormAttrs::scale, "Whether gamma is multiplied in.");
  }
};

struct GroupNormAttrs {
  int num_groups = 0;
  int axis = 1;
  double epsilon = 1e-5;
  bool center = true;
  bool scale = true;

  static constexpr char kTypeKey[] = "relay.attrs.GroupNormAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("num_groups", &GroupNormAttrs::num_groups,
      "Groups into which the channels are divided.");
    v("axis", &GroupNormAttrs::axis, "The axis of the channels.");
    v("epsilon", &GroupNormAttrs::epsilon, "Added to the variance.");
    v("center", &GroupNormAttrs::center, "Whether beta is added.");
    v("scale", &GroupNormAttrs::scale, "Whether gamma is multiplied in.");
  }
};

struct LRNAttrs {
  int size = 5;
  int axis = 1;
  double bias = 2.0;
  double alpha = 0.0001;
  double beta = 0.75;

  static constexpr char kTypeKey[] = "relay.attrs.LRNAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("size", &LRNAttrs::size, "Channels summed for each element.");
    v("axis", &LRNAttrs::axis, "The axis of the channels.");
    v("bias", &LRNAttrs::bias, "Added to the scaled sum.");
    v("alpha", &LRNAttrs::alpha, "Scale of the sum.");
    v("beta", &LRNAttrs::beta, "Exponent.");
  }
};

struct L2NormalizeAttrs {
  double eps = 0.0;
  std::vector<int64_t> axis;

  static constexpr char kTypeKey[] = "relay.attrs.L2NormalizeAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("eps", &L2NormalizeAttrs::eps, "Lower bound of the sum of squares.",
      kRequired);
    v("axis", &L2NormalizeAttrs::axis, "The axes to sum over.", kRequired);
  }
};

}  // namespace baton::relay

namespace baton::relay::nn {

// The result is a tuple: the normalized data, the moving mean and the moving
// variance. For the data alone, use `TupleGetItem(nn::BatchNorm(...), 0)`.
Expr BatchNorm(Expr data, Expr gamma, Expr beta, Expr moving_mean,
               Expr moving_var, BatchNormAttrs attrs = {});
Expr InstanceNorm(Expr data, Expr gamma, Expr beta,
                  InstanceNormAttrs attrs = {});
Expr LayerNorm(Expr data, Expr gamma, Expr beta, LayerNormAttrs attrs = {});
Expr GroupNorm(Expr data, Expr gamma, Expr beta, GroupNormAttrs attrs);
Expr Lrn(Expr data, LRNAttrs attrs = {});
Expr L2Normalize(Expr data, double eps, std::vector<int64_t> axis);

}  // namespace baton::relay::nn

#endif  // BATON_RELAY_OP_NN_NORMALIZE_H_
