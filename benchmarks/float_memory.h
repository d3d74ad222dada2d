// Memory for the operands of kernels.

#ifndef BATON_BENCHMARKS_FLOAT_MEMORY_H_
#define BATON_BENCHMARKS_FLOAT_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace baton::benchmarks {

struct FreeFloats {
  void operator()(float* p) const { std::free(p); }
};
using FloatMemory = std::unique_ptr<float, FreeFloats>;

// At least `floats` numbers between -1 and 1, aligned to 64 bytes.
inline FloatMemory MakeFloats(int64_t floats) {
  FloatMemory memory(static_cast<float*>(std::aligned_alloc(
      64, static_cast<size_t>((floats + 15) / 16 * 64 + 64))));
  for (int64_t i = 0; i < floats; ++i) {
    memory.get()[i] = static_cast<float>(i * 7919 % 113 - 56) / 64;
  }
  return memory;
}

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_FLOAT_MEMORY_H_
