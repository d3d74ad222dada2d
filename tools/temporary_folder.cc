#include "baton/tools/temporary_folder.h"

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {

absl::StatusOr<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Create(
    absl::string_view name) {
  std::error_code ignored;
  std::string path = (std::filesystem::temp_directory_path(ignored) /
                      absl::StrCat(name, "-XXXXXX"))
                         .string();
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot make a folder like ", path));
  }
  return std::make_unique<TemporaryFolder>(std::move(path));
}

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace baton
