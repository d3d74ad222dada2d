#include "baton/relay/transform/batching_ops.h"

#include "baton/relay/transform/combine_parallel_batch_matmul.h"
#include "baton/relay/transform/combine_parallel_conv2d.h"
#include "baton/relay/transform/combine_parallel_dense.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_registry.h"
#include "baton/transform/sequential.h"

namespace baton::relay {

Pass BatchingOps() {
  return CreateSequentialPass(
      {CombineParallelConv2d(), CombineParallelDense(),
       CombineParallelBatchMatmul()},
      {.name = "BatchingOps",
       .doc = "Combines parallel convolutions and matrix products.",
       .invalidates = {"a_normal_form", "basic_block_normal_form"},
       .exact = false});
}
BATON_REGISTER_PASS(BatchingOps);

}  // namespace baton::relay
