#include "baton/ir/binary_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "baton/base/checksum.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/limits.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/binary_layout.h"
#include "baton/ir/module.h"
#include "baton/ir/module.pb.h"
#include "baton/ir/node.h"
#include "baton/ir/node_binary.h"
#include "baton/ir/node_class.h"
#include "baton/ir/packed_records.h"
#include "baton/ir/type.h"
#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"

namespace baton {
namespace {

using internal::AlignBinary;
using internal::BinaryField;
using internal::BinaryHeader;
using Checksums = BinaryReadOptions::Checksums;

constexpr absl::string_view kDamaged = "the file is damaged";

// The name of a class as messages are named: `tuple_get_item`.
std::string KindOf(const NodeClass* node_class) {
  if (node_class == nullptr) return "of no kind";
  std::string name;
  for (const char c : node_class->name) {
    if (absl::ascii_isupper(c) && !name.empty()) name += '_';
    name += absl::ascii_tolower(c);
  }
  return name;
}

// A field that this program does not know may mean anything: it is an error.
absl::Status CheckFields(const google::protobuf::Message& message) {
  const google::protobuf::UnknownFieldSet& unknown =
      message.GetReflection()->GetUnknownFields(message);
  if (unknown.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(message.GetDescriptor()->name(), " has no field ",
                   unknown.field(0).number()));
}

class BinaryReader final : private internal::NodeReader {
 public:
  BinaryReader(absl::string_view bytes, std::shared_ptr<const void> owner,
               absl::string_view name, const BinaryReadOptions& options)
      : bytes_(bytes),
        owner_(std::move(owner)),
        name_(name),
        options_(options) {}

  absl::StatusOr<BinaryContent> ReadOne() {
    BATON_RETURN_IF_ERROR(Read());
    return std::move(content_);
  }
  absl::StatusOr<BinaryModulesContent> ReadSeveral() {
    several_ = true;
    BATON_RETURN_IF_ERROR(Read());
    modules_.nodes = std::move(nodes_);
    return std::move(modules_);
  }

 private:
  struct BufferBytes {
    absl::string_view bytes;
    std::shared_ptr<const void> owner;
  };

  absl::Status ErrorAt(uint64_t offset, absl::string_view message) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": byte ", offset, ": ", message));
  }

  absl::Status Read();
  absl::Status ReadHeader();
  absl::Status ReadMessage();
  absl::Status ReadField(uint32_t field, uint64_t offset,
                         absl::string_view bytes);
  template <typename Message>
  absl::Status ParseMessage(absl::string_view bytes, Message* out) const;

  absl::Status ReadBuffer(const binary::Buffer& message);
  absl::Status CheckTensors() const;
  absl::Status ReadAttrsType(const binary::AttrsType& message);
  absl::Status ReadNodeClass(const binary::NodeClass& message);
  absl::Status ReadNode(absl::string_view bytes);
  // Reads a node of node_classes_: sets node_class_ and the node's message.
  absl::Status ReadOtherNode(absl::string_view* message);
  absl::Status ReadDefinition(const binary::Definition& message);
  absl::Status AddType(TypeDefinition type);
  absl::Status ReadTypes(absl::string_view bytes);
  absl::Status ReadModule(absl::string_view bytes);
  absl::Status AddLeftOut(uint64_t size, uint64_t checksum);

  Tensor TensorIn(DType dtype, const TensorShape& shape,
                  uint64_t index) override;

  static absl::Status NoMessage() {
    return absl::InvalidArgumentError("this is no message of that type");
  }

  absl::string_view bytes_;
  std::shared_ptr<const void> owner_;
  absl::string_view name_;
  BinaryReadOptions options_;
  BinaryHeader header_;

  // The class of the node being read; null if it is unknown.
  const NodeClass* node_class_ = nullptr;
  std::vector<const NodeClass*> node_classes_;  // of the file

  uint64_t tensor_end_ = 0;  // of the buffers after the message so far
  std::vector<BufferBytes> buffers_;
  struct Stored {
    uint64_t offset;
    uint64_t size;
    uint64_t checksum;
  };
  std::vector<Stored> stored_;  // those after the message

  bool several_ = false;
  BinaryModulesContent modules_;  // if there may be several
  BinaryContent content_;
  FlatHashSet<std::string> type_names_;
};

