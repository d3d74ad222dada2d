#include "baton/tools/files.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/limits.h"
#include "baton/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

namespace fs = std::filesystem;

using testing::IsOk;
using testing::StatusIs;

class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(
        ::testing::TempDir(), "/files_",
        ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  std::string Path(const std::string& name) const {
    return absl::StrCat(folder_, "/", name);
  }
  int CountFiles() const {
    int n = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder_)) {
      ++n;
    }
    return n;
  }

  std::string folder_;
};

TEST_F(FilesTest, RoundTrip) {
  std::string content = "a\nb";
  content.push_back('\0');
  content.append(300000, 'x');
  ASSERT_THAT(WriteFileAtomically(Path("a"), content), IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(Path("a")));
  EXPECT_EQ(read, content);
  ASSERT_THAT(WriteFileAtomically(Path("a"), ""), IsOk());
  BATON_ASSERT_OK_AND_ASSIGN(const std::string empty, ReadFile(Path("a")));
  EXPECT_EQ(empty, "");
  EXPECT_EQ(CountFiles(), 1);
}

TEST_F(FilesTest, ReadStream) {
  std::istringstream in("one\ntwo");
  BATON_ASSERT_OK_AND_ASSIGN(const std::string read, ReadStream(in, "x"));
  EXPECT_EQ(read, "one\ntwo");
}

