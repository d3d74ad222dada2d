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
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/tools/command_line.h"
#include "baton/tools/run_lines.h"
#include "baton/tools/tool_main.h"

namespace baton {
namespace {

constexpr char kUsage[] =
    "Runs the RUN lines of a file.\n\n"
    "  baton-ir-test FILE --programs=PATH,PATH\n\n"
    "Flags:\n";

struct IrTestOptions {
  std::vector<std::string> programs;

  template <typename V>
  static void VisitFields(V& v) {
    v("programs", &IrTestOptions::programs,
      FlagSpec{
          .help =
              "Programs that RUN lines call by the last part of their paths.",
          .value = "PATH,PATH"});
  }
};

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

absl::StatusOr<int> RunFile(const std::string& path,
                            const std::vector<std::string>& programs) {
  BATON_ASSIGN_OR_RETURN(std::string text, ReadTextFile(path));
  BATON_ASSIGN_OR_RETURN(
      const std::vector<RunLine> lines,
      ParseRunLines(std::make_shared<const Source>(path, std::move(text))));
  BATON_ASSIGN_OR_RETURN(const std::string folder, MakeFolder());
  const absl::StatusOr<int> code =
      RunLines(lines, {.file = path, .folder = folder, .programs = programs});
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return code;
}

absl::StatusOr<int> Main(const std::vector<absl::string_view>& args) {
  IrTestOptions options;
  BATON_ASSIGN_OR_RETURN(
      const ParsedCommandLine line,
      ReadCommandLine("baton-ir-test", kUsage, args, std::cout, &options));
  if (line.is_answered) return 0;
  if (line.arguments.size() != 1) {
    return absl::InvalidArgumentError(
        "usage: baton-ir-test FILE --programs=PATH,PATH");
  }
  return RunFile(line.arguments[0], options.programs);
}

}  // namespace
}  // namespace baton

int main(int argc, char** argv) {
  return baton::RunTool("baton-ir-test", [argc, argv] {
    const absl::StatusOr<int> code =
        baton::Main({argv + (argc > 0 ? 1 : 0), argv + argc});
    if (code.ok()) return *code;
    std::cerr << code.status().message() << "\n";
    return 2;
  });
}
