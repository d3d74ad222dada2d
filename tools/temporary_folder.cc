#include "baton/tools/temporary_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

// A file in the folder that its process holds locked: the system lets go of the
// lock whatever ends the process.
constexpr char kLock[] = ".lock";

// Makes the lock, already taken; -1 if it cannot.
int MakeLock(const std::string& folder) {
  const std::string made = absl::StrCat(folder, "/", kLock, ".new");
  const int lock =
      open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (lock < 0) return -1;
  const std::string name = absl::StrCat(folder, "/", kLock);
  if (flock(lock, LOCK_EX | LOCK_NB) != 0 ||
      std::rename(made.c_str(), name.c_str()) != 0) {
    close(lock);
    return -1;
  }
  return lock;
}

// Removes the folder of a process that is no more.
void RemoveIfStale(const fs::path& folder) {
  const int lock = open((folder / kLock).c_str(),
                        O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (lock < 0) return;
  std::error_code ignored;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(folder, ignored);
  close(lock);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TemporaryFolder>> TemporaryFolder::Create(
    absl::string_view name) {
  std::error_code ignored;
  const fs::path parent = fs::temp_directory_path(ignored);
  const std::string prefix = absl::StrCat(name, "-");
  for (fs::directory_iterator it(parent, ignored), end; it != end;
       it.increment(ignored)) {
    if (absl::StartsWith(it->path().filename().string(), prefix) &&
        !it->is_symlink(ignored)) {
      RemoveIfStale(it->path());
    }
  }
  std::string path = (parent / absl::StrCat(prefix, "XXXXXX")).string();
  if (mkdtemp(path.data()) == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("cannot make a folder like ", path));
  }
  const int lock = MakeLock(path);
  return std::make_unique<TemporaryFolder>(std::move(path), lock);
}

TemporaryFolder::TemporaryFolder(std::string path, int lock)
    : path_(std::move(path)), lock_(lock) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace baton