TEST_F(FilesTest, AStreamThatNeverEndsIsRefusedAtALimit) {
  EXPECT_THAT(ReadFile("/dev/zero"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "/dev/zero: an input of more bytes than the limit "
                       "(limits.max_stream_bytes="));
  Limits limits;
  limits.max_stream_bytes = 100'000;
  const ScopedLimits scope(limits);
  std::istringstream some(std::string(100'000, 'x'));
  EXPECT_THAT(ReadStream(some, "some"), IsOk());
  std::istringstream more(std::string(100'001, 'x'));
  EXPECT_THAT(ReadStream(more, "more"),
              StatusIs(absl::StatusCode::kResourceExhausted, "more: "));
}

TEST_F(FilesTest, MissingFileSuggestsOthers) {
  std::ofstream(Path("model.relay")) << "";
  std::ofstream(Path("other.relay")) << "";
  EXPECT_THAT(
      ReadFile(Path("modle.relay")),
      StatusIs(absl::StatusCode::kNotFound,
               absl::StrCat("there is no file ", Path("modle.relay"),
                            "; did you mean \"", Path("model.relay"), "\"?")));
  EXPECT_THAT(ReadFile("/no/such/folder/x"),
              StatusIs(absl::StatusCode::kNotFound, "folder/x"));
}

TEST_F(FilesTest, FolderIsNoFile) {
  EXPECT_THAT(ReadFile(folder_),
              StatusIs(absl::StatusCode::kInvalidArgument, "is a folder"));
  EXPECT_FALSE(WriteFileAtomically(folder_, "x").ok());
}

TEST_F(FilesTest, FolderThatIsNotThere) {
  EXPECT_THAT(WriteFileAtomically(Path("no/a"), "x"),
              StatusIs(absl::StatusCode::kNotFound, "no/a"));
  EXPECT_EQ(CountFiles(), 0);
}

TEST_F(FilesTest, PermissionsAreThoseOfTheOldFileOrOfANewOne) {
  std::ofstream(Path("plain")) << "";
  ASSERT_THAT(WriteFileAtomically(Path("new"), "x"), IsOk());
  EXPECT_EQ(fs::status(Path("new")).permissions(),
            fs::status(Path("plain")).permissions());
  fs::permissions(Path("plain"), fs::perms::owner_all);
  ASSERT_THAT(WriteFileAtomically(Path("plain"), "x"), IsOk());
  EXPECT_EQ(fs::status(Path("plain")).permissions(), fs::perms::owner_all);
}

TEST_F(FilesTest, LinksAreFollowed) {
  std::ofstream(Path("file")) << "old";
  fs::create_symlink("file", Path("link"));
  ASSERT_THAT(WriteFileAtomically(Path("link"), "new"), IsOk());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(Path("file")));
  EXPECT_EQ(read, "new");
}

TEST_F(FilesTest, LinksToWhatIsNotThereAreFollowed) {
  fs::create_symlink("later", Path("link"));
  fs::create_symlink("link", Path("chain"));
  ASSERT_THAT(WriteFileAtomically(Path("chain"), "new"), IsOk());
  EXPECT_TRUE(fs::is_symlink(Path("chain")));
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  BATON_ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(Path("later")));
  EXPECT_EQ(read, "new");
}

TEST_F(FilesTest, WhatMayNotBeWrittenToIsKept) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write to all files";
  std::ofstream(Path("kept")) << "old";
  fs::permissions(Path("kept"), fs::perms::owner_read);
  EXPECT_THAT(WriteFileAtomically(Path("kept"), "new"),
              StatusIs(absl::StatusCode::kPermissionDenied, "cannot write"));
}

TEST_F(FilesTest, OneFileForTwoFlagsIsAMistake) {
  std::ofstream(Path("file")) << "old";
  fs::create_symlink("file", Path("link"));
  EXPECT_THAT(CheckDifferentFiles({{"--a", Path("file")},
                                   {"--b", Path("other")},
                                   {"--c", ""},
                                   {"--d", ""},
                                   {"--e", "/dev/null"},
                                   {"--f", "/dev/null"}}),
              IsOk());
  EXPECT_THAT(
      CheckDifferentFiles({{"--a", Path("file")}, {"--b", Path("./link")}}),
      StatusIs(absl::StatusCode::kInvalidArgument, "--a and --b are one file"));
  EXPECT_THAT(CheckDifferentFiles({{"--output", "-"}}), IsOk());
  EXPECT_THAT(CheckDifferentFiles({{"--report", "-"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "./- would be one"));
  // Also one that is not there yet.
  EXPECT_THAT(CheckDifferentFiles(
                  {{"--a", Path("new")}, {"--b", Path("missing/../new")}}),
              StatusIs(absl::StatusCode::kInvalidArgument, "--a and --b"));
}

TEST_F(FilesTest, FilesThatAreReadAreNotWrittenOver) {
  std::ofstream(Path("file")) << "old";
  fs::create_symlink("file", Path("link"));
  const std::vector<std::string> read = {"", Path("file"), Path("not_there"),
                                         folder_, "/dev/null"};
  EXPECT_THAT(CheckNotRead({{"--a", ""},
                            {"--b", "-"},
                            {"--c", Path("other")},
                            {"--d", Path("not_there")},
                            {"--e", "/dev/null"}},
                           read),
              IsOk());
  EXPECT_THAT(
      CheckNotRead({{"--a", Path("other")}, {"--b", Path("./link")}}, read),
      StatusIs(absl::StatusCode::kInvalidArgument,
               "--b: " + Path("./link") + " is read and would be written"));
}

TEST_F(FilesTest, AllFilesAppearOrNone) {
  std::ofstream(Path("a")) << "old";
  const absl::string_view text[] = {"n", "ew"};
  EXPECT_THAT(WriteFilesAtomically({{Path("a"), text}, {Path("no/b"), text}}),
              StatusIs(absl::StatusCode::kNotFound, "no/b"));
  EXPECT_THAT(
      WriteFilesAtomically(
          {{Path("a"), text}, {Path("c"), text}, {folder_, text}}),
      StatusIs(absl::StatusCode::kFailedPrecondition, "Is a directory"));
  EXPECT_EQ(CountFiles(), 1);
  BATON_ASSERT_OK_AND_ASSIGN(std::string read, ReadFile(Path("a")));
  EXPECT_EQ(read, "old");
  ASSERT_THAT(WriteFilesAtomically(
                  {{Path("a"), text}, {Path("c"), text}, {"/dev/null", text}}),
              IsOk());
  for (const char* name : {"a", "c"}) {
    BATON_ASSERT_OK_AND_ASSIGN(read, ReadFile(Path(name)));
    EXPECT_EQ(read, "new");
  }
  EXPECT_EQ(CountFiles(), 2);
}

TEST_F(FilesTest, NoFileIsWrittenTwice) {
  std::ofstream(Path("a")) << "old";
  fs::create_symlink("a", Path("link"));
  const absl::string_view text[] = {"new"};
  for (const char* name : {"a", "./a", "link"}) {
    EXPECT_THAT(
        WriteFilesAtomically({{Path("a"), text}, {Path(name), text}}),
        StatusIs(absl::StatusCode::kInvalidArgument, "would be written twice"));
    BATON_ASSERT_OK_AND_ASSIGN(const std::string read, ReadFile(Path("a")));
    EXPECT_EQ(read, "old");
  }
  EXPECT_EQ(CountFiles(), 2);
  EXPECT_THAT(WriteFilesAtomically({{"/dev/null", text}, {"/dev/null", text}}),
              IsOk());
}

TEST_F(FilesTest, DevicesAreWrittenTo) {
  EXPECT_THAT(WriteFileAtomically("/dev/null", "x"), IsOk());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THAT(
      WriteFileAtomically("/dev/full", "x"),
      StatusIs(absl::StatusCode::kResourceExhausted, "cannot write /dev/full"));
}

}  // namespace
}  // namespace baton
