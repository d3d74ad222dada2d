// Advises the operating system on the use of memory pages (madvise).

#ifndef BATON_BASE_PAGES_H_
#define BATON_BASE_PAGES_H_

#include <cstddef>

namespace baton {

// Calls madvise with `advice` (MADV_...) for the pages that lie wholly inside
// the `bytes` bytes from `block` on. Ignores a refusal by the system: advice
// changes the speed of memory, not its content.
void AdviseWholePages(const void* block, size_t bytes, int advice);

}  // namespace baton

#endif  // BATON_BASE_PAGES_H_
