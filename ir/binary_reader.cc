#include "baton/ir/binary_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/checksum.h"
#include "baton/base/dtype.h"
#include "baton/base/hash_table.h"
#include "baton/base/out_of_memory.h"
#include "baton/base/status_macros.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/binary_layout.h"
#include "baton/ir/module.h"
#include "baton/ir/module.pb.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/adt.h"
#include "baton/relay/ir/expr.h"
#include "google/protobuf/arena.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/unknown_field_set.h"

namespace baton {
namespace {

using internal::AlignBinary;
using internal::BinaryField;
using internal::BinaryHeader;
using Checksums = BinaryReadOptions::Checksums;

constexpr absl::string_view kDamaged = "the file is damaged";

// `a Var`, `an expression`: what a reference to an N refers to.
template <typename N>
std::string NameOf() {
  if constexpr (std::is_same_v<N, ExprNode>) return "an expression";
  if constexpr (std::is_same_v<N, TypeNode>) return "a type";
  if constexpr (requires { N::kName; }) return absl::StrCat("a ", N::kName);
  return "a node";
}

// The name of the kind that a node is declared as: `tuple_get_item`.
std::string KindOf(const binary::Node& node) {
  const auto* field =
      binary::Node::descriptor()->FindFieldByNumber(node.kind_case());
  return field == nullptr ? "of no kind" : std::string(field->name());
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

class BinaryReader {
 public:
  BinaryReader(absl::string_view bytes, std::shared_ptr<const void> owner,
               absl::string_view name, const BinaryReadOptions& options)
      : bytes_(bytes),
        owner_(std::move(owner)),
        name_(name),
        options_(options) {
    const google::protobuf::OneofDescriptor* kind =
        binary::Node::descriptor()->oneof_decl(0);
    for (int i = 0; i < kind->field_count(); ++i) {
      const auto number = static_cast<size_t>(kind->field(i)->number());
      if (kinds_.size() <= number) kinds_.resize(number + 1);
      kinds_[number] = kind->field(i);
    }
  }

  absl::StatusOr<BinaryContent> Read();

 private:
  struct BufferBytes {
    absl::string_view bytes;
    std::shared_ptr<const void> owner;
  };
  struct AttrsTypeInfo {
    const AttrsType* type;
    std::vector<std::string> fields;
  };

  absl::Status ErrorAt(uint64_t offset, absl::string_view message) const {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, ": byte ", offset, ": ", message));
  }

  absl::Status ReadHeader();
  absl::Status ReadMessage();
  absl::Status ReadField(uint32_t field, uint64_t offset,
                         absl::string_view bytes);
  template <typename Message>
  absl::Status Parse(absl::string_view bytes, Message* out) const;

  absl::Status ReadBuffer(const binary::Buffer& message);
  absl::Status CheckTensors() const;
  absl::Status ReadAttrsType(const binary::AttrsType& message);
  absl::Status ReadNode(const binary::Node& message);
  absl::Status ReadDefinition(const binary::Definition& message);
  absl::Status ReadTypes(absl::string_view bytes);

  // Null if something is wrong, which error_ then says.
  NodeRef MakeNode(const binary::Node& message);
  NodeRef MakeExpr(const binary::Node& message);
  NodeRef MakeType(const binary::Node& message);
  NodeRef MakeCall(const binary::Call& message, Type type);
  NodeRef MakeConstant(const binary::Constant& message, Type type);
  NodeRef MakeMatch(const binary::Match& message, Type type);
  NodeRef MakeConstructor(const binary::Constructor& message);
  NodeRef MakePattern(const binary::Pattern& message);
  NodeRef MakeAttrs(const binary::Attrs& message);
  NodeRef MakeDictAttrs(const binary::DictAttrs& message);
  NodeRef MakeDimExpr(const binary::DimExpr& message);

  // Keeps the first error.
  void Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  bool failed() const { return !error_.empty(); }

