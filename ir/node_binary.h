// Writes nodes to binary files and reads them back. Templates derive the code
// from the description of each class: docs/binary_format.md.
//
// The message of a node is a Protocol Buffers message. Its fields have the
// numbers in the description. For speed, functions instantiated for each class
// write and read the wire format directly: files contain millions of nodes.

#ifndef BATON_IR_NODE_BINARY_H_
#define BATON_IR_NODE_BINARY_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
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
#include "baton/base/dtype.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/node.h"
#include "baton/ir/node_fields.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"

namespace baton::internal {

// The encoding of a field in the message.
enum class WireForm : uint8_t {
  kNone,      // the field does not exist
  kVarint,    // a number
  kFixed64,   // a double
  kBytes,     // text, a message, or packed numbers
  kRepeated,  // repeated, each element with bytes
};

// The longest varint: 64 bits, 7 in each byte.
inline constexpr size_t kMaxVarintBytes = 10;

inline size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) * 9 + 64) / 64;
}

inline char* PutVarint(uint64_t value, char* out) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

// The wire type in a tag: the encoding of the value that follows.
enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2 };

inline char* PutTag(int field, WireType type, char* out) {
  return PutVarint(
      static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type), out);
}

// A sequence of varints. Next() returns false at the end, and before a varint
// that is truncated or too long.
class Varints {
 public:
  explicit Varints(absl::string_view bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  bool Next(uint64_t* value) {
    if (next_ == end_) return false;
    const auto first = static_cast<uint8_t>(*next_);
    if (first < 0x80) {
      ++next_;
      *value = first;
      return true;
    }
    return NextLong(value);
  }
  // Skips `size` bytes and sets `*bytes` to them; returns false if fewer are
  // left.
  bool Skip(uint64_t size, absl::string_view* bytes) {
    if (size > static_cast<uint64_t>(end_ - next_)) return false;
    *bytes = absl::string_view(next_, size);
    next_ += size;
    return true;
  }
  bool at_end() const { return next_ == end_; }
  const char* next() const { return next_; }

 private:
  bool NextLong(uint64_t* value);
  const char* next_;
  const char* end_;
};

// The number of varints in `bytes`.
size_t CountVarints(absl::string_view bytes);

// A field found in a message.
struct WireField {
  const char* begin = nullptr;  // for kRepeated, the tag of the first element
  uint64_t value = 0;           // the number; for kBytes, the size
  uint32_t count = 0;           // the number of occurrences

  absl::string_view bytes() const { return {begin, value}; }
};

// Writes the messages of nodes, one after another. A node is written after the
// nodes to which it refers. First the Push functions collect these references,
// in the order of the description. When each reference has a number, the Write
// functions write the message with these numbers.
class NodeWriter {
 public:
  NodeWriter() { Grow(size_t{1} << 10); }
  NodeWriter(const NodeWriter&) = delete;
  NodeWriter& operator=(const NodeWriter&) = delete;
  virtual ~NodeWriter() = default;

  void Push(const Node* node) {
    slots_.push_back(reinterpret_cast<uintptr_t>(node));
  }
  void PushDim(const Dim& dim) {
    if (dim.is_symbolic()) Push(dim.expr());
  }
  void PushValue(const AttrValue& value);

