#include "baton/ir/binary_writer.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/checksum.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/binary_layout.h"
#include "baton/ir/module.pb.h"
#include "baton/ir/node.h"
#include "baton/ir/node_binary.h"
#include "baton/ir/node_class.h"
#include "baton/ir/node_map.h"
#include "baton/ir/packed_records.h"

namespace baton {
namespace {

using internal::AlignBinary;
using internal::BinaryField;
using internal::kMaxVarintBytes;
using internal::PutTag;
using internal::PutVarint;
using internal::WireType;

void AppendVarint(uint64_t value, std::string* out) {
  char bytes[kMaxVarintBytes];
  out->append(bytes, PutVarint(value, bytes));
}

// The head of a field that has a length.
void AppendHead(BinaryField field, uint64_t size, std::string* out) {
  char head[2 * kMaxVarintBytes];
  const char* end =
      PutVarint(size, PutTag(static_cast<int>(field), WireType::kBytes, head));
  out->append(head, static_cast<size_t>(end - head));
}

absl::Status CheckSize(size_t size) {
  if (size <= internal::kMaxBinaryRecord) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "takes ", size, " bytes, more than the ", internal::kMaxBinaryRecord,
      " that the binary format allows"));
}

template <typename Message>
absl::Status AppendMessage(BinaryField field, const Message& message,
                           std::string* out) {
  const size_t size = message.ByteSizeLong();
  BATON_RETURN_IF_ERROR(CheckSize(size));
  AppendHead(field, size, out);
  const size_t begin = out->size();
  out->resize(begin + size);
  static_cast<void>(message.SerializeWithCachedSizesToArray(
      reinterpret_cast<uint8_t*>(out->data() + begin)));
  return absl::OkStatus();
}

}  // namespace

// Nodes are numbered when all that they refer to are: the numbers of what a
// node refers to wait on a stack, where the nodes themselves stood before.
class BinaryWriter final : private internal::NodeWriter {
 public:
  absl::StatusOr<BinaryModule> Write(const IRModule& module,
                                     const BinaryWriteOptions& options);
  absl::StatusOr<BinaryModule> Write(absl::Span<const IRModule> modules,
                                     const BinaryModulesOptions& options);

 private:
  // A node whose references are slots_[begin] and up; those before `next` are
  // numbers already.
  struct Frame {
    const Node* node;
    size_t begin;
    size_t next;
  };

  // The functions and types of `module`, as messages of these fields.
  absl::Status AppendModule(const IRModule& module, std::string* functions,
                            BinaryField functions_field, std::string* types);
  // The file; `modules` ends the message.
  BinaryModule Assemble(absl::string_view comment, const std::string& modules);
  // The number of `root`, 0 for null; writes the node if it has no number yet.
  absl::StatusOr<uint64_t> NumberOf(const Node* root);
  // The number of `node` if it has one already, or is null.
  bool Known(const Node* node, uint64_t* number) const;
  void Enter(const Node* node) {
    const size_t begin = slots_.size();
    internal::ClassOf(node).push(node, *this);
    frames_.push_back({node, begin, begin});
  }
  absl::StatusOr<uint64_t> Finish(const Frame& frame);
  // Appends the node whose message is body().
  absl::Status AppendNode(const NodeClass& node_class);

  absl::StatusOr<uint64_t> AttrsTypeIndex(const AttrsType& type) override;
  absl::StatusOr<uint64_t> BufferIndex(const Tensor& tensor) override;
  absl::StatusOr<uint64_t> NodeClassIndex(const NodeClass& node_class);

  std::vector<Frame> frames_;
  uint64_t num_nodes_ = 0;
  std::string nodes_;
  NodeMap<uint64_t> own_numbers_;
  NodeMap<uint64_t>* numbers_ = &own_numbers_;  // of shared nodes
  bool numbers_all_ = false;                    // of all nodes
  uint64_t max_tensor_bytes_ = UINT64_MAX;
  bool packed_ = false;
  std::vector<uint32_t> tree_sizes_ = {0};  // by number; see kMaxBinaryTree

