// Products of matrices of integers with constant ones that fit into 8 or 16
// bits, summed in 32 bits.
//
// Sums wrap, so that their order does not matter and all instruction sets give
// the same bytes. Functions here neither allocate nor check their arguments.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INT_MATMUL_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INT_MATMUL_H_

#include <cstddef>
#include <cstdint>

#include "baton/runtime/kernels/blocked/int8_isa.h"

namespace baton::kernels::blocked {

// [m, k] times [k, n].
struct IntMatmulParams {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  // The type of the first matrix. Rows of int32 are fast if all their elements
  // fit into 16 bits; or, with weights of 8 bits, if no two elements of a row
  // differ by more than 255.
  enum class Type { kInt32, kUint8, kInt8 } type = Type::kInt32;
  bool has_byte_weights = false;  // they fit into int8
};

// The last of the supported sets that has instructions for the product.
Int8Isa BestIntMatmulIsa(const IntMatmulParams& params);

// The bytes of packed weights, which are aligned to 64.
int64_t PackedIntMatmulSize(const IntMatmulParams& params);

// Packs `weights`, [n, k] if they are transposed, else [k, n]. T is int8_t,
// uint8_t or int32_t.
template <typename T>
void PackIntMatmul(const IntMatmulParams& params, const T* weights,
                   bool transposed, void* packed);

// The number of items of work, and the bytes of workspace, aligned to 64, that
// each call of IntMatmul() needs.
int64_t IntMatmulItems(const IntMatmulParams& params);
size_t IntMatmulWorkspaceSize(const IntMatmulParams& params);

// Computes the items [begin, end) of the product. `resumes` says that the
// workspace is as the last call left it, which had the same parameters and x.
void IntMatmul(const IntMatmulParams& params, Int8Isa isa, const void* x,
               const void* packed, int32_t* y, void* workspace, bool resumes,
               int64_t begin, int64_t end);

// How a sum becomes a float: `offset` is added, which wraps; the sum is
// converted, multiplied by `scale`, and added to `bias`, each rounded to the
// nearest float. Offsets and biases are n, one for each column, or null for
// none. The sum is of the elements of the first matrix less `zero`, one number,
// if it is not null.
struct IntMatmulScales {
  const int32_t* zero = nullptr;
  const int32_t* offset = nullptr;
  const float* scale = nullptr;
  bool has_scale_of_column = false;  // n scales, not one for all
  const float* bias = nullptr;
};

// As IntMatmul(), with floats as results.
void IntMatmulToFloats(const IntMatmulParams& params, Int8Isa isa,
                       const void* x, const void* packed,
                       const IntMatmulScales& scales, float* y, void* workspace,
                       bool resumes, int64_t begin, int64_t end);

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INT_MATMUL_H_
