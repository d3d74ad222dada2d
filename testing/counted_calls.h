// Counts the calls of the allocator and of locks in the program that links it.

#ifndef BATON_TESTING_COUNTED_CALLS_H_
#define BATON_TESTING_COUNTED_CALLS_H_

#include <cstdint>

namespace baton::testing {

// Allocations so far, by operator new and, but under sanitizers, by malloc and
// its relatives. On all threads.
int64_t NumAllocations();

// Locks of a pthread mutex or readers' and writers' lock so far; 0 under
// sanitizers.
int64_t NumLocks();

}  // namespace baton::testing

#endif  // BATON_TESTING_COUNTED_CALLS_H_
