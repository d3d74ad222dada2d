// ThreadPool: threads that execute independent parts of a loop.

#ifndef BATON_TRANSFORM_INTERNAL_THREAD_POOL_H_
#define BATON_TRANSFORM_INTERNAL_THREAD_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

#include "absl/functional/function_ref.h"

namespace baton::internal {

// One pool for the process. Threads start on demand and live as long as the
// process. A submitted task may never start, since all threads may be busy or
// waiting: the submitter must be able to do all the work itself.
class ThreadPool {
 public:
  static ThreadPool& Shared();

  // The limit of the number of threads of one loop, including the caller's.
  static constexpr int kMaxThreads = 256;

  // Makes up to `helpers` other threads call `task` once each, possibly much
  // later; fewer if memory runs out.
  void Submit(int helpers, const std::function<void()>& task);

  // Calls `body(begin, end)` for ranges that together are [0, n), on up to
  // `num_threads` threads, and waits for all calls to return. If `body` throws,
  // starts no more calls, waits for those that have started, and rethrows.
  void ForEachPart(int n, int num_threads,
                   absl::FunctionRef<void(int begin, int end)> body);

  // For tests: makes InjectDelayForTest() delay threads at random, to exercise
  // other schedules. Each `seed` gives another sequence of delays; 0 turns them
  // off.
  void PerturbSchedule(uint64_t seed) {
    schedule_seed_.store(seed, std::memory_order_relaxed);
  }
  // Called at points where the order of threads matters.
  void InjectDelayForTest() {
    if (schedule_seed_.load(std::memory_order_relaxed) != 0) Delay();
  }

 private:
  void Work();
  void Delay();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  int num_threads_ = 0;

  std::atomic<uint64_t> schedule_seed_{0};
  std::atomic<uint64_t> num_delays_{0};
};

}  // namespace baton::internal

#endif  // BATON_TRANSFORM_INTERNAL_THREAD_POOL_H_