  // Writes the inferred type.
  void WriteType() { type_ = Next(); }
  // WriteNumber omits 0, and WriteBytes omits empty bytes.
  void WriteNumber(int field, uint64_t value) {
    if (value == 0) return;
    char* out = Room(2 * kMaxVarintBytes);
    out_ = PutVarint(value, PutTag(field, WireType::kVarint, out));
  }
  void WriteDouble(int field, double value);
  void WriteBytes(int field, absl::string_view bytes) {
    if (!bytes.empty()) WriteAllBytes(field, bytes);
  }
  // Writes `bytes` even if they are empty.
  void WriteAllBytes(int field, absl::string_view bytes);
  void WriteNumbers(int field, absl::Span<const uint64_t> values);
  // Writes the next reference. Null is an error unless `may_be_null`.
  void WriteReference(int field, const char* name, bool may_be_null) {
    const uint64_t number = Next();
    if (number == 0 && !may_be_null) Missing(name);
    WriteNumber(field, number);
  }
  // Writes the next `count` references, none of which may be null.
  void WriteReferences(int field, const char* name, size_t count);
  void WriteDim(int field, const Dim& dim) { WriteNumber(field, DimCode(dim)); }
  void WriteDims(int field, absl::Span<const Dim> dims);
  void WriteDType(int field, DType dtype);
  // Writes the three fields of a tensor.
  void WriteTensor(int field, const Tensor& tensor);
  void WriteValue(int field, const AttrValue& value) {
    WriteValue(field, value, 0, nullptr);
  }
  void WriteMap(int field, const AttrMap& map);
  void WriteAttrs(const AttrsNode& attrs);

  // The numbers of the next `count` references, for lists of records.
  absl::Span<const uint64_t> TakeNext(size_t count) {
    const uint64_t* first = next_;
    next_ += count;
    return {first, count};
  }
  // Reports that the field `name`, or an element of the list `name`, is null.
  void Missing(const char* name) {
    if (error_.ok()) SetMissing(name, false);
  }
  void MissingIn(const char* list) {
    if (error_.ok()) SetMissing(list, true);
  }

 protected:
  // The index in the file of an attribute type, and of the buffer of a tensor.
  virtual absl::StatusOr<uint64_t> AttrsTypeIndex(const AttrsType& type) = 0;
  virtual absl::StatusOr<uint64_t> BufferIndex(const Tensor& tensor) = 0;

  // Begins the message of a node whose references have the numbers from `next`
  // on.
  void Begin(const uint64_t* next) {
    next_ = next;
    type_ = 0;
    out_ = body_.get();
    error_ = absl::OkStatus();
  }
  // The bytes written since Begin().
  absl::string_view body() const {
    return {body_.get(), static_cast<size_t>(out_ - body_.get())};
  }
  uint64_t type() const { return type_; }
  const absl::Status& error() const { return error_; }

  std::vector<uint64_t> slots_;

 private:
  uint64_t Next() { return *next_++; }
  uint64_t DimCode(const Dim& dim) {
    if (dim.is_any()) return 0;
    if (dim.is_symbolic()) return Next() << 1;
    return (static_cast<uint64_t>(dim.value()) << 1) | 1;
  }
  void WriteValue(int field, const AttrValue& value, int depth,
                  const std::string* key);
  void SetMissing(absl::string_view name, bool in_list);
  // Returns the memory for the next `bytes` bytes.
  char* Room(size_t bytes) {
    if (static_cast<size_t>(end_ - out_) < bytes) Grow(bytes);
    return out_;
  }
  void Grow(size_t bytes);

  const uint64_t* next_ = nullptr;
  uint64_t type_ = 0;
  absl::Status error_;
  std::unique_ptr<char[]> body_;
  char* out_ = nullptr;
  char* end_ = nullptr;
};

// `a Var`, `an expression`: the description of a reference to an N in messages.
template <typename N>
constexpr absl::string_view KindName() {
  if constexpr (requires { N::kName; }) {
    return N::kName;
  } else if constexpr (std::is_same_v<N, TypeNode>) {
    return "type";
  } else {
    return "expression";
  }
}

// Makes nodes from their messages, one after another.
class NodeReader {
 public:
  NodeReader() = default;
  NodeReader(const NodeReader&) = delete;
  NodeReader& operator=(const NodeReader&) = delete;
  virtual ~NodeReader() = default;

  // Records the error `field: reason`; only the first one is kept.
  void Fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  bool failed() const { return !error_.empty(); }

  // Finds the fields of the message `body` of a `name`: `out[i]` is the field
  // with number i, whose form is `forms[i]`. Returns false, with an error, if
  // `body` is no such message.
  bool Parse(absl::string_view body, absl::Span<const WireForm> forms,
             absl::string_view name, WireField* out);

