// WorkerPool: a ParallelFor with threads of its own that sleep while idle.

#ifndef BATON_BASE_WORKER_POOL_H_
#define BATON_BASE_WORKER_POOL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "baton/base/parallel_for.h"

namespace baton {

// An idle thread spins for at most kSpinMicroseconds, then sleeps. Each thread
// has a share of a loop's parts: parts whose numbers follow each other, the
// same share of each loop of as many parts. It computes its own parts from the
// first on, then those of others from the last on. So does the caller of Run:
// it never waits for a thread that the system has not scheduled yet.
//
// The threads do not run on the processor of the caller of Run. A scheduler may
// consider the processors of a virtual machine busy while they sleep, and wake
// threads on the caller's processor, where they would wait for its loop to end.
// The threads may use all other processors that the thread which made the pool
// may use.
class WorkerPool final : public ParallelFor {
 public:
  // The time that a thread spins before it sleeps.
  static constexpr int kSpinMicroseconds = 20;

  // Starts `num_threads` - 1 threads; fewer if the system refuses more, or has
  // no memory for them.
  explicit WorkerPool(int num_threads);
  ~WorkerPool() override;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  int num_threads() const override {
    return static_cast<int>(workers_.size()) + 1;
  }
  void Run(int parts, Body body, void* context) override;

 private:
  class Processors;

  // The parts [first, last) of a thread that none has taken: `first` in the
  // upper half, `last` in the lower one. Has a cache line of its own.
  struct alignas(64) Share {
    std::atomic<uint64_t> parts{0};
  };

  void Work(int thread);
  // Lets the threads use all processors but `cpu`.
  void AvoidProcessor(int cpu);
  // Takes and computes parts until none is left.
  void Help(int thread);
  // Takes a part of `share`. Returns -1 if none is left.
  static int TakeFirst(Share& share);
  static int TakeLast(Share& share);

  std::atomic<uint32_t> loop_{0};  // changes with each loop
  alignas(64) std::atomic<int32_t> unfinished_{0};
  // Written before a part of the loop can be taken, read after one was.
  std::atomic<Body> body_{nullptr};
  std::atomic<void*> context_{nullptr};
  // The number of threads that the constructor was called with.
  const int num_shares_;
  const std::unique_ptr<Share[]> shares_;
  // Null for pools without threads.
  const std::unique_ptr<const Processors> processors_;
  std::vector<std::thread> workers_;
  int avoided_cpu_ = -1;  // by the threads; -1 for none
  int last_cpu_ = -1;     // of the caller, in the last loop
};

}  // namespace baton

#endif  // BATON_BASE_WORKER_POOL_H_
