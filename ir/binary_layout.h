// Constants and header of the binary format of modules, shared by the writer
// and the reader: see docs/binary_format.md.

#ifndef BATON_IR_BINARY_LAYOUT_H_
#define BATON_IR_BINARY_LAYOUT_H_

#include <bit>
#include <cstdint>

#include "baton/ir/node_kind.h"

namespace baton::internal {

static_assert(std::endian::native == std::endian::little);

inline constexpr char kBinaryMagic[8] = {'\x89', 'B', 'A',  'T',
                                         'O',    'N', '\r', '\n'};
// A file has the oldest version that can represent it. Version 2, with classes,
// is needed if there are nodes whose class has no message of its own.
inline constexpr uint32_t kBinaryVersionWithoutClasses = 1;
inline constexpr uint32_t kBinaryVersionWithClasses = 2;
inline constexpr uint32_t kBinaryVersionPacked = 3;  // packed_records.h
// The newest version.
inline constexpr uint32_t kBinaryVersion = kBinaryVersionPacked;

// The first bytes of the file, in every version.
struct BinaryHeader {
  char magic[8];
  uint32_t version;
  uint32_t zero;
  uint64_t file_size;
  uint64_t message_size;  // as stored in the file
  uint64_t message_checksum;
  uint64_t zeros[2];
  uint64_t checksum;  // of the bytes before it
};
static_assert(sizeof(BinaryHeader) == 64);

inline constexpr uint64_t kBinaryAlignment = 64;

inline uint64_t AlignBinary(uint64_t offset) {
  return (offset + kBinaryAlignment - 1) & ~(kBinaryAlignment - 1);
}

// A buffer of at most this size is stored inside the message.
inline constexpr uint64_t kMaxInlineBuffer = 64;
// The largest size of a node or of another record of the message, in bytes.
inline constexpr uint64_t kMaxBinaryRecord = uint64_t{64} << 20;
// The largest size of a type, a dimension or a pattern, in nodes, where a node
// counts as often as it occurs. All three are printed and compared as trees. So
// a few shared nodes could represent a tree that takes forever to walk.
inline constexpr uint64_t kMaxBinaryTree = uint64_t{1} << 22;

// True for the kinds to which kMaxBinaryTree applies: all but expressions,
// definitions and attributes.
inline bool IsBinaryTree(NodeKind kind) {
  return !kind.Is(NodeSort::kExpr) && !kind.Is(NodeSort::kTypeDefinition) &&
         kind != IrKind::kAttrs && kind != IrKind::kDictAttrs;
}

// Fields of binary.Module.
enum BinaryField : uint32_t {
  kCommentField = 1,
  kBuffersField = 2,
  kAttrsTypesField = 3,
  kNodesField = 4,
  kFunctionsField = 5,
  kTypesField = 6,
  kNodeClassesField = 7,
  kModulesField = 8,
};

// Fields of binary.Node.
inline constexpr int kNodeTypeField = 1;
inline constexpr int kOtherNodeField = 31;
// Fields of binary.OtherNode.
inline constexpr int kNodeClassField = 1;
inline constexpr int kNodeFieldsField = 2;

}  // namespace baton::internal

#endif  // BATON_IR_BINARY_LAYOUT_H_
