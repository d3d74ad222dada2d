// Reads modules from binary files: see docs/binary_format.md.

#ifndef BATON_IR_BINARY_READER_H_
#define BATON_IR_BINARY_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"
#include "baton/ir/node.h"

namespace baton {

struct BinaryReadOptions {
  // The parts that the reader compares with their checksums. Checking tensors
  // reads all of them, at memory bandwidth. Without that check, the pages of a
  // mapped file are read only when they are used.
  enum class Checksums { kAll, kNotTensors, kNone };
  Checksums checksums = Checksums::kAll;
};

// The content of a file of WriteBinary.
struct BinaryContent {
  IRModule module;
  std::string comment;
};

// True if `bytes` begins like a binary file.
bool IsBinary(absl::string_view bytes);

// Reads the module in the binary file `bytes`; messages name it `name`. The
// tensors of the module use `bytes` in place: `owner` keeps `bytes` alive, and
// `bytes` must not change. If `owner` is null, the reader copies the bytes.
// Tensors are aligned to 64 bytes within the file, and therefore in memory if
// `bytes` is aligned.
//
// For every input, the result is a module or an error that names a byte and a
// field. Memory and time are linear in the size of the input. The reader checks
// each node separately. CheckWellFormed checks that the program is well-formed,
// and CheckTypes that its types are those that inference would find. Operators
// and attributes must be registered.
absl::StatusOr<BinaryContent> ReadBinary(absl::string_view bytes,
                                         std::shared_ptr<const void> owner,
                                         absl::string_view name,
                                         const BinaryReadOptions& options = {});

// The content of a file of WriteBinaryModules.
struct BinaryModulesContent {
  std::vector<IRModule> modules;
  // The nodes by their number in the file; number 0 is null.
  std::vector<NodeRef> nodes;
  // The number of tensors whose elements are not in the file. The modules
  // contain substitutes of the right size: the bits of the checksum, one byte
  // each, then zeros. Two substitutes are equal if the tensors were equal.
  int64_t left_out_tensors = 0;
};

// As ReadBinary, for files of WriteBinaryModules.
absl::StatusOr<BinaryModulesContent> ReadBinaryModules(
    absl::string_view bytes, std::shared_ptr<const void> owner,
    absl::string_view name, const BinaryReadOptions& options = {});

}  // namespace baton

#endif  // BATON_IR_BINARY_READER_H_
