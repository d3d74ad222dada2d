#include "baton/base/worker_pool.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
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

// A loop sees what the loop before it has written, and so does the caller: plain
// memory, for which nothing but the pool orders the threads.
TEST(WorkerPoolTest, LoopsSeeWhatOthersWrote) {
  constexpr int kParts = 61;
  struct Buffers {
    std::vector<int64_t> from = std::vector<int64_t>(kParts);
    std::vector<int64_t> to = std::vector<int64_t>(kParts);
    static void Body(void* context, int part, int /*thread*/) {
      auto& buffers = *static_cast<Buffers*>(context);
      // Another thread's part, mostly.
      buffers.to[static_cast<size_t>(part)] =
          buffers.from[static_cast<size_t>(part * 7 % kParts)] + part;
    }
  };
  Buffers buffers;
  std::vector<int64_t> want(kParts);
  WorkerPool pool(4);
  for (int loop = 0; loop < 2000; ++loop) {
    // Some loops find threads that spin, others threads that sleep.
    if (loop % 50 == 0) {
      std::this_thread::sleep_for(
          std::chrono::microseconds(4 * WorkerPool::kSpinMicroseconds));
    }
    pool.Run(kParts, Buffers::Body, &buffers);
    std::vector<int64_t> next(kParts);
    for (int part = 0; part < kParts; ++part) {
      next[static_cast<size_t>(part)] =
          want[static_cast<size_t>(part * 7 % kParts)] + part;
    }
    want = next;
    ASSERT_EQ(buffers.to, want) << loop;
    buffers.from.swap(buffers.to);
  }
}

// Threads end wherever they are: before their first loop, in their spins, or
// asleep.
TEST(WorkerPoolTest, PoolsEnd) {
  for (int i = 0; i < 300; ++i) {
    WorkerPool pool(3);
    if (i % 3 != 0) {
      Counts counts(9);
      pool.Run(9, Counts::Body, &counts);
      for (const std::atomic<int>& calls : counts.calls) {
        ASSERT_EQ(calls.load(), 1);
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(
        i % 6 == 5 ? 10 * WorkerPool::kSpinMicroseconds : i % 30));
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
  // The threads wake again.
  Counts more(100);
  pool.Run(100, Counts::Body, &more);
  for (const std::atomic<int>& calls : more.calls) EXPECT_EQ(calls.load(), 1);
}

// Lets this thread run on processor `cpu` alone.
void StayOn(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

// The processors that the threads of a pool may use while they compute parts.
struct Places {
  std::vector<std::atomic<bool>> used =
      std::vector<std::atomic<bool>>(CPU_SETSIZE);

  static void Body(void* context, int /*part*/, int thread) {
    if (thread == 0) return;
    cpu_set_t mine;
    if (sched_getaffinity(0, sizeof(mine), &mine) != 0) return;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &mine)) {
        static_cast<Places*>(context)->used[cpu] = true;
      }
    }
  }
};

TEST(WorkerPoolTest, ThreadsKeepOffTheProcessorOfTheCaller) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof(all), &all) != 0 || CPU_COUNT(&all) < 2) {
    GTEST_SKIP() << "there is one processor";
  }
  WorkerPool pool(3);
  int tried = 0;
  for (int cpu = 0; cpu < CPU_SETSIZE && tried < 3; ++cpu) {
    if (!CPU_ISSET(static_cast<size_t>(cpu), &all)) continue;
    ++tried;
    StayOn(cpu);
    Counts counts(50);
    pool.Run(50, Counts::Body, &counts);
    Places places;
    for (int loop = 0; loop < 200; ++loop) pool.Run(500, Places::Body, &places);
    EXPECT_FALSE(places.used[static_cast<size_t>(cpu)]) << cpu;
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

TEST(WorkerPoolTest, AnEmptyLoopReturns) {
  WorkerPool pool(2);
  pool.Run(0, Counts::Body, nullptr);
}

}  // namespace
}  // namespace baton
