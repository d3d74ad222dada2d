// Recursion that does not overflow the stack of its thread.
//
//   void Visitor::Visit(const Stmt& stmt) {
//     OnDeepStack([&] { Dispatch(stmt); });  // calls Visit() of the parts
//   }
//
// OnDeepStack() calls its argument directly while the stack has room. Without
// room it calls it on a further segment of memory, which is released when the
// call returns. A recursion that passes through OnDeepStack() at each level is
// therefore limited by memory, not by the size of the thread's stack. A call
// costs a comparison; a new segment costs a few microseconds for some thousand
// levels. Thread-local variables stay those of the thread, and exceptions pass.

#ifndef BATON_BASE_DEEP_STACK_H_
#define BATON_BASE_DEEP_STACK_H_

#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"

namespace baton {

// The least number of bytes of stack that the argument of OnDeepStack() has.
inline constexpr uintptr_t kStackReserve = 64 * 1024;

namespace internal {

// The address below which a frame has less than kStackReserve bytes left.
extern constinit thread_local uintptr_t deep_stack_limit;

// Calls `body`, on a new segment if the thread's stack has no room.
void RunOnSegment(absl::FunctionRef<void()> body);

}  // namespace internal

// Returns `body()`. Throws std::bad_alloc if there is no memory for a segment.
template <typename Body>
std::invoke_result_t<Body> OnDeepStack(Body&& body) {
  using Result = std::invoke_result_t<Body>;
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (frame > internal::deep_stack_limit) [[likely]] {
    return std::forward<Body>(body)();
  }
  if constexpr (std::is_void_v<Result>) {
    internal::RunOnSegment([&body] { std::forward<Body>(body)(); });
  } else {
    alignas(Result) unsigned char storage[sizeof(Result)];
    internal::RunOnSegment([&body, &storage] {
      new (storage) Result(std::forward<Body>(body)());
    });
    auto* result = reinterpret_cast<Result*>(storage);
    Result value = std::move(*result);
    result->~Result();
    return value;
  }
}

}  // namespace baton

#endif  // BATON_BASE_DEEP_STACK_H_
