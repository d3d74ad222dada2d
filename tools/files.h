// Reads and writes files, for the tools.

#ifndef BATON_TOOLS_FILES_H_
#define BATON_TOOLS_FILES_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/text_file.h"   // IWYU pragma: export
#include "baton/base/write_file.h"  // IWYU pragma: export

namespace baton {

// Reads the whole content of `path`. If the file does not exist, the error
// names similar files beside it.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Bytes that `owner` keeps alive.
struct FileContent {
  absl::string_view bytes;
  std::shared_ptr<const void> owner;
  // True if the bytes are a mapped file: released pages are read from it again.
  bool is_mapped = false;
};

// Maps the whole content of `path` into memory if it is a regular file: a page
// is read when it is first used, and no copy is made. If another process
// truncates the file meanwhile, this program crashes; replacing the file, as
// WriteFileAtomically does, is harmless. Errors as for ReadFile.
absl::StatusOr<FileContent> MapFile(const std::string& path);

// Makes a FileContent that owns `text`.
FileContent ContentOf(std::string text);

// An error if two of `files`, pairs of a flag such as `--output` and its value,
// are one file, or if a flag but `--output` has the value `-`, standard output.
// Pipes and devices may be given twice.
absl::Status CheckDifferentFiles(
    absl::Span<const std::pair<std::string, std::string>> files);

// An error if one of `written`, pairs of a flag and its value, is a file of
// `read`, paths of files that would be lost.
absl::Status CheckNotRead(
    absl::Span<const std::pair<std::string, std::string>> written,
    absl::Span<const std::string> read);

}  // namespace baton

#endif  // BATON_TOOLS_FILES_H_
