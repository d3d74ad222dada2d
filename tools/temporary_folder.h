// TemporaryFolder: a folder that is removed with its object.

#ifndef BATON_TOOLS_TEMPORARY_FOLDER_H_
#define BATON_TOOLS_TEMPORARY_FOLDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

// Owns a folder.
class TemporaryFolder {
 public:
  // Creates a new folder whose name begins with `name`. Also removes earlier
  // folders of that name whose processes were killed.
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> Create(
      absl::string_view name);
  // `lock` is a file descriptor; the destructor closes it.
  TemporaryFolder(std::string path, int lock);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  // Removes the folder with its contents.
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const int lock_;
};

}  // namespace baton

#endif  // BATON_TOOLS_TEMPORARY_FOLDER_H_
