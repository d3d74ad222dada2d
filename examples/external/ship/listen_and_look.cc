// Two models, which the build made libraries, in one program.

#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "ship/classifier.h"
#include "ship/recurrent.h"

// Each part of a step in a thread of its own; a real program has a pool of
// kThreads.
constexpr int kThreads = 2;
static void InThreads(void*, int n, void (*body)(void*, int), void* body_ctx) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(body, body_ctx, i);
  for (std::thread& thread : threads) thread.join();
}

int main() {
  // The memory is the caller's; the recurrent model keeps its state in it.
  alignas(64) static unsigned char arenas[2][acme::Classifier::kArenaBytes];
  alignas(64) static unsigned char memory[acme::Recurrent::kArenaBytes];
  acme::Recurrent recurrent(memory);
  const float sound[16] = {0.5f, -1, 2};
  float heard[1];
  for (int i = 0; i < 3; ++i) {
    recurrent.Run({sound}, {heard});
    std::printf("heard %.6f\n", heard[0]);
  }
  acme::Classifier one(arenas[0]), other(arenas[1]);
  static float image[3 * 32 * 32];
  for (float& x : image) x = static_cast<float>(&x - image) / 4096;
  float scores[10], same[10];
  one.Run({image}, {scores});
  other.Run({image}, {same}, InThreads, nullptr, kThreads);
  std::printf("seen %.6f, %s\n", scores[3],
              std::memcmp(scores, same, sizeof(scores)) == 0
                  ? "by threads, too"
                  : "but not by threads");
}
