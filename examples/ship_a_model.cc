// Runs a model that the build made a library: see docs/ship_a_model.md.

// [use]
#include <cstdio>

#include "examples/mlp.h"

int main() {
  alignas(64) static unsigned char arena[acme::Mlp::kArenaBytes];
  acme::Mlp model(arena);
  float features[64] = {1, 2, 3};
  float probabilities[10];
  model.Run({features}, {probabilities});
  for (const float p : probabilities) std::printf("%.3f\n", p);
  return 0;
}
// [/use]
