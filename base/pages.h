// Advises the operating system how memory is used, page by page.

#ifndef BATON_BASE_PAGES_H_
#define BATON_BASE_PAGES_H_

#include <cstddef>

namespace baton {

// Calls madvise with `advice` for the pages that lie wholly inside the `bytes`
// bytes from `block` on. Errors are ignored. Advice such as MADV_HUGEPAGE
// changes how fast memory is, but not its contents; MADV_DONTNEED and MADV_FREE
// discard them.
void AdviseWholePages(const void* block, size_t bytes, int advice);

}  // namespace baton

#endif  // BATON_BASE_PAGES_H_