  std::string attrs_types_;
  FlatHashMap<const AttrsType*, uint64_t> attrs_type_indices_;
  std::string node_classes_;
  FlatHashMap<const NodeClass*, uint64_t> node_class_indices_;
  std::string buffers_;
  FlatHashMap<std::pair<const void*, int64_t>, uint64_t> buffer_indices_;
  std::vector<Tensor> tensors_;  // after the message
};

bool BinaryWriter::Known(const Node* node, uint64_t* number) const {
  if (node == nullptr) {
    *number = 0;
    return true;
  }
  if (node->unique()) return false;
  const uint64_t* known = numbers_->Find(node);
  if (known == nullptr) return false;
  *number = *known;
  return true;
}

absl::StatusOr<uint64_t> BinaryWriter::NumberOf(const Node* root) {
  uint64_t number = 0;
  if (Known(root, &number)) return number;
  Enter(root);
  while (true) {
    Frame& frame = frames_.back();
    if (frame.next < slots_.size()) {
      uint64_t& slot = slots_[frame.next];
      const Node* child = reinterpret_cast<const Node*>(slot);
      if (Known(child, &slot)) {
        ++frame.next;
      } else {
        Enter(child);
      }
      continue;
    }
    BATON_ASSIGN_OR_RETURN(number, Finish(frame));
    slots_.resize(frame.begin);
    frames_.pop_back();
    if (frames_.empty()) return number;
    slots_[frames_.back().next++] = number;
  }
}

absl::StatusOr<uint64_t> BinaryWriter::Finish(const Frame& frame) {
  const Node* node = frame.node;
  const NodeClass& node_class = internal::ClassOf(node);
  Begin(slots_.data() + frame.begin);
  node_class.write(node, *this);
  absl::Status status = error();
  uint64_t tree_size = 0;
  if (internal::IsBinaryTree(node->kind())) {
    tree_size = 1;
    for (size_t i = frame.begin; i < slots_.size(); ++i) {
      tree_size += tree_sizes_[slots_[i]];
    }
    if (tree_size > internal::kMaxBinaryTree) {
      status = absl::InvalidArgumentError(
          "is, written out, larger than the binary format allows");
    }
  }
  if (status.ok()) status = AppendNode(node_class);
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat("a ", node_class.name, " ",
                                                    status.message()));
  }
  tree_sizes_.push_back(static_cast<uint32_t>(tree_size));
  ++num_nodes_;
  if (numbers_all_ || !node->unique()) (*numbers_)[node] = num_nodes_;
  return num_nodes_;
}

