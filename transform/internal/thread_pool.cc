#include "baton/transform/internal/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/functional/function_ref.h"

namespace baton::internal {

ThreadPool& ThreadPool::Shared() {
  static auto* const pool = new ThreadPool;
  return *pool;
}

void ThreadPool::Submit(int helpers, const std::function<void()>& task) {
  helpers = std::min(helpers, kMaxThreads - 1);
  const std::lock_guard<std::mutex> lock(mutex_);
  while (num_threads_ < helpers) {
    try {
      std::thread([this] { Work(); }).detach();
    } catch (const std::system_error&) {
      break;  // Go on with the threads that there are.
    }
    ++num_threads_;
  }
  try {
    for (int i = 0; i < std::min(helpers, num_threads_); ++i) {
      tasks_.push_back(task);
    }
  } catch (const std::bad_alloc&) {
    // Do not throw: threads that have the task already must find the caller
    // alive.
  }
  wake_.notify_all();
}

void ThreadPool::ForEachPart(int n, int num_threads,
                             absl::FunctionRef<void(int begin, int end)> body) {
  struct Loop {
    // Late helpers, which find no range left, must not use `body`: the caller
    // may have returned.
    const absl::FunctionRef<void(int begin, int end)> body;
    const int n;
    const int part;
    std::mutex mutex;
    std::condition_variable done;
    int next = 0;
    int num_active = 0;
    std::exception_ptr error;  // the first one

    void Help() {
      std::unique_lock<std::mutex> lock(mutex);
      ++num_active;
      while (next < n) {
        const int begin = next;
        next = std::min(begin + part, n);
        const int end = next;
        lock.unlock();
        Shared().InjectDelayForTest();
        std::exception_ptr thrown;
        try {
          body(begin, end);
        } catch (...) {
          thrown = std::current_exception();
        }
        lock.lock();
        if (thrown != nullptr) {
          if (error == nullptr) error = std::move(thrown);
          next = n;
        }
      }
      if (--num_active == 0) done.notify_all();
    }
  };
  const int part = std::max(n / (num_threads * 8), 1);
  const std::shared_ptr<Loop> loop(
      new Loop{.body = body, .n = n, .part = part});
  Submit(std::min(num_threads, (n + part - 1) / part) - 1,
         [loop] { loop->Help(); });
  loop->Help();
  std::unique_lock<std::mutex> lock(loop->mutex);
  loop->done.wait(lock, [&loop] { return loop->num_active == 0; });
  if (loop->error != nullptr) std::rethrow_exception(loop->error);
}

void ThreadPool::Work() {
  while (true) {
    std::function<void()> task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [this] { return !tasks_.empty(); });
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    InjectDelayForTest();
    task();
  }
}

void ThreadPool::Delay() {
  const uint64_t seed = schedule_seed_.load(std::memory_order_relaxed);
  const uint64_t n = num_delays_.fetch_add(1, std::memory_order_relaxed);
  // The mixing function of splitmix64 (Steele, Lea and Flood, 2014).
  uint64_t x = (seed << 32) + n * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  x ^= x >> 31;
  switch (x % 8) {
    case 0:
      std::this_thread::sleep_for(std::chrono::microseconds(x / 8 % 200));
      break;
    case 1:
    case 2:
      for (uint64_t i = x / 8 % 4; i > 0; --i) std::this_thread::yield();
      break;
    default:
      break;
  }
}

}  // namespace baton::internal
