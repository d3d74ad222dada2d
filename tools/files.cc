#include "baton/tools/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "baton/ir/diagnostics.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

absl::Status Error(int code, absl::string_view what, const std::string& path) {
  return absl::ErrnoToStatus(code, absl::StrCat("cannot ", what, " ", path));
}

// `; did you mean "model.relay"?`, of the files in the folder of `path`.
std::string SimilarFiles(const fs::path& path) {
  // Dots would make names with the same ending look alike.
  const auto key = [](const fs::path& name) {
    return absl::StrReplaceAll(name.string(), {{".", "_"}});
  };
  std::error_code ignored;
  const fs::path folder = path.parent_path();
  std::map<std::string, std::string> files;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, ignored), end;
       it != end; it.increment(ignored)) {
    const fs::path name = it->path().filename();
    files.emplace(key(name), (folder / name).string());
  }
  std::vector<std::string> keys;
  for (const auto& [name, file] : files) keys.push_back(name);
  std::string result;
  for (const std::string& near : NearestNames(key(path.filename()), keys)) {
    absl::StrAppend(&result, result.empty() ? "; did you mean \"" : " or \"",
                    files[near], "\"");
  }
  return result.empty() ? result : result + "?";
}

// Closes a file unless told that it is closed.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }

  int get() const { return fd_; }
  // Whether it went well, of which late errors in writing are a part.
  bool Close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 || close(fd) == 0;
  }
  bool Write(absl::string_view content) {
    while (!content.empty()) {
      const ssize_t n = write(fd_, content.data(), content.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      content.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

 private:
  int fd_;
};

// Opens a new file in the folder of `target`; -1 with errno if it cannot.
int CreateBeside(const std::string& target, std::string* path) {
  constexpr int kMostTries = 100;
  for (int i = 0; i < kMostTries; ++i) {
    *path = absl::StrCat(target, ".tmp", getpid(), "-", i);
    const int fd =
        open(path->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

}  // namespace

absl::StatusOr<std::string> ReadStream(std::istream& in,
                                       absl::string_view name) {
  constexpr size_t kLeast = size_t{1} << 16;
  std::string text;
  size_t size = 0;
  while (in) {
    // Doubles, so that long inputs are copied few times.
    text.resize(size + (size < kLeast ? kLeast : size));
    in.read(text.data() + size,
            static_cast<std::streamsize>(text.size() - size));
    size += static_cast<size_t>(in.gcount());
  }
  if (in.bad()) {
    return absl::UnavailableError(absl::StrCat("cannot read ", name));
  }
  text.resize(size);
  return text;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(
        absl::StrCat("there is no file ", path, SimilarFiles(path)));
  }
  if (fs::is_directory(status)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a folder"));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error(errno, "read", path);
  return ReadStream(file, path);
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content) {
  std::error_code ignored;
  const bool is_special =
      fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  if (is_special) {
    Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0 || !file.Write(content) || !file.Close()) {
      return Error(errno, "write", path);
    }
    return absl::OkStatus();
  }
  std::string target = fs::weakly_canonical(path, ignored).string();
  if (target.empty()) target = path;
  std::string temporary;
  const int fd = CreateBeside(target, &temporary);
  if (fd < 0) return Error(errno, "write", path);
  Descriptor file(fd);
  // An old file hands its permissions down.
  struct stat old = {};
  const bool is_new = stat(target.c_str(), &old) != 0;
  if ((!is_new && fchmod(fd, old.st_mode & 07777) != 0) ||
      !file.Write(content) || !file.Close() ||
      std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int code = errno;
    std::remove(temporary.c_str());
    return Error(code, "write", path);
  }
  return absl::OkStatus();
}

}  // namespace baton
