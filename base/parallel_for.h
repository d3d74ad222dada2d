// ParallelFor: the interface through which a computation uses several threads,
// which the caller of the computation provides.

#ifndef BATON_BASE_PARALLEL_FOR_H_
#define BATON_BASE_PARALLEL_FOR_H_

namespace baton {

// An implementation runs the parts of a loop on threads that it owns. Neither
// function allocates memory. An implementation serves one loop at a time.
class ParallelFor {
 public:
  // Computes part `part` on thread `thread`, 0 <= thread < num_threads(). No
  // two calls with one `thread` run at the same time.
  using Body = void (*)(void* context, int part, int thread);

  virtual ~ParallelFor() = default;

  // The number of threads, including the caller's; at least 1.
  virtual int num_threads() const = 0;

  // Calls `body(context, part, thread)` once for each part in [0, parts), and
  // returns after all calls have returned. `body` must not throw.
  virtual void Run(int parts, Body body, void* context) = 0;
};

}  // namespace baton

#endif  // BATON_BASE_PARALLEL_FOR_H_
