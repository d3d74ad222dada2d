// How much code allocates.
//
//   AllocationCounts counts = CountAllocations([&] { result = pass(module); });
//
// Counted is what goes through operator new and delete, which this library
// replaces in the program that it is linked into; not the elements of tensors.
// Nodes come from free lists (ir/node_memory.h), whose memory is counted when
// they take it, in large pieces; see EmptyNodeMemory. In a build with
// `--copt=-DBATON_POOLS_NODES=0` each is counted.
//
// Outside of CountAllocations an allocation costs a test of one flag more, so
// that times can be measured in the same program.

#ifndef BATON_BENCHMARKS_ALLOCATION_COUNTS_H_
#define BATON_BENCHMARKS_ALLOCATION_COUNTS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace baton::benchmarks {

struct AllocationCounts {
  int64_t allocations = 0;
  // Of memory that the allocator took for them, its headers included.
  int64_t bytes = 0;
  // Less what was freed: what is still held.
  int64_t held_bytes = 0;
};

// What `fn` allocated, on all threads. Not from inside another such call.
AllocationCounts CountAllocations(absl::FunctionRef<void()> fn);

// While this lives, nodes that are made on this thread take new memory, but for
// those that fit into one piece begun before (a megabyte): the free blocks are
// held here.
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
