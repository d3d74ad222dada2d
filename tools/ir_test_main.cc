// baton-ir-test: runs the RUN lines of files; see tools/run_lines.h.
//
//   baton-ir-test FILE... --programs=PATH,PATH
//
// Exit code 0 if all lines succeeded. As a test of Bazel it follows Bazel's
// environment variables: a shard runs its part of the files, and test.xml has a
// case for each file.

#include <cstddef>
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
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/base/flags.h"
#include "baton/base/source.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"
#include "baton/base/write_file.h"
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

// The value of an environment variable of Bazel's tests; empty without one.
std::string BazelVariable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns the `files` that this shard of a test runs: all if there are no shards.
absl::StatusOr<std::vector<absl::string_view>> FilesOfShard(
    const std::vector<absl::string_view>& files) {
  const std::string count_text = BazelVariable("TEST_TOTAL_SHARDS");
  if (count_text.empty()) return files;
  int count = 0;
  int index = 0;
  if (!absl::SimpleAtoi(count_text, &count) ||
      !absl::SimpleAtoi(BazelVariable("TEST_SHARD_INDEX"), &index) ||
      count < 1 || index < 0 || index >= count) {
    return absl::InvalidArgumentError(
        "TEST_TOTAL_SHARDS and TEST_SHARD_INDEX name no shard");
  }
  // Bazel demands this file of tests that know shards.
  if (const std::string path = BazelVariable("TEST_SHARD_STATUS_FILE");
      !path.empty()) {
    BATON_RETURN_IF_ERROR(WriteFileAtomically(path, ""));
  }
  std::vector<absl::string_view> mine;
  for (size_t i = index; i < files.size(); i += count) {
    mine.push_back(files[i]);
  }
  return mine;
}

// The exit code of a file, or an error if it could not be run.
struct FileResult {
  absl::string_view file;
  absl::StatusOr<int> code;

  bool passed() const { return code.ok() && *code == 0; }
  std::string failure() const {
    return code.ok() ? absl::StrCat("exit code ", *code)
                     : std::string(code.status().message());
  }
};

std::string XmlText(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// Bazel's test.xml: a case for each file.
std::string XmlReport(const std::vector<FileResult>& results) {
  std::string xml = "<testsuites><testsuite name=\"ir_test\">\n";
  for (const FileResult& result : results) {
    absl::StrAppend(&xml, "<testcase name=\"", XmlText(result.file), "\">");
    if (!result.passed()) {
      absl::StrAppend(&xml, "<failure message=\"", XmlText(result.failure()),
                      "\"/>");
    }
    absl::StrAppend(&xml, "</testcase>\n");
  }
  absl::StrAppend(&xml, "</testsuite></testsuites>\n");
  return xml;
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
  BATON_ASSIGN_OR_RETURN(
      const std::vector<absl::string_view> files,
      FilesOfShard({line.arguments.begin(), line.arguments.end()}));
  std::vector<FileResult> results;
  int exit_code = 0;
  for (const absl::string_view file : files) {
    results.push_back({file, RunFile(std::string(file), options.programs)});
    const FileResult& result = results.back();
    if (result.passed()) continue;
    if (!result.code.ok()) std::cerr << result.code.status().message() << "\n";
    if (files.size() > 1) std::cerr << "FAILED " << file << "\n";
    if (exit_code == 0) exit_code = result.code.ok() ? *result.code : 2;
  }
  if (const std::string path = BazelVariable("XML_OUTPUT_FILE");
      !path.empty()) {
    BATON_RETURN_IF_ERROR(WriteFileAtomically(path, XmlReport(results)));
  }
  return exit_code;
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
