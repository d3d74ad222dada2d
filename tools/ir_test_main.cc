// baton-ir-test: runs the RUN lines of a file; see tools/run_lines.h.
//
//   baton-ir-test FILE --programs=PATH,PATH
//
// Exit code 0 if all lines succeeded.

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/tools/run_lines.h"
#include "baton/tools/run_main.h"

ABSL_FLAG(std::vector<std::string>, programs, {},
          "Programs that the lines call by the last part of their paths.");

namespace baton {
namespace {

absl::StatusOr<std::string> MakeFolder() {
  const char* parent = std::getenv("TEST_TMPDIR");
  std::string folder =
      (parent != nullptr ? std::filesystem::path(parent)
                         : std::filesystem::temp_directory_path()) /
      "baton-ir-test.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::UnavailableError(absl::StrCat("cannot make ", folder));
  }
  return folder;
}

absl::StatusOr<int> RunFile(const std::string& path) {
  BATON_ASSIGN_OR_RETURN(std::string text, ReadTextFile(path));
  BATON_ASSIGN_OR_RETURN(
      const std::vector<RunLine> lines,
      ParseRunLines(std::make_shared<const Source>(path, std::move(text))));
  BATON_ASSIGN_OR_RETURN(const std::string folder, MakeFolder());
  const absl::StatusOr<int> code =
      RunLines(lines, {.file = path,
                       .folder = folder,
                       .programs = absl::GetFlag(FLAGS_programs)});
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return code;
}

int Main(int argc, char** argv) {
  absl::SetProgramUsageMessage(
      "runs the RUN lines of a file\n  baton-ir-test FILE "
      "--programs=PATH,PATH");
  const std::vector<char*> positional = absl::ParseCommandLine(argc, argv);
  if (positional.size() != 2) {
    std::cerr << "usage: baton-ir-test FILE --programs=PATH,PATH\n";
    return 2;
  }
  const absl::StatusOr<int> code = RunFile(positional[1]);
  if (!code.ok()) {
    std::cerr << code.status().message() << "\n";
    return 2;
  }
  return *code;
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  return baton::RunMain("baton-ir-test",
                        [argc, argv] { return baton::Main(argc, argv); });
}
