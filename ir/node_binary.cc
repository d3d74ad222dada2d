#include "baton/ir/node_binary.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/node.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"

namespace baton::internal {
namespace {

// Values in values: they are destroyed and compared by recursion.
constexpr int kMaxValueDepth = 64;

// Fields of the message AttrValue.
enum ValueField : int {
  kFlag = 1,
  kNumber = 2,
  kReal = 3,
  kText = 4,
  kDType = 5,
  kDim = 6,
  kListSize = 7,
  kMapSize = 8,
  kKey = 9,
};
constexpr WireForm kValueForms[] = {
    WireForm::kNone,   WireForm::kVarint, WireForm::kVarint, WireForm::kFixed64,
    WireForm::kBytes,  WireForm::kBytes,  WireForm::kVarint, WireForm::kVarint,
    WireForm::kVarint, WireForm::kBytes};

// The fields of Attrs.
constexpr int kAttrsTypeOfAttrs = 1;
constexpr int kValuesOfAttrs = 2;
constexpr WireForm kAttrsForms[] = {WireForm::kNone, WireForm::kVarint,
                                    WireForm::kRepeated};

// The fields of DType: code, bits and lanes.
constexpr WireForm kDTypeForms[] = {WireForm::kNone, WireForm::kVarint,
                                    WireForm::kVarint, WireForm::kVarint};
constexpr size_t kMaxDTypeBytes = 3 * (1 + 3);

char* PutDType(DType dtype, char* out) {
  const uint64_t parts[] = {static_cast<uint64_t>(dtype.code()),
                            static_cast<uint64_t>(dtype.bits()),
                            static_cast<uint64_t>(dtype.lanes())};
  for (int i = 0; i < 3; ++i) {
    if (parts[i] == 0) continue;
    *out++ = static_cast<char>((i + 1) << 3);
    out = PutVarint(parts[i], out);
  }
  return out;
}

// So that small numbers are small, whatever their sign.
uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^
         static_cast<uint64_t>(value >> 63);
}
int64_t UnZigZag(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

}  // namespace

bool Varints::NextLong(uint64_t* value) {
  const char* next = next_;
  *value = 0;
  for (int shift = 0; shift < 64 && next != end_; shift += 7) {
    const auto byte = static_cast<uint8_t>(*next++);
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      next_ = next;
      return true;
    }
  }
  return false;
}

size_t CountVarints(absl::string_view bytes) {
  return static_cast<size_t>(std::count_if(
      bytes.begin(), bytes.end(),
      [](char byte) { return static_cast<uint8_t>(byte) < 0x80; }));
}

// --- Writing -----------------------------------------------------------------

void NodeWriter::Grow(size_t bytes) {
  const size_t used = static_cast<size_t>(out_ - body_.get());
  const size_t size = std::bit_ceil(used + bytes);
  std::unique_ptr<char[]> larger(new char[size]);
  if (used != 0) std::memcpy(larger.get(), body_.get(), used);
  body_ = std::move(larger);
  out_ = body_.get() + used;
  end_ = body_.get() + size;
}

void NodeWriter::SetMissing(absl::string_view name, bool in_list) {
  if (in_list && !name.empty() && name.back() == 's') name.remove_suffix(1);
  error_ = absl::InvalidArgumentError(absl::StrCat("has no ", name));
}

void NodeWriter::PushValue(const AttrValue& value) {
  if (const Dim* dim = value.As<Dim>()) {
    PushDim(*dim);
  } else if (const AttrList* list = value.As<AttrList>()) {
    for (const AttrValue& item : *list) PushValue(item);
  } else if (const AttrMap* map = value.As<AttrMap>()) {
    for (const auto& [key, item] : *map) PushValue(item);
  }
}

void NodeWriter::WriteDouble(int field, double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  if (bits == 0) return;
  char* out = PutTag(field, WireType::kFixed64, Room(2 * kMaxVarintBytes));
  std::memcpy(out, &bits, sizeof(bits));
  out_ = out + sizeof(bits);
}

void NodeWriter::WriteAllBytes(int field, absl::string_view bytes) {
  char* out = Room(2 * kMaxVarintBytes + bytes.size());
  out = PutVarint(bytes.size(), PutTag(field, WireType::kBytes, out));
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  out_ = out + bytes.size();
}

