// Advice to the kernel about pages of memory.

#ifndef BATON_BASE_PAGES_H_
#define BATON_BASE_PAGES_H_

#include <cstddef>

namespace baton {

// Calls madvise with `advice` (MADV_...) for the pages that lie wholly inside
// the `bytes` bytes from `block` on. What the system refuses is ignored: advice
// changes how fast memory is, not what it holds.
void AdviseWholePages(const void* block, size_t bytes, int advice);

}  // namespace baton

#endif  // BATON_BASE_PAGES_H_
