#include "baton/tools/run_lines.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/base/source.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/span.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

constexpr absl::string_view kMarker = "RUN:";

constexpr char kNot[] = R"(#!/bin/bash
# not COMMAND...: succeeds if the command fails, but not if it cannot be run or
# crashes.
"$@"
code=$?
if ((code >= 126)); then
  echo "not: $1: exit code ${code}" >&2
  exit "${code}"
fi
if ((code == 0)); then
  echo "not: $1 succeeded" >&2
  exit 1
fi
exit 0
)";

// The first byte of a marker in `line`; npos if there is none.
size_t FindMarker(absl::string_view line) {
  size_t i = line.find(kMarker);
  while (i != absl::string_view::npos && i > 0 &&
         (absl::ascii_isalnum(static_cast<unsigned char>(line[i - 1])) ||
          line[i - 1] == '-' || line[i - 1] == '_')) {
    i = line.find(kMarker, i + 1);
  }
  return i;
}

// Quoted for a shell.
std::string Quoted(absl::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", R"('\'')"}}), "'");
}

absl::Status WriteFile(const std::string& path, absl::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  return out ? absl::OkStatus()
             : absl::UnavailableError(absl::StrCat("cannot write ", path));
}

absl::Status ToStatus(const std::error_code& error, absl::string_view what) {
  if (!error) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(what, ": ", error.message()));
}

// A folder in which the programs have their names.
absl::Status MakePrograms(const std::string& bin,
                          const std::vector<std::string>& programs) {
  std::error_code error;
  fs::create_directories(bin, error);
  if (error) return ToStatus(error, bin);
  for (const std::string& program : programs) {
    const fs::path path = fs::absolute(program);
    if (!fs::exists(path, error)) {
      return absl::NotFoundError(absl::StrCat("there is no program ", program));
    }
    const fs::path link = fs::path(bin) / path.filename();
    fs::create_symlink(path, link, error);
    if (error) return ToStatus(error, link.string());
  }
  const std::string path = bin + "/not";
  const absl::Status written = WriteFile(path, kNot);
  if (!written.ok()) return written;
  fs::permissions(path, fs::perms::owner_all, error);
  return ToStatus(error, path);
}

}  // namespace

absl::StatusOr<std::vector<RunLine>> ParseRunLines(
    const std::shared_ptr<const Source>& source) {
  const absl::string_view text = source->text();
  std::vector<RunLine> lines;
  Diagnostics diagnostics;
  bool continues = false;
  Span open;  // the line that is to be continued
  int number = 0;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const absl::string_view line = text.substr(begin, end - begin);
    const size_t line_begin = std::exchange(begin, end + 1);
    ++number;
    const size_t marker = FindMarker(line);
    if (marker == absl::string_view::npos) continue;
    const Span span(source, static_cast<int64_t>(line_begin + marker),
                    static_cast<int64_t>(end));
    absl::string_view command =
        absl::StripAsciiWhitespace(line.substr(marker + kMarker.size()));
    const bool was_continued = continues;
    continues = absl::ConsumeSuffix(&command, "\\");
    if (command.empty() && !continues) {
      diagnostics.Error(span, "RUN: has no command");
    }
    if (was_continued) {
      absl::StrAppend(&lines.back().command, " ", command);
    } else {
      lines.push_back({number, std::string(command)});
    }
    open = span;
  }
  if (continues) {
    diagnostics.Error(open, "there is no RUN line that continues this one");
  }
  if (diagnostics.has_errors()) return diagnostics.ToStatus();
  if (lines.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(source->name(), ": error: there is no RUN line"));
  }
  return lines;
}

std::string ExpandRunLine(absl::string_view command, absl::string_view file,
                          absl::string_view temporary) {
  const std::string folder = fs::path(std::string(file)).parent_path().string();
  return absl::StrReplaceAll(
      command, {{"%%", "%"},
                {"%s", file},
                {"%S", folder.empty() ? "." : absl::string_view(folder)},
                {"%t", temporary}});
}

absl::StatusOr<int> RunLines(const std::vector<RunLine>& lines,
                             const RunLinesOptions& options) {
  const std::string folder = fs::absolute(options.folder).string();
  const std::string bin = folder + "/bin";
  const absl::Status made = MakePrograms(bin, options.programs);
  if (!made.ok()) return made;
  const std::string temporary = absl::StrCat(
      folder, "/", fs::path(options.file).filename().string(), ".tmp");
  // `eval`, so that one line's bad syntax is that line's failure.
  std::string script = absl::StrCat(
      "set -o pipefail\nexport LC_ALL=C PATH=", Quoted(bin), ":\"$PATH\"\n",
      "failed() {\n"
      "  printf '%s: error: this RUN line failed with exit code %s:\\n  %s\\n'",
      " \"$1\" \"$3\" \"$2\" >&2\n"
      "  exit \"$3\"\n}\n");
  for (const RunLine& line : lines) {
    const std::string command =
        Quoted(ExpandRunLine(line.command, options.file, temporary));
    absl::StrAppend(&script, "eval ", command, " || failed ",
                    Quoted(absl::StrCat(options.file, ":", line.line)), " ",
                    command, " \"$?\"\n");
  }
  const std::string path = folder + "/run_lines.sh";
  const absl::Status written = WriteFile(path, script);
  if (!written.ok()) return written;
  const int status = std::system(  // NOLINT(cert-env33-c)
      absl::StrCat("bash ", Quoted(path)).c_str());
  if (!WIFEXITED(status)) {
    return absl::UnavailableError("bash did not end by itself");
  }
  return WEXITSTATUS(status);
}

}  // namespace baton
