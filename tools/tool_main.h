// Common part of the main functions of the tools.

#ifndef BATON_TOOLS_TOOL_MAIN_H_
#define BATON_TOOLS_TOOL_MAIN_H_

#include "absl/functional/function_ref.h"

namespace baton {

// Runs `body` and returns its exit code. If `body` throws, or if the code is 0
// and its output to std::cout could not be written completely, writes one line
// to standard error, without allocating memory, and returns 1.
//
// Linking this function also reports running out of memory during static
// initialization, with exit code 1.
int RunTool(const char* program, absl::FunctionRef<int()> body) noexcept;

}  // namespace baton

#endif  // BATON_TOOLS_TOOL_MAIN_H_
