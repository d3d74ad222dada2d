// SplitArgs: splits concatenations of many tensors.

#ifndef BATON_RELAY_TRANSFORM_SPLIT_ARGS_H_
#define BATON_RELAY_TRANSFORM_SPLIT_ARGS_H_

#include <cstdint>

#include "baton/base/fields.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct SplitArgsOptions {
  int64_t max_function_args = 0;

  template <typename V>
  static void VisitFields(V& v) {
    v("max_function_args", &SplitArgsOptions::max_function_args,
      "The most arguments and results that a function may have; 0 for no "
      "limit.");
  }
};

// A concatenation of more tensors than a function of the target can take
// becomes a chain of concatenations, which are not fused. A tensor with unknown
// extents counts as several arguments: its unknown extents and its strides
// count as well. An error if the result alone exceeds the limit.
//
// A function pass of level 1, which requires InferType.
Pass SplitArgs(SplitArgsOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_SPLIT_ARGS_H_
