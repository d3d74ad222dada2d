#include "baton/transform/internal/thread_pool.h"

#include <algorithm>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace baton::internal {

ThreadPool& ThreadPool::Shared() {
  static auto* const pool = new ThreadPool;
  return *pool;
}

void ThreadPool::Ask(int helpers, const std::function<void()>& task) {
  helpers = std::min(helpers, kMaxThreads - 1);
  const std::lock_guard<std::mutex> lock(mutex_);
  while (num_threads_ < helpers) {
    try {
      std::thread([this] { Work(); }).detach();
    } catch (const std::system_error&) {
      break;  // Those that there are must do.
    }
    ++num_threads_;
  }
  for (int i = 0; i < std::min(helpers, num_threads_); ++i) {
    tasks_.push_back(task);
  }
  wake_.notify_all();
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
    task();
  }
}

}  // namespace baton::internal
