// Writes files atomically.

#ifndef BATON_BASE_WRITE_FILE_H_
#define BATON_BASE_WRITE_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace baton {

// Writes a file that appears whole or not at all: a temporary file beside it
// takes its name when it is complete. Follows links, also to a file that is not
// there yet; writes directly to a path that is no regular file (a pipe, a
// device). An error if there is a file that may not be written to.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content);
// Writes a content that is in pieces.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const absl::string_view> pieces);

// Contents for files.
struct FileToAppear {
  std::string path;
  absl::Span<const absl::string_view> pieces;  // of the caller
};
// Writes files as WriteFileAtomically does, but none takes its name before all
// are complete: where one cannot be written, for example on a full disk, all
// stay as they were. What is no regular file is written to at last. Paths must
// differ.
absl::Status WriteFilesAtomically(absl::Span<const FileToAppear> files);

// The absolute path, without links, of the file that WriteFileAtomically
// writes.
std::string FileToWrite(const std::string& path);

}  // namespace baton

#endif  // BATON_BASE_WRITE_FILE_H_
