// Reads archives of tar, so that a test that has thousands of small files need
// not write them.

#ifndef BATON_TESTING_TAR_FILE_H_
#define BATON_TESTING_TAR_FILE_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace baton::testing {

// The paths and the contents of the files of an archive, in its order. Folders
// are left out; an entry of another kind (a link, a path of more than 255
// characters) is an error.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadTarFile(
    const std::string& path);

}  // namespace baton::testing

#endif  // BATON_TESTING_TAR_FILE_H_
