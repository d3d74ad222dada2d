#include "baton/tools/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
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
constexpr size_t kHugePageBytes = size_t{2} << 20;

// True if the heap is a small part of what the process may have.
template <typename Resource>
bool HasRoom(Resource resource) {
  constexpr rlim_t kLeast = rlim_t{4} * kHeapBytes;
  rlimit limit;
  return getrlimit(resource, &limit) == 0 &&
         (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kLeast);
}

// The rest of the huge page in which the heap ends; not used.
[[maybe_unused]] void* volatile skipped = nullptr;

// Takes the memory from `end` of the heap, where a large block would begin, up
// to the next huge page: pages of that huge page are in use, so that the others
// would be small ones, each with a fault of its own.
void SkipToHugePage(uintptr_t end) {
  const uintptr_t offset = end % kHugePageBytes;
  if (offset != 0) skipped = std::malloc(kHugePageBytes - offset);
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
  mallopt(M_TOP_PAD, kLaterHeapStep);
  if (old_end < end) {
    AdviseWholePages(old_end, static_cast<size_t>(end - old_end),
                     MADV_HUGEPAGE);
  }
  const auto first_free = reinterpret_cast<uintptr_t>(block);
  std::free(block);
  if (old_end < end) SkipToHugePage(first_free);
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
