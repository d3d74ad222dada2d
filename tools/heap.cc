#include "baton/tools/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <limits>

#include "baton/base/pages.h"

namespace baton {
namespace {

constexpr int kHeapBytes = 1 << 30;
constexpr int kLaterHeapStep = 64 << 20;
constexpr int kMaxBlockInHeap = 32 << 20;
// More than is free at the end of the heap once it has kHeapBytes more: free()
// would give those back, and the heap would grow again on small pages.
constexpr int kNeverTrim = std::numeric_limits<int>::max();
// The heap of a small model, which would waste a part of a huge page.
constexpr ptrdiff_t kSmallPageBytes = ptrdiff_t{4} << 20;
// Each run uses about this much of the heap. Its pages are made by one call, which
// takes less time than a fault for each.
constexpr ptrdiff_t kPopulatedBytes = ptrdiff_t{768} << 10;

// True if the heap is a small part of what the process may have.
template <typename Resource>
bool HasRoom(Resource resource) {
  constexpr rlim_t kLeast = rlim_t{4} * kHeapBytes;
  rlimit limit;
  return getrlimit(resource, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kLeast);
}

bool GrowHeapOnHugePages() {
  mallopt(M_MMAP_THRESHOLD, kMaxBlockInHeap);
  mallopt(M_TRIM_THRESHOLD, kNeverTrim);
  mallopt(M_TOP_PAD, kHeapBytes);
  const char* const old_end = static_cast<const char*>(sbrk(0));
  // More than the heap has left at its end, so that it grows. Volatile: a block
  // that nothing uses is not allocated.
  void* volatile const block = std::malloc(size_t{1} << 20);
  const char* const end = static_cast<const char*>(sbrk(0));
  std::free(block);
  mallopt(M_TOP_PAD, kLaterHeapStep);
#ifdef MADV_POPULATE_WRITE
  if (old_end + kPopulatedBytes < end) {
    AdviseWholePages(old_end, kPopulatedBytes, MADV_POPULATE_WRITE);
  }
#endif
  if (old_end + kSmallPageBytes < end) {
    AdviseWholePages(old_end + kSmallPageBytes,
                     static_cast<size_t>(end - old_end - kSmallPageBytes),
                     MADV_HUGEPAGE);
  }
  return true;
}

}  // namespace

void PutHeapOnHugePages() {
  if (!HasRoom(RLIMIT_AS) || !HasRoom(RLIMIT_DATA)) return;
  [[maybe_unused]] static const bool once = GrowHeapOnHugePages();
}

void KeepFreedMemory() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, kNeverTrim);
}

}  // namespace baton
