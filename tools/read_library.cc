// The side of written_library.h that has no compiler.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/written_folder.h"
#include "baton/tools/written_library.h"

namespace baton {

absl::Status WriteLibrary(const LibraryOptions& options) {
  const char* const root = std::getenv(kWrittenFolders);
  if (root == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no folder of libraries: ", kWrittenFolders));
  }
  const std::string folder = NextWrittenFolder(root, options);
  if (std::filesystem::exists(folder)) {
    CopyFolder(folder, options.output_dir);
    return absl::OkStatus();
  }
  std::ostringstream message;
  message << std::ifstream(MessageFileOf(folder)).rdbuf();
  if (message.str().empty()) {
    message.clear();
    message << folder << " is not there: the program that writes it failed\n"
            << std::ifstream(absl::StrCat(root, "/log")).rdbuf();
  }
  return absl::InvalidArgumentError(message.str());
}

std::string TextOfRandomNetwork(uint32_t /*seed*/, int /*size*/) { return ""; }

bool MayRunPrograms() { return true; }

bool HasCompiler() { return false; }

}  // namespace baton