  // Node `number` as an H. Returns null, with an error, if node `number` is no
  // H. Number 0 is null, which is an error unless `may_be_null`. Errors name
  // `field`, and `index` unless it is -1.
  template <typename H>
  H Reference(uint64_t number, const char* field, int index, bool may_be_null) {
    using N = NodeOf<H>;
    if (number - 1 < nodes_.size() - 1) {
      tree_size_ += tree_sizes_[number];
      const Node* node = nodes_[number].get();
      if (N::ClassOf(node->kind())) return H(static_cast<const N*>(node));
    } else if (number == 0 && may_be_null) {
      return H();
    }
    BadReference(number, field, index, KindName<N>());
    return H();
  }
  // Reads the inferred type.
  Type ReadType() { return Reference<Type>(type_, "type", -1, true); }
  void ExpectNoType() {
    if (type_ != 0) Fail("type: such a node has none");
  }
  Dim ReadDim(uint64_t code, const char* field, int index) {
    if (code == 0) return Dim::Any();
    if ((code & 1) != 0) return Dim(static_cast<int64_t>(code) >> 1);
    return SymbolicDim(code >> 1, field, index);
  }
  DType ReadDType(const WireField& message, const char* field) {
    if (message.bytes() == known_dtype_bytes_ && !message.bytes().empty()) {
      return known_dtype_;
    }
    return NewDType(message.bytes(), field);
  }
  // Reads a tensor from its three fields.
  Tensor ReadTensor(const WireField* fields);
  AttrValue ReadValue(int field, absl::string_view body, const WireField& raw);
  AttrMap ReadMap(int field, absl::string_view body, const WireField& raw);
  std::vector<std::string> ReadTexts(int field, absl::string_view body,
                                     const WireField& raw);
  NodeRef ReadAttrs(absl::string_view body);
  NodeRef ReadOp(absl::string_view body);

  // Converts `value` to a T: a bool, an integer, an enum.
  template <typename T>
  T ReadScalar(uint64_t value, const char* field) {
    if constexpr (std::is_same_v<T, bool>) {
      return value != 0;
    } else if constexpr (std::is_enum_v<T>) {
      if (value < static_cast<uint64_t>(NumValuesOf(T{}))) {
        return static_cast<T>(value);
      }
    } else if constexpr (std::is_signed_v<T>) {
      const auto number = static_cast<int64_t>(value);
      if (number >= std::numeric_limits<T>::min() &&
          number <= std::numeric_limits<T>::max()) {
        return static_cast<T>(number);
      }
    } else {
      if (value <= std::numeric_limits<T>::max()) return static_cast<T>(value);
    }
    FailAt(field, absl::StrCat("there is no ", static_cast<int64_t>(value)));
    return T{};
  }
  void FailAt(absl::string_view field, absl::string_view reason) {
    Fail(absl::StrCat(field, ": ", reason));
  }
  void FailToParse() { Fail("this is no message of that type"); }

 protected:
  // An attribute type in the file: the type, and the names of the fields whose
  // values the file contains.
  struct AttrsTypeInfo {
    const AttrsType* type;
    std::vector<std::string> fields;
  };
  // The tensor in the index-th buffer; calls Fail() if there is none.
  virtual Tensor TensorIn(DType dtype, const TensorShape& shape,
                          uint64_t index) = 0;

  // Begins a node with the inferred type `type`.
  void Begin(uint64_t type) {
    type_ = type;
    tree_size_ = 1;
  }

  std::string error_;
  std::vector<AttrsTypeInfo> attrs_types_;
  std::vector<NodeRef> nodes_ = {NodeRef()};  // by number
  std::vector<uint32_t> tree_sizes_ = {0};    // by number
  uint64_t tree_size_ = 0;                    // of the current node

 private:
  class Values;

