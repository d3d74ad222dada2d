// Failed allocations as errors.
//
// Nothing between the code that asks for memory and the entry point of a
// reader, a pass, inference or evaluation looks at whether there is some: a
// failed allocation unwinds to that entry point, which returns it as an error.
// What it unwinds through stays whole: destructors ask for no memory, and
// tables are those of hash_table.h.

#ifndef BATON_BASE_OUT_OF_MEMORY_H_
#define BATON_BASE_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace baton {

// A ResourceExhausted error: `WHAT: out of memory`. Without memory for the
// text, the error has none.
absl::Status OutOfMemoryError(absl::string_view what) noexcept;

// Calls `fn`. If it cannot get memory, or asks for more than a container can
// hold, the result is that of `otherwise`.
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

// Calls `fn`, which returns an absl::Status or StatusOr: OutOfMemoryError(what)
// without memory.
template <typename Fn>
std::invoke_result_t<Fn&> CatchOutOfMemory(absl::string_view what, Fn&& fn) {
  return IfOutOfMemory(fn, [what] { return OutOfMemoryError(what); });
}

}  // namespace baton

#endif  // BATON_BASE_OUT_OF_MEMORY_H_
