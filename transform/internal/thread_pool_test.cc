#include "baton/transform/internal/thread_pool.h"

#include <atomic>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace baton::internal {
namespace {

TEST(ThreadPoolTest, DoesEachPartOnce) {
  for (const uint64_t seed : {0, 1, 2}) {
    ThreadPool::Shared().PerturbSchedule(seed);
    for (const int threads : {1, 2, 16}) {
      for (const int n : {0, 1, 2, 17, 1000}) {
        std::vector<int> times(n);
        ThreadPool::Shared().ForEachPart(n, threads,
                                         [&times](int begin, int end) {
                                           EXPECT_LT(begin, end);
                                           for (int i = begin; i < end; ++i)
                                             ++times[i];
                                         });
        EXPECT_EQ(times, std::vector<int>(n, 1));
      }
    }
  }
  ThreadPool::Shared().PerturbSchedule(0);
}

TEST(ThreadPoolTest, NestedUseEnds) {
  std::atomic<int> count{0};
  ThreadPool::Shared().ForEachPart(20, 8, [&count](int begin, int end) {
    for (int i = begin; i < end; ++i) {
      ThreadPool::Shared().ForEachPart(
          50, 8, [&count](int first, int last) { count += last - first; });
    }
  });
  EXPECT_EQ(count, 20 * 50);
}

}  // namespace
}  // namespace baton::internal