  // Node `number` as an N. Null, with an error, if it is none; 0 is null, too,
  // and an error only in Ref(). `field` is where the number stands, `index`
  // where in a list.
  template <typename N>
  HandleOf<N> OptionalRef(uint64_t number, const char* field, int index = -1);
  template <typename N>
  HandleOf<N> Ref(uint64_t number, const char* field, int index = -1);
  template <typename N, typename Numbers>
  std::vector<HandleOf<N>> Refs(const Numbers& numbers, const char* field);

  DType ReadDType(const binary::DType& message);
  Dim ReadDim(uint64_t code, const char* field, int index = -1);
  TypeVarKind ReadTypeKind(binary::TypeKind kind);
  // Reads values[*next] and what is in it.
  template <typename Values>
  AttrValue ReadAttrValue(const Values& values, int* next, int depth);
  template <typename Values>
  AttrMap ReadAttrMap(const Values& values, int* next, uint64_t size,
                      int depth);

  absl::string_view bytes_;
  std::shared_ptr<const void> owner_;
  absl::string_view name_;
  BinaryReadOptions options_;
  BinaryHeader header_;

  std::unique_ptr<char[]> arena_block_{new char[internal::kBinaryArenaBlock]};
  google::protobuf::Arena arena_{
      internal::BinaryArenaOptions(arena_block_.get())};
  // Fields of a Node by number: those of its kinds.
  std::vector<const google::protobuf::FieldDescriptor*> kinds_;
  std::string error_;

  uint64_t tensor_end_ = 0;  // of the buffers after the message so far
  std::vector<BufferBytes> buffers_;
  struct Stored {
    uint64_t offset;
    uint64_t size;
    uint64_t checksum;
  };
  std::vector<Stored> stored_;  // those after the message

