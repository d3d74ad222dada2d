#include "baton/base/write_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

absl::Status Error(int code, const std::string& path) {
  return absl::ErrnoToStatus(code, absl::StrCat("cannot write ", path));
}

// Closes a file in its destructor, unless it was closed before.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { Close(); }

  int get() const { return fd_; }
  // Closes the file. Returns false on an error, including a delayed write error.
  bool Close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 || close(fd) == 0;
  }
  bool Write(absl::Span<const absl::string_view> pieces) {
    constexpr size_t kMostAtOnce = 1024;  // IOV_MAX
    std::vector<iovec> rest;
    rest.reserve(pieces.size());
    for (const absl::string_view piece : pieces) {
      rest.push_back({const_cast<char*>(piece.data()), piece.size()});
    }
    size_t next = 0;
    while (next < rest.size()) {
      const ssize_t n =
          writev(fd_, &rest[next],
                 static_cast<int>(std::min(kMostAtOnce, rest.size() - next)));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      auto written = static_cast<size_t>(n);
      for (; next < rest.size() && rest[next].iov_len <= written; ++next) {
        written -= rest[next].iov_len;
      }
      if (written == 0) continue;
      rest[next].iov_base = static_cast<char*>(rest[next].iov_base) + written;
      rest[next].iov_len -= written;
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

// True for a pipe or a device, to which one writes directly.
bool IsSpecial(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

// A temporary file beside the one that it is to replace; removed by the
// destructor unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string target) : target_(std::move(target)) {}
  TemporaryFile(TemporaryFile&& other) noexcept
      : temporary_(std::exchange(other.temporary_, "")),
        target_(std::move(other.target_)) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (!temporary_.empty()) std::remove(temporary_.c_str());
  }

  const std::string& target() const { return target_; }

  // Writes the temporary file. Returns 0, or errno of an error: closing the
  // file may change it.
  int Write(absl::Span<const absl::string_view> pieces) {
    // A new file could take the place of one that may not be written to.
    std::error_code ignored;
    if (fs::exists(target_, ignored) && access(target_.c_str(), W_OK) != 0) {
      return errno;
    }
    std::string temporary;
    Descriptor descriptor(CreateBeside(target_, &temporary));
    if (descriptor.get() < 0) return errno;
    temporary_ = std::move(temporary);
    // An old file hands its permissions down.
    struct stat old = {};
    const bool is_new = stat(target_.c_str(), &old) != 0;
    const bool is_written =
        (is_new || fchmod(descriptor.get(), old.st_mode & 07777) == 0) &&
        descriptor.Write(pieces) && descriptor.Close();
    return is_written ? 0 : errno;
  }

  // Replaces the target. Returns 0, or errno of an error.
  int Rename() {
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) return errno;
    temporary_.clear();
    return 0;
  }

 private:
  std::string temporary_;  // empty: there is none
  std::string target_;
};

}  // namespace

std::string FileToWrite(const std::string& path) {
  std::error_code error;
  fs::path file = path;
  // As many links as the system follows.
  constexpr int kMostLinks = 40;
  for (int i = 0; i < kMostLinks && fs::is_symlink(file, error); ++i) {
    const fs::path target = fs::read_symlink(file, error);
    if (error) break;
    file = file.parent_path() / target;
  }
  const fs::path canonical =
      fs::weakly_canonical(fs::absolute(file, error), error);
  return error || canonical.empty() ? path : canonical.string();
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content) {
  return WriteFileAtomically(path, absl::MakeConstSpan(&content, 1));
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const absl::string_view> pieces) {
  const FilePieces file = {path, pieces};
  return WriteFilesAtomically(absl::MakeConstSpan(&file, 1));
}

absl::Status WriteFilesAtomically(absl::Span<const FilePieces> files) {
  FlatHashSet<std::string> targets;
  for (const FilePieces& file : files) {
    std::error_code ignored;
    if (fs::is_directory(file.path, ignored)) return Error(EISDIR, file.path);
    if (!IsSpecial(file.path) &&
        !targets.insert(FileToWrite(file.path)).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, " would be written twice"));
    }
  }
  std::vector<TemporaryFile> complete;
  complete.reserve(files.size());
  for (const FilePieces& file : files) {
    if (IsSpecial(file.path)) continue;
    complete.emplace_back(FileToWrite(file.path));
    const int code = complete.back().Write(file.pieces);
    if (code != 0) return Error(code, file.path);
  }
  for (TemporaryFile& file : complete) {
    const int code = file.Rename();
    if (code != 0) return Error(code, file.target());
  }
  for (const FilePieces& file : files) {
    if (!IsSpecial(file.path)) continue;
    Descriptor device(open(file.path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0 || !device.Write(file.pieces) || !device.Close()) {
      return Error(errno, file.path);
    }
  }
  return absl::OkStatus();
}

}  // namespace baton
