// Loss functions.

#ifndef BATON_RELAY_OP_NN_LOSS_H_
#define BATON_RELAY_OP_NN_LOSS_H_

#include <string>

#include "baton/base/fields.h"

namespace baton::relay {

struct NLLLossAttrs {
  std::string reduction = "mean";
  int ignore_index = 0;

  static constexpr char kTypeKey[] = "relay.attrs.NLLLossAttrs";
  template <typename V>
  static void VisitFields(V& v) {
    v("reduction", &NLLLossAttrs::reduction, "mean, sum or none.");
    v("ignore_index", &NLLLossAttrs::ignore_index,
      "A target that does not count.", kRequired);
  }
};

}  // namespace baton::relay

#endif  // BATON_RELAY_OP_NN_LOSS_H_
