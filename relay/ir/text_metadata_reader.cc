#include "baton/relay/ir/text_metadata_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "baton/base/attr_value.h"
#include "baton/base/dtype.h"
#include "baton/base/fields.h"
#include "baton/base/hash_table.h"
#include "baton/base/near_names.h"
#include "baton/base/source.h"
#include "baton/base/tensor.h"
#include "baton/ir/attrs.h"
#include "baton/ir/attrs_registry.h"
#include "baton/ir/diagnostics.h"
#include "baton/ir/span.h"
#include "baton/ir/type.h"
#include "baton/relay/ir/expr.h"
#include "baton/relay/ir/text_metadata.h"

namespace baton::relay {
namespace internal {
namespace {

// Lists in lists; deeper ones are refused.
constexpr int kMaxDepth = 64;
// The largest number that a Dim holds.
constexpr int64_t kMaxDim = (int64_t{1} << 62) - 1;

constexpr std::array<int8_t, 256> MakeBase64Values() {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < 64; ++i) {
    values[static_cast<unsigned char>(kDigits[i])] = static_cast<int8_t>(i);
  }
  return values;
}
constexpr std::array<int8_t, 256> kBase64Values = MakeBase64Values();

// Decodes base64 piece by piece.
class Base64Stream {
 public:
  explicit Base64Stream(absl::string_view text) : text_(text) {
    if (text_.size() % 4 != 0) {
      good_ = false;
      return;
    }
    size_ = static_cast<int64_t>(text_.size() / 4 * 3);
    for (int i = 0; i < 2 && !text_.empty() && text_.back() == '='; ++i) {
      text_.remove_suffix(1);
      --size_;
    }
  }

  // False if the length, or something read so far, is not base64.
  bool good() const { return good_; }
  // Bytes not read yet.
  int64_t size() const { return size_; }

  // `count` must not exceed size().
  void Read(void* out, int64_t count) {
    auto* to = static_cast<unsigned char*>(out);
    size_ -= count;
    while (count > 0 && held_ > 0) {
      *to++ = hold_[3 - held_--];
      --count;
    }
    const char* from = text_.data();
    int bad = 0;
    while (count >= 3) {
      const int bits = Quad(from);
      bad |= bits;
      to[0] = static_cast<unsigned char>(bits >> 16);
      to[1] = static_cast<unsigned char>(bits >> 8);
      to[2] = static_cast<unsigned char>(bits);
      from += 4;
      to += 3;
      count -= 3;
    }
    text_.remove_prefix(static_cast<size_t>(from - text_.data()));
    if (count > 0) {
      char last[4] = {'A', 'A', 'A', 'A'};
      const size_t length = text_.size() < 4 ? text_.size() : 4;
      std::memcpy(last, text_.data(), length);
      text_.remove_prefix(length);
      const int bits = Quad(last);
      bad |= bits;
      hold_[0] = static_cast<unsigned char>(bits >> 16);
      hold_[1] = static_cast<unsigned char>(bits >> 8);
      hold_[2] = static_cast<unsigned char>(bits);
      held_ = 3;
      while (count-- > 0) *to++ = hold_[3 - held_--];
    }
    if (bad < 0) good_ = false;
  }

  template <typename T>
  T Read() {
    T value{};
    Read(&value, sizeof(value));
    return value;
  }

 private:
  // 24 bits, or a negative number.
  static int Quad(const char* p) {
    const auto value = [p](int i) {
      return int{kBase64Values[static_cast<unsigned char>(p[i])]};
    };
    const int a = value(0), b = value(1), c = value(2), d = value(3);
    return (a | b | c | d) < 0 ? -1 : a << 18 | b << 12 | c << 6 | d;
  }

  absl::string_view text_;
  int64_t size_ = 0;
  bool good_ = true;
  unsigned char hold_[3] = {};
  int held_ = 0;  // how many at the end of hold_ are still to be read
};

bool IsNumber(absl::string_view text) {
  return !text.empty() && text.size() < 19 &&
         text.find_first_not_of("0123456789") == absl::string_view::npos;
}

void AppendUtf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xc0 | c >> 6));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  } else {
    out->push_back(static_cast<char>(0xe0 | c >> 12));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3f)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3f)));
  }
}

