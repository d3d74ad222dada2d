#include "baton/base/deep_stack.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <utility>

#include "absl/functional/function_ref.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BATON_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define BATON_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define BATON_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define BATON_TSAN 1
#endif
#if defined(BATON_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(BATON_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace baton::internal {

// Every thread starts without a known limit: its first call finds it.
constinit thread_local uintptr_t deep_stack_limit = UINTPTR_MAX;

namespace {

constexpr size_t kGuardBytes = 4096;
constexpr size_t kFirstBytes = size_t{1} << 20;
#if defined(BATON_TSAN)
// The thread sanitizer records at most 64 Ki frames of a segment.
constexpr size_t kMostBytes = kFirstBytes;
#else
constexpr size_t kMostBytes = size_t{16} << 20;
#endif

// The memory of a segment, with a guard page at its low end.
class Segment {
 public:
  Segment() = default;
  explicit Segment(size_t bytes) : bytes_(bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory, kGuardBytes, PROT_NONE);
    memory_ = static_cast<char*>(memory);
  }
  Segment(Segment&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  Segment& operator=(Segment&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Segment() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  bool empty() const { return memory_ == nullptr; }
  char* low() const { return memory_ + kGuardBytes; }
  size_t size() const { return bytes_ - kGuardBytes; }
  size_t bytes() const { return bytes_; }

 private:
  char* memory_ = nullptr;
  size_t bytes_ = 0;
};

// The segment that the thread used last and does not use now, so that a
// recursion which goes up and down at the end of a segment does not map memory
// each time.
thread_local Segment spare;
// The size of the segment in use; 0 on the thread's own stack.
constinit thread_local size_t current_bytes = 0;

// A call that runs on a segment.
struct Call {
  absl::FunctionRef<void()> body;
  std::exception_ptr error = nullptr;
  ucontext_t caller = {};
  ucontext_t callee = {};
#if defined(BATON_ASAN)
  const void* caller_low = nullptr;
  size_t caller_size = 0;
#endif
#if defined(BATON_TSAN)
  void* caller_fiber = nullptr;
#endif
};

void Enter(unsigned high, unsigned low) {
  auto* call = reinterpret_cast<Call*>((uintptr_t{high} << 32) | low);
#if defined(BATON_ASAN)
  __sanitizer_finish_switch_fiber(nullptr, &call->caller_low,
                                  &call->caller_size);
#endif
  try {
    call->body();
  } catch (...) {
    call->error = std::current_exception();
  }
#if defined(BATON_ASAN)
  __sanitizer_start_switch_fiber(nullptr, call->caller_low, call->caller_size);
#endif
#if defined(BATON_TSAN)
  __tsan_switch_to_fiber(call->caller_fiber, 0);
#endif
  swapcontext(&call->callee, &call->caller);
}

void RunOn(const Segment& segment, Call& call) {
  getcontext(&call.callee);
  call.callee.uc_stack.ss_sp = segment.low();
  call.callee.uc_stack.ss_size = segment.size();
  call.callee.uc_link = nullptr;
  const auto address = reinterpret_cast<uintptr_t>(&call);
  makecontext(&call.callee, reinterpret_cast<void (*)()>(Enter), 2,
              static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
#if defined(BATON_ASAN)
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, segment.low(), segment.size());
#endif
#if defined(BATON_TSAN)
  void* fiber = __tsan_create_fiber(0);
  call.caller_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber, 0);
#endif
  swapcontext(&call.caller, &call.callee);
#if defined(BATON_ASAN)
  __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
#if defined(BATON_TSAN)
  __tsan_destroy_fiber(fiber);
#endif
}

uintptr_t LimitOfThread() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* low = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<uintptr_t>(low) + kStackReserve;
}

}  // namespace

void RunOnSegment(absl::FunctionRef<void()> body) {
  if (deep_stack_limit == UINTPTR_MAX) {
    deep_stack_limit = LimitOfThread();
    const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    if (frame > deep_stack_limit) return body();
  }
  const size_t bytes = current_bytes == 0               ? kFirstBytes
                       : current_bytes * 2 > kMostBytes ? kMostBytes
                                                        : current_bytes * 2;
  Segment segment;
  if (spare.bytes() == bytes) segment = std::move(spare);
  if (segment.empty()) segment = Segment(bytes);
  const uintptr_t old_limit =
      std::exchange(deep_stack_limit,
                    reinterpret_cast<uintptr_t>(segment.low()) + kStackReserve);
  const size_t old_bytes = std::exchange(current_bytes, bytes);
  Call call{body};
  RunOn(segment, call);
  deep_stack_limit = old_limit;
  current_bytes = old_bytes;
  spare = std::move(segment);
  if (call.error != nullptr) std::rethrow_exception(call.error);
}

}  // namespace baton::internal