absl::Status BinaryReader::ReadHeader() {
  if (!IsBinary(bytes_)) {
    return ErrorAt(0, "magic: this is not a binary module file");
  }
  if (bytes_.size() < sizeof(BinaryHeader)) {
    return ErrorAt(bytes_.size(),
                   absl::StrCat("the file ends in its header of ",
                                sizeof(BinaryHeader), " bytes"));
  }
  std::memcpy(&header_, bytes_.data(), sizeof(header_));
  if (options_.checksums != Checksums::kNone &&
      header_.checksum !=
          Checksum(bytes_.substr(0, offsetof(BinaryHeader, checksum)))) {
    return ErrorAt(offsetof(BinaryHeader, checksum),
                   absl::StrCat("checksum of the header: ", kDamaged));
  }
  if (header_.version > internal::kBinaryVersion) {
    return ErrorAt(
        offsetof(BinaryHeader, version),
        absl::StrCat("version: the file has format ", header_.version,
                     ", but this program knows none newer than ",
                     internal::kBinaryVersion, "; use a newer Baton"));
  }
  if (header_.version == 0 || header_.zero != 0 || header_.zeros[0] != 0 ||
      header_.zeros[1] != 0) {
    return ErrorAt(offsetof(BinaryHeader, version),
                   "version: there is no such format");
  }
  if (header_.file_size != bytes_.size()) {
    return ErrorAt(
        offsetof(BinaryHeader, file_size),
        absl::StrCat(
            "file_size: the file should have ", header_.file_size,
            " bytes, but has ", bytes_.size(),
            bytes_.size() < header_.file_size ? ": it was cut off" : ""));
  }
  if (header_.message_size > bytes_.size() - sizeof(BinaryHeader)) {
    return ErrorAt(offsetof(BinaryHeader, message_size),
                   absl::StrCat("message_size: ", header_.message_size,
                                " bytes go past the end of the file"));
  }
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadMessage() {
  tensor_end_ = sizeof(BinaryHeader) + header_.message_size;
  // The view begins where the bytes of the message would be if it were not
  // packed.
  absl::string_view bytes = bytes_.substr(0, tensor_end_);
  std::string unpacked;
  if (header_.version == internal::kBinaryVersionPacked) {
    absl::StatusOr<std::string> message =
        UnpackRecords(bytes.substr(sizeof(BinaryHeader)));
    if (!message.ok()) {
      return ErrorAt(sizeof(BinaryHeader), message.status().message());
    }
    unpacked = std::string(sizeof(BinaryHeader), '\0') + *message;
    bytes = unpacked;
  }
  const uint64_t end = bytes.size();
  uint64_t offset = sizeof(BinaryHeader);
  const auto read_varint = [&](uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && offset < end; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes[offset++]);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  uint32_t last_field = 0;
  // Classes come before nodes, though they are younger.
  const auto place_of = [](uint32_t field) {
    return field == BinaryField::kNodeClassesField
               ? 2 * BinaryField::kNodesField - 1
               : 2 * field;
  };
  while (offset < end) {
    const uint64_t begin = offset;
    uint64_t tag = 0;
    uint64_t size = 0;
    constexpr uint64_t kLengthDelimited = 2;
    if (!read_varint(&tag) || (tag & 7) != kLengthDelimited ||
        tag > std::numeric_limits<uint32_t>::max()) {
      return ErrorAt(begin, "tag: no field of the message has this tag");
    }
    const auto field = static_cast<uint32_t>(tag >> 3);
    if (place_of(field) < place_of(last_field)) {
      return ErrorAt(begin, absl::StrCat("tag: field ", field,
                                         " comes after field ", last_field));
    }
    last_field = field;
    if (!read_varint(&size) || size > end - offset) {
      return ErrorAt(begin, absl::StrCat("length of field ", field,
                                         ": it goes past the end of the "
                                         "message at byte ",
                                         end));
    }
    if (size > internal::kMaxBinaryRecord) {
      return ErrorAt(begin,
                     absl::StrCat("length of field ", field, ": ", size,
                                  " bytes are more than the format allows"));
    }
    BATON_RETURN_IF_ERROR(ReadField(field, begin, bytes.substr(offset, size)));
    offset += size;
  }
  if (tensor_end_ != bytes_.size()) {
    return ErrorAt(tensor_end_,
                   absl::StrCat("buffers: they end here, but the file has ",
                                bytes_.size(), " bytes"));
  }
  return absl::OkStatus();
}

template <typename Message>
absl::Status BinaryReader::ParseMessage(absl::string_view bytes,
                                        Message* out) const {
  if (!out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return NoMessage();
  }
  return CheckFields(*out);
}

absl::Status BinaryReader::ReadField(uint32_t field, uint64_t offset,
                                     absl::string_view bytes) {
  absl::Status status;
  std::string what;
  switch (field) {
    case BinaryField::kCommentField:
      content_.comment = std::string(bytes);
      return status;
    case BinaryField::kBuffersField: {
      what = absl::StrCat("buffers[", buffers_.size(), "]");
      binary::Buffer message;
      status = ParseMessage(bytes, &message);
      if (status.ok()) status = ReadBuffer(message);
      break;
    }
    case BinaryField::kAttrsTypesField: {
      what = absl::StrCat("attrs_types[", attrs_types_.size(), "]");
      binary::AttrsType message;
      status = ParseMessage(bytes, &message);
      if (status.ok()) status = ReadAttrsType(message);
      break;
    }
    case BinaryField::kNodeClassesField: {
      what = absl::StrCat("node_classes[", node_classes_.size(), "]");
      binary::NodeClass message;
      status = ParseMessage(bytes, &message);
      if (status.ok()) status = ReadNodeClass(message);
      break;
    }
    case BinaryField::kNodesField:
      status = ReadNode(bytes);
      if (status.ok()) return status;
      what =
          absl::StrCat("node ", nodes_.size(), " (", KindOf(node_class_), ")");
      break;
    case BinaryField::kFunctionsField: {
      what = absl::StrCat("functions[", content_.module.size(), "]");
      binary::Definition message;
      status = ParseMessage(bytes, &message);
      if (status.ok()) status = ReadDefinition(message);
      break;
    }
    case BinaryField::kTypesField:
      what = "types";
      status = ReadTypes(bytes);
      break;
    case BinaryField::kModulesField:
      if (several_) {
        what = absl::StrCat("modules[", modules_.modules.size(), "]");
        status = ReadModule(bytes);
        break;
      }
      [[fallthrough]];
    default:
      what = "tag";
      status = absl::InvalidArgumentError(
          absl::StrCat("the message has no field ", field));
      break;
  }
  if (status.ok()) return status;
  return ErrorAt(offset, absl::StrCat(what, ": ", status.message()));
}

// For files that are written by this program, so that sizes are those of
// tensors in memory: the pages are not touched beyond the first.
absl::Status BinaryReader::AddLeftOut(uint64_t size, uint64_t checksum) {
  if (!several_ || size <= internal::kMaxInlineBuffer ||
      size > static_cast<uint64_t>(CurrentLimits().max_tensor_bytes)) {
    return absl::InvalidArgumentError("left_out: there can be no such tensor");
  }
  BATON_ASSIGN_OR_RETURN(
      MutableTensor block,
      MutableTensor::Create(DType::UInt(8), {static_cast<int64_t>(size)}));
  for (int i = 0; i < 64; ++i) {
    static_cast<uint8_t*>(block.data())[i] = checksum >> i & 1;
  }
  auto tensor = std::make_shared<const Tensor>(std::move(block).Freeze());
  const absl::string_view bytes = tensor->bytes();
  buffers_.push_back({bytes, std::move(tensor)});
  ++modules_.left_out_tensors;
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadBuffer(const binary::Buffer& message) {
  if (message.left_out()) {
    return AddLeftOut(message.size(), message.checksum());
  }
  if (!message.data().empty()) {
    if (message.size() != 0) {
      return absl::InvalidArgumentError("it has both `data` and `size`");
    }
    const size_t size = message.data().size();
    std::shared_ptr<double[]> block(
        new double[(size + sizeof(double) - 1) / sizeof(double)]);
    std::memcpy(block.get(), message.data().data(), size);
    buffers_.push_back(
        {{reinterpret_cast<const char*>(block.get()), size}, std::move(block)});
    return absl::OkStatus();
  }
  if (message.size() == 0) {
    // Every empty buffer is one of its own.
    auto block = std::make_shared<double>();
    buffers_.push_back(
        {{reinterpret_cast<const char*>(block.get()), 0}, block});
    return absl::OkStatus();
  }
  const uint64_t offset = AlignBinary(tensor_end_);
  if (offset > bytes_.size() || message.size() > bytes_.size() - offset) {
    return absl::InvalidArgumentError(
        absl::StrCat("size: ", message.size(), " bytes from byte ", offset,
                     " go past the end of the file at byte ", bytes_.size()));
  }
  tensor_end_ = offset + message.size();
  stored_.push_back({offset, message.size(), message.checksum()});
  buffers_.push_back({bytes_.substr(offset, message.size()), owner_});
  return absl::OkStatus();
}

absl::Status BinaryReader::CheckTensors() const {
  uint64_t end = sizeof(BinaryHeader) + header_.message_size;
  for (const Stored& stored : stored_) {
    for (; end < stored.offset; ++end) {
      if (bytes_[end] != 0) {
        return ErrorAt(end, absl::StrCat("padding: ", kDamaged));
      }
    }
    if (Checksum(bytes_.substr(stored.offset, stored.size)) !=
        stored.checksum) {
      return ErrorAt(stored.offset,
                     absl::StrCat("checksum of the tensor of ", stored.size,
                                  " bytes that begins here: ", kDamaged));
    }
    end = stored.offset + stored.size;
  }
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadAttrsType(const binary::AttrsType& message) {
  const AttrsType* type = FindAttrsType(message.type_key());
  if (type == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "type_key: no attributes \"", message.type_key(), "\" are registered"));
  }
  attrs_types_.push_back(
      {type, {message.fields().begin(), message.fields().end()}});
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadNodeClass(const binary::NodeClass& message) {
  const NodeClass* node_class = FindNodeClass(message.level(), message.name());
  if (node_class == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        "this program has no node class ", message.name(), " of a level \"",
        message.level(), "\": the library that registers it is not linked in"));
  }
  node_classes_.push_back(node_class);
  return absl::OkStatus();
}

