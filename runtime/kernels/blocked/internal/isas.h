// The kernels of each Width of kernels.h: plain128 of kPlain128, fma128 of
// k128, avx2 of k256, avx2_halves of kHalves512, avx512 of k512.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_ISAS_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_ISAS_H_

#include "baton/runtime/kernels/blocked/kernels.h"

namespace baton::kernels::blocked {

namespace plain128 {
extern const Kernels kKernels;
}
namespace fma128 {
extern const Kernels kKernels;
}
namespace avx2 {
extern const Kernels kKernels;
}
namespace avx2_halves {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INTERNAL_ISAS_H_
