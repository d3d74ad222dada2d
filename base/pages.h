// The alignment of memory, and advice to the operating system how its pages are
// used.

#ifndef BATON_BASE_PAGES_H_
#define BATON_BASE_PAGES_H_

#include <cstddef>
#include <cstdint>

namespace baton {

// True if the address is a multiple of `alignment` bytes.
inline bool IsAligned(const void* data, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(data) %
             static_cast<uintptr_t>(alignment) ==
         0;
}

// Calls madvise with `advice` for the pages that lie wholly inside the `bytes`
// bytes from `block` on. Errors are ignored. Advice such as MADV_HUGEPAGE
// changes how fast memory is, but not its contents; MADV_DONTNEED and MADV_FREE
// discard them.
void AdviseWholePages(const void* block, size_t bytes, int advice);

}  // namespace baton

#endif  // BATON_BASE_PAGES_H_