Tensor BinaryReader::TensorIn(DType dtype, const TensorShape& shape,
                              uint64_t index) {
  if (index >= buffers_.size()) {
    FailAt("buffer", absl::StrCat("there is no buffers[", index, "]"));
    return {};
  }
  if (const absl::Status rank = CheckRank(static_cast<int64_t>(shape.size()));
      !rank.ok()) {
    FailAt("shape", rank.message());
    return {};
  }
  const BufferBytes& buffer = buffers_[index];
  absl::StatusOr<Tensor> tensor =
      Tensor::FromBuffer(dtype, shape, buffer.bytes, buffer.owner);
  if (!tensor.ok()) {
    FailAt("buffer", tensor.status().message());
    return {};
  }
  // In memory there are no other truth values.
  if (dtype.is_bool() &&
      std::any_of(buffer.bytes.begin(), buffer.bytes.end(),
                  [](char c) { return static_cast<uint8_t>(c) > 1; })) {
    FailAt("buffer", "a bool that is neither 0 nor 1");
    return {};
  }
  return *std::move(tensor);
}

absl::Status BinaryReader::ReadNode(absl::string_view bytes) {
  node_class_ = nullptr;
  // The type, and the message of the one class.
  uint64_t type = 0;
  absl::string_view message;
  bool is_other = false;
  internal::Varints rest(bytes);
  while (!rest.at_end()) {
    uint64_t tag = 0;
    uint64_t value = 0;
    if (!rest.Next(&tag)) return NoMessage();
    const uint64_t field = tag >> 3;
    if (tag == (internal::kNodeTypeField << 3)) {
      if (!rest.Next(&type)) return NoMessage();
      continue;
    }
    absl::string_view found;
    if ((tag & 7) != 2 || !rest.Next(&value) || !rest.Skip(value, &found)) {
      return NoMessage();
    }
    const NodeClass* node_class = internal::FindNodeClassOfField(field);
    const bool other = field == internal::kOtherNodeField;
    if (node_class == nullptr && !other) {
      return absl::InvalidArgumentError(
          absl::StrCat("Node has no field ", field));
    }
    if (node_class_ != nullptr || is_other) {
      return absl::InvalidArgumentError("it is of two kinds");
    }
    node_class_ = node_class;
    is_other = other;
    message = found;
  }
  if (is_other) BATON_RETURN_IF_ERROR(ReadOtherNode(&message));
  if (node_class_ == nullptr) {
    return absl::InvalidArgumentError("it is of no kind that is known");
  }
  Begin(type);
  NodeRef node = node_class_->read(*this, message);
  if (failed()) return absl::InvalidArgumentError(error_);
  if (const auto* tensor = node.As<TensorTypeNode>()) {
    BATON_RETURN_IF_ERROR(CheckShape(tensor->shape()));
  }
  if (!internal::IsBinaryTree(node.get()->kind())) tree_size_ = 0;
  if (tree_size_ > internal::kMaxBinaryTree) {
    return absl::InvalidArgumentError("it is too large when written out");
  }
  nodes_.push_back(std::move(node));
  tree_sizes_.push_back(static_cast<uint32_t>(tree_size_));
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadOtherNode(absl::string_view* message) {
  static constexpr internal::WireForm kForms[] = {internal::WireForm::kNone,
                                                  internal::WireForm::kVarint,
                                                  internal::WireForm::kBytes};
  internal::WireField raw[std::size(kForms)];
  if (!NodeReader::Parse(*message, kForms, "OtherNode", raw)) {
    return absl::InvalidArgumentError(error_);
  }
  const uint64_t index = raw[internal::kNodeClassField].value;
  if (index >= node_classes_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("node_class: there is no node_classes[", index, "]"));
  }
  node_class_ = node_classes_[index];
  *message = raw[internal::kNodeFieldsField].bytes();
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadDefinition(const binary::Definition& message) {
  const auto var = Reference<GlobalVar>(message.var(), "var", -1, false);
  auto function =
      Reference<BaseFunc>(message.function(), "function", -1, false);
  if (failed()) return absl::InvalidArgumentError(error_);
  if (content_.module.Find(var->name()).defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat("var: there are two functions @", var->name()));
  }
  content_.module.Set(var, std::move(function));
  return absl::OkStatus();
}

