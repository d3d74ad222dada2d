// Reads and writes files, for the tools.

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

// Reads the rest of `in`; messages name it `name`.
absl::StatusOr<std::string> ReadStream(std::istream& in,
                                       absl::string_view name);

// Writes a file atomically: writes a temporary file beside it and renames it
// when it is complete. Follows links. Writes directly to a path that is not a
// regular file (a pipe, a device).
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content);
// As above, for content in several pieces.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const absl::string_view> pieces);

}  // namespace baton

#endif  // BATON_TOOLS_FILES_H_
