// Counts the calls of the allocator and of locks in the program that links it.

#ifndef BATON_TESTING_COUNTED_CALLS_H_
#define BATON_TESTING_COUNTED_CALLS_H_

#include <cstdint>

namespace baton::testing {

// The number of allocations so far, on all threads: by operator new, malloc and
// its relatives.
int64_t NumAllocations();

// The number of times so far that a pthread mutex or rwlock was locked, on all
// threads; 0 under sanitizers.
int64_t NumLocks();

}  // namespace baton::testing

#endif  // BATON_TESTING_COUNTED_CALLS_H_