void NodeWriter::WriteNumbers(int field, absl::Span<const uint64_t> values) {
  if (values.empty()) return;
  char* out = Room((values.size() + 2) * kMaxVarintBytes);
  out = PutTag(field, WireType::kBytes, out);
  // The size of at most so many values takes one byte.
  constexpr size_t kFew = 127 / kMaxVarintBytes;
  if (values.size() <= kFew) {
    char* const size = out++;
    for (const uint64_t value : values) out = PutVarint(value, out);
    *size = static_cast<char>(out - size - 1);
  } else {
    size_t size = 0;
    for (const uint64_t value : values) size += VarintSize(value);
    out = PutVarint(size, out);
    for (const uint64_t value : values) out = PutVarint(value, out);
  }
  out_ = out;
}

void NodeWriter::WriteReferences(int field, const char* name, size_t count) {
  const absl::Span<const uint64_t> numbers = TakeNext(count);
  for (const uint64_t number : numbers) {
    if (number == 0) MissingIn(name);
  }
  WriteNumbers(field, numbers);
}

void NodeWriter::WriteDims(int field, absl::Span<const Dim> dims) {
  constexpr size_t kFew = 8;
  if (dims.size() <= kFew) {
    uint64_t codes[kFew];
    for (size_t i = 0; i < dims.size(); ++i) codes[i] = DimCode(dims[i]);
    return WriteNumbers(field, {codes, dims.size()});
  }
  std::vector<uint64_t> codes;
  codes.reserve(dims.size());
  for (const Dim& dim : dims) codes.push_back(DimCode(dim));
  WriteNumbers(field, codes);
}

void NodeWriter::WriteDType(int field, DType dtype) {
  char bytes[kMaxDTypeBytes];
  const char* end = PutDType(dtype, bytes);
  WriteAllBytes(field, {bytes, static_cast<size_t>(end - bytes)});
}

void NodeWriter::WriteTensor(int field, const Tensor& tensor) {
  WriteDType(field, tensor.dtype());
  const absl::Span<const int64_t> shape = tensor.shape();
  WriteNumbers(field + 1,
               {reinterpret_cast<const uint64_t*>(shape.data()), shape.size()});
  const absl::StatusOr<uint64_t> buffer = BufferIndex(tensor);
  if (buffer.ok()) {
    WriteNumber(field + 2, *buffer);
  } else {
    error_.Update(buffer.status());
  }
}

void NodeWriter::WriteValue(int field, const AttrValue& value, int depth,
                            const std::string* key) {
  if (depth > kMaxValueDepth) {
    error_.Update(
        absl::InvalidArgumentError("has a value that is nested too deeply"));
    return;
  }
  // The message, but for texts.
  char head[4 * kMaxVarintBytes];
  char* out = head;
  const auto put_number = [&out](ValueField number, uint64_t value) {
    out = PutVarint(value, PutTag(number, WireType::kVarint, out));
  };
  const std::string* text = nullptr;
  if (const bool* flag = value.As<bool>()) {
    put_number(kFlag, *flag ? 1 : 0);
  } else if (const int64_t* number = value.As<int64_t>()) {
    put_number(kNumber, ZigZag(*number));
  } else if (const double* real = value.As<double>()) {
    out = PutTag(kReal, WireType::kFixed64, out);
    std::memcpy(out, real, sizeof(*real));
    out += sizeof(*real);
  } else if ((text = value.As<std::string>()) != nullptr) {
    out = PutVarint(text->size(), PutTag(kText, WireType::kBytes, out));
  } else if (const DType* dtype = value.As<DType>()) {
    char* const size = PutTag(kDType, WireType::kBytes, out);
    out = PutDType(*dtype, size + 1);
    *size = static_cast<char>(out - size - 1);
  } else if (const Dim* dim = value.As<Dim>()) {
    put_number(kDim, DimCode(*dim));
  } else if (const AttrList* list = value.As<AttrList>()) {
    put_number(kListSize, list->size());
  } else if (const AttrMap* map = value.As<AttrMap>()) {
    put_number(kMapSize, map->size());
  } else if (const ForeignValue* foreign = value.As<ForeignValue>()) {
    error_.Update(absl::InvalidArgumentError(
        absl::StrCat("has a value of type \"", foreign->type_name(),
                     "\", which the binary format cannot hold")));
    return;
  }
  const size_t head_size = static_cast<size_t>(out - head);
  const size_t text_size = text == nullptr ? 0 : text->size();
  size_t size = head_size + text_size;
  const bool has_key = key != nullptr && !key->empty();
  if (has_key) size += 1 + VarintSize(key->size()) + key->size();
  out = Room(size + 2 * kMaxVarintBytes);
  out = PutVarint(size, PutTag(field, WireType::kBytes, out));
  std::memcpy(out, head, head_size);
  out += head_size;
  if (text_size != 0) std::memcpy(out, text->data(), text_size);
  out += text_size;
  if (has_key) {
    out = PutVarint(key->size(), PutTag(kKey, WireType::kBytes, out));
    std::memcpy(out, key->data(), key->size());
    out += key->size();
  }
  out_ = out;
  if (const AttrList* list = value.As<AttrList>()) {
    for (const AttrValue& item : *list) {
      WriteValue(field, item, depth + 1, nullptr);
    }
  } else if (const AttrMap* map = value.As<AttrMap>()) {
    for (const auto& [name, item] : *map) {
      WriteValue(field, item, depth + 1, &name);
    }
  }
}

