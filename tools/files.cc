#include "baton/tools/files.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/hash_table.h"
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

}  // namespace

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
  const int file = fs::is_regular_file(status)
                       ? open(path.c_str(), O_RDONLY | O_CLOEXEC)
                       : -1;
  // Files that cannot be mapped, such as pipes and empty files, are read.
  void* begin = MAP_FAILED;
  if (file >= 0) {
    if (fstat(file, &info) == 0 && info.st_size > 0) {
      begin = mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ,
                   MAP_PRIVATE, file, 0);
    }
    close(file);
  }
  if (begin != MAP_FAILED) {
    const auto size = static_cast<size_t>(info.st_size);
    return FileContent{
        {static_cast<const char*>(begin), size},
        std::shared_ptr<const void>(
            begin,
            [size](const void* p) { munmap(const_cast<void*>(p), size); }),
        /*is_mapped=*/true};
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

absl::Status CheckDifferentFiles(
    absl::Span<const std::pair<std::string, std::string>> files) {
  std::map<std::string, std::string> flags;
  for (const auto& [flag, path] : files) {
    std::error_code ignored;
    if (path == "-" && flag != "--output" && absl::StartsWith(flag, "--")) {
      return absl::InvalidArgumentError(absl::StrCat(
          flag, "=-: the flag names a file, which - is not; ./- would be one"));
    }
    if (path.empty() || path == "-" ||
        (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))) {
      continue;
    }
    const auto [known, is_new] = flags.emplace(FileToWrite(path), flag);
    if (is_new) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(known->second, " and ", flag, " are one file, ", path));
  }
  return absl::OkStatus();
}

absl::Status CheckNotRead(
    absl::Span<const std::pair<std::string, std::string>> written,
    absl::Span<const std::string> read) {
  FlatHashSet<std::string> kept;
  for (const std::string& path : read) {
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) kept.insert(FileToWrite(path));
  }
  for (const auto& [flag, path] : written) {
    if (path.empty() || path == "-" || !kept.contains(FileToWrite(path))) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        flag, ": ", path, " is read and would be written: give another file"));
  }
  return absl::OkStatus();
}

}  // namespace baton
