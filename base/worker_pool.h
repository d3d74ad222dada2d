// WorkerPool: a ParallelFor with threads of its own that sleep while idle.

#ifndef BATON_BASE_WORKER_POOL_H_
#define BATON_BASE_WORKER_POOL_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "baton/base/parallel_for.h"

namespace baton {

// An idle thread spins for at most kSpinMicroseconds, then sleeps. The caller
// of Run takes parts, too: it takes all parts that no thread has taken, so it
// never waits for a thread that the system has not scheduled yet.
class WorkerPool final : public ParallelFor {
 public:
  // The time that a thread spins before it sleeps.
  static constexpr int kSpinMicroseconds = 20;

  // Starts `num_threads` - 1 threads; fewer if the system refuses more.
  explicit WorkerPool(int num_threads);
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int num_threads() const override {
    return static_cast<int>(workers_.size()) + 1;
  }
  // `parts` is at most kMaxParts.
  void Run(int parts, Body body, void* context) override;

  static constexpr int kMaxParts = 1 << 16;

 private:
  void Work(int thread);
  // Takes and computes parts of the loop `loop` until none is left.
  void Help(uint32_t loop, int thread);

  // The number of the current loop in the upper half, and in the lower one the
  // number of its parts that no thread has taken.
  std::atomic<uint64_t> open_{0};
  std::atomic<uint32_t> loop_{0};  // changes with each loop; 0 ends the threads
  std::atomic<int32_t> unfinished_{0};
  // Written before a part of the loop can be taken, read after one was.
  std::atomic<Body> body_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::vector<std::thread> workers_;
};

}  // namespace baton

#endif  // BATON_BASE_WORKER_POOL_H_