void NodeWriter::WriteMap(int field, const AttrMap& map) {
  for (const auto& [key, value] : map) WriteValue(field, value, 0, &key);
}

void NodeBinary<AttrsNode>::Push(const Node* node, NodeWriter& writer) {
  const auto* attrs = static_cast<const AttrsNode*>(node);
  for (const Field& field : attrs->fields().fields()) {
    writer.PushValue(field.Get(attrs->object()));
  }
}

void NodeWriter::WriteAttrs(const AttrsNode& attrs) {
  const absl::StatusOr<uint64_t> type = AttrsTypeIndex(attrs.type());
  if (!type.ok()) return error_.Update(type.status());
  WriteNumber(kAttrsTypeOfAttrs, *type);
  for (const Field& field : attrs.fields().fields()) {
    WriteValue(kValuesOfAttrs, field.Get(attrs.object()));
  }
}

// --- Reading -----------------------------------------------------------------

bool NodeReader::Parse(absl::string_view body, absl::Span<const WireForm> forms,
                       absl::string_view name, WireField* out) {
  Varints rest(body);
  while (!rest.at_end()) {
    const char* const begin = rest.next();
    uint64_t tag = 0;
    if (!rest.Next(&tag) || tag < 8 ||
        tag > std::numeric_limits<uint32_t>::max()) {
      FailToParse();
      return false;
    }
    const uint64_t number = tag >> 3;
    const WireForm form =
        number < forms.size() ? forms[number] : WireForm::kNone;
    // Its value, by the type that the tag says.
    uint64_t value = 0;
    const char* bytes_begin = begin;
    WireForm found = WireForm::kNone;
    bool whole = false;
    switch (tag & 7) {
      case 0:
        whole = rest.Next(&value);
        found = WireForm::kVarint;
        break;
      case 1: {
        absl::string_view bytes;
        whole = rest.Skip(sizeof(value), &bytes);
        if (whole) std::memcpy(&value, bytes.data(), sizeof(value));
        found = WireForm::kFixed64;
        break;
      }
      case 2: {
        absl::string_view bytes;
        whole = rest.Next(&value) && rest.Skip(value, &bytes);
        found = form == WireForm::kRepeated ? form : WireForm::kBytes;
        if (form != WireForm::kRepeated) bytes_begin = bytes.data();
        break;
      }
      case 5: {
        absl::string_view bytes;
        whole = rest.Skip(sizeof(uint32_t), &bytes);
        break;
      }
      default:
        break;
    }
    if (!whole) {
      FailToParse();
      return false;
    }
    if (found != form || form == WireForm::kNone) {
      Fail(absl::StrCat(name, " has no field ", number));
      return false;
    }
    WireField& field = out[number];
    if (field.count++ == 0) {
      field.begin = bytes_begin;
      field.value = value;
    } else if (form != WireForm::kRepeated) {
      Fail(absl::StrCat(name, " has field ", number, " twice"));
      return false;
    }
  }
  return true;
}

void NodeReader::BadReference(uint64_t number, const char* field, int index,
                              absl::string_view wanted) {
  const absl::string_view article = wanted == "expression" ? "an " : "a ";
  if (number == 0) {
    return FailAt(field, absl::StrCat(article, wanted, " is missing"));
  }
  const std::string where =
      index < 0 ? std::string(field) : absl::StrCat(field, "[", index, "]");
  if (number >= nodes_.size()) {
    FailAt(where, absl::StrCat("node ", number, " does not come before this"));
  } else {
    FailAt(where, absl::StrCat("node ", number, " is a ",
                               NodeKindName(nodes_[number].get()->kind()),
                               ", not ", article, wanted));
  }
}

