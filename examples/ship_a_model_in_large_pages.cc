// Runs a model whose weights are in large pages: see docs/ship_a_model.md.

// [use]
#include <sys/mman.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "examples/mlp.h"

int main() {
  constexpr std::size_t kPage = std::size_t{2} << 20;
  constexpr std::size_t kBytes =
      (acme::Mlp::kCopyBytes + kPage - 1) / kPage * kPage;
  void* memory = std::aligned_alloc(kPage, kBytes);
  if (memory == nullptr) return 1;
  madvise(memory, kBytes, MADV_HUGEPAGE);
  alignas(64) static unsigned char arena[acme::Mlp::kArenaBytes];
  acme::Mlp model(arena, acme::Mlp::CopyWeights(memory));
  float features[64] = {1, 2, 3};
  float probabilities[10];
  model.Run({features}, {probabilities});
  for (const float p : probabilities) std::printf("%.3f\n", p);
  std::free(memory);
  return 0;
}
// [/use]
