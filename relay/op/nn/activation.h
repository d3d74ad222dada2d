// Activations, and other element-wise or channel-wise operators on neural
// networks.

#ifndef BATON_RELAY_OP_NN_ACTIVATION_H_
#define BATON_RELAY_OP_NN_ACTIVATION_H_

#include "baton/base/fields.h"
#include "baton/relay/ir/expr.h"

namespace baton::relay {

// nn.bias_add
struct BiasAddAttrs {
  int axis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.BiasAddAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &BiasAddAttrs::axis, "The axis of the channels.");
  }
};

// nn.softmax, nn.fast_softmax, nn.log_softmax
struct SoftmaxAttrs {
  int axis = -1;

  static constexpr char kTypeKey[] = "relay.attrs.SoftmaxAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &SoftmaxAttrs::axis, "The axis to sum over.");
  }
};

struct LeakyReluAttrs {
  double alpha = 0.25;

  static constexpr char kTypeKey[] = "relay.attrs.LeakyReluAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("alpha", &LeakyReluAttrs::alpha, "Slope for negative values.");
  }
};

struct PReluAttrs {
  int axis = 1;

  static constexpr char kTypeKey[] = "relay.attrs.PReluAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("axis", &PReluAttrs::axis, "The axis of the channels.");
  }
};

struct DropoutAttrs {
  double rate = 0.5;

  static constexpr char kTypeKey[] = "relay.attrs.DropoutAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("rate", &DropoutAttrs::rate,
      "The probability with which an element is dropped.");
  }
};

}  // namespace baton::relay

namespace baton::relay::nn {

Expr BiasAdd(Expr data, Expr bias, int axis = 1);
Expr Relu(Expr data);
Expr LeakyRelu(Expr data, double alpha);
Expr PRelu(Expr data, Expr alpha, int axis = 1);
Expr Softmax(Expr data, int axis = -1);
Expr LogSoftmax(Expr data, int axis = -1);
// The result is `data`; in training, with elements dropped.
Expr Dropout(Expr data, double rate = 0.5);

}  // namespace baton::relay::nn

#endif  // BATON_RELAY_OP_NN_ACTIVATION_H_
