#include "baton/testing/counted_calls.h"

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<int64_t> allocations{0};
std::atomic<int64_t> locks{0};

void CountAllocation() { allocations.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BATON_HAS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define BATON_HAS_SANITIZER
#endif
#endif

#ifdef BATON_HAS_SANITIZER

// Sanitizers have operators and functions of their own, and call hooks.
extern "C" int __sanitizer_install_malloc_and_free_hooks(
    void (*malloc_hook)(const volatile void*, size_t),
    void (*free_hook)(const volatile void*));

namespace {

[[maybe_unused]] const int hooks = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void* /*memory*/, size_t /*size*/) { CountAllocation(); },
    [](const volatile void* /*memory*/) {});

}  // namespace

#else  // BATON_HAS_SANITIZER

#ifdef __GLIBC__

// The C library has its functions under these names, too.
extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  CountAllocation();
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  CountAllocation();
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  CountAllocation();
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  CountAllocation();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  CountAllocation();
  void* const result = __libc_memalign(alignment, size);
  if (result == nullptr) return ENOMEM;
  *memory = result;
  return 0;
}

using MutexFunction = int (*)(pthread_mutex_t*);
using RwlockFunction = int (*)(pthread_rwlock_t*);

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static const auto next =
      reinterpret_cast<MutexFunction>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  locks.fetch_add(1, std::memory_order_relaxed);
  return next(mutex);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  static const auto next = reinterpret_cast<RwlockFunction>(
      dlsym(RTLD_NEXT, "pthread_rwlock_rdlock"));
  locks.fetch_add(1, std::memory_order_relaxed);
  return next(lock);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  static const auto next = reinterpret_cast<RwlockFunction>(
      dlsym(RTLD_NEXT, "pthread_rwlock_wrlock"));
  locks.fetch_add(1, std::memory_order_relaxed);
  return next(lock);
}

}  // extern "C"

#endif  // __GLIBC__

void* operator new(size_t size, const std::nothrow_t& /*tag*/) noexcept {
  CountAllocation();
  return std::malloc(size == 0 ? 1 : size);
}
void* operator new(size_t size) {
  void* const memory = operator new(size, std::nothrow);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t /*size*/) noexcept {
  std::free(memory);
}

#endif  // BATON_HAS_SANITIZER

namespace baton::testing {

int64_t NumAllocations() { return allocations.load(std::memory_order_relaxed); }

int64_t NumLocks() { return locks.load(std::memory_order_relaxed); }

}  // namespace baton::testing
