// The instructions that kernels of bytes use.

#ifndef BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_H_
#define BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_H_

namespace baton::kernels::blocked {

// kPlain: instructions that every processor has. kVnni: products of bytes
// (AVX-512 VNNI), and moves of bytes (AVX-512 BW). kAmx: these, and products of
// matrices of bytes (AMX), which IntMatmul() has; other kernels take it as
// kVnni. Each set has those before it.
enum class Int8Isa { kPlain, kAvx2, kVnni, kAmx };

// True if this process may use the instructions. For kAmx the first call
// requests the permission of Linux to have matrix tiles: the process, all its
// threads and its children keep it. From then on the stack of a signal must
// have room for tiles: sigaltstack() refuses smaller ones with ENOMEM, and so
// Linux refuses the permission if a thread has one. getauxval(AT_MINSIGSTKSZ)
// is the least size, some 12 KB.
bool IsSupported(Int8Isa isa);

// The last of the supported sets, but for kAmx: BestIntMatmulIsa() of
// int_matmul.h chooses that.
Int8Isa BestInt8Isa();

}  // namespace baton::kernels::blocked

#endif  // BATON_RUNTIME_KERNELS_BLOCKED_INT8_ISA_H_
