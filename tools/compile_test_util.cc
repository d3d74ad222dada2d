#include "baton/tools/compile_test_util.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace baton {

std::string StackingLoop(absl::string_view limit) {
  return absl::StrCat(R"(
def @main(%x: Tensor[(2, 3), float32], %n: int64) {
  let %loop = fn (%i: int64, %go: bool, %n: int64, %s: Tensor[(2, 3), float32], %all: Tensor[(?, 2, 3), float32]) -> (Tensor[(2, 3), float32], Tensor[(?, 2, 3), float32]) {
    if (logical_and(%go, less(%i, %n))) {
      %0 = tanh(add(%s, 1f));
      %loop(add(%i, 1i64), less(min(%0), 0.9f), %n, %0, concatenate((%all, expand_dims(%0, axis=0)), axis=0))
    } else {
      (%s, %all)
    }
  };
  %1 = %loop(0i64, True, )",
                      limit,
                      R"(, %x, zeros(shape=[0, 2, 3], dtype="float32"));
  (%1.0, exp(%1.1))
}
)");
}

std::string ModelFile(absl::string_view name, absl::string_view text) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/", name);
  std::ofstream(path) << "#[version = \"0.0.5\"]\n" << text;
  return path;
}

std::map<std::string, std::string> ContentsOf(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path()] = std::string(std::istreambuf_iterator<char>(file), {});
  }
  return files;
}

bool Has(const std::string& tool) {
  return std::system(
             absl::StrCat(tool, " --version >/dev/null 2>&1").c_str()) == 0;
}

std::string OutputOf(const std::string& folder, const std::string& command) {
  const std::string path = folder + "/output";
  const int code = std::system(
      absl::StrCat("cd ", folder, " && { ", command, "; } >", path, " 2>&1")
          .c_str());
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  text.clear();  // nothing was printed
  if (code != 0) text << "exit " << code;
  return text.str();
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> FilesOf(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

int64_t SumOf(const std::string& text, const std::string& key) {
  int64_t sum = 0;
  for (size_t at = text.find(key); at != std::string::npos;
       at = text.find(key, at + 1)) {
    sum += std::strtoll(text.c_str() + at + key.size(), nullptr, 10);
  }
  return sum;
}

}  // namespace baton
