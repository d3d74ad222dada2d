// Divides a matrix product into items of work, and computes the size of the
// workspace that each call of its kernel needs.
//
// An item computes a slab, some blocks of columns of the result, in a band of
// rows. The rows of the first operand are transposed once for each band.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_MATMUL_PLAN_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_MATMUL_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/kernels/blocked/matmul.h"

namespace baton::kernels::blocked::internal {

// With at most kFewRows rows, at most kBlocksOfFewRows blocks are multiplied at
// a time.
constexpr int64_t kFewRows = 3;
constexpr int64_t kBlocksOfFewRows = 8;

struct MatmulPlan {
  MatmulParams params;     // With all strides.
  bool few_rows;           // There are at most kFewRows rows.
  int64_t blocks;          // Blocks of 16 columns.
  int64_t blocks_of_slab;  // Blocks that are multiplied at a time.
  int64_t slabs;
  int64_t rows;  // Rows of a band.
  int64_t bands;
  int64_t units;   // Blocks of 16 terms of a sum (sums.h).
  int64_t chunks;  // Chunks of a sum (sums.h), at least 1.
  bool in_double;  // Groups of chunks are added in double (sums.h).
  int64_t items;
  // Bytes of the workspace: the transposed band, sums of chunks, of groups.
  size_t copy_bytes;
  size_t sum_bytes;
  size_t double_bytes;
};

MatmulPlan MakeMatmulPlan(const MatmulParams& params);

}  // namespace baton::kernels::blocked::internal

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_MATMUL_PLAN_H_
