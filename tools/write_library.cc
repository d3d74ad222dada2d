// The side of written_library.h that has the compiler. Without the variable of
// the environment that names a folder for libraries it is a test by itself.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "baton/ir/module.h"
#include "baton/ir/module_text.h"
#include "baton/testing/random_program.h"
#include "baton/tools/compile.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/written_folder.h"
#include "baton/tools/written_library.h"

namespace baton {

absl::Status WriteLibrary(const LibraryOptions& options) {
  std::ostringstream out;
  const absl::Status status = CompileLibrary(options, out);
  const char* const root = std::getenv(kWrittenFolders);
  if (root == nullptr) return status;
  const std::string folder = NextWrittenFolder(root, options);
  if (status.ok()) {
    CopyFolder(options.output_dir, folder);
  } else {
    const std::string file = MessageFileOf(folder);
    std::filesystem::create_directories(
        std::filesystem::path(file).parent_path());
    std::ofstream(file) << status.message();
  }
  return status;
}

std::string TextOfRandomNetwork(uint32_t seed, int size) {
  const absl::StatusOr<IRModule> module =
      testing::RandomProgram(seed, {.size = size, .networks = true});
  // An error is no program: the compiler refuses it.
  return module.ok() ? AsText(*module) : module.status().ToString();
}

bool MayRunPrograms() { return std::getenv(kWrittenFolders) == nullptr; }

bool HasCompiler() { return true; }

}  // namespace baton
