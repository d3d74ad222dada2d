// Command line of `baton-history`, for compilers with their own operators or
// levels:
//
//   int main(int argc, char** argv) { return baton::HistoryMain(argc, argv); }

#ifndef BATON_TOOLS_HISTORY_MAIN_H_
#define BATON_TOOLS_HISTORY_MAIN_H_

#include <ostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace baton {

// Runs `baton-history ARGS`.
absl::Status HistoryTool(const std::vector<absl::string_view>& args,
                         std::ostream& out, std::ostream& reports);

// Returns the exit code: 0, or 1 after an error, which is printed to standard
// error.
int HistoryMain(int argc, char** argv);

}  // namespace baton

#endif  // BATON_TOOLS_HISTORY_MAIN_H_
