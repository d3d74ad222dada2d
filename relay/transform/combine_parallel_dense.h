// CombineParallelDense: combines matrix products of the same data into one.
//
// Into a batch, for weights of equal shape:
//
//   nn.dense(x, w1), nn.dense(x, w2)
//   becomes
//       let y = split(nn.batch_matmul(stack(x, x), stack(w1, w2)), 2);
//       squeeze(y.0, axis=[0]), squeeze(y.1, axis=[0])
//
// Into one product, for weights of any width:
//
//   nn.dense(x, w1), nn.dense(x, w2)
//   becomes
//       let y = nn.dense(x, concatenate((w1, w2)));
//       strided_slice(y, ...), strided_slice(y, ...)
//
// Element-wise operators that follow are combined as well; see
// combine_parallel.h.

#ifndef BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_DENSE_H_
#define BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_DENSE_H_

#include <cstdint>

#include "baton/relay/transform/combine_parallel.h"
#include "baton/transform/pass.h"

namespace baton::relay {

struct CombineParallelDenseOptions {
  int64_t min_num_branches = 3;
  bool to_batch = true;

  template <typename V>
  static void VisitFields(V& v) {
    v("min_num_branches", &CombineParallelDenseOptions::min_num_branches,
      "The least number of calls that are combined; at least two.");
    v("to_batch", &CombineParallelDenseOptions::to_batch,
      "Make one nn.batch_matmul; otherwise, one nn.dense.");
  }
};

// A function pass of optimization level 4, which requires InferType.
Pass CombineParallelDense(CombineParallelDenseOptions options = {});

}  // namespace baton::relay

#endif  // BATON_RELAY_TRANSFORM_COMBINE_PARALLEL_DENSE_H_
