#include "baton/tools/heap.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace baton {
namespace {

// True if huge pages were requested at `address`: flag `hg` of its mapping.
bool IsOnHugePages(const void* address) {
  std::ifstream mappings("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(mappings, line);) {
    std::istringstream words(line);
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      const auto value = reinterpret_cast<uintptr_t>(address);
      is_here = begin <= value && value < end;
    } else if (is_here && line.rfind("VmFlags:", 0) == 0) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

std::unique_ptr<char, void (*)(void*)> Allocate(size_t bytes) {
  return {static_cast<char*>(std::malloc(bytes)), &std::free};
}

TEST(HeapTest, BlocksShareHugePages) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "this kernel has no transparent huge pages";
  }
  const char* const old_end = static_cast<char*>(sbrk(0));
  // Programs with a low limit keep their heap as it is.
  const rlimit limit = {(rlim_t{4} << 30) - 1, RLIM_INFINITY};
  const rlimit enough = {rlim_t{4} << 30, RLIM_INFINITY};
  const rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur != RLIM_INFINITY || before.rlim_max != RLIM_INFINITY) {
    GTEST_SKIP() << "the address space is limited";
  }
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
  PutHeapOnHugePages();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &unlimited), 0);
  EXPECT_EQ(sbrk(0), old_end);

  ASSERT_EQ(setrlimit(RLIMIT_AS, &enough), 0);
  PutHeapOnHugePages();
  ASSERT_EQ(setrlimit(RLIMIT_AS, &unlimited), 0);
  const char* const end = static_cast<char*>(sbrk(0));
  if (end == old_end) GTEST_SKIP() << "malloc is not glibc's";
  EXPECT_GE(end - old_end, ptrdiff_t{1} << 30);
  const auto small = Allocate(1 << 20);
  const auto large = Allocate(20 << 20);
  for (const char* block : {small.get(), large.get()}) {
    EXPECT_LE(old_end, block + (1 << 20));
    EXPECT_LT(block, end);
    EXPECT_TRUE(IsOnHugePages(block + (1 << 19)));
  }
  // The first block begins where no small pages are.
  constexpr uintptr_t kHugePageBytes = uintptr_t{2} << 20;
  EXPECT_LT(reinterpret_cast<uintptr_t>(small.get()) % kHugePageBytes, 1 << 16);
  // Another call changes nothing.
  PutHeapOnHugePages();
  EXPECT_EQ(sbrk(0), end);
  // The heap keeps its size.
  KeepFreedMemory();
  Allocate(20 << 20).reset();
  EXPECT_EQ(sbrk(0), end);
}

}  // namespace
}  // namespace baton
