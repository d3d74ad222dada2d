#include "baton/instrument/dump.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/testing/toy_passes.h"
#include "baton/transform/pass.h"
#include "baton/transform/pass_context.h"
#include "baton/transform/sequential.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> FilesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

TEST(DumpTest, OneFileForEachExecution) {
  const std::string folder = ::testing::TempDir() + "/dump_test/inner";
  std::filesystem::remove_all(folder);
  const IRModule module = toy::Module();
  const Pass pass = Sequential(
      {toy::AToB(), toy::Nothing({.name = "No/thing"}), toy::Fails()});
  EXPECT_FALSE(
      PassContext({.instruments = {std::make_shared<DumpInstrument>(folder)}})
          .Run([&] { return pass(module); })
          .ok());
  EXPECT_THAT(
      FilesIn(folder),
      ElementsAre("0000.input.relay", "0001.sequential.failed.relay",
                  "0002.AToB.changed.relay", "0003.InferType.changed.relay",
                  "0004.No_thing.unchanged.relay",
                  "0005.InferType.unchanged.relay", "0006.Fails.failed.relay"));
  EXPECT_EQ(ReadFile(folder + "/0000.input.relay"), AsText(module));
  EXPECT_THAT(ReadFile(folder + "/0002.AToB.changed.relay"),
              HasSubstr("toy.b(%x)"));
}

TEST(DumpTest, OnlyChangedResults) {
  const std::string folder = ::testing::TempDir() + "/dump_test/changed";
  std::filesystem::remove_all(folder);
  const Pass pass = Sequential({toy::AToB(), toy::Nothing({})});
  const PassContext context(
      {.instruments = {std::make_shared<DumpInstrument>(
           DumpOptions{.folder = folder, .changed_only = true})}});
  for (int i = 0; i < 2; ++i) {  // its own dumps are replaced
    EXPECT_TRUE(context.Run([&] { return pass(toy::Module()); }).ok());
    EXPECT_THAT(
        FilesIn(folder),
        ElementsAre("0000.input.relay", "0001.sequential.changed.relay",
                    "0002.AToB.changed.relay", "0003.InferType.changed.relay"));
  }
}

TEST(DumpTest, AFolderWithOtherDumpsIsRefused) {
  const std::string folder = ::testing::TempDir() + "/dump_test/other";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/notes.txt") << "kept";
  EXPECT_TRUE(DumpInstrument::CheckFolder(folder).ok());
  std::ofstream(folder + "/0012.FuseOps.changed.relay") << "";
  const absl::Status status =
      PassContext({.instruments = {std::make_shared<DumpInstrument>(folder)}})
          .Run([] { return absl::OkStatus(); });
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("has dumps of another run, such as "
                        "0012.FuseOps.changed.relay"));
}

TEST(DumpTest, FolderThatCannotBeMade) {
  const absl::Status status =
      PassContext({.instruments = {std::make_shared<DumpInstrument>(
                       "/dev/null/folder")}})
          .Run([] { return absl::OkStatus(); });
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("cannot make folder /dev/null/folder"));
}

}  // namespace
}  // namespace baton
