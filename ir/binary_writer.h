// Modules as binary files: see docs/binary_format.md.
//
//   BATON_ASSIGN_OR_RETURN(const BinaryModule binary, WriteBinary(module));
//   for (absl::string_view piece : binary.pieces()) out << piece;
//
// A binary file keeps all of a module except source locations: nodes and how
// they are shared, inferred types, tensors and which of them share a buffer.

#ifndef BATON_IR_BINARY_WRITER_H_
#define BATON_IR_BINARY_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/tensor.h"
#include "baton/ir/module.h"
#include "baton/ir/node_map.h"

namespace baton {

struct BinaryWriteOptions {
  // For people and tools; ReadBinary() returns it as BinaryContent::comment.
  std::string comment;
};

// The content of a binary file, in pieces: tensors are not copied.
class BinaryModule {
 public:
  // In order. They live as long as this.
  absl::Span<const absl::string_view> pieces() const { return pieces_; }
  // In bytes.
  uint64_t size() const;
  // All in one piece.
  std::string ToString() const;

 private:
  friend class BinaryWriter;
  std::unique_ptr<const std::string> head_;
  std::vector<Tensor> tensors_;
  std::vector<absl::string_view> pieces_;
};

// Linear in the size of the module, without recursion over its depth. An error
// if a part that a module must have is null, or if the module exceeds a limit
// of the format.
absl::StatusOr<BinaryModule> WriteBinary(
    const IRModule& module, const BinaryWriteOptions& options = {});

struct BinaryModulesOptions {
  // Of larger tensors only size and checksum are written.
  uint64_t max_tensor_bytes = UINT64_MAX;
  // Writes the message packed (packed_records.h): smaller, but no message that
  // other programs can read.
  bool packed = false;
  // If not null, gets the number of each node in the file.
  NodeMap<uint64_t>* numbers = nullptr;
};

// Several modules; nodes and tensors that they share are written once. For
// files that hold such bytes as a part (ReadBinaryModules); ReadBinary refuses
// them.
absl::StatusOr<BinaryModule> WriteBinaryModules(
    absl::Span<const IRModule> modules,
    const BinaryModulesOptions& options = {});

}  // namespace baton

#endif  // BATON_IR_BINARY_WRITER_H_
