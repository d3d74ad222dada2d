#include "baton/testing/tar_file.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/status_macros.h"
#include "baton/base/text_file.h"

namespace baton::testing {
namespace {

// An archive is a sequence of blocks: a header, and those of the content.
constexpr size_t kBlock = 512;

// A field of a header ends with its room or with a zero.
absl::string_view Field(absl::string_view header, size_t begin, size_t size) {
  const absl::string_view field = header.substr(begin, size);
  return field.substr(0, field.find('\0'));
}

}  // namespace

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadTarFile(
    const std::string& path) {
  BATON_ASSIGN_OR_RETURN(const std::string archive, ReadTextFile(path));
  const absl::string_view bytes = archive;
  std::vector<std::pair<std::string, std::string>> files;
  size_t at = 0;
  // A block of zeros is the end.
  while (at + kBlock <= bytes.size() && bytes[at] != '\0') {
    const absl::string_view header = bytes.substr(at, kBlock);
    std::string name(Field(header, 0, 100));
    const absl::string_view prefix = Field(header, 345, 155);
    if (!prefix.empty()) name = absl::StrCat(prefix, "/", name);
    size_t size = 0;
    for (const char digit : Field(header, 124, 12)) {
      if (digit >= '0' && digit <= '7') size = size * 8 + (digit - '0');
    }
    at += kBlock;
    const char kind = header[156];
    constexpr char kFile = '0';
    constexpr char kFolder = '5';
    if ((kind != kFile && kind != kFolder) || size > bytes.size() - at) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": cannot read the entry ", name));
    }
    if (kind == kFile) files.emplace_back(name, bytes.substr(at, size));
    at += (size + kBlock - 1) / kBlock * kBlock;
  }
  if (at + kBlock > bytes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": has no end"));
  }
  return files;
}

}  // namespace baton::testing
