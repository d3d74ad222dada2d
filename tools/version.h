// The version of Baton, as `--version` of every tool prints it.

#ifndef BATON_TOOLS_VERSION_H_
#define BATON_TOOLS_VERSION_H_

#include <string>

#include "absl/strings/string_view.h"

namespace baton {

// `baton-run (Baton 0.2.0, commit 4252ef2c1d87)`. The commit is that of the
// sources when the program was linked; `-modified` follows if files differed
// from it. A program that is not built by ./bazelw has `commit unknown`.
std::string VersionText(absl::string_view program);

// `0.2.0`.
absl::string_view BatonVersion();

// `commit 4252ef2c1d87`.
std::string CommitText();

}  // namespace baton

#endif  // BATON_TOOLS_VERSION_H_
