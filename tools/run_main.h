// What the main functions of the tools share.

#ifndef BATON_TOOLS_RUN_MAIN_H_
#define BATON_TOOLS_RUN_MAIN_H_

#include "absl/functional/function_ref.h"

namespace baton {

// The exit code that `body` returns. Whatever it throws is said in one line on
// standard error, which takes no memory: then the code is 1.
int RunMain(const char* program, absl::FunctionRef<int()> body) noexcept;

}  // namespace baton

#endif  // BATON_TOOLS_RUN_MAIN_H_
