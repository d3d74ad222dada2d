// qnn.Legalize: converts operators on quantized tensors to a form that suits a
// target, before qnn.CanonicalizeOps lowers them.
//
//   qnn.exp, qnn.tanh ...   a look-up in a table of all elements
//   qnn.conv2d_transpose    nn.conv2d_transpose of 16-bit integers

#ifndef BATON_RELAY_TRANSFORM_QNN_LEGALIZE_H_
#define BATON_RELAY_TRANSFORM_QNN_LEGALIZE_H_

#include <string>

#include "baton/transform/pass.h"

namespace baton::relay {

struct QnnLegalizeOptions {
  std::string target;

  template <typename V>
  static void VisitFields(V& v) {
    v("target", &QnnLegalizeOptions::target,
      "The kind of target whose rules come first; empty for that of the "
      "context.");
  }
};

// A function pass of level 1, which requires InferType: Legalize with the rules
// of kind FTVMQnnLegalize.
Pass QnnLegalize(QnnLegalizeOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_QNN_LEGALIZE_H_
