#include "baton/base/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <system_error>
#include <thread>

namespace baton {
namespace {

// The loop number that ends the threads.
constexpr uint32_t kStop = ~uint32_t{0};

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits until `value` differs from `old`: spins, then sleeps.
template <typename T>
T WaitForChange(const std::atomic<T>& value, T old) {
  T now = value.load(std::memory_order_acquire);
  if (now != old) return now;
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(WorkerPool::kSpinMicroseconds);
  do {
    for (int i = 0; i < 32; ++i) {
      Pause();
      now = value.load(std::memory_order_acquire);
      if (now != old) return now;
    }
  } while (std::chrono::steady_clock::now() < end);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

}  // namespace

WorkerPool::WorkerPool(int num_threads) {
  num_threads = std::max(num_threads, 1);
  workers_.reserve(static_cast<size_t>(num_threads - 1));
  for (int i = 1; i < num_threads; ++i) {
    try {
      workers_.emplace_back([this, i] { Work(i); });
    } catch (const std::system_error&) {
      break;  // The threads that there are do the work.
    }
  }
}

WorkerPool::~WorkerPool() {
  loop_.store(kStop, std::memory_order_release);
  loop_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::Run(int parts, Body body, void* context) {
  if (parts <= 0) return;
  if (parts == 1 || workers_.empty()) {
    for (int part = 0; part < parts; ++part) body(context, part, 0);
    return;
  }
  uint32_t loop = loop_.load(std::memory_order_relaxed) + 1;
  if (loop == kStop) loop = 0;
  body_.store(body, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  unfinished_.store(parts, std::memory_order_relaxed);
  open_.store(uint64_t{loop} << 32 | static_cast<uint32_t>(parts),
              std::memory_order_release);
  loop_.store(loop, std::memory_order_release);
  loop_.notify_all();
  Help(loop, 0);
  for (int32_t left = unfinished_.load(std::memory_order_acquire); left != 0;) {
    left = WaitForChange(unfinished_, left);
  }
}

void WorkerPool::Help(uint32_t loop, int thread) {
  uint64_t open = open_.load(std::memory_order_acquire);
  while (static_cast<uint32_t>(open >> 32) == loop &&
         static_cast<uint32_t>(open) != 0) {
    if (!open_.compare_exchange_weak(open, open - 1, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      continue;
    }
    // The loop cannot end before this part does.
    const Body body = body_.load(std::memory_order_relaxed);
    body(context_.load(std::memory_order_relaxed),
         static_cast<int>(static_cast<uint32_t>(open)) - 1, thread);
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      unfinished_.notify_one();
    }
    open = open_.load(std::memory_order_acquire);
  }
}

void WorkerPool::Work(int thread) {
  uint32_t seen = 0;
  while (true) {
    seen = WaitForChange(loop_, seen);
    if (seen == kStop) return;
    Help(seen, thread);
  }
}

}  // namespace baton
