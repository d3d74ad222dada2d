#include "baton/base/worker_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// Waits until `is_over(value)`: spins, then sleeps. Whoever makes that true
// must notify, after a sequentially consistent store: what notifies makes no
// system call unless it reads that a thread waits, and a processor may move
// that read before a weaker store.
template <typename T, typename IsOver>
T WaitUntil(const std::atomic<T>& value, const IsOver& is_over) {
  T now = value.load(std::memory_order_acquire);
  if (is_over(now)) return now;
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::microseconds(WorkerPool::kSpinMicroseconds);
  do {
    for (int i = 0; i < 32; ++i) {
      Pause();
      now = value.load(std::memory_order_acquire);
      if (is_over(now)) return now;
    }
  } while (std::chrono::steady_clock::now() < end);
  while (!is_over(now)) {
    value.wait(now, std::memory_order_acquire);
    now = value.load(std::memory_order_acquire);
  }
  return now;
}

uint64_t Packed(uint64_t first, uint64_t last) { return first << 32 | last; }
uint64_t FirstOf(uint64_t parts) { return parts >> 32; }
uint64_t LastOf(uint64_t parts) { return parts & ~uint32_t{0}; }

}  // namespace

// The processors that the thread that makes an object may use.
class WorkerPool::Processors {
 public:
  Processors() {
    // Fails where there are more of them than a cpu_set_t holds.
    if (sched_getaffinity(0, sizeof(all_), &all_) != 0) CPU_ZERO(&all_);
  }

  // Lets `thread` use all of them but `cpu`, or all of them if `cpu` is -1.
  void LetUse(std::thread& thread, int cpu) const {
    cpu_set_t others = all_;
    if (cpu >= 0) CPU_CLR(static_cast<size_t>(cpu), &others);
    if (CPU_COUNT(&others) == 0) return;
    // An error leaves the thread where it is.
    pthread_setaffinity_np(thread.native_handle(), sizeof(others), &others);
  }

 private:
  cpu_set_t all_;
};

WorkerPool::WorkerPool(int num_threads)
    : num_shares_(std::max(num_threads, 1)),
      shares_(std::make_unique<Share[]>(static_cast<size_t>(num_shares_))),
      processors_(num_threads > 1 ? std::make_unique<const Processors>()
                                  : nullptr) {
  workers_.reserve(static_cast<size_t>(num_shares_ - 1));
  // Nothing throws while there are threads. Those that there are do the work.
  for (int i = 1; i < num_shares_; ++i) {
    try {
      workers_.emplace_back([this, i] { Work(i); });
    } catch (const std::system_error&) {
      break;
    } catch (const std::bad_alloc&) {
      break;
    }
  }
  if (!workers_.empty()) AvoidProcessor(sched_getcpu());
}

WorkerPool::~WorkerPool() {
  loop_.store(kStop, std::memory_order_seq_cst);
  loop_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void WorkerPool::Run(int parts, Body body, void* context) {
  if (parts <= 0) return;
  if (parts == 1 || workers_.empty()) {
    for (int part = 0; part < parts; ++part) body(context, part, 0);
    return;
  }
  // The threads move only after the caller has stayed on its processor for two
  // loops: moving them takes a system call for each.
  const int cpu = sched_getcpu();
  if (cpu != avoided_cpu_ && cpu == last_cpu_) AvoidProcessor(cpu);
  last_cpu_ = cpu;
  // No part can be taken, so no thread reads these.
  body_.store(body, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  unfinished_.store(parts, std::memory_order_relaxed);
  const uint64_t threads = static_cast<uint64_t>(num_threads());
  const uint64_t all = static_cast<uint64_t>(parts);
  for (uint64_t i = 0; i < threads; ++i) {
    shares_[i].parts.store(Packed(all * i / threads, all * (i + 1) / threads),
                           std::memory_order_release);
  }
  uint32_t loop = loop_.load(std::memory_order_relaxed) + 1;
  if (loop == kStop) loop = 0;
  loop_.store(loop, std::memory_order_seq_cst);
  loop_.notify_all();
  Help(0);
  WaitUntil(unfinished_, [](int32_t left) { return left == 0; });
}

void WorkerPool::AvoidProcessor(int cpu) {
  avoided_cpu_ = cpu;
  for (std::thread& worker : workers_) processors_->LetUse(worker, cpu);
}

int WorkerPool::TakeFirst(Share& share) {
  uint64_t parts = share.parts.load(std::memory_order_relaxed);
  while (FirstOf(parts) < LastOf(parts)) {
    if (share.parts.compare_exchange_weak(
            parts, Packed(FirstOf(parts) + 1, LastOf(parts)),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      return static_cast<int>(FirstOf(parts));
    }
  }
  return -1;
}

int WorkerPool::TakeLast(Share& share) {
  uint64_t parts = share.parts.load(std::memory_order_relaxed);
  while (FirstOf(parts) < LastOf(parts)) {
    if (share.parts.compare_exchange_weak(
            parts, Packed(FirstOf(parts), LastOf(parts) - 1),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      return static_cast<int>(LastOf(parts)) - 1;
    }
  }
  return -1;
}

void WorkerPool::Help(int thread) {
  // A loop ends after the parts that a thread has taken are counted below: all
  // that it takes here are of one loop.
  int32_t computed = 0;
  const auto compute = [&](int part) {
    body_.load(std::memory_order_relaxed)(
        context_.load(std::memory_order_relaxed), part, thread);
    ++computed;
  };
  for (int i = 0; i < num_shares_; ++i) {
    Share& share = shares_[static_cast<size_t>((thread + i) % num_shares_)];
    for (int part; (part = i == 0 ? TakeFirst(share) : TakeLast(share)) >= 0;) {
      compute(part);
    }
  }
  if (computed == 0) return;
  if (unfinished_.fetch_sub(computed, std::memory_order_seq_cst) == computed) {
    unfinished_.notify_one();
  }
}

void WorkerPool::Work(int thread) {
  uint32_t seen = 0;
  while (true) {
    seen = WaitUntil(loop_, [seen](uint32_t loop) { return loop != seen; });
    if (seen == kStop) return;
    Help(thread);
  }
}

}  // namespace baton