// The string that `raw` is between its quotes.
std::string Unescape(absl::string_view raw) {
  std::string result;
  result.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 == raw.size()) {
      result.push_back(raw[i]);
      continue;
    }
    const char c = raw[++i];
    switch (c) {
      case 'n':
        result.push_back('\n');
        break;
      case 't':
        result.push_back('\t');
        break;
      case 'r':
        result.push_back('\r');
        break;
      case 'b':
        result.push_back('\b');
        break;
      case 'f':
        result.push_back('\f');
        break;
      case 'u': {
        uint32_t code = 0;
        if (absl::SimpleHexAtoi(raw.substr(i + 1, 4), &code)) {
          AppendUtf8(code, &result);
          i += 4;
        }
        break;
      }
      default:
        result.push_back(c);
    }
  }
  return result;
}

}  // namespace

// ---------------------------------------------------------------------------
// JSON.

// A cursor over JSON. If the text is not what a read expects, the cursor does
// not move, and mistake() says what was expected.
class MetadataReader::Json {
 public:
  Json(absl::string_view text, size_t pos) : text_(text), pos_(pos) {}

  size_t pos() const { return pos_; }
  const std::string& mistake() const { return mistake_; }
  bool Fail(std::string mistake) {
    if (mistake_.empty()) mistake_ = std::move(mistake);
    return false;
  }

