#include "baton/tools/written_folder.h"

#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "baton/tools/compile_options.h"
#include "gtest/gtest.h"

namespace baton {

std::string NextWrittenFolder(const std::string& root,
                              const LibraryOptions& options) {
  // How often each folder was asked for.
  static auto& counts = *new std::map<std::string, int>();
  const ::testing::TestInfo& test =
      *::testing::UnitTest::GetInstance()->current_test_info();
  absl::string_view folder = options.output_dir;
  folder = absl::StripPrefix(folder, ::testing::TempDir());
  const std::string name =
      absl::StrReplaceAll(absl::StripPrefix(folder, "/"), {{"/", "."}});
  const std::string key =
      absl::StrCat(root, "/", test.test_suite_name(), ".", test.name(), "/",
                   name.empty() ? "files" : name);
  return absl::StrCat(key, ".", counts[key]++);
}

std::string MessageFileOf(const std::string& written_folder) {
  return written_folder + ".message";
}

void CopyFolder(const std::string& from, const std::string& to) {
  std::filesystem::create_directories(to);
  std::filesystem::copy(from, to,
                        std::filesystem::copy_options::recursive |
                            std::filesystem::copy_options::overwrite_existing);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(to)) {
    std::filesystem::permissions(entry.path(),
                                 std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
  }
}

}  // namespace baton
