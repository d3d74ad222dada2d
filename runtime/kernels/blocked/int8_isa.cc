#include "baton/runtime/kernels/blocked/int8_isa.h"

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace baton::kernels::blocked {
namespace {

#ifdef __x86_64__

bool HasVnni() {
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vnni");
}

#ifdef __linux__

// Linux gives threads memory for matrix tiles only if their process requests
// it.
bool MayUseAmx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  // AMX-TILE and AMX-INT8.
  constexpr unsigned kAmxBits = 1u << 24 | 1u << 25;
  if ((d & kAmxBits) != kAmxBits) return false;
  // ARCH_REQ_XCOMP_PERM of asm/prctl.h, which older systems lack, and the
  // number of the state of tiles.
  constexpr int kRequestPermission = 0x1023;
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

#else

bool MayUseAmx() { return false; }

#endif  // __linux__

#endif  // __x86_64__

}  // namespace

bool IsSupported(Int8Isa isa) {
#ifdef __x86_64__
  switch (isa) {
    case Int8Isa::kPlain:
      return true;
    case Int8Isa::kAvx2:
      return __builtin_cpu_supports("avx2");
    case Int8Isa::kVnni:
      return HasVnni();
    case Int8Isa::kAmx: {
      static const bool answer = HasVnni() && MayUseAmx();
      return answer;
    }
  }
  return false;
#else
  return isa == Int8Isa::kPlain;
#endif
}

Int8Isa BestInt8Isa() {
  if (IsSupported(Int8Isa::kVnni)) return Int8Isa::kVnni;
  return IsSupported(Int8Isa::kAvx2) ? Int8Isa::kAvx2 : Int8Isa::kPlain;
}

}  // namespace baton::kernels::blocked