  std::vector<AttrsTypeInfo> attrs_types_;
  std::vector<NodeRef> nodes_ = {NodeRef()};  // by number
  std::vector<uint32_t> tree_sizes_ = {0};    // by number
  uint64_t tree_size_ = 0;                    // of the current node's children
  DType known_dtype_ = DType::Float(32);      // a valid one

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
  const uint64_t end = sizeof(BinaryHeader) + header_.message_size;
  tensor_end_ = end;
  uint64_t offset = sizeof(BinaryHeader);
  const auto read_varint = [&](uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && offset < end; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[offset++]);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  uint32_t last_field = 0;
  while (offset < end) {
    const uint64_t begin = offset;
    uint64_t tag = 0;
    uint64_t size = 0;
    constexpr uint64_t kLengthDelimited = 2;
    if (!read_varint(&tag) || (tag & 7) != kLengthDelimited ||
        tag > std::numeric_limits<uint32_t>::max()) {
      return ErrorAt(begin, "tag: no field of the message begins so");
    }
    const auto field = static_cast<uint32_t>(tag >> 3);
    if (field < last_field) {
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
    BATON_RETURN_IF_ERROR(ReadField(field, begin, bytes_.substr(offset, size)));
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
absl::Status BinaryReader::Parse(absl::string_view bytes, Message* out) const {
  if (!out->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("this is no message of that type");
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
      status = Parse(bytes, &message);
      if (status.ok()) status = ReadBuffer(message);
      break;
    }
    case BinaryField::kAttrsTypesField: {
      what = absl::StrCat("attrs_types[", attrs_types_.size(), "]");
      binary::AttrsType message;
      status = Parse(bytes, &message);
      if (status.ok()) status = ReadAttrsType(message);
      break;
    }
    case BinaryField::kNodesField: {
      if (nodes_.size() % internal::kBinaryNodesPerArena == 0) arena_.Reset();
      binary::Node* message = binary::Node::default_instance().New(&arena_);
      status = Parse(bytes, message);
      if (status.ok()) status = ReadNode(*message);
      if (status.ok()) return status;
      what = absl::StrCat("node ", nodes_.size(), " (", KindOf(*message), ")");
      break;
    }
    case BinaryField::kFunctionsField: {
      what = absl::StrCat("functions[", content_.module.size(), "]");
      binary::Definition message;
      status = Parse(bytes, &message);
      if (status.ok()) status = ReadDefinition(message);
      break;
    }
    case BinaryField::kTypesField:
      what = "types";
      status = ReadTypes(bytes);
      break;
    default:
      what = "tag";
      status = absl::InvalidArgumentError(
          absl::StrCat("the message has no field ", field));
      break;
  }
  if (status.ok()) return status;
  return ErrorAt(offset, absl::StrCat(what, ": ", status.message()));
}

absl::Status BinaryReader::ReadBuffer(const binary::Buffer& message) {
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

template <typename N>
HandleOf<N> BinaryReader::OptionalRef(uint64_t number, const char* field,
                                      int index) {
  if (number < nodes_.size()) {
    tree_size_ += tree_sizes_[number];
    const N* node = nodes_[number].As<N>();
    if (node != nullptr || number == 0) return HandleOf<N>(node);
  }
  std::string where = field;
  if (index >= 0) absl::StrAppend(&where, "[", index, "]");
  if (number >= nodes_.size()) {
    Fail(absl::StrCat(where, ": node ", number, " does not come before this"));
  } else {
    Fail(absl::StrCat(where, ": node ", number, " is a ",
                      NodeKindName(nodes_[number].get()->kind()), ", not ",
                      NameOf<N>()));
  }
  return {};
}

template <typename N>
HandleOf<N> BinaryReader::Ref(uint64_t number, const char* field, int index) {
  if (number == 0) {
    Fail(absl::StrCat(field, ": ", NameOf<N>(), " is missing"));
    return {};
  }
  return OptionalRef<N>(number, field, index);
}

template <typename N, typename Numbers>
std::vector<HandleOf<N>> BinaryReader::Refs(const Numbers& numbers,
                                            const char* field) {
  std::vector<HandleOf<N>> handles;
  handles.reserve(static_cast<size_t>(numbers.size()));
  for (int i = 0; i < numbers.size(); ++i) {
    handles.push_back(Ref<N>(numbers[i], field, i));
    if (failed()) break;
  }
  return handles;
}

DType BinaryReader::ReadDType(const binary::DType& message) {
  const auto known = [&message](DType dtype) {
    return static_cast<uint32_t>(dtype.code()) == message.code() &&
           static_cast<uint32_t>(dtype.bits()) == message.bits() &&
           static_cast<uint32_t>(dtype.lanes()) == message.lanes();
  };
  if (const absl::Status status = CheckFields(message); !status.ok()) {
    Fail(absl::StrCat("dtype: ", status.message()));
    return {};
  }
  if (known(known_dtype_)) return known_dtype_;
  if (message.code() <= static_cast<uint32_t>(DType::Code::kBFloat) &&
      message.bits() <= std::numeric_limits<uint8_t>::max() &&
      message.lanes() <= std::numeric_limits<uint16_t>::max()) {
    const DType dtype(static_cast<DType::Code>(message.code()),
                      static_cast<int>(message.bits()),
                      static_cast<int>(message.lanes()));
    const absl::StatusOr<DType> parsed = DType::Parse(dtype.ToString());
    if (parsed.ok() && *parsed == dtype) {
      known_dtype_ = dtype;
      return dtype;
    }
  }
  Fail(absl::StrCat("dtype: there is none of code ", message.code(), ", ",
                    message.bits(), " bits and ", message.lanes(), " lanes"));
  return {};
}

Dim BinaryReader::ReadDim(uint64_t code, const char* field, int index) {
  if (code == 0) return Dim::Any();
  if ((code & 1) != 0) return Dim(static_cast<int64_t>(code) >> 1);
  const uint64_t number = code >> 1;
  const Node* node = number < nodes_.size() ? nodes_[number].get() : nullptr;
  if (node == nullptr || node->kind() != IrKind::kDimExpr) {
    Fail(absl::StrCat(field, index < 0 ? "" : absl::StrCat("[", index, "]"),
                      ": node ", number, " is not a DimExpr before this"));
    return {};
  }
  tree_size_ += tree_sizes_[number];
  return Dim(static_cast<const DimExprNode*>(node));
}

TypeVarKind BinaryReader::ReadTypeKind(binary::TypeKind kind) {
  if (!binary::TypeKind_IsValid(kind)) {
    Fail(absl::StrCat("kind: there is no kind ", static_cast<int>(kind)));
    return {};
  }
  return static_cast<TypeVarKind>(kind);
}

template <typename Values>
AttrValue BinaryReader::ReadAttrValue(const Values& values, int* next,
                                      int depth) {
  if (depth > internal::kMaxBinaryAttrDepth) {
    Fail("values: they are nested too deeply");
    return {};
  }
  if (*next >= values.size()) {
    Fail("values: there are too few");
    return {};
  }
  const binary::AttrValue& value = values[(*next)++];
  if (const absl::Status status = CheckFields(value); !status.ok()) {
    Fail(absl::StrCat("values: ", status.message()));
    return {};
  }
  // No value stands for more than follow it.
  const auto left = static_cast<uint64_t>(values.size() - *next);
  if (std::max(value.list_size(), value.map_size()) > left) {
    Fail("values: there are too few");
    return {};
  }
  switch (value.value_case()) {
    case binary::AttrValue::kFlag:
      return value.flag();
    case binary::AttrValue::kNumber:
      return int64_t{value.number()};
    case binary::AttrValue::kReal:
      return value.real();
    case binary::AttrValue::kText:
      return value.text();
    case binary::AttrValue::kDtype:
      return ReadDType(value.dtype());
    case binary::AttrValue::kDim:
      return ReadDim(value.dim(), "dim");
    case binary::AttrValue::kListSize: {
      AttrList list;
      list.reserve(value.list_size());
      for (uint64_t i = 0; i < value.list_size() && !failed(); ++i) {
        list.push_back(ReadAttrValue(values, next, depth + 1));
      }
      return list;
    }
    case binary::AttrValue::kMapSize:
      return ReadAttrMap(values, next, value.map_size(), depth + 1);
    case binary::AttrValue::VALUE_NOT_SET:
      break;
  }
  return {};
}

template <typename Values>
AttrMap BinaryReader::ReadAttrMap(const Values& values, int* next,
                                  uint64_t size, int depth) {
  AttrMap map;
  map.reserve(size);
  FlatHashSet<absl::string_view> keys;
  for (uint64_t i = 0; i < size && !failed(); ++i) {
    if (*next >= values.size()) {
      Fail("values: there are too few");
      break;
    }
    const std::string& key = values[*next].key();
    if (!keys.insert(key).second) {
      Fail(absl::StrCat("values: \"", key, "\" is there twice"));
    }
    AttrValue value = ReadAttrValue(values, next, depth);
    map.emplace_back(key, std::move(value));
  }
  return map;
}

NodeRef BinaryReader::MakeAttrs(const binary::Attrs& message) {
  if (message.attrs_type() >= attrs_types_.size()) {
    Fail(absl::StrCat("attrs_type: there is no attrs_types[",
                      message.attrs_type(), "]"));
    return {};
  }
  const AttrsTypeInfo& info = attrs_types_[message.attrs_type()];
  AttrMap values;
  values.reserve(info.fields.size());
  int next = 0;
  for (const std::string& field : info.fields) {
    AttrValue value = ReadAttrValue(message.values(), &next, 0);
    if (failed()) return {};
    values.emplace_back(field, std::move(value));
  }
  if (next != message.values_size()) {
    Fail(absl::StrCat("values: ", next, " of ", message.values_size(),
                      " belong to fields"));
    return {};
  }
  absl::StatusOr<Attrs> attrs = info.type->FromValues(values);
  if (!attrs.ok()) {
    Fail(absl::StrCat("values: ", attrs.status().message()));
    return {};
  }
  return *std::move(attrs);
}

NodeRef BinaryReader::MakeDictAttrs(const binary::DictAttrs& message) {
  // How many there are is known when they are read.
  AttrMap entries;
  FlatHashSet<absl::string_view> keys;
  for (int next = 0; next < message.values_size() && !failed();) {
    const std::string& key = message.values(next).key();
    if (!keys.insert(key).second) {
      Fail(absl::StrCat("values: \"", key, "\" is there twice"));
    }
    AttrValue value = ReadAttrValue(message.values(), &next, 0);
    entries.emplace_back(key, std::move(value));
  }
  if (failed()) return {};
  return DictAttrs(new DictAttrsNode(std::move(entries)));
}

NodeRef BinaryReader::MakeDimExpr(const binary::DimExpr& message) {
  if (!binary::DimExpr::Op_IsValid(message.op())) {
    Fail(absl::StrCat("op: there is no operation ",
                      static_cast<int>(message.op())));
    return {};
  }
  const DType dtype = ReadDType(message.dtype());
  Dim lhs = ReadDim(message.lhs(), "lhs");
  Dim rhs = ReadDim(message.rhs(), "rhs");
  if (failed()) return {};
  return NodeRef(new DimExprNode(static_cast<DimExprNode::Op>(message.op()),
                                 message.name(), dtype, std::move(lhs),
                                 std::move(rhs)));
}

NodeRef BinaryReader::MakePattern(const binary::Pattern& message) {
  const bool has_var = message.var() != 0;
  const bool has_constructor = message.constructor() != 0;
  Var var = OptionalRef<VarNode>(message.var(), "var");
  Constructor constructor =
      OptionalRef<ConstructorNode>(message.constructor(), "constructor");
  std::vector<Pattern> patterns =
      Refs<PatternNode>(message.patterns(), "patterns");
  if (failed()) return {};
  switch (message.form()) {
    case binary::Pattern::WILDCARD:
      if (has_var || has_constructor || !patterns.empty()) break;
      return Pattern::Wildcard();
    case binary::Pattern::VAR:
      if (!has_var || has_constructor || !patterns.empty()) break;
      return Pattern::OfVar(std::move(var));
    case binary::Pattern::CONSTRUCTOR:
      if (has_var || !has_constructor) break;
      return Pattern::OfConstructor(std::move(constructor),
                                    std::move(patterns));
    case binary::Pattern::TUPLE:
      if (has_var || has_constructor) break;
      return Pattern::OfTuple(std::move(patterns));
    default:
      break;
  }
  Fail(absl::StrCat("form: a pattern of form ",
                    static_cast<int>(message.form()),
                    " does not consist of these parts"));
  return {};
}

NodeRef BinaryReader::MakeConstructor(const binary::Constructor& message) {
  std::vector<Type> inputs = Refs<TypeNode>(message.inputs(), "inputs");
  GlobalTypeVar belongs_to =
      Ref<GlobalTypeVarNode>(message.belongs_to(), "belongs_to");
  std::vector<TypeVar> type_params =
      Refs<TypeVarNode>(message.type_params(), "type_params");
  if (failed()) return {};
  return Constructor(message.name(), std::move(inputs), std::move(belongs_to),
                     std::move(type_params));
}

NodeRef BinaryReader::MakeCall(const binary::Call& message, Type type) {
  Expr op = Ref<ExprNode>(message.op(), "op");
  const std::vector<Expr> args = Refs<ExprNode>(message.args(), "args");
  Attrs attrs = OptionalRef<AttrsNode>(message.attrs(), "attrs");
  std::vector<Type> type_args =
      Refs<TypeNode>(message.type_args(), "type_args");
  if (failed()) return {};
  if (const OpNode* node = op.As<OpNode>();
      node != nullptr && attrs.defined() && node->attrs_type() != nullptr &&
      node->attrs_type() != &attrs->type()) {
    Fail(absl::StrCat("attrs: ", attrs->type().type_key(), " are not those of ",
                      node->name()));
    return {};
  }
  return Call(std::move(op), args, std::move(attrs), std::move(type_args),
              std::move(type));
}

NodeRef BinaryReader::MakeConstant(const binary::Constant& message, Type type) {
  if (message.buffer() >= buffers_.size()) {
    Fail(absl::StrCat("buffer: there is no buffers[", message.buffer(), "]"));
    return {};
  }
  const DType dtype = ReadDType(message.dtype());
  TensorShape shape;
  for (const uint64_t dim : message.shape()) {
    if (dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      Fail(absl::StrCat("shape: there is no dimension of ", dim));
      return {};
    }
    shape.push_back(static_cast<int64_t>(dim));
  }
  if (failed()) return {};
  const BufferBytes& buffer = buffers_[message.buffer()];
  absl::StatusOr<Tensor> tensor =
      Tensor::FromBuffer(dtype, shape, buffer.bytes, buffer.owner);
  if (!tensor.ok()) {
    Fail(absl::StrCat("buffer: ", tensor.status().message()));
    return {};
  }
  // In memory there are no other truth values.
  if (dtype.is_bool() &&
      std::any_of(buffer.bytes.begin(), buffer.bytes.end(),
                  [](char c) { return static_cast<uint8_t>(c) > 1; })) {
    Fail("buffer: a bool that is neither 0 nor 1");
    return {};
  }
  return Constant(*std::move(tensor), std::move(type));
}

NodeRef BinaryReader::MakeMatch(const binary::Match& message, Type type) {
  if (message.patterns_size() != message.values_size()) {
    Fail(absl::StrCat("values: ", message.values_size(), " for ",
                      message.patterns_size(), " patterns"));
    return {};
  }
  Expr data = Ref<ExprNode>(message.data(), "data");
  std::vector<Clause> clauses;
  clauses.reserve(static_cast<size_t>(message.patterns_size()));
  for (int i = 0; i < message.patterns_size() && !failed(); ++i) {
    Pattern pattern = Ref<PatternNode>(message.patterns(i), "patterns", i);
    Expr value = Ref<ExprNode>(message.values(i), "values", i);
    clauses.push_back({std::move(pattern), std::move(value)});
  }
  if (failed()) return {};
  return Match(std::move(data), std::move(clauses), message.complete(),
               std::move(type));
}

NodeRef BinaryReader::MakeType(const binary::Node& message) {
  switch (message.kind_case()) {
    case binary::Node::kTensorType: {
      const binary::TensorType& from = message.tensor_type();
      const DType dtype = ReadDType(from.dtype());
      Dims shape;
      shape.reserve(static_cast<size_t>(from.shape_size()));
      for (int i = 0; i < from.shape_size() && !failed(); ++i) {
        shape.push_back(ReadDim(from.shape(i), "shape", i));
      }
      if (failed()) return {};
      return TensorType(shape, dtype);
    }
    case binary::Node::kTupleType: {
      std::vector<Type> fields =
          Refs<TypeNode>(message.tuple_type().fields(), "fields");
      if (failed()) return {};
      return TupleType(std::move(fields));
    }
    case binary::Node::kFuncType: {
      const binary::FuncType& from = message.func_type();
      std::vector<Type> args = Refs<TypeNode>(from.args(), "args");
      Type result = Ref<TypeNode>(from.result(), "result");
      std::vector<TypeVar> type_params =
          Refs<TypeVarNode>(from.type_params(), "type_params");
      if (failed()) return {};
      return FuncType(std::move(args), std::move(result),
                      std::move(type_params));
    }
    case binary::Node::kTypeVar: {
      const TypeVarKind kind = ReadTypeKind(message.type_var().kind());
      if (failed()) return {};
      return TypeVar(message.type_var().name(), kind);
    }
    case binary::Node::kGlobalTypeVar:
      return GlobalTypeVar(message.global_type_var().name());
    case binary::Node::kTypeCall: {
      Type func = Ref<TypeNode>(message.type_call().func(), "func");
      std::vector<Type> args =
          Refs<TypeNode>(message.type_call().args(), "args");
      if (failed()) return {};
      return TypeCall(std::move(func), std::move(args));
    }
    case binary::Node::kRefType: {
      Type value = Ref<TypeNode>(message.ref_type().value(), "value");
      if (failed()) return {};
      return RefType(std::move(value));
    }
    case binary::Node::kIncompleteType: {
      const TypeVarKind kind = ReadTypeKind(message.incomplete_type().kind());
      if (failed()) return {};
      return IncompleteType(kind);
    }
    default:
      Fail("it is of no kind that is known");
      return {};
  }
}

NodeRef BinaryReader::MakeExpr(const binary::Node& message) {
  Type type = OptionalRef<TypeNode>(message.type(), "type");
  switch (message.kind_case()) {
    case binary::Node::kCall:
      return MakeCall(message.call(), std::move(type));
    case binary::Node::kConstant:
      return MakeConstant(message.constant(), std::move(type));
    case binary::Node::kMatch:
      return MakeMatch(message.match(), std::move(type));
    case binary::Node::kVar: {
      Type annotation =
          OptionalRef<TypeNode>(message.var().annotation(), "annotation");
      if (failed()) return {};
      return Var(new VarNode(message.var().name(), std::move(annotation),
                             std::move(type), {}));
    }
    case binary::Node::kGlobalVar:
      return GlobalVar(message.global_var().name(), std::move(type));
    case binary::Node::kTuple: {
      std::vector<Expr> fields =
          Refs<ExprNode>(message.tuple().fields(), "fields");
      if (failed()) return {};
      return Tuple(std::move(fields), std::move(type));
    }
    case binary::Node::kTupleGetItem: {
      Expr tuple = Ref<ExprNode>(message.tuple_get_item().tuple(), "tuple");
      if (failed()) return {};
      return TupleGetItem(std::move(tuple), message.tuple_get_item().index(),
                          std::move(type));
    }
    case binary::Node::kFunction: {
      const binary::Function& from = message.function();
      std::vector<Var> params = Refs<VarNode>(from.params(), "params");
      Expr body = Ref<ExprNode>(from.body(), "body");
      Type result = OptionalRef<TypeNode>(from.result_type(), "result_type");
      std::vector<TypeVar> type_params =
          Refs<TypeVarNode>(from.type_params(), "type_params");
      DictAttrs attrs = OptionalRef<DictAttrsNode>(from.attrs(), "attrs");
      if (failed()) return {};
      return Function(std::move(params), std::move(body), std::move(result),
                      std::move(type_params), std::move(attrs),
                      std::move(type));
    }
    case binary::Node::kLet: {
      Var var = Ref<VarNode>(message.let().var(), "var");
      Expr value = Ref<ExprNode>(message.let().value(), "value");
      Expr body = Ref<ExprNode>(message.let().body(), "body");
      if (failed()) return {};
      return Let(std::move(var), std::move(value), std::move(body),
                 std::move(type));
    }
    case binary::Node::kIfElse: {
      const binary::If& from = message.if_else();
      Expr cond = Ref<ExprNode>(from.cond(), "cond");
      Expr yes = Ref<ExprNode>(from.true_branch(), "true_branch");
      Expr no = Ref<ExprNode>(from.false_branch(), "false_branch");
      if (failed()) return {};
      return If(std::move(cond), std::move(yes), std::move(no),
                std::move(type));
    }
    case binary::Node::kRefCreate: {
      Expr value = Ref<ExprNode>(message.ref_create().value(), "value");
      if (failed()) return {};
      return RefCreate(std::move(value), std::move(type));
    }
    case binary::Node::kRefRead: {
      Expr ref = Ref<ExprNode>(message.ref_read().ref(), "ref");
      if (failed()) return {};
      return RefRead(std::move(ref), std::move(type));
    }
    case binary::Node::kRefWrite: {
      Expr ref = Ref<ExprNode>(message.ref_write().ref(), "ref");
      Expr value = Ref<ExprNode>(message.ref_write().value(), "value");
      if (failed()) return {};
      return RefWrite(std::move(ref), std::move(value), std::move(type));
    }
    default:
      Fail("type: only expressions have one");
      return {};
  }
}

NodeRef BinaryReader::MakeNode(const binary::Node& message) {
  switch (message.kind_case()) {
    case binary::Node::kCall:
    case binary::Node::kVar:
    case binary::Node::kConstant:
    case binary::Node::kTuple:
    case binary::Node::kTupleGetItem:
    case binary::Node::kLet:
    case binary::Node::kFunction:
    case binary::Node::kIfElse:
    case binary::Node::kGlobalVar:
    case binary::Node::kRefCreate:
    case binary::Node::kRefRead:
    case binary::Node::kRefWrite:
    case binary::Node::kMatch:
      return MakeExpr(message);
    default:
      break;
  }
  if (message.type() != 0) {
    Fail("type: such a node has none");
    return {};
  }
  switch (message.kind_case()) {
    case binary::Node::kOp: {
      absl::StatusOr<Op> op = Op::Get(message.op().name());
      if (op.ok()) return *op;
      Fail(absl::StrCat("name: ", op.status().message()));
      return {};
    }
    case binary::Node::kConstructor:
      return MakeConstructor(message.constructor());
    case binary::Node::kAttrs:
      return MakeAttrs(message.attrs());
    case binary::Node::kDictAttrs:
      return MakeDictAttrs(message.dict_attrs());
    case binary::Node::kDimExpr:
      return MakeDimExpr(message.dim_expr());
    case binary::Node::kPattern:
      return MakePattern(message.pattern());
    case binary::Node::kTypeData: {
      const binary::TypeData& from = message.type_data();
      GlobalTypeVar header = Ref<GlobalTypeVarNode>(from.header(), "header");
      std::vector<TypeVar> type_params =
          Refs<TypeVarNode>(from.type_params(), "type_params");
      std::vector<Constructor> constructors =
          Refs<ConstructorNode>(from.constructors(), "constructors");
      if (failed()) return {};
      return TypeData(std::move(header), std::move(type_params),
                      std::move(constructors));
    }
    default:
      return MakeType(message);
  }
}

absl::Status BinaryReader::ReadNode(const binary::Node& message) {
  if (message.kind_case() != binary::Node::KIND_NOT_SET) {
    BATON_RETURN_IF_ERROR(CheckFields(message.GetReflection()->GetMessage(
        message, kinds_[message.kind_case()])));
  }
  tree_size_ = 1;
  NodeRef node = MakeNode(message);
  if (failed()) return absl::InvalidArgumentError(error_);
  if (!internal::IsBinaryTree(node.get()->kind())) tree_size_ = 0;
  if (tree_size_ > internal::kMaxBinaryTree) {
    return absl::InvalidArgumentError("it is too large when written out");
  }
  nodes_.push_back(std::move(node));
  tree_sizes_.push_back(static_cast<uint32_t>(tree_size_));
  return absl::OkStatus();
}

absl::Status BinaryReader::ReadDefinition(const binary::Definition& message) {
  const GlobalVar var = Ref<GlobalVarNode>(message.var(), "var");
  Function function = Ref<FunctionNode>(message.function(), "function");
  if (failed()) return absl::InvalidArgumentError(error_);
  if (content_.module.Find(var->name()).defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat("var: there are two functions @", var->name()));
  }
  content_.module.Set(var, std::move(function));
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
    TypeData type = Ref<TypeDataNode>(number, "types", index++);
    if (failed()) return absl::InvalidArgumentError(error_);
    if (!type_names_.insert(type->name()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("there are two types ", type->name()));
    }
    content_.module.SetType(std::move(type));
    shift = 0;
    number = 0;
  }
  if (shift != 0) return absl::InvalidArgumentError("the last is cut off");
  return absl::OkStatus();
}

absl::StatusOr<BinaryContent> BinaryReader::Read() {
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
    // Where a part of it is impossible, the damage is near.
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
  return std::move(content_);
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
    return BinaryReader(bytes, std::move(owner), name, options).Read();
  });
}

}  // namespace baton