absl::Status BinaryWriter::AppendNode(const NodeClass& node_class) {
  // The fields before the message: the inferred type, and the class of the
  // node.
  char head[6 * kMaxVarintBytes];
  char* out = head;
  if (type() != 0) {
    out = PutVarint(type(),
                    PutTag(internal::kNodeTypeField, WireType::kVarint, out));
  }
  size_t size = body().size();
  if (node_class.node_field != 0) {
    out = PutTag(node_class.node_field, WireType::kBytes, out);
    out = PutVarint(size, out);
  } else {
    BATON_ASSIGN_OR_RETURN(const uint64_t index, NodeClassIndex(node_class));
    char other[3 * kMaxVarintBytes];
    char* end = other;
    if (index != 0) {
      end = PutVarint(
          index, PutTag(internal::kNodeClassField, WireType::kVarint, end));
    }
    end = PutTag(internal::kNodeFieldsField, WireType::kBytes, end);
    end = PutVarint(size, end);
    const size_t other_size = static_cast<size_t>(end - other);
    out = PutTag(internal::kOtherNodeField, WireType::kBytes, out);
    out = PutVarint(other_size + size, out);
    std::memcpy(out, other, other_size);
    out += other_size;
  }
  const size_t head_size = static_cast<size_t>(out - head);
  size += head_size;
  BATON_RETURN_IF_ERROR(CheckSize(size));
  char tag[2 * kMaxVarintBytes];
  const char* end =
      PutVarint(size, PutTag(BinaryField::kNodesField, WireType::kBytes, tag));
  nodes_.append(tag, static_cast<size_t>(end - tag));
  nodes_.append(head, head_size);
  nodes_.append(body().data(), body().size());
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> BinaryWriter::NodeClassIndex(
    const NodeClass& node_class) {
  const auto [it, is_new] =
      node_class_indices_.try_emplace(&node_class, node_class_indices_.size());
  if (is_new) {
    binary::NodeClass message;
    message.set_level(std::string(node_class.level));
    message.set_name(std::string(node_class.name));
    BATON_RETURN_IF_ERROR(
        AppendMessage(BinaryField::kNodeClassesField, message, &node_classes_));
  }
  return it->second;
}

absl::StatusOr<uint64_t> BinaryWriter::AttrsTypeIndex(const AttrsType& type) {
  const auto [it, is_new] =
      attrs_type_indices_.try_emplace(&type, attrs_type_indices_.size());
  if (is_new) {
    binary::AttrsType message;
    message.set_type_key(type.type_key());
    for (const Field& field : type.fields().fields()) {
      message.add_fields(field.name());
    }
    BATON_RETURN_IF_ERROR(
        AppendMessage(BinaryField::kAttrsTypesField, message, &attrs_types_));
  }
  return it->second;
}

absl::StatusOr<uint64_t> BinaryWriter::BufferIndex(const Tensor& tensor) {
  const auto [it, is_new] = buffer_indices_.try_emplace(
      std::pair<const void*, int64_t>(tensor.bytes().data(),
                                      tensor.byte_size()),
      buffer_indices_.size());
  if (is_new) {
    const absl::string_view bytes = tensor.bytes();
    binary::Buffer message;
    if (bytes.size() <= internal::kMaxInlineBuffer) {
      message.set_data(std::string(bytes));
    } else {
      message.set_size(bytes.size());
      message.set_checksum(Checksum(bytes));
      if (bytes.size() > max_tensor_bytes_) {
        message.set_left_out(true);
      } else {
        tensors_.push_back(tensor);
      }
    }
    BATON_RETURN_IF_ERROR(
        AppendMessage(BinaryField::kBuffersField, message, &buffers_));
  }
  return it->second;
}

absl::Status BinaryWriter::AppendModule(const IRModule& module,
                                        std::string* functions,
                                        BinaryField functions_field,
                                        std::string* types) {
  for (const TypeDefinition& type : module.types()) {
    absl::StatusOr<uint64_t> number = NumberOf(type.get());
    if (!number.ok()) {
      return absl::Status(
          number.status().code(),
          absl::StrCat("type ", type->name(), ": ", number.status().message()));
    }
    AppendVarint(*number, types);
  }
  for (const IRModule::Definition& definition : module.functions()) {
    binary::Definition message;
    absl::StatusOr<uint64_t> number = NumberOf(definition.var.get());
    if (number.ok()) {
      message.set_var(*number);
      number = NumberOf(definition.function.get());
    }
    if (!number.ok()) {
      return absl::Status(number.status().code(),
                          absl::StrCat("@", definition.var->name(), ": ",
                                       number.status().message()));
    }
    message.set_function(*number);
    BATON_RETURN_IF_ERROR(AppendMessage(functions_field, message, functions));
  }
  return absl::OkStatus();
}

absl::StatusOr<BinaryModule> BinaryWriter::Write(
    const IRModule& module, const BinaryWriteOptions& options) {
  std::string functions;
  std::string types;
  BATON_RETURN_IF_ERROR(
      AppendModule(module, &functions, BinaryField::kFunctionsField, &types));
  if (!types.empty()) {
    AppendHead(BinaryField::kTypesField, types.size(), &functions);
    functions += types;
  }
  return Assemble(options.comment, functions);
}

absl::StatusOr<BinaryModule> BinaryWriter::Write(
    absl::Span<const IRModule> modules, const BinaryModulesOptions& options) {
  max_tensor_bytes_ = options.max_tensor_bytes;
  packed_ = options.packed;
  if (options.numbers != nullptr) {
    numbers_ = options.numbers;
    numbers_all_ = true;
  }
  std::string all;
  for (const IRModule& module : modules) {
    // The fields of a binary.OneModule.
    constexpr auto kFunctions = static_cast<BinaryField>(1);
    constexpr auto kTypes = static_cast<BinaryField>(2);
    std::string one;
    std::string types;
    BATON_RETURN_IF_ERROR(AppendModule(module, &one, kFunctions, &types));
    if (!types.empty()) {
      AppendHead(kTypes, types.size(), &one);
      one += types;
    }
    BATON_RETURN_IF_ERROR(CheckSize(one.size()));
    AppendHead(BinaryField::kModulesField, one.size(), &all);
    all += one;
  }
  return Assemble("", all);
}

BinaryModule BinaryWriter::Assemble(absl::string_view comment,
                                    const std::string& modules) {
  auto head = std::make_unique<std::string>();
  constexpr size_t kMostOfHeads = 64;
  head->reserve(sizeof(internal::BinaryHeader) + comment.size() +
                buffers_.size() + attrs_types_.size() + node_classes_.size() +
                nodes_.size() + modules.size() + kMostOfHeads +
                internal::kBinaryAlignment);
  head->resize(sizeof(internal::BinaryHeader));
  if (!comment.empty()) {
    AppendHead(BinaryField::kCommentField, comment.size(), head.get());
    head->append(comment.data(), comment.size());
  }
  *head += buffers_;
  *head += attrs_types_;
  *head += node_classes_;
  *head += nodes_;
  nodes_ = std::string();
  *head += modules;
  if (packed_) {
    const std::string packed = PackRecords(
        absl::string_view(*head).substr(sizeof(internal::BinaryHeader)));
    head->replace(sizeof(internal::BinaryHeader), std::string::npos, packed);
  }

  internal::BinaryHeader header = {};
  std::memcpy(header.magic, internal::kBinaryMagic, sizeof(header.magic));
  header.version = packed_ ? internal::kBinaryVersionPacked
                   : node_classes_.empty()
                       ? internal::kBinaryVersionWithoutClasses
                       : internal::kBinaryVersionWithClasses;
  const absl::string_view message =
      absl::string_view(*head).substr(sizeof(header));
  header.message_size = message.size();
  header.message_checksum = Checksum(message);
  header.file_size = head->size();
  for (const Tensor& tensor : tensors_) {
    header.file_size = AlignBinary(header.file_size) +
                       static_cast<uint64_t>(tensor.byte_size());
  }
  header.checksum =
      Checksum(absl::string_view(reinterpret_cast<const char*>(&header),
                                 offsetof(internal::BinaryHeader, checksum)));
  std::memcpy(head->data(), &header, sizeof(header));

  static constexpr char kZeros[internal::kBinaryAlignment] = {};
  BinaryModule result;
  result.head_ = std::move(head);
  result.tensors_ = std::move(tensors_);
  result.pieces_.push_back(*result.head_);
  uint64_t offset = result.head_->size();
  for (const Tensor& tensor : result.tensors_) {
    const uint64_t aligned = AlignBinary(offset);
    if (aligned != offset) {
      result.pieces_.emplace_back(kZeros, aligned - offset);
    }
    result.pieces_.push_back(tensor.bytes());
    offset = aligned + static_cast<uint64_t>(tensor.byte_size());
  }
  return result;
}

uint64_t BinaryModule::size() const {
  uint64_t size = 0;
  for (const absl::string_view piece : pieces_) size += piece.size();
  return size;
}

std::string BinaryModule::ToString() const {
  std::string text;
  text.reserve(size());
  for (const absl::string_view piece : pieces_) {
    text.append(piece.data(), piece.size());
  }
  return text;
}

absl::StatusOr<BinaryModule> WriteBinary(const IRModule& module,
                                         const BinaryWriteOptions& options) {
  return CatchOutOfMemory("writing a module", [&] {
    return BinaryWriter().Write(module, options);
  });
}

absl::StatusOr<BinaryModule> WriteBinaryModules(
    absl::Span<const IRModule> modules, const BinaryModulesOptions& options) {
  return CatchOutOfMemory("writing modules", [&] {
    return BinaryWriter().Write(modules, options);
  });
}

}  // namespace baton
