#include "baton/tools/version.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {

// Defined in commit_stamp.cc, which Bazel compiles for each program; "0" if the
// commit is unknown.
extern const char kCommitStamp[];

namespace {

constexpr char kVersion[] = "0.2.0";

}  // namespace

absl::string_view BatonVersion() { return kVersion; }

std::string CommitText() {
  const absl::string_view commit = kCommitStamp;
  return absl::StrCat("commit ", commit == "0" ? "unknown" : commit);
}

std::string VersionText(absl::string_view program) {
  return absl::StrCat(program, " (Baton ", kVersion, ", ", CommitText(), ")");
}

}  // namespace baton
