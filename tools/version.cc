#include "baton/tools/version.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {

// Defined in commit_stamp.cc, which Bazel compiles for each program.
extern const char kCommitStamp[];

namespace {

constexpr char kVersion[] = "0.1.0";

}  // namespace

std::string VersionText(absl::string_view program) {
  return absl::StrCat(program, " (Baton ", kVersion, ", commit ", kCommitStamp,
                      ")");
}

}  // namespace baton