Dim NodeReader::SymbolicDim(uint64_t number, const char* field, int index) {
  const Node* node = number < nodes_.size() ? nodes_[number].get() : nullptr;
  if (node == nullptr || node->kind() != IrKind::kDimExpr) {
    Fail(absl::StrCat(field, index < 0 ? "" : absl::StrCat("[", index, "]"),
                      ": node ", number, " is not a DimExpr before this"));
    return {};
  }
  tree_size_ += tree_sizes_[number];
  return Dim(static_cast<const DimExprNode*>(node));
}

DType NodeReader::NewDType(absl::string_view bytes, const char* field) {
  if (failed()) return {};
  WireField raw[std::size(kDTypeForms)];
  if (!Parse(bytes, kDTypeForms, "DType", raw)) {
    error_ = absl::StrCat(field, ": ", error_);
    return {};
  }
  const uint64_t code = raw[1].value;
  const uint64_t bits = raw[2].value;
  const uint64_t lanes = raw[3].value;
  // The codes 6 and 7 are types of eight bits that no tensor can hold.
  const bool known = code <= static_cast<uint64_t>(DType::Code::kBFloat) ||
                     ((code == 6 || code == 7) && bits == 8);
  if (known && bits <= std::numeric_limits<uint8_t>::max() &&
      lanes <= std::numeric_limits<uint16_t>::max()) {
    const DType dtype(static_cast<DType::Code>(code), static_cast<int>(bits),
                      static_cast<int>(lanes));
    const absl::StatusOr<DType> parsed = DType::Parse(dtype.ToString());
    if (parsed.ok() && *parsed == dtype) {
      known_dtype_ = dtype;
      known_dtype_bytes_ = std::string(bytes);
      return dtype;
    }
  }
  FailAt(field, absl::StrCat("there is none of code ", code, ", ", bits,
                             " bits and ", lanes, " lanes"));
  return {};
}

Tensor NodeReader::ReadTensor(const WireField* fields) {
  const DType dtype = ReadDType(fields[0], "dtype");
  TensorShape shape;
  Varints dims(fields[1].bytes());
  uint64_t dim = 0;
  while (dims.Next(&dim)) {
    if (dim > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      FailAt("shape", absl::StrCat("there is no dimension of ", dim));
      break;
    }
    shape.push_back(static_cast<int64_t>(dim));
  }
  if (!dims.at_end()) FailToParse();
  if (failed()) return {};
  return TensorIn(dtype, shape, fields[2].value);
}

// The values in a message: those of the repeated field `number`, one after
// another.
class NodeReader::Values {
 public:
  Values(int number, absl::string_view body, const WireField& raw)
      : number_(number),
        rest_(raw.count == 0
                  ? absl::string_view()
                  : body.substr(static_cast<size_t>(raw.begin - body.data()))),
        left_(raw.count) {}
  uint32_t left() const { return left_; }
  // The next field; there must be one.
  absl::string_view Next() {
    --left_;
    while (true) {
      uint64_t tag = 0;
      uint64_t value = 0;
      absl::string_view bytes;
      // This was parsed before, so parsing succeeds.
      static_cast<void>(rest_.Next(&tag));
      switch (tag & 7) {
        case 0:
          static_cast<void>(rest_.Next(&value));
          break;
        case 1:
          static_cast<void>(rest_.Skip(sizeof(value), &bytes));
          break;
        default:
          static_cast<void>(rest_.Next(&value) && rest_.Skip(value, &bytes));
          break;
      }
      if (tag >> 3 == static_cast<uint64_t>(number_)) return bytes;
    }
  }

 private:
  int number_;
  Varints rest_;
  uint32_t left_;
};

std::vector<std::string> NodeReader::ReadTexts(int field,
                                               absl::string_view body,
                                               const WireField& raw) {
  std::vector<std::string> texts;
  texts.reserve(raw.count);
  for (Values values(field, body, raw); values.left() > 0;) {
    texts.emplace_back(values.Next());
  }
  return texts;
}

