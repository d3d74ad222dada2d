// Vectors of 512 bits as two of 256.

#ifdef __x86_64__

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma")
// All functions with such parameters are inlined.
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#define BATON_ISA avx2_halves
#define BATON_VECTOR_BYTES 64
#define BATON_VECTOR_HALVES
#define BATON_HAS_FMA
#include "baton/runtime/kernels/blocked/internal/kernels.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif  // __x86_64__
