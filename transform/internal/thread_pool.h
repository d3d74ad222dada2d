// Threads that help with work that is there in pieces.

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

// Shared by the whole process; its threads are started when first asked for
// and live as long as the process. Whoever asks for help must do all the work
// itself if none comes: helpers may all be busy, or waiting.
class ThreadPool {
 public:
  static ThreadPool& Shared();

  // The most threads that work on anything, the one that asks included.
  static constexpr int kMaxThreads = 256;

  // Has `task` called up to `helpers` times, on other threads, perhaps much
  // later. Without memory for that, fewer times.
  void Ask(int helpers, const std::function<void()>& task);

  // Calls `body(begin, end)` for parts that make up 0 to n, on up to
  // `num_threads` threads, which have the caller's limits (base/limits.h);
  // returns when all are done. If `body` throws, so does this, once the parts
  // that are under way are done.
  void ForEachPart(int n, int num_threads,
                   absl::FunctionRef<void(int begin, int end)> body);

  // For tests: where threads may overtake each other they do, now and then, in
  // another way for each `seed`; 0 for not at all.
  void Shuffle(uint64_t seed) {
    shuffle_seed_.store(seed, std::memory_order_relaxed);
  }
  // Such a place.
  void LetOthersPass() {
    if (shuffle_seed_.load(std::memory_order_relaxed) != 0) Dawdle();
  }

 private:
  void Work();
  void Dawdle();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> tasks_;
  int num_threads_ = 0;

  std::atomic<uint64_t> shuffle_seed_{0};
  std::atomic<uint64_t> num_dawdles_{0};
};

}  // namespace baton::internal

#endif  // BATON_TRANSFORM_INTERNAL_THREAD_POOL_H_
