// Files that a tool reads and writes.

#ifndef BATON_TOOLS_FILES_H_
#define BATON_TOOLS_FILES_H_

#include <istream>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace baton {

// The whole content of `path`. If there is no such file, the error names those
// beside it that resemble it.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// Bytes that `owner` keeps alive.
struct FileContent {
  absl::string_view bytes;
  std::shared_ptr<const void> owner;
  // Whether they are a mapped file, whose pages are read again if they are let
  // go.
  bool is_mapped = false;
};

// The whole content of `path`, mapped into memory if it is a regular file: a
// page is read when it is first used, and no copy is made. If another process
// truncates the file meanwhile, this program crashes; replacing the file, as
// WriteFileAtomically does, is harmless. Errors as for ReadFile.
absl::StatusOr<FileContent> MapFile(const std::string& path);

// `text` as a FileContent.
FileContent ContentOf(std::string text);

// The rest of `in`, which messages call `name`.
absl::StatusOr<std::string> ReadStream(std::istream& in,
                                       absl::string_view name);

// Writes a file that appears whole or not at all: a temporary file beside it
// takes its name when it is complete. Follows links; writes directly to a path
// that is no regular file (a pipe, a device).
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content);
// The same for a content that is in pieces.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const absl::string_view> pieces);

}  // namespace baton

#endif  // BATON_TOOLS_FILES_H_
