// Counting instructions in callgrind: a figure that other programs on the
// machine do not disturb.

#ifndef BATON_BENCHMARKS_CALLGRIND_H_
#define BATON_BENCHMARKS_CALLGRIND_H_

#include "absl/functional/function_ref.h"

namespace baton::benchmarks {

// Runs `fn` while callgrind collects, if the program runs in it with
// `--instr-atstart=no`. False if Baton was built without Valgrind's headers.
bool CollectInCallgrind(absl::FunctionRef<void()> fn);

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_CALLGRIND_H_