absl::Status BinaryReader::AddType(TypeDefinition type) {
  if (!type_names_.insert(type->name()).second) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are two types ", type->name()));
  }
  content_.module.SetType(std::move(type));
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadTypes(absl::string_view bytes) {
  int shift = 0;
  uint64_t number = 0;
  int index = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (shift >= 64) return absl::InvalidArgumentError("a number is too long");
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    shift += 7;
    if (byte >= 0x80) continue;
    auto type = Reference<TypeDefinition>(number, "types", index++, false);
    if (failed()) return absl::InvalidArgumentError(error_);
    BATON_RETURN_IF_ERROR(AddType(std::move(type)));
    shift = 0;
    number = 0;
  }
  if (shift != 0) return absl::InvalidArgumentError("the last is cut off");
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadModule(absl::string_view bytes) {
  binary::OneModule message;
  BATON_RETURN_IF_ERROR(ParseMessage(bytes, &message));
  content_ = BinaryContent();
  type_names_.clear();
  int index = 0;
  for (const uint64_t number : message.types()) {
    auto type = Reference<TypeDefinition>(number, "types", index++, false);
    if (failed()) return absl::InvalidArgumentError(error_);
    BATON_RETURN_IF_ERROR(AddType(std::move(type)));
  }
  for (const binary::Definition& definition : message.functions()) {
    BATON_RETURN_IF_ERROR(ReadDefinition(definition));
  }
  modules_.modules.push_back(std::move(content_.module));
  return absl::OkStatus();
}

