#include "baton/benchmarks/callgrind.h"

#include "absl/functional/function_ref.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

namespace baton::benchmarks {

bool CollectInCallgrind(absl::FunctionRef<void()> fn) {
#ifdef CALLGRIND_START_INSTRUMENTATION
  CALLGRIND_START_INSTRUMENTATION;
  fn();
  CALLGRIND_STOP_INSTRUMENTATION;
  return true;
#else
  fn();
  return false;
#endif
}

void DumpCallgrindPart([[maybe_unused]] const std::string& name) {
#ifdef CALLGRIND_START_INSTRUMENTATION
  CALLGRIND_DUMP_STATS_AT(name.c_str());
#endif
}

}  // namespace baton::benchmarks