AttrValue NodeReader::ReadValue(Values& values, int depth, std::string* key) {
  if (depth > kMaxValueDepth) {
    Fail("values: they are nested too deeply");
    return {};
  }
  if (values.left() == 0) {
    Fail("values: there are too few");
    return {};
  }
  WireField raw[std::size(kValueForms)];
  if (!Parse(values.Next(), kValueForms, "AttrValue", raw)) {
    error_ = absl::StrCat("values: ", error_);
    return {};
  }
  int which = 0;
  for (int i = kFlag; i <= kMapSize; ++i) {
    if (raw[i].count == 0) continue;
    if (which != 0) {
      Fail("values: one is of two types");
      return {};
    }
    which = i;
  }
  if (key != nullptr) *key = std::string(raw[kKey].bytes());
  // A list or map cannot have more elements than values follow.
  if (std::max(raw[kListSize].value, raw[kMapSize].value) > values.left()) {
    Fail("values: there are too few");
    return {};
  }
  const WireField& value = raw[which];
  switch (which) {
    case kFlag:
      return value.value != 0;
    case kNumber:
      return UnZigZag(value.value);
    case kReal:
      return std::bit_cast<double>(value.value);
    case kText:
      return std::string(value.bytes());
    case kDType:
      return ReadDType(value, "dtype");
    case kDim:
      return ReadDim(value.value, "dim", -1);
    case kListSize: {
      AttrList list;
      list.reserve(value.value);
      for (uint64_t i = 0; i < value.value && !failed(); ++i) {
        list.push_back(ReadValue(values, depth + 1, nullptr));
      }
      return list;
    }
    case kMapSize: {
      AttrMap map;
      map.reserve(value.value);
      FlatHashSet<std::string> keys;
      for (uint64_t i = 0; i < value.value && !failed(); ++i) {
        std::string name;
        AttrValue item = ReadValue(values, depth + 1, &name);
        if (!keys.insert(name).second) {
          Fail(absl::StrCat("values: \"", name, "\" is there twice"));
        }
        map.emplace_back(std::move(name), std::move(item));
      }
      return map;
    }
    default:
      return {};
  }
}

AttrValue NodeReader::ReadValue(int field, absl::string_view body,
                                const WireField& raw) {
  Values values(field, body, raw);
  AttrValue value = ReadValue(values, 0, nullptr);
  if (!failed() && values.left() != 0) Fail("values: there are too many");
  return value;
}

AttrMap NodeReader::ReadMap(int field, absl::string_view body,
                            const WireField& raw) {
  AttrMap map;
  FlatHashSet<std::string> keys;
  for (Values values(field, body, raw); values.left() > 0 && !failed();) {
    std::string key;
    AttrValue value = ReadValue(values, 0, &key);
    if (!keys.insert(key).second) {
      Fail(absl::StrCat("values: \"", key, "\" is there twice"));
    }
    map.emplace_back(std::move(key), std::move(value));
  }
  return map;
}

NodeRef NodeReader::ReadAttrs(absl::string_view body) {
  ExpectNoType();
  WireField raw[std::size(kAttrsForms)];
  if (!Parse(body, kAttrsForms, AttrsNode::kName, raw)) return {};
  const uint64_t type = raw[kAttrsTypeOfAttrs].value;
  if (type >= attrs_types_.size()) {
    FailAt("attrs_type", absl::StrCat("there is no attrs_types[", type, "]"));
    return {};
  }
  const AttrsTypeInfo& info = attrs_types_[type];
  Values values(kValuesOfAttrs, body, raw[kValuesOfAttrs]);
  AttrMap fields;
  fields.reserve(info.fields.size());
  for (const std::string& field : info.fields) {
    AttrValue value = ReadValue(values, 0, nullptr);
    if (failed()) return {};
    fields.emplace_back(field, std::move(value));
  }
  if (values.left() != 0) {
    const uint32_t count = raw[kValuesOfAttrs].count;
    FailAt("values", absl::StrCat(count - values.left(), " of ", count,
                                  " belong to fields"));
    return {};
  }
  absl::StatusOr<Attrs> attrs = info.type->FromValues(fields);
  if (!attrs.ok()) {
    FailAt("values", attrs.status().message());
    return {};
  }
  return *std::move(attrs);
}

NodeRef NodeReader::ReadOp(absl::string_view body) {
  ExpectNoType();
  static constexpr auto kForms = WireFormsOf<OpNode>();
  constexpr int kName = 1;
  WireField raw[kForms.size()];
  if (!Parse(body, kForms, OpNode::kName, raw) || failed()) return {};
  absl::StatusOr<Op> op = Op::Get(raw[kName].bytes());
  if (op.ok()) return *std::move(op);
  FailAt("name", op.status().message());
  return {};
}

}  // namespace baton::internal