  // Reports that `number` is not a reference to a `wanted`.
  void BadReference(uint64_t number, const char* field, int index,
                    absl::string_view wanted);
  Dim SymbolicDim(uint64_t number, const char* field, int index);
  DType NewDType(absl::string_view bytes, const char* field);
  AttrValue ReadValue(Values& values, int depth, std::string* key);

  uint64_t type_ = 0;
  DType known_dtype_;
  std::string known_dtype_bytes_;
};

// --- From the description ----------------------------------------------------

// Numbers, flags and enums, encoded as varints.
template <typename T>
inline constexpr bool kIsWireScalar =
    std::is_integral_v<T> || std::is_enum_v<T>;
template <typename T>
inline constexpr bool kIsValueList =
    kIsVector<T> && !HasReferences<T>() && !std::is_same_v<T, AttrMap> &&
    !std::is_same_v<T, AttrList>;

// A list of nodes or dimensions, or a single one.
template <typename T>
constexpr WireForm WireFormOf() {
  if constexpr (kIsReference<T> || kIsWireScalar<T>) {
    return WireForm::kVarint;
  } else if constexpr (std::is_floating_point_v<T>) {
    return WireForm::kFixed64;
  } else if constexpr (std::is_same_v<T, std::string> ||
                       std::is_same_v<T, DType>) {
    return WireForm::kBytes;
  } else if constexpr (std::is_same_v<T, AttrMap> ||
                       std::is_same_v<T, AttrValue>) {
    return WireForm::kRepeated;
  } else if constexpr (kIsOptional<T>) {
    return WireFormOf<typename T::element_type>();
  } else if constexpr (kIsVector<T>) {
    using E = typename T::value_type;
    static_assert(
        kIsReference<E> || kIsWireScalar<E> || std::is_same_v<E, std::string>,
        "the binary format has no lists of such values");
    return std::is_same_v<E, std::string> ? WireForm::kRepeated
                                          : WireForm::kBytes;
  } else {
    static_assert(kIsVector<T>, "the binary format has no such values");
  }
}

template <typename F, size_t size>
constexpr void AddWireForms(std::array<WireForm, size>& forms) {
  const auto add = [&forms](int number, WireForm form) {
    // Out of bounds, and so not a constant expression, if the number is taken.
    forms[forms[number] == WireForm::kNone ? number : size] = form;
  };
  if constexpr (F::kRole == FieldRole::kRecords) {
    ApplyFields(
        [&](auto... part) {
          (add(decltype(part)::kNumber, WireForm::kBytes), ...);
        },
        F::Value::value_type::Fields());
  } else if constexpr (F::kNumber == 0) {
  } else if constexpr (F::kIsTrailing) {
    add(F::kNumber, WireForm::kBytes);
  } else if constexpr (std::is_same_v<typename F::Value, Tensor>) {
    add(F::kNumber, WireForm::kBytes);
    add(F::kNumber + 1, WireForm::kBytes);
    add(F::kNumber + 2, WireForm::kVarint);
  } else {
    add(F::kNumber, WireFormOf<typename F::Value>());
  }
}

template <typename N>
constexpr int MaxFieldNumber() {
  int max = 0;
  ForEachField<N>([&max](auto field) {
    using F = decltype(field);
    int number = F::kNumber;
    if constexpr (F::kRole == FieldRole::kRecords) {
      ApplyFields(
          [&](auto... part) {
            ((number = number < decltype(part)::kNumber
                           ? decltype(part)::kNumber
                           : number),
             ...);
          },
          F::Value::value_type::Fields());
    } else if constexpr (std::is_same_v<typename F::Value, Tensor>) {
      number += 2;
    }
    if (number > max) max = number;
  });
  return max;
}

// The forms of the fields of N, by number.
template <typename N>
constexpr auto WireFormsOf() {
  std::array<WireForm, MaxFieldNumber<N>() + 1> forms = {};
  forms[0] = WireForm::kBytes;  // taken: no field has number 0
  ForEachField<N>(
      [&forms](auto field) { AddWireForms<decltype(field)>(forms); });
  forms[0] = WireForm::kNone;
  return forms;
}

template <typename T>
void PushField(const T& value, NodeWriter& writer) {
  if constexpr (std::is_same_v<T, Dim>) {
    writer.PushDim(value);
  } else if constexpr (kIsReference<T>) {
    writer.Push(value.get());
  } else if constexpr (std::is_same_v<T, AttrValue>) {
    writer.PushValue(value);
  } else if constexpr (std::is_same_v<T, AttrMap>) {
    for (const auto& entry : value) writer.PushValue(entry.second);
  } else if constexpr (kIsOptional<T>) {
    if (value != nullptr) PushField(*value, writer);
  } else if constexpr (HasReferences<T>()) {
    for (const auto& element : value) PushField(element, writer);
  }
}

template <typename N>
void PushFields(const Node* node, NodeWriter& writer) {
  const N& n = *static_cast<const N*>(node);
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kRecords) {
      for (const auto& record : F::Of(n)) {
        ApplyFields(
            [&](auto... part) {
              (PushField(decltype(part)::Of(record), writer), ...);
            },
            F::Value::value_type::Fields());
      }
    } else if constexpr (F::kNumber != 0 ||
                         F::kRole == FieldRole::kInferredType) {
      PushField(F::Of(n), writer);
    }
  });
}

