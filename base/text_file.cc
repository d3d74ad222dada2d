#include "baton/base/text_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <istream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/limits.h"

namespace baton {

absl::StatusOr<std::string> ReadStream(std::istream& in,
                                       absl::string_view name) {
  constexpr size_t kLeast = size_t{1} << 16;
  constexpr size_t kMost = size_t{1} << 26;
  // Blocks, so that what never ends is not copied before it is refused.
  std::vector<std::string> blocks;
  size_t size = 0;
  while (in) {
    std::string block(std::clamp(size, kLeast, kMost), '\0');
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    block.resize(static_cast<size_t>(in.gcount()));
    size += block.size();
    const absl::Status status = CheckStreamBytes(static_cast<int64_t>(size));
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(name, ": ", status.message()));
    }
    blocks.push_back(std::move(block));
  }
  if (in.bad()) {
    return absl::UnavailableError(absl::StrCat("cannot read ", name));
  }
  if (blocks.size() == 1) return std::move(blocks[0]);
  std::string text;
  text.reserve(size);
  for (std::string& block : blocks) {
    text += block;
    std::string().swap(block);
  }
  return text;
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  if (path == "-") return ReadStream(std::cin, "<stdin>");
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(path, " is a folder"));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const bool exists = std::filesystem::exists(path, error);
    return absl::NotFoundError(
        absl::StrCat(exists ? "cannot read " : "there is no file ", path));
  }
  return ReadStream(in, path);
}

}  // namespace baton
