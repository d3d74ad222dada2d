#include "baton/testing/tar_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The archive of a folder with a short file, an empty one, and one that fills
// two blocks.
std::string Archive(const std::string& name) {
  const std::string folder = absl::StrCat(::testing::TempDir(), "/", name);
  std::filesystem::create_directories(folder + "/a/b");
  std::ofstream(folder + "/a/b/short") << "x\n";
  std::ofstream(folder + "/a/empty");
  std::ofstream(folder + "/a/two_blocks") << std::string(1024, '2');
  const std::string command =
      absl::StrCat("tar --create --format=ustar --sort=name --directory='",
                   folder, "' --file='", folder, ".tar' a");
  EXPECT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c)
  return folder + ".tar";
}

TEST(TarFileTest, HasTheFilesOfAFolder) {
  BATON_ASSERT_OK_AND_ASSIGN(const auto files, ReadTarFile(Archive("whole")));
  EXPECT_THAT(files, ElementsAre(Pair("a/b/short", "x\n"), Pair("a/empty", ""),
                                 Pair("a/two_blocks", std::string(1024, '2'))));
}

TEST(TarFileTest, WhatIsCutIsAnError) {
  const std::string archive = Archive("cut");
  for (const int size : {512, 600, 3000}) {
    std::filesystem::resize_file(archive, size);
    EXPECT_FALSE(ReadTarFile(archive).ok()) << size;
    Archive("cut");
  }
}

TEST(TarFileTest, LinksAreErrors) {
  const std::string folder = ::testing::TempDir() + "/linked";
  std::filesystem::create_directories(folder);
  std::filesystem::create_symlink("nowhere", folder + "/link");
  const std::string command = absl::StrCat("tar --create --directory='", folder,
                                           "' --file='", folder, ".tar' link");
  ASSERT_EQ(std::system(command.c_str()), 0);  // NOLINT(cert-env33-c)
  EXPECT_THAT(ReadTarFile(folder + ".tar"),
              StatusIs(absl::StatusCode::kInvalidArgument, "link"));
}

}  // namespace
}  // namespace baton::testing