template <typename T>
constexpr uint64_t WireScalar(T value) {
  if constexpr (std::is_signed_v<T>) {
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  } else {
    return static_cast<uint64_t>(value);
  }
}

template <typename F, typename T>
void WriteField(F field, const T& value, NodeWriter& writer) {
  constexpr int kNumber = F::kNumber;
  if constexpr (std::is_same_v<T, Dim>) {
    writer.WriteDim(kNumber, value);
  } else if constexpr (kIsReference<T>) {
    writer.WriteReference(kNumber, field.name(), F::kMayBeNull);
  } else if constexpr (kIsWireScalar<T>) {
    writer.WriteNumber(kNumber, WireScalar(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    writer.WriteDouble(kNumber, value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    writer.WriteBytes(kNumber, value);
  } else if constexpr (std::is_same_v<T, DType>) {
    writer.WriteDType(kNumber, value);
  } else if constexpr (std::is_same_v<T, Tensor>) {
    writer.WriteTensor(kNumber, value);
  } else if constexpr (std::is_same_v<T, AttrValue>) {
    writer.WriteValue(kNumber, value);
  } else if constexpr (std::is_same_v<T, AttrMap>) {
    writer.WriteMap(kNumber, value);
  } else if constexpr (kIsOptional<T>) {
    if (value != nullptr) WriteField(field, *value, writer);
  } else {
    using E = std::remove_const_t<typename T::value_type>;
    if constexpr (std::is_same_v<E, Dim>) {
      writer.WriteDims(kNumber, value);
    } else if constexpr (kIsReference<E>) {
      writer.WriteReferences(kNumber, field.name(), value.size());
    } else if constexpr (std::is_same_v<E, std::string>) {
      for (const std::string& text : value) writer.WriteAllBytes(kNumber, text);
    } else {
      std::vector<uint64_t> numbers;
      numbers.reserve(value.size());
      for (const E element : value) numbers.push_back(WireScalar(element));
      writer.WriteNumbers(kNumber, numbers);
    }
  }
}

// Writes a list for each field of the records. The references are ordered
// record by record.
template <typename R>
void WriteRecords(const std::vector<R>& records, NodeWriter& writer) {
  constexpr size_t kReferences = ApplyFields(
      [](auto... part) {
        return (size_t{kIsReference<typename decltype(part)::Value>} + ...);
      },
      R::Fields());
  const absl::Span<const uint64_t> references =
      writer.TakeNext(records.size() * kReferences);
  size_t which = 0;
  std::vector<uint64_t> numbers(records.size());
  const auto write = [&](auto part) {
    using P = decltype(part);
    using T = typename P::Value;
    static_assert(
        (kIsReference<T> && !std::is_same_v<T, Dim>) || kIsWireScalar<T>,
        "fields of records are references or numbers");
    for (size_t i = 0; i < records.size(); ++i) {
      if constexpr (kIsReference<T>) {
        numbers[i] = references[i * kReferences + which];
        if (numbers[i] == 0 && !P::kMayBeNull) writer.Missing(part.name());
      } else {
        numbers[i] = WireScalar(P::Of(records[i]));
      }
    }
    if constexpr (kIsReference<T>) ++which;
    writer.WriteNumbers(P::kNumber, numbers);
  };
  ApplyFields([&](auto... part) { (write(part), ...); }, R::Fields());
}

template <typename N>
void WriteFields(const Node* node, NodeWriter& writer) {
  const N& n = *static_cast<const N*>(node);
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kInferredType) {
      writer.WriteType();
    } else if constexpr (F::kRole == FieldRole::kRecords) {
      WriteRecords(F::Of(n), writer);
    } else if constexpr (F::kNumber != 0) {
      WriteField(field, F::Of(n), writer);
    }
  });
}

