// The command line of `baton-bisect`: which execution of a pass makes a command
// fail.

#ifndef BATON_TOOLS_BISECT_MAIN_H_
#define BATON_TOOLS_BISECT_MAIN_H_

#include <ostream>
#include <vector>

#include "absl/strings/string_view.h"

namespace baton {

// Runs it; `args` come without the name of the program. Returns the exit code:
// 0 if the execution was found, 1 on an error, 2 if it is not certain which it
// is, 128 and the signal if it was interrupted.
int BisectTool(const std::vector<absl::string_view>& args, std::ostream& out,
               std::ostream& reports);

// BisectTool on the arguments of main(), with the program's streams.
int BisectMain(int argc, char** argv);

}  // namespace baton

#endif  // BATON_TOOLS_BISECT_MAIN_H_
