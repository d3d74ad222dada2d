// Writes modules as binary files: see docs/binary_format.md.
//
//   BATON_ASSIGN_OR_RETURN(const BinaryModule binary, WriteBinary(module));
//   for (absl::string_view piece : binary.pieces()) out << piece;
//
// A binary file contains everything in a module except source locations: nodes
// and their sharing, inferred types, tensors and the sharing of their buffers.

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
  // A comment for people and tools; ReadBinary() returns it as
  // BinaryContent::comment.
  std::string comment;
};

// The content of a binary file, in pieces: tensors are not copied.
class BinaryModule {
 public:
  // The pieces, in order. They are valid during the lifetime of this object.
  absl::Span<const absl::string_view> pieces() const { return pieces_; }
  // The size of all pieces in bytes.
  uint64_t size() const;
  // All pieces, concatenated.
  std::string ToString() const;

 private:
  friend class BinaryWriter;
  std::unique_ptr<const std::string> head_;
  std::vector<Tensor> tensors_;
  std::vector<absl::string_view> pieces_;
};

// Takes time linear in the size of the module, without recursion over its
// depth. An error if a required part of the module is null, or if the module
// exceeds a limit of the format.
absl::StatusOr<BinaryModule> WriteBinary(
    const IRModule& module, const BinaryWriteOptions& options = {});

struct BinaryModulesOptions {
  // For larger tensors, only size and checksum are written.
  uint64_t max_tensor_bytes = UINT64_MAX;
  // Writes the message packed (packed_records.h): smaller, but other programs
  // cannot read it as a message.
  bool packed = false;
  // If not null, receives the number of each node in the file.
  NodeMap<uint64_t>* numbers = nullptr;
};

// Writes several modules; nodes and tensors that they share are written once.
// For file formats that embed the bytes (see ReadBinaryModules). ReadBinary
// refuses these bytes.
absl::StatusOr<BinaryModule> WriteBinaryModules(
    absl::Span<const IRModule> modules,
    const BinaryModulesOptions& options = {});

}  // namespace baton

#endif  // BATON_IR_BINARY_WRITER_H_
