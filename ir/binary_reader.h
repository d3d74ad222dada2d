// Modules from binary files: see docs/binary_format.md.

#ifndef BATON_IR_BINARY_READER_H_
#define BATON_IR_BINARY_READER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "baton/ir/module.h"

namespace baton {

struct BinaryReadOptions {
  // Which parts are compared with their checksums. That of tensors reads all
  // of them, at memory bandwidth; without it, pages of a mapped file that
  // nobody asks for are never read.
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
// it is null, the bytes are copied. In files, tensors are aligned to 64 bytes;
// so are these if `bytes` are.
//
// Whatever the bytes, the result is a module or an error that names a byte and
// a field; memory and time are linear in their number. What is checked is that
// the nodes are possible ones; that the program makes sense, and that its types
// are those that inference would find, is for CheckWellFormed and CheckTypes to
// say. Operators and attributes must be registered.
absl::StatusOr<BinaryContent> ReadBinary(absl::string_view bytes,
                                         std::shared_ptr<const void> owner,
                                         absl::string_view name,
                                         const BinaryReadOptions& options = {});

}  // namespace baton

#endif  // BATON_IR_BINARY_READER_H_
