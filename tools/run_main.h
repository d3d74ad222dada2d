// The common part of the main functions of the tools.

#ifndef BATON_TOOLS_RUN_MAIN_H_
#define BATON_TOOLS_RUN_MAIN_H_

#include "absl/functional/function_ref.h"

namespace baton {

// The exit code that `body` returns. If it throws, writes one line to standard
// error, without allocating memory, and returns 1.
int RunMain(const char* program, absl::FunctionRef<int()> body) noexcept;

}  // namespace baton

#endif  // BATON_TOOLS_RUN_MAIN_H_
