// The attributes of functions for one processor. Sources of libraries, which
// are compiled for one, define them in another way (kernel_texts.h).

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_INT8_TARGETS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_INT8_TARGETS_H_

#ifdef __x86_64__
#define BATON_AVX2 [[gnu::target("avx2")]]
#define BATON_AVX512 [[gnu::target("avx512f")]]
// Instructions of AMX are written by name.
#define BATON_AMX [[gnu::target("avx512f")]]
#endif

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_INT8_TARGETS_H_
