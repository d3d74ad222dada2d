// A folder that goes with its object.

#ifndef BATON_TOOLS_TEMPORARY_FOLDER_H_
#define BATON_TOOLS_TEMPORARY_FOLDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace baton {

class TemporaryFolder {
 public:
  // A new one, whose name begins with `name`. Removes those of that name, made
  // here, whose processes were killed before they could.
  static absl::StatusOr<std::unique_ptr<TemporaryFolder>> Create(
      absl::string_view name);
  // `lock` is a file descriptor that is closed when the folder goes.
  TemporaryFolder(std::string path, int lock);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  // Removes it with all that is in it.
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  const int lock_;
};

}  // namespace baton

#endif  // BATON_TOOLS_TEMPORARY_FOLDER_H_
