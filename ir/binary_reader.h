// Modules from binary files: see docs/binary_format.md.

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
  // Which parts the reader compares with their checksums. Checking tensors
  // reads all of them, at memory bandwidth; without that check the pages of a
  // mapped file are read only when they are used.
  enum class Checksums { kAll, kNotTensors, kNone };
  Checksums checksums = Checksums::kAll;
};

struct BinaryContent {
  IRModule module;
  std::string comment;
};

// True if `bytes` begin as a binary file does.
bool IsBinary(absl::string_view bytes);

// The module in the binary file `bytes`; messages call it `name`. Its tensors
// use `bytes` in place: `owner` keeps them alive, and they must not change. If
// it is null, the bytes are copied. Tensors are aligned to 64 bytes within the
// file, and so in memory if `bytes` is.
//
// For any input, the result is a module or an error that names a byte and a
// field; memory and time are linear in the size of the input. The reader checks
// each node by itself. CheckWellFormed checks that the program makes sense, and
// CheckTypes that its types are those that inference would find. Operators and
// attributes must be registered.
absl::StatusOr<BinaryContent> ReadBinary(absl::string_view bytes,
                                         std::shared_ptr<const void> owner,
                                         absl::string_view name,
                                         const BinaryReadOptions& options = {});

struct BinaryModulesContent {
  std::vector<IRModule> modules;
  // By number in the file; the first is null.
  std::vector<NodeRef> nodes;
  // Tensors whose elements are not in the file. In the modules they are large
  // enough, but hold the bits of their checksum, a byte each, and then zeros:
  // they are equal if the tensors were.
  int64_t left_out_tensors = 0;
};

// The same for what WriteBinaryModules has written.
absl::StatusOr<BinaryModulesContent> ReadBinaryModules(
    absl::string_view bytes, std::shared_ptr<const void> owner,
    absl::string_view name, const BinaryReadOptions& options = {});

}  // namespace baton

#endif  // BATON_IR_BINARY_READER_H_
