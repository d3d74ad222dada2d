// Converts failed allocations into errors.
//
// Code below the entry point of a reader, a pass, inference or evaluation does
// not check its allocations: a failed one unwinds to that entry point, which
// returns it as an error. The unwinding is safe: destructors allocate nothing,
// and hash tables are those of hash_table.h.

#ifndef BATON_BASE_OUT_OF_MEMORY_H_
#define BATON_BASE_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace baton {

// A ResourceExhausted error: `WHAT: out of memory`. If there is no memory for
// the text, the message is empty.
absl::Status OutOfMemoryError(absl::string_view what) noexcept;

// Calls `fn` and returns its result. Returns the result of `otherwise` instead
// if `fn` runs out of memory or requests more than a container can hold.
template <typename Fn, typename Otherwise>
std::invoke_result_t<Fn&> IfOutOfMemory(Fn&& fn, Otherwise&& otherwise) {
  try {
    return fn();
  } catch (const std::bad_alloc&) {
    return otherwise();
  } catch (const std::length_error&) {
    return otherwise();
  }
}

// Calls `fn`, which returns an absl::Status or StatusOr, and returns its
// result; returns OutOfMemoryError(what) if `fn` runs out of memory.
template <typename Fn>
std::invoke_result_t<Fn&> CatchOutOfMemory(absl::string_view what, Fn&& fn) {
  return IfOutOfMemory(fn, [what] { return OutOfMemoryError(what); });
}

}  // namespace baton

#endif  // BATON_BASE_OUT_OF_MEMORY_H_
