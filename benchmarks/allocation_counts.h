// How much code allocates.
//
//   AllocationCounts counts = CountAllocations([&] { result = pass(module); });
//
// Counted is what goes through operator new and delete, which this library
// replaces in the program that it is linked into, and nodes that come from
// free lists; not the elements of tensors. Outside of CountAllocations an
// allocation costs a test of one flag more, so that times can be measured in
// the same program.

#ifndef BATON_BENCHMARKS_ALLOCATION_COUNTS_H_
#define BATON_BENCHMARKS_ALLOCATION_COUNTS_H_

#include <cstdint>

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

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_ALLOCATION_COUNTS_H_
