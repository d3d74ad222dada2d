// Counts instructions in callgrind: a measurement that other programs on the
// machine do not disturb.

#ifndef BATON_BENCHMARKS_CALLGRIND_H_
#define BATON_BENCHMARKS_CALLGRIND_H_

#include <string>

#include "absl/functional/function_ref.h"

namespace baton::benchmarks {

// Runs `fn`. In a program that runs in callgrind with `--instr-atstart=no`,
// callgrind counts the instructions of `fn` only. Returns false if nothing can
// be counted, as Baton was built without Valgrind's headers.
bool CollectInCallgrind(absl::FunctionRef<void()> fn);

// In callgrind, writes the counts since the last part to a file of their own,
// which is named after --callgrind-out-file with a number. The file says
// `Client Request: ` and `name`.
void DumpCallgrindPart(const std::string& name);

}  // namespace baton::benchmarks

#endif  // BATON_BENCHMARKS_CALLGRIND_H_
