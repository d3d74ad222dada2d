#include "baton/base/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace baton {

void AdviseWholePages(const void* block, size_t bytes, int advice) {
  static const auto page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(block);
  const uintptr_t begin = (address + page_size - 1) / page_size * page_size;
  const uintptr_t end = (address + bytes) / page_size * page_size;
  if (begin < end) {
    madvise(reinterpret_cast<void*>(begin), end - begin, advice);
  }
}

}  // namespace baton
