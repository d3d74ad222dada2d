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

// A file and its new content.
struct FilePieces {
  std::string path;
  absl::Span<const absl::string_view> pieces;  // of the caller
};
// Writes files as WriteFileAtomically does, but renames no temporary file
// before all are complete: where one cannot be written, for example on a full
// disk, all files stay as they were. Only if a rename itself fails, the files
// before it are new and the others are old. Pipes and devices are written to
// after the renames. An error, before any file is written, if two paths are one
// regular file.
absl::Status WriteFilesAtomically(absl::Span<const FilePieces> files);

// The absolute path, without links, of the file that WriteFileAtomically
// writes.
std::string FileToWrite(const std::string& path);

}  // namespace baton

#endif  // BATON_BASE_WRITE_FILE_H_
