#ifdef __x86_64__

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), \
                             apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

#define BATON_ISA fma128
#define BATON_VECTOR_BYTES 16
#define BATON_HAS_FMA
#include "baton/runtime/kernels/blocked/internal/kernels.inc"

#ifdef __clang__
#pragma clang attribute pop
#endif

#endif  // __x86_64__
