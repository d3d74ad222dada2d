// Reads golden files (recorded expected outputs), for tests.

#ifndef BATON_TESTING_GOLDEN_H_
#define BATON_TESTING_GOLDEN_H_

#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace baton::testing {

// The path of a data dependency, given relative to the root of the repository.
std::string RunfilePath(absl::string_view path);

// The content of a file; the test fails if it cannot be read.
std::string ReadFileOrFail(const std::string& path);

// The content of `testing/golden/NAME`; needs `//testing:golden` as data.
std::string ReadGolden(absl::string_view name);

// Passes if `text` equals the golden `name`, byte for byte. The message shows
// the first different line.
::testing::AssertionResult MatchesGolden(absl::string_view text,
                                         absl::string_view name);

// As MatchesGolden, for two texts.
::testing::AssertionResult SameText(absl::string_view got,
                                    absl::string_view want);

}  // namespace baton::testing

#endif  // BATON_TESTING_GOLDEN_H_
