#include "baton/tools/compile_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/backend/library/compile_model.h"
#include "baton/base/status_macros.h"
#include "baton/tir/codegen/elf_object.h"
#include "baton/tir/codegen/elf_reader.h"
#include "baton/tools/compile_options.h"
#include "baton/tools/files.h"

namespace baton {
namespace {

// Folders that are removed again unless they are kept.
class NewFolders {
 public:
  NewFolders() = default;
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;
  ~NewFolders() {
    // The last one may be in the first.
    for (size_t i = made_.size(); i-- > 0;) rmdir(made_[i].c_str());
  }
  absl::Status Make(const std::string& path) {
    if (mkdir(path.c_str(), 0777) == 0) {
      made_.push_back(path);
    } else if (errno != EEXIST) {
      return absl::ErrnoToStatus(
          errno, absl::StrCat("cannot create the folder ", path));
    }
    return absl::OkStatus();
  }
  void Keep() { made_.clear(); }

 private:
  std::vector<std::string> made_;
};

}  // namespace

absl::StatusOr<std::vector<CompileModelOptions::Object>> ReadObjects(
    const std::string& paths) {
  std::vector<CompileModelOptions::Object> objects;
  for (absl::string_view path : absl::StrSplit(paths, ',', absl::SkipEmpty())) {
    BATON_ASSIGN_OR_RETURN(std::string bytes, ReadFile(std::string(path)));
    std::string name(path.substr(path.rfind('/') + 1));
    if (!tir::IsArchive(bytes)) {
      objects.push_back({std::move(name), std::move(bytes)});
      continue;
    }
    BATON_ASSIGN_OR_RETURN(const std::vector<tir::ArchiveMember> members,
                           tir::ReadArchive(bytes));
    for (const tir::ArchiveMember& member : members) {
      objects.push_back({absl::StrCat(name, "(", member.name, ")"),
                         std::string(member.bytes)});
    }
  }
  return objects;
}

absl::StatusOr<std::string> ObjectText(const tir::ElfObject& object) {
  std::string text;
  BATON_RETURN_IF_ERROR(WriteElfObject(object, [&text](absl::string_view part) {
    absl::StrAppend(&text, part);
    return absl::OkStatus();
  }));
  return text;
}

std::string WithoutEndSlashes(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

absl::Status CheckFolder(absl::string_view flag, const std::string& folder,
                         const std::string& made_before) {
  struct stat info = {};
  if (stat(folder.c_str(), &info) == 0) {
    if (!S_ISDIR(info.st_mode)) {
      return absl::InvalidArgumentError(
          absl::StrCat(flag, ": ", folder, " is not a folder"));
    }
    if (access(folder.c_str(), W_OK | X_OK) == 0) return absl::OkStatus();
    return absl::ErrnoToStatus(
        errno, absl::StrCat(flag, ": cannot write to the folder ", folder));
  }
  const std::string parent =
      std::filesystem::path(FileToWrite(folder)).parent_path();
  if ((!made_before.empty() && parent == FileToWrite(made_before)) ||
      access(parent.c_str(), W_OK | X_OK) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(
      errno, absl::StrCat(flag, ": cannot create the folder ", folder));
}

absl::Status WriteFiles(
    const LibraryOptions& options, absl::Span<const std::string> further_files,
    absl::Span<
        const std::pair<std::string, const std::vector<CompiledModel::File>*>>
        folders,
    std::ostream& out) {
  NewFolders made;
  std::vector<std::string> read = {FileToWrite(options.model),
                                   FileToWrite(options.inputs)};
  for (absl::string_view path :
       absl::StrSplit(options.objects, ',', absl::SkipEmpty())) {
    read.push_back(FileToWrite(std::string(path)));
  }
  for (const std::string& path : further_files) {
    read.push_back(FileToWrite(path));
  }
  // Stable: pieces of `changed` are in `texts`.
  std::deque<absl::string_view> texts;
  std::vector<FilePieces> changed;
  for (const auto& [folder, files] : folders) {
    if (folder.empty()) continue;
    BATON_RETURN_IF_ERROR(made.Make(folder));
    for (const CompiledModel::File& file : *files) {
      std::string path = absl::StrCat(folder, "/", file.name);
      // A file that stays as it is keeps its time: it is not compiled again.
      const absl::StatusOr<std::string> present = ReadFile(path);
      if (present.ok() && *present == file.text) continue;
      if (std::find(read.begin(), read.end(), FileToWrite(path)) !=
          read.end()) {
        return absl::InvalidArgumentError(absl::StrCat(
            path,
            " is read and would be written: give another --output_dir "
            "or --name"));
      }
      texts.emplace_back(file.text);
      changed.push_back(
          {std::move(path), absl::MakeConstSpan(&texts.back(), 1)});
    }
  }
  BATON_RETURN_IF_ERROR(WriteFilesAtomically(changed));
  made.Keep();
  for (const auto& [folder, files] : folders) {
    if (folder.empty()) continue;
    for (const CompiledModel::File& file : *files) out << file.name << "\n";
  }
  return absl::OkStatus();
}

}  // namespace baton
