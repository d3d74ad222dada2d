// The example of docs/write_a_pass.md: RemoveRedundantRelu.

#ifndef BATON_EXAMPLES_WRITE_A_PASS_H_
#define BATON_EXAMPLES_WRITE_A_PASS_H_

#include <string>
#include <vector>

#include "baton/transform/pass.h"

namespace baton::examples {

// [declaration]
struct RemoveRedundantReluOptions {
  std::vector<std::string> non_negative = {"nn.relu", "sigmoid", "exp"};

  template <typename V>
  static void VisitFields(V& v) {
    v("non_negative", &RemoveRedundantReluOptions::non_negative,
      "Operators whose results are never negative.");
  }
};

// nn.relu(f(x)) becomes f(x) where the results of f are never negative.
Pass RemoveRedundantRelu(RemoveRedundantReluOptions options = {});
// [/declaration]

}  // namespace baton::examples

#endif  // BATON_EXAMPLES_WRITE_A_PASS_H_
