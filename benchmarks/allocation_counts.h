// Counts the memory allocations of a piece of code.
//
//   AllocationCounts counts = CountAllocations([&] { result = pass(module); });
//
// Counts calls of operator new and delete, which this library replaces in the
// program that links it. The elements of tensors are not counted. Nodes come
// from free lists (ir/node_memory.h), which take memory in large pieces: a
// piece is counted when a free list takes it; see EmptyNodeMemory. A build with
// `--copt=-DBATON_POOLS_NODES=0` counts each node.
//
// Outside of CountAllocations an allocation costs one more test of a flag, so
// that the same program can measure times.

#ifndef BATON_BENCHMARKS_ALLOCATION_COUNTS_H_
#define BATON_BENCHMARKS_ALLOCATION_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace baton::benchmarks {

// The counts of CountAllocations.
struct AllocationCounts {
  int64_t allocations = 0;
  // The memory that the allocator took for them, its headers included.
  int64_t bytes = 0;
  // `bytes` less the bytes that were freed: the memory that is still in use.
  int64_t held_bytes = 0;
};

// Counts the allocations of `fn` on all threads. Calls must not nest.
AllocationCounts CountAllocations(absl::FunctionRef<void()> fn);

// While the object lives, new nodes of this thread take new memory: the object
// keeps the free blocks of the free lists. Exception: nodes that fit into a
// piece (a megabyte) that was begun before.
class EmptyNodeMemory {
 public:
  EmptyNodeMemory();
  EmptyNodeMemory(const EmptyNodeMemory&) = delete;
  EmptyNodeMemory& operator=(const EmptyNodeMemory&) = delete;
  ~EmptyNodeMemory();

 private:
  std::vector<std::pair<void*, size_t>> blocks_;
};

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_ALLOCATION_COUNTS_H_
