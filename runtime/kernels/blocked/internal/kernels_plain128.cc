#define BATON_ISA plain128
#define BATON_VECTOR_BYTES 16
#ifdef __ARM_FEATURE_FMA
#define BATON_HAS_FMA
#endif
#include "baton/runtime/kernels/blocked/internal/kernels.inc"
