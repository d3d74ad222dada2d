#include "baton/base/worker_pool.h"

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace baton {
namespace {

struct Counts {
  explicit Counts(int parts) : calls(static_cast<size_t>(parts)) {}
  std::vector<std::atomic<int>> calls;
  std::vector<std::atomic<int>> running = std::vector<std::atomic<int>>(64);
  std::atomic<bool> shared = false;

  static void Body(void* context, int part, int thread) {
    auto& counts = *static_cast<Counts*>(context);
    if (counts.running[static_cast<size_t>(thread)]++ != 0) {
      counts.shared = true;
    }
    counts.calls[static_cast<size_t>(part)]++;
    counts.running[static_cast<size_t>(thread)]--;
  }
};

TEST(WorkerPoolTest, EachPartRunsOnce) {
  for (const int threads : {1, 2, 3, 16}) {
    WorkerPool pool(threads);
    EXPECT_EQ(pool.num_threads(), threads);
    for (int loop = 0; loop < 300; ++loop) {
      const int parts = loop % 40;
      Counts counts(parts);
      pool.Run(parts, Counts::Body, &counts);
      for (const std::atomic<int>& calls : counts.calls) {
        ASSERT_EQ(calls.load(), 1);
      }
      EXPECT_FALSE(counts.shared);
    }
  }
}

TEST(WorkerPoolTest, IdleThreadsSleep) {
  WorkerPool pool(4);
  Counts counts(4);
  pool.Run(4, Counts::Body, &counts);
  const auto cpu_ms = [] {
    return static_cast<double>(std::clock()) * 1e3 / CLOCKS_PER_SEC;
  };
  const double before = cpu_ms();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  // Spinning threads would have taken all of it.
  EXPECT_LT(cpu_ms() - before, 100);
  // And they wake again.
  Counts more(100);
  pool.Run(100, Counts::Body, &more);
  for (const std::atomic<int>& calls : more.calls) EXPECT_EQ(calls.load(), 1);
}

TEST(WorkerPoolTest, AnEmptyLoopReturns) {
  WorkerPool pool(2);
  pool.Run(0, Counts::Body, nullptr);
}

}  // namespace
}  // namespace baton
