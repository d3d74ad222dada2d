// Command line of `baton-bisect`: finds the execution of a pass that makes a
// command fail.

#ifndef BATON_TOOLS_BISECT_MAIN_H_
#define BATON_TOOLS_BISECT_MAIN_H_

#include <ostream>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton {

// Runs the tool; `args` exclude the name of the program. Returns the exit code:
// 0 if the execution was found, 1 on an error, 2 if the result is not certain,
// 128 plus the signal if the tool was interrupted.
int BisectTool(const std::vector<absl::string_view>& args, std::ostream& out,
               std::ostream& reports);

// BisectTool on the arguments of main(), with the program's streams.
int BisectMain(int argc, char** argv);

}  // namespace baton

#endif  // BATON_TOOLS_BISECT_MAIN_H_
