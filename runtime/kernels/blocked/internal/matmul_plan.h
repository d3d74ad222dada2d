// How a matrix product is cut into items and what a caller of its kernel lends.
//
// An item is a slab of some blocks of columns in a band of rows, of which the
// first operand is transposed once.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_MATMUL_PLAN_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_MATMUL_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/kernels/blocked/matmul.h"

namespace baton::kernels::blocked::internal {

// With so few rows, more blocks are multiplied at a time.
constexpr int64_t kFewRows = 3;
constexpr int64_t kBlocksOfFewRows = 8;

struct MatmulPlan {
  MatmulParams params;  // With all strides.
  bool few_rows;
  int64_t blocks;
  int64_t blocks_of_slab;
  int64_t slabs;
  int64_t rows;  // A band's.
  int64_t bands;
  int64_t units;
  int64_t chunks;
  bool in_double;
  int64_t items;
  // Bytes of the workspace: the transposed band, sums of chunks, of groups.
  size_t copy_bytes;
  size_t sum_bytes;
  size_t double_bytes;
};

MatmulPlan MakeMatmulPlan(const MatmulParams& params);

}  // namespace baton::kernels::blocked::internal

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_MATMUL_PLAN_H_
