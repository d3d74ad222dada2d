#include "baton/testing/small_stack.h"

#include <pthread.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "absl/functional/function_ref.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    !defined(__OPTIMIZE__)
#define BATON_LARGE_FRAMES_ 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer) ||                                     \
    __has_feature(undefined_behavior_sanitizer)
#define BATON_LARGE_FRAMES_ 1
#endif
#endif

namespace baton::testing {

size_t SmallStackBytesOfThisBuild() {
#ifdef BATON_LARGE_FRAMES_
  return size_t{8} << 20;
#else
  return kSmallStackBytes;
#endif
}

void RunWithStack(size_t bytes, absl::FunctionRef<void()> body) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0 ||
      pthread_attr_setstacksize(&attributes, bytes) != 0 ||
      pthread_create(
          &thread, &attributes,
          [](void* body) -> void* {
            (*static_cast<absl::FunctionRef<void()>*>(body))();
            return nullptr;
          },
          &body) != 0) {
    std::fprintf(stderr, "no thread with a stack of %zu bytes\n", bytes);
    std::abort();
  }
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace baton::testing