// Reads one element of a list.
template <typename E>
E ReadElement(uint64_t value, const char* name, int index, bool may_be_null,
              NodeReader& reader) {
  if constexpr (std::is_same_v<E, Dim>) {
    return reader.ReadDim(value, name, index);
  } else if constexpr (kIsReference<E>) {
    return reader.Reference<E>(value, name, index, may_be_null);
  } else {
    return reader.ReadScalar<E>(value, name);
  }
}

template <typename F, typename T>
void ReadField(F field, absl::string_view body, const WireField& raw, T& to,
               NodeReader& reader) {
  if constexpr (kIsReference<T> || kIsWireScalar<T>) {
    to = ReadElement<T>(raw.value, field.name(), -1, F::kMayBeNull, reader);
  } else if constexpr (std::is_floating_point_v<T>) {
    to = static_cast<T>(std::bit_cast<double>(raw.value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    to = std::string(raw.bytes());
  } else if constexpr (std::is_same_v<T, DType>) {
    to = reader.ReadDType(raw, field.name());
  } else if constexpr (std::is_same_v<T, Tensor>) {
    to = reader.ReadTensor(&raw);
  } else if constexpr (std::is_same_v<T, AttrValue>) {
    to = reader.ReadValue(F::kNumber, body, raw);
  } else if constexpr (std::is_same_v<T, AttrMap>) {
    to = reader.ReadMap(F::kNumber, body, raw);
  } else if constexpr (kIsOptional<T>) {
    if (raw.count == 0) return;
    to = std::make_unique<typename T::element_type>();
    ReadField(field, body, raw, *to, reader);
  } else {
    using E = typename T::value_type;
    if constexpr (std::is_same_v<E, std::string>) {
      to = reader.ReadTexts(F::kNumber, body, raw);
    } else {
      to.reserve(CountVarints(raw.bytes()));
      Varints numbers(raw.bytes());
      int index = 0;
      uint64_t number = 0;
      while (!reader.failed() && numbers.Next(&number)) {
        to.push_back(
            ReadElement<E>(number, field.name(), index++, false, reader));
      }
      if (!numbers.at_end()) reader.FailToParse();
    }
  }
}

// Reads records from lists, one for each field of the record; the lists must
// have equal lengths.
template <typename R>
void ReadRecords(const WireField* raw, std::vector<R>& to, NodeReader& reader) {
  size_t count = 0;
  const char* first = nullptr;
  const auto count_part = [&](auto part) {
    const size_t n = CountVarints(raw[decltype(part)::kNumber].bytes());
    if (first == nullptr) {
      count = n;
      first = part.name();
    } else if (n != count) {
      reader.FailAt(part.name(), absl::StrCat(n, " for ", count, " ", first));
    }
  };
  ApplyFields([&](auto... part) { (count_part(part), ...); }, R::Fields());
  if (reader.failed()) return;
  to.resize(count);
  const auto read = [&](auto part) {
    using P = decltype(part);
    Varints numbers(raw[P::kNumber].bytes());
    uint64_t number = 0;
    for (size_t i = 0; i < count && !reader.failed(); ++i) {
      if (!numbers.Next(&number)) return reader.FailToParse();
      P::Of(to[i]) = ReadElement<typename P::Value>(
          number, part.name(), static_cast<int>(i), P::kMayBeNull, reader);
    }
    if (!reader.failed() && !numbers.at_end()) reader.FailToParse();
  };
  ApplyFields([&](auto... part) { (read(part), ...); }, R::Fields());
}

// Reads an N. Returns null, with an error, if `body` is not the message of an
// N.
template <typename N>
NodeRef ReadFields(NodeReader& reader, absl::string_view body) {
  static constexpr auto kForms = WireFormsOf<N>();
  WireField raw[kForms.size()];
  if (!reader.Parse(body, kForms, N::kName, raw)) return {};
  uint32_t trailing = 0;
  bool has_type = false;
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kIsTrailing) {
      trailing = static_cast<uint32_t>(CountVarints(raw[F::kNumber].bytes()));
    }
    has_type |= F::kRole == FieldRole::kInferredType;
  });
  if (!has_type) reader.ExpectNoType();
  N* node = NewBlankNode<N>(trailing);
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kIsTrailing) {
      std::uninitialized_value_construct_n(F::Of(*node).data(), trailing);
    }
  });
  // From here on the node can be destroyed like any other, also if memory runs
  // out while its fields are read.
  const NodeRef result(node);
  ForEachField<N>([&](auto field) {
    using F = decltype(field);
    if constexpr (F::kRole == FieldRole::kInferredType) {
      F::Of(*node) = reader.ReadType();
    } else if constexpr (F::kRole == FieldRole::kRecords) {
      ReadRecords(raw, F::Of(*node), reader);
    } else if constexpr (F::kIsTrailing) {
      Varints numbers(raw[F::kNumber].bytes());
      typename F::Value* to = F::Of(*node).data();
      for (uint32_t i = 0; i < trailing; ++i) {
        uint64_t number = 0;
        if (!numbers.Next(&number)) reader.FailToParse();
        to[i] = ReadElement<typename F::Value>(
            number, field.name(), static_cast<int>(i), false, reader);
      }
      if (!numbers.at_end()) reader.FailToParse();
    } else if constexpr (F::kNumber != 0) {
      ReadField(field, body, raw[F::kNumber], F::Of(*node), reader);
    }
  });
  if constexpr (requires { N::Derive(*node); }) {
    if (reader.failed()) return {};
    if constexpr (std::is_void_v<decltype(N::Derive(*node))>) {
      N::Derive(*node);
    } else {
      const absl::Status status = N::Derive(*node);
      if (!status.ok()) reader.Fail(std::string(status.message()));
    }
  }
  if (reader.failed()) return {};
  return result;
}

// The functions of a class for the binary format. Operators and attributes have
// special functions, since they consist of more than their fields.
template <typename N>
struct NodeBinary {
  static constexpr auto* Push = &PushFields<N>;
  static constexpr auto* Write = &WriteFields<N>;
  static constexpr auto* Read = &ReadFields<N>;
};
template <>
struct NodeBinary<OpNode> {
  static constexpr auto* Push = &PushFields<OpNode>;
  static constexpr auto* Write = &WriteFields<OpNode>;
  static NodeRef Read(NodeReader& reader, absl::string_view body) {
    return reader.ReadOp(body);
  }
};
template <>
struct NodeBinary<AttrsNode> {
  static void Push(const Node* node, NodeWriter& writer);
  static void Write(const Node* node, NodeWriter& writer) {
    writer.WriteAttrs(*static_cast<const AttrsNode*>(node));
  }
  static NodeRef Read(NodeReader& reader, absl::string_view body) {
    return reader.ReadAttrs(body);
  }
};

}  // namespace baton::internal

#endif  // BATON_IR_NODE_BINARY_H_
