// Tests all recorded cases of a folder.

#ifndef BATON_TESTING_CONFORMANCE_FOLDER_H_
#define BATON_TESTING_CONFORMANCE_FOLDER_H_

#include <string>

namespace baton::testing {

// Runs the cases in the files of `folder`, whose path begins at the root of the
// repository, and prints a table of them. A case may fail only if the
// known_failures.txt of the folder lists it, with the same reason.
void RunConformanceFolder(const std::string& folder);

}  // namespace baton::testing

#endif  // BATON_TESTING_CONFORMANCE_FOLDER_H_
