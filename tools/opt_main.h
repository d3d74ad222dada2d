// Command line of `baton-opt`, for binaries that link their own passes.

#ifndef BATON_TOOLS_OPT_MAIN_H_
#define BATON_TOOLS_OPT_MAIN_H_

#include <string>

namespace baton {

// Parses the flags and runs the tool. Returns the exit code: 0 for success, 1
// for an error or bad usage.
int OptMain(int argc, char** argv);

// The output of `baton-opt --help`.
std::string OptHelp();

}  // namespace baton

#endif  // BATON_TOOLS_OPT_MAIN_H_