  char Peek() {
    while (pos_ < text_.size() &&
           (text_[pos_] == ' ' || text_[pos_] == '\n' || text_[pos_] == '\t' ||
            text_[pos_] == '\r')) {
      ++pos_;
    }
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  bool AtEnd() { return Peek() == '\0' && pos_ == text_.size(); }
  bool Accept(char c) {
    if (Peek() != c || pos_ == text_.size()) return false;
    ++pos_;
    return true;
  }
  bool Expect(char c) {
    if (Accept(c)) return true;
    return Fail(AtEnd() ? "the metadata section is cut off"
                        : absl::StrCat("expected `", std::string(1, c), "`"));
  }

  // Calls `item` for each item between `open` and `close`.
  template <typename Item>
  bool Each(char open, char close, Item item) {
    if (!Expect(open)) return false;
    if (Accept(close)) return true;
    do {
      if (!item()) return false;
    } while (Accept(','));
    return Expect(close);
  }
  // Calls `item(key)` for each key of an object, before its value.
  template <typename Item>
  bool EachKey(Item item) {
    return Each('{', '}', [&] {
      absl::string_view key;
      return String(&key) && Expect(':') && item(key);
    });
  }

  bool String(absl::string_view* out) {
    if (Peek() != '"') {
      return Fail(AtEnd() ? "the metadata section is cut off"
                          : "expected a string");
    }
    const size_t begin = pos_ + 1;
    size_t end = begin;
    while (true) {
      end = text_.find_first_of('"', end);
      if (end == absl::string_view::npos) {
        return Fail("the metadata section is cut off");
      }
      size_t slashes = 0;
      while (text_[end - 1 - slashes] == '\\') ++slashes;
      if (slashes % 2 == 0) break;
      ++end;
    }
    *out = text_.substr(begin, end - begin);
    pos_ = end + 1;
    return true;
  }
  bool Number(size_t* out) {
    Peek();
    const size_t begin = pos_;
    size_t value = 0;
    while (pos_ < text_.size() && text_[pos_] >= '0' && text_[pos_] <= '9' &&
           pos_ - begin < 18) {
      value = value * 10 + static_cast<size_t>(text_[pos_++] - '0');
    }
    *out = value;
    if (pos_ != begin) return true;
    return Fail(AtEnd() ? "the metadata section is cut off"
                        : "expected a number");
  }
  // Passes a value of any kind.
  bool Skip() {
    int64_t depth = 0;
    do {
      const char c = Peek();
      absl::string_view ignored;
      if (c == '"') {
        if (!String(&ignored)) return false;
      } else if (c == '{' || c == '[') {
        ++depth;
        ++pos_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++pos_;
      } else if (AtEnd()) {
        return Fail("the metadata section is cut off");
      } else {
        ++pos_;
      }
    } while (depth > 0);
    return depth == 0 || Fail("unexpected bracket");
  }

 private:
  const absl::string_view text_;
  size_t pos_;
  std::string mistake_;
};

MetadataReader::MetadataReader(std::shared_ptr<const Source> source,
                               Diagnostics* diagnostics)
    : source_(std::move(source)), diagnostics_(diagnostics) {}

bool MetadataReader::Error(int64_t offset, std::string message) {
  diagnostics_->Error(Span(source_, offset, offset + 1), std::move(message));
  return false;
}

std::nullopt_t MetadataReader::NodeError(size_t i, std::string message) {
  Error(nodes_[i].offset,
        absl::StrCat("node ", i, " of the metadata section: ", message));
  return std::nullopt;
}

bool MetadataReader::Scan(int64_t begin) {
  Json json(source_->text(), static_cast<size_t>(begin));
  if (!ScanAll(json)) {
    return Error(static_cast<int64_t>(json.pos()), json.mistake());
  }
  if (root_ >= nodes_.size() ||
      nodes_[root_].keys.size() != nodes_[root_].data.size()) {
    return Error(begin, "the root of the metadata section is not a map");
  }
  budget_ = 1000000 + 16 * static_cast<int64_t>(nodes_.size());
  return true;
}

bool MetadataReader::ScanAll(Json& json) {
  const bool good = json.EachKey([&](absl::string_view key) {
    if (key == "root") return json.Number(&root_);
    if (key == "nodes") return ScanNodes(json);
    if (key == "b64ndarrays") return ScanStrings(json, &tensors_);
    return json.Skip();
  });
  if (!good) return false;
  return json.AtEnd() || json.Fail("unexpected text after the metadata");
}

bool MetadataReader::ScanNodes(Json& json) {
  return json.Each('[', ']', [&] {
    nodes_.emplace_back();
    return ScanNode(json, &nodes_.back());
  });
}

bool MetadataReader::ScanNode(Json& json, JsonNode* node) {
  json.Peek();
  node->offset = static_cast<int64_t>(json.pos());
  return json.EachKey([&](absl::string_view key) {
    if (key == "type_key") return json.String(&node->kind);
    if (key == "repr_str") return json.String(&node->text);
    if (key == "repr_b64") {
      node->text_is_base64 = true;
      return json.String(&node->text);
    }
    if (key == "attrs") {
      return json.EachKey([&](absl::string_view name) {
        node->attrs.emplace_back(name, absl::string_view());
        return json.String(&node->attrs.back().second);
      });
    }
    if (key == "keys") return ScanStrings(json, &node->keys);
    if (key == "data") {
      return json.Each('[', ']', [&] {
        node->data.emplace_back();
        return json.Number(&node->data.back());
      });
    }
    return json.Skip();
  });
}

bool MetadataReader::ScanStrings(Json& json,
                                 std::vector<absl::string_view>* list) {
  return json.Each('[', ']', [&] {
    list->emplace_back();
    return json.String(&list->back());
  });
}

// ---------------------------------------------------------------------------
// What the text refers to.

MetaItem MetadataReader::Get(absl::string_view kind, int64_t number,
                             const Span& span) {
  const auto error = [&](std::string message) {
    diagnostics_->Error(span, std::move(message));
    return MetaItem();
  };
  const JsonNode& root = nodes_[root_];
  std::vector<std::string> kinds;
  for (size_t k = 0; k < root.keys.size(); ++k) {
    if (root.keys[k] != kind) {
      kinds.push_back(Unescape(root.keys[k]));
      continue;
    }
    if (root.data[k] >= nodes_.size()) {
      NodeError(root_, "it refers to a node that does not exist");
      return MetaItem();
    }
    const std::vector<size_t>& list = nodes_[root.data[k]].data;
    if (number >= static_cast<int64_t>(list.size())) {
      return error(absl::StrCat("the metadata section has ", list.size(),
                                " nodes of kind ", kind, ", numbered from 0"));
    }
    const size_t i = list[static_cast<size_t>(number)];
    if (i >= nodes_.size()) {
      NodeError(root.data[k], "it refers to a node that does not exist");
      return MetaItem();
    }
    const auto it = items_.find(i);
    if (it != items_.end()) return it->second;
    MetaItem item = Convert(i, span);
    items_.emplace(i, item);
    return item;
  }
  return error(absl::StrCat("the metadata section has no nodes of kind ", kind,
                            DidYouMean(kind, kinds)));
}

MetaItem MetadataReader::Convert(size_t i, const Span& span) {
  const absl::string_view kind = nodes_[i].kind;
  if (kind == "relay.Constant") {
    std::optional<Tensor> tensor = ConvertTensor(i);
    if (!tensor.has_value()) return {};
    return Constant(*std::move(tensor), {}, span);
  }
  if (const AttrsType* type = FindAttrsType(kind)) {
    std::optional<Attrs> attrs = ConvertAttrs(i, *type);
    if (!attrs.has_value()) return {};
    return *std::move(attrs);
  }
  std::optional<AttrValue> value = ConvertValue(i, 0);
  if (!value.has_value()) return {};
  return *std::move(value);
}

std::optional<Tensor> MetadataReader::ConvertTensor(size_t i) {
  const std::optional<int64_t> number = IntAttr(i, "data");
  if (!number.has_value()) return std::nullopt;
  if (*number < 0 || *number >= static_cast<int64_t>(tensors_.size())) {
    return NodeError(i, absl::StrCat("there is no tensor ", *number));
  }
  const absl::string_view text = tensors_[static_cast<size_t>(*number)];
  const auto error = [&](std::string message) {
    Error(OffsetOf(text), absl::StrCat("tensor ", *number,
                                       " of the metadata section ", message));
    return std::nullopt;
  };
  Base64Stream stream(text);
  if (!stream.good()) return error("is not base64");
  // The header but for its shape and its size in bytes.
  if (stream.size() < 32) return error("is cut off");
  if (stream.Read<uint64_t>() != kTensorMagic) {
    return error("does not begin as a tensor does");
  }
  stream.Read<uint64_t>();  // reserved
  stream.Read<uint64_t>();  // the device
  const auto rank = stream.Read<int32_t>();
  const auto code = stream.Read<uint8_t>();
  const auto bits = stream.Read<uint8_t>();
  const auto lanes = stream.Read<uint16_t>();
  if (rank < 0 || stream.size() / 8 < int64_t{rank} + 1) {
    return error("is cut off");
  }
  TensorShape shape;
  for (int d = 0; d < rank; ++d) shape.push_back(stream.Read<int64_t>());
  const auto byte_size = stream.Read<int64_t>();
  if (!stream.good()) return error("is not base64");
  const DType dtype(static_cast<DType::Code>(code), bits, lanes);
  if (code > static_cast<uint8_t>(DType::Code::kBFloat) ||
      !dtype.IsStorable()) {
    return error("has an element type that tensors cannot hold");
  }
  const absl::StatusOr<int64_t> elements = NumElements(dtype, shape);
  if (!elements.ok()) {
    return error(
        absl::StrCat("has a bad shape: ", elements.status().message()));
  }
  // Compared before memory is taken.
  if (*elements * dtype.bytes() != byte_size || byte_size != stream.size()) {
    return error(absl::StrCat("has ", stream.size(),
                              " bytes of data where its shape takes ",
                              *elements * dtype.bytes()));
  }
  absl::StatusOr<MutableTensor> tensor = MutableTensor::Create(dtype, shape);
  if (!tensor.ok()) return error(std::string(tensor.status().message()));
  stream.Read(tensor->data(), byte_size);
  if (!stream.good()) return error("is not base64");
  return std::move(*tensor).Freeze();
}

std::optional<Attrs> MetadataReader::ConvertAttrs(size_t i,
                                                  const AttrsType& type) {
  AttrMap values;
  for (const Field& attr : nodes_[i].attrs) {
    const baton::Field* field = type.fields().Find(attr.first);
    if (field == nullptr) {
      std::vector<std::string> known;
      for (const auto& f : type.fields().fields()) known.push_back(f.name());
      return NodeError(i, absl::StrCat("unknown attribute `", attr.first, "`",
                                       DidYouMean(attr.first, known)));
    }
    std::optional<AttrValue> value = ConvertField(i, field->type_name(), attr);
    if (!value.has_value()) return std::nullopt;
    values.emplace_back(std::string(attr.first), *std::move(value));
  }
  absl::StatusOr<Attrs> attrs = type.FromValues(values);
  if (!attrs.ok()) return NodeError(i, std::string(attrs.status().message()));
  return *std::move(attrs);
}

std::optional<AttrValue> MetadataReader::ConvertField(size_t i,
                                                      absl::string_view type,
                                                      const Field& field) {
  const absl::string_view name = field.first;
  const absl::string_view raw = field.second;
  const auto bad = [&] {
    return NodeError(
        i, absl::StrCat("attribute `", name, "` is not a ", type, ": ", raw));
  };
  if (type == "int") {
    int64_t value = 0;
    if (!absl::SimpleAtoi(raw, &value)) return bad();
    return AttrValue(value);
  }
  if (type == "float") {
    double value = 0;
    if (!absl::SimpleAtod(raw, &value)) return bad();
    return AttrValue(value);
  }
  if (type == "bool" && (raw == "0" || raw == "1")) {
    return AttrValue(raw == "1");
  }
  if (type == "dtype") {
    const absl::StatusOr<DType> dtype = DType::Parse(raw);
    if (!dtype.ok()) return bad();
    return AttrValue(*dtype);
  }
  const std::optional<size_t> target =
      IsNumber(raw) ? Reference(i, name) : std::nullopt;
  if (type == "string") {
    // A field of the reference is plain text or refers to a node; the writer
    // never writes a number as plain text.
    if (!IsNumber(raw)) return AttrValue(Unescape(raw));
    if (!target.has_value()) return std::nullopt;
    if (nodes_[*target].kind != "runtime.String") return bad();
  } else if (!IsNumber(raw)) {
    return bad();
  }
  if (!target.has_value()) return std::nullopt;
  if (*target == 0) return AttrValue();
  return ConvertValue(*target, 0);
}

std::optional<AttrValue> MetadataReader::ConvertValue(size_t i, int depth) {
  const JsonNode& node = nodes_[i];
  const absl::string_view kind = node.kind;
  if (--budget_ < 0) return NodeError(i, "there are too many values");
  if (depth > kMaxDepth) return NodeError(i, "it is nested too deeply");
  if (kind.empty()) return AttrValue();
  if (kind == "IntImm") {
    const std::optional<int64_t> value = IntAttr(i, "value");
    if (!value.has_value()) return std::nullopt;
    const absl::string_view* dtype = FindAttr(i, "dtype");
    if (dtype != nullptr && *dtype == "bool") return AttrValue(*value != 0);
    return AttrValue(*value);
  }
  if (kind == "FloatImm") {
    const absl::string_view* text = FindAttr(i, "value");
    double value = 0;
    if (text == nullptr || !absl::SimpleAtod(*text, &value)) {
      return NodeError(i, "its value is not a number");
    }
    return AttrValue(value);
  }
  if (kind == "runtime.String") {
    std::optional<std::string> text = ConvertString(i);
    if (!text.has_value()) return std::nullopt;
    return AttrValue(*std::move(text));
  }
  if (kind == "Array" || kind == "Map") {
    if (kind == "Map" && node.keys.size() != node.data.size()) {
      return NodeError(i, "it has not as many keys as values");
    }
    AttrList list;
    AttrMap map;
    for (size_t k = 0; k < node.data.size(); ++k) {
      if (node.data[k] >= nodes_.size()) {
        return NodeError(i, "it refers to a node that does not exist");
      }
      std::optional<AttrValue> item = ConvertValue(node.data[k], depth + 1);
      if (!item.has_value()) return std::nullopt;
      if (kind == "Map") {
        map.emplace_back(Unescape(node.keys[k]), *std::move(item));
      } else {
        list.push_back(*std::move(item));
      }
    }
    if (kind == "Map") return AttrValue(std::move(map));
    return AttrValue(std::move(list));
  }
  if (kind == "VirtualDevice" || kind == "Target" || kind == "TargetKind") {
    return ConvertDevice(i, depth);
  }
  if (kind.substr(0, 4) == "tir.") {
    std::optional<Dim> dim = ConvertDim(i);
    if (!dim.has_value()) return std::nullopt;
    return AttrValue(*dim);
  }
  return NodeError(i, absl::StrCat("unknown kind `", kind, "`"));
}

// A device, or a part of it, as a dictionary of what is set in it.
std::optional<AttrValue> MetadataReader::ConvertDevice(size_t i, int depth) {
  AttrMap map;
  for (const auto& [name, raw] : nodes_[i].attrs) {
    std::optional<AttrValue> value;
    if (name == "device_type_int" || name == "virtual_device_id" ||
        name == "default_device_type") {
      const std::optional<int64_t> number = IntAttr(i, name);
      if (number.has_value()) value = AttrValue(*number);
    } else {
      const std::optional<size_t> target = Reference(i, name);
      if (target.has_value()) value = ConvertValue(*target, depth + 1);
    }
    if (!value.has_value()) return std::nullopt;
    map.emplace_back(std::string(name), *std::move(value));
  }
  std::sort(map.begin(), map.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return AttrValue(std::move(map));
}

namespace {

// An operation of `kind` on dimensions. They are integers that are not
// negative: a conversion between integers says nothing of them, nor does
// rounding, and every division rounds down.
Dim MakeDim(absl::string_view kind, DType dtype, absl::Span<const Dim> values) {
  using Op = DimExprNode::Op;
  for (const Dim& value : values) {
    if (value.is_any()) return Dim::Any();
  }
  if (values.size() == 1) return values[0];
  if (!dtype.is_int()) {
    dtype = DType::Int(32);
    for (const Dim& value : values) {
      if (value.is_symbolic()) dtype = value.expr()->dtype();
    }
  }
  const auto make = [&](Op op, const Dim& a, const Dim& b) {
    return Dim(new DimExprNode(op, "", dtype, a, b));
  };
  const Dim& a = values[0];
  const Dim& b = values[1];
  if (kind == "tir.Max" || kind == "tir.Min") {
    // If the two are not numbers, the larger one is unknown.
    if (a == b) return a;
    if (!a.is_const() || !b.is_const()) return Dim::Any();
    return (kind == "tir.Max") == (a.value() > b.value()) ? a : b;
  }
  if (kind == "tir.Div") return make(Op::kFloorDiv, a, b);
  if (kind == "tir.FloorMod" || kind == "tir.Mod") {
    return make(Op::kSub, a, make(Op::kMul, make(Op::kFloorDiv, a, b), b));
  }
  return make(*DimOpOf(kind), a, b);
}

}  // namespace

// Expressions may nest to any depth: keeps unfinished nodes on a stack, and
// makes each after the nodes that it refers to.
std::optional<Dim> MetadataReader::ConvertDim(size_t root) {
  // The nodes that an operation on dimensions is applied to.
  const auto operands_of =
      [this](size_t i) -> std::optional<std::vector<size_t>> {
    const absl::string_view kind = nodes_[i].kind;
    std::vector<absl::string_view> names;
    if (kind == "tir.Cast") {
      names = {"value"};
    } else if (DimOpOf(kind).has_value() || kind == "tir.Div" ||
               kind == "tir.FloorMod" || kind == "tir.Mod" ||
               kind == "tir.Max" || kind == "tir.Min") {
      names = {"a", "b"};
    } else if (kind == "tir.Call") {
      // A rounded product: `tir.round(n * 2f)`.
      const std::optional<size_t> op = Reference(i, "op");
      const std::optional<size_t> args =
          op ? Reference(i, "args") : std::nullopt;
      if (!args.has_value()) return std::nullopt;
      const absl::string_view name = nodes_[*op].text;
      if (name != "tir.round" && name != "tir.floor" && name != "tir.ceil") {
        return NodeError(
            i, absl::StrCat("no dimension is a call of `", name, "`"));
      }
      if (nodes_[*args].data.size() != 1 ||
          nodes_[*args].data[0] >= nodes_.size()) {
        return NodeError(i, "it must have one argument");
      }
      return std::vector<size_t>{nodes_[*args].data[0]};
    } else {
      return NodeError(i, absl::StrCat("unknown kind `", kind, "`"));
    }
    std::vector<size_t> operands;
    for (const absl::string_view name : names) {
      const std::optional<size_t> operand = Reference(i, name);
      if (!operand.has_value()) return std::nullopt;
      operands.push_back(*operand);
    }
    return operands;
  };
  std::vector<size_t> stack = {root};
  FlatHashSet<size_t> under_way;
  while (!stack.empty()) {
    const size_t i = stack.back();
    if (dims_.contains(i)) {
      stack.pop_back();
      continue;
    }
    const absl::string_view kind = nodes_[i].kind;
    if (kind == "IntImm") {
      const std::optional<int64_t> value = IntAttr(i, "value");
      if (!value.has_value()) return std::nullopt;
      if (*value > kMaxDim || *value < -kMaxDim) {
        return NodeError(i, "it is too large for a dimension");
      }
      dims_.emplace(i, Dim(*value));
      continue;
    }
    if (kind == "tir.Any") {
      dims_.emplace(i, Dim::Any());
      continue;
    }
    if (kind == "FloatImm") {
      // An extent times a factor, before it is rounded.
      const absl::string_view* text = FindAttr(i, "value");
      double value = 0;
      if (text == nullptr || !absl::SimpleAtod(*text, &value)) {
        return NodeError(i, "its value is not a number");
      }
      const bool is_extent =
          std::abs(value) < 1e15 && value == std::trunc(value);
      dims_.emplace(i, is_extent ? Dim(static_cast<int64_t>(value)) : Dim());
      continue;
    }
    DType dtype = DType::Int(32);
    if (const absl::string_view* text = FindAttr(i, "dtype")) {
      const absl::StatusOr<DType> parsed = DType::Parse(*text);
      if (!parsed.ok()) {
        return NodeError(i, std::string(parsed.status().message()));
      }
      dtype = *parsed;
    }
    const std::optional<DimExprNode::Op> op = DimOpOf(kind);
    if (op == DimExprNode::Op::kVar || op == DimExprNode::Op::kSizeVar) {
      const std::optional<size_t> name = Reference(i, "name");
      if (!name.has_value()) return std::nullopt;
      std::optional<std::string> text = ConvertString(*name);
      if (!text.has_value()) return std::nullopt;
      dims_.emplace(i,
                    Dim(new DimExprNode(*op, *std::move(text), dtype, {}, {})));
      continue;
    }
    const std::optional<std::vector<size_t>> operands = operands_of(i);
    if (!operands.has_value()) return std::nullopt;
    std::vector<Dim> values;
    for (const size_t operand : *operands) {
      const auto it = dims_.find(operand);
      if (it != dims_.end()) values.push_back(it->second);
    }
    if (values.size() == operands->size()) {
      dims_.emplace(i, MakeDim(kind, dtype, values));
      continue;
    }
    if (!under_way.insert(i).second) {
      return NodeError(i, "it refers to itself");
    }
    for (auto it = operands->rbegin(); it != operands->rend(); ++it) {
      if (!dims_.contains(*it)) stack.push_back(*it);
    }
  }
  return dims_.at(root);
}

std::optional<std::string> MetadataReader::ConvertString(size_t i) {
  const JsonNode& node = nodes_[i];
  if (node.kind != "runtime.String") return NodeError(i, "it is not a string");
  if (!node.text_is_base64) return Unescape(node.text);
  Base64Stream stream(node.text);
  if (!stream.good() || stream.size() < 8) {
    return NodeError(i, "its text is not base64");
  }
  // The length comes before the bytes.
  const auto length = stream.Read<uint64_t>();
  if (length != static_cast<uint64_t>(stream.size())) {
    return NodeError(i, "its text has the wrong length");
  }
  std::string text(static_cast<size_t>(length), '\0');
  stream.Read(text.data(), stream.size());
  if (!stream.good()) return NodeError(i, "its text is not base64");
  return text;
}

// ---------------------------------------------------------------------------
// Attributes of nodes.

const absl::string_view* MetadataReader::FindAttr(
    size_t i, absl::string_view name) const {
  for (const Field& field : nodes_[i].attrs) {
    if (field.first == name) return &field.second;
  }
  return nullptr;
}

std::optional<int64_t> MetadataReader::IntAttr(size_t i,
                                               absl::string_view name) {
  const absl::string_view* text = FindAttr(i, name);
  int64_t value = 0;
  if (text == nullptr || !absl::SimpleAtoi(*text, &value)) {
    return NodeError(i, absl::StrCat("`", name, "` is not a number"));
  }
  return value;
}

std::optional<size_t> MetadataReader::Reference(size_t i,
                                                absl::string_view name) {
  const std::optional<int64_t> number = IntAttr(i, name);
  if (!number.has_value()) return std::nullopt;
  if (*number < 0 || *number >= static_cast<int64_t>(nodes_.size())) {
    return NodeError(
        i, absl::StrCat("`", name, "` refers to a node that does not exist"));
  }
  return static_cast<size_t>(*number);
}

}  // namespace internal
}  // namespace baton::relay
