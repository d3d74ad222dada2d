// baton-ir-test: runs the RUN lines of files; see tools/run_lines.h.
//
//   baton-ir-test FILE... --programs=PATH,PATH
//
// Runs the lines of each file until one fails. Exit code 0 if all succeeded,
// else that of the first failing line. With several files, names the failed ones
// at the end, and lists all in the file XML_OUTPUT_FILE, of which Bazel reads
// test cases.

#include <cstdlib>
#include <filesystem>
#include <fstream>
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
    "Runs the RUN lines of files.\n\n"
    "  baton-ir-test FILE... --programs=PATH,PATH\n\n"
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

// Runs several files. A file that cannot be run has failed with code 2.
int RunFiles(const std::vector<std::string>& paths,
             const std::vector<std::string>& programs) {
  int first_failure = 0;
  std::string failed;
  std::string cases;
  for (const std::string& path : paths) {
    const absl::StatusOr<int> result = RunFile(path, programs);
    if (!result.ok()) std::cerr << result.status().message() << "\n";
    const int code = result.ok() ? *result : 2;
    if (first_failure == 0) first_failure = code;
    if (code != 0) absl::StrAppend(&failed, "FAILED ", path, "\n");
    absl::StrAppend(&cases, "<testcase name=\"",
                    std::filesystem::path(path).filename().string(), "\">",
                    code == 0 ? "" : "<failure/>", "</testcase>\n");
  }
  std::cerr << failed;
  if (const char* xml = std::getenv("XML_OUTPUT_FILE"); xml != nullptr) {
    std::ofstream(xml) << "<testsuite>\n" << cases << "</testsuite>\n";
  }
  return first_failure;
}

absl::StatusOr<int> Main(const std::vector<absl::string_view>& args) {
  IrTestOptions options;
  BATON_ASSIGN_OR_RETURN(
      const ParsedCommandLine line,
      ReadCommandLine("baton-ir-test", kUsage, args, std::cout, &options));
  if (line.is_answered) return 0;
  if (line.arguments.empty()) {
    return absl::InvalidArgumentError(
        "usage: baton-ir-test FILE... --programs=PATH,PATH");
  }
  if (line.arguments.size() > 1) {
    return RunFiles(line.arguments, options.programs);
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