absl::Status BinaryReader::Read() {
  BATON_RETURN_IF_ERROR(ReadHeader());
  // Tensors may be used where they are if any element is aligned.
  constexpr uintptr_t kLargestElement = 8;
  if (owner_ == nullptr ||
      reinterpret_cast<uintptr_t>(bytes_.data()) % kLargestElement != 0) {
    BATON_ASSIGN_OR_RETURN(
        MutableTensor copy,
        MutableTensor::Create(DType::UInt(8),
                              {static_cast<int64_t>(bytes_.size())}));
    std::memcpy(copy.data(), bytes_.data(), bytes_.size());
    auto block = std::make_shared<const Tensor>(std::move(copy).Freeze());
    bytes_ = block->bytes();
    owner_ = std::move(block);
  }
  const absl::Status status = ReadMessage();
  if (options_.checksums != Checksums::kNone &&
      header_.message_checksum !=
          Checksum(bytes_.substr(sizeof(header_), header_.message_size))) {
    // An error of the message shows where the damage is.
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat(status.message(),
                                                      " (the checksum of the "
                                                      "message differs: ",
                                                      kDamaged, ")"));
    }
    return ErrorAt(
        offsetof(BinaryHeader, message_checksum),
        absl::StrCat("checksum of the message, bytes ", sizeof(header_), " to ",
                     sizeof(header_) + header_.message_size, ": ", kDamaged));
  }
  BATON_RETURN_IF_ERROR(status);
  if (options_.checksums == Checksums::kAll) {
    BATON_RETURN_IF_ERROR(CheckTensors());
  }
  return absl::OkStatus();
}

}  // namespace

bool IsBinary(absl::string_view bytes) {
  return bytes.substr(0, sizeof(internal::kBinaryMagic)) ==
         absl::string_view(internal::kBinaryMagic,
                           sizeof(internal::kBinaryMagic));
}

absl::StatusOr<BinaryContent> ReadBinary(absl::string_view bytes,
                                         std::shared_ptr<const void> owner,
                                         absl::string_view name,
                                         const BinaryReadOptions& options) {
  return CatchOutOfMemory(name, [&] {
    return BinaryReader(bytes, std::move(owner), name, options).ReadOne();
  });
}

absl::StatusOr<BinaryModulesContent> ReadBinaryModules(
    absl::string_view bytes, std::shared_ptr<const void> owner,
    absl::string_view name, const BinaryReadOptions& options) {
  return CatchOutOfMemory(name, [&] {
    return BinaryReader(bytes, std::move(owner), name, options).ReadSeveral();
  });
}

}  // namespace baton
