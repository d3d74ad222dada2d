#include "baton/tools/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <istream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/near_names.h"
#include "baton/base/status_macros.h"

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
  // Closes the file. Returns true if all went well, including delayed writes.
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

namespace {

// The status of `path`; an error if there is nothing to read.
absl::StatusOr<fs::file_status> StatusOf(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return absl::NotFoundError(
        absl::StrCat("there is no file ", path, SimilarFiles(path)));
  }
  if (fs::is_directory(status)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a folder"));
  }
  return status;
}

}  // namespace

FileContent ContentOf(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  return {*owner, owner};
}

absl::StatusOr<FileContent> MapFile(const std::string& path) {
  BATON_ASSIGN_OR_RETURN(const fs::file_status status, StatusOf(path));
  struct stat info = {};
  const Descriptor file(fs::is_regular_file(status)
                            ? open(path.c_str(), O_RDONLY | O_CLOEXEC)
                            : -1);
  // Files that cannot be mapped, such as pipes and empty files, are read.
  if (file.get() >= 0 && fstat(file.get(), &info) == 0 && info.st_size > 0) {
    const auto size = static_cast<size_t>(info.st_size);
    void* const begin =
        mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (begin != MAP_FAILED) {
      return FileContent{
          {static_cast<const char*>(begin), size},
          std::shared_ptr<const void>(
              begin,
              [size](const void* p) { munmap(const_cast<void*>(p), size); }),
          /*is_mapped=*/true};
    }
  }
  BATON_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return ContentOf(std::move(text));
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  BATON_RETURN_IF_ERROR(StatusOf(path).status());
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error(errno, "read", path);
  return ReadStream(file, path);
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::string_view content) {
  return WriteFileAtomically(path, absl::MakeConstSpan(&content, 1));
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const absl::string_view> pieces) {
  std::error_code ignored;
  const bool is_special =
      fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
  if (is_special) {
    Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0 || !file.Write(pieces) || !file.Close()) {
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
      !file.Write(pieces) || !file.Close() ||
      std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int code = errno;
    std::remove(temporary.c_str());
    return Error(code, "write", path);
  }
  return absl::OkStatus();
}

}  // namespace baton
