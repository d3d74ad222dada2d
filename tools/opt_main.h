// The command line of `baton-opt`, for binaries that link passes of their own.

#ifndef BATON_TOOLS_OPT_MAIN_H_
#define BATON_TOOLS_OPT_MAIN_H_

#include <string>

namespace baton {

// Parses the flags and runs. Returns the exit code: 0 if all went well, 1 for
// an error or bad usage.
int OptMain(int argc, char** argv);

// What `baton-opt --help` prints.
std::string OptHelp();

}  // namespace baton

#endif  // BATON_TOOLS_OPT_MAIN_H_
