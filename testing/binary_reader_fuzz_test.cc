// Reads arbitrary bytes: the result is a module or an error that names a byte.
// A module that was read is written as the same bytes, and can be checked and
// printed.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "baton/ir/binary_reader.h"
#include "baton/ir/binary_writer.h"
#include "baton/ir/module.h"
#include "baton/relay/ir/text_printer.h"
#include "baton/relay/ir/well_formed.h"

namespace baton {
namespace {

[[noreturn]] void Fail(const std::string& what, absl::string_view detail) {
  std::fprintf(stderr, "%s\n%.*s\n", what.c_str(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

std::string Written(const IRModule& module) {
  const absl::StatusOr<BinaryModule> binary = WriteBinary(module);
  if (!binary.ok()) Fail("cannot be written", binary.status().message());
  return binary->ToString();
}

void ReadOne(const std::string& bytes, BinaryReadOptions::Checksums checksums) {
  const absl::StatusOr<BinaryContent> content =
      ReadBinary(bytes, nullptr, "fuzz", {.checksums = checksums});
  if (!content.ok()) {
    if (!absl::StartsWith(content.status().message(), "fuzz: byte ")) {
      Fail("an error without a place", content.status().message());
    }
    return;
  }
  const std::string written = Written(content->module);
  const absl::StatusOr<BinaryContent> again =
      ReadBinary(written, nullptr, "written");
  if (!again.ok()) Fail("cannot be read again", again.status().message());
  if (Written(again->module) != written) Fail("differs when read again", "");
  if (!CheckWellFormed(content->module).ok()) return;
  if (!CheckTypes(content->module).ok()) return;
  const std::string text = AsText(content->module);
  if (AsText(again->module) != text) Fail("its text differs", text);
}

}  // namespace
}  // namespace baton

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using Checksums = baton::BinaryReadOptions::Checksums;
  std::string bytes;
  if (size > 0) bytes.assign(reinterpret_cast<const char*>(data), size);
  baton::ReadOne(bytes, Checksums::kAll);
  // Again as if whoever changed it knew what the header says of sizes: with
  // tensors behind the message, and without.
  constexpr size_t kHeaderSize = 64;
  if (size < kHeaderSize) return 0;
  const uint64_t file_size = size;
  std::memcpy(bytes.data() + 16, &file_size, sizeof(file_size));
  baton::ReadOne(bytes, Checksums::kNone);
  const uint64_t message_size = size - kHeaderSize;
  std::memcpy(bytes.data() + 24, &message_size, sizeof(message_size));
  baton::ReadOne(bytes, Checksums::kNone);
  return 0;
}
