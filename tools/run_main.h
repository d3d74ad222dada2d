// The common part of the main functions of the tools.

#ifndef BATON_TOOLS_RUN_MAIN_H_
#define BATON_TOOLS_RUN_MAIN_H_

#include "absl/functional/function_ref.h"

namespace baton {

// A program that calls this says so and exits with 1, too, if there is too
// little memory for what is done before main.
//
// The exit code that `body` returns. If it throws, or if that is 0 and not all
// that it wrote to std::cout could be written, writes one line to standard
// error, without allocating memory, and returns 1.
int RunMain(const char* program, absl::FunctionRef<int()> body) noexcept;

}  // namespace baton

#endif  // BATON_TOOLS_RUN_MAIN_H_
