// The instructions that kernels of bytes use.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_H_

namespace baton::kernels::blocked {

// kPlain: instructions that every processor has. kVnni: products of bytes
// (AVX-512 VNNI), and moves of bytes (AVX-512 BW).
enum class Int8Isa { kPlain, kAvx2, kVnni };

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_H_
